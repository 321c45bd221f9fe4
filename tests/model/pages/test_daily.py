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
