"""One round of learning: each proposition is judged, reconciled, placed, or set aside for a person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.learning.reconciling import candidate as ends
from clawmem.learning.reconciling.candidate import LearningCandidate
from clawmem.learning.reconciling.gate import DEFAULT_LIMITS, GateLimits, GateVerdict, judge
from clawmem.learning.reconciling.predicates import UnknownPredicates, mapped, said_of, shape_of
from clawmem.learning.reconciling.reconcile import ADD, MERGE, NOOP, RETRACT, UPDATE, ReconcileDecision, reconcile
from clawmem.learning.reconciling.review import (
    ReviewReason,
    against_ids,
    decided_before,
    deed,
    in_words,
    verdict_before,
    waits,
)
from clawmem.learning.reconciling.round_state import RoundState
from clawmem.learning.reconciling.slots import beside, in_its_place, read_for_change
from clawmem.learning.rules.corrections import CATEGORY, settled
from clawmem.learning.rules.known_changes import TAKEN_BACK, tells_of_change, what_changed, what_to_forget
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.draft import UNSET_ID
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.trust import rank
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import check_statement
from clawmem.model.lifecycle.reinforce import raised
from clawmem.model.lifecycle.succession import correct, succeed
from clawmem.model.proposals import proposal as proposals
from clawmem.model.proposals.learned_fact import learned_fact
from clawmem.model.proposals.proposal import CatalogEntry, Proposal, ProposalTarget
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.event import Event
from clawmem.model.safety.recalled_text import masked, parts_of
from clawmem.model.safety.secrets.find import find_secret

Extract = Callable[[Event, Catalog, Collection[str]], Sequence[Proposition]]
_LONG, _MOST_TIMES = 2000, 4
_OUTCOMES = {UPDATE: ends.UPDATED, MERGE: ends.MERGED, RETRACT: ends.RETRACTED}


class Extractor(NamedTuple):
    """What reads propositions out of an event; its name, which facts and reports carry; the events a model read, and
    those of them that an earlier round read in part."""

    name: str
    extract: Extract
    by_model: Container[str] = ()
    continued: Container[str] = ()


class RoundLimits(NamedTuple):
    """On what terms a round learns: the most facts of one event, several times that for a long one, and the
    confidence above which a fact is not replaced without a person."""

    most: int
    sure: float
    limits: GateLimits = DEFAULT_LIMITS

    def most_of(self, event: Event) -> int:
        """The most facts of this event: as many again for each further 2,000 characters, up to four times."""
        return self.most * min(_MOST_TIMES, 1 + len(event.text) // _LONG)


class LearningRound:
    """Decides about the events it is given, one after the other, each on top of what was decided before."""

    def __init__(self, mind: RoundState, catalog: Catalog, terms: RoundLimits, extractor: Extractor) -> None:
        self._mind = mind
        self._catalog = catalog
        self._terms = terms
        self._extractor = extractor
        self._unknown = UnknownPredicates(catalog)
        self.candidates: list[LearningCandidate] = []

    def consider(self, event: Event, speakers: Collection[str]) -> None:
        """Read one event and decide about everything it proposes."""
        if event.recalled:
            return
        before = () if event.id in self._extractor.continued else self._mind.spans_of(event.id)
        readable = event._replace(text=masked(event.text, parts_of(event.metadata)))
        by_model = event.id in self._extractor.by_model
        for number, proposition in enumerate(self._extractor.extract(readable, self._catalog, speakers)):
            unfit = self._unfit(proposition, event, number, before)
            self.candidates.append(unfit or self._decide(mapped(proposition, self._catalog, by_model), event))

    def propose_predicates(self, entries: Sequence[tuple[CatalogEntry, Fact, int]]) -> None:
        """Set aside what the catalog should know, each thing once and for all."""
        asked = {shape_of(one) for one in self._mind.filed.entries} if entries else set()
        for entry, fact, count in entries:
            if shape_of(entry) not in asked:
                self._mind.file(self._predicate(entry, fact, count))

    @property
    def unknown(self) -> UnknownPredicates:
        """The relations met that the catalog does not know."""
        return self._unknown

    def _unfit(
        self, proposition: Proposition, event: Event, number: int, before: Collection[tuple[int, int] | None]
    ) -> LearningCandidate | None:
        start, end = proposition.span
        if event.text[start:end] != proposition.source_text or not proposition.source_text:
            return LearningCandidate(
                proposition, ends.REFUSED, "evidence", "Its evidence is not in the event to the character."
            )
        unfit = _unfit_words(proposition)
        if unfit:
            return LearningCandidate(proposition, ends.REFUSED, "statement", unfit)
        if proposition.span in before:
            # The day is read again, after an undo or a merge: whatever became of that fact since, it stays so.
            return LearningCandidate(proposition, ends.NOOP, "duplication", "It was learned from this event before.")
        most = self._terms.most_of(event)
        # What one run of a model may find is limited where it is asked.
        if number >= most and event.id not in self._extractor.by_model:
            return LearningCandidate(proposition, ends.REFUSED, "limit", f"This event gives at most {most} candidates.")
        return None

    def _decide(self, proposition: Proposition, event: Event) -> LearningCandidate:
        proposition = self._mind.in_known_spelling(in_its_place(read_for_change(proposition, event.text)))
        self._mind.mentioned(hint.title for hint in proposition.entity_hints)
        if proposition.category == CATEGORY:
            return self._correct(proposition, event)
        if proposition.category == TAKEN_BACK:
            return self._forget(proposition, event)
        known = self._mind.known(proposition)
        changed = tells_of_change(proposition) and what_changed(
            proposition, (around := {**self._mind.shelf_of(proposition), **known}).values()
        )
        if changed:
            return self._settle(*changed, around, event)
        return self._settle(proposition, reconcile(proposition, list(known.values()), self._catalog), known, event)

    def _correct(self, proposition: Proposition, event: Event) -> LearningCandidate:
        """Decide about a correction of a value, where it is known what that was the value of."""
        known = self._mind.shelf_of(proposition)
        found = settled(proposition, known.values())
        if found is None:
            reason = f"It corrects '{proposition.former}', which nothing known says."
            return LearningCandidate(proposition, ends.REFUSED, "reconcile", reason)
        return self._settle(*found, known, event)

    def _forget(self, proposition: Proposition, event: Event) -> LearningCandidate:
        """Decide about what is to be believed no more."""
        known = self._mind.known(proposition)
        found = what_to_forget(proposition, known.values())
        if found is None:
            reason = "It asks to forget what nothing known says."
            return LearningCandidate(proposition, ends.REFUSED, "reconcile", reason)
        return self._settle(*found, known, event)

    def _settle(
        self, proposition: Proposition, decision: ReconcileDecision, known: Mapping[str, Fact], event: Event
    ) -> LearningCandidate:
        if decision.outcome == NOOP and decision.targets:
            return self._restated(proposition, decision, known, event, "reconcile")
        verdict = self._judged(proposition, known)
        if not verdict.accepted and verdict.gate != "trust":
            return self._refused(proposition, decision, verdict, known, event)
        wait = waits(proposition, decision, known, verdict, self._terms.sure)
        if wait:
            return self._propose(proposition, decision, known, wait, event)
        return self._keep(proposition, decision, known, event)

    def _judged(self, proposition: Proposition, known: Mapping[str, Fact]) -> GateVerdict:
        """The gate's verdict; `trust` only where it is the one thing that stands against the proposition."""
        verdict = judge(proposition, known.values(), _secret_rule, self._terms.limits)
        if verdict.gate != "trust":
            return verdict
        trusting = self._terms.limits._replace(trusted=(*self._terms.limits.trusted, proposition.trust))
        other = judge(proposition, known.values(), _secret_rule, trusting)
        return verdict if other.accepted else other

    def _refused(
        self,
        proposition: Proposition,
        decision: ReconcileDecision,
        verdict: GateVerdict,
        known: Mapping[str, Fact],
        event: Event,
    ) -> LearningCandidate:
        twin = verdict.duplicate_of
        if twin is not None and twin in decision.targets and decision.outcome == RETRACT:
            reason = f"It ends {twin}, in the very words of what it ends: no statement says that it is over."
            return LearningCandidate(proposition, ends.REFUSED, "reconcile", reason)
        if twin is not None and twin in known:
            again = ReconcileDecision(NOOP, (twin,), verdict.reason)
            return self._restated(proposition, again, known, event, verdict.gate)
        return LearningCandidate(proposition, ends.REFUSED, verdict.gate, verdict.reason)

    def _restated(
        self, proposition: Proposition, decision: ReconcileDecision, known: Mapping[str, Fact], event: Event, gate: str
    ) -> LearningCandidate:
        fact = known[decision.targets[0]]
        entity = self._mind.home(fact.id)
        # Older news stands against the fact, the same event is no second witness, and the word of a source counts
        # only for facts that come from no better one.
        witness = not decision.contradicts and fact.source_event != event.id
        if witness and rank(proposition.trust) >= rank(fact.trust) and raised(fact.confidence) != fact.confidence:
            fact = fact._replace(confidence=raised(fact.confidence))
            self._mind.put(fact, entity)
        return LearningCandidate(proposition, ends.NOOP, gate, decision.reason, fact, entity)

    def _keep(
        self, proposition: Proposition, decision: ReconcileDecision, known: Mapping[str, Fact], event: Event
    ) -> LearningCandidate:
        placement = self._mind.place(proposition)
        if placement.entity is None:
            self._mind.note(day_of(event.timestamp), proposition.statement)
            return LearningCandidate(proposition, ends.NOTED, "placement", placement.reason)
        if placement.create:
            self._mind.create(placement.entity, placement.title)
        fact = self._learned(beside(proposition) if decision.beside else proposition, event, self._mind.new_id())
        self._unknown.met(fact, event.id in self._extractor.by_model)
        if decision.outcome == ADD or not decision.targets:
            self._mind.put(fact, placement.entity)
            return LearningCandidate(proposition, ends.ADDED, "placement", placement.reason, fact, placement.entity)
        fact = self._replace(fact, decision, known, placement.entity, day_of(event.timestamp))
        reason = decision.reason
        if fact.valid_from and fact.valid_from > self._mind.now:
            reason += f" It begins on {fact.valid_from}: what holds stands until then."
        return LearningCandidate(proposition, _OUTCOMES[decision.outcome], "reconcile", reason, fact, placement.entity)

    def _replace(
        self, fact: Fact, decision: ReconcileDecision, known: Mapping[str, Fact], entity: str, said: str
    ) -> Fact:
        link = "merges" if decision.outcome == MERGE else "supersedes"
        olds = [known[one] for one in decision.targets]
        if decision.never:
            done = correct(fact, olds, decision.reason, self._mind.now)
        else:
            done = succeed(fact, olds, link, decision.reason, self._mind.now, said)
        for old in done.closed:
            self._mind.put(old, self._mind.home(old.id))
        self._mind.put(done.new, entity)
        return done.new

    def _propose(
        self,
        proposition: Proposition,
        decision: ReconcileDecision,
        known: Mapping[str, Fact],
        wait: ReviewReason,
        event: Event,
    ) -> LearningCandidate:
        fact, does = self._learned(proposition, event, UNSET_ID), deed(decision)
        same, said = self._mind.filed.about(does, fact), proposition.said_at or event.timestamp
        earlier = decided_before(same, fact, said, against_ids(decision))
        if earlier:
            outcome, reason = verdict_before(earlier)
            return LearningCandidate(proposition, outcome, "review", reason, proposal=earlier.id)
        targets = [known[one] for one in against_ids(decision)]
        placement = self._mind.place(proposition)
        made = Proposal(
            "",
            wait.kind,
            in_words(does, fact.fact, targets),
            wait.why,
            self._mind.now,
            does,
            targets=tuple(ProposalTarget(one.id, one.fact) for one in targets),
            fact=fact,
            entity=self._mind.home(targets[0].id) if targets else placement.entity,
            title=placement.title if placement.create and not targets else None,
            source_event=event.id,
            agent=event.agent,
        )
        made = self._mind.file(made)
        return LearningCandidate(proposition, ends.PROPOSED, "review", wait.why, entity=made.entity, proposal=made.id)

    def _predicate(self, entry: CatalogEntry, fact: Fact, count: int) -> Proposal:
        return Proposal(
            "",
            "predicate",
            said_of(entry, self._catalog),
            f"The catalog does not know it, and {count} facts show it.",
            self._mind.now,
            proposals.PREDICATE,
            entry=entry,
            source_event=fact.source_event,
            agent=fact.agent,
        )

    def _learned(self, proposition: Proposition, event: Event, fact_id: str) -> Fact:
        return learned_fact(proposition, event, fact_id, self._mind.now, f"heartbeat/{self._extractor.name}")


def _unfit_words(proposition: Proposition) -> str | None:
    """Why the words of a proposition cannot stand in a fact, by the rule that holds for every fact."""
    told = {"fact": proposition.statement, "subject": proposition.subject, "object": proposition.object}
    try:
        for what, text in told.items():
            if text is not None:
                check_statement(text, what)
    except InvalidInput as problem:
        return problem.message
    return None


def _secret_rule(text: str) -> str | None:
    match = find_secret(text)
    return match.rule if match else None
