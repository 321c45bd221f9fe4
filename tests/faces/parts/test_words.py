"""The lines that several verbs print about what they did."""

from __future__ import annotations

from clawmem.faces.parts.words import commits_made, outcome_lines
from clawmem.index.search.lookup import PlacedFact
from clawmem.model.facts.fact import Fact

FACT = Fact("fact_00000001", "Jane sails.", "fact", "2026-11-21T09:00:00Z", "user")


def test_a_long_fact_is_not_repeated_and_no_change_is_said() -> None:
    placed = PlacedFact(FACT, "areas/people/jane")
    (line,) = outcome_lines([placed], ["added"], "0123456789abcdef")
    assert line == "remembered: fact_00000001  Jane sails.  (areas/people/jane)"
    long = placed._replace(fact=FACT._replace(fact="Jane sails " * 20))
    (line,) = outcome_lines([long], ["added"], "0123456789abcdef")
    assert "…" in line and len(line) < 130
    assert list(outcome_lines([], [], None)) == ["nothing changed; no commit was made"]


def test_several_commits_are_counted() -> None:
    assert commits_made([]) == []
    assert commits_made(["0123456789abcdef"]) == []
    assert commits_made(["a", "b"]) == ["made 2 commits; `clawmem log --limit 2` shows them"]
