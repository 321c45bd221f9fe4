"""History entries as text and as JSON, the same in every verb that shows history."""

from __future__ import annotations

from typing import Any

from clawmem.faces.parts.words import said
from clawmem.model.history.entry import HistoryEntry
from clawmem.model.language.dates import minute

SHORT = 12


def entry_data(entry: HistoryEntry) -> dict[str, Any]:
    """An entry as callers of --json get it; what a commit does not say is left out."""
    return said(entry._asdict())


def entry_line(entry: HistoryEntry) -> str:
    """An entry on one line: short name, time, author, subject."""
    return f"{entry.commit[:SHORT]}  {minute(entry.time)}  {entry.author}  {entry.subject}"
