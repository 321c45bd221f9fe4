"""The forms of a rule: which one matches a text, and the statement that its slots make.

What the reading of one event by rules needs, and words about its speaker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from clawmem.learning.attribution.speaker import THE_USER, Speaker
from clawmem.learning.rules.language import Form, Language, Rule
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.text import one_line
from clawmem.model.proposals.proposition import EntityHint
from clawmem.model.records.event import Event

EDGES = " .,;:!"
_SLOT = re.compile(r"\{([a-z_]+)\}")


def matched_form(rule: Rule, text: str) -> tuple[Form, re.Match[str]] | None:
    """Return the first form of a rule that matches a whole text, with its match."""
    return next(((form, found) for form in rule.hears if (found := form.pattern.fullmatch(text))), None)


def tail_match(rule: Rule, rest: str, owned: bool) -> re.Match[str] | None:
    """Return the match of what a statement says of its subject, or None."""
    found = (tail.pattern.fullmatch(rest) for tail in rule.tails if tail.owned == owned)
    return next((match for match in found if match), None)


def values_of(found: re.Match[str], language: Language) -> dict[str, str]:
    """Return the slots of a match without punctuation at their ends; those without a text are left out.

    A common noun may stand first with a capital letter, which goes."""
    slots = {name: text.strip(EDGES) for name, text in found.groupdict().items() if text and text.strip(EDGES)}
    return {name: with_small_initial(text) if name in language.common_slots else text for name, text in slots.items()}


def predicate_of(rule: Rule, values: Mapping[str, str], language: Language) -> str | None:
    """Return the predicate of a rule; for a relation between people that of its noun."""
    if rule.predicate != "{relation}":
        return rule.predicate
    noun = values.get("relation", "").lower()
    return language.relations.get(re.split(r"[ ]", noun)[-1], "spouse" if not noun else None)


def statement_of(rule: Rule, says: str, values: Mapping[str, str]) -> str:
    """Return the statement of a rule for the values of its slots."""
    instead = template_filled(rule.instead, values) if "former" in values else ""
    return sentence_of(template_filled(says, {**values, "instead": instead}))


def sentence_of(words: str) -> str:
    """Return words as a sentence: a capital letter first, one full stop at the end."""
    words = re.sub(r" ([.,])", r"\1", one_line(words)).rstrip(" .,;:!")
    return f"{words[:1].upper()}{in_text(words[1:])}."


def is_complete(statement: str, language: Language) -> bool:
    """Return whether a statement has three words and does not break off at a function word."""
    words = statement.rstrip(".").split()
    return len(words) >= 3 and words[-1].lower() not in language.function_words


def template_filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its slots, with a space between slots that follow each other."""

    def put(slot: re.Match[str]) -> str:
        value = values.get(slot[1], "")
        before, after = template[: slot.start()][-1:], template[slot.end() :][:1]
        left = " " if before == "}" else ""
        right = " " if after == "{" else ""
        return f"{left}{value}{right}" if value else ""

    return re.sub(r" ([,.])", r"\1", one_line(_SLOT.sub(put, template)))


def with_small_initial(words: str) -> str:
    """Return words that go on in a sentence: a capital letter of their first word goes, unless it is a name's."""
    return words[:1].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


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
