"""An entry of the history: one commit read back, with what its trailers say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

ACCESS = "access"
UNDO = "undo"
REDACT = "redact"
UNDOES = "Undoes"
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*): (.*)")
_SPECIAL = re.compile(r"[.\[\]*^$\\]")


class HistoryEntry(NamedTuple):
    """One commit: its full name, time (ISO 8601 UTC), author, subject, and what it says of facts and entities.

    `op` is None for a commit that clawmem did not make; `undoes` names the commit that an undo took back.
    """

    commit: str
    time: str
    author: str
    author_email: str
    op: str | None
    subject: str
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    agent: str | None = None
    session: str | None = None
    source: str | None = None
    supersedes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    undoes: str | None = None
    parents: tuple[str, ...] = ()


def entry_of(
    commit: str, time: str, author: str, author_email: str, message: str, parents: Iterable[str] = ()
) -> HistoryEntry:
    """The entry for a commit's raw parts; several sources are joined by a comma."""
    said = trailers_of(message)
    return HistoryEntry(
        commit,
        time,
        author,
        author_email,
        op=_first(said, "Clawmem-Op"),
        subject=message.partition("\n")[0].strip(),
        facts=_every(said, "Fact"),
        entities=_every(said, "Entity"),
        agent=_first(said, "Agent"),
        session=_first(said, "Session"),
        source=", ".join(_every(said, "Source")) or None,
        supersedes=_every(said, "Supersedes"),
        events=_every(said, "Event"),
        undoes=_first(said, UNDOES),
        parents=tuple(parents),
    )


def trailers_of(message: str) -> tuple[tuple[str, str], ...]:
    """The `Key: value` lines of a message's last paragraph; none where it holds anything else or is the subject."""
    paragraphs = [part for part in message.replace("\r\n", "\n").strip().split("\n\n") if part.strip()]
    if len(paragraphs) < 2:
        return ()
    matches = [_TRAILER.fullmatch(line) for line in paragraphs[-1].strip().split("\n")]
    return tuple((match[1], match[2].strip()) for match in matches if match) if all(matches) else ()


def trailer_pattern(key: str, value: str) -> str:
    """The basic regular expression that finds a trailer with exactly this value in a message."""
    return f"^{key}: {escaped(value)}$"


def escaped(text: str) -> str:
    """Text as a basic regular expression that matches only itself."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], text)


def _every(said: Iterable[tuple[str, str]], key: str) -> tuple[str, ...]:
    return tuple(value for name, value in said if name == key)


def _first(said: Iterable[tuple[str, str]], key: str) -> str | None:
    return next((value for name, value in said if name == key), None)
