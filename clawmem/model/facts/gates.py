"""Gates: which facts enter the wiki or may be promoted to an organisation, each verdict with its reason.

`gate_results` is pure. Its caller supplies what a fact does not say itself, as a `GateEvidence`: the entity, the facts
that contradict it, why it is stale, whether its source event exists, and what confirms it. A caller with an
index gets all verdicts at once from `clawmem.memory.facts.gates.judge`. A caller without one fills in a
`GateEvidence`::

    results = gate_results(fact, GateEvidence("areas/people/jane", cited=True), "2026-11-21T09:30:00Z")
    if not passes(results):
        refuse(failed_gates(results))

A missing key of the evidence never lets a fact pass: no event counts as cited, and nothing as a confirmation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from clawmem.model.facts.catalog import CONFIDENCE, NEWEST
from clawmem.model.facts.fact import ACTIVE, Fact, further_events, is_given_by_person, trust_rank
from clawmem.model.facts.fact_words import outcomes_of
from clawmem.model.facts.validity import untrue_reason
from clawmem.model.language.question import STOPWORDS, search_words
from clawmem.model.language.text import forms_of
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.quarantine import is_approved, quarantine_rule
from clawmem.model.records.entity import is_candidate_place
from clawmem.model.records.event import Event

CURRENT, CONFIDENT, ATOMIC, FRESH = "current", "confidence", "atomic", "fresh"
GATES = (CURRENT, CONFIDENT, ATOMIC, "anchored", "evidenced", "uncontradicted", FRESH, "confirmed")
SUPPORTS, MERGES = "supports", "merges"
# The least confidence, the most characters of an atomic statement, and the least number of sources.
LEAST_CONFIDENCE, MOST_CHARACTERS, LEAST_SOURCES = 0.8, 300, 2
_SENTENCE_END = r"[.!?][\"')\]]*\s+(?=[A-Z0-9])"
# A dot after these ends no sentence.
_SHORT = r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|approx)\.\s+(?=[A-Z0-9])"


class GateEvidence(NamedTuple):
    """What the gates need to know about a fact beside itself.

    `against` are the ids of facts that contradict it, `stale` is why it is stale, and `cited` says whether its source
    event exists. `confirming` are the ids of events and facts from other sources that say the same (`confirming`)."""

    entity: str
    against: Collection[str] = ()
    stale: str | None = None
    cited: bool = False
    confirming: Collection[str] = ()


class GateResult(NamedTuple):
    """The verdict of one gate, with its reason."""

    gate: str
    passed: bool
    reason: str


def gate_results(fact: Fact, evidence: GateEvidence, moment: str) -> tuple[GateResult, ...]:
    """Return the verdict of every gate about a fact at a moment (ISO 8601, UTC), in the order of GATES."""
    verdicts = (
        _current(fact, moment),
        _confidence(fact),
        _atomic(fact.fact),
        _anchored(evidence.entity),
        _evidenced(fact, evidence.cited),
        _uncontradicted(evidence.against),
        (evidence.stale is None, evidence.stale or "it is not stale"),
        _confirmed(fact, evidence.confirming),
    )
    return tuple(GateResult(gate, *verdict) for gate, verdict in zip(GATES, verdicts, strict=True))


def passes(results: Iterable[GateResult]) -> bool:
    """Return whether all gates passed."""
    return all(result.passed for result in results)


def failed_gates(results: Iterable[GateResult]) -> str:
    """Return the gates that failed, each with its reason, in one line."""
    return "; ".join(f"{result.gate}: {result.reason}" for result in results if not result.passed)


def needs_confirmation(fact: Fact) -> bool:
    """Return whether a fact needs a second source: no person stated or approved it."""
    return fact.trust != "user" and not is_given_by_person(fact) and not is_approved(fact)


def confirming(fact: Fact, linked: Iterable[Fact], events: Mapping[str, Event]) -> tuple[str, ...]:
    """Return the ids of the events and of the linked facts that confirm a fact, each from a source of its own.

    The events are those of its further evidence. `linked` are the facts that it merged, and those that a `supports`
    link connects with it, either way. An event counts if it was not revoked, a fact if it is current or was merged, and
    each only if nothing else, nor the fact itself, has the same source: the session of its event, else the event, else
    who stored it. `events` are the source events by id."""
    known = {_source(fact, events)}
    again = [
        fact._replace(id=further_event, source_event=further_event)
        for further_event in further_events(fact)
        if _counts(events.get(further_event))
    ]
    others = [
        other_fact
        for other_fact in linked
        if other_fact.id != fact.id and (other_fact.is_current or other_fact.superseded_by == fact.id)
    ]
    found = []
    for other_other in (*again, *sorted(others, key=lambda other: (other.timestamp, other.id))):
        source = _source(other_other, events)
        if source not in known:
            known.add(source)
            found.append(other_other.id)
    return tuple(found)


def _counts(event: Event | None) -> bool:
    return event is not None and not (event.metadata or {}).get("revoked")


def _source(fact: Fact, events: Mapping[str, Event]) -> tuple[str, str | None]:
    event = events.get(fact.source_event) if fact.source_event is not None else None
    if event is not None and event.session is not None:
        return "session", event.session
    return ("event", fact.source_event) if fact.source_event is not None else (fact.source, fact.agent)


def _current(fact: Fact, moment: str) -> tuple[bool, str]:
    if fact.status != ACTIVE:
        return False, f"it is {fact.status}"
    if rule := quarantine_rule(fact):
        return False, f"it is quarantined: {rule}"
    untrue = untrue_reason(fact, moment)
    return untrue is None, untrue or "it holds now"


def _confidence(fact: Fact) -> tuple[bool, str]:
    if fact.confidence is None:
        flag = is_given_by_person(fact)
        return flag, "a person stated it" if flag else "it has no confidence, and no person stated it"
    reason = f"its confidence is {fact.confidence:.2f}; it needs at least {LEAST_CONFIDENCE:.2f}"
    return fact.confidence >= LEAST_CONFIDENCE, reason


def _atomic(statement: str) -> tuple[bool, str]:
    if len(statement) > MOST_CHARACTERS:
        return False, f"it has {len(statement)} characters; at most {MOST_CHARACTERS} are allowed"
    sentences = 1 + len(re.findall(_SENTENCE_END, re.sub(_SHORT, "x ", statement)))
    return sentences == 1, "it is one sentence" if sentences == 1 else f"it has {sentences} sentences"


def _anchored(entity: str) -> tuple[bool, str]:
    waits = is_candidate_place(entity)
    return not waits, "it waits for promotion and belongs to no entity" if waits else f"it belongs to {entity}"


def _evidenced(fact: Fact, cited: bool) -> tuple[bool, str]:
    if cited:
        return True, f"it cites {fact.source_event}"
    if is_given_by_person(fact):
        return True, "a person stated it"
    linked = any(link.type in (SUPPORTS, MERGES, "derived_from", "depends_on") for link in fact.links)
    return linked, "it rests on other facts" if linked else "it cites no event and rests on no fact"


def _uncontradicted(against: Collection[str]) -> tuple[bool, str]:
    return not against, f"it is in conflict with {', '.join(sorted(against))}" if against else "nothing contradicts it"


def _confirmed(fact: Fact, others: Collection[str]) -> tuple[bool, str]:
    """A person's own statement needs no second source: the person is who would confirm it."""
    if not needs_confirmation(fact):
        stated = fact.trust == "user" or is_given_by_person(fact)
        return True, "a person stated it" if stated else "a person approved it"
    found = 1 + len(others)
    named = f", with {', '.join(sorted(others))}" if others else ""
    counted = f"it has {found} source{'' if found == 1 else 's'}{named}; it needs at least {LEAST_SOURCES}"
    return found >= LEAST_SOURCES, counted


