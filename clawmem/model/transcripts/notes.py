"""Read text verbatim: a chat by its speakers, plain text by paragraphs, Markdown by paragraphs and bullets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from clawmem.model.language.text import LIST_MARK
from clawmem.model.safety.recalled_text import missing_closing_mark
from clawmem.model.transcripts.message import Message, SkippedLine, role_of, time_of

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_BULLET = re.compile(rf"([ \t]*)(?={LIST_MARK})(\d*)\S[ \t]+\S")
_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(`{3,}|~{3,})")
_DAY = re.compile(r"(?<!\d)(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)")
_DATED = re.compile(r"(?:date|day|created|created_at|timestamp)[ \t]*:[ \t]*[\"']?(.*)", re.IGNORECASE)
_CLOCK = re.compile(r"[ \t]*(?:[-*+][ \t]+)?((?:[01]?\d|2[0-3]):[0-5]\d)\b")
_MARKDOWN = re.compile(r"^(?:#{1,6} \S| {0,3}[-*+] \S)", re.MULTILINE)
_SPOKEN = re.compile(
    r"(?:\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?Z?)\]?[ \t]+)?(user|human|assistant|ai|bot)[ \t]*:[ \t]*(.*)",
    re.IGNORECASE,
)
# Front matter that is not closed within this many lines is ordinary text.
_LONGEST_FRONT = 100


class NumberedLine(NamedTuple):
    """One line of text, counted from 1."""

    number: int
    text: str


def looks_like_markdown(text: str) -> bool:
    """Return whether a text has a heading, a bullet or front matter."""
    return text.startswith("---\n") or _MARKDOWN.search(text) is not None


def looks_like_dialogue(text: str) -> bool:
    """Return whether a text begins with what a user or an assistant says, and what the other says follows."""
    spoken = [spoken[2].lower() for line in text.strip().split("\n") if (spoken := _SPOKEN.match(line))]
    return _SPOKEN.match(text.strip()) is not None and len(set(map(role_of, spoken))) > 1


def read_dialogue(lines: Iterable[NumberedLine]) -> Iterator[Message | SkippedLine]:
    """Yield the messages of a chat as text: each begins with `user:` or `assistant:`, after a time or none."""
    message: Message | None = None
    for line in lines:
        spoken = _SPOKEN.match(line.text)
        if spoken is None and message is not None:
            message = message._replace(text=f"{message.text}\n{line.text}")
        elif spoken is None:
            if line.text.strip():
                yield SkippedLine(line.number, "nobody is named who says it")
        else:
            yield from _text_of(message)
            message = Message(line.number, role_of(spoken[2]), spoken[3], None)
            with suppress(ValueError):  # an impossible day: the text is kept
                message = message._replace(timestamp=time_of(spoken[1]))
    yield from _text_of(message)


def _text_of(message: Message | None) -> Iterator[Message]:
    if message is not None and message.text.strip():
        yield message._replace(text=message.text.strip())


def read_plain(lines: Iterable[NumberedLine], role: str = "note") -> Iterator[Message]:
    """Yield the paragraphs of plain text."""
    block = _Block()
    for line in lines:
        if line.text.strip() or block.open:
            block.add(line)
        else:
            yield from block.taken(role)
    yield from block.taken(role)


def read_markdown(lines: Iterable[NumberedLine], role: str = "note", name: str = "") -> Iterator[Message]:
    """Yield the paragraphs and bullets of Markdown, each with its headings.

    A bullet includes the indented lines below it. The day comes from the nearest heading above with a date, the front
    matter, or the file name.
    """
    page = _Page(role, name)
    for line in lines:
        yield from page.add(line)
    yield from page.end()


def headings_in(text: str) -> list[tuple[int, str]]:
    """Return the headings of a Markdown text that are open at its end, outermost first, each with its level."""
    page = _Page("note", "")
    for number, line in enumerate(text.splitlines(), 1):
        for _ in page.add(NumberedLine(number, line)):
            pass
    return page.headings


class _Block:
    """Lines that belong together; `open` while an element or a fence is not closed."""

    def __init__(self) -> None:
        self.lines: list[NumberedLine] = []
        self._closing: str | None = None

    @property
    def open(self) -> bool:
        return self._closing is not None

    def add(self, line: NumberedLine, fences: bool = False) -> None:
        self.lines.append(line)
        fence = _FENCE.match(line.text) if fences else None
        if self._closing is None:
            self._closing = missing_closing_mark(line.text) or (fence[1] if fence else None)
        elif self._closing in line.text:
            self._closing = None

    def taken(self, role: str) -> Iterator[Message]:
        """Return the block as a message, if it has text, and empty the block."""
        text = "\n".join(line.text for line in self.lines).strip()
        if text and not (text.startswith("<!--") and text.endswith("-->")):
            first = next(line.number for line in self.lines if line.text.strip())
            yield Message(first, role, text, kind="note" if role == "note" else "message")
        self.lines = []
        self._closing = None


class _Page:
    """The state of reading a Markdown page: the current block, its headings, and the day."""

    def __init__(self, role: str, name: str) -> None:
        self._role = role
        self._block = _Block()
        self._front: list[NumberedLine] | None = None
        self.headings: list[tuple[int, str]] = []
        self._days = [(0, day)] if (day := _day(name)) else []

    def add(self, line: NumberedLine) -> Iterator[Message]:
        if line.number == 1 and line.text.rstrip() == "---":
            self._front = [line]
        elif self._front is not None:
            yield from self._in_front(line)
        else:
            yield from self._in_body(line)

    def end(self) -> Iterator[Message]:
        items, self._front = self._front or [], None
        for line in items:
            yield from self._in_body(line)
        yield from self._flush()

    def _in_front(self, line: NumberedLine) -> Iterator[Message]:
        assert self._front is not None
        if line.text.rstrip() in ("---", "..."):
            dated = (found[1] for other_line in self._front if (found := _DATED.match(other_line.text)))
            days = [day for value in dated if (day := _day(value))]
            self._days = [(0, days[0])] if days else self._days
            self._front = None
        elif len(self._front) >= _LONGEST_FRONT:
            yield from self.end()
            yield from self._in_body(line)
        else:
            self._front.append(line)

    def _in_body(self, line: NumberedLine) -> Iterator[Message]:
        if self._block.open:
            self._block.add(line, fences=True)
            if not self._block.open and self._indent() is None:
                yield from self._flush()
            return
        heading, underline = _HEADING.match(line.text), _UNDERLINE.match(line.text)
        if heading:
            yield from self._flush()
            self._head(len(heading[1]), heading[2])
        elif underline and len(self._block.lines) == 1 and self._indent() is None:
            self._head(1 if underline[1].startswith("=") else 2, self._block.lines.pop().text.strip())
        elif _RULE.match(line.text):
            yield from self._flush()
        else:
            if self._is_apart(line):
                yield from self._flush()
            if line.text.strip() or self._indent() is not None:
                self._block.add(line, fences=True)

    def _indent(self) -> int | None:
        """Return the indentation of the current bullet, or None if the block is not a bullet."""
        bullet = _BULLET.match(self._block.lines[0].text) if self._block.lines else None
        return len(bullet[1].expandtabs(4)) if bullet else None

    def _bullet(self, text: str) -> re.Match[str] | None:
        """Match a line that begins an item. Within a paragraph, no list begins with another number than 1."""
        bullet = _BULLET.match(text)
        if bullet and bullet[2].lstrip("01") and self._block.lines and self._block.lines[-1].text.strip():
            above = _BULLET.match(self._block.lines[0].text)
            return bullet if above and above[2] else None
        return bullet

    def _is_apart(self, line: NumberedLine) -> bool:
        """Return whether a line starts a new block."""
        indent, bullet = self._indent(), self._bullet(line.text)
        if indent is None:
            return bullet is not None or not line.text.strip()
        if bullet:
            return len(bullet[1].expandtabs(4)) <= indent
        after_blank = not self._block.lines[-1].text.strip()
        return after_blank and bool(line.text.strip()) and not line.text.startswith((" ", "\t"))

    def _head(self, level: int, title: str) -> None:
        self.headings = [*((other, text) for other, text in self.headings if other < level), (level, title)]
        self._days = [(other, day) for other, day in self._days if other < level]
        if day := _day(title):
            self._days.append((level, day))

    def _flush(self) -> Iterator[Message]:
        for message in self._block.taken(self._role):
            above = " > ".join(title for _, title in self.headings if title)
            yield message._replace(timestamp=self._moment(message.text), metadata={"heading": above} if above else None)

    def _moment(self, text: str) -> str | None:
        if not self._days:
            return None
        clock = _CLOCK.match(text)
        return f"{self._days[-1][1]}T{clock[1].zfill(5) if clock else '00:00'}:00Z"


def _day(text: str) -> str | None:
    found = _DAY.search(text)
    return found[1] if found else None
