"""The candidates for promotion of a day: its facts, and its notes whose entity exists by now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.index.search.lookup import TakenIds, entities, facts_about, facts_of_days, standing_facts_with
from clawmem.learning.attribution.speaker import said_by_user
from clawmem.learning.reconciling.entities import RELATION_PREDICATES, EntityTitles, close_people, place
from clawmem.learning.reconciling.gate import judge
from clawmem.learning.reconciling.reconcile import ADD, reconcile
from clawmem.learning.rules.rules import extract
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.ids import new_fact_id
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import normal
from clawmem.model.pages.daily import daily_path
from clawmem.model.pages.day_page import mentions_of
from clawmem.model.proposals.learned_fact import learned_fact
from clawmem.model.proposals.promotion import promotion_of
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.cursor import CURSOR_PATH as CURSOR
from clawmem.model.records.cursor import parse_cursor
from clawmem.model.records.event import Event, ledger_path, parse_events, people_in
from clawmem.model.safety.recalled_text import mask_recalled, parts_of
from clawmem.model.safety.secrets.find import find_secret


class PromotionCandidate(NamedTuple):
    """A fact and its entity.

    `noted` marks a note that becomes a fact when promoted. `title` is the title of its entity if that is new.
    """

    fact: Fact
    entity: str
    noted: bool = False
    title: str | None = None


def promotion_candidates(work: WriteScope, on: str) -> list[PromotionCandidate]:
    """Return the candidates of the day `on` that were not promoted before. Unreadable files are skipped."""
    kept = [
        PromotionCandidate(fact, entity)
        for fact, entity in facts_of_days(work.index, [on])
        if promotion_of(fact) is None and work.is_readable(entity)
    ]
    return [*kept, *_noted(work, on)]


def _noted(work: WriteScope, on: str) -> list[PromotionCandidate]:
    """Return the notes of the day that now belong to an entity, extracted again from their events."""
    waiting = {normal(line) for line in mentions_of(work.text(daily_path(on)))}
    path = ledger_path(on)
    data = work.read(path) if waiting else None
    if not data:
        return []
    events = parse_events(data, path)
    titles = EntityTitles({one.name: (one.title, *one.aliases) for one in entities(work.index)})
    mentions = parse_cursor(work.read(CURSOR)).mentions
    enough = work.vault.settings.whole("heartbeat.mentions_for_entity")
    taken = TakenIds(work.index)
    known = close_people(one.fact for one in standing_facts_with(work.index, RELATION_PREDICATES))
    found: list[PromotionCandidate] = []
    for proposition, event in _propositions(work, events):
        placement = place(proposition, titles, mentions, enough, lambda: known)
        if normal(proposition.statement) in waiting and placement.entity and _is_news(work, proposition):
            waiting.discard(normal(proposition.statement))
            fact_id = new_fact_id(work.caller.entropy, taken)
            fact = learned_fact(proposition, event, fact_id, stamp(work.caller.now), "promotion/rules")
            taken.add(fact.id)
            found.append(
                PromotionCandidate(fact, placement.entity, True, placement.title if placement.create else None)
            )
    return found


def _propositions(work: WriteScope, events: Sequence[Event]) -> Iterable[tuple[Proposition, Event]]:
    user = work.vault.settings.words("user.name")
    named = [said_by_user(event, user) for event in events]
    speakers = tuple(people_in(named))
    for event in named:
        if not event.recalled:
            for proposition in extract(
                event._replace(text=mask_recalled(event.text, parts_of(event.metadata))), work.vault.catalog, speakers
            ):
                yield proposition, event


def _is_news(work: WriteScope, proposition: Proposition) -> bool:
    """Return whether the proposition is new. One that would replace or repeat a fact is left to learning."""
    known = [one.fact for one in facts_about(work.index, proposition.subject or "")]
    if reconcile(proposition, known, work.vault.catalog).outcome != ADD:
        return False
    return judge(proposition, known, _secret_rule).accepted


def _secret_rule(text: str) -> str | None:
    match = find_secret(text)
    return match.rule if match else None
