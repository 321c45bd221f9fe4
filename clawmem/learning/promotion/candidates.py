"""The candidates for promotion of a day: its facts, and its notes whose entity exists by now."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.index.search.lookup import (
    PlacedFact,
    entities,
    facts_of,
    facts_of_days,
    standing_facts_with,
)
from clawmem.learning.reconciling.entities import (
    RELATION_PREDICATES,
    EntityTitles,
    Placement,
    close_people,
    place,
)
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.para import kinds_of_objects, predicates_of_things
from clawmem.model.proposals.promotion import place_of_waiting, promotion_of
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.cursor import CURSOR_PATH as CURSOR
from clawmem.model.records.cursor import parse_cursor
from clawmem.model.records.entity import candidate_place, kind_of, owner_of


class PromotionCandidate(NamedTuple):
    """A fact and the entity that it goes to.

    `title` is the title of its entity if that is new. `moves` is the entity in which the fact stands now, if that is
    another one, and `why` says why it moves.
    """

    fact: Fact
    entity: str
    title: str | None = None
    moves: str | None = None
    why: str = ""


def promotion_candidates(work: WriteScope, on: str) -> list[PromotionCandidate]:
    """Return the candidates of the day `on` that were not promoted before. Unreadable files are skipped."""
    known = _KnownPlaces(work)
    found = {fact.id: (fact, entity) for fact, entity in _facts(work, on)}
    return [
        _placed(fact, entity, known)
        for fact, entity in found.values()
        if promotion_of(fact) is None and work.is_readable(entity)
    ]


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
