"""Link a statement in the propositional form to the facts that its brackets name."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, InvalidInput, NotFound
from clawmem.index.search.channels import facts_stating
from clawmem.index.search.lookup import PlacedFact, facts_of, find_fact
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import find_entity
from clawmem.memory.permission import may_read
from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.facts.ids import FACT_PREFIX
from clawmem.model.facts.propositional import MOST_PREMISES, conclusion_of, named_premises, with_references
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import visible_owners


class LinkedStatement(NamedTuple):
    """The fact with its links, and a notice for each bracket that names no single fact."""

    fact: Fact
    notices: tuple[str, ...] = ()


class _Unresolved(Exception):
    """A bracket does not name one fact; the message says why."""


def linked_to_premises(index: Index, fact: Fact, caller: Caller) -> LinkedStatement:
    """Return the conclusion, with a `depends_on` link for each bracket that names one fact.

    A bracket names a fact by its id, by its statement or words that only one current fact contains, or by an entity
    with one current fact. The reason of a link is the sentence with ids in the brackets: the words of a premise are
    not stored again, because they would outlive it. Other brackets stay as text."""
    named = named_premises(fact.fact)
    premises: dict[str, str] = {}
    notices = list[str]()
    for premise in named[:MOST_PREMISES]:
        try:
            placed = _premise(index, premise.words, caller)
        except _Unresolved as problem:
            notices.append(f"[[{premise.words}]] names no premise: {problem}; it stays as text")
            continue
        premises[premise.words] = placed.fact.id
    if len(named) > MOST_PREMISES:
        notices.append(f"only the first {MOST_PREMISES} premises are linked; the others stay as text")
    reason = with_references(fact.fact, lambda premise: premises.get(premise.words))
    text = conclusion_of(fact.fact, lambda premise: premises.get(premise.words))
    known = {link.to for link in fact.links if link.type == "depends_on"}
    added = [premise for premise in dict.fromkeys(premises.values()) if premise not in known]
    links = (*fact.links, *(FactLink("depends_on", name, reason, stamp(caller.now)) for name in added))
    return LinkedStatement(fact._replace(fact=text, links=links), tuple(notices))


def _premise(index: Index, words: str, caller: Caller) -> PlacedFact:
    if words.startswith(FACT_PREFIX):
        try:
            placed = find_fact(index, words)
        except (NotFound, AmbiguousId, InvalidInput) as problem:
            raise _Unresolved(problem.message.rstrip(".")) from None
        if not may_read(caller, placed.entity):
            raise _Unresolved(f"No fact has the id '{words}'")
        return placed
    return _stated(index, words, caller) or _only_fact_of(index, words, caller)


def _stated(index: Index, words: str, caller: Caller) -> PlacedFact | None:
    """Return the one current fact with exactly this statement, else the one that contains the words, or None."""
    found = facts_stating(index, words, visible_owners(caller.agent, None))
    if len(found) > 1:
        ids = ", ".join(sorted(other_placed.fact.id for other_placed in found)[:5])
        raise _Unresolved(f"{len(found)} facts say it ({ids})")
    return found[0] if found else None


def _only_fact_of(index: Index, words: str, caller: Caller) -> PlacedFact:
    try:
        entity = find_entity(index, words, caller)
    except ClawmemError:
        raise _Unresolved("no fact and no entity is called that") from None
    items = [placed for placed in facts_of(index, entity) if placed.fact.is_current and may_read(caller, placed.entity)]
    if len(items) != 1:
        raise _Unresolved(f"{entity} has {len(items)} facts, so name one of them")
    return items[0]
