"""Patterns: the same correction or wish, often enough, for an agent."""

from __future__ import annotations

from clawmem.learning.adapt import find_patterns
from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink


def a_wish(number: int, words: str, **changes: object) -> Fact:
    at = f"2026-11-{1 + number:02}T10:00:00Z"
    plain = Fact(f"fact_{number:08x}", words, "preference", at, "chat", subject="Nora", agent="finance")
    return plain._replace(**changes)  # type: ignore[arg-type]


WISHES = [
    a_wish(1, "Nora prefers short reports."),
    a_wish(2, "Nora wants the reports on Friday."),
    a_wish(3, "Nora likes a report with a table."),
    a_wish(4, "Nora likes tea."),
]


def test_three_wishes_about_one_thing_are_a_pattern() -> None:
    (found,) = find_patterns(WISHES)
    assert (found.agent, found.key) == ("finance", "wished:nora:report")
    assert found.facts == ("fact_00000001", "fact_00000002", "fact_00000003")
    assert found.sentence.startswith("On 'report': Nora prefers short reports. / Nora wants")


def test_two_are_none_nor_are_those_of_no_agent_nor_those_that_do_not_hold() -> None:
    assert find_patterns(WISHES[:2]) == ()
    assert find_patterns([wish._replace(agent=None) for wish in WISHES]) == ()
    assert find_patterns([WISHES[0]._replace(status=SUPERSEDED), *WISHES[1:]]) == ()


def test_the_same_kind_of_correction_three_times_is_a_pattern() -> None:
    facts = [
        a_wish(
            number,
            f"Item {number} costs {number} euros.",
            category="fact",
            predicate="costs",
            links=(FactLink("supersedes", f"fact_{number + 100:08x}"),),
        )
        for number in range(3)
    ]
    (found,) = find_patterns(facts)
    assert found.key == "corrected:costs"
    assert found.sentence.startswith("Check before relying on what is known of 'costs'")
    assert find_patterns(facts[:2]) == ()


def test_the_key_stays_when_more_of_the_same_comes() -> None:
    more = [*WISHES, a_wish(9, "Nora dislikes reports in Comic Sans.")]
    assert [pattern.key for pattern in find_patterns(more)] == ["wished:nora:report"]
