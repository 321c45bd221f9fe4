"""The candidates for promotion of a day: its facts, and its notes whose entity exists by now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.index.search.lookup import (
    PlacedFact,
    TakenIds,
    entities,
    facts_about,
    facts_of,
    facts_of_days,
    standing_facts_with,
)
from clawmem.learning.attribution.speaker import said_by_user
from clawmem.learning.reconciling.entities import (
    RELATION_PREDICATES,
    EntityTitles,
    Placement,
    close_people,
    place,
)
from clawmem.learning.reconciling.gate import judge
from clawmem.learning.reconciling.reconcile import ADD, reconcile
from clawmem.learning.rules.rules import extract
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.ids import new_fact_id
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import normal
from clawmem.model.pages.daily import daily_path
from clawmem.model.pages.day_page import mentions_of
from clawmem.model.proposals.learned_fact import learned_fact
from clawmem.model.proposals.para import kinds_of_objects, predicates_of_things
from clawmem.model.proposals.promotion import place_of_waiting, promotion_of
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.cursor import CURSOR_PATH as CURSOR
from clawmem.model.records.cursor import parse_cursor
from clawmem.model.records.entity import candidate_place, kind_of, owner_of
from clawmem.model.records.event import Event, ledger_path, parse_events, people_in
from clawmem.model.safety.recalled_text import mask_recalled, parts_of
from clawmem.model.safety.secrets.find import find_secret


class PromotionCandidate(NamedTuple):
    """A fact and the entity that it goes to.

    `noted` marks a note that becomes a fact when promoted. `title` is the title of its entity if that is new. `moves`
    is the entity in which the fact stands now, if that is another one, and `why` says why it moves.
    """

    fact: Fact
    entity: str
    noted: bool = False
    title: str | None = None
    moves: str | None = None
    why: str = ""


def promotion_candidates(work: WriteScope, on: str) -> list[PromotionCandidate]:
    """Return the candidates of the day `on` that were not promoted before. Unreadable files are skipped."""
    known = _KnownPlaces(work)
    found = {fact.id: (fact, entity) for fact, entity in _facts(work, on)}
    kept = [
        _placed(fact, entity, known)
        for fact, entity in found.values()
        if promotion_of(fact) is None and work.is_readable(entity)
    ]
    return [*kept, *_noted(work, on, known)]


class _KnownPlaces:
    """What placing a fact asks of the vault: titles, mentions, people close to the speaker, and kinds of things."""

    def __init__(self, work: WriteScope) -> None:
        self._titles = EntityTitles({one.name: (one.title, *one.aliases) for one in entities(work.index)})
        self._mentions = parse_cursor(work.read(CURSOR)).mentions
        self._enough = work.vault.settings.whole("heartbeat.mentions_for_entity")
        catalog = work.vault.catalog_or_none() or Catalog({})
        self._close = close_people(one.fact for one in standing_facts_with(work.index, RELATION_PREDICATES))
        things = standing_facts_with(work.index, predicates_of_things(catalog))
        self._kinds = kinds_of_objects((one.fact for one in things), catalog)

    def place(self, proposition: Proposition) -> Placement:
        """Return where the fact of a proposition goes."""
        return place(proposition, self._titles, self._mentions, self._enough, lambda: self._close, lambda: self._kinds)


def _facts(work: WriteScope, on: str) -> list[PlacedFact]:
    """Return the facts of the day, and those that were learned on it and wait for promotion."""
    return [*facts_of_days(work.index, [on]), *facts_of(work.index, candidate_place(on))]


def _placed(fact: Fact, entity: str, known: _KnownPlaces) -> PromotionCandidate:
    """Return the candidate with the entity that its fact belongs to.

    A fact that waits goes where learning placed it. One on the page of a person goes to the thing that it is about, if
    learning put it there; what a person placed stays.
    """
    waits = place_of_waiting(fact)
    if waits:
        return PromotionCandidate(fact, waits[0], title=waits[1], moves=entity, why="it waited for promotion")
    if kind_of(entity) != "person" or owner_of(entity) or not is_placed_by_learning(fact):
        return PromotionCandidate(fact, entity)
    found = known.place(_as_proposition(fact))
    if found.entity is None or found.entity == entity or kind_of(found.entity) == "person":
        return PromotionCandidate(fact, entity)
    title = found.title if found.create else None
    return PromotionCandidate(fact, found.entity, title=title, moves=entity, why=found.reason.rstrip("."))


def is_placed_by_learning(fact: Fact) -> bool:
    """Return whether learning chose the place of a fact, not a person."""
    return (fact.workflow or "").startswith(("heartbeat/", "learn"))


def _as_proposition(fact: Fact) -> Proposition:
    return Proposition(fact.fact, "", (0, 0), "", fact.subject, fact.predicate, fact.object, category=fact.category)


def _noted(work: WriteScope, on: str, known: _KnownPlaces) -> list[PromotionCandidate]:
    """Return the notes of the day that now belong to an entity, extracted again from their events."""
    waiting = {normal(line) for line in mentions_of(work.text(daily_path(on)))}
    path = ledger_path(on)
    data = work.read(path) if waiting else None
    if not data:
        return []
    events = parse_events(data, path)
    taken = TakenIds(work.index)
    found: list[PromotionCandidate] = []
    for proposition, event in _propositions(work, events):
        placement = known.place(proposition)
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
