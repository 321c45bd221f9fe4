"""The state of a round of learning: facts, entities and notes as they will be after the commit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from clawmem.index.search.lookup import (
    PlacedFact,
    TakenIds,
    by_ids,
    entities,
    entity_exists,
    facts_about,
    facts_containing,
    facts_from_event,
    standing_facts_with,
)
from clawmem.learning.reconciling.entities import (
    RELATION_PREDICATES,
    EntityTitles,
    Namesakes,
    Placement,
    acquaintances,
    close_people,
    place,
    related_entities,
)
from clawmem.learning.reconciling.reconcile import RAW
from clawmem.memory.entities.places import new_entity_files, page_project
from clawmem.memory.facts.forget import plan_forgetting
from clawmem.memory.facts.targets import Named
from clawmem.memory.proposals import FiledProposals, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import Fact, new_fact_id
from clawmem.model.facts.reach import project_name
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import normal
from clawmem.model.pages.daily import daily_path
from clawmem.model.pages.summary import generated_part, with_generated
from clawmem.model.proposals.para import Proposition, kinds_of_objects, predicates_of_things
from clawmem.model.proposals.promotion import waiting_for
from clawmem.model.proposals.proposal import (
    APPROVED,
    OPEN,
    Proposal,
    is_candidate,
    is_reworded,
    new_proposal_id,
    proposal_path,
    topic,
)
from clawmem.model.records.change import Change
from clawmem.model.records.cursor import LearningCursor
from clawmem.model.records.entity import (
    Entity,
    candidate_place,
    is_candidate_place,
    items_path,
    kind_of,
    name_and_other,
    owner_of,
)
from clawmem.model.records.event import Event
from clawmem.vault.git.git import personal_identity

_FACT_ID = re.compile(r"\bfact_[0-9a-f]{4,64}\b")


class _ProposalIndex:
    """The proposals by content, for fast lookup."""

    def __init__(self, filed: FiledProposals) -> None:
        self.unreadable = filed.unreadable
        self.ids: set[str] = set()
        self.candidates: dict[str, list[Proposal]] = {}
        self._things: dict[tuple[str, ...], list[Proposal]] = {}
        for proposal in filed.proposals:
            self.add(proposal)

    def add(self, proposal: Proposal) -> None:
        """Add a proposal."""
        self.ids.add(proposal.id)
        if is_candidate(proposal):
            self.candidates.setdefault(proposal.source_event or "", []).append(proposal)
        if proposal.fact:
            self._things.setdefault(topic(proposal.does, proposal.fact), []).append(proposal)

    def about(self, does: str, fact: Fact) -> list[Proposal]:
        """Return the proposals of the same thing."""
        return self._things.get(topic(does, fact), [])


class RoundState:
    """The vault as the round sees it: the index plus the decisions made so far."""

    def __init__(self, work: WriteScope, cursor: LearningCursor) -> None:
        self._work = work
        self._taken = TakenIds(work.index)
        self._subjects: dict[str, dict[str, Fact]] = {}
        self._facts: dict[str, dict[str, Fact]] = {}
        self._entities: dict[str, str] = {}
        self._created: dict[str, Entity] = {}
        known = entities(work.index)
        self._titles = EntityTitles({entity.name: _own_titles(entity) for entity in known})
        person = personal_identity(work.vault.git)
        self._namesakes = Namesakes(known, work.vault.settings.words("user.name"), person.name if person else "")
        self._mentions: Counter[str] = Counter(cursor.mentions)
        self._notes: dict[str, list[str]] = {}
        self._filed: _ProposalIndex | None = None
        self._relations: dict[str, Fact] | None = None
        self._close: dict[str, str] | None = None
        self._catalog = work.vault.catalog_or_none() or Catalog({})
        self._kinds: dict[str, str] | None = None
        self._waits = work.vault.settings.words("learning.enter") == "promoted"
        self._said: list[str] = []
        self._closed: list[str] = []
        self.proposals: list[Proposal] = []
        # What requests to forget have hidden: each is a commit of its own, which can be undone.
        self.hidden: list[Change] = []
        self.touched: set[str] = set()

    @property
    def now(self) -> str:
        """Return the time of the round as a timestamp."""
        return stamp(self._work.caller.now)

    def known_facts(self, proposition: Proposition) -> dict[str, Fact]:
        """Return the facts that a proposition may affect: those of its subject, those its evidence names by id, and
        what says the same in the same words for everybody."""
        known = {**self._same_words(proposition.statement), **self._about(proposition.subject or "")}
        if "fact_" not in proposition.source_text:
            return known
        named = by_ids(self._work.index, _FACT_ID.findall(proposition.source_text))
        for fact_id, found in named.items():
            self._entities.setdefault(fact_id, found.entity)
        return {**{key: self._latest(placed.fact) for key, placed in named.items()}, **known}

    def _same_words(self, statement: str) -> dict[str, Fact]:
        found = (placed for placed in facts_containing(self._work.index, statement.rstrip("."))
                 if normal(placed.fact.fact) == normal(statement))  # fmt: skip
        limits = ((placed, placed.fact.scope, placed.fact.project, owner_of(placed.entity)) for placed in found)
        return self.facts_named(placed.fact.id for placed, *limit in limits if limit == [None, None, None])

    def facts_with(self, text: str, project: str | None = None) -> dict[str, Fact]:
        """Return the current facts for everybody whose record has a text; with a project those of it, and those for
        everybody that name it."""
        name = normal(project_name(project or ""))
        found = (placed for placed in facts_containing(self._work.index, text)
                 if not (placed.fact.scope or owner_of(placed.entity)) and placed.fact.project in (None, project)
                 and (placed.fact.project == project or name in normal(placed.fact.fact).split()))  # fmt: skip
        return self.facts_named(placed.fact.id for placed in found)

    def facts_named(self, ids: Iterable[str]) -> dict[str, Fact]:
        """Return the current facts with these ids, also those of this round. Unknown ids are left out."""
        wanted = list(dict.fromkeys(ids))
        stored = by_ids(self._work.index, wanted)
        found: dict[str, Fact] = {}
        for fact_id in wanted:
            placed = stored.get(fact_id)
            entity = self._entities.setdefault(fact_id, placed.entity) if placed else self._entities.get(fact_id)
            fact = self._facts_of(entity).get(fact_id) if entity else None
            if fact is not None and fact.is_current:
                found[fact_id] = fact
        return found

    def facts_of_entity(self, proposition: Proposition) -> dict[str, Fact]:
        """Return the facts of the entity in which the proposition would be placed."""
        entity = self.place(proposition).entity
        facts = self._facts_of(entity) if entity else {}
        self._entities.update(dict.fromkeys(facts, entity or ""))
        return dict(facts)

    def project_of(self, entity: str, statement: str, here: str | None) -> str | None:
        """Return the project that sees a statement on the page of a project or company that was said in `here`."""
        placed = entity, statement
        return page_project(self._work.index, placed, self._facts_of(entity).values(), here, self._created)

    def entity_of(self, fact_id: str) -> str:
        """Return the entity of a fact that this state returned before."""
        return self._entities[fact_id]

    def spans_of(self, event_id: str) -> set[tuple[int, int] | None]:
        """Return the spans of an event from which facts were learned in earlier rounds."""
        return {placed.fact.source_span for placed in facts_from_event(self._work.index, event_id)}

    def raw_facts(self, event_id: str, span: tuple[int, int]) -> list[Fact]:
        """Return the standing facts in raw words, of the rules or approved unread, of a part of an event
        that overlaps a span."""
        return [fact for fact in self._made_raw(event_id, span) if fact.is_current]

    def _made_raw(self, event_id: str, span: tuple[int, int]) -> Iterator[Fact]:
        for placed in facts_from_event(self._work.index, event_id):
            fact = self._latest(placed.fact)
            start, end = fact.source_span or (0, 0)
            if fact.workflow in RAW and start < span[1] and span[0] < end:
                yield fact

    def statements_of(self, event_id: str) -> set[str]:
        """Return the normalised statements that were learned from an event in earlier rounds."""
        return {normal(placed.fact.fact) for placed in facts_from_event(self._work.index, event_id)}

    def new_id(self) -> str:
        """Return an unused fact id."""
        fact_id = new_fact_id(self._work.caller.entropy, self._taken)
        self._taken.add(fact_id)
        return fact_id

    def with_premises(self, fact: Fact) -> Fact:
        """Return the fact with links to the premises that its brackets name."""
        from clawmem.memory.facts.gates import linked_to_premises

        linked = linked_to_premises(self._work.index, fact, self._work.caller)
        self._said += linked.notices
        return linked.fact

    def put(self, fact: Fact, entity: str) -> None:
        """Add a fact to an entity, or replace its earlier state."""
        self._about(fact.subject or "")[fact.id] = fact
        self._entities[fact.id] = entity
        self._facts_of(entity)[fact.id] = fact
        self.touched.add(entity)
        if fact.predicate in RELATION_PREDICATES:
            self._close = None
            if self._relations is not None:
                self._relations[fact.id] = fact
        if self._kinds is not None:
            self._kinds = {**kinds_of_objects([fact], self._catalog), **self._kinds}

    @property
    def default(self) -> str:
        """Return the entity of facts that are about nothing with a page."""
        return self._work.vault.settings.words("defaults.entity")

    def take_out(self, fact: Fact, entity: str) -> None:
        """Take a fact out of an entity; the caller puts it into another one."""
        del self._facts_of(entity)[fact.id]
        self.touched.add(entity)

    def count_mentions(self, titles: Iterable[str]) -> None:
        """Count each title once per statement."""
        self._mentions.update({normal(title) for title in titles})

    def place(self, proposition: Proposition) -> Placement:
        """Return where a fact of the proposition would go. Nothing is created."""
        return place(proposition, self._titles, self._mentions, self._people_close, self._kinds_of_things)

    def waits(self, replaced: Iterable[str]) -> bool:
        """Return whether a learned fact waits for promotion: a setting says so, and it replaces nothing in `life/`."""
        return self._waits and all(is_candidate_place(self._entities[text]) for text in replaced)

    def waiting(self, fact: Fact, placement: Placement) -> tuple[Fact, str]:
        """Return a fact that waits, with the entity that it will go to, and its place among the day's candidates."""
        title = placement.title if placement.create else None
        return waiting_for(fact, placement.entity or "", title), candidate_place(day_of(self.now))

    def related(self, proposition: Proposition, entity: str) -> tuple[str, ...]:
        """Return the other known entities that a fact of this entity names."""
        return related_entities(proposition, entity, self._titles)

    def names_here(self, proposition: Proposition, people: Collection[str]) -> Proposition:
        """Return the proposition with its people named as in a conversation of some people."""
        return self._namesakes.here(proposition, people)

    def create(self, entity: str, title: str, people: Collection[str] = ()) -> None:
        """Create an entity unless it exists. A person is known to the people of the session."""
        made = Entity(entity, title, acquaintances(title, people) if kind_of(entity) == "person" else ())
        if not entity_exists(self._work.index, entity):
            self._created.setdefault(entity, made)
            self._namesakes.add(made)
        self._titles.add(entity, (title,))

    def forget(
        self, event: Event, targets: Sequence[Named], ids: Collection[str], certain: bool = False
    ) -> Proposal | None:
        """Hide what an event asks to forget, also what this round learned; the event itself in any case if a reader is
        `certain` that it asks. Return the proposal, or None."""
        fresh = [PlacedFact(fact, entity) for entity in self.touched for fact in self._facts[entity].values()]
        written = {path: data for change in self.hidden for path, data in change.writes.items()}
        found = plan_forgetting(
            self._work, targets, event, certain, ids=ids, fresh=fresh, taken=self.filed.ids,
            read=lambda path: written.get(path) or self._work.read(path),
        )  # fmt: skip
        if found is None or found.proposal is None:
            return None
        for placed in found.facts:
            self._entities[placed.fact.id] = placed.entity
            self.put(placed.fact, placed.entity)
        self.filed.add(found.proposal)
        self.hidden.append(found.change)
        return found.proposal

    def note(self, day: str, statement: str) -> None:
        """Add a statement to the daily note only."""
        self._notes.setdefault(day, []).append(statement)

    @property
    def filed(self) -> _ProposalIndex:
        """Return all proposals, including those of this round. They are read on first use."""
        if self._filed is None:
            self._filed = _ProposalIndex(read_proposals(self._work.vault, self._work.read))
        return self._filed

    def file(self, proposal: Proposal) -> Proposal:
        """File a proposal for review and return it with its new id."""
        named = proposal._replace(id=new_proposal_id(self._work.caller.entropy, self.filed.ids))
        self.filed.add(named)
        self.proposals.append(named)
        return named

    def decided_candidate(self, proposition: Proposition) -> Proposal | None:
        """Return the candidate of the same words that a person dropped or put in words of their own, or None. One that
        was approved in its raw words decides nothing, unless its fact was withdrawn since."""
        start, end = proposition.span
        for each in self.filed.candidates.get(proposition.event_id, ()):
            span = each.fact.source_span if each.fact else None
            if each.status == OPEN or not span or span[0] >= end or start >= span[1]:
                continue
            made = self._made_raw(proposition.event_id, span)
            withdrawn = any(not fact.is_current and fact.superseded_by is None for fact in made)
            if each.status != APPROVED or is_reworded(each) or withdrawn:
                return each
        return None

    def close_candidates(self, event_ids: Iterable[str]) -> None:
        """Take back the open candidates of events that a reader has read."""
        found = (each for event in event_ids for each in self.filed.candidates.get(event, ()))
        self._closed += [each.id for each in found if each.status == OPEN]

    @property
    def notices(self) -> tuple[str, ...]:
        """Return a notice for each unreadable proposal, and for each bracket that names no premise."""
        left = (f"left alone: {problem}" for problem in (self._filed.unreadable if self._filed else ()))
        return (*left, *self._said)

    def mentions(self) -> dict[str, int]:
        """Return the mention counts of titles without an entity."""
        return {title: count for title, count in self._mentions.items() if title not in self._titles}

    def writes(self) -> dict[str, bytes | None]:
        """Return the files to write: new entities, facts, notes and proposals."""
        writes: dict[str, bytes | None] = {}
        for entity, made in self._created.items():
            writes.update(new_entity_files(entity, self._work.caller, made.title, made.aliases))
        for entity in sorted(self.touched):
            writes[items_path(entity)] = render_items(self._facts[entity].values())
        for day, lines in self._notes.items():
            path = daily_path(day)
            writes[path] = _with_mentions(self._work.text(path), day, lines).encode()
        return {**writes, **dict.fromkeys(map(proposal_path, self._closed)), **proposal_writes(self.proposals)}

    def ended(self) -> set[str]:
        """Return the ids of the facts that are not current, of the entities that changed."""
        return {fact.id for entity in self.touched for fact in self._facts[entity].values() if not fact.is_current}

    def replaced(self) -> dict[str, Fact]:
        """Return by the id of each replaced fact, of the entities that changed, the current one that took its place."""
        every = {key: fact for entity in self.touched for key, fact in self._facts[entity].items()}
        found: dict[str, Fact] = {}
        for key, fact in every.items():
            latest, seen = fact, {key}
            while latest.superseded_by in every and latest.superseded_by not in seen:
                seen.add(latest.superseded_by)
                latest = every[latest.superseded_by]
            found |= {key: latest} if latest.is_current and latest is not fact else {}
        return found

    def _people_close(self) -> dict[str, str]:
        """Return the people close to the speakers, read on the first mention of an unknown person."""
        if self._relations is None:
            found = [placed.fact for placed in standing_facts_with(self._work.index, RELATION_PREDICATES)]
            fresh = (fact for facts in self._subjects.values() for fact in facts.values())
            self._relations = {fact.id: fact for fact in (*found, *fresh) if fact.predicate in RELATION_PREDICATES}
        if self._close is None:
            self._close = close_people(self._relations.values())
        return self._close

    def _kinds_of_things(self) -> dict[str, str]:
        """Return the kinds of the things that standing facts name, read where a fact is about an unknown thing."""
        if self._kinds is None:
            found = [
                placed.fact for placed in standing_facts_with(self._work.index, predicates_of_things(self._catalog))
            ]
            fresh = (fact for facts in self._subjects.values() for fact in facts.values())
            self._kinds = kinds_of_objects((*found, *fresh), self._catalog)
        return self._kinds

    def _about(self, subject: str) -> dict[str, Fact]:
        key = normal(subject)
        if key not in self._subjects:
            self._subjects[key] = {}
            for placed in facts_about(self._work.index, subject) if key else ():
                self._subjects[key][placed.fact.id] = placed.fact
                self._entities[placed.fact.id] = placed.entity
        return self._subjects[key]

    def _latest(self, fact: Fact) -> Fact:
        return self._about(fact.subject or "").get(fact.id, fact)

    def _facts_of(self, entity: str) -> dict[str, Fact]:
        if entity not in self._facts:
            self._facts[entity] = {fact.id: fact for fact in self._work.facts(entity)}
        return self._facts[entity]


