"""The graph of facts and entities: neighbours of a node, and paths between nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from clawmem.errors import ClawmemError, NotFound, PossiblyUnreadable
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.graph import GraphEdge, edges_at, is_fact, is_pointed_at
from clawmem.index.search.lookup import (
    PlacedFact,
    by_ids,
    facts_naming,
    find_fact,
    resolve_id,
    unreadable_notices,
)
from clawmem.index.search.replaced import edges_towards
from clawmem.index.tables.rights import is_restricted
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import check_not_forgotten, find_entity
from clawmem.memory.permission import check_may_read, check_may_read_fact, may_read
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.fact import FACT_PREFIX
from clawmem.model.lifecycle.premises import SUCCEEDED
from clawmem.model.proposals.proposal import Proposal
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
    if is_fact(name):
        check_may_read_fact(caller, by_ids(index, [name])[name])
    else:
        check_may_read(caller, name)
        check_not_forgotten(index, name)
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


NAMED = "details"
"""How a fact rests on another that only its details name, such as the evidence of a guardrail."""
_PAGES = ("MEMORY.md", "wiki", "daily", "life")
_ID = re.compile(rf"{FACT_PREFIX}[0-9a-z]+")


class Dependent(NamedTuple):
    """A current fact that rests on another: on which premise, how, and how many links from the start."""

    placed: PlacedFact
    premise: str
    relation: str
    depth: int


class Impact(NamedTuple):
    """A fact and what rests on it, nearest first; each fact once.

    `hidden` counts the facts in other agents' workspaces. `pages` are the pages that show the fact or one that rests on
    it, each with their ids; `proposals` are open proposals about them."""

    start: PlacedFact
    dependents: tuple[Dependent, ...]
    hidden: int
    pages: tuple[tuple[str, tuple[str, ...]], ...]
    proposals: tuple[Proposal, ...]
    notices: tuple[str, ...] = ()

    @property
    def categories(self) -> dict[str, int]:
        """Return the number of dependents by category, the most frequent first."""
        return dict(Counter(dependent.placed.fact.category for dependent in self.dependents).most_common())


def impact(vault: Vault, reference: str, caller: Caller, depth: int | None = None) -> Impact:
    """Return what rests on a fact, within `depth` links (None: all). Circles are allowed.

    Raise NotFound, AmbiguousId, and NotPermitted if the fact belongs to another agent."""

    def read(index: Index) -> tuple[PlacedFact, list[Dependent], int, tuple[str, ...]]:
        start = find_fact(index, reference)
        check_may_read_fact(caller, start)
        found = list(_resting(index, start, depth))
        shown = [dependent for dependent in found if may_read(caller, dependent.placed.entity)]
        return start, shown, len(found) - len(shown), (*index.notices, *unreadable_notices(index))

    start, shown, hidden, notices = run_query(vault, read)
    if is_restricted(vault):  # pages and proposals are for those who may see everything
        return Impact(start, tuple(shown), 0, (), (), notices)
    ids = {start.fact.id, *(dependent.placed.fact.id for dependent in shown)}
    pages = tuple(_pages(vault, caller, ids))
    filed = read_proposals(vault)
    waiting = tuple(proposal for proposal in filed.open if _is_about(proposal, ids))
    return Impact(start, tuple(shown), hidden, pages, waiting, (*notices, *filed.unreadable))


def _resting(index: Index, start: PlacedFact, depth: int | None) -> Iterator[Dependent]:
    """Yield what rests on a fact, or on a fact that it replaced, level by level."""
    seen, level = {start.fact.id}, [start.fact.id]
    at = 0
    while level and (depth is None or at < depth):
        at += 1
        edges = _edges(index, level, seen)
        if at == 1:
            named = [placed for placed in facts_naming(index, start.fact.id) if _only_named(placed, start.fact.id)]
            edges.update({placed.fact.id: (start.fact.id, NAMED) for placed in named if placed.fact.id not in edges})
        facts = by_ids(index, edges)
        seen |= edges.keys()
        level = []
        for fact_id, (premise, relation) in edges.items():
            placed = facts.get(fact_id)
            if placed is not None and placed.fact.is_current:
                level.append(fact_id)
                yield Dependent(placed, premise, relation, at)


def _edges(index: Index, level: Collection[str], seen: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the facts that rest on some facts or on what these replaced, each with its premise and the relation."""
    found: dict[str, tuple[str, str]] = {}
    towards, passed = list(level), set(level)
    while towards:
        replaced = []
        for target, fact_id, kind in edges_towards(index, towards):
            if kind == SUCCEEDED:
                if fact_id not in passed:
                    passed.add(fact_id)
                    replaced.append(fact_id)
            elif fact_id not in seen:
                found.setdefault(fact_id, (target, kind))
        towards = replaced
    return found


def _only_named(placed: PlacedFact, fact_id: str) -> bool:
    """Return whether a current fact names another one in its details and not in a link."""
    fact = placed.fact
    linked = fact.superseded_by == fact_id or any(link.to == fact_id for link in fact.links)
    return fact.is_current and not linked and f"'{fact_id}'" in str(fact.details)


def _pages(vault: Vault, caller: Caller, ids: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the shared pages, and those of the calling agent, that show one of some facts."""
    places = [*_PAGES, *([f"agents/{caller.agent}"] if caller.agent else [])]
    for place in places:
        root = vault.root / place
        for path in [root] if root.is_file() else sorted(root.rglob("*.md")):
            if path.is_symlink() or not path.is_file():
                continue
            shown = dict.fromkeys(_ID.findall(path.read_text("utf-8", errors="replace")))
            items = tuple(other for other in shown if other in ids)
            if items:
                yield path.relative_to(vault.root).as_posix(), items


def _is_about(proposal: Proposal, ids: Collection[str]) -> bool:
    linked = (link.to for link in proposal.fact.links) if proposal.fact else ()
    return any(target.id in ids for target in proposal.targets) or any(to in ids for to in linked)
