"""Read sessions of Codex (`rollout-*.jsonl`): lines of `{timestamp, type, payload}`; response items are what is said.

A message says of each of its parts where it came from; only what a person typed is the user's. Older files do not say,
and there the elements around a text tell (`clawmem.model.safety.recalled_text`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawmem.model.safety.recalled_text import is_recalled
from clawmem.model.transcripts.message import Message, SkippedLine, first, role_of, time_of, word
from clawmem.model.transcripts.parts import Read, TranscriptState, answered, called, said, text_of

_LINES = frozenset("session_meta response_item event_msg turn_context world_state compacted token_usage_record".split())
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action", "tool_call": "input"}
_RESULTS = frozenset("function_call_output custom_tool_call_output tool_call_output".split())


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of such a session."""
    return record.get("type") in _LINES and isinstance(record.get("payload"), dict) and "timestamp" in record


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line; the header sets session and project of the following lines."""
    payload = record.get("payload")
    if not isinstance(payload, dict):
        return [SkippedLine(line, "it has no payload")]
    if record.get("type") == "session_meta":
        thread.session = word(first(payload, "id", "session_id"))
        thread.about = _project(payload)
        return []
    if record.get("type") != "response_item":
        return []  # the program's own records, some of which say what a response item says
    try:
        base = Message(
            line, "assistant", "", time_of(record.get("timestamp")), None, thread.session, metadata=thread.about or None
        )
        return _item(base, payload, thread)
    except ValueError as problem:
        return [SkippedLine(line, str(problem))]


def _item(base: Message, item: Mapping[str, Any], thread: TranscriptState) -> Read:
    kind = item.get("type")
    if kind in _CALLS:
        name = item.get("name") or ("shell" if kind == "local_shell_call" else None)
        space = item.get("namespace")
        name = f"{space}__{name}" if isinstance(space, str) and space else name
        return [called(base, name, item.get(_CALLS[kind]), item.get("call_id"), thread)]
    if kind in _RESULTS:
        output = item.get("output")
        if isinstance(output, dict):
            output = output.get("content")
        return answered(base, output, item.get("call_id"), thread)
    if kind != "message":
        return []  # reasoning
    role = role_of(item.get("role"))
    content = item.get("content")
    if role == "system" or (role == "user" and not _typed(item, content)):
        return []
    return said(base._replace(role=role, external_id=word(item.get("id"))), content, thread)


def _typed(item: Mapping[str, Any], content: Any) -> bool:
    """Whether a person typed a message of the user, and no program added it."""
    about = item.get("internal_chat_message_metadata_passthrough")
    kinds = about.get("content_item_kinds") if isinstance(about, dict) else None
    if isinstance(kinds, list) and kinds:
        return any(str(kind).startswith("user.") for kind in kinds)
    return not is_recalled(text_of(content))


def _project(header: Mapping[str, Any]) -> dict[str, str]:
    git = header.get("git")
    git = git if isinstance(git, dict) else {}
    found = {"cwd": header.get("cwd"), "branch": git.get("branch"), "project": git.get("repository_url")}
    return {key: value for key, value in found.items() if isinstance(value, str) and value}
