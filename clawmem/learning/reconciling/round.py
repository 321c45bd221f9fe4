"""One round of learning: each proposition is judged, reconciled, and placed or proposed for review."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.learning.attribution.sentences import THE_USER
from clawmem.learning.reconciling import round_state as ends
from clawmem.learning.reconciling.entities import Placement, conversation_of, is_of_speaker, session_of
from clawmem.learning.reconciling.gate import DEFAULT_LIMITS, GateLimits, GateVerdict, judge, plain, word_beginnings
from clawmem.learning.reconciling.reconcile import (
    ADD,
    BY_RULES,
    MERGE,
    NOOP,
    RETRACT,
    UPDATE,
    ReconcileDecision,
    as_additional,
    drop_unfit_predicate,
    given_up,
    loses_detail,
    map_predicate,
    mark_change,
    only_named_changes,
    reconcile,
    reconcile_named,
    with_rule_replaced,
)
from clawmem.learning.reconciling.review import (
    ReviewReason,
    affected_ids,
    as_statement,
    bad_words,
    by_strategy,
    describe_change,
    earlier_outcome,
    earlier_proposal,
    proposal_action,
    resolve_correction,
    review_reason,
)
from clawmem.learning.reconciling.round_state import LearningCandidate, RoundState
from clawmem.learning.rules.clauses import CORRECTION, RETRACTION
from clawmem.memory.facts.targets import Named
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import UNSET_ID, Fact, trust_rank
from clawmem.model.facts.reach import OF_A_PROJECT
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import check_statement, one_line
from clawmem.model.lifecycle.chain import correct, succeed
from clawmem.model.lifecycle.reinforce import raised_confidence
from clawmem.model.proposals.para import (
    HERE,
    OF_PROJECTS,
    FactChange,
    Proposition,
    learned_fact,
    with_project,
)
from clawmem.model.proposals.proposal import CANDIDATES, Proposal, ProposalTarget
from clawmem.model.records.entity import is_candidate_place, kind_of
from clawmem.model.records.event import Event
from clawmem.model.safety.recalled_text import mask_recalled, parts_of
from clawmem.model.safety.secrets.find import find_secret
from clawmem.model.search.meant import telling_words

Extract = Callable[[Event, Catalog, Collection[str]], Sequence[Proposition]]
_LONG, _MOST_TIMES = 2000, 4
_OUTCOMES = {UPDATE: ends.UPDATED, MERGE: ends.MERGED, RETRACT: ends.RETRACTED}


class Extractor(NamedTuple):
    """An extractor: its name for facts and reports, its function, the ids of the events that a model read, and those
    that an earlier round read in part.

    `workflow` is stored with each fact. `rereads` says that the events may have been read by the rules before.
    """

    name: str
    extract: Extract
    by_model: Container[str] = ()
    workflow: str = ""
    rereads: bool = False


class RoundLimits(NamedTuple):
    """The limits of a round.

    `max_facts` is the most facts of one short event. A fact with a confidence above `confident` is not replaced by a
    less confident one without a person. `gate` has the limits of the gate.
    """

    max_facts: int = 8
    confident: float = 0.9
    gate: GateLimits = DEFAULT_LIMITS

    def max_facts_of(self, event: Event) -> int:
        """Return the most facts of this event: `max_facts` for each 2,000 characters, up to four times."""
        return self.max_facts * min(_MOST_TIMES, 1 + len(event.text) // _LONG)


class LearningRound:
    """A round decides about events in order. Each decision builds on the earlier ones.

    `people` are those who speak in each conversation and in each session, as `people_of` returns them.
    """

    def __init__(
        self,
        state: RoundState,
        catalog: Catalog,
        limits: RoundLimits,
        extractor: Extractor,
        people: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._state = state
        self._catalog = catalog
        self._workflow = extractor.workflow or f"heartbeat/{extractor.name}"
        self._limits = limits
        self._extractor = extractor
        self._people = people or {}
        self._made: dict[str, str] = {}  # the id of the fact of each proposition, by its key
        self.candidates: list[LearningCandidate] = []
        # Known facts that an event said again, with the time of the event: each counts as an access.
        self.mentioned: list[tuple[str, str]] = []

    def consider(self, event: Event, speakers: Collection[str]) -> None:
        """Extract the propositions of one event and decide about each. Add the results to `candidates`."""
        if event.recalled:
            return
        readable = event._replace(text=mask_recalled(event.text, parts_of(event.metadata)))
        by_model = event.id in self._extractor.by_model
        before = self._learned_before(event)
        for number, proposition in enumerate(self._extractor.extract(readable, self._catalog, speakers)):
            unfit = self._unfit(proposition, event, number, before)
            candidate = unfit or self._decide(map_predicate(proposition, self._catalog, by_model), event)
            if candidate.fact:
                self._made[proposition.key] = candidate.fact.id
            self.candidates.append(candidate)

    def _learned_before(self, event: Event) -> Collection[tuple[int, int] | str | None]:
        """Return the spans from which an earlier round learned, or for events that are read again, the statements."""
        if self._extractor.rereads:
            return self._state.statements_of(event.id)
        return self._state.spans_of(event.id)

    def _unfit(
        self, proposition: Proposition, event: Event, number: int, before: Collection[tuple[int, int] | str | None]
    ) -> LearningCandidate | None:
        start, end = proposition.span
        if event.text[start:end] != proposition.source_text or not proposition.source_text:
            return LearningCandidate(proposition, ends.REFUSED, "evidence", "Its evidence is not exactly in the event.")
        unfit = _unfit_words(proposition)
        if unfit:
            return LearningCandidate(proposition, ends.REFUSED, "statement", unfit)
        if proposition.span in before or plain(proposition.statement) in before:
            # After an undo or a merge the day is read again. Later changes of that fact must stay.
            return LearningCandidate(proposition, ends.NOOP, "duplication", "It was already learned from this event.")
        decided = self._state.decided_candidate(proposition) if event.id in self._extractor.by_model else None
        if decided and bad_words(decided) is None:
            outcome, reason = earlier_outcome(decided)
            return LearningCandidate(proposition, outcome, "review", reason, proposal=decided.id)
        most = self._limits.max_facts_of(event)
        # The number of facts of a model run is limited when the model is asked.
        if number >= most and event.id not in self._extractor.by_model:
            return LearningCandidate(
                proposition, ends.REFUSED, "limit", f"This event may give at most {most} candidates."
            )
        return None

    def _decide(self, proposition: Proposition, event: Event) -> LearningCandidate:
        proposition = self._state.names_here(with_project(proposition, event), self._people_around(event))
        proposition = drop_unfit_predicate(mark_change(proposition, event.text))
        self._state.count_mentions(hint.title for hint in proposition.entity_hints if hint.role != HERE)
        if proposition.category == CORRECTION:
            return self._correct(proposition, event)
        if proposition.category == RETRACTION:
            return self.forget(event, asked=proposition)
        if event.id in self._extractor.by_model:
            proposition = self._in_place_of_raw(proposition, event)
        if proposition.category == "instruction" and (former := given_up(proposition)):
            rules = self._state.facts_with(former, (event.metadata or {}).get("project"))
            proposition = with_rule_replaced(proposition, former, rules)
        known = self._state.known_facts(proposition)
        named = self._state.facts_named(self._made.get(change.target, change.target) for change in proposition.changes)
        message = (
            reconcile_named(self._with_ids(proposition), named, self._place_of(proposition, event)) if named else None
        )
        if message:
            return self._apply(proposition, message, {**known, **named}, event)
        decision = reconcile(proposition, list(known.values()), self._catalog)
        if event.id in self._extractor.by_model:
            decision = only_named_changes(proposition, decision, known)
        candidate = self._apply(proposition, decision, known, event)
        if named and decision.outcome == ADD:
            stays = f"{', '.join(named)} stays: it is about something else, or trusted more."
            candidate = candidate._replace(reason=f"{candidate.reason} {stays}")
        return candidate

    def _in_place_of_raw(self, proposition: Proposition, event: Event) -> Proposition:
        """Return a reader's proposition that replaces what nobody worded of the same words, or what it calls the same
        as a fact of the rules: a reader words it better."""
        raw = {fact.id for fact in self._state.raw_facts(event.id, proposition.span)}
        same = [change.target for change in proposition.changes if change.how == "same"]
        raw |= {key for key, fact in self._state.facts_named(same).items() if fact.workflow == BY_RULES}
        kept = [change for change in proposition.changes if change.target not in raw or change.how != "same"]
        named = {change.target for change in kept}
        fresh = [FactChange(key, "refine") for key in sorted(raw - named)]
        return proposition._replace(changes=(*kept, *fresh))

    def _with_ids(self, proposition: Proposition) -> Proposition:
        """Return the proposition with the ids of the facts that it changes, also of those of this round."""
        changes = (
            change._replace(target=self._made.get(change.target, change.target)) for change in proposition.changes
        )
        return proposition._replace(changes=tuple(changes))

    def _place_of(self, proposition: Proposition, event: Event) -> Callable[[Fact], bool]:
        """Return a function that says whether a fact is of the event's project, or placed where the proposition is."""
        entity, project = self._state.place(proposition).entity, (event.metadata or {}).get("project")
        return lambda fact: fact.project == project is not None or entity == self._state.entity_of(fact.id)

    def _people_around(self, event: Event) -> Collection[str]:
        return self._people.get(conversation_of(event), ())

    def _correct(self, proposition: Proposition, event: Event) -> LearningCandidate:
        """Decide about a correction, if a known fact contains the wrong value."""
        wrong = self._state.facts_with(proposition.former or "")
        proposition = as_statement(proposition, wrong.values())
        known = self._state.facts_of_entity(proposition) | ({} if proposition.object else wrong)
        found = resolve_correction(proposition, known.values())
        if found is None:
            reason = f"It corrects '{proposition.former}', which is not in any known fact."
            return LearningCandidate(proposition, ends.REFUSED, "reconcile", reason)
        return self._apply(*found, known, event)

    def forget(self, event: Event, ids: Collection[str] = (), asked: Proposition | None = None) -> LearningCandidate:
        """Hide what an event asks to forget, and file it for a person: what a reader names by `ids`, which are those of
        facts and messages, or else words; or what the event's own words name."""
        named = [identifier for identifier in ids if identifier.startswith(("fact_", "evt_"))]
        targets: tuple[Named, ...] = tuple((identifier,) for identifier in ids if identifier not in named)
        if not ids:
            from clawmem.learning.attribution.forgetting import asked_to_forget  # few messages ask to forget

            targets = asked_to_forget(event.text)
        if not ids and not targets and len(telling_words(event.text)) > 1:
            targets = ((event.text,),)
        says = f"It was asked to forget: {one_line(event.text)}"
        asked = asked or Proposition(says, event.id, (0, len(event.text)), event.text)
        return _forgotten(asked, self._state.forget(event, targets, named, bool(ids)))

    def _apply(
        self, proposition: Proposition, decision: ReconcileDecision, known: Mapping[str, Fact], event: Event
    ) -> LearningCandidate:
        if decision.outcome == NOOP and decision.targets:
            return self._restated(proposition, decision, known, event, "reconcile")
        if (
            self._workflow == BY_RULES
            and not proposition.asked
            and decision.outcome == ADD
            and not decision.contradicts
        ):
            reason = "It says that something known changed, and nothing known is meant."
            return LearningCandidate(proposition, ends.REFUSED, "reconcile", reason)
        # A fact that is replaced is no duplicate of what replaces it.
        rest = {key: fact for key, fact in known.items() if not (proposition.changes and key in decision.targets)}
        verdict = self._judged(proposition, rest)
        if not verdict.accepted and verdict.gate != "trust":
            return self._refused(proposition, decision, verdict, known, event)
        wait = review_reason(proposition, decision, known, verdict, self._limits.confident)
        decision, wait, refused = by_strategy(proposition, decision, known, wait, self._catalog)
        if refused:
            return LearningCandidate(proposition, ends.REFUSED, "reconcile", refused)
        decided = self._state.decided_candidate(proposition) if event.id in self._extractor.by_model else None
        wait = wait or (bad_words(decided) if decided else None)
        if wait:
            return self._propose(proposition, decision, known, wait, event)
        return self._keep(proposition, decision, known, event)

    def _judged(self, proposition: Proposition, known: Mapping[str, Fact]) -> GateVerdict:
        """Return the verdict of the gate. The gate `trust` is reported only if all other gates accept."""
        verdict = judge(proposition, known.values(), _secret_rule, self._limits.gate)
        if verdict.gate != "trust":
            return verdict
        trusting = self._limits.gate._replace(trusted=(*self._limits.gate.trusted, proposition.trust))
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
        entity = self._state.entity_of(fact.id)
        # Confidence rises only with a second event, from a source at least as trusted, that is not older news.
        witness = not decision.contradicts and fact.source_event != event.id
        if witness and event.role in ("user", "assistant"):
            self.mentioned.append((fact.id, event.timestamp))
        if (
            witness
            and trust_rank(proposition.trust) >= trust_rank(fact.trust)
            and raised_confidence(fact.confidence) != fact.confidence
        ):
            fact = fact._replace(confidence=raised_confidence(fact.confidence))
            self._state.put(fact, entity)
        if witness and event.role == "user" and _is_confirmed(fact, proposition):
            fact, entity = self._confirmed(fact, entity, proposition, event)
        return LearningCandidate(proposition, ends.NOOP, gate, decision.reason, fact, entity)

    def _confirmed(self, fact: Fact, entity: str, proposition: Proposition, event: Event) -> tuple[Fact, str]:
        """Give an agent's fact the evidence and the trust of the user who said the same, and its place if it has none.
        Return it with its entity."""
        learned = self._learned(proposition, event, fact.id)
        fact = fact._replace(
            trust=learned.trust,
            source_event=learned.source_event,
            source_text=learned.source_text,
            source_span=learned.source_span,
        )
        placement = self._state.place(proposition)
        if entity == self._state.default and placement.entity:
            if placement.create:
                self._state.create(placement.entity, placement.title, self._people.get(session_of(event), ()))
            self._state.take_out(fact, entity)
            fact = fact._replace(project=fact.project or learned.project)
            fact, entity = self._in_project(fact, placement, proposition, event), placement.entity
        self._state.put(fact, entity)
        return fact, entity

    def _in_project(self, fact: Fact, placement: Placement, proposition: Proposition, event: Event) -> Fact:
        """Return a fact that a reader placed with the project that sees it."""
        kind = kind_of(placement.entity or "")
        if kind == "person" and not _is_rule_of_project(proposition, event):
            return fact._replace(project=None)
        if kind not in OF_A_PROJECT:
            return fact
        here = (event.metadata or {}).get("project")
        named = here if isinstance(here, str) else None
        project = self._state.project_of(placement.entity or "", fact.fact, named)
        decided = kind == "company" and proposition.category in OF_PROJECTS
        return fact._replace(project=project or (fact.project if decided else None))

    def _keep(
        self, proposition: Proposition, decision: ReconcileDecision, known: Mapping[str, Fact], event: Event
    ) -> LearningCandidate:
        placement = self._place_beside(proposition, decision, known)
        if placement.entity is None:
            self._state.note(day_of(event.timestamp), proposition.statement)
            return LearningCandidate(proposition, ends.NOTED, "placement", placement.reason)
        adds = decision.outcome == ADD or not decision.targets
        waits = self._state.waits(() if adds else decision.targets)
        if placement.create and not waits:
            self._state.create(placement.entity, placement.title, self._people.get(session_of(event), ()))
        fact = self._learned(
            as_additional(proposition) if decision.beside else proposition, event, self._state.new_id()
        )
        fact = fact._replace(related_entities=self._state.related(proposition, placement.entity))
        if event.id in self._extractor.by_model:
            fact = self._in_project(fact, placement, proposition, event)
            if proposition.ended or decision.outcome == RETRACT:
                # "She no longer works there" must not answer where she works.
                fact = fact._replace(predicate=None, object=None, relation_phrase=None)
        entity, reason = placement.entity, placement.reason
        if waits:
            reason = f"{reason} It waits for promotion to {entity}."
            fact, entity = self._state.waiting(fact, placement)
        if adds:
            self._state.put(fact, entity)
            return LearningCandidate(proposition, ends.ADDED, "placement", reason, fact, entity)
        fact = self._replace(fact, decision, known, entity, day_of(event.timestamp))
        reason = decision.reason
        if fact.valid_from and fact.valid_from > self._state.now:
            reason += f" It begins on {fact.valid_from}. The known fact is valid until then."
        return LearningCandidate(proposition, _OUTCOMES[decision.outcome], "reconcile", reason, fact, entity)

    def _place_beside(
        self, proposition: Proposition, decision: ReconcileDecision, known: Mapping[str, Fact]
    ) -> Placement:
        """Return where a fact goes; what is about something without a page stays where what it replaces is, unless
        nobody chose that place."""
        placement = self._state.place(proposition)
        unplaced = all(known[target].workflow == CANDIDATES for target in decision.targets)
        if unplaced or is_of_speaker(proposition):
            return placement
        hints = tuple(hint for hint in proposition.entity_hints if hint.role != "speaker")
        if self._state.place(proposition._replace(entity_hints=hints)).entity == placement.entity:
            return placement
        home = self._state.entity_of(decision.targets[0])
        return placement if is_candidate_place(home) else Placement(home, False, "", "What it replaces is there.")

    def _replace(
        self, fact: Fact, decision: ReconcileDecision, known: Mapping[str, Fact], entity: str, text: str
    ) -> Fact:
        link = "merges" if decision.outcome == MERGE else "supersedes"
        olds = [known[target] for target in decision.targets]
        if decision.never:
            succession = correct(fact, olds, decision.reason, self._state.now)
        else:
            succession = succeed(fact, olds, link, decision.reason, self._state.now, text)
        for old in succession.closed:
            self._state.put(old, self._state.entity_of(old.id))
        self._state.put(succession.new, entity)
        return succession.new

    def _propose(
        self,
        proposition: Proposition,
        decision: ReconcileDecision,
        known: Mapping[str, Fact],
        wait: ReviewReason,
        event: Event,
    ) -> LearningCandidate:
        fact, does = self._learned(proposition, event, UNSET_ID), proposal_action(decision)
        same, text = self._state.filed.about(does, fact), proposition.said_at or event.timestamp
        earlier = earlier_proposal(same, fact, text, affected_ids(decision))
        if earlier:
            outcome, reason = earlier_outcome(earlier)
            return LearningCandidate(proposition, outcome, "review", reason, proposal=earlier.id)
        targets = [known[affected_id] for affected_id in affected_ids(decision)]
        placement = self._state.place(proposition)
        made = Proposal(
            "",
            wait.kind,
            describe_change(does, fact.fact, targets),
            wait.why,
            self._state.now,
            does,
            targets=tuple(ProposalTarget(target.id, target.fact) for target in targets),
            fact=fact,
            entity=self._state.entity_of(targets[0].id) if targets else placement.entity,
            title=placement.title if placement.create and not targets else None,
            source_event=event.id,
            agent=event.agent,
        )
        made = self._state.file(made)
        return LearningCandidate(proposition, ends.PROPOSED, "review", wait.why, entity=made.entity, proposal=made.id)

    def _learned(self, proposition: Proposition, event: Event, fact_id: str) -> Fact:
        fact = learned_fact(proposition, event, fact_id, self._state.now, self._workflow)
        return self._state.with_premises(fact) if "[[" in fact.fact else fact


