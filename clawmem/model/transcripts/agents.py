"""Read the sessions that programs of agents write: opencode, Cursor, Codex, Gemini CLI, Claude Code and OpenClaw.

A program adds texts to what a person typed; those are no words of the user. Where a record says of each part where it
came from, that counts; in older files of Codex the elements around a text tell (`clawmem.model.safety.recalled_text`).
A session of OpenClaw has a header line, then entries, of which those of type `message` are spoken.
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
    is_of_group,
    list_in,
    object_in,
    origin_of,
    role_of,
    said,
    text_of,
    texts_in,
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
    info = object_in(record.get("info"))
    about = texts_in(cwd=info.get("directory"))
    for message in list_in(record.get("messages")):
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
    when = time_of(object_in(info.get("time")).get("created"))
    base = Message(
        line, role_of(info.get("role")), "", when, None, session, word(info.get("id")), metadata=dict(about) or None
    )
    # What the program itself added to a message is marked as synthetic.
    texts = [part for part in map(object_in, parts) if part.get("type") == "text"]
    spoken = [part for part in texts if not part.get("synthetic") and not part.get("ignored")]
    yield from said(base, [{"type": "text", "text": part.get("text")} for part in spoken], thread)
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "tool":
            state = object_in(part.get("state"))
            yield called(base, part.get("tool"), state.get("input"), part.get("callID"), thread)
            failed = state.get("status") == "error"
            output = state.get("error") if failed else state.get("output")
            yield from answered(base, output, part.get("callID"), thread, part.get("tool"), failed)


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
        raise ValueError("it has no message")
    base = Message(line, role_of(record.get("role")), "", time_of(record.get("timestamp")))
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
        raise ValueError("it has no payload")
    if record.get("type") == "session_meta":
        git = object_in(payload.get("git"))
        thread.session = word(first(payload, "id", "session_id"))
        thread.about = texts_in(cwd=payload.get("cwd"), branch=git.get("branch"), project=git.get("repository_url"))
        return []
    if record.get("type") != "response_item":
        return []  # the program's own records, some of which say what a response item says
    when = time_of(record.get("timestamp"))
    base = Message(line, "assistant", "", when, None, thread.session, metadata=thread.about or None)
    return _codex_item(base, payload, thread)


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
    kinds = list_in(object_in(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds"))
    if kinds:
        return any(str(kind).startswith("user.") for kind in kinds)
    return not is_recalled(text_of(content))


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
    for call in list_in(row.get("toolCalls")):
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
    for row in list_in(call.get("result")):
        output = object_in(object_in(object_in(row).get("functionResponse")).get("response")).get("output")
        if isinstance(output, str):
            return output
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
    when = time_of(record.get("timestamp"))
    base = Message(
        line, str(kind), "", when, None, word(first(record, "sessionId", "session_id")), word(record.get("uuid")),
        recalled=_by_program(record), metadata=texts_in(cwd=record.get("cwd"), branch=record.get("gitBranch")) or None,
    )  # fmt: skip
    if kind == "system":
        return said(base, record.get("content"), thread)
    message = record.get("message")
    if not isinstance(message, dict):
        raise ValueError("it has no message")
    content = message.get("content")
    if record.get("isSidechain"):
        # Here the agent speaks to another agent as the user.
        return said(
            base._replace(role="assistant", metadata={**(base.metadata or {}), "sidechain": True}), content, thread
        )
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


def _by_program(record: Mapping[str, Any]) -> bool:
    model = object_in(record.get("message")).get("model")
    another = object_in(record.get("origin")).get("kind") not in (None, "human", "user")
    hook = record.get("type") == "user" and origin_of({**record, "role": "user"}).recalled
    marked = any(record.get(key) for key in ("isMeta", "isCompactSummary", "isSynthetic", "isVisibleInTranscriptOnly"))
    return bool(marked or another or hook or model == "<synthetic>")


_QUIET = frozenset("model_change thinking_level_change custom label session_info".split())
# Summaries of earlier conversation, and text that the program adds from elsewhere.
_RETOLD = frozenset("compaction branch_summary custom_message".split())
_RETOLD_ROLES = frozenset("compactionSummary branchSummary custom".split())


def fits_openclaw(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of such a session."""
    kind = record.get("type")
    if kind == "session":
        return "id" in record
    if kind == "message":
        message = record.get("message")
        return isinstance(message, dict) and "role" in message
    return kind in _QUIET | _RETOLD and "id" in record


