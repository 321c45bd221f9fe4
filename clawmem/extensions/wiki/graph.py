"""The graph of what the wiki shows, as text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from clawmem.errors import NotFound
from clawmem.extensions.wiki.site import gather_pages
from clawmem.extensions.wiki.values.memory_graph import ENTITY, MemoryGraph, MemoryNode, graph_around, memory_graph
from clawmem.extensions.wiki.values.names import entity_page
from clawmem.memory.entities.places import find_readable_entity
from clawmem.model.language.text import one_line, visible
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault


def graph_text(
    vault: Vault, caller: Caller, format_: str, entity: str | None, depth: int
) -> tuple[MemoryGraph, list[str], tuple[str, ...]]:
    """Return the graph of all pages, or what is around an entity, its lines, and what the index says about itself.

    Raise NotFound for an entity that has no page."""
    gathered = gather_pages(vault, caller)
    graph = memory_graph(gathered.pages)
    if entity is not None:
        name = find_readable_entity(vault, entity, caller)
        try:
            graph = graph_around(graph, entity_page(name), depth)
        except KeyError:
            raise NotFound(f"{name} has no page in the wiki.", "The wiki shows shared entities only.") from None
    return graph, list(graphml_lines(graph) if format_ == GRAPHML else mermaid_lines(graph)), gathered.notices


GRAPHML = "graphml"
_FIELDS = ("kind", "label", "trust", "since", "until")
_NOT_PLAIN = re.compile(r"[^\w .,'-]")
# XML 1.0 has no way to write these.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def mermaid_lines(graph: MemoryGraph) -> Iterator[str]:
    """Yield a Mermaid flowchart. Every character of a label but letters, digits and `.,'-` is written as its code."""
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    yield "flowchart LR"
    for node in graph.nodes:
        label = _NOT_PLAIN.sub(lambda found: f"#{ord(found[0])};", visible(one_line(node.label)))
        shape = '(["{}"])' if node.kind == ENTITY else '["{}"]'
        yield f"  {names[node.id]}{shape.format(label)}"
    for edge in graph.edges:
        yield f"  {names[edge.source]} -->|{edge.kind.replace('_', ' ')}| {names[edge.target]}"


def graphml_lines(graph: MemoryGraph) -> Iterator[str]:
    """Yield a GraphML document: nodes with kind, label, trust, since and until, and directed edges with their kind."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name in _FIELDS:
        yield f'  <key id="{name}" for="node" attr.name="{name}" attr.type="string"/>'
    yield '  <key id="relation" for="edge" attr.name="relation" attr.type="string"/>'
    yield '  <graph id="memory" edgedefault="directed">'
    for node in graph.nodes:
        yield f'    <node id="{_xml(node.id)}">{"".join(_data(node))}</node>'
    for edge in graph.edges:
        data = f'<data key="relation">{edge.kind}</data>'
        yield f'    <edge source="{_xml(edge.source)}" target="{_xml(edge.target)}">{data}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _data(node: MemoryNode) -> Iterator[str]:
    for name in _FIELDS:
        value = getattr(node, name)
        if value is not None:
            yield f'<data key="{name}">{_xml(value)}</data>'


def _xml(text: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", visible(text)))
