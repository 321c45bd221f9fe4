"""The formats of foreign memories, and which one some files have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.extensions.exchange import agent_notes, graphs, mem0, okf
from clawmem.extensions.exchange.foreign_memory import Files, Found, Yaml

AUTO = "auto"


class MemoryFormat(NamedTuple):
    """A format: whether files have it, how they are read, and the trust of its statements unless a person says."""

    fits: Callable[[Files, Yaml], bool]
    read: Callable[[Files, Yaml], Iterator[Found]]
    trust: str


# In the order in which they are tried: a format with fewer signs of its own comes later.
MEMORY_FORMATS = {
    "server-memory": MemoryFormat(graphs.is_server_memory, graphs.read_server_memory, "agent"),
    "mem0": MemoryFormat(mem0.fits, mem0.read, "agent"),
    "claude-memory": MemoryFormat(agent_notes.is_auto_memory, agent_notes.read_auto_memory, "agent"),
    "okf": MemoryFormat(okf.fits, okf.read, "external"),
    "agent-memory": MemoryFormat(agent_notes.is_agent_memory, agent_notes.read_agent_memory, "agent"),
    "notes": MemoryFormat(graphs.is_linked_notes, graphs.read_linked_notes, "user"),
}
FORMATS = (AUTO, *MEMORY_FORMATS)


def format_of(files: Files, yaml: Yaml, name: str, wanted: str = AUTO) -> str:
    """Return the format of some files. Raise InvalidInput if none is recognised, or `wanted` is not a format."""
    if wanted not in FORMATS:
        raise InvalidInput(f"'{wanted}' is not a format.", f"Choose one of {', '.join(FORMATS)}.")
    if wanted != AUTO:
        return wanted
    found = next((name for name, memory_fmt in MEMORY_FORMATS.items() if memory_fmt.fits(files, yaml)), None)
    if found is None:
        raise InvalidInput(
            f"Nothing in {name} was recognised as a memory.",
            f"Name its format with --format: {', '.join(MEMORY_FORMATS)}. `clawmem ingest` reads transcripts and text.",
        )
    return found