def _own_titles(entity: Entity) -> tuple[str, ...]:
    """Return the titles that mean this entity: a person with a namesake is not meant by the name alone."""
    name, other = name_and_other(entity.title)
    return (entity.title, *(alias for alias in entity.aliases if other is None or normal(alias) != normal(name)))


def _with_mentions(page: str, day: str, lines: Iterable[str]) -> str:
    before = generated_part(page) or ""
    known = before.split("\n") if before.strip() else ["Mentioned, and kept as notes only:", ""]
    added = [f"- {line}" for line in dict.fromkeys(lines) if f"- {line}" not in known]
    return with_generated(page if page.strip() else f"# {day}\n", "\n".join([*known, *added]))


ADDED, NOOP, UPDATED, MERGED, RETRACTED = "added", "noop", "updated", "merged", "retracted"
NOTED, PROPOSED, REFUSED = "noted", "proposed", "refused"
OUTCOMES = (ADDED, UPDATED, MERGED, RETRACTED, NOOP, NOTED, PROPOSED, REFUSED)
KEPT = frozenset((ADDED, UPDATED, MERGED, RETRACTED))


class LearningCandidate(NamedTuple):
    """The outcome of one proposition.

    `gate` is the step that decided: evidence, statement, limit, secrets, trust, utility, durability, duplication,
    reconcile, placement or review. `proposal` is the id of the proposal that waits for a person.
    """

    proposition: Proposition
    outcome: str
    gate: str
    reason: str
    fact: Fact | None = None
    entity: str | None = None
    proposal: str | None = None
