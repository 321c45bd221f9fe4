"""Decisions as MADR 4 pages: the structure of the template, and the same bytes again."""

from __future__ import annotations

import re

import yaml
from hypothesis import given
from hypothesis import strategies as some

from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.pages.madr import madr_pages

BUFFER = Fact(
    "fact_1", "Buffer the uploads.", "decision", "2026-01-02T10:00:00Z", "agent", status="superseded",
    superseded_by="fact_2", details={"why": "It is simple."}, agent="coder",
)  # fmt: skip
STREAM = Fact(
    "fact_2", "Stream the uploads.", "decision", "2026-03-04T10:00:00Z", "agent",
    details={
        "why": "Memory grew with the file.", "task": "large uploads",
        "alternatives": [{"option": "a larger buffer", "why": "it only moves the limit"}, {"option": "refuse_large"}],
        "outcomes": [{"outcome": "worked", "at": "2026-03-09T10:00:00Z", "note": "Memory is flat."}],
    },
    links=(FactLink("supersedes", "fact_1"), FactLink("depends_on", "fact_9")),
)  # fmt: skip
PREMISE = Fact("fact_9", "The proxy has 512 MB.", "fact", "2026-01-01T10:00:00Z", "user")
# The sections of the template of MADR 4, in its order.
ORDER = [
    (2, "Context and Problem Statement"), (2, "Decision Drivers"), (2, "Considered Options"), (2, "Decision Outcome"),
    (3, "Consequences"), (3, "Confirmation"), (2, "Pros and Cons of the Options"), (2, "More Information"),
]  # fmt: skip
KEYS = {"status", "date", "decision-makers", "consulted", "informed"}


def structure(text: str) -> list[tuple[int, str]]:
    """Check a page against the template, and return its headings."""
    _, front, body = text.split("---\n", 2)
    assert set(yaml.safe_load(front)) <= KEYS
    headings = [(len(marks), name) for marks, name in re.findall(r"^(#+) (.*)$", body, re.MULTILINE)]
    assert [level for level, _ in headings].count(1) == 1 and headings[0][0] == 1
    known = [heading for heading in headings if heading in ORDER]
    assert known == sorted(known, key=ORDER.index)
    pros = (
        headings.index((2, "Pros and Cons of the Options")) if (2, "Pros and Cons of the Options") in headings else None
    )
    assert all(heading in ORDER or (pros is not None and at > pros) for at, heading in enumerate(headings[1:], 1))
    # What markdownlint asks for: blank lines around headings and lists, one at the end, no marks after a heading.
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if re.match("#+ ", line):
            assert lines[at - 1] in ("", "---") and lines[at + 1] == "" and line[-1] not in ".,;:!?"
        assert line == line.rstrip()
        assert not (line == lines[at - 1] == "" and 0 < at < len(lines) - 1)
    assert text.endswith("\n") and not text.endswith("\n\n")
    return headings


def test_pages_are_numbered_and_point_at_each_other() -> None:
    facts = {fact.id: fact for fact in (BUFFER, STREAM, PREMISE)}
    pages = madr_pages([(STREAM, "projects/upload"), (BUFFER, "projects/upload")], facts)
    assert [page.name for page in pages] == ["0001-buffer-the-uploads.md", "0002-stream-the-uploads.md"]
    assert pages == madr_pages([(BUFFER, "projects/upload"), (STREAM, "projects/upload")], facts)
    old, new = (page.text for page in pages)
    assert yaml.safe_load(old.split("---\n")[1])["status"] == "superseded by ADR-0002"
    assert structure(new)[0] == (1, "Stream the uploads")
    assert 'Chosen option: "Stream the uploads", because Memory grew with the file.' in new
    assert "* a larger buffer\n* refuse\\_large\n" in new
    assert "### a larger buffer\n\n* Bad, because it only moves the limit\n" in new
    assert "* Good, because it worked (2026-03-09): Memory is flat\n" in new
    assert "* Supersedes [ADR-0001](0001-buffer-the-uploads.md): Buffer the uploads\n" in new
    assert "* Depends on `fact_9`: The proxy has 512 MB\n" in new
    structure(old)


WORDS = some.text(
    some.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=40
).filter(lambda text: text.strip(" .,;:!?\u00a0") != "" and '"' not in text and text.split() == text.split(" "))


@given(WORDS, WORDS, some.lists(WORDS, max_size=3))
def test_any_words_keep_the_structure(decided: str, why: str, options: list[str]) -> None:
    details = {"why": why, "alternatives": [{"option": option, "why": "no"} for option in options]}
    (page,) = madr_pages([(STREAM._replace(fact=decided, details=details), "projects/upload")], {})
    structure(page.text)
