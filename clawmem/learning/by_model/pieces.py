"""Events cut into questions for a model: what may be shown to one, in pieces of bearable size, as data."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from clawmem.learning.attribution.orders import orders_in
from clawmem.learning.rules.triples import THE_USER
from clawmem.model.records.event import SILENT_KINDS, Event, is_from_outside, name_of_outsider
from clawmem.model.safety.recalled_text import masked, parts_of
from clawmem.model.safety.secrets.find import find_secret

LONGEST_PIECE = 6000
LONGEST_QUESTION = 8000
MOST_PIECES = 20
_PROGRAMS = frozenset("assistant ai bot claude chatgpt gpt gemini copilot agent system model".split())
_NOBODY = frozenset(("", "user", "human", "me"))


class EventPiece(NamedTuple):
    """A part of an event's text from `start` on (nearly always all of it), who speaks in it, and whether the event
    ends with it. `role` is user, assistant or tool, by what may be believed of the speaker; `orders` says that the
    event would give a model orders."""

    event: Event
    start: int
    text: str
    speaker: str
    role: str
    last: bool
    orders: bool = False


def speaks(event: Event) -> bool:
    """Whether there is anything in the event for a model to read; a credential is never shown to one."""
    if event.recalled or event.role == "system" or event.kind in SILENT_KINDS:
        return False
    return bool(masked(event.text, parts_of(event.metadata)).strip()) and find_secret(event.text) is None


def pieces(
    events: Iterable[Event], speakers: Collection[str], done: Mapping[str, int] = MappingProxyType({})
) -> Iterator[EventPiece]:
    """The events in pieces, in order; `done` says up to which character an event was read before, by its id."""
    for event in events:
        role, speaker = _voice(event, speakers)
        text, orders = masked(event.text, parts_of(event.metadata)), orders_in(event) is not None
        start = min(done.get(event.id, 0), len(text))
        while True:
            end = _cut(text, start)
            yield EventPiece(event, start, text[start:end], speaker, role, end >= len(text), orders)
            start = end
            if start >= len(text):
                break


def question(waiting: Sequence[EventPiece]) -> int:
    """How many of the pieces, from the first on, make one question. A text that gives orders is asked about alone,
    so that whatever it does to the model, it does to nothing else."""
    size = 0
    for number, piece in enumerate(waiting[:MOST_PIECES]):
        size += len(piece.text)
        if number and (size > LONGEST_QUESTION or piece.orders or waiting[0].orders):
            return number
    return min(len(waiting), MOST_PIECES)


def as_data(shown: Sequence[EventPiece]) -> str:
    """The pieces as lines of JSON, labelled e1, e2...; no text in them can close the element they stand in."""
    lines = []
    for number, piece in enumerate(shown, 1):
        record = {
            "id": f"e{number}",
            "role": piece.role,
            "speaker": piece.speaker,
            "said": piece.event.timestamp,
            "text": piece.text,
        }
        lines.append(_closed(record))
    return "<events>\n" + "\n".join(lines) + "\n</events>"


def known_as_data(statements: Sequence[str]) -> str:
    """The statements that were found before, in the same form."""
    return "<known>\n" + "\n".join(map(_closed, statements)) + "\n</known>"


def _closed(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")


def _cut(text: str, start: int) -> int:
    end = start + LONGEST_PIECE
    if end >= len(text):
        return len(text)
    line = max(text.rfind("\n", start + LONGEST_PIECE // 2, end), text.rfind(". ", start + LONGEST_PIECE // 2, end))
    return line + 1 if line > 0 else end


def _voice(event: Event, speakers: Collection[str]) -> tuple[str, str]:
    """By which role the event is read, and who speaks, `the user` where no name is known."""
    name = (event.speaker or "").strip()
    if is_from_outside(event):
        return "tool", name_of_outsider(event) or "a tool"
    person = name.lower() not in _PROGRAMS | _NOBODY
    # In a conversation among people whoever answers is a person, whatever role the transcript gives them.
    among_people = len([one for one in speakers if one.lower() not in _PROGRAMS | _NOBODY]) > 1
    if event.role == "assistant" and not (person and among_people):
        return "assistant", name or "the assistant"
    return "user", name if person else THE_USER.replace("The", "the", 1)