def read_openclaw(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line; a header sets the session of the following lines."""
    kind = record.get("type")
    if kind == "session":
        thread.session = word(record.get("id"))
        return []
    if kind in _QUIET:
        return []
    message = record if kind in _RETOLD else record.get("message")
    if kind != "message" and kind not in _RETOLD:
        raise ValueError(f"its type '{kind}' is not known")
    if not isinstance(message, dict):
        raise ValueError("it has no message")
    when = time_of(first(record, "timestamp")) or time_of(message.get("timestamp"))
    base = Message(line, "system", "", when, None, thread.session, word(record.get("id")))
    about = {key: value for key, value in record.items() if key not in ("type", "kind")}
    return read_entry(base, about, message, thread)


# The header that the program adds to messages from a channel; in groups it names the group or the sender.
_ENVELOPE = re.compile(r"\s*\[(?P<head>[^\]\n]{3,300})\][ \t]*(?P<sender>[^:\n]{1,80}:[ \t])?")
_GROUP_HEAD = re.compile(r"\b(?:group|guild|channel|room|thread)\b|@g\.us\b|(?:^|\s)#\w|\bid:-\d", re.IGNORECASE)
_CHANNELS = re.compile(
    r"(?:WhatsApp|Telegram|Discord|Slack|Signal|iMessage|BlueBubbles|MSTeams|Microsoft Teams|Teams|Matrix|Mattermost|"
    r"Google Chat|GoogleChat|IRC|LINE|Zalo|Nostr|Twitch|Feishu|Nextcloud)\b",
    re.IGNORECASE,
)
_GROUP_INFO = re.compile(
    r"\"is_group(?:_chat)?\"\s*:\s*true|\"group_\w+\"\s*:|\[Chat messages since your last reply"
    r"|untrusted (?:context|metadata)[^\n]*\bgroup\b",
    re.IGNORECASE,
)


def in_group(text: str) -> bool:
    """Return whether the program's header says that the message was written in a group or a channel."""
    if _GROUP_INFO.search(text):
        return True
    found = _ENVELOPE.match(text)
    if found is None or not _CHANNELS.match(found["head"]):
        return False
    return _GROUP_HEAD.search(found["head"]) is not None or found["sender"] is not None


def read_entry(
    base: Message, about: Mapping[str, Any], message: Mapping[str, Any], thread: TranscriptState
) -> Iterator[Message]:
    """Return the events of a message with the keys `about` of its entry. Raise ValueError if its role is unknown."""
    role = message.get("role")
    if role is None or role in _RETOLD_ROLES:
        return said(base._replace(recalled=True), first(message, "summary", "content"), thread)
    if role == "bashExecution":
        return answered(base, message.get("output"), None, thread, "bash", bool(message.get("exitCode")))
    base = base._replace(role=role_of(role))
    if base.role != "tool":
        content = message.get("content")
        outside = base.role == "user" and (is_of_group({**about, **message}) or in_group(text_of(content)))
        if base.role == "user":
            base = base._replace(trust="external" if outside else None, recalled=origin_of(message).recalled)
            if origin_of(message).role == "tool":
                return answered(base, content, None, thread)
        return said(base, content, thread)
    call, tool = message.get("toolCallId"), message.get("toolName")
    return answered(base, message.get("content"), call, thread, tool, bool(message.get("isError")))


# Of what \`openclaw sessions export-trajectory\` writes (\`events.jsonl\`), the events of a run, messages and results
# of tools are spoken.

_SCHEMA = "openclaw-trajectory"
_SPOKEN = frozenset("user.message assistant.message tool.result".split())


def fits_trajectory(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an event of such a run."""
    return record.get("traceSchema") == _SCHEMA


def read_trajectory(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line. What somebody else than the owner wrote gets the trust of an outsider."""
    message = object_in(record.get("data")).get("message")
    if record.get("type") not in _SPOKEN or not isinstance(message, dict) or "role" not in message:
        return []  # events of the run, which repeat what the messages say
    when = time_of(message.get("timestamp")) or time_of(record.get("ts"))
    identity = word(first(record, "entryId", "id")) or word(message.get("id"))
    base = Message(line, "system", "", when, None, word(record.get("sessionId")), identity)
    found = read_entry(base, {}, message, thread)
    if object_in(message.get("__openclaw")).get("senderIsOwner") is False:
        return [event._replace(trust="external") for event in found]
    return found
