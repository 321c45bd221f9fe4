"""History entries as text and as JSON, the same in every verb that shows history."""

from __future__ import annotations

from typing import Any

from clawmem.faces.parts.words import said
from clawmem.model.history.entry import HistoryEntry

SHORT = 12


def entry_data(entry: HistoryEntry) -> dict[str, Any]:
    """An entry as callers of --json get it; what a commit does not say is left out."""
    return said(entry._asdict())


def entry_line(entry: HistoryEntry) -> str:
    """An entry on one line: short name, time, author, subject."""
    return f"{entry.commit[:SHORT]}  {minute(entry.time)}  {entry.author}  {entry.subject}"


def minute(time: str) -> str:
    """A written time to the minute, as people read it: in UTC, and saying so."""
    return f"{time[:10]} {time[11:16]} UTC"
