"""Learn: new events are read, what they propose is judged, and what deserves it becomes facts in one commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.index.lookup import TakenIds, about, entities, entity_exists, learned_from
from clawmem.learning.cursor import PATH, Cursor, Reached, parse_cursor, render_cursor, unread
from clawmem.learning.entities import Titles, place
from clawmem.learning.gate import Verdict, judge
from clawmem.learning.reconcile import MERGE, NOOP, RETRACT, UPDATE, Decision, reconcile
from clawmem.learning.rules import extract
from clawmem.memory.places import new_entity_files
from clawmem.memory.writing import Writing, writing
from clawmem.model.caller import Caller
from clawmem.model.catalog import Catalog
from clawmem.model.change import Change, subject_line, trailers
from clawmem.model.codec import render_items
from clawmem.model.daily import daily_path
from clawmem.model.dates import day_of, stamp
from clawmem.model.entity import items_path
from clawmem.model.event import Event, parse_events
from clawmem.model.fact import SUPERSEDED, Fact, Link
from clawmem.model.ids import new_fact_id
from clawmem.model.proposition import Proposition
from clawmem.model.recalled import masked
from clawmem.model.reinforce import raised
from clawmem.model.secrets import find_secret
from clawmem.model.summary import generated_part, with_generated
from clawmem.model.text import normal
from clawmem.model.validity import ended_at
from clawmem.vault.vault import Vault

EXTRACTOR = "rules"
_SHOWN_IN_BODY = 100


class Candidate(NamedTuple):
    """One proposition and what became of it: added, noop, updated, noted or refused, and why."""

    proposition: Proposition
    outcome: str
    reason: str
    fact: Fact | None = None
    entity: str | None = None


class Learned(NamedTuple):
    """What one round of learning did, and by which extractor."""

    events: int
    candidates: tuple[Candidate, ...]
    entities: tuple[str, ...]
    commit: str | None
    extractor: str = EXTRACTOR
    notices: tuple[str, ...] = ()

    def count(self, outcome: str) -> int:
        """How many candidates ended that way."""
        return sum(1 for one in self.candidates if one.outcome == outcome)


def learn(vault: Vault, caller: Caller, dry_run: bool = False) -> Learned:
    """Learn from every event that no earlier round has read; with `dry_run` nothing is written."""
    with writing(vault, caller, "learn") as work:
        cursor = parse_cursor(work.read(PATH))
        events, reached = unread_events(work, cursor)
        if not events:
            return Learned(0, (), (), None, notices=work.notices)
        mind = _Mind(work, cursor)
        speakers = {event.speaker for event in events if event.speaker}
        for event in events:
            mind.consider(event, speakers)
        commit = None
        if not dry_run:
            commit = work.commit([mind.change(len(events), reached)])[-1]
        return Learned(len(events), tuple(mind.candidates), tuple(sorted(mind.touched)), commit, notices=work.notices)


def unread_events(work: Writing, cursor: Cursor) -> tuple[list[Event], dict[str, Reached]]:
    """Events the cursor has not reached, in order of day, and how far each day reaches now."""
    fresh: list[Event] = []
    reached = dict(cursor.days)
    for path in sorted((work.vault.root / "ledger").glob("*.jsonl")):
        name = f"ledger/{path.name}"
        events = parse_events(work.read(name) or b"", name)
        new = unread(events, reached.get(path.stem))
        if new:
            fresh += new
            reached[path.stem] = Reached(len(events), events[-1].id)
    return fresh, reached


class _Mind:
    """What is known while a round goes on: facts by subject and entity as they will be once it is committed."""

    def __init__(self, work: Writing, cursor: Cursor) -> None:
        self._work = work
        self._catalog: Catalog = work.vault.catalog
        self._taken = TakenIds(work.index)
        self._most = work.vault.settings.whole("heartbeat.max_facts_per_event")
        self._subjects: dict[str, dict[str, Fact]] = {}
        self._shelves: dict[str, dict[str, Fact]] = {}
        self._homes: dict[str, str] = {}
        self._created: dict[str, str] = {}
        self._titles = Titles({one.name: (one.title, *one.aliases) for one in entities(work.index)})
        self._mentions: Counter[str] = Counter(cursor.mentions)
        self._notes: dict[str, list[str]] = {}
        self.touched: set[str] = set()
        self.candidates: list[Candidate] = []

    def consider(self, event: Event, speakers: Iterable[str]) -> None:
        """Read one event and decide about everything it proposes."""
        if event.recalled:
            return
        readable = event._replace(text=masked(event.text))
        before = {one.fact.source_span for one in learned_from(self._work.index, event.id)}
        for proposition in extract(readable, self._catalog, tuple(speakers))[: self._most]:
            if proposition.span in before:
                # The day is read again, after an undo or a merge: whatever became of that fact since, it stays so.
                self.candidates.append(Candidate(proposition, "noop", "It was learned from this event before."))
                continue
            self._mentions.update({normal(hint.title) for hint in proposition.entity_hints})
            self.candidates.append(self._decide(proposition, event))

    def _decide(self, proposition: Proposition, event: Event) -> Candidate:
        known = self._about(proposition.subject or "")
        decision = reconcile(proposition, list(known.values()), self._catalog)
        if decision.outcome == NOOP and decision.targets:
            return self._restated(proposition, decision, event)
        verdict = judge(proposition, list(known.values()), _secret_rule)
        if not verdict.accepted:
            return self._refused(proposition, verdict, known, event)
        placement = place(proposition, self._titles, self._mentions)
        if placement.entity is None:
            self._notes.setdefault(day_of(event.timestamp), []).append(proposition.statement)
            return Candidate(proposition, "noted", placement.reason)
        if placement.create:
            self._create(placement.entity, placement.title)
        fact = self._fact(proposition, event)
        self._put(fact, placement.entity)
        if decision.outcome in (UPDATE, MERGE, RETRACT) and decision.targets:
            fact = self._replace(fact, decision, placement.entity, day_of(event.timestamp))
            return Candidate(proposition, "updated", decision.reason, fact, placement.entity)
        return Candidate(proposition, "added", placement.reason, fact, placement.entity)

    def _refused(
        self, proposition: Proposition, verdict: Verdict, known: Mapping[str, Fact], event: Event
    ) -> Candidate:
        twin = verdict.duplicate_of
        if twin is not None and twin in known:
            return self._restated(proposition, Decision(NOOP, (twin,), verdict.reason), event)
        return Candidate(proposition, "refused", f"{verdict.gate}: {verdict.reason}")

    def _restated(self, proposition: Proposition, decision: Decision, event: Event) -> Candidate:
        fact = self._subjects[normal(proposition.subject or "")][decision.targets[0]]
        entity = self._homes[fact.id]
        if fact.source_event != event.id and raised(fact.confidence) != fact.confidence:
            fact = fact._replace(confidence=raised(fact.confidence))
            self._put(fact, entity)
        return Candidate(proposition, "noop", decision.reason, fact, entity)

    def _replace(self, fact: Fact, decision: Decision, entity: str, said: str) -> Fact:
        fact = fact._replace(valid_from=fact.valid_from or said)
        at = stamp(self._work.caller.now)
        kind = "merges" if decision.outcome == MERGE else "supersedes"
        for target in decision.targets:
            old = self._subjects[normal(fact.subject or "")].get(target)
            if old is None:
                continue
            fact = fact._replace(links=(*fact.links, Link(kind, old.id, decision.reason, at)))
            ended = ended_at(old, fact.valid_from or said)
            self._put(old._replace(status=SUPERSEDED, superseded_by=fact.id, valid_to=ended), self._homes[old.id])
        self._put(fact, entity)
        return fact

    def _fact(self, proposition: Proposition, event: Event) -> Fact:
        fact_id = new_fact_id(self._work.caller.entropy, self._taken)
        self._taken.add(fact_id)
        start, end = proposition.span
        return Fact(
            fact_id,
            proposition.statement,
            proposition.category,
            stamp(self._work.caller.now),
            event.source or "conversation",
            subject=proposition.subject,
            predicate=proposition.predicate,
            object=proposition.object,
            relation_phrase=proposition.relation_phrase,
            valid_from=proposition.valid_from,
            source_event=event.id,
            source_text=event.text[start:end],
            source_span=(start, end),
            confidence=proposition.confidence,
            importance=proposition.importance,
            trust=proposition.trust,
            agent=event.agent,
            workflow=f"heartbeat/{EXTRACTOR}",
            metadata={"said_at": proposition.said_at} if proposition.said_at else None,
        )

    def _about(self, subject: str) -> dict[str, Fact]:
        key = normal(subject)
        if key not in self._subjects:
            self._subjects[key] = {}
            for one in about(self._work.index, subject) if key else ():
                self._subjects[key][one.fact.id] = one.fact
                self._homes[one.fact.id] = one.entity
        return self._subjects[key]

    def _put(self, fact: Fact, entity: str) -> None:
        self._about(fact.subject or "")[fact.id] = fact
        self._homes[fact.id] = entity
        self._shelf(entity)[fact.id] = fact
        self.touched.add(entity)

    def _shelf(self, entity: str) -> dict[str, Fact]:
        if entity not in self._shelves:
            self._shelves[entity] = {fact.id: fact for fact in self._work.facts(entity)}
        return self._shelves[entity]

    def _create(self, entity: str, title: str) -> None:
        if not entity_exists(self._work.index, entity):
            self._created.setdefault(entity, title)
        self._titles.add(entity, (title,))

    def change(self, events: int, reached: Mapping[str, Reached]) -> Change:
        """The round as one change: facts, new entities, daily notes, and how far learning has come."""
        writes: dict[str, bytes | None] = {}
        for entity, title in self._created.items():
            writes.update(new_entity_files(entity, self._work.caller, title))
        for entity in sorted(self.touched):
            writes[items_path(entity)] = render_items(self._shelves[entity].values())
        for day, lines in self._notes.items():
            path = daily_path(day)
            writes[path] = _with_mentions(self._work.text(path), day, lines).encode()
        mentions = {title: count for title, count in self._mentions.items() if title not in self._titles}
        writes[PATH] = render_cursor(Cursor(reached, mentions))
        kept = [one for one in self.candidates if one.outcome in ("added", "updated") and one.fact]
        return Change(
            subject_line("learn", "ledger", f"{_number(len(kept), 'fact')} from {_number(events, 'event')}"),
            writes,
            trailers(
                "learn",
                facts=[one.fact.id for one in kept if one.fact],
                entities=sorted(self.touched),
                supersedes=[link.to for one in kept if one.fact for link in one.fact.links],
                events=list(dict.fromkeys(one.proposition.event_id for one in kept)),
            ),
            body=_body(kept),
        )


def _body(kept: Sequence[Candidate]) -> str:
    lines = [f"- {one.entity}: {one.proposition.statement}" for one in kept[:_SHOWN_IN_BODY]]
    if len(kept) > len(lines):
        lines.append(f"- and {len(kept) - len(lines)} more")
    return "\n".join(lines)


def _with_mentions(page: str, day: str, lines: Sequence[str]) -> str:
    before = generated_part(page) or ""
    known = before.split("\n") if before.strip() else ["Mentioned, and kept as notes only:", ""]
    added = [f"- {line}" for line in dict.fromkeys(lines) if f"- {line}" not in known]
    return with_generated(page if page.strip() else f"# {day}\n", "\n".join([*known, *added]))


def _number(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def _secret_rule(text: str) -> str | None:
    match = find_secret(text)
    return match.rule if match else None