def _forgotten(proposition: Proposition, found: Proposal | None) -> LearningCandidate:
    if found is None:
        reason = "What it asks to forget is not known, not its speaker's to decide, or was asked before."
        return LearningCandidate(proposition, ends.REFUSED, "reconcile", reason)
    return LearningCandidate(proposition, ends.PROPOSED, "review", found.says, entity=found.entity, proposal=found.id)


def _is_confirmed(fact: Fact, proposition: Proposition) -> bool:
    """Return whether a fact of an agent, without evidence, says no more than what the user said."""
    stored = fact.source_event is None and (fact.trust, proposition.trust) == ("agent", "user")
    no_more = word_beginnings(fact.fact) <= word_beginnings(proposition.statement)
    return stored and no_more and not loses_detail(proposition, fact)


def _is_rule_of_project(proposition: Proposition, event: Event) -> bool:
    """Return whether a person's standing rule says nothing of how that person is to be served."""
    names = "|".join(re.escape(name) for name in (event.speaker or THE_USER, THE_USER))
    says = re.search(rf"\b(?:{names})\b", proposition.statement, re.IGNORECASE)
    return proposition.category == "instruction" and says is None


def _unfit_words(proposition: Proposition) -> str | None:
    """Return why the texts of a proposition are not valid in a fact, or None."""
    texts = {"fact": proposition.statement, "subject": proposition.subject, "object": proposition.object}
    try:
        for what, text in texts.items():
            if text is not None:
                check_statement(text, what)
    except InvalidInput as problem:
        return problem.message
    return None


def _secret_rule(text: str) -> str | None:
    match = find_secret(text)
    return match.rule if match else None
