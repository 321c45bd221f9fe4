"""Long lists: parts of a list, decisions by month, and the neighbours in the drawing."""

from __future__ import annotations

from clawmem.extensions.wiki.web.render_site import MOST, WIDTH, Neighbour, drawn, height_of
from clawmem.extensions.wiki.web.site_data import NEWEST, PER_PAGE, RecordLists, beyond, parts
from clawmem.model.facts.fact import Fact
from tests.extensions.wiki.web.sites import fact


def test_a_long_list_has_parts_and_those_that_are_gone_are_removed() -> None:
    items = list(range(2 * PER_PAGE + 1))
    found = parts("topics/sea.html", items)
    assert [part.path for part in found] == ["topics/sea.html", "topics/sea_2.html", "topics/sea_3.html"]
    assert [item for part in found for item in part.items] == items
    files = {part.path: b"" for part in found}
    assert list(beyond("topics/sea.html", 1, files.get)) == [("topics/sea_2.html", None), ("topics/sea_3.html", None)]
    assert [part.path for part in parts("x.html", [])] == ["x.html"]


def test_decisions_have_a_page_for_each_month_once_there_are_many() -> None:
    def made(number: int, month: str) -> Fact:
        moment = f"{month}-10T09:00:00Z"
        return fact(f"fact_{month}{number}", f"Number {number}.", category="decision", timestamp=moment)

    files: dict[str, bytes | None] = {}
    lists = RecordLists("decisions", "decision", files.get)
    lists.put("a.html", [made(number, "2026-10") for number in range(NEWEST)], "A")
    assert [path for path, _ in lists.pages()] == ["decisions.html"]
    files.update(lists.state())
    lists = RecordLists("decisions", "decision", files.get)
    lists.put("b.html", [made(1, "2026-11"), made(2, "../../x")], "B")
    pages = dict(lists.pages())
    assert set(pages) == {
        "decisions.html", "decisions_2026-10.html", "decisions_2026-11.html", "decisions_undated.html",
    }  # fmt: skip
    assert len(pages["decisions.html"]["records"]) == NEWEST
    files.update(lists.state())
    files.update(dict.fromkeys(pages, b""))
    lists = RecordLists("decisions", "decision", files.get)
    lists.put("b.html", ())
    assert [path for path, _ in lists.pages()] == ["decisions.html"]
    gone = {path for path, data in lists.state() if data is None}
    assert gone == {"decisions_2026-10.html", "decisions_2026-11.html", "decisions_undated.html"}


def test_the_drawing_has_room_for_its_neighbours() -> None:
    for count in (1, 2, 5, 40):
        found = [Neighbour(f"wiki/{number}.md", f"A long title {number}", 1, 0) for number in range(count)]
        places = drawn(found)
        assert len(places) == min(count, MOST) and len({(place.x, place.y) for place in places}) == len(places)
        assert all(0 < place.x < WIDTH and 0 < place.y < height_of(found) for place in places)
