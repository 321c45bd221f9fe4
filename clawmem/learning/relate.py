"""Relate: extract triples from the words of remembered facts that have none, in one commit.

Two facts whose triples contradict each other are a conflict: the same commit files the question for a person.

Only facts since the last complete heartbeat are read, each once. A triple that was undone or removed manually is not
added again.
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
from clawmem.learning.rules.statement_triple import EntityNames, StatementTriple, triple_of
from clawmem.memory.facts.rival_values import RivalValueFinder, ValueConflict, ask_about, with_question
from clawmem.memory.scope import WriteScope, items_write
from clawmem.memory.writing import writing
from clawmem.model.facts.catalog import ASK
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import Fact, trust_rank
from clawmem.model.facts.gates import Settlement
from clawmem.model.history.entry import trailer_pattern
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import proposal_path
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import name_of_path
from clawmem.vault.vault import Vault

OP = "relate"
_SHOWN_IN_SUBJECT, _SHOWN_IN_BODY = 5, 100
# The workflows of learned facts. The same rules have already read their original words.
_LEARNED = ("heartbeat/", "promotion/")


class RelatedFact(NamedTuple):
    """A fact before and after, and its entity."""

    before: Fact
    after: Fact
    entity: str


class RelateResult(NamedTuple):
    """The facts with their new triples, and the commit."""

    facts: tuple[PlacedFact, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def relate(vault: Vault, caller: Caller, since: str | None, dry_run: bool = False) -> RelateResult:
    """Add triples to the facts that came after the commit `since`, or to all facts.

    The lock is not held while facts are read. With `dry_run` nothing is written.
    """
    found = run_query(vault, lambda index: _missing_triples(vault, index, since))
    if dry_run or not found:
        return RelateResult(tuple(PlacedFact(fact.after, fact.entity) for fact in found))
    with writing(vault, caller, "learn") as work:
        by_entity = {entity: each for entity, each in _by_entity(found).items() if work.is_readable(entity)}
        writes, kept = apply_triples(work, by_entity)
        if not kept:
            return RelateResult(notices=work.notices)
        asked = conflicts_of_triples(work, kept)
        change = _change(writes, kept)
        for conflict in asked:
            change = with_question(change, conflict)
        notices = (
            *work.notices,
            *(f"{conflict.proposal.says}: {conflict.proposal.why}" for conflict in asked if conflict.proposal),
        )
        return RelateResult(tuple(kept), work.commit([change])[-1], notices)


def _missing_triples(vault: Vault, index: Index, since: str | None) -> list[RelatedFact]:
    """Return the changes to make, based on the index."""
    past = _past(vault, since)
    user = vault.settings.words("user.name")
    called = EntityNames(entities(index), vault.settings.words("defaults.entity"), user)
    new: list[RelatedFact] = []
    reworded: list[RelatedFact] = []
    for name in entity_names(index) if past is None else past.entities:
        for fact, entity in facts_of(index, name):
            old = past.facts.get(fact.id) if past else None
            message = partial(triple_of, entity=entity, called=called, catalog=vault.catalog)
            if old is None and _needs_triple(index, fact) and (triple := message(fact)):
                new.append(RelatedFact(fact, _dated(_with(fact, triple)), entity))
            elif old is not None and _only_words_changed(old, fact) and _triple(old) == message(old):
                reworded.append(RelatedFact(fact, _with(fact, message(fact)), entity))
    group = _related_before(vault, since if past else None) if new else frozenset()
    return [*(other_fact for other_fact in new if other_fact.before.id not in group), *reworded]


class _FactsSince(NamedTuple):
    """The entities whose facts changed since a commit, and the earlier facts by id."""

    entities: Sequence[str]
    facts: Mapping[str, Fact]


def _past(vault: Vault, since: str | None) -> _FactsSince | None:
    """Return the facts of the commit `since`, or None if git does not know it."""
    head = vault.head().commit
    changed = vault.changed_paths_or_none(since, head) if since and head else None
    if since is None or changed is None:
        return None
    paths = {path: name for path in changed if file_kind(path) is ITEMS_FILE and (name := name_of_path(path))}
    contents = vault.contents_at(since, paths) if paths else {}
    return _FactsSince(
        list(paths.values()), {fact.id: fact for path, data in contents.items() for fact in _parsed(data, path)}
    )


def _parsed(data: bytes | None, path: str) -> Sequence[Fact]:
    try:
        return parse_items(data, path) if data else ()
    except ClawmemError:
        return ()  # only the current content counts, and it was checked


def _needs_triple(index: Index, fact: Fact) -> bool:
    """Return whether a fact still needs a triple.

    A fact that replaces another one inherits its relation, which may not match the new words.
    """
    if not fact.is_current or fact.object or _is_learned(fact):
        return False
    if not (fact.subject or fact.predicate or fact.relation_phrase):
        return True
    olds = by_ids(index, [link.to for link in fact.links if link.type == "supersedes"])
    return any(_relation(placed.fact) == _relation(fact) for placed in olds.values())


def _only_words_changed(old: Fact, fact: Fact) -> bool:
    """Return whether a manual edit changed the words of a fact but not its triple."""
    changed = old.fact != fact.fact and _triple(old) == _triple(fact)
    return changed and fact.is_current and fact.predicate is not None and not _is_learned(fact)


def _is_learned(fact: Fact) -> bool:
    return (fact.workflow or "").startswith(_LEARNED)


def _relation(fact: Fact) -> tuple[str | None, str | None]:
    return fact.subject, fact.predicate


def _triple(fact: Fact) -> StatementTriple:
    return StatementTriple(fact.subject or "", fact.predicate or "", fact.object or "", fact.relation_phrase)


def _with(fact: Fact, triple: StatementTriple | None) -> Fact:
    subject, predicate, value, phrase = triple or (None, None, None, None)
    return fact._replace(subject=subject, predicate=predicate, object=value, relation_phrase=phrase)


def _dated(fact: Fact) -> Fact:
    """Return the fact with the time it was said, so that older news cannot replace it."""
    known = fact.metadata or {}
    return fact if fact.source_event else fact._replace(metadata={"said_at": fact.timestamp, **known})


def _related_before(vault: Vault, since: str | None) -> frozenset[str]:
    """Return the facts that received a triple since a commit, or ever. A missing one was removed on purpose."""
    from clawmem.vault.history.history import (  # loads GitPython, rarely needed
        HistoryFilter,
        open_history,
    )

    wanted = HistoryFilter(grep=[trailer_pattern("Clawmem-Op", OP)], rev=f"{since}..HEAD" if since else "HEAD")
    with open_history(vault) as history:
        return frozenset(fact for entry in history.entries(wanted) if entry.op == OP for fact in entry.facts)


def _by_entity(found: Iterable[RelatedFact]) -> dict[str, dict[str, RelatedFact]]:
    by_entity: dict[str, dict[str, RelatedFact]] = defaultdict(dict)
    for fact in found:
        by_entity[fact.entity][fact.before.id] = fact
    return by_entity


def apply_triples(
    work: WriteScope, by_entity: Mapping[str, Mapping[str, RelatedFact]]
) -> tuple[dict[str, bytes | None], list[PlacedFact]]:
    """Return the files to write and the changed facts. Facts that changed since they were read are left out."""
    writes: dict[str, bytes | None] = {}
    kept: list[PlacedFact] = []
    for entity, readings in by_entity.items():
        facts = work.facts(entity)
        changed = {now.id: one.after for now in facts if (one := readings.get(now.id)) and one.before == now}
        if changed:
            writes.update(items_write(entity, [changed.get(now.id, now) for now in facts]))
            kept += [PlacedFact(fact, entity) for fact in changed.values()]
    return writes, kept


def conflicts_of_triples(work: WriteScope, kept: Sequence[PlacedFact]) -> list[ValueConflict]:
    """Return the conflicts that the new triples of some facts show, each with the question for a person.

    A fact without a triple states no value that `remember` could compare. The question proposes the fact of the
    highest trust, and of these the latest. A question that was asked before, about the same facts, is not repeated."""
    finder = RivalValueFinder(work)
    new = {placed.fact.id: placed.fact for placed in kept}
    found: dict[str, ValueConflict] = {}
    for fact, entity in kept:
        known = [new.get(other_fact.id, other_fact) for other_fact in work.facts(entity) if other_fact.id != fact.id]
        rivals = finder.find(fact, entity, known) if fact.is_current else ()
        if not rivals:
            continue
        *others, best = sorted((*rivals, fact), key=lambda rival: (trust_rank(rival.trust), rival.timestamp, rival.id))
        unsettled = Settlement(None, ASK, "the triples were read after both facts were stored")
        asked = ask_about(work, best, entity, others, unsettled, finder.relation(fact))
        if asked.proposal and work.read(proposal_path(asked.proposal.id)) is None:
            found[asked.proposal.id] = asked
    return list(found.values())


def _change(writes: Mapping[str, bytes | None], kept: Sequence[PlacedFact]) -> Change:
    places = sorted({placed.entity for placed in kept})
    triples = ", ".join(format_triple(placed.fact) for placed in kept[:_SHOWN_IN_SUBJECT])
    words = f"{counted(len(kept), 'triple')} read from the words: {triples}"
    return Change(
        subject_line(OP, places[0] if len(places) == 1 else "facts", words),
        writes,
        trailers(OP, facts=[placed.fact.id for placed in kept], entities=places),
        body="\n".join(
            f"- {placed.entity}: {placed.fact.fact} {format_triple(placed.fact)}" for placed in kept[:_SHOWN_IN_BODY]
        ),
    )


def format_triple(fact: Fact) -> str:
    """Return the triple of a fact on one line."""
    return f"({fact.subject}, {fact.predicate}, {fact.object})" if fact.predicate else "(none)"
