"""The transcript formats: detect the format of a file, and read its messages one by one.

Read JSON from a file piece by piece: one object per line, or documents and arrays of any size.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.records.event import TITLE
from clawmem.model.records.strict_json import (
    MESSAGE_CHARACTERS,
    NUMBERS,
    RECORD_BYTES,
    beyond_limit,
    json_problem,
    read_json,
    refuse_deep,
)
from clawmem.model.transcripts import (
    agents,
    exports,
)
from clawmem.model.transcripts.message import Message, Read, SkippedLine, TranscriptState, first, sound, word
from clawmem.model.transcripts.notes import (
    NumberedLine,
    looks_like_dialogue,
    looks_like_markdown,
    read_dialogue,
    read_markdown,
    read_plain,
)

_SPACE = " \t\r\n"
# A decoder that ran out of text reports an error this close to the end.
_MARGIN = 16


class JsonRecord(NamedTuple):
    """A JSON object and the 1-based line on which it starts."""

    line: int
    value: dict[str, Any]


def by_line(lines: Iterable[bytes]) -> Iterator[JsonRecord | SkippedLine]:
    """Yield the objects of JSON Lines, and a skipped line for each invalid one."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield parsed(number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)


def parsed(number: int, line: bytes) -> JsonRecord | SkippedLine:
    """Read one line of JSON Lines."""
    if len(line) > RECORD_BYTES:
        return SkippedLine(number, f"it is longer than {RECORD_BYTES:,} bytes")
    try:
        return _record(number, read_json(line.decode(), RECORD_BYTES, halves=True))
    except UnicodeDecodeError:
        return SkippedLine(number, "it is not UTF-8 text")
    except ValueError as problem:
        return SkippedLine(number, f"it is not JSON: {json_problem(problem)}")


def documents(blocks: Iterable[bytes]) -> Iterator[JsonRecord | SkippedLine]:
    """The objects in a row of JSON documents, or in one array of them; no more than one of them is held at a time.

    What stands after JSON that is broken cannot be read any more.
    """
    supply = _TextBuffer(blocks)
    try:
        while supply.to_next():
            yield _record(supply.line, supply.take())
    except UnicodeDecodeError:
        yield SkippedLine(supply.line, "from here on it is not UTF-8 text")
    except (ValueError, RecursionError) as problem:
        yield SkippedLine(supply.line, f"from here on it is not JSON ({problem})")


def _record(number: int, value: Any) -> JsonRecord | SkippedLine:
    return JsonRecord(number, value) if isinstance(value, dict) else SkippedLine(number, "it is not a JSON object")


