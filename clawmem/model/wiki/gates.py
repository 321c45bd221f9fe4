"""Gates: which facts enter the wiki or may be promoted to an organisation, each verdict with its reason."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from clawmem.model.facts.fact import ACTIVE, Fact, is_given_by_person
from clawmem.model.facts.validity import untrue_reason
from clawmem.model.proposals.quarantine import is_approved, quarantine_rule
from clawmem.model.records.entity import is_candidate_place

FRESH = "fresh"
GATES = ("current", "confidence", "atomic", "anchored", "evidenced", "uncontradicted", FRESH, "confirmed")
_CONFIRMING = ("supports", "merges")
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+(?=[A-Z0-9])")
# A dot after these ends no sentence.
_SHORT = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|approx)\.\s+(?=[A-Z0-9])")


class GateLimits(NamedTuple):
    """The thresholds: least confidence (0 to 1), most characters of an atomic statement, least number of sources."""

    confidence: float = 0.8
    length: int = 300
    sources: int = 2


class GateEvidence(NamedTuple):
    """What the gates need to know about a fact beside itself.

    `against` are the ids of facts that contradict it, `stale` is why it is stale, and `cited` says whether its source
    event exists."""

    entity: str
    against: Collection[str] = ()
    stale: str | None = None
    cited: bool = False


class GateResult(NamedTuple):
    """The verdict of one gate, with its reason."""

    gate: str
    passed: bool
    reason: str


def gate_results(fact: Fact, evidence: GateEvidence, limits: GateLimits, moment: str) -> tuple[GateResult, ...]:
    """Return the verdict of every gate about a fact at a moment (ISO 8601, UTC), in the order of GATES."""
    verdicts = (
        _current(fact, moment),
        _confidence(fact, limits.confidence),
        _atomic(fact.fact, limits.length),
        _anchored(evidence.entity),
        _evidenced(fact, evidence.cited),
        _uncontradicted(evidence.against),
        (evidence.stale is None, evidence.stale or "it is not stale"),
        _confirmed(fact, limits.sources),
    )
    return tuple(GateResult(gate, *verdict) for gate, verdict in zip(GATES, verdicts, strict=True))


def passes(results: Iterable[GateResult]) -> bool:
    """Return whether all gates passed."""
    return all(one.passed for one in results)


def _current(fact: Fact, moment: str) -> tuple[bool, str]:
    if fact.status != ACTIVE:
        return False, f"it is {fact.status}"
    if rule := quarantine_rule(fact):
        return False, f"it is quarantined: {rule}"
    untrue = untrue_reason(fact, moment)
    return untrue is None, untrue or "it holds now"


def _confidence(fact: Fact, least: float) -> tuple[bool, str]:
    if fact.confidence is None:
        given = is_given_by_person(fact)
        return given, "a person stated it" if given else "it has no confidence, and no person stated it"
    return fact.confidence >= least, f"its confidence is {fact.confidence:.2f}, the least is {least:.2f}"


def _atomic(statement: str, length: int) -> tuple[bool, str]:
    if len(statement) > length:
        return False, f"it has {len(statement)} characters, the most is {length}"
    sentences = 1 + len(_SENTENCE_END.findall(_SHORT.sub("x ", statement)))
    return sentences == 1, "it is one sentence" if sentences == 1 else f"it has {sentences} sentences"


def _anchored(entity: str) -> tuple[bool, str]:
    waits = is_candidate_place(entity)
    return not waits, "it waits for promotion and belongs to no entity" if waits else f"it belongs to {entity}"


def _evidenced(fact: Fact, cited: bool) -> tuple[bool, str]:
    if cited:
        return True, f"it cites {fact.source_event}"
    if is_given_by_person(fact):
        return True, "a person stated it"
    linked = any(link.type in (*_CONFIRMING, "derived_from", "depends_on") for link in fact.links)
    return linked, "it rests on other facts" if linked else "it cites no event and rests on no fact"


def _uncontradicted(against: Collection[str]) -> tuple[bool, str]:
    return not against, f"it is in conflict with {', '.join(sorted(against))}" if against else "nothing contradicts it"


def _confirmed(fact: Fact, sources: int) -> tuple[bool, str]:
    """A person's own statement needs no second source: the person is who would confirm it."""
    if fact.trust == "user" or is_given_by_person(fact):
        return True, "a person stated it"
    if is_approved(fact):
        return True, "a person approved it"
    found = 1 + sum(1 for link in fact.links if link.type in _CONFIRMING)
    return found >= sources, f"it has {found} source{'' if found == 1 else 's'}, the least is {sources}"
