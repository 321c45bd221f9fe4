"""Read the content of a message: text, tool calls, tool results, and parts that are not stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from clawmem.model.safety.recalled_text import PARTS, reads_memory
from clawmem.model.transcripts.message import Message, SkippedLine, first, word

TOOL_TEXT_LIMIT = 4000
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_CALLS = frozenset({"tool_use", "toolCall", "tool_call", "server_tool_use", "mcp_tool_use", "function_call"})
_RESULTS = frozenset({"tool_result", "toolResult", "mcp_tool_result", "web_search_tool_result", "function_call_output"})


class PendingToolCall(NamedTuple):
    """A tool call that waits for its result: the tool, and whether it reads the memory."""

    tool: str
    reads_memory: bool


class TranscriptState:
    """The state of reading a file: its session and project, the tool calls without results, by id, and records that may
    change until the end of the file, by id, each with its line."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.about: dict[str, str] = {}
        self.pending: dict[str, tuple[int, Mapping[str, Any]]] = {}
        self.calls: dict[str, PendingToolCall] = {}


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
    return base._replace(trust="external") if doubted else base


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