# The propositional form: "Since [[premise]], conclusion" names in brackets what a statement rests on.
#
# Brackets count after `since`, `because (of)`, `due to`, `given` or `as`, one or several joined by commas and `and`.
# Other brackets, such as links of a note, stay as they are, and so does a bracket after a backslash.

MOST_PREMISES = 8
LONGEST_PREMISE = 300
_BRACKET = rf"\[\[[^\[\]\n]{{1,{LONGEST_PREMISE}}}\]\]"
_FORM = (
    rf"\b(?:since|because|given|as|due\s+to)(?:\s+(?:that|of))?\s+({_BRACKET}"
    rf"(?:(?:\s*,\s*{_BRACKET}){{0,{4 * MOST_PREMISES}}}\s*,?\s+and\s+{_BRACKET}){{0,{MOST_PREMISES}}})"
)


class NamedPremise(NamedTuple):
    """The words in a bracket, and the half-open range of the bracket in the statement."""

    words: str
    start: int
    end: int


def named_premises(statement: str) -> tuple[NamedPremise, ...]:
    """Return the premises that a statement names, in order."""
    found = []
    for form in re.finditer(_FORM, statement, re.IGNORECASE):
        for match in re.compile(_BRACKET).finditer(statement, *form.span(1)):
            words = match.group()[2:-2].strip()
            found += [NamedPremise(words, *match.span())] if words else []
    return tuple(found)


