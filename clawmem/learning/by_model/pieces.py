"""Split events into pieces that may be sent to a model, and render them as data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from clawmem.learning.attribution.orders import injection_in
from clawmem.learning.attribution.speaker import THE_USER
from clawmem.model.records.event import SILENT_KINDS, Event, is_from_outside, is_told_by_agent, name_of_outsider
from clawmem.model.safety.recalled_text import mask_recalled, parts_of
from clawmem.model.safety.secrets.find import find_secret

MAX_PIECE_CHARACTERS = 6000
AGENT = "agent"
_PROGRAMS = frozenset("assistant ai bot claude chatgpt gpt gemini copilot agent system model".split())
_GENERIC = frozenset(("", "user", "human", "me"))


class EventPiece(NamedTuple):
    """A part of an event's text, usually all of it.

    `start` is its offset in the text, `last` marks the last piece of the event. `role` is user, assistant, tool, or
    agent for what an agent noted or tells of the user, and sets how far the speaker is trusted. `orders` marks injected
    instructions.
    """

    event: Event
    start: int
    text: str
    speaker: str
    role: str
    last: bool
    orders: bool = False


def piece_label(piece: EventPiece) -> str:
    """Return the name of a piece: the id of its event, and the offset of a later piece of a long one."""
    return f"{piece.event.id}@{piece.start}" if piece.start else piece.event.id


def event_of_label(label: str) -> str:
    """Return the id of the event that a label names."""
    return label.strip().partition("@")[0]


def has_words(event: Event) -> bool:
    """Return whether the event has text that somebody said."""
    if event.recalled or event.role == "system" or event.kind in SILENT_KINDS:
        return False
    return bool(mask_recalled(event.text, parts_of(event.metadata)).strip())


def is_readable(event: Event) -> bool:
    """Return whether the event has text for a model. Events with a credential are never sent."""
    return has_words(event) and find_secret(event.text) is None


def split_events(
    events: Iterable[Event], speakers: Collection[str], done: Mapping[str, int] = MappingProxyType({})
) -> Iterator[EventPiece]:
    """Yield the pieces of the events, in order. `done` maps an event id to the number of characters read before."""
    for event in events:
        role, speaker = _role_and_speaker(event, speakers)
        text, orders = mask_recalled(event.text, parts_of(event.metadata)), injection_in(event) is not None
        start = min(done.get(event.id, 0), len(text))
        while True:
            end = _cut(text, start)
            yield EventPiece(event, start, text[start:end], speaker, role, end >= len(text), orders)
            start = end
            if start >= len(text):
                break


def _cut(text: str, start: int) -> int:
    end = start + MAX_PIECE_CHARACTERS
    if end >= len(text):
        return len(text)
    line = max(
        text.rfind("\n", start + MAX_PIECE_CHARACTERS // 2, end),
        text.rfind(". ", start + MAX_PIECE_CHARACTERS // 2, end),
    )
    return line + 1 if line > 0 else end


def _role_and_speaker(event: Event, speakers: Collection[str]) -> tuple[str, str]:
    """Return the role of the event and its speaker. The speaker is `the user` if no name is known."""
    name = (event.speaker or "").strip()
    if is_from_outside(event):
        return "tool", name_of_outsider(event) or "a tool"
    if event.role in ("user", "note") and is_told_by_agent(event):
        return AGENT, f"the agent {event.agent}" if event.agent else "an agent"
    person = name.lower() not in _PROGRAMS | _GENERIC
    # In a conversation among people the one who answers is a person, even with the role `assistant`.
    among_people = len([one for one in speakers if one.lower() not in _PROGRAMS | _GENERIC]) > 1
    if event.role == "assistant" and not (person and among_people):
        return "assistant", name or "the assistant"
    return "user", name if person else THE_USER.replace("The", "the", 1)
