"""Scratchpads: a Markdown page for each task of an agent, which outlives sessions."""

from __future__ import annotations

import re
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.language.text import as_one_file
from clawmem.model.records.entity import slug

HEADINGS = ("Goal", "Plan", "State", "Decisions", "Questions", "Next")
# A checkpoint moves the older lines of these into the session record, and keeps this number of lines.
GROWING = ("State", "Decisions")
KEPT_LINES = 5
_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)


class MovedPad(NamedTuple):
    """A scratchpad without its older lines, and those lines by heading."""

    text: str
    moved: dict[str, str]


def scratchpad_path(agent: str, task: str) -> str:
    """Return the vault path of a task's scratchpad. Raise InvalidInput if the task has no letter or digit."""
    name = slug(task)
    if not name:
        raise InvalidInput(f"'{task}' cannot be the name of a task.", "Use a few words, such as fix-login.")
    return f"agents/{agent}/scratchpads/{as_one_file(name)}.md"


def new_scratchpad(task: str) -> str:
    """Return the empty scratchpad of a task, with the task as its goal."""
    parts = [f"# {task}", *(f"## {name}\n\n{task if name == 'Goal' else ''}".rstrip() for name in HEADINGS)]
    return "\n\n".join(parts) + "\n"


def sections(text: str) -> dict[str, str]:
    """Return the text below each second-level heading, without white space around it."""
    found = list(_HEADING.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return {match[1]: text[match.end() : end].strip() for match, end in zip(found, ends, strict=True)}


def without_older_lines(text: str, keep: int = KEPT_LINES) -> MovedPad:
    """Return the scratchpad with only the last lines of the headings that grow, and what was taken out."""
    moved: dict[str, str] = {}
    for name, body in sections(text).items():
        lines = [line for line in body.splitlines() if line.strip()]
        if name in GROWING and len(lines) > keep:
            moved[name] = "\n".join(lines[:-keep])
            text = _with_section(text, name, "\n".join(lines[-keep:]))
    return MovedPad(text, moved)


def _with_section(text: str, name: str, body: str) -> str:
    found = list(_HEADING.finditer(text))
    at = next(place for place, match in enumerate(found) if match[1] == name)
    end = found[at + 1].start() if at + 1 < len(found) else len(text)
    return f"{text[: found[at].end()]}\n\n{body}\n{chr(10) if at + 1 < len(found) else ''}{text[end:]}"
