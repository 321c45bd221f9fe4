"""Collect what the page of an entity shows: the claims that pass the gates, their premises, and open conflicts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from clawmem.extensions.wiki.values.page import (
    DoubtfulClaim,
    EntityPage,
    FactPlace,
    PageEntry,
    Premise,
    WikiClaim,
    WikiConflict,
    entity_page,
)
from clawmem.index.search.lookup import PlacedFact, entity_names, facts_of, forgotten_entities, known_entities
from clawmem.index.tables.fact_marks import counted_facts
from clawmem.index.tables.store import Index
from clawmem.memory.facts.gates import GateContext, JudgedFacts, judge
from clawmem.model.facts.fact import ACTIVE, SUPERSEDED, Fact, is_given_by_person
from clawmem.model.facts.gates import ATOMIC, CONFIDENT, CURRENT, FRESH, GateResult
from clawmem.model.language.dates import day_of, moment_of, stamp
from clawmem.model.language.text import normal
from clawmem.model.lifecycle.premises import PREMISES, REVIEW_BY
from clawmem.model.lifecycle.tiers import STALE_DAYS
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.entity import Entity, is_candidate_place, kind_of, owner_of, title_of
from clawmem.vault.vault import Vault

_WORD = re.compile(r"\w+")
# A shorter title is a common word too often.
_SHORTEST = 3


class Titles(NamedTuple):
    """The shared entities by name, and their names by every word that people use for them: as written, and in normal
    form, in which subjects are compared. `begins` has titles and aliases by their first word: statements are
    searched for them."""

    entities: Mapping[str, Entity]
    names: Mapping[str, str]
    subjects: Mapping[str, str]
    begins: Mapping[str, Sequence[str]]


def titles_of(index: Index) -> Titles:
    """Return the shared entities and their names; of two entities with one name, the first by path has it. What was
    forgotten as a whole has none."""
    shared = {each.name: each for each in known_entities(index) if owner_of(each.name) is None}
    last_first = reversed(shared.values())
    names = {known: each.name for each in last_first for known in (each.name, each.title, *each.aliases)}
    subjects = {normal(known): name for known, name in names.items()}
    begins: dict[str, list[str]] = {}
    for known in sorted(names, key=len, reverse=True):
        if len(known) >= _SHORTEST and (first := _WORD.match(known)):
            begins.setdefault(first[0], []).append(known)
    return Titles(shared, names, subjects, begins)


def names_on_wiki(index: Index, titles: Titles) -> set[str]:
    """Return the entities that have a page: shared, no place of facts that wait, and not forgotten as a whole."""
    names = set(filter(is_on_wiki, entity_names(index)))
    return (names | titles.entities.keys()) - forgotten_entities(index)


def named_in(text: str, titles: Titles) -> Iterator[str]:
    """Yield the entities whose titles or aliases stand in a text as whole words, as written."""
    for word in _WORD.finditer(text):
        for known in titles.begins.get(word[0], ()):
            end = word.start() + len(known)
            if text.startswith(known, word.start()) and not text[end : end + 1].isalnum():
                yield titles.names[known]


def is_on_wiki(name: str) -> bool:
    """Return whether an entity can have a page: shared, and no place of facts that wait."""
    return owner_of(name) is None and not is_candidate_place(name)


def gather_page(index: Index, context: GateContext, titles: Titles, name: str) -> tuple[EntityPage, PageEntry]:
    """Return the page of an entity without its backlinks and topics, and what other pages need to know about it."""
    placed = facts_of(index, name)
    judged = judge(index, context, placed)
    facts = {other_placed.fact.id: other_placed.fact for other_placed in placed}
    current = [fact for fact in facts.values() if fact.status == ACTIVE]
    failed = {fact.id: [each.gate for each in kept_out_by(fact, judged.results[fact.id])] for fact in current}
    shown = sorted((fact for fact in current if not failed[fact.id]), key=_newest_first, reverse=True)
    entity = titles.entities.get(name) or Entity(name, title_of(name), (), kind_of(name))
    claims = tuple(_claim(fact, facts, judged, titles, name) for fact in shown)
    conflicts = _conflicts(current, judged, titles, name)
    doubtful = _doubtful(current, judged)
    dated = [fact for fact in current if failed[fact.id] == [CURRENT] and quarantine_rule(fact) is None]
    coming = tuple(fact for fact in dated if (fact.valid_from or "") > stamp(context.caller.now)[:10])
    ended = tuple(fact for fact in dated if fact not in coming)
    held_back = len(current) - len(claims) - len(doubtful) - len(dated)
    page = EntityPage(entity_page(name), entity, claims, conflicts, doubtful, (), (), held_back, coming, ended)
    return page, _entry(page, counted_facts(index, current), context)


def _doubtful(current: Iterable[Fact], judged: JudgedFacts) -> tuple[DoubtfulClaim, ...]:
    """Return the facts that only their staleness keeps from the page, newest first, each with the reason."""
    ordered = sorted(current, key=_newest_first, reverse=True)
    failed = ((fact, kept_out_by(fact, judged.results[fact.id])) for fact in ordered)
    return tuple(DoubtfulClaim(fact, by[0].reason) for fact, by in failed if [each.gate for each in by] == [FRESH])


def kept_out_by(fact: Fact, results: Iterable[GateResult]) -> list[GateResult]:
    """Return the verdicts that keep a fact from the wiki. What a person typed or imported shows, however many sentences
    it has and however sure of it they are: these gates are for what nobody reviewed."""
    passed = (ATOMIC, CONFIDENT) if is_given_by_person(fact) else ()
    return [result for result in results if not result.passed and result.gate not in passed]


def _newest_first(fact: Fact) -> tuple[str, str]:
    return fact.timestamp, fact.id


def _claim(fact: Fact, facts: Mapping[str, Fact], judged: JudgedFacts, titles: Titles, name: str) -> WikiClaim:
    premises = tuple(
        Premise(_place(judged.others[link.to], titles), link.reason)
        for link in fact.links
        if link.type in PREMISES and link.to in judged.others
    )
    return WikiClaim(fact, _replaced(fact, facts), premises, _mentions(fact, titles, name))


def _replaced(fact: Fact, facts: Mapping[str, Fact]) -> tuple[Fact, ...]:
    """Return the facts of the same entity that a fact replaced, newest first, through the whole chain."""
    found: list[Fact] = []
    heirs = {fact.id}
    while heirs:
        old = [each for each in facts.values() if each.superseded_by in heirs and each.status == SUPERSEDED]
        old = [other_fact for other_fact in old if other_fact not in found]
        found += sorted(old, key=_newest_first, reverse=True)
        heirs = {other_fact.id for other_fact in old}
    return tuple(found)


def _mentions(fact: Fact, titles: Titles, name: str) -> tuple[tuple[str, str], ...]:
    """Return the pages and titles of the other entities that a fact names: as related, as its subject, or in words."""
    related = [titles.names.get(text) for text in fact.related_entities]
    subject = titles.subjects.get(normal(fact.subject)) if fact.subject else None
    every = (*related, subject, *named_in(fact.fact, titles))
    others = dict.fromkeys(text for text in every if text is not None and text != name)
    return tuple((entity_page(other), titles.entities[other].title) for other in others)


def _place(placed: PlacedFact, titles: Titles) -> FactPlace:
    entity = titles.entities.get(placed.entity)
    page = entity_page(placed.entity) if is_on_wiki(placed.entity) else None
    return FactPlace(placed.fact, page, entity.title if entity else title_of(placed.entity))


def _conflicts(current: Collection[Fact], judged: JudgedFacts, titles: Titles, name: str) -> tuple[WikiConflict, ...]:
    found: dict[tuple[str, ...], WikiConflict] = {}
    own = {fact.id: PlacedFact(fact, name) for fact in current}
    for fact in current:
        for other in judged.against.get(fact.id, ()):
            placed = own.get(other) or judged.others.get(other)
            if placed is not None:
                pair = tuple(sorted((fact.id, other)))
                found.setdefault(pair, WikiConflict(_place(own[fact.id], titles), _place(placed, titles)))
    return tuple(found[pair] for pair in sorted(found))


def _entry(page: EntityPage, current: Iterable[Fact], context: GateContext) -> PageEntry:
    links: dict[str, int] = {}
    topics: dict[str, int] = {}
    for claim in page.claims:
        places = {text for text, _ in claim.mentions} | {
            premise.place.page for premise in claim.premises if premise.place.page
        }
        for place in sorted(places - {page.path}):
            links[place] = links.get(place, 0) + 1
        for tag in claim.fact.tags:
            topics[tag] = topics.get(tag, 0) + 1
    newest = max((day_of(claim.fact.timestamp) for claim in page.claims), default=None)
    entity = page.entity
    kind = entity.kind or kind_of(entity.name)
    return PageEntry(
        page.path,
        entity.title,
        list(entity.aliases),
        kind,
        len(page.claims),
        len(page.conflicts),
        newest,
        links,
        topics,
        _due(current, context),
    )


def _due(facts: Iterable[Fact], context: GateContext) -> str | None:
    """Return the first day after today on which time alone may change a verdict about one of the facts."""
    today = day_of(stamp(context.caller.now))
    days = []
    for fact in facts:
        review = (fact.details or {}).get(REVIEW_BY)
        pair = (fact.valid_from, fact.valid_to, review if isinstance(review, str) else None)
        days += [day_of(text) for text in pair if text]
        with suppress(ValueError, OverflowError):  # a time that somebody wrote
            used = moment_of(max(fact.timestamp, fact.last_accessed or ""))
            days.append(day_of(stamp(used + timedelta(days=STALE_DAYS))))
    return min((day for day in days if day >= today), default=None)


STATE = "wiki.json"
_FORM = 4


class WikiState(NamedTuple):
    """The commit and the day of the last build, what it depended on, and its pages by entity."""

    head: str
    day: str
    basis: str
    pages: Mapping[str, PageEntry]


def read_wiki_state(vault: Vault) -> WikiState | None:
    """Return the state of the last build, or None if there is none or the file is invalid."""
    record = vault.kept(STATE)
    try:
        if record["form"] != _FORM:
            return None
        pages = {name: PageEntry(*row) for name, row in record["pages"].items()}
        return WikiState(str(record["head"]), str(record["day"]), str(record["basis"]), pages)
    except (ValueError, TypeError, KeyError):
        return None


def write_wiki_state(vault: Vault, state: WikiState) -> None:
    """Store the state of a build."""
    vault.keep(STATE, {**state._asdict(), "form": _FORM})
