"""The graph of the vault: facts and entities, joined by links, relations, subjects and the places facts stand in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from clawmem.index.channels import Filter, condition_of
from clawmem.index.lookup import known_as
from clawmem.index.seals import check_entity
from clawmem.index.store import Index
from clawmem.model.entity import owner_of
from clawmem.model.ids import FACT_PREFIX
from clawmem.model.text import normal

IN = "in"
ABOUT = "about"
RELATED = "related"


class Edge(NamedTuple):
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


def edges_at(index: Index, node: str, wanted: Filter) -> list[Edge]:
    """Every way from a node to another that the filter lets be seen, each once, its own pointers first."""
    found = _of_fact(index, node, wanted) if is_fact(node) else _of_entity(index, node, wanted)
    return list(dict.fromkeys(edge for edge in found if edge.target != node))


def _of_fact(index: Index, node: str, wanted: Filter) -> Iterator[Edge]:
    row = index.database.execute("SELECT n, entity, subject FROM fact WHERE id = ?", (node,)).fetchone()
    if row is None:
        return
    n, entity, subject = row
    for kind, target in index.database.execute("SELECT kind, target FROM edge WHERE n = ? ORDER BY 1, 2", (n,)):
        if not is_fact(target):
            for name in _entities_named(index, target, wanted):
                yield Edge(node, kind, name, True)
        elif _visible(index, target, wanted):
            yield Edge(node, kind, target, True)
    for name in known_as(index, subject) if subject else ():
        if _may_see(name, wanted) and name != entity:
            yield Edge(node, ABOUT, name, True)
    yield Edge(node, IN, entity, True)
    yield from _pointing(index, node, [node], wanted)


def _of_entity(index: Index, name: str, wanted: Filter) -> Iterator[Edge]:
    names = [name, *_other_names(index, name)]
    yield from _pointing(index, name, names, wanted)
    condition, values = condition_of(wanted)
    execute = index.database.execute
    about = (
        f"SELECT id FROM fact WHERE subject IN (SELECT alias FROM alias WHERE name = ?) AND entity != ? AND {condition}"
        " ORDER BY n"
    )
    for (fact,) in execute(about, (name, name, *values)):
        yield Edge(name, ABOUT, fact, False)
    for (fact,) in execute(f"SELECT id FROM fact WHERE entity = ? AND {condition} ORDER BY n", (name, *values)):
        yield Edge(name, IN, fact, False)


def _pointing(index: Index, node: str, names: list[str], wanted: Filter) -> Iterator[Edge]:
    condition, values = condition_of(wanted)
    marks = ", ".join("?" * len(names))
    query = (
        f"SELECT kind, id FROM edge JOIN fact USING (n) WHERE target IN ({marks}) AND {condition} ORDER BY kind, fact.n"
    )
    for kind, fact in index.database.execute(query, (*names, *values)):
        yield Edge(node, kind, fact, False)


def _visible(index: Index, fact: str, wanted: Filter) -> bool:
    condition, values = condition_of(wanted)
    row = index.database.execute(f"SELECT 1 FROM fact WHERE id = ? AND {condition}", (fact, *values)).fetchone()
    return row is not None


def _entities_named(index: Index, name: str, wanted: Filter) -> list[str]:
    """The entity of that name, or those that go by it since it was moved or renamed; itself where there is none."""
    known = index.database.execute(
        "SELECT 1 FROM entity WHERE name = ?1 UNION ALL SELECT 1 FROM fact WHERE entity = ?1 LIMIT 1", (name,)
    ).fetchone()
    found = [name] if known else known_as(index, normal(name)) or [name]
    return [one for one in found if _may_see(one, wanted)]


def _other_names(index: Index, name: str) -> list[str]:
    query = "SELECT name, title, kind, aliases, seal FROM entity WHERE name = ?"
    row = index.database.execute(query, (name,)).fetchone()
    if row is None:
        return []
    check_entity(*row)
    return [str(one) for one in json.loads(row[3])]


def _may_see(name: str, wanted: Filter) -> bool:
    return (owner_of(name) or "") in wanted.owners