def with_references(statement: str, reference: Callable[[NamedPremise], str | None], form: str = "[[{}]]") -> str:
    """Return the statement with `reference(premise)` in a form for each premise, or its words if that is None."""
    pieces, at = [], 0
    for named_premise in named_premises(statement):
        pieces += [statement[at : named_premise.start], form.format(reference(named_premise) or named_premise.words)]
        at = named_premise.end
    return "".join([*pieces, statement[at:]])


def conclusion_of(statement: str, reference: Callable[[NamedPremise], str | None]) -> str:
    """Return what a statement concludes: without each clause whose premises are all known, with references elsewhere.

    The words of a premise would live on in the statement after the premise was withdrawn. No bracket of a premise
    stays: a reader would take it for a part of the sentence. The backslash before another bracket is removed."""
    names = {named_premise.start: reference(named_premise) for named_premise in named_premises(statement)}
    kept = statement
    for form in reversed(list(re.finditer(_FORM, statement, re.IGNORECASE))):
        if all(names.get(match.start()) for match in re.compile(_BRACKET).finditer(statement, *form.span(1))):
            before, after = kept[: form.start()].rstrip(" ,("), kept[form.end() :].lstrip(" ,)")
            joined = f"{before}{'' if not before or after[:1] in ('', '.', '!', '?', ';', ':') else ' '}{after}"
            kept = joined[:1].upper() + joined[1:] if not before else joined
    kept = kept if any(map(str.isalnum, kept)) else statement
    return with_references(kept, reference, "{}").replace("\\[[", "[[")


class Settlement(NamedTuple):
    """The fact that wins a conflict (None if a person must decide), the strategy, and the reason as a clause."""

    winner: Fact | None
    strategy: str
    why: str


def settle(strategy: str, origin: str, facts: Sequence[Fact]) -> Settlement:
    """Return which fact wins by a strategy, never against higher trust. `origin` says what sets the strategy."""
    if strategy == NEWEST:
        winner, why = _newest(facts), f"it is the newest, and {origin} settles conflicts by `newest`"
        if winner is None:
            return Settlement(None, strategy, "no single fact is the newest")
    elif strategy == CONFIDENCE:
        winner = confident_winner(facts)
        if winner is None:
            return Settlement(None, strategy, "no single fact has the highest confidence")
        why = f"it has the highest confidence, {winner.confidence:g}, and {origin} settles conflicts by `confidence`"
    else:
        return Settlement(None, strategy, f"{origin} settles conflicts by `ask`")
    best = max(facts, key=lambda fact: trust_rank(fact.trust))
    if trust_rank(winner.trust) < trust_rank(best.trust):
        text = f"{winner.id} has the trust {winner.trust}, which is less than that of {best.id}"
        return Settlement(None, strategy, text)
    return Settlement(winner, strategy, why)


def confident_winner(facts: Sequence[Fact]) -> Fact | None:
    """Return the fact with the highest confidence, or None if a confidence is not known or two are equal."""
    sure = sorted(((fact.confidence, place) for place, fact in enumerate(facts) if fact.confidence is not None))
    if len(sure) < len(facts) or not sure or (len(sure) > 1 and sure[-1][0] == sure[-2][0]):
        return None
    return facts[sure[-1][1]]


def _newest(facts: Sequence[Fact]) -> Fact | None:
    """Return the fact that is true from the latest moment: the day it names, else when it was recorded.

    Of two with the same moment, the later one in `facts` is the newer."""
    moments = [(fact.valid_from or fact.timestamp, place) for place, fact in enumerate(facts)]
    return facts[max(moments)[1]] if moments else None


DECISION = "decision"
WORKED, FAILED, REVERTED = DECISION_OUTCOMES = ("worked", "failed", "reverted")
# The part of an option's words that must be in a decision for it to be that option.
_SAME = 0.75


def with_outcome(fact: Fact, outcome: Mapping[str, Any]) -> Fact:
    """Return the decision with one more outcome; nothing else of it changes."""
    details = dict(fact.details or {})
    return fact._replace(details={**details, "outcomes": [*outcomes_of(fact), dict(outcome)]})


def goes_against(decision: Fact, precedent: Fact) -> str | None:
    """Return why a decision goes against an earlier one, or None.

    It does if it chooses what the earlier one rejected, rejects what the earlier one chose, denies it in the same
    words, or chooses something else for the same thing."""
    for option in _rejected(precedent):
        if _names(option, decision.fact) and not _names(option, precedent.fact):
            return f"it chooses what was rejected then: {option}"
    for option in _rejected(decision):
        if _names(option, precedent.fact) and not _names(option, decision.fact):
            return f"it rejects what was chosen then: {option}"
    if _has_been_reverted(precedent) or any(re.search(_LEFT_OPEN, fact.fact, _I) for fact in (decision, precedent)):
        return None
    if _denies(decision.fact, precedent.fact) or _denies(precedent.fact, decision.fact):
        return "one denies what the other says"
    choice, other = _choice_for(decision.fact), _choice_for(precedent.fact)
    if choice and other and choice.thing == other.thing and not choice.words & other.words:
        return f"it chooses something else for the same thing: {choice.text}, not {other.text}"
    return None


