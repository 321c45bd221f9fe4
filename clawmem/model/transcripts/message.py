"""The output of transcript readers (messages and skipped lines), and the reading of times, roles, words and contents.

Find out who wrote a record of a chat, by its role and keys alone: a person, a tool, a program, or unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.records.event import EVENT_ROLES
from clawmem.model.safety.recalled_text import PARTS, reads_memory

_ROLE_NAMES = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "toolresult": "tool",
    "tool_result": "tool",
    # Nobody speaks in an event of an app, so it is never a user's word.
    "app": "system",
    "event": "system",
    "app_event": "system",
}
_HALVES = re.compile("[\ud800-\udfff]")
_EPOCH = re.compile(r"\d{9,19}(?:\.\d+)?")
# Numbers this large count milliseconds, microseconds or nanoseconds.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
_EARLIEST_YEAR = 1000


class Message(NamedTuple):
    """One message of a transcript. `timestamp` is ISO 8601 UTC, or None if the transcript has no time.

    `kind` is message, tool_call, tool_result, attachment, note or app. `recalled` means that a program added the text
    and nobody said it. `trust` limits the trust of its statements, if it may not be from its role; `in_channel` says
    that it does so only because many write in its channel. `source` is the origin that the line itself names.
    """

    line: int
    role: str
    text: str
    timestamp: str | None = None
    speaker: str | None = None
    session: str | None = None
    external_id: str | None = None
    kind: str = "message"
    recalled: bool = False
    metadata: Mapping[str, Any] | None = None
    trust: str | None = None
    source: str | None = None
    in_channel: bool = False


class SkippedLine(NamedTuple):
    """A line that is not a message, and the reason."""

    line: int
    reason: str


def first(record: Mapping[str, Any], *keys: str) -> Any:
    """Return the value of the first of these keys that has one."""
    return next((record[key] for key in keys if record.get(key) is not None), None)


def object_in(value: Any) -> Mapping[str, Any]:
    """Return a value that is an object, and an empty one in place of any other."""
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> Sequence[Any]:
    """Return a value that is a list, and an empty one in place of any other."""
    return value if isinstance(value, list) else ()


def texts_in(**values: Any) -> dict[str, str]:
    """Return those of the values that are texts and not empty."""
    return {key: value for key, value in values.items() if isinstance(value, str) and value}


def word(value: Any) -> str | None:
    """Return a name or an id as text, or None if it is empty or not a plain value."""
    if value is None or isinstance(value, dict | list):
        return None
    return str(value) if str(value).strip() else None


def role_of(value: Any) -> str:
    """Return the role as the ledger names it. Raise ValueError if it is unknown."""
    named = str(value).lower()
    role = _ROLE_NAMES.get(named, named)
    if role not in EVENT_ROLES:
        raise ValueError(f"its role '{named}' is not one of {', '.join(EVENT_ROLES)}")
    return role


def time_of(value: Any) -> str | None:
    """Return a time as ISO 8601 UTC, from ISO 8601 or seconds or milliseconds since 1970; ValueError if invalid."""
    if value is None:
        return None
    try:
        return _moment(value)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"its timestamp '{value}' is not a time") from None


def sound(text: str) -> str:
    """Return the text with lone surrogates, which no file can contain, replaced by U+FFFD."""
    return text if text.isascii() or not _HALVES.search(text) else _HALVES.sub("\ufffd", text)


def _moment(value: Any) -> str:
    from datetime import UTC, datetime

    if isinstance(value, str) and _EPOCH.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = next((value / divisor for limit, divisor in _UNITS if value > limit), value)
        moment = datetime.fromtimestamp(seconds, UTC)
    else:
        moment = moment_of(str(value))
    if moment.year < _EARLIEST_YEAR:
        raise ValueError("it is too long ago for a transcript")
    return stamp(moment)


_APPS = frozenset("app event app_event analytics telemetry metric".split())
_RESULT_KEYS = frozenset(
    "tool_call_id toolCallId tool_use_id toolUseId toolUseResult tool_result toolResult function_result "
    "sourceToolUseID sourceToolAssistantUUID".split()
)
_HOOK_KEYS = frozenset("hook hookName hook_name hookEvent hookEventName hook_event_name hookInfos hookOutput".split())
# Words in a kind or type that mean that a program wrote the text; `message`, `text` and `user` do not.
_OF_PROGRAMS = frozenset(
    "tool function result results observation output stdout stderr hook file attachment document resource retrieval "
    "search web page email mail webhook notification system reminder context memory".split()
)
_GROUP_KEYS = frozenset("group groupId group_id guild guildId is_group isGroup is_group_chat isGroupChat".split())
_GROUPS = frozenset("group supergroup channel guild room public".split())
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Origin(NamedTuple):
    """The role and kind of a record's event, whether nobody said it, and whether its role may be wrong."""

    role: str
    kind: str = "message"
    recalled: bool = False
    doubtful: bool = False


