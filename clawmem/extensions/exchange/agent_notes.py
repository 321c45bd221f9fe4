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

from clawmem.extensions.exchange.foreign_memory import Files, ForeignMemory, Found, SkippedMemory, Yaml, mapping, moment
from clawmem.extensions.exchange.pages import NO_STATEMENT, Page, Passage, is_statement, pages_of, passages, plain
from clawmem.model.language.text import one_line
from clawmem.model.transcripts.message import word

_CATEGORIES = {"user": "fact", "feedback": "instruction", "project": "project", "reference": "reference"}
_INDEX = "MEMORY.md"
_DAILY = re.compile(r"(?:^|/)memory/(?P<day>\d{4}-\d\d-\d\d)[^/]*\.md$")
_OF_AGENT = re.compile(r"(?:^|/)(?:MEMORY|USER|memory_summary|raw_memories)\.md$")
# What Codex writes for its own look-ups: lists of files, of search words, and the head of a summary.
_CODEX_LOOKUPS = frozenset(("rollout_summary_files", "keywords", "what's in memory"))
_CODEX_HEAD = re.compile(r"(?:thread_id|updated_at|rollout_path|cwd|git_branch|scope|applies_to):\s*\S")
_CODEX_UPDATED = re.compile(r"^updated_at:\s*(?P<when>\S+)", re.MULTILINE)
_NO_DAY = "YYYY-MM-DD"
_PLACEHOLDER = re.compile(r"_[^_]+_|\*[^*]+\*")
NO_MEMORY = "it is a placeholder, or what the program keeps for its own look-ups"
_OBSERVED = re.compile(r"<!--\s*observed:\s*(?P<day>[\w-]+)\s*(?:\|\s*status:\s*(?P<status>\w+)\s*)?-->")
# OpenClaw writes the mark on a line above the statement, where it would be read as a comment.
_MARK_ABOVE = re.compile(
    r"^[ \t]*(?P<mark><!--\s*observed:[^\n]*-->)[ \t]*\n(?P<gap>(?:[ \t]*\n)*)(?P<line>[^\n]+)", re.MULTILINE
)


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
        if origin := word(about.get("originSessionId") or page.front.get("originSessionId")):
            record["details"] = {"session": origin}
        when = moment(about.get("modified"), about.get("updated_at"), about.get("created_at"), page.front.get("date"))
        name = str(page.front.get("name") or path)
        quote = body or description
        yield ForeignMemory(path, name, one_line(description), quote, timestamp=when, record=record)


def is_agent_memory(files: Files, yaml: Yaml) -> bool:
    """Return whether files have a page that Codex or OpenClaw keeps its memory in."""
    return any(_OF_AGENT.search(path) or _DAILY.search(path) for path in files)


def read_agent_memory(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield each paragraph and bullet of the pages; what the page marks as no longer active is left out."""
    for path, page in pages_of(files, yaml):
        dated, updated = _DAILY.search(path), _CODEX_UPDATED.search(page.body)
        on = f"{dated['day']}T00:00:00Z" if dated else updated and updated["when"]
        body = _MARK_ABOVE.sub(lambda found: f"\n{found['gap']}{found['line']} {found['mark']}", page.body)
        for passage in passages(body, page.above):
            yield _noted(path, passage, on)


def _noted(path: str, passage: Passage, on: str | None) -> Found:
    mark, text = _OBSERVED.search(passage.text), _OBSERVED.sub("", passage.text).strip()
    place, heading = f"{path}:{passage.line}", passage.heading.rpartition(" > ")[2]
    if mark and mark["status"] not in (None, "active"):
        return SkippedMemory(place, f"it is marked as {mark['status']}")
    looked_up = any(part.strip().lower() in _CODEX_LOOKUPS for part in passage.heading.split(" > "))
    if looked_up or _CODEX_HEAD.match(text) or _PLACEHOLDER.fullmatch(text) or (mark and mark["day"] == _NO_DAY):
        return SkippedMemory(place, NO_MEMORY)
    if not is_statement(text):
        return SkippedMemory(place, NO_STATEMENT)
    when = moment(mark["day"] if mark else None, on)
    details: Mapping[str, Any] = {"details": {"heading": heading}} if heading else {}
    return ForeignMemory(place, path, plain(text), text, timestamp=when, record=details)


def _type(page: Page) -> str:
    return str(mapping(page.front.get("metadata")).get("type") or page.front.get("type") or "")
