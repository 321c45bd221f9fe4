"""Mermaid and GraphML: what a label says is never part of the syntax."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.extensions.wiki.graph import graphml_lines, mermaid_lines
from clawmem.extensions.wiki.values.memory_graph import MemoryEdge, MemoryGraph, MemoryNode
from tests.extensions.wiki.web.attacks import ATTACKS

_SPACE = "{http://graphml.graphdrawing.org/xmlns}"


def graph_of(text: str) -> MemoryGraph:
    nodes = (MemoryNode("wiki/a.md", "entity", text, "wiki/a.md"), MemoryNode("fact_1", "fact", text, None, text))
    return MemoryGraph(nodes, (MemoryEdge("fact_1", "wiki/a.md", "about"),))


@pytest.mark.parametrize("text", ATTACKS)
def test_attacks_stay_labels(text: str) -> None:
    check(text)


@given(st.text())
def test_any_text_stays_a_label(text: str) -> None:
    check(text)


def check(text: str) -> None:
    head, *lines = mermaid_lines(graph_of(text))
    assert head == "flowchart LR" and len(lines) == 3
    assert re.fullmatch(r"""  n0\(\["(?:[\w .,'-]|#\d+;)*"\]\)""", lines[0])
    root = ElementTree.fromstring("\n".join(graphml_lines(graph_of(text))).encode())
    assert [node.get("id") for node in root.iter(f"{_SPACE}node")] == ["wiki/a.md", "fact_1"]
    assert len(list(root.iter(f"{_SPACE}edge"))) == 1
    assert not {element.tag for element in root.iter()} - {
        f"{_SPACE}{tag}" for tag in "graphml key graph node data edge".split()
    }