def origin_of(record: Mapping[str, Any]) -> Origin:
    """Return the origin of a record. Raise ValueError if its role is unknown."""
    if is_app(record):
        return Origin("system", "app")
    role = role_of(record.get("role") or "user")
    if role != "user":
        return Origin(role)
    if not _HOOK_KEYS.isdisjoint(record):
        return Origin(role, recalled=True)
    if not _RESULT_KEYS.isdisjoint(record):
        return Origin("tool")
    kinds = _words(record.get("kind")) | _words(record.get("type"))
    if {"tool", "function", "hook", "observation", "stdout", "stderr"} & kinds:
        return Origin("tool")
    return Origin(role, doubtful=bool(kinds & _OF_PROGRAMS) or is_of_group(record))


def is_app(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an app event, in which nobody speaks."""
    named = (record.get("role"), record.get("type"), record.get("kind"))
    return any(isinstance(text, str) and text.lower() in _APPS for text in named)


def is_of_group(record: Mapping[str, Any]) -> bool:
    """Return whether a record comes from a group or a channel, in which many people write."""
    if any(record.get(key) not in (None, False, "", 0) for key in _GROUP_KEYS):
        return True
    return any(
        isinstance(record.get(key), str) and not _GROUPS.isdisjoint(_words(record[key]))
        for key in ("chatType", "chat_type", "channelType", "channel_type", "conversation_type", "kind", "type")
    ) or isinstance(record.get("channel"), str | dict)


def _words(value: Any) -> set[str]:
    return {other.lower() for other in _WORDS.findall(value)} if isinstance(value, str) else set()


TOOL_TEXT_LIMIT = 4000
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_CALLS = frozenset({"tool_use", "toolCall", "tool_call", "server_tool_use", "mcp_tool_use", "function_call"})
_RESULTS = frozenset({"tool_result", "toolResult", "mcp_tool_result", "web_search_tool_result", "function_call_output"})


class PendingToolCall(NamedTuple):
    """A tool call that waits for its result: the tool, and whether it reads the memory."""

    tool: str
    reads_memory: bool


class TranscriptState:
    """The state of reading a file: its session and project, the tool calls without results, by id, records that may
    change until the end of the file, by id, each with its line, and whether a hook of clawmem asked the agent."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.about: dict[str, str] = {}
        self.pending: dict[str, tuple[int, Mapping[str, Any]]] = {}
        self.calls: dict[str, PendingToolCall] = {}
        self.hook_asked = False


Read = Iterable[Message | SkippedLine]
# Keys and types of parts that come with a file or from a page.
_FILE_KEYS = frozenset(
    "file file_id file_data file_name filename fileName document attachment source uri url path mime_type mimeType "
    "media_type".split()
)
_FILES = frozenset("file input_file document attachment resource embedded_resource search_result".split())


def said(base: Message, content: Any, thread: TranscriptState) -> Iterator[Message]:
    """Yield the events of a message's content, in order; `base` has everything except text and kind.

    Thinking, images and other parts without text are not stored.
    """
    texts: list[str] = []
    items = [content] if isinstance(content, str | dict) else content if isinstance(content, list) else []
    base = _unsure(base, items)
    for part in items:
        text = _text(part)
        if text is not None and base.role != "assistant" and _is_file(part):
            yield from _joined(base, texts)
            texts = []
            yield from _attached(base, part, text)
        elif text is not None:
            texts.append(text)
        elif isinstance(part, dict) and part.get("type") in _CALLS | _RESULTS:
            yield from _joined(base, texts)
            texts = []
            yield from _tool(base, part, thread)
    yield from _joined(base, texts)


def called(base: Message, name: Any, arguments: Any, call_id: Any, thread: TranscriptState) -> Message:
    """Yield a tool call as the JSON of its name and arguments."""
    tool = word(name) or "unknown"
    text = f'{{"name": {json.dumps(tool, ensure_ascii=False)}, "arguments": {_arguments(arguments)}}}'
    identity = word(call_id)
    if identity:
        thread.calls[identity] = PendingToolCall(tool, reads_memory(text))
    return _cut(base._replace(role="assistant", kind="tool_call", text=text, external_id=identity or base.external_id))


def answered(
    base: Message, content: Any, call_id: Any, thread: TranscriptState, tool: Any = None, failed: bool = False
) -> Iterator[Message]:
    """Yield a tool's result, verbatim up to 4,000 characters, if it has text."""
    identity = word(call_id)
    call = thread.calls.pop(identity, None) if identity else None
    about: dict[str, Any] = {"tool": word(tool) or (call.tool if call else None), "error": failed or None}
    noted = {**(base.metadata or {}), **{key: value for key, value in about.items() if value is not None}}
    result = base._replace(
        role="tool",
        kind="tool_result",
        text=text_of(content),
        external_id=identity or base.external_id,
        recalled=base.recalled or (call is not None and call.reads_memory),
        metadata=noted or None,
    )
    if result.text.strip():
        yield _cut(result)


def text_of(content: Any) -> str:
    """Return the text of some content, with a line break between parts, or an empty text."""
    parts = content if isinstance(content, list) else [content]
    return "\n".join(text for text in map(_text, parts) if text is not None)


def _text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("type", "text") not in _TEXTS:
        return None
    value = part.get("refusal") if part.get("type") == "refusal" else part.get("text")
    return value if isinstance(value, str) else None


def _joined(base: Message, texts: list[str]) -> Iterator[Message]:
    text = "\n".join(texts)
    if not text.strip():
        return
    # A program closes its elements within a part, and text cannot forge a boundary between parts.
    borders = {PARTS: [len(other_text) for other_text in texts]} if len(texts) > 1 and "<" in text else {}
    yield base._replace(text=text, metadata={**(base.metadata or {}), **borders} or None)


def _is_file(part: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(part, dict) and (part.get("type") in _FILES or not _FILE_KEYS.isdisjoint(part))


def _attached(base: Message, part: Mapping[str, Any], text: str) -> Iterator[Message]:
    """Yield the text of an attached file, which is not what the sender says."""
    file = part.get("file")
    inner = file if isinstance(file, dict) else part
    name = word(first(inner, "filename", "file_name", "fileName", "name", "title", "path", "url", "uri", "file_id"))
    noted = {**(base.metadata or {}), **({"file": name} if name else {})}
    if text.strip():
        yield _cut(base._replace(role="tool", kind="attachment", text=text, speaker=None, metadata=noted or None))


def _unsure(base: Message, items: Sequence[Any]) -> Message:
    """Lower the trust of a message with a file and several texts, because programs add a file's text to the message."""
    texts = [part for part in items if _text(part) is not None and not _is_file(part)]
    doubted = base.role == "user" and len(texts) > 1 and any(_is_file(part) and _text(part) is None for part in items)
    return base._replace(trust="external", in_channel=False) if doubted else base


def _tool(base: Message, part: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message]:
    if part["type"] in _CALLS:
        arguments = part.get("input", part.get("arguments"))
        yield called(base, part.get("name"), arguments, part.get("id") or part.get("call_id"), thread)
        return
    identity = part.get("tool_use_id") or part.get("toolCallId") or part.get("call_id")
    content = part.get("content", part.get("output"))
    failed = bool(part.get("is_error") or part.get("isError"))
    yield from answered(base, content, identity, thread, part.get("name"), failed)


def _arguments(value: Any) -> str:
    """Return arguments as JSON; arguments that are JSON text stay as written."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return json.dumps(value, ensure_ascii=False)
        return value
    return json.dumps(value, ensure_ascii=False)


def _cut(message: Message) -> Message:
    length = len(message.text)
    if length <= TOOL_TEXT_LIMIT:
        return message
    noted = {**(message.metadata or {}), "cut": True, "length": length}
    return message._replace(text=message.text[:TOOL_TEXT_LIMIT], metadata=noted)
