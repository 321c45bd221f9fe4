"""Promotion: the facts of a day that are worth thirty days are marked and lifted, in one commit, each with its reason.

What learning only noted, because nothing deserved an entity yet, is looked at again from its events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.index.lookup import TakenIds, about, entities, entity_exists, holding, of_days
from clawmem.learning.adapt import adaptation
from clawmem.learning.cursor import PATH as CURSOR
from clawmem.learning.cursor import parse_cursor
from clawmem.learning.entities import Titles, place
from clawmem.learning.gate import judge as gate
from clawmem.learning.reconcile import ADD, reconcile
from clawmem.learning.rules import extract
from clawmem.memory.places import new_entity_files
from clawmem.memory.writing import Writing, items_write, writing
from clawmem.model.caller import Caller
from clawmem.model.change import Change, subject_line, trailers
from clawmem.model.daily import daily_path
from clawmem.model.dates import day_of, stamp
from clawmem.model.day_page import mentions_of
from clawmem.model.event import Event, ledger_path, parse_events, people_in
from clawmem.model.fact import Fact
from clawmem.model.ids import new_fact_id
from clawmem.model.learned import learned_fact
from clawmem.model.promotion import MARK, Candidate, Verdict, decide, judge, para_class, promoted, promotion_of
from clawmem.model.proposition import Proposition
from clawmem.model.recalled import masked
from clawmem.model.secrets import find_secret
from clawmem.model.text import normal, one_line
from clawmem.vault.vault import Vault


class Promoted(NamedTuple):
    """The day, every candidate's verdict best first, the ids of facts that were only notes before, the commit."""

    on: str
    verdicts: tuple[Verdict, ...]
    noted: tuple[str, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[Verdict, ...]:
        """The verdicts that promote."""
        return tuple(one for one in self.verdicts if one.promoted)


class _Noted(NamedTuple):
    """A note that an entity has room for now: the fact it makes, and the title of the entity where that is new."""

    fact: Fact
    entity: str
    title: str | None


def promote(vault: Vault, caller: Caller, on: str, dry_run: bool = False) -> Promoted:
    """Promote the best facts that the day `on` taught or recorded, at most as many as are in force for one day.

    What was promoted for that day before counts, so that a second run promotes nothing more.
    """
    with writing(vault, caller, "promote") as work:
        values = adaptation(work.read, vault.settings)
        before = [one for one in holding(work.index, f'"{MARK}"') if _promoted_on(one.fact) == on]
        left = max(0, values.max_facts - len(before))
        notes = {one.fact.id: one for one in _noted(work, on)}
        rows = [*_of_day(work, on), *((one.fact, one.entity) for one in notes.values())]
        candidates = [Candidate(fact, entity, judge(fact, entity, on)) for fact, entity in rows]
        verdicts = tuple(decide(candidates, values.score, left))
        kept = [one.candidate for one in verdicts if one.promoted]
        noted = tuple(one.fact.id for one in kept if one.fact.id in notes)
        if dry_run or not kept:
            return Promoted(on, verdicts, noted, notices=work.notices)
        change = _change(work, on, kept, [notes[one] for one in noted])
        return Promoted(on, verdicts, noted, work.commit([change])[-1], work.notices)


def _promoted_on(fact: Fact) -> str | None:
    mark = promotion_of(fact)
    return day_of(mark["on"]) if mark else None


def _of_day(work: Writing, on: str) -> list[tuple[Fact, str]]:
    """The facts that the day taught or recorded and that were not promoted before."""
    return [
        (fact, entity)
        for fact, entity in of_days(work.index, [on])
        if promotion_of(fact) is None and work.is_whole(entity)
    ]


def _noted(work: Writing, on: str) -> list[_Noted]:
    """What was only noted that day and that an entity has room for by now, read again from its events."""
    waiting = {normal(line) for line in mentions_of(work.text(daily_path(on)))}
    path = ledger_path(on)
    data = work.read(path) if waiting else None
    if not data:
        return []
    events = parse_events(data, path)
    titles = Titles({one.name: (one.title, *one.aliases) for one in entities(work.index)})
    mentions = parse_cursor(work.read(CURSOR)).mentions
    enough = work.vault.settings.whole("heartbeat.mentions_for_entity")
    taken = TakenIds(work.index)
    found: list[_Noted] = []
    for proposition, event in _propositions(work, events):
        placement = place(proposition, titles, mentions, enough)
        if normal(proposition.statement) in waiting and placement.entity and _is_news(work, proposition):
            waiting.discard(normal(proposition.statement))
            fact_id = new_fact_id(work.caller.entropy, taken)
            fact = learned_fact(proposition, event, fact_id, stamp(work.caller.now), "promotion/rules")
            taken.add(fact.id)
            found.append(_Noted(fact, placement.entity, placement.title if placement.create else None))
    return found


def _propositions(work: Writing, events: Sequence[Event]) -> Iterable[tuple[Proposition, Event]]:
    speakers = tuple(people_in(events))
    for event in events:
        if not event.recalled:
            for proposition in extract(event._replace(text=masked(event.text)), work.vault.catalog, speakers):
                yield proposition, event


def _is_news(work: Writing, proposition: Proposition) -> bool:
    """Whether it stands beside what is known by now: what would replace or repeat a fact is left to learning."""
    known = [one.fact for one in about(work.index, proposition.subject or "")]
    if reconcile(proposition, known, work.vault.catalog).outcome != ADD:
        return False
    return gate(proposition, known, _secret_rule).accepted


def _secret_rule(text: str) -> str | None:
    match = find_secret(text)
    return match.rule if match else None


def _change(work: Writing, on: str, kept: Sequence[Candidate], noted: Sequence[_Noted]) -> Change:
    lifted: dict[str, dict[str, Fact]] = defaultdict(dict)
    for one in kept:
        lifted[one.entity][one.fact.id] = promoted(one.fact, on, one.judgement)
    writes: dict[str, bytes | None] = {}
    for note in noted:
        if note.title and not entity_exists(work.index, note.entity):
            writes.update(new_entity_files(note.entity, work.caller, note.title))
    for entity, marked in lifted.items():
        shelf = {one.id: one for one in work.facts(entity)}
        writes.update(items_write(entity, list({**shelf, **marked}.values())))
    facts = [fact for marked in lifted.values() for fact in marked.values()]
    return Change(
        subject_line("promote", on, f"{len(facts)} fact{'' if len(facts) == 1 else 's'} worth thirty days"),
        writes,
        trailers("promote", facts=[one.id for one in facts], entities=sorted(lifted)),
        body="\n".join(_body_line(one) for one in kept),
    )


def _body_line(one: Candidate) -> str:
    reasons = "; ".join(one.judgement.reasons)
    return f"- {para_class(one.entity)} {one.entity}: {one_line(one.fact.fact)} ({one.judgement.score:.2f}: {reasons})"
