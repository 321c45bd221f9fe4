"""`clawmem graph neighbors`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of
from clawmem.faces.parts.parameters import SUPERSEDED, Parameter
from clawmem.index.search.graph import is_fact
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.serving import graph as acts


def neighbors(
    call: Call,
    node: Annotated[str, _NODE],
    depth: Annotated[int, Parameter("The maximum distance in links.", ("--depth",), default=1, least=1, most=10)],
    include_superseded: Annotated[bool, _THROUGH],
    limit: Annotated[int, _LIMIT],
) -> Answer:
    """Show the neighbors of a fact or an entity."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    wanted = filter_of(vault, caller, superseded=include_superseded)
    return _walked(acts.neighbors(vault, node, caller, wanted, depth, limit))


def _walked(found: acts.GraphWalk) -> Answer:
    data = {
        "start": _node_data(found.start),
        "neighbors": [
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
    nothing = [] if found.steps else ["It has no links."]
    talk = [f"{more:,} more; use a higher --limit to show them"] if more else nothing
    return Answer(data, _lines(found), found.notices, talk=talk)


def _node_data(node: acts.GraphNode) -> dict[str, Any]:
    if node.placed:
        return {"node": node.name, "kind": "fact", "fact": fact_data(node.placed.fact, node.placed.entity)}
    return {"node": node.name, "kind": "fact" if is_fact(node.name) else "entity"}


def _lines(found: acts.GraphWalk) -> Iterable[str]:
    yield _node_text(found.start)
    for step in found.steps:
        arrow = f"-{step.edge.relation}->" if step.edge.forward else f"<-{step.edge.relation}-"
        yield f"{'  ' * step.depth}{arrow} {_node_text(step.node)}"


def _node_text(node: acts.GraphNode) -> str:
    return fact_line(node.placed.fact, node.placed.entity) if node.placed else node.name


_NODE = Parameter("A fact by id or prefix, or an entity by name, title or alias.", completes="fact or entity")
_THROUGH = SUPERSEDED._replace(help="Also follow replaced and withdrawn facts.")
_LIMIT = Parameter("How many nodes to show.", ("--limit", "-n"), default=50, least=1)
_POINT = {"node": str, "kind": {"fact", "entity"}, "fact?": "fact"}
_STEP = {**_POINT, "relation": str, "direction": {"out", "in"}, "from": str, "depth": int}

VERB = {
    "neighbors": Command(
        neighbors,
        {"start": _POINT, "neighbors": [_STEP], "total": int},
        ("clawmem graph neighbors areas/people/jane --depth 2",),
        ("neighbors",),
    ),
}
