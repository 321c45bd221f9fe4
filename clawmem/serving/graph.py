"""The graph of facts and entities: neighbours of a node, paths between nodes, and backlinks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.errors import ClawmemError, NotFound, PossiblyUnreadable, Refused
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.graph import GraphEdge, edges_at, is_fact, is_pointed_at
from clawmem.index.search.lookup import PlacedFact, by_ids, resolve_id
from clawmem.index.search.unreadable import refuse_if_unreadable, unreadable_notices
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import find_entity
from clawmem.memory.permission import check_may_read
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

# A search that has visited this many nodes has met a hub; it stops and reports that.
MOST_SEEN = 50_000


class GraphNode(NamedTuple):
    """A fact with its entity, or an entity (`placed` is None)."""

    name: str
    placed: PlacedFact | None = None


class GraphStep(NamedTuple):
    """One edge of an answer, the node it leads to, and the distance from the start."""

    edge: GraphEdge
    node: GraphNode
    depth: int


class GraphWalk(NamedTuple):
    """The start and the steps of a walk, in order; `total` includes steps beyond the limit."""

    start: GraphNode
    steps: tuple[GraphStep, ...]
    total: int
    notices: tuple[str, ...] = ()


def neighbors(vault: Vault, reference: str, caller: Caller, wanted: FactFilter, depth: int, limit: int) -> GraphWalk:
    """Return what is within `depth` edges of a fact or an entity, nearest first."""
    return run_query(vault, lambda index: _neighbors(index, reference, caller, wanted, depth, limit))


def backlinks(vault: Vault, reference: str, caller: Caller, wanted: FactFilter, limit: int) -> GraphWalk:
    """Return the facts that refer to a fact or an entity. Being stored in an entity does not count as a reference."""

    def act(index: Index) -> GraphWalk:
        start = _node(index, reference, caller)
        found = [edge for edge in edges_at(index, start, wanted) if not edge.forward and edge.relation != "in"]
        return _walked(index, start, [(edge, 1) for edge in found], limit)

    return run_query(vault, act)


def shortest_path(vault: Vault, first: str, last: str, caller: Caller, wanted: FactFilter, longest: int) -> GraphWalk:
    """Return the shortest path between two nodes.

    Raise NotFound if no path has at most `longest` edges, and Refused if the search met too many nodes.
    """
    return run_query(vault, lambda index: _path(index, first, last, caller, wanted, longest))


def _neighbors(index: Index, reference: str, caller: Caller, wanted: FactFilter, depth: int, limit: int) -> GraphWalk:
    start = _node(index, reference, caller)
    seen = {start}
    found: list[tuple[GraphEdge, int]] = []
    edge_of = [start]
    for level in range(1, depth + 1):
        outer: list[str] = []
        for node in edge_of:
            for edge in edges_at(index, node, wanted):
                if edge.target not in seen:
                    seen.add(edge.target)
                    outer.append(edge.target)
                    found.append((edge, level))
        edge_of = outer
        if len(seen) > MOST_SEEN:
            break
    return _walked(index, start, found, limit)


def _path(index: Index, first: str, last: str, caller: Caller, wanted: FactFilter, longest: int) -> GraphWalk:
    start, goal = _node(index, first, caller), _node(index, last, caller)
    came: dict[str, GraphEdge | None] = {start: None}
    level = [start]
    for _ in range(longest):
        outer: list[str] = []
        for node in level:
            for edge in edges_at(index, node, wanted):
                if edge.target not in came:
                    came[edge.target] = edge
                    outer.append(edge.target)
        if goal in came:
            break
        if len(came) > MOST_SEEN:
            raise Refused(
                f"No path from {start} to {goal} was found among the {len(came):,} nearest nodes.",
                "Start from a node with fewer connections, or use `clawmem graph neighbors`.",
            )
        level = outer
    if goal not in came:
        refuse_if_unreadable(index, f"a path of at most {longest} steps from {start} to {goal}")
        raise NotFound(
            f"No path of at most {longest} steps leads from {start} to {goal}.", "Allow more steps with --longest."
        )
    return _walked(index, start, [(edge, at) for at, edge in enumerate(_way(came, goal), 1)], None)


def _way(came: dict[str, GraphEdge | None], goal: str) -> list[GraphEdge]:
    way: list[GraphEdge] = []
    edge = came[goal]
    while edge is not None:
        way.append(edge)
        edge = came[edge.source]
    return way[::-1]


def _walked(index: Index, start: str, found: list[tuple[GraphEdge, int]], limit: int | None) -> GraphWalk:
    shown = found[:limit]
    nodes = _nodes(index, [start, *(edge.target for edge, _ in shown)])
    steps = tuple(GraphStep(edge, nodes[edge.target], depth) for edge, depth in shown)
    return GraphWalk(nodes[start], steps, len(found), (*index.notices, *unreadable_notices(index)))


def _nodes(index: Index, names: Iterable[str]) -> dict[str, GraphNode]:
    wanted = list(dict.fromkeys(names))
    facts = by_ids(index, (name for name in wanted if is_fact(name)))
    return {name: GraphNode(name, facts.get(name)) for name in wanted}


def _node(index: Index, reference: str, caller: Caller) -> str:
    """Return the fact or entity of a reference. Raise NotPermitted if it belongs to another agent."""
    name = _named(index, reference, caller)
    place = by_ids(index, [name])[name].entity if is_fact(name) else name
    check_may_read(caller, place)
    return name


def _named(index: Index, reference: str, caller: Caller) -> str:
    """Return the fact or entity of a reference: an id or prefix, else a name, title or alias."""
    if is_fact(reference):
        return resolve_id(index, reference)
    if is_pointed_at(index, reference):
        return reference
    try:
        return find_entity(index, reference, caller)
    except ClawmemError as problem:
        if "/" in reference or "may be" in problem.message:
            raise
        try:
            return resolve_id(index, reference)
        except PossiblyUnreadable:
            raise
        except NotFound:
            raise NotFound(
                f"There is no fact or entity '{reference}'.",
                "List entities with `clawmem entity list`, and search facts with `clawmem recall`.",
            ) from None