class _TextBuffer:
    """Text that arrives in blocks; only the part that is not read yet is kept in memory."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder(**NUMBERS)
        self._text = ""
        self.line = 1

    def to_next(self) -> bool:
        """Move to the start of the next value; return False at the end."""
        while True:
            rest = self._text.lstrip(_SPACE + "[],")
            self._consume(len(self._text) - len(rest))
            if rest or not self._more(1):
                return bool(rest)

    def take(self) -> Any:
        """Return the value at the current position."""
        while True:
            try:
                value, end = self._json.raw_decode(self._text)
            except json.JSONDecodeError as problem:
                if len(self._text) > RECORD_BYTES:
                    raise ValueError(f"one record is longer than {RECORD_BYTES:,} characters") from None
                early = problem.msg.startswith("Unterminated string") or problem.pos >= len(self._text) - _MARGIN
                if not early or not self._more(len(self._text)):
                    raise
                continue
            refuse_deep(value)
            self._consume(end)
            return value

    def _more(self, wanted: int) -> bool:
        parts, size = [self._text], 0
        for block in self._blocks:
            parts.append(self._utf8.decode(block))
            size += len(parts[-1])
            if size >= wanted:
                break
        else:
            parts.append(self._utf8.decode(b"", final=True))
            size += len(parts[-1])
        self._text = "".join(parts)
        return size > 0

    def _consume(self, end: int) -> None:
        self.line += self._text.count("\n", 0, end)
        self._text = self._text[end:]


AUTO = "auto"
HEAD_BYTES = 262_144
_LOOKED_AT = 100


class TranscriptFormat(NamedTuple):
    """A format of JSON records: how to recognize a record, how to read its events (it raises ValueError, which says why
    a record is none), and those that only the end of the file decides."""

    about: str
    fits: Callable[[Mapping[str, Any]], bool]
    read: Callable[[int, Mapping[str, Any], TranscriptState], Read]
    finish: Callable[[TranscriptState], Read] | None = None


# Formats are tried in this order; the first one that fits is used.
RECORDS = {
    "claude-code": TranscriptFormat("a session of Claude Code", agents.fits_claude, agents.read_claude),
    "codex": TranscriptFormat("a session of Codex", agents.fits_codex, agents.read_codex),
    "gemini": TranscriptFormat("a session of Gemini CLI", agents.fits_gemini, agents.read_gemini, agents.finish_gemini),
    "opencode": TranscriptFormat("a session from `opencode export`", agents.fits_opencode, agents.read_opencode),
    "openclaw": TranscriptFormat("a session of OpenClaw", agents.fits_openclaw, agents.read_openclaw),
    "openclaw-trajectory": TranscriptFormat(
        "a session from `openclaw sessions export-trajectory`", agents.fits_trajectory, agents.read_trajectory
    ),
    "cursor": TranscriptFormat("a transcript of Cursor's agent", agents.fits_cursor, agents.read_cursor),
    "chatgpt": TranscriptFormat(
        "`conversations.json` of a ChatGPT export: of each conversation the branch shown last",
        exports.fits,
        exports.read,
    ),
    "claude": TranscriptFormat(
        "`conversations.json` of a Claude export, without attached files", exports.fits_claude, exports.read_claude
    ),
    "openai": TranscriptFormat(
        '`{"messages": [...]}`: one document, an array of them, or one a line', exports.fits_chat, exports.read_chat
    ),
    "jsonl": TranscriptFormat(
        'one message a line: `{"role": ..., "content": ...}`', exports.fits_message, exports.read_message
    ),
}
TEXTS = {
    "markdown": "notes: each paragraph, and each bullet with what is indented below it",
    "dialogue": "a chat as text: each message begins with `user:` or `assistant:`, after a time or none",
    "text": "plain text: each paragraph",
    "csv": "a table: each row, with the headings of its columns",
    "entries": "a calendar (.ics) or an address book (.vcf): each entry, each card",
}
DOCUMENT = "document"
FORMATS = {
    AUTO: "whichever of these the content has",
    **{name: record.about for name, record in RECORDS.items()},
    **TEXTS,
    DOCUMENT: "PDF, DOCX, PPTX, HTML, EPUB or mail (.eml, .mbox), with the extra `documents`",
}
_JSON = re.compile(r'\s*(?:\[\s*[\[{\]]|\{\s*["}])')
# If the first record is too long to be parsed, the earliest of these keys decides.
_KEY = re.compile(r'(?<!\\)"(mapping|chat_messages|messages|sessionId|parentId|role)"\s*:')
_WHOLE = ("mapping", "chat_messages", "messages")
_TELLS = {
    "mapping": "chatgpt",
    "chat_messages": "claude",
    "messages": "openai",
    "sessionId": "claude-code",
    "parentId": "openclaw",
    "role": "jsonl",
}


class FileFormat(NamedTuple):
    """A file's format, and whether it has one record per line (unlike whole JSON documents)."""

    format: str
    by_line: bool = True


def check_format(name: str) -> str:
    """Return the name of a format. Raise InvalidInput, with the list of formats, if it is unknown."""
    if name not in FORMATS:
        raise InvalidInput(f"'{name}' is not a format.", f"Choose one of {', '.join(FORMATS)}.")
    return name


def shape_of(head: bytes, name: str, wanted: str = AUTO, role: str = "note") -> FileFormat:
    """Detect a file's format from its first 256 kB and its name; `wanted` is a format chosen by a person.

    Raise InvalidInput if no format is recognized.
    """
    text = head.decode("utf-8-sig", errors="ignore")
    if wanted in TEXTS:
        return FileFormat(wanted)
    if wanted in RECORDS:
        return FileFormat(wanted, _is_json_lines(head))
    if wanted == DOCUMENT:
        raise InvalidInput(f"{name} is text, and none of these documents.", "Leave out --format, or name another.")
    if _is_json_lines(head):
        return FileFormat(_format_of(head, True, name))
    if _JSON.match(text):
        return FileFormat(_format_of(head, False, name), False)
    if name.lower().endswith((".csv", ".tsv")) or exports.ENTRIES.match(text):
        return FileFormat("entries" if exports.ENTRIES.match(text) else "csv")
    if b"\0" in head:
        raise InvalidInput(f"{name} is not text.", "Unpack an archive first; convert other encodings to UTF-8.")
    if role == "note" and looks_like_dialogue(text):
        return FileFormat("dialogue")
    marked = name.lower().endswith((".md", ".markdown")) or looks_like_markdown(text)
    # A role for a whole text means that somebody speaks it, so it is not notes.
    return FileFormat("markdown" if marked and role == "note" else "text")


