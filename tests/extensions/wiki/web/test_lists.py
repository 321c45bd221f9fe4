"""Long lists: parts of a list, decisions by month, and the neighbours in the drawing."""

from __future__ import annotations

from clawmem.extensions.wiki.web.render_site import MOST, WIDTH, Neighbour, drawn, height_of
from clawmem.extensions.wiki.web.site_data import NEWEST, PER_PAGE, RecordList, parts
from clawmem.model.facts.fact import Fact
from tests.extensions.wiki.web.sites import fact


def test_a_long_list_has_parts() -> None:
    items = list(range(2 * PER_PAGE + 1))
    found = parts("topics/sea.html", items)
    assert [part.path for part in found] == ["topics/sea.html", "topics/sea_2.html", "topics/sea_3.html"]
    assert [item for part in found for item in part.items] == items
    assert [part.path for part in parts("x.html", [])] == ["x.html"]


def test_decisions_have_a_page_for_each_month_once_there_are_many() -> None:
    def made(number: int, month: str) -> Fact:
        moment = f"{month}-10T09:00:00Z"
        return fact(f"fact_{month}{number}", f"Number {number}.", category="decision", timestamp=moment)

    record_list = RecordList("decisions", "decision")
    record_list.put("a.html", [made(number, "2026-10") for number in range(NEWEST)], "A")
    assert [path for path, _ in record_list.pages()] == ["decisions.html"]
    record_list.put("b.html", [made(1, "2026-11"), made(2, "../../x")], "B")
    pages = dict(record_list.pages())
    assert set(pages) == {
        "decisions.html", "decisions_2026-10.html", "decisions_2026-11.html", "decisions_undated.html",
    }  # fmt: skip
    assert len(pages["decisions.html"]["records"]) == NEWEST


def test_the_drawing_has_room_for_its_neighbours() -> None:
    for count in (1, 2, 5, 40):
        found = [Neighbour(f"wiki/{number}.md", f"A long title {number}", 1, 0) for number in range(count)]
        places = drawn(found)
        assert len(places) == min(count, MOST) and len({(place.x, place.y) for place in places}) == len(places)
        assert all(0 < place.x < WIDTH and 0 < place.y < height_of(found) for place in places)
