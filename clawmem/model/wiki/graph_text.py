"""The memory's graph as text that other programs read: Mermaid flowcharts and GraphML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from clawmem.model.language.text import one_line, visible
from clawmem.model.wiki.memory_graph import ENTITY, MemoryGraph, MemoryNode

MERMAID, GRAPHML = "mermaid", "graphml"
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