def read(shape: FileFormat, pieces: Iterable[bytes], name: str, role: str = "note") -> Iterator[Message | SkippedLine]:
    """Yield a file's messages and skipped lines, in order.

    `pieces` are its lines, or blocks of any size if it is not read by line. Raise InvalidInput at the end if nothing
    was recognized.
    """
    if shape.format in RECORDS:
        found = _from_records(RECORDS[shape.format], by_line(pieces) if shape.by_line else documents(pieces), name)
    elif shape.format == "dialogue":
        found = read_dialogue(_decoded(pieces, name))
    elif shape.format == "markdown":
        found = read_markdown(_decoded(pieces, name), role, name)
    else:
        reads = {"text": read_plain, "csv": exports.read_table, "entries": exports.read_entries}[shape.format]
        found = reads(_decoded(pieces, name), role)
    return map(_sound, found)


def _from_records(
    chosen: TranscriptFormat, records: Iterable[JsonRecord | SkippedLine], name: str
) -> Iterator[Message | SkippedLine]:  # fmt: skip
    thread = TranscriptState()
    recognised, refused = False, False
    for record in records:
        events = [record] if isinstance(record, SkippedLine) else _events(chosen, record, thread)
        unknown = any(isinstance(event, SkippedLine) for event in events)
        unknown = unknown or (not events and not (isinstance(record, JsonRecord) and chosen.fits(record.value)))
        recognised = recognised or not unknown or len(events) > 1
        refused = refused or unknown
        title = _title_of(record)
        for event in events:
            if title and isinstance(event, Message) and not event.recalled:
                event, title = event._replace(metadata={**(event.metadata or {}), TITLE: title}), None
            yield event
    if chosen.finish is not None:
        yield from chosen.finish(thread)
    if refused and not recognised:
        raise _unrecognised(name)


def _events(chosen: TranscriptFormat, record: JsonRecord, thread: TranscriptState) -> Sequence[Message | SkippedLine]:
    try:
        return list(chosen.read(record.line, record.value, thread))
    except ValueError as problem:
        return [SkippedLine(record.line, str(problem))]


def _title_of(record: JsonRecord | SkippedLine) -> str | None:
    """Return the title of a record that is a whole conversation."""
    if isinstance(record, SkippedLine) or record.value.keys().isdisjoint(_WHOLE):
        return None
    return word(first(record.value, "title", "name"))


def _is_json_lines(head: bytes) -> bool:
    """Return whether a file has one JSON object per line: its first line is one, or any is and the whole is not."""
    text = head.decode("utf-8-sig", errors="ignore")
    lines = [line for line in text.split("\n")[:_LOOKED_AT] if line.strip()]
    if not lines or _is_object(lines[0]):
        return bool(lines)
    try:
        json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return any(line.startswith("{") and _is_object(line) for line in lines)
    return False


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _format_of(head: bytes, lines: bool, name: str) -> str:
    """Return the format of most of the first records."""
    records = by_line(head.splitlines()) if lines else documents([head])
    first = [record.value for record in islice(records, _LOOKED_AT) if isinstance(record, JsonRecord)]
    votes = Counter(found for record in first if (found := _fitting(record)))
    if votes:
        return votes.most_common(1)[0][0]
    key = None if first else _KEY.search(head.decode(errors="ignore"))
    if key is None or len(head) < HEAD_BYTES:
        raise _unrecognised(name)
    return _TELLS[key[1]]


def _fitting(record: Mapping[str, Any]) -> str | None:
    return next((name for name, other_record in RECORDS.items() if other_record.fits(record)), None)


def _unrecognised(name: str) -> InvalidInput:
    return InvalidInput(
        f"Nothing in {name} was recognised as a message.",
        f"Name its format with --format: {', '.join([*RECORDS, *TEXTS])}."
        " `clawmem import FILE` takes memories of other programs.",
    )


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[NumberedLine]:
    for number, line in enumerate(lines, 1):
        if len(line) > RECORD_BYTES:
            raise InvalidInput(
                f"Line {number} of {name} is longer than {RECORD_BYTES:,} bytes.", "Break it into lines."
            )
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(f"{name} is not UTF-8 text (line {number}).", "Convert it to UTF-8 first.") from None
        yield NumberedLine(number, text.rstrip("\r\n"))


def _sound(line: Message | SkippedLine) -> Message | SkippedLine:
    if isinstance(line, SkippedLine):
        return line
    if len(line.text) > MESSAGE_CHARACTERS:
        return SkippedLine(line.line, beyond_limit("it", len(line.text), MESSAGE_CHARACTERS, "characters"))
    about = line.metadata and _without_surrogates(line.metadata)
    names = (line.speaker, line.session, line.external_id, line.source)
    speaker, session, external, source = (value and sound(value) for value in names)
    return line._replace(
        text=sound(line.text), speaker=speaker, session=session, external_id=external, source=source, metadata=about
    )


def _without_surrogates(value: Any) -> Any:
    """Return plain values with invalid characters replaced in every text, at any depth."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, Mapping):
        return {sound(key): _without_surrogates(other) for key, other in value.items()}
    return [_without_surrogates(other) for other in value] if isinstance(value, list | tuple) else value
