"""`clawmem graph neighbors|path|backlinks`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.cli.filters import filter_of
from clawmem.index.search.graph import is_fact
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.serving import graph as acts

graph = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Walk the links between facts and entities.",
)
_Node = Annotated[str, typer.Argument(help="A fact by id or prefix, or an entity by name, title or alias.")]
_Replaced = Annotated[bool, typer.Option("--include-superseded", help="Through replaced and withdrawn facts too.")]
_Limit = Annotated[int, typer.Option("--limit", "-n", help="How many to show.", min=1)]


@graph.command("neighbors")
def neighbors(
    ctx: typer.Context,
    node: _Node,
    depth: Annotated[int, typer.Option(help="How many edges away.", min=1, max=10)] = 1,
    include_superseded: _Replaced = False,
    limit: _Limit = 50,
) -> int:
    """Show what a fact or an entity is joined to."""
    face = Face.of(ctx)
    vault, caller = face.runtime.vault(), face.runtime.caller()
    wanted = filter_of(vault, caller, superseded=include_superseded)
    found = acts.neighbors(vault, node, caller, wanted, depth, limit)
    return _done(face, found, "neighbors", "It is joined to nothing.")


@graph.command("path")
def path(
    ctx: typer.Context,
    first: _Node,
    last: _Node,
    longest: Annotated[int, typer.Option(help="The most edges.", min=1, max=20)] = 6,
    include_superseded: _Replaced = False,
) -> int:
    """Show the shortest way from one to another."""
    face = Face.of(ctx)
    vault, caller = face.runtime.vault(), face.runtime.caller()
    wanted = filter_of(vault, caller, superseded=include_superseded)
    found = acts.shortest_path(vault, first, last, caller, wanted, longest)
    return _done(face, found, "path", "They are one and the same.")


@graph.command("backlinks")
def backlinks(ctx: typer.Context, node: _Node, include_superseded: _Replaced = False, limit: _Limit = 50) -> int:
    """Show which facts point at a fact or an entity."""
    face = Face.of(ctx)
    vault, caller = face.runtime.vault(), face.runtime.caller()
    wanted = filter_of(vault, caller, superseded=include_superseded)
    found = acts.backlinks(vault, node, caller, wanted, limit)
    return _done(face, found, "backlinks", "Nothing points at it.")


def _done(face: Face, found: acts.GraphWalk, name: str, nothing: str) -> int:
    data = {
        "start": _node_data(found.start),
        name: [
            {
                **_node_data(step.node),
                "relation": step.edge.relation,
                "direction": "out" if step.edge.forward else "in",
                "from": step.edge.source,
                "depth": step.depth,
            }
            for step in found.steps
        ],
        "total": found.total,
    }
    more = found.total - len(found.steps)
    talk = [f"{more:,} more; show them with a higher --limit"] if more else [] if found.steps else [nothing]
    return face.done(data, _lines(found), found.notices, talk=talk)


def _node_data(node: acts.GraphNode) -> dict[str, Any]:
    if node.placed:
        return {"node": node.name, "kind": "fact", "fact": fact_data(node.placed.fact, node.placed.entity)}
    return {"node": node.name, "kind": "fact" if is_fact(node.name) else "entity", "fact": None}


def _lines(found: acts.GraphWalk) -> Iterable[str]:
    yield _shown(found.start)
    for step in found.steps:
        arrow = f"-{step.edge.relation}->" if step.edge.forward else f"<-{step.edge.relation}-"
        yield f"{'  ' * step.depth}{arrow} {_shown(step.node)}"


def _shown(node: acts.GraphNode) -> str:
    return fact_line(node.placed.fact, node.placed.entity) if node.placed else node.name
