"""An entry of the history: one commit and its trailers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clawmem.model.named_tuple import NamedTuple

ACCESS = "access"
UNDO = "undo"
REDACT = "redact"
UNDOES = "Undoes"
HOUSEKEEPING = frozenset((ACCESS, "decay", "premises", "relate"))
"""What the heartbeat does to facts after somebody recorded them. It takes no part in the undo of a fact."""
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*): (.*)")
_SPECIAL = re.compile(r"[.\[\]*^$\\]")


class HistoryEntry(NamedTuple):
    """One commit: its full hash, time (ISO 8601 UTC), author, subject, and trailers.

    `op` is None if clawmem did not make the commit; `undoes` is the commit that an undo reverted.
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
    """Return the entry for a commit's raw parts; several sources are joined by a comma."""
    trailers = trailers_of(message)
    return HistoryEntry(
        commit,
        time,
        author,
        author_email,
        op=_first(trailers, "Clawmem-Op"),
        subject=message.partition("\n")[0].strip(),
        facts=_every(trailers, "Fact"),
        entities=_every(trailers, "Entity"),
        agent=_first(trailers, "Agent"),
        session=_first(trailers, "Session"),
        source=", ".join(_every(trailers, "Source")) or None,
        supersedes=_every(trailers, "Supersedes"),
        events=_every(trailers, "Event"),
        undoes=_first(trailers, UNDOES),
        parents=tuple(parents),
    )


def trailers_of(message: str) -> tuple[tuple[str, str], ...]:
    """Return the `Key: value` lines of a message's last paragraph; none if it has other lines or is the subject."""
    paragraphs = [part for part in message.replace("\r\n", "\n").strip().split("\n\n") if part.strip()]
    if len(paragraphs) < 2:
        return ()
    matches = [_TRAILER.fullmatch(line) for line in paragraphs[-1].strip().split("\n")]
    return tuple((match[1], match[2].strip()) for match in matches if match) if all(matches) else ()


def trailer_pattern(key: str, value: str) -> str:
    """Return the basic regular expression for a trailer with exactly this value."""
    return f"^{key}: {escape_pattern(value)}$"


def escape_pattern(text: str) -> str:
    """Return the text as a basic regular expression that matches only itself."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], text)


def _every(trailers: Iterable[tuple[str, str]], key: str) -> tuple[str, ...]:
    return tuple(value for name, value in trailers if name == key)


def _first(trailers: Iterable[tuple[str, str]], key: str) -> str | None:
    return next((value for name, value in trailers if name == key), None)
