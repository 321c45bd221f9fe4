"""Memories that agent programs keep as Markdown: Claude Code's auto-memory, and MEMORY.md with dated notes.

Layouts: Claude Code writes one page a memory, with `name`, `description` and a `type` (user, feedback, project or
reference) in its front matter, and lists the pages in MEMORY.md. Codex and OpenClaw write MEMORY.md, USER.md and
memory/YYYY-MM-DD.md as lists.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.exchange.foreign_memory import Files, ForeignMemory, Found, SkippedMemory, Yaml, mapping, moment
from clawmem.model.exchange.pages import NO_STATEMENT, Page, is_statement, pages_of, passages, plain
from clawmem.model.language.text import one_line

_CATEGORIES = {"user": "fact", "feedback": "instruction", "project": "project", "reference": "reference"}
_INDEX = "MEMORY.md"
_DAILY = re.compile(r"(?:^|/)memory/(?P<day>\d{4}-\d\d-\d\d)[^/]*\.md$")
_OF_AGENT = re.compile(r"(?:^|/)(?:MEMORY|USER|memory_summary|raw_memories)\.md$")
_OBSERVED = re.compile(r"<!--\s*observed:\s*(?P<day>[\d-]+)\s*(?:\|\s*status:\s*(?P<status>\w+)\s*)?-->")


def is_auto_memory(files: Files, yaml: Yaml) -> bool:
    """Return whether files are Claude Code's memory: pages with a name, a description and one of its types."""
    return any(_type(page) in _CATEGORIES and "description" in page.front for _, page in pages_of(files, yaml))


def read_auto_memory(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield one statement a page: its description, with the body as evidence."""
    for path, page in pages_of(files, yaml):
        if posixpath.basename(path) == _INDEX:
            continue
        description = page.front.get("description")
        if page.problem or not isinstance(description, str) or not description.strip():
            yield SkippedMemory(path, page.problem or "it has no description")
            continue
        body = page.body.strip()
        record: dict[str, Any] = {"category": _CATEGORIES.get(_type(page), "fact")}
        about = mapping(page.front.get("metadata"))
        when = moment(about.get("updated_at"), about.get("created_at"), page.front.get("date"))
        name = str(page.front.get("name") or path)
        quote = body or description
        yield ForeignMemory(path, name, one_line(description), quote, timestamp=when, record=record)


def is_agent_memory(files: Files, yaml: Yaml) -> bool:
    """Return whether files have a page that Codex or OpenClaw keeps its memory in."""
    return any(_OF_AGENT.search(path) or _DAILY.search(path) for path in files)


def read_agent_memory(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield each paragraph and bullet of the pages; what the page marks as no longer active is left out."""
    for path, page in pages_of(files, yaml):
        dated = _DAILY.search(path)
        on = f"{dated['day']}T00:00:00Z" if dated else None
        for one in passages(page.body, page.above):
            mark = _OBSERVED.search(one.text)
            said = plain(_OBSERVED.sub("", one.text))
            place = f"{path}:{one.line}"
            if mark and mark["status"] not in (None, "active"):
                yield SkippedMemory(place, f"it is marked as {mark['status']}")
            elif not said or not is_statement(_OBSERVED.sub("", one.text).strip()):
                yield SkippedMemory(place, NO_STATEMENT)
            else:
                heading = one.heading.rpartition(" > ")[2]
                when = moment(mark["day"] if mark else None, on)
                details: Mapping[str, Any] = {"details": {"heading": heading}} if heading else {}
                yield ForeignMemory(place, path, said, one.text, timestamp=when, record=details)


def _type(page: Page) -> str:
    return str(mapping(page.front.get("metadata")).get("type") or page.front.get("type") or "")
