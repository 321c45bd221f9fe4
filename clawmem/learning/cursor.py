"""How far learning has come: events read per day, and names mentioned that are no entities yet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import Unreadable

PATH = "ledger/learned.json"


class Cursor(NamedTuple):
    """Events already learned from, by day, and mentions so far, by title in its normal form."""

    days: Mapping[str, int]
    mentions: Mapping[str, int]


def parse_cursor(data: bytes | None) -> Cursor:
    """The cursor as kept in the vault; the beginning where there is none."""
    if data is None:
        return Cursor({}, {})
    try:
        record = json.loads(data)
        days = {str(day): int(count) for day, count in record["days"].items()}
        mentions = {str(title): int(count) for title, count in record.get("mentions", {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Unreadable(PATH, None, f"it does not say how far learning has come ({problem})") from None
    return Cursor(days, mentions)


def render_cursor(cursor: Cursor) -> bytes:
    """The cursor as JSON, one day and one title a line, so that a diff shows what moved."""
    record = {"days": dict(sorted(cursor.days.items())), "mentions": dict(sorted(cursor.mentions.items()))}
    return (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode()
