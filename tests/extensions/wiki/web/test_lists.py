"""Long lists: parts of a list, decisions, and the neighbours in the drawing."""

from __future__ import annotations

from clawmem.extensions.wiki.web.render_site import MOST, WIDTH, Neighbour, drawn, height_of
from clawmem.extensions.wiki.web.site_data import PER_PAGE, RecordList, parts
from tests.extensions.wiki.web.sites import fact


def test_a_long_list_has_parts() -> None:
    items = list(range(2 * PER_PAGE + 1))
    found = parts("topics/sea.html", items)
    assert [part.path for part in found] == ["topics/sea.html", "topics/sea_2.html", "topics/sea_3.html"]
    assert [item for part in found for item in part.items] == items
    assert [part.path for part in parts("x.html", [])] == ["x.html"]


def test_decisions_are_listed_in_parts_the_newest_first() -> None:
    record_list = RecordList("decisions", "decision")
    made = fact("fact_new", "New.", category="decision", timestamp="2026-11-10T09:00:00Z")
    older = made._replace(fact="Old.", timestamp="2026-10-10T09:00:00Z")
    record_list.put("a.html", [older._replace(id=f"fact_{number}") for number in range(PER_PAGE)], "A")
    record_list.put("b.html", [made], "B")
    first, second = record_list.pages()
    assert (first[0], second[0]) == ("decisions.html", "decisions_2.html")
    assert first[1]["records"][0] == ("2026-11-10", "New.", "b.html#fact_new", "B")
    assert [len(page["records"]) for _, page in (first, second)] == [PER_PAGE, 1]


def test_the_drawing_has_room_for_its_neighbours() -> None:
    for count in (1, 2, 5, 40):
        found = [Neighbour(f"wiki/{number}.md", f"A long title {number}", 1, 0) for number in range(count)]
        places = drawn(found)
        assert len(places) == min(count, MOST) and len({(place.x, place.y) for place in places}) == len(places)
        assert all(0 < place.x < WIDTH and 0 < place.y < height_of(found) for place in places)
