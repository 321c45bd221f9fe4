"""Find text in a conversation that nobody wrote: what came from this memory, and what the client program added.

Served text is marked, recognized when it comes back, and never learned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from clawmem.model.records.event import Event, is_silent

OPENING = "<clawmem-context>"
CLOSING = "</clawmem-context>"
_OWN = "clawmem-context"
_TASK = "clawmem-task"
OPENING_OF_TASK = f"<{_TASK} "
_PARTS_OF_TASK = rf"{_OWN}|{_TASK}|events|known|places|before|told|doubtful|text|facts|statements"
# A message with a task or the answer to one is all about it: what else it says is said to or by a reader of tasks.
_OF_TASK = rf"<{_TASK} id=\"[a-z]+-[0-9a-f]{{8}}\">|\{{\s*\"task\":\s*\"[a-z]+-[0-9a-f]{{8}}\""
# Elements that client programs wrap around what they add to a message; the name may have attributes.
_ELEMENTS = (
    "system-reminder command-name command-message command-args command-contents local-command-stdout "
    "local-command-stderr local-command-caveat bash-input bash-stdout bash-stderr user-prompt-submit-hook "
    "session-start-hook task-notification teammate-message ide_opened_file ide_selection ide_diagnostics "
    "INSTRUCTIONS user_instructions environment_context hook_context session_context relevant-memories"
).split()
# Files that agents load at the start of every session.
_BOOT = r"(?:AGENTS|CLAUDE|GEMINI|MEMORY|SOUL|USER|TOOLS|IDENTITY|HEARTBEAT|BOOTSTRAP|TACIT|CONTEXT)(?:\.\w+)?\.md\b"


def wrap_context(text: str) -> str:
    """Return served text between the marks that identify it later, which no text in it can end."""
    text = re.sub(rf"<(?=\s*/?\s*{_OWN})", "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", text, flags=re.IGNORECASE)
    return f"{OPENING}\n{text}\n{CLOSING}"


def wrap_task(key: str, text: str) -> str:
    """Return the text of a task for a model between the marks that identify it, in its own words, at ingest."""
    return f'<{_TASK} id="{key}">\n{text}\n</{_TASK}>\n'


def without_closing_marks(text: str) -> str:
    """Return a text that opens and closes no element of a task or of served context."""
    return re.sub(rf"<(?=/?(?:{_PARTS_OF_TASK})\b)", r"<\\", text) if "<" in text else text


PARTS = "parts"


def parts_of(metadata: Mapping[str, Any] | None) -> Sequence[int]:
    """Return the lengths of the parts that a source gave a text in, or nothing if there is only one.

    The boundaries come from the source and cannot be forged by text, so an element ends with the part it began in.
    """
    items = (metadata or {}).get(PARTS)
    whole = isinstance(items, list) and all(isinstance(number, int) and number >= 0 for number in items)
    return items if isinstance(items, list) and whole else ()


def is_recalled(text: str, parts: Sequence[int] = ()) -> bool:
    """Return whether a text consists only of text that a memory or a program added."""
    spans = _all_spans(text, parts)
    return bool(spans) and not _blanked(text, spans).strip()


def mask_recalled(text: str, parts: Sequence[int] = ()) -> str:
    """Return the text with the added text replaced by blanks, so that positions stay the same."""
    return _blanked(text, _all_spans(text, parts))


def has_words(event: Event) -> bool:
    """Return whether the event has text that somebody said."""
    if event.recalled or is_silent(event):
        return False
    return bool(mask_recalled(event.text, parts_of(event.metadata)).strip())


def missing_closing_mark(text: str) -> str | None:
    """Return the closing mark that is missing, or None if every element is closed."""
    return _elements(text)[1] if "<" in text else None


def reads_memory(call: str) -> bool:
    """Return whether a tool call reads the memory, so that its result is not new information."""
    return _asking().search(call) is not None


@cache
def _openings() -> re.Pattern[str]:
    # Compiled on first use: serving only needs the marks of this module.
    return re.compile(rf"<({'|'.join([_OWN, *_ELEMENTS])})(?:\s[^<>]*)?>")


@cache
def _closings() -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*</({'|'.join([_OWN, *_ELEMENTS])})>", re.MULTILINE)


@cache
def _to_the_end() -> re.Pattern[str]:
    """Match lines after which the rest of the message comes from a program."""
    return re.compile(
        rf"^[ \t]*(?:Contents of [^\n]{{0,300}}?{_BOOT}|#{{1,6}}[ \t]+(?:\S*/)?{_BOOT}"
        r"|(?:Stop|SubagentStop|SubagentStart|PreToolUse|PostToolUse|PostToolUseFailure|UserPromptSubmit|SessionStart|"
        r"SessionEnd|PreCompact|Notification|PermissionRequest)(?::\S{1,80})? (?:hook|operation)\b"
        r"|This session is being continued from a previous conversation"
        r"|The conversation history before this point was compacted into"
        r"|Pre-compaction memory flush|Read HEARTBEAT\.md if it exists"
        r"|A new session was started via /new or /reset"
        r"|Your task is to create a detailed summary of the conversation)",
        re.MULTILINE,
    )


@cache
def _lines() -> re.Pattern[str]:
    """Match single lines that a program writes."""
    return re.compile(
        r"^[ \t]*(?:Caveat: The messages below were generated by the user while running local commands[^\n]*"
        r"|\[Request interrupted by user[^\n\]]*\]|(?:HEARTBEAT_OK|NO_REPLY)[ \t]*$)",
        re.MULTILINE,
    )


@cache
def _asking() -> re.Pattern[str]:
    return re.compile(
        rf"(?:^|[/\"'\s\\]){_BOOT}"
        r"|\bclawmem\s+(?:recall|search|context|show|list|why|log|diff|learn)\b|\"memory_(?:search|get|recall)\"|\"mcp_{1,2}clawmem"
    )


def _all_spans(text: str, parts: Sequence[int]) -> list[tuple[int, int]]:
    if sum(parts) + len(parts) - 1 != len(text):
        return _spans(text)
    found, start = [], 0
    for length in parts:
        found += [(start + number, start + other) for number, other in _spans(text[start : start + length])]
        start += length + 1
    return found


def _spans(text: str) -> list[tuple[int, int]]:
    if "task" in text and re.search(_OF_TASK, text):
        return [(0, len(text))]
    spans = _elements(text)[0] if "<" in text else []
    rest = _to_the_end().search(text)
    if rest:
        spans.append((rest.start(), len(text)))
    spans += (found.span() for found in _lines().finditer(text))
    return sorted(spans)


def _elements(text: str) -> tuple[list[tuple[int, int]], str | None]:
    """Return where elements are, and the closing mark that is missing at the end.

    An element extends to its last closing mark, because its content may contain that mark. An unclosed element extends
    to the end if it begins a line or is our own. A closing mark without an opening one closes an element that began
    before the text.
    """
    spans, at, unclosed = _never_opened(text), 0, set()
    while found := _openings().search(text, at):
        name, at = found[1], found.end()
        end = -1 if name in unclosed else text.rfind(f"</{name}>", at)
        if end >= 0:
            at = end + len(name) + 3
            spans.append((found.start(), at))
        elif name == _OWN or _begins_line(text, found.start()):
            return [*spans, (found.start(), len(text))], f"</{name}>"
        else:
            unclosed.add(name)
    return spans, None


def _never_opened(text: str) -> list[tuple[int, int]]:
    closing = _closings().search(text)
    if closing is None or any(match[1] == closing[1] for match in _openings().finditer(text, 0, closing.start())):
        return []
    return [(0, closing.end())]


def _begins_line(text: str, start: int) -> bool:
    while start and text[start - 1] in " \t":
        start -= 1
    return start == 0 or text[start - 1] == "\n"


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        if end > at:
            blank = re.sub(r"[^\n]", " ", text[max(start, at) : end])
            parts += [text[at : max(start, at)], blank]
            at = end
    return "".join([*parts, text[at:]])
