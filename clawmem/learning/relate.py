"""Relate: what people and agents gave without a triple gets the one that its words say, in one commit.

Only facts that came since the last whole heartbeat are read, each once: an undo, or a hand that takes a triple out
again, has the last word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids, entities, entity_names, facts_of
from clawmem.index.tables.store import Index
from clawmem.learning.rules.statement_triple import EntityNames, StatementTriple, said_of
from clawmem.memory.writing import WriteScope, items_write, writing
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import Fact
from clawmem.model.history.entry import trailer_pattern
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.vault.vault import Vault

OP = "relate"
_SHOWN_IN_SUBJECT, _SHOWN_IN_BODY = 5, 100
# What learning wrote was read by the same rules, in the words that it was said in.
_LEARNED = ("heartbeat/", "promotion/")


class RelatedFact(NamedTuple):
    """A fact as it stands and as it should be, and its entity."""

    before: Fact
    after: Fact
    entity: str


class RelateResult(NamedTuple):
    """The facts with the triples they have now, the commit, asides."""

    facts: tuple[PlacedFact, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def relate(vault: Vault, caller: Caller, since: str | None, dry_run: bool = False) -> RelateResult:
    """Read the facts that came after the commit `since`, or all of them. No lock is held meanwhile."""
    found = run_query(vault, lambda index: _found(vault, index, since))
    if dry_run or not found:
        return RelateResult(tuple(PlacedFact(one.after, one.entity) for one in found))
    with writing(vault, caller, "learn") as work:
        shelves = {entity: each for entity, each in _by_entity(found).items() if work.is_whole(entity)}
        writes, kept = applied(work, shelves)
        if not kept:
            return RelateResult(notices=work.notices)
        return RelateResult(tuple(kept), work.commit([_change(writes, kept)])[-1], work.notices)


def _found(vault: Vault, index: Index, since: str | None) -> list[RelatedFact]:
    """What is to be changed, as the index has it."""
    past = _past(vault, since)
    called = EntityNames(entities(index), vault.settings.words("defaults.entity"))
    new: list[RelatedFact] = []
    reworded: list[RelatedFact] = []
    for name in entity_names(index) if past is None else past.entities:
        for fact, entity in facts_of(index, name):
            old = past.facts.get(fact.id) if past else None
            said = partial(said_of, entity=entity, called=called, catalog=vault.catalog)
            if old is None and _asks_for_one(index, fact) and (triple := said(fact)):
                new.append(RelatedFact(fact, _dated(_with(fact, triple)), entity))
            elif old is not None and _only_words_changed(old, fact) and _triple(old) == said(old):
                reworded.append(RelatedFact(fact, _with(fact, said(fact)), entity))
    done = _related_before(vault, since if past else None) if new else frozenset()
    return [*(one for one in new if one.before.id not in done), *reworded]


class _FactsSince(NamedTuple):
    """The entities whose facts changed since a commit, and those facts as they were, by id."""

    entities: Sequence[str]
    facts: Mapping[str, Fact]


def _past(vault: Vault, since: str | None) -> _FactsSince | None:
    """What was before; None where git does not know the commit."""
    head = vault.head().commit
    changed = vault.changed_paths_or_none(since, head) if since and head else None
    if since is None or changed is None:
        return None
    paths = {path: name for path in changed if path.endswith(f"/{ITEMS}") and (name := name_of_path(path))}
    contents = vault.contents_at(since, paths) if paths else {}
    return _FactsSince(
        list(paths.values()), {one.id: one for path, data in contents.items() for one in _parsed(data, path)}
    )


def _parsed(data: bytes | None, path: str) -> Sequence[Fact]:
    try:
        return parse_items(data, path) if data else ()
    except ClawmemError:
        return ()  # what stands there now has been checked, and is what counts


def _asks_for_one(index: Index, fact: Fact) -> bool:
    """Whether nobody has said, or looked for, the fact's triple. What takes the place of another fact has that one's
    relation, which its words may not be about."""
    if not fact.stands or fact.object or _is_learned(fact):
        return False
    if not (fact.subject or fact.predicate or fact.relation_phrase):
        return True
    olds = by_ids(index, [link.to for link in fact.links if link.type == "supersedes"])
    return any(_relation(one.fact) == _relation(fact) for one in olds.values())


def _only_words_changed(old: Fact, fact: Fact) -> bool:
    """Whether somebody gave a fact other words by hand, and left the triple that goes with the old ones."""
    changed = old.fact != fact.fact and _triple(old) == _triple(fact)
    return changed and fact.stands and fact.predicate is not None and not _is_learned(fact)


def _is_learned(fact: Fact) -> bool:
    return (fact.workflow or "").startswith(_LEARNED)


def _relation(fact: Fact) -> tuple[str | None, str | None]:
    return fact.subject, fact.predicate


def _triple(fact: Fact) -> StatementTriple:
    return StatementTriple(fact.subject or "", fact.predicate or "", fact.object or "", fact.relation_phrase)


def _with(fact: Fact, said: StatementTriple | None) -> Fact:
    subject, predicate, value, phrase = said or (None, None, None, None)
    return fact._replace(subject=subject, predicate=predicate, object=value, relation_phrase=phrase)


def _dated(fact: Fact) -> Fact:
    """The fact with when it was said, like all that learning reads: older news must not take its place."""
    known = fact.metadata or {}
    return fact if fact.source_event else fact._replace(metadata={"said_at": fact.timestamp, **known})


def _related_before(vault: Vault, since: str | None) -> frozenset[str]:
    """The facts that got a triple in this way since a commit, or ever: one that lacks it now was meant to."""
    from clawmem.vault.history.history import (  # loads GitPython; only where there is something to say
        HistoryFilter,
        open_history,
    )

    wanted = HistoryFilter(grep=[trailer_pattern("Clawmem-Op", OP)], rev=f"{since}..HEAD" if since else "HEAD")
    with open_history(vault) as history:
        return frozenset(fact for entry in history.entries(wanted) if entry.op == OP for fact in entry.facts)


def _by_entity(found: Iterable[RelatedFact]) -> dict[str, dict[str, RelatedFact]]:
    shelves: dict[str, dict[str, RelatedFact]] = defaultdict(dict)
    for one in found:
        shelves[one.entity][one.before.id] = one
    return shelves


def applied(
    work: WriteScope, shelves: Mapping[str, Mapping[str, RelatedFact]]
) -> tuple[dict[str, bytes | None], list[PlacedFact]]:
    """The files to write, and the facts that change: those that nobody touched since they were read."""
    writes: dict[str, bytes | None] = {}
    kept: list[PlacedFact] = []
    for entity, readings in shelves.items():
        facts = work.facts(entity)
        changed = {now.id: one.after for now in facts if (one := readings.get(now.id)) and one.before == now}
        if changed:
            writes.update(items_write(entity, [changed.get(now.id, now) for now in facts]))
            kept += [PlacedFact(fact, entity) for fact in changed.values()]
    return writes, kept


def _change(writes: Mapping[str, bytes | None], kept: Sequence[PlacedFact]) -> Change:
    places = sorted({one.entity for one in kept})
    triples = ", ".join(triple_in_words(one.fact) for one in kept[:_SHOWN_IN_SUBJECT])
    words = f"{counted(len(kept), 'triple')} read from the words: {triples}"
    return Change(
        subject_line(OP, places[0] if len(places) == 1 else "facts", words),
        writes,
        trailers(OP, facts=[one.fact.id for one in kept], entities=places),
        body="\n".join(f"- {one.entity}: {one.fact.fact} {triple_in_words(one.fact)}" for one in kept[:_SHOWN_IN_BODY]),
    )


def triple_in_words(fact: Fact) -> str:
    """A fact's triple, as a line can hold it."""
    return f"({fact.subject}, {fact.predicate}, {fact.object})" if fact.predicate else "(none)"
