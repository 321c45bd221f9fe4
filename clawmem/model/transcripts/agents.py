"""Read the sessions that programs of agents write: opencode, Cursor, Codex, Gemini CLI and Claude Code.

A program adds texts to what a person typed; those are no words of the user. Where a record says of each part where it
came from, that counts; in older files of Codex the elements around a text tell (`clawmem.model.safety.recalled_text`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.safety.recalled_text import OPENING, is_recalled
from clawmem.model.transcripts.message import (
    Message,
    Read,
    SkippedLine,
    TranscriptState,
    answered,
    called,
    first,
    origin_of,
    role_of,
    said,
    text_of,
    time_of,
    word,
)


def fits_opencode(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a session that `opencode export` writes: `{info, messages: [{info, parts}]}`."""
    info, messages = record.get("info"), record.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list):
        return False
    return all(isinstance(message, dict) and "info" in message and "parts" in message for message in messages)


def read_opencode(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of the session, in order."""
    info = record.get("info")
    info = info if isinstance(info, dict) else {}
    folder = info.get("directory")
    about = {"cwd": folder} if isinstance(folder, str) and folder else {}
    messages = record.get("messages")
    for message in messages if isinstance(messages, list) else ():
        try:
            yield from _message(line, message, word(info.get("id")), about, thread)
        except (ValueError, AttributeError) as problem:
            yield SkippedLine(line, str(problem))


def _message(
    line: int, record: Mapping[str, Any], session: str | None, about: Mapping[str, str], thread: TranscriptState
) -> Iterator[Message]:
    info, parts = record.get("info"), record.get("parts")
    if not isinstance(info, dict) or not isinstance(parts, list):
        raise ValueError("it is not a message with its parts")
    time = info.get("time")
    when = time_of(time.get("created")) if isinstance(time, dict) else None
    base = Message(
        line, role_of(info.get("role")), "", when, None, session, word(info.get("id")), metadata=dict(about) or None
    )
    # What the program itself added to a message is marked as synthetic.
    texts = [part for part in parts if _is_text(part) and not part.get("synthetic") and not part.get("ignored")]
    yield from said(base, [{"type": "text", "text": part.get("text")} for part in texts], thread)
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "tool":
            state = part.get("state")
            state = state if isinstance(state, dict) else {}
            yield called(base, part.get("tool"), state.get("input"), part.get("callID"), thread)
            failed = state.get("status") == "error"
            output = state.get("error") if failed else state.get("output")
            yield from answered(base, output, part.get("callID"), thread, part.get("tool"), failed)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"


# What the person typed stands in this element, beside what the program adds.
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def fits_cursor(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of Cursor's agent: `{role, message: {content}}`, without ids and times."""
    message = record.get("message")
    return isinstance(record.get("role"), str) and isinstance(message, dict) and "content" in message


def read_cursor(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line."""
    message = record.get("message")
    if not isinstance(message, dict):
        return [SkippedLine(line, "it has no message")]
    try:
        base = Message(line, role_of(record.get("role")), "", time_of(record.get("timestamp")))
    except ValueError as problem:
        return [SkippedLine(line, str(problem))]
    found = said(base, message.get("content"), thread)
    return [
        other_message._replace(text=_typed(other_message.text)) if other_message.role == "user" else other_message
        for other_message in found
    ]


def _typed(text: str) -> str:
    queries = _QUERY.findall(text)
    return "\n".join(queries) if queries else text


_CODEX_LINES = frozenset(
    "session_meta response_item event_msg turn_context world_state compacted token_usage_record".split()
)
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action", "tool_call": "input"}
_RESULTS = frozenset("function_call_output custom_tool_call_output tool_call_output".split())


def fits_codex(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of Codex (`rollout-*.jsonl`): `{timestamp, type, payload}`."""
    return record.get("type") in _CODEX_LINES and isinstance(record.get("payload"), dict) and "timestamp" in record


def read_codex(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line: of response items. The header sets session and project of the next lines."""
    payload = record.get("payload")
    if not isinstance(payload, dict):
        return [SkippedLine(line, "it has no payload")]
    if record.get("type") == "session_meta":
        thread.session = word(first(payload, "id", "session_id"))
        thread.about = _codex_project(payload)
        return []
    if record.get("type") != "response_item":
        return []  # the program's own records, some of which say what a response item says
    try:
        base = Message(
            line, "assistant", "", time_of(record.get("timestamp")), None, thread.session, metadata=thread.about or None
        )
        return _codex_item(base, payload, thread)
    except ValueError as problem:
        return [SkippedLine(line, str(problem))]


def _codex_item(base: Message, item: Mapping[str, Any], thread: TranscriptState) -> Read:
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
    if role == "system" or (role == "user" and not _is_typed(item, content)):
        return []
    return said(base._replace(role=role, external_id=word(item.get("id"))), content, thread)


def _is_typed(item: Mapping[str, Any], content: Any) -> bool:
    """Whether a person typed a message of the user, and no program added it."""
    about = item.get("internal_chat_message_metadata_passthrough")
    kinds = about.get("content_item_kinds") if isinstance(about, dict) else None
    if isinstance(kinds, list) and kinds:
        return any(str(kind).startswith("user.") for kind in kinds)
    return not is_recalled(text_of(content))


def _codex_project(header: Mapping[str, Any]) -> dict[str, str]:
    git = header.get("git")
    git = git if isinstance(git, dict) else {}
    found = {"cwd": header.get("cwd"), "branch": git.get("branch"), "project": git.get("repository_url")}
    return {key: value for key, value in found.items() if isinstance(value, str) and value}


_GEMINI_ROLES = {"user": "user", "gemini": "assistant"}
_INJECTED = re.compile(r"<(hook_context|session_context)>.*?</\1>\s*", re.DOTALL)


def fits_gemini(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of Gemini CLI (`session-*.jsonl`), or a whole session: a header, changes as
    `$set`, and messages, of which a later one with the same id replaces the earlier one."""
    if "$set" in record or "$rewindTo" in record:
        return True
    if "sessionId" in record and "projectHash" in record:
        return True
    return record.get("type") in _GEMINI_ROLES and "content" in record and "id" in record and "message" not in record


def read_gemini(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
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


def finish_gemini(thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of the session, in order."""
    for line, row in thread.pending.values():
        try:
            yield from _gemini_message(line, row, thread)
        except ValueError as problem:
            yield SkippedLine(line, str(problem))


def _gemini_message(line: int, row: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message]:
    role = _GEMINI_ROLES.get(str(row.get("type")))
    if role is None:
        return  # what the program told the person
    base = Message(line, role, "", time_of(row.get("timestamp")), None, thread.session, word(row.get("id")))
    content = row.get("content")
    if role == "user":
        content = _INJECTED.sub("", text_of(_gemini_parts(content))).strip()
    yield from said(base, _gemini_parts(content), thread)
    calls = row.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield called(base, call.get("name"), call.get("args"), call.get("id"), thread)
            failed = call.get("status") == "error"
            yield from answered(base, _gemini_result(call), call.get("id"), thread, call.get("name"), failed)


def _gemini_parts(content: Any) -> Any:
    """The content with a type for each part, which these files leave out."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "text", **record} if isinstance(record, dict) and "text" in record else record for record in content
    ]


def _gemini_result(call: Mapping[str, Any]) -> Any:
    """What a tool answered: shown to the person, or as the parts that the model got."""
    rows = call.get("result")
    for row in rows if isinstance(rows, list) else ():
        answer = row.get("functionResponse", {}).get("response", {}) if isinstance(row, dict) else {}
        if isinstance(answer, dict) and isinstance(answer.get("output"), str):
            return answer["output"]
    return call.get("resultDisplay")


_CLAUDE_SPOKEN = ("user", "assistant")
# Internal records of the program, in which nobody speaks.
_CLAUDE_QUIET = frozenset(
    "summary file-history-snapshot file-history-delta queue-operation progress attachment last-prompt mode "
    "permission-mode custom-title ai-title agent-name agent-color agent-setting tag pr-link worktree-state "
    "cost-state bridge-session relocated started result hook hook_response stream_event "
    "rate_limit_event fork-context-ref "
    "content-replacement attribution-snapshot saved_hook_context atis-latch tools-used "
    "api-request api-request-shape api-request-blob".split()
)
_CLAUDE_MARKS = ("sessionId", "session_id", "uuid", "parentUuid", "leafUuid", "messageId", "isSidechain")


def fits_claude(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of Claude Code: an object with a `message`, or an internal record."""
    known = record.get("type") in (*_CLAUDE_SPOKEN, "system") or record.get("type") in _CLAUDE_QUIET
    return known and any(mark in record for mark in _CLAUDE_MARKS)


_HOOK_FEEDBACK = "Stop hook feedback:"


def read_claude(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line. Text that the program wrote as the user is marked as recalled."""
    kind = record.get("type")
    if kind in _CLAUDE_QUIET:
        return []
    if kind not in (*_CLAUDE_SPOKEN, "system"):
        # Each release writes more records of its own; one that is said has a message and stands in the thread.
        is_said = isinstance(record.get("message"), dict) and "uuid" in record
        return [SkippedLine(line, f"its type '{kind}' is not known")] if is_said else []
    try:
        when = time_of(record.get("timestamp"))
    except ValueError as problem:
        return [SkippedLine(line, str(problem))]
    base = Message(
        line, str(kind), "", when, None, word(first(record, "sessionId", "session_id")), word(record.get("uuid")),
        recalled=_by_program(record), metadata=_project(record),
    )  # fmt: skip
    if kind == "system":
        return said(base, record.get("content"), thread)
    message = record.get("message")
    if not isinstance(message, dict):
        return [SkippedLine(line, "it has no message")]
    content = message.get("content")
    if record.get("isSidechain"):
        return said(_aside(base), content, thread)
    if kind == "user" and (text := text_of(content)):
        thread.hook_asked = text.startswith(_HOOK_FEEDBACK) and OPENING in text
    elif kind == "assistant" and thread.hook_asked:
        base = base._replace(recalled=True)  # "Nothing more to keep." is no answer to the user
    origin = origin_of(record) if kind == "user" else None
    if origin and origin.role == "tool" and text_of(content).strip():
        return answered(base, content, first(record, "sourceToolUseID", "tool_use_id"), thread)
    if origin and origin.doubtful:
        base = base._replace(trust="external")
    return said(base, content, thread)


def _aside(base: Message) -> Message:
    """Return the event for a sidechain, in which the agent speaks to another agent as the user."""
    return base._replace(role="assistant", metadata={**(base.metadata or {}), "sidechain": True})


def _project(record: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the folder and the branch in which a line was written, as far as it says them."""
    found = {"cwd": record.get("cwd"), "branch": record.get("gitBranch")}
    return {key: value for key, value in found.items() if isinstance(value, str) and value} or None


def _by_program(record: Mapping[str, Any]) -> bool:
    message = record.get("message")
    model = message.get("model") if isinstance(message, dict) else None
    origin = record.get("origin")
    another = isinstance(origin, dict) and origin.get("kind") not in (None, "human", "user")
    hook = record.get("type") == "user" and origin_of({**record, "role": "user"}).recalled
    marked = any(record.get(key) for key in ("isMeta", "isCompactSummary", "isSynthetic", "isVisibleInTranscriptOnly"))
    return bool(marked or another or hook or model == "<synthetic>")