_I = re.IGNORECASE
# With these words, both decisions can hold: one for a case or a time, or one beside the other.
_LEFT_OPEN = (
    r"\b(?:if|unless|except|only|until|till|before|after|since|from|when|where|while|during|also|too|both|as well|"
    r"besides|or|wenn|falls|außer|nur|bis|auch|sowohl|oder)\b"
)
_DENIAL = r"\b(?:no longer|not|never|no|stop|avoid|nicht(?: mehr)?|keine?[mnrs]?|nie)\b|n't\b"
_NOT_THIS = r",? (?:instead of|rather than|and not|not|statt) [^,;.]{1,80}?(?= for | as | für |[,;.]|$)"
_WE = r"(?:(?:we|let us|let's) )?(?:will |shall )?"
# An unnamed thing or a number of things leaves room for others.
_VALUE = r"(?P<choice>(?!(?:an?|one|two|three|four|five|more|less|eine?n?|\d+) )[^,;:(]{1,80})"
_THING = r"(?P<thing>[^,;:(]{1,80}?)"
# How a decision says what is chosen for what. The verb of the last is part of the thing.
_CHOOSING = (
    rf"{_WE}(?:use|choose|adopt|pick|take|go with|wir nehmen) {_VALUE}? (?:for|as|für) (?P<thing>[^,;:(]{{1,80}})",
    rf"{_THING} (?:will |shall )?(?:moves?|stays?|remains?|goes|go|switch(?:es)?|migrates?|runs?|lives?) "
    rf"(?:to|in|on|at|with|into) {_VALUE}",
    rf"{_WE}(?:keep|move|switch|migrate) {_THING} (?:to|in|on|at|into) {_VALUE}",
    rf"{_WE}(?P<thing>(?:store|host|deploy|build|write|run|show|send|sell|buy|log) [^,;:(]{{1,80}}?) "
    rf"(?:to|in|on|at|into|with|by|as) {_VALUE}",
)


class _Choice(NamedTuple):
    thing: frozenset[str]
    words: frozenset[str]
    text: str


def _choice_for(statement: str) -> _Choice | None:
    """Return what a statement chooses for what, where it says so and denies nothing."""
    text = re.sub(_NOT_THIS, "", statement.strip().rstrip(".!"), flags=_I)
    if re.search(_DENIAL, text, _I):
        return None
    for match in filter(None, (re.match(form, text, _I) for form in _CHOOSING)):
        choice = _Choice(frozenset(_telling(match["thing"])), frozenset(_telling(match["choice"])), match["choice"])
        return choice if choice.thing and choice.words else None
    return None


def _denies(statement: str, other: str) -> bool:
    """Return whether a statement denies another one: it has a word that denies, and else the first word of the other
    one and further ones in their order."""
    if len(re.findall(_DENIAL, statement, _I)) != 1 or re.search(_DENIAL, other, _I):
        return False
    words, stated = _telling(re.sub(_DENIAL, " ", statement, flags=_I), _FILLING), _telling(other, _FILLING)
    rest = iter(stated)
    return len(words) > 1 and words[:1] == stated[:1] and all(word in rest for word in words)


_FILLING = frozenset("a an the we i you our do does did will shall should must may to be is are".split())
_EMPTY = STOPWORDS - {"use"} | _FILLING


def _telling(text: str, empty: frozenset[str] = _EMPTY) -> list[str]:
    """Return the words of a text in order, without `empty` ones and plural endings."""
    words = re.findall(r"[^\W_]+", text.lower())
    return [word[:-1] if word.endswith("s") and len(word) > 3 else word for word in words if word not in empty]


def _has_been_reverted(decision: Fact) -> bool:
    return any(record.get("outcome") == REVERTED for record in outcomes_of(decision)[-1:])


def _rejected(fact: Fact) -> list[str]:
    items = (fact.details or {}).get("alternatives")
    options = (
        [record.get("option") for record in items if isinstance(record, Mapping)] if isinstance(items, list) else []
    )
    return [option for option in options if isinstance(option, str)]


def _names(option: str, statement: str) -> bool:
    """Return whether a statement has enough of the words of an option, in any form."""
    words = search_words(option)
    there = {form for word in search_words(statement) for form in forms_of(word)}
    shared = sum(not there.isdisjoint(forms_of(word)) for word in words)
    return bool(words) and shared >= _SAME * len(words)
