"""Read sessions of Gemini CLI (`session-*.jsonl`): a header, changes as `$set`, and messages, of which a later one with
the same id replaces the earlier one.

The program puts what hooks give it into the user's message. Those parts are left out: they are no words of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.transcripts.message import Message, SkippedLine, time_of, word
from clawmem.model.transcripts.parts import Read, TranscriptState, answered, called, said, text_of

_ROLES = {"user": "user", "gemini": "assistant"}
_INJECTED = re.compile(r"<(hook_context|session_context)>.*?</\1>\s*", re.DOTALL)


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of such a session, or a whole session."""
    if "$set" in record or "$rewindTo" in record:
        return True
    if "sessionId" in record and "projectHash" in record:
        return True
    return record.get("type") in _ROLES and "content" in record and "id" in record and "message" not in record


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Note one line; the messages come at the end of the file, when each has its last form."""
    thread.session = word(record.get("sessionId")) or thread.session
    change = record.get("$set")
    items = [record, change] if isinstance(change, dict) else [record]
    for other_record in items:
        rows = other_record.get("messages")
        for row in rows if isinstance(rows, list) else [other_record]:
            if isinstance(row, dict) and "type" in row and isinstance(row.get("id"), str):
                thread.pending[row["id"]] = (line, row)
    return []


def finish(thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of the session, in order."""
    for line, row in thread.pending.values():
        try:
            yield from _message(line, row, thread)
        except ValueError as problem:
            yield SkippedLine(line, str(problem))


def _message(line: int, row: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message]:
    role = _ROLES.get(str(row.get("type")))
    if role is None:
        return  # what the program told the person
    base = Message(line, role, "", time_of(row.get("timestamp")), None, thread.session, word(row.get("id")))
    content = row.get("content")
    if role == "user":
        content = _INJECTED.sub("", text_of(_parts(content))).strip()
    yield from said(base, _parts(content), thread)
    calls = row.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield called(base, call.get("name"), call.get("args"), call.get("id"), thread)
            failed = call.get("status") == "error"
            yield from answered(base, _result(call), call.get("id"), thread, call.get("name"), failed)


def _parts(content: Any) -> Any:
    """The content with a type for each part, which these files leave out."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "text", **record} if isinstance(record, dict) and "text" in record else record for record in content
    ]


def _result(call: Mapping[str, Any]) -> Any:
    """What a tool answered: shown to the person, or as the parts that the model got."""
    rows = call.get("result")
    for row in rows if isinstance(rows, list) else ():
        answer = row.get("functionResponse", {}).get("response", {}) if isinstance(row, dict) else {}
        if isinstance(answer, dict) and isinstance(answer.get("output"), str):
            return answer["output"]
    return call.get("resultDisplay")
