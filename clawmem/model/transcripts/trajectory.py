"""Read what `openclaw sessions export-trajectory` writes (`events.jsonl`): the events of a run, of which messages and
results of tools are spoken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawmem.model.transcripts.message import Message, SkippedLine, first, time_of, word
from clawmem.model.transcripts.openclaw import read_entry
from clawmem.model.transcripts.parts import Read, TranscriptState

_SCHEMA = "openclaw-trajectory"
_SPOKEN = frozenset("user.message assistant.message tool.result".split())


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an event of such a run."""
    return record.get("traceSchema") == _SCHEMA


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line. What somebody else than the owner wrote gets the trust of an outsider."""
    data = record.get("data")
    message = data.get("message") if isinstance(data, dict) else None
    if record.get("type") not in _SPOKEN or not isinstance(message, dict) or "role" not in message:
        return []  # events of the run, which repeat what the messages say
    try:
        when = time_of(message.get("timestamp")) or time_of(record.get("ts"))
        identity = word(first(record, "entryId", "id")) or word(message.get("id"))
        base = Message(line, "system", "", when, None, word(record.get("sessionId")), identity)
        found = list(read_entry(base, {}, message, thread))
    except ValueError as problem:
        return [SkippedLine(line, str(problem))]
    marked = message.get("__openclaw")
    if isinstance(marked, dict) and marked.get("senderIsOwner") is False:
        found = [
            other_message._replace(trust="external") if isinstance(other_message, Message) else other_message
            for other_message in found
        ]
    return found
