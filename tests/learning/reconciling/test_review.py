"""What waits for a person, why, and what was decided before."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.gate import ACCEPTED, GateVerdict
from clawmem.learning.reconciling.reconcile import ADD, MERGE, RETRACT, UPDATE, ReconcileDecision
from clawmem.learning.reconciling.review import (
    describe_change,
    earlier_outcome,
    earlier_proposal,
    proposal_action,
    review_reason,
)
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import Proposition
from clawmem.model.proposals.proposal import ADD as KEEP
from clawmem.model.proposals.proposal import (
    APPROVED,
    END,
    OPEN,
    REJECTED,
    SUPERSEDE,
    Proposal,
    ProposalTarget,
    ReviewDecision,
)
from clawmem.model.proposals.proposal import MERGE as JOIN

AT = "2026-11-21T09:30:00Z"
HOME = Fact(
    "fact_00000001", "Dana lives in Leeds.", "fact", "2026-11-01T00:00:00Z", "chat",
    subject="Dana", predicate="lives_in", object="Leeds", confidence=0.95, trust="user",
)  # fmt: skip
UNTRUSTED = GateVerdict(False, "trust", "Its source is 'external', which is not trusted without a person.")


def news(**more: object) -> Proposition:
    fields: dict[str, object] = {
        "subject": "Dana",
        "predicate": "lives_in",
        "object": "Porto",
        "confidence": 0.8,
        **more,
    }
    return Proposition("Dana lives in Porto.", "evt_2", (0, 1), "I live in Porto")._replace(**fields)  # type: ignore[arg-type]


def decided(outcome: str, *targets: str, contradicts: tuple[str, ...] = ()) -> ReconcileDecision:
    return ReconcileDecision(outcome, targets, "A reason.", contradicts)


def asked(
    proposition: Proposition,
    decision: ReconcileDecision,
    known: Fact = HOME,
    verdict: GateVerdict = ACCEPTED,
    sure: float = 0.9,
) -> str | None:
    wait = review_reason(proposition, decision, {known.id: known}, verdict, sure)
    return wait.kind if wait else None


REPLACE = decided(UPDATE, HOME.id)
CASES = [
    ("nothing contradicts it", asked(news(), decided(ADD)), None),
    ("surer than the limit, and the news less sure", asked(news(), REPLACE), "conflict"),
    ("as sure", asked(news(confidence=0.95), REPLACE), None),
    ("not above the limit", asked(news(), REPLACE, HOME._replace(confidence=0.9)), None),
    ("a person said it without a number", asked(news(), REPLACE, HOME._replace(confidence=None)), None),
    ("a limit of its own", asked(news(), REPLACE, sure=0.96), None),
    ("it names what it replaces", asked(news(former="Leeds"), REPLACE), None),
    ("it names the fact", asked(news(source_text=f"{HOME.id} is over, it is Porto"), REPLACE), None),
    ("it tells of a later day", asked(news(valid_from="2026-11-10"), REPLACE), None),
    ("it tells of an earlier day", asked(news(valid_from="2026-10-10"), REPLACE), "conflict"),
    ("it says that it ended", asked(news(ended=True), decided(RETRACT, HOME.id)), None),
    ("it says the same with more detail", asked(news(), decided(MERGE, HOME.id)), None),
    ("the guard forbids to replace", asked(news(), decided(ADD, contradicts=(HOME.id,))), "conflict"),
    ("a tool adds", asked(news(trust="tool"), decided(ADD)), None),
    ("a tool replaces the user's", asked(news(trust="tool", former="Leeds"), REPLACE), "conflict"),
    ("a tool ends the user's", asked(news(trust="tool", ended=True), decided(RETRACT, HOME.id)), "conflict"),
    ("a tool refines the user's", asked(news(trust="tool"), decided(MERGE, HOME.id)), "conflict"),
    ("a tool replaces an agent's", asked(news(trust="tool"), REPLACE, HOME._replace(trust="agent")), "conflict"),
    ("a tool replaces a tool's", asked(news(trust="tool", former="x"), REPLACE, HOME._replace(trust="tool")), None),
    ("an agent replaces the user's", asked(news(trust="agent", former="Leeds"), REPLACE), None),
    ("an outsider adds", asked(news(trust="external"), decided(ADD), verdict=UNTRUSTED), "fact"),
    ("an outsider replaces", asked(news(trust="external"), REPLACE, verdict=UNTRUSTED), "conflict"),
]


@pytest.mark.parametrize(("found", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_waits(found: str | None, wanted: str | None) -> None:
    assert found == wanted


def test_the_reason_names_the_facts() -> None:
    wait = review_reason(news(), REPLACE, {HOME.id: HOME}, ACCEPTED, 0.9)
    assert wait
    assert wait.why == "It is less confident (0.80) than fact_00000001 (0.95), which it would replace."


def test_deeds_in_words() -> None:
    guarded = decided(ADD, contradicts=(HOME.id,))
    decisions = (decided(ADD), guarded, REPLACE, decided(MERGE, HOME.id), decided(RETRACT, HOME.id))
    assert [proposal_action(decision) for decision in decisions] == [KEEP, SUPERSEDE, SUPERSEDE, JOIN, END]
    assert describe_change(KEEP, "Dana sails.", []) == "Dana sails."
    assert describe_change(END, "Dana left Leeds.", [HOME]) == "Dana left Leeds. (which ends: Dana lives in Leeds.)"


NEWS = HOME._replace(id="new", fact="Dana lives in Porto.", object="Porto", source_event="evt_2", confidence=0.8)


def filed(status: str, **more: object) -> Proposal:
    ruling = None if status == OPEN else ReviewDecision("a person", AT, "she did not")
    made = Proposal(
        "prop_1",
        "conflict",
        "x",
        "y",
        AT,
        SUPERSEDE,
        status,
        (ProposalTarget(HOME.id, HOME.fact),),
        NEWS,
        source_event="evt_2",
    )
    return made._replace(decided=ruling)._replace(**more)  # type: ignore[arg-type]


LATER, EARLIER = "2026-12-01T00:00:00Z", "2026-11-20T00:00:00Z"
SETTLED = [
    (filed(OPEN, targets=(ProposalTarget("fact_other", "x"),)), NEWS._replace(source_event="evt_3"), LATER, False),
    (filed(OPEN), NEWS._replace(source_event="evt_3"), LATER, True),
    (filed(REJECTED), NEWS, LATER, True),
    (filed(APPROVED), NEWS, LATER, True),
    (filed(REJECTED), NEWS._replace(source_event="evt_3"), EARLIER, True),
    (filed(REJECTED), NEWS._replace(source_event="evt_3"), LATER, False),
    (filed(APPROVED), NEWS._replace(source_event="evt_3"), LATER, False),
    (filed(REJECTED), NEWS._replace(source_event="evt_3", trust="external"), LATER, True),
]


@pytest.mark.parametrize(("proposal", "fact", "said_at", "settled"), SETTLED)
def test_what_was_decided_is_not_asked_again(proposal: Proposal, fact: Fact, said_at: str, settled: bool) -> None:
    assert (earlier_proposal([proposal], fact, said_at, [HOME.id]) == proposal) is settled


def test_what_a_decision_means_for_the_next_candidate() -> None:
    assert earlier_outcome(filed(OPEN)) == ("noop", "It already waits for review as prop_1.")
    assert earlier_outcome(filed(APPROVED))[0] == "noop"
    assert earlier_outcome(filed(REJECTED)) == ("refused", "It was rejected in review as prop_1: she did not")
