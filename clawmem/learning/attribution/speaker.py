"""The speaker of an event."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from clawmem.model.records.event import Event, is_from_outside, is_told_by_agent

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
    among_people = person and len(_people(speakers)) > 1
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


def _people(speakers: Collection[str]) -> list[str]:
    return [name for name in speakers if name.lower() not in _ASSISTANTS]
