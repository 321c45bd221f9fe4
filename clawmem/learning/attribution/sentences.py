"""Split text into sentences with exact spans. Code and headings are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from clawmem.model.language.text import DAY_OF_MONTH, LIST_MARK
from clawmem.model.records.event import Event, is_from_outside, is_told_by_agent

LONGEST_SENTENCE = 600
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_LINE = re.compile(r"[^\r\n]+")
_BULLET = re.compile(rf"[ \t]*(?:•|{LIST_MARK})[ \t]+")
# A run of marks is entered at its beginning only, or it would take quadratic time.
_END = re.compile(
    r"(?:(?<![.!?…])[.!?…]++[\"'”’)\]*]*+|(?<![\U0001F000-\U0001FAFF☀-➿️])[\U0001F000-\U0001FAFF☀-➿️]++)(?=\s|$)"
    r"|(?<=[a-z])[!?](?=[A-Z])|[。！？]++[」』”]?"
)
_ABBREVIATION = re.compile(r"(?:\b(?:Dr|Mr|Mrs|Ms|St|Prof|vs|etc|e\.g|i\.e|approx|No|Inc|Jr|Sr|a\.m|p\.m|[A-Z]))\.$")
_CODE_LINE = re.compile(
    r"^(?:[#>|<@$%{}/]|import |from \w+ import|def |class |const |let |var |function|\w+\(.*\)|SELECT )"
)
_CODE_SIGN = re.compile(r"[{};]\s*$|=>|==|</|\(\)|\s=\s|::|\w\[\w+\]|->")


class TextSpan(NamedTuple):
    """A part of a text: `text` is the text from `start` to `end`."""

    text: str
    start: int
    end: int


def sentences(text: str) -> Iterator[TextSpan]:
    """Yield the prose sentences of a text in order, without surrounding white space and list marks."""
    fenced = False
    for line in _LINE.finditer(text):
        if _FENCE.match(line[0]):
            # A fence that opens and closes on one line hides only itself.
            fenced ^= line[0].count("```") + line[0].count("~~~") == 1
            continue
        if not fenced and not _is_code(line[0]):
            bullet = _BULLET.match(line[0])
            yield from _in_line(text, line.start() + (bullet.end() if bullet else 0), line.end())


def sub_span(piece: TextSpan, start: int, end: int) -> TextSpan:
    """Return the part of a span between two of its own offsets, without surrounding white space."""
    return next(_trimmed(piece.text, start, end, piece.start), TextSpan("", piece.start + start, piece.start + start))


def _in_line(text: str, start: int, end: int) -> Iterator[TextSpan]:
    at = start
    for stop in _END.finditer(text, start, end):
        if stop[0] == "." and _ABBREVIATION.search(text, max(at, stop.end() - 8), stop.end()):
            continue
        if re.compile(DAY_OF_MONTH).match(text, stop.end()):
            continue
        yield from _trimmed(text, at, stop.end(), 0)
        at = stop.end()
    yield from _trimmed(text, at, end, 0)


def _trimmed(text: str, start: int, end: int, offset: int) -> Iterator[TextSpan]:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    kept = part.strip()
    if kept:
        first = offset + start + left
        yield TextSpan(kept, first, first + len(kept))


def _is_code(line: str) -> bool:
    stripped = line.strip()
    return bool(_CODE_LINE.match(stripped)) or bool(_CODE_SIGN.search(stripped[:LONGEST_SENTENCE]))


THE_USER = "The user"
_ASSISTANTS = frozenset("assistant ai bot claude chatgpt gpt gemini copilot agent system model".split())
_GENERIC = frozenset(("user", "human", "me"))


class Speaker(NamedTuple):
    """The speaker of an event: the name in statements, which rules read the words (by their `of`), and whether the
    words are the speaker's `own`. What an agent tells holds no order, request or correction of the user's."""

    name: str
    reads: tuple[str, ...]
    own: bool = True


def speaker_of(event: Event, speakers: Collection[str]) -> Speaker | None:
    """Return the speaker, or None for an assistant (by role or by name). `speakers` lists all speakers."""
    speaker = (event.speaker or "").strip()
    person = speaker and speaker.lower() not in _ASSISTANTS | _GENERIC
    named_program = event.role == "user" and speaker.lower() in _ASSISTANTS
    if named_program or (event.role == "assistant" and not (person and speaker in speakers)):
        return None
    if event.role == "note" and event.agent is not None:
        return Speaker(THE_USER, ("thing",), own=False)  # its "I" is the agent's
    among_people = person and len([name for name in speakers if name.lower() not in _ASSISTANTS]) > 1
    reads = ("", "people" if among_people else "thing")
    return Speaker(speaker if person else THE_USER, reads, own=not is_told_by_agent(event))


def said_by_user(event: Event, name: str) -> Event:
    """Return a user's message or note without a speaker, or with a generic one, as said by the user of this name.

    Text from outside stays unnamed, and a generic name changes nothing.
    """
    unnamed = (event.speaker or "").strip().lower() in _GENERIC | {""}
    own = event.role == "user" or (event.role == "note" and event.agent is None)
    meant = own and unnamed and not is_from_outside(event)
    return event._replace(speaker=name) if meant and name.lower() not in _GENERIC else event
