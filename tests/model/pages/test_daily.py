"""Lines of pages that people write."""

from clawmem.model.pages.daily import note_lines, written_lines

PAGE = """---
tags: [sea]
---
# The trip

We sailed.

> a quotation

| Day | Place |
|---|---|
| 1 | Bergen |
- [x] 10:30 packed
<!-- hidden -->
<!-- clawmem:begin -->
# Generated
<!-- clawmem:end -->
## After #it
---
"""


def test_lines_of_the_wiki_have_headings_quotations_and_tables() -> None:
    shown = ("The trip", "We sailed.", "a quotation", "Day | Place", "1 | Bergen", "packed", "After #it")
    assert written_lines(PAGE) == shown
    assert [line.text for line in note_lines(PAGE)] == ["tags: [sea]", "We sailed.", "packed"]


def test_only_the_mark_of_an_item_is_taken_off_a_line() -> None:
    page = "3.5 km run\n31. March: pay rent\n-5 degrees\n2. swim\n- 09:30 sail\n-\n"
    lines = [(line.time, line.text) for line in note_lines(page)]
    assert lines == [(None, "3.5 km run"), (None, "31. March: pay rent"), (None, "-5 degrees"), (None, "swim"),
                     ("09:30", "sail")]  # fmt: skip
