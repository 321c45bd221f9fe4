"""The lines that several verbs print about what they did."""

from __future__ import annotations

from clawmem.faces.parts.words import commits_made, outcome_lines
from clawmem.model.facts.fact import Fact

FACT = Fact("fact_00000001", "Jane sails.", "fact", "2026-11-21T09:00:00Z", "user")


def test_the_last_line_names_the_commit_or_says_that_there_is_none() -> None:
    (line, commit) = outcome_lines([("added", FACT, "areas/people/jane")], "0123456789abcdef")
    assert line.startswith("remembered: fact_00000001") and line.endswith("(areas/people/jane)")
    assert commit == "commit 0123456789ab"
    assert list(outcome_lines([], None)) == ["nothing changed; no commit was made"]


def test_several_commits_are_counted() -> None:
    assert commits_made([]) == []
    assert commits_made(["0123456789abcdef"]) == ["commit 0123456789ab"]
    assert commits_made(["a", "b"]) == ["made 2 commits; `clawmem log --limit 2` shows them"]
