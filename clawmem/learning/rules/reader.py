"""What the reading of one event by rules needs, and words about its speaker."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.learning.attribution.speaker import THE_USER, Speaker
from clawmem.learning.rules.language import Language
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.text import one_line
from clawmem.model.proposals.proposition import EntityHint
from clawmem.model.records.event import Event


class EventReader(NamedTuple):
    """What the reading of one event needs."""

    event: Event
    voice: Speaker
    language: Language
    catalog: Catalog

    @property
    def who(self) -> str:
        return self.voice.name

    @property
    def whose(self) -> str:
        return self.language.possessive.replace("{name}", self.voice.name)

    @property
    def in_chat(self) -> bool:
        return "thing" in self.voice.reads

    @property
    def subject(self) -> str:
        return in_text(self.voice.name)

    @property
    def hint(self) -> EntityHint:
        return EntityHint("person", "User" if self.voice.name == THE_USER else self.voice.name, "speaker")


def in_text(words: str) -> str:
    """Return words about the speaker as they stand within a sentence."""
    return words.replace(THE_USER, "the user")


def in_third_person(words: str, reader: EventReader) -> str | None:
    """Return words of the speaker in the third person, or None where a first person is left."""
    names = {"who": reader.subject, "whose": in_text(reader.whose)}
    for form, put in reader.language.third_person:
        for name, value in names.items():
            put = put.replace(f"{{{name}}}", value)
        words = form.sub(put, words)
    return None if reader.language.patterns["first_person"].search(words) else one_line(words)
