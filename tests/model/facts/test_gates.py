"""The gates: each one alone, with its reason."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.facts.gates import (
    GATES,
    GateEvidence,
    conclusion_of,
    confirming,
    gate_results,
    goes_against,
    named_premises,
    passes,
)
from clawmem.model.lifecycle.reinforce import reinforce
from clawmem.model.records.event import Event

NOW = "2026-11-21T10:00:00Z"
STATED = Fact("fact_00000001", "Jane prefers tea.", "preference", "2026-11-20T08:00:00Z", "user", trust="user")
LEARNED = STATED._replace(source="extractor", trust="agent", confidence=0.9, source_event="evt_1", agent="cli")
JANE = GateEvidence("areas/people/jane", cited=True)


def failed(fact: Fact, evidence: GateEvidence = JANE) -> list[str]:
    return [gate_result.gate for gate_result in gate_results(fact, evidence, NOW) if not gate_result.passed]


def test_what_a_person_stated_passes() -> None:
    results = gate_results(STATED, GateEvidence("areas/people/jane"), NOW)
    assert passes(results)
    assert tuple(result.gate for result in results) == GATES
    assert all(result.reason for result in results)


def test_what_an_agent_learned_needs_a_second_source() -> None:
    assert failed(LEARNED) == ["confirmed"]
    assert failed(LEARNED, JANE._replace(confirming=("fact_00000002",))) == []
    unchecked = LEARNED._replace(links=(FactLink("supports", "fact_00000002"),))
    assert failed(unchecked) == ["confirmed"]


def test_a_confirmation_has_a_source_of_its_own() -> None:
    def event(event_id: str, session: str | None) -> Event:
        return Event(event_id, "2026-11-20T08:00:00Z", "user", "Jane prefers tea.", session=session)

    events = {
        other_event.id: other_event
        for other_event in (event("evt_1", "s1"), event("evt_2", "s1"), event("evt_3", "s2"))
    }
    same_session = LEARNED._replace(id="fact_2", source_event="evt_2")
    other_session = LEARNED._replace(id="fact_3", source_event="evt_3")
    again = other_session._replace(id="fact_4")
    typed = STATED._replace(id="fact_5")
    withdrawn = typed._replace(id="fact_6", status="retracted", source="import")
    merged = typed._replace(id="fact_7", status="superseded", superseded_by=LEARNED.id, source="tool")
    elsewhere = merged._replace(id="fact_8", superseded_by="fact_9", source="letter")
    linked = (LEARNED, same_session, other_session, again, typed, withdrawn, merged, elsewhere)
    assert confirming(LEARNED, linked, events) == ("fact_3", "fact_5", "fact_7")


def test_a_repetition_in_another_session_confirms() -> None:
    def event(event_id: str, session: str, **more: object) -> Event:
        return Event(event_id, "2026-11-20T08:00:00Z", "user", "Jane prefers tea.", session=session, metadata=more)

    items = [
        event("evt_1", "s1"),
        event("evt_2", "s1"),
        event("evt_3", "s2"),
        event("evt_4", "s3", revoked="2026-11-21"),
    ]
    known = LEARNED
    for other_event in items[1:]:
        known = reinforce(known, LEARNED._replace(id="fact_2", source_event=other_event.id))
    assert confirming(known, (), {other_event.id: other_event for other_event in items}) == ("evt_3",)
    assert confirming(known, (), {}) == ()
    assert reinforce(STATED, LEARNED).metadata is None


@pytest.mark.parametrize(
    ("fact", "evidence", "gate"),
    [
        (STATED._replace(status="superseded"), JANE, "current"),
        (STATED._replace(valid_to="2026-11-01"), JANE, "current"),
        (STATED._replace(confidence=0.79), JANE, "confidence"),
        (STATED._replace(fact="Jane prefers tea. She dislikes milk."), JANE, "atomic"),
        (STATED._replace(fact="Jane " + "very " * 80 + "likes tea."), JANE, "atomic"),
        (STATED, JANE._replace(entity="candidates/2026-11-20"), "anchored"),
        (STATED, JANE._replace(against=("fact_00000002",)), "uncontradicted"),
        (STATED, JANE._replace(stale="source changed"), "fresh"),
    ],
)
def test_one_gate_fails(fact: Fact, evidence: GateEvidence, gate: str) -> None:
    assert failed(fact, evidence) == [gate]


def test_without_evidence() -> None:
    assert failed(LEARNED, JANE._replace(cited=False)) == ["evidenced", "confirmed"]


def test_abbreviations_end_no_sentence() -> None:
    assert failed(STATED._replace(fact="Dr. Jane Q. Public met Mr. Lee at No. 5.")) == []


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Since [[the parser is slow]], we cache.", ["the parser is slow"]),
        ("We cache because [[the parser is slow]].", ["the parser is slow"]),
        ("Given that [[fact_1a2b]] and [[memory is cheap]], we cache.", ["fact_1a2b", "memory is cheap"]),
        ("Since [[a]], [[b]], and [[c]], d.", ["a", "b", "c"]),
        ("since [[a]], [[Jane]] moves.", ["a"]),
        ("[[Jane]] likes tea.", []),
        ("Since 2024 [[Jane]] likes tea.", []),
        ("Since \\[[a]], b.", []),
        ("Since [[]], b.", []),
        ("Since [[ ]], b.", []),
        ("Since [[a\nb]], c.", []),
        ("Since [[a, b.", []),
        (f"Since [[{'x' * 301}]], b.", []),
    ],
)
def test_brackets_behind_a_reason_are_premises(statement: str, expected: list[str]) -> None:
    assert [named_premise.words for named_premise in named_premises(statement)] == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Since [[a]] and [[b]], see \\[[c]] and [[d]].", "Since A and b, see [[c]] and [[d]]."),
        ("Since [[a]], we cache.", "We cache."),
        ("We cache because [[a]].", "We cache."),
        ("We cache, since [[a]] and [[a]], and we wait.", "We cache and we wait."),
        ("Since [[a]], we cache because [[a]].", "We cache."),
        ("Because [[a]].", "Because A."),
    ],
)
def test_the_conclusion_has_no_words_of_a_known_premise(statement: str, expected: str) -> None:
    assert conclusion_of(statement, lambda premise: "A" if premise.words == "a" else None) == expected


@given(st.text(alphabet="since [],and\\xab. ", max_size=200))
def test_any_text_is_read(statement: str) -> None:
    for named_premise in named_premises(statement):
        assert statement[named_premise.start : named_premise.end].strip("[]").strip() == named_premise.words
    assert "\\[[" not in conclusion_of(statement, lambda other: None)


@pytest.mark.soak
@pytest.mark.parametrize("piece", ["since [[a]] and ", "since ", "[[", "since [[a]], ", "]]"])
def test_a_long_text_takes_linear_time(piece: str) -> None:
    began = time.process_time()
    named_premises(piece * (4000 // len(piece)))
    assert time.process_time() - began < 0.3


def decided(statement: str, **details: object) -> Fact:
    return STATED._replace(fact=statement, category="decision", details=details)


@pytest.mark.parametrize(
    ("statement", "earlier"),
    [
        ("Do not paint the hull with oil.", "Paint the hull with oil."),
        ("Paint the hull with oil.", "We will not paint the hull."),
        ("We don't sail on Sundays.", "We sail on Sundays."),
        ("No longer use Tekla for charts.", "Use Tekla for charts."),
        ("The winter store moves to Bergen.", "The winter store stays in Oslo, beside the quay."),
        ("Use Navika for charts.", "Use Tekla for charts."),
        ("Use Navika instead of Tekla for charts.", "Use Tekla for charts."),
        ("Keep the charts in Navika.", "We will use Tekla for charts."),
        ("Log the depth in metres.", "Log the depth in feet."),
    ],
)
def test_a_decision_that_denies_another_or_chooses_otherwise_goes_against_it(statement: str, earlier: str) -> None:
    for pair in ((statement, earlier), (earlier, statement)):
        assert goes_against(*map(decided, pair)), pair
    reverted = decided(earlier, outcomes=[{"outcome": "reverted"}])
    assert goes_against(decided(statement), reverted) is None


@pytest.mark.parametrize(
    ("statement", "earlier"),
    [
        ("Do not use Tekla for charts of lakes.", "Use Tekla for charts."),
        ("Do not log the depth.", "Show the depth in the log."),
        ("Do not stop at the buoy.", "Do not stop at the pier."),
        ("Do not wait for the pilot.", "Wait with the pilot at the quay."),
        ("Use Navika for charts.", "Use Tekla for tides."),
        ("Use Navika and Tekla for charts.", "Use Tekla for charts."),
        ("Also use Navika for charts.", "Use Tekla for charts."),
        ("Use two pilots for charts.", "Use Tekla for charts."),
        ("Use Tekla, not Navika, for charts.", "Use Tekla for charts."),
        ("The winter store moves to Bergen in July.", "The winter store stays in Oslo until July."),
        ("Log the depth in metres.", "Log the speed in knots."),
        ("Hire Bob.", "Hire Ada."),
    ],
)
def test_decisions_that_can_both_hold_do_not_go_against_each_other(statement: str, earlier: str) -> None:
    for pair in ((statement, earlier), (earlier, statement)):
        assert goes_against(*map(decided, pair)) is None, pair
