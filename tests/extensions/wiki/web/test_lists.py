"""Long lists: parts of a list, and the lists of decisions."""

from __future__ import annotations

from clawmem.extensions.wiki.web.site_data import NEW, PER_PAGE, NewsRow, parts, record_pages


def test_a_long_list_has_parts() -> None:
    items = list(range(2 * PER_PAGE + 1))
    found = parts("topics/sea.html", items)
    assert [part.path for part in found] == ["topics/sea.html", "topics/sea_2.html", "topics/sea_3.html"]
    assert [item for part in found for item in part.items] == items
    assert [part.path for part in parts("x.html", [])] == ["x.html"]


def test_decisions_are_listed_in_parts_the_newest_first() -> None:
    old = [NewsRow("2026-10-10T09:00:00Z", NEW, "Old.", f"a.html#fact_{number}") for number in range(PER_PAGE)]
    new = NewsRow("2026-11-10T09:00:00Z", NEW, "New.", "b.html#fact_new", place=("b.html", "B"))
    first, second = record_pages("decisions", "decision", [*old, new])
    assert (first[0], second[0]) == ("decisions.html", "decisions_2.html")
    assert first[1]["records"][0] == new
    assert [len(page["records"]) for _, page in (first, second)] == [PER_PAGE, 1]
