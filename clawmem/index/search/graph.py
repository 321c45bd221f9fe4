"""The graph of the vault: facts and entities, joined by links, relations, subjects and the places facts stand in.

The table of edges finds the facts that point at something; what they point at is told from their own lines, which have
seals. RowDamaged says that the two do not agree.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import zip_longest
from typing import NamedTuple

from clawmem.index.search.channels import FactFilter, condition_of, facts_in_rows
from clawmem.index.search.lookup import FACT_COLUMNS, entities_known_as, fact_from_row
from clawmem.index.tables.seals import RowDamaged, check_alias, check_entity
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import Fact, pointers
from clawmem.model.facts.ids import FACT_PREFIX
from clawmem.model.language.text import normal
from clawmem.model.records.entity import owner_of

IN = "in"
ABOUT = "about"
RELATED = "related"


class GraphEdge(NamedTuple):
    """One way from a node to another. Nodes are facts by id and entities by name; `forward` says that the first
    points at the second, by the relation: a link's type, superseded_by, related, about (subject), in (place)."""

    source: str
    relation: str
    target: str
    forward: bool


def is_fact(node: str) -> bool:
    """Whether a node is a fact."""
    return node.startswith(FACT_PREFIX)


def is_pointed_at(index: Index, name: str) -> bool:
    """Whether a fact points at exactly this name, even where no entity has it."""
    return index.database.execute("SELECT 1 FROM edge WHERE target = ? LIMIT 1", (name,)).fetchone() is not None


def edges_at(index: Index, node: str, wanted: FactFilter) -> list[GraphEdge]:
    """Every way from a node to another that the filter lets be seen, each once, its own pointers first."""
    found = _of_fact(index, node, wanted) if is_fact(node) else _of_entity(index, node, wanted)
    return list(dict.fromkeys(edge for edge in found if edge.target != node))


def _of_fact(index: Index, node: str, wanted: FactFilter) -> Iterator[GraphEdge]:
    row = index.database.execute(f"SELECT {FACT_COLUMNS} FROM fact WHERE id = ?", (node,)).fetchone()
    if row is None:
        return
    fact, entity = fact_from_row(row)
    _check(fact, fact.id == node)
    for kind, target in sorted(set(pointers(fact))):
        if not is_fact(target):
            for name in _entities_named(index, target, wanted):
                yield GraphEdge(node, kind, name, True)
        elif _visible(index, target, wanted):
            yield GraphEdge(node, kind, target, True)
    for name in entities_known_as(index, fact.subject) if fact.subject else ():
        if _may_see(name, wanted) and name != entity:
            yield GraphEdge(node, ABOUT, name, True)
    yield GraphEdge(node, IN, entity, True)
    yield from _pointing(index, node, [node], wanted)


def _of_entity(index: Index, name: str, wanted: FactFilter) -> Iterator[GraphEdge]:
    names = [name, *_other_names(index, name)]
    yield from _pointing(index, name, names, wanted)
    condition, values = condition_of(wanted)
    execute = index.database.execute
    known = _aliases(index, name)
    about = (
        f"SELECT {FACT_COLUMNS} FROM fact WHERE subject IN (SELECT alias FROM alias WHERE name = ?) AND entity != ?"
        f" AND {condition} ORDER BY n"
    )
    for row in execute(about, (name, name, *values)):
        fact, entity = fact_from_row(row)
        _check(fact, normal(fact.subject or "") in known and entity != name)
        yield GraphEdge(name, ABOUT, fact.id, False)
    for row in execute(f"SELECT {FACT_COLUMNS} FROM fact WHERE entity = ? AND {condition} ORDER BY n", (name, *values)):
        fact, entity = fact_from_row(row)
        _check(fact, entity == name)
        yield GraphEdge(name, IN, fact.id, False)


def _pointing(index: Index, node: str, names: list[str], wanted: FactFilter) -> Iterator[GraphEdge]:
    condition, values = condition_of(wanted)
    marks = ", ".join("?" * len(names))
    query = (
        f"SELECT kind, target, {FACT_COLUMNS} FROM edge JOIN fact USING (n) WHERE target IN ({marks}) AND {condition}"
        " ORDER BY kind, fact.n"
    )
    for kind, target, *row in index.database.execute(query, (*names, *values)):
        fact = fact_from_row(row).fact
        _check(fact, (kind, target) in pointers(fact))
        yield GraphEdge(node, kind, fact.id, False)


def _check(fact: Fact, agrees: bool) -> None:
    if not agrees:
        raise RowDamaged(f"{fact.id} was found in the index by what it does not say")


def check_links(index: Index, kind: str, pairs: Collection[tuple[int, int]]) -> None:
    """Raise RowDamaged where the fact of a row has no such link to the fact of the other one."""
    found = facts_in_rows(index, sorted({n for pair in pairs for n in pair}))
    for one, other in pairs:
        _check(found[one].fact, (kind, found[other].fact.id) in pointers(found[one].fact))


def check_edges(index: Index) -> None:
    """Raise RowDamaged where a fact's row is damaged, or the edges are not just those that the facts' lines say."""
    lines = index.database.execute(f"SELECT {FACT_COLUMNS} FROM fact ORDER BY n")
    said = ((row[2], *one) for row in lines for one in sorted(set(pointers(fact_from_row(row).fact))))
    kept = index.database.execute("SELECT n, kind, target FROM edge ORDER BY n, kind, target")
    for one, other in zip_longest(said, kept):
        if one != other:
            raise RowDamaged(f"the edges of row {(one or other)[0]} of the index are damaged")


def _visible(index: Index, fact: str, wanted: FactFilter) -> bool:
    condition, values = condition_of(wanted)
    row = index.database.execute(f"SELECT 1 FROM fact WHERE id = ? AND {condition}", (fact, *values)).fetchone()
    return row is not None


def _entities_named(index: Index, name: str, wanted: FactFilter) -> list[str]:
    """The entity of that name, or those that go by it since it was moved or renamed; itself where there is none."""
    known = index.database.execute(
        "SELECT 1 FROM entity WHERE name = ?1 UNION ALL SELECT 1 FROM fact WHERE entity = ?1 LIMIT 1", (name,)
    ).fetchone()
    found = [name] if known else entities_known_as(index, normal(name)) or [name]
    return [one for one in found if _may_see(one, wanted)]


def _other_names(index: Index, name: str) -> list[str]:
    query = "SELECT name, title, kind, aliases, seal FROM entity WHERE name = ?"
    row = index.database.execute(query, (name,)).fetchone()
    if row is None:
        return []
    check_entity(*row)
    return [str(one) for one in json.loads(row[3])]


def _aliases(index: Index, name: str) -> set[str]:
    """What an entity goes by."""
    found = index.database.execute("SELECT alias, name, seal FROM alias WHERE name = ?", (name,)).fetchall()
    for row in found:
        check_alias(*row)
    return {alias for alias, _, _ in found}


def _may_see(name: str, wanted: FactFilter) -> bool:
    return (owner_of(name) or "") in wanted.owners
