"""The output of the readers of foreign memories: one statement each, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line
from clawmem.model.records.entity import slug
from clawmem.model.transcripts.message import time_of, word

Files = Mapping[str, str]
"""The text files of an import, by their path below the folder that is imported. Of a single file, by its name."""

Yaml = Callable[[str, str], Any]
"""Parses YAML text; the second argument names the text in errors. Raises Unreadable."""

_FOLDERS = {
    "person": "areas/people",
    "people": "areas/people",
    "user": "areas/people",
    "human": "areas/people",
    "organization": "areas/companies",
    "organisation": "areas/companies",
    "company": "areas/companies",
    "team": "areas/companies",
    "project": "projects",
    "repository": "projects",
    "area": "areas",
}


class ForeignMemory(NamedTuple):
    """One statement of another program's memory.

    `place` is where it stands, for messages. `key` identifies it within its origin, also after an edit of its text
    where the format has ids. `quote` is the text as it was written; it becomes the evidence. `timestamp` is its own
    time, ISO 8601 in UTC, or None. `record` has further keys of a fact, such as category, tags or valid_to. `title`
    is the title of the entity, if the entity is new.
    """

    place: str
    key: str
    statement: str
    quote: str
    entity: str | None = None
    title: str | None = None
    timestamp: str | None = None
    record: Mapping[str, Any] = {}


class SkippedMemory(NamedTuple):
    """A part that was not imported: where it stands, and why not."""

    place: str
    reason: str


Found = ForeignMemory | SkippedMemory


def entity_path(title: str, kind: str | None = None) -> str | None:
    """Return the entity for a title and a foreign kind, such as person; resources/ for kinds that are not known."""
    name = slug(title)
    return f"{_FOLDERS.get((kind or '').strip().lower(), 'resources')}/{name}" if name else None


def naming(subject: str, statement: str) -> str:
    """Return the statement with its subject in front, if it does not contain the subject's name."""
    text = one_line(statement)
    known = re.search(rf"(?<!\w){re.escape(subject)}(?!\w)", text, re.IGNORECASE)
    return text if known else f"{subject}: {text}"


def moment(*values: Any) -> str | None:
    """Return the first of some values that is a time, as ISO 8601 in UTC, or None."""
    for value in values:
        try:
            if value is not None and (found := time_of(str(value))):
                return found
        except ValueError:
            continue
    return None


def day(*values: Any) -> str | None:
    """Return the day (UTC) of the first of some values that is a time, or None."""
    found = moment(*values)
    return day_of(found) if found else None


def words(value: Any) -> tuple[str, ...]:
    """Return a list of short texts, such as tags; a single text counts as a list of one."""
    items = value if isinstance(value, list) else [value]
    return tuple(text for other in items if (text := word(other)))


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def unit(value: Any) -> float | None:
    """Return a number from 0 to 1, or None if the value is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1 else None
