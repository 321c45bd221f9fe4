"""Who speaks in an event, to whom, and how far that is to be trusted."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from clawmem.learning.rules.triples import THE_USER
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.event import Event

_ASSISTANTS = frozenset("assistant ai bot claude chatgpt gpt gemini copilot agent system model".split())
_GENERIC = frozenset(("user", "human", "me"))


class Speaker(NamedTuple):
    """Who speaks in an event: the name in statements, whether to an assistant, and how far it is to be trusted."""

    name: str
    chat: bool
    trust: str = "user"


def speaker_of(event: Event, speakers: Collection[str]) -> Speaker | None:
    """Who speaks; None for an assistant, by role or by name."""
    speaker = (event.speaker or "").strip()
    person = speaker and speaker.lower() not in _ASSISTANTS | _GENERIC
    named_program = event.role == "user" and speaker.lower() in _ASSISTANTS
    if named_program or (event.role == "assistant" and not (person and speaker in speakers)):
        return None
    among_people = len(_people(speakers)) > 1
    return Speaker(speaker if person else THE_USER, chat=not (person and among_people))


def _people(speakers: Collection[str]) -> list[str]:
    return [name for name in speakers if name.lower() not in _ASSISTANTS]


def name_user(proposition: Proposition, speakers: Collection[str]) -> Proposition:
    """What an assistant or a tool says, as said to the one person who speaks with it, by name where that is known."""
    people = [name for name in _people(speakers) if name.lower() not in _GENERIC]
    if len(people) != 1:
        return proposition

    def named(text: str) -> str:
        return re.sub(r"\bthe user\b", lambda _: people[0], text)

    return proposition._replace(
        statement=named(proposition.statement),
        object=named(proposition.object) if proposition.object else None,
        entity_hints=(EntityHint("person", people[0], "speaker"),),
    )
