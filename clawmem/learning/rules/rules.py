"""Extraction by rules: from one event to its propositions."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clawmem.learning.attribution.orders import limit_trust
from clawmem.learning.attribution.quoted import own_sentences
from clawmem.learning.attribution.sentences import TextSpan
from clawmem.learning.attribution.speaker import speaker_of
from clawmem.learning.rules.clauses import is_question, read_clauses
from clawmem.learning.rules.known_changes import states_change
from clawmem.learning.rules.language import language_of
from clawmem.learning.rules.reader import EventReader
from clawmem.learning.rules.requests import STOPS, read_as_said, read_correction, read_request
from clawmem.learning.rules.signal import strongest_sentence
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.trust import is_low_trust
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.event import SILENT_KINDS, Event, is_from_outside

LONGEST_SENTENCE = 600


def extract(event: Event, catalog: Catalog, speakers: Collection[str] = ()) -> tuple[Proposition, ...]:
    """Return what the rules may store of one event: what its speaker asks to keep or to forget, orders, and corrections
    of what is known. Of talk between people this is nothing."""
    reader = _reader_of(event, catalog, speakers)
    if reader is None or not (reader.voice.own and reader.in_chat):
        return ()
    found = _distinct(_in_message(reader))
    return limit_trust(event, tuple(each for each in found if each.asked or _is_correction(each)))


def statements(event: Event, catalog: Catalog, speakers: Collection[str] = ()) -> tuple[Proposition, ...]:
    """Return all propositions in one event that a pattern reads.

    Only people are read, in their own words: not assistants, tools, the system, and texts from outside. `speakers`
    names the people whose turns are read. Content next to injected instructions gets low trust.
    """
    reader = _reader_of(event, catalog, speakers)
    return limit_trust(event, tuple(_distinct(_in_message(reader)))) if reader else ()


def candidate_in(event: Event, catalog: Catalog, speakers: Collection[str] = ()) -> Proposition | None:
    """Return the sentence of a person's own message with the strongest signal as a statement for review, or None."""
    reader = _reader_of(event, catalog, speakers)
    if reader is None or not reader.voice.own:
        return None
    # What asks to keep something was decided about when the rules read it.
    stated = (each for each in own_sentences(event.text) if read_request(each, reader) is None)
    sentence = strongest_sentence(stated)
    if sentence is None:
        return None
    found = limit_trust(event, tuple(read_as_said(sentence, reader)))
    return next((each for each in found if not is_low_trust(each.trust)), None)


def _reader_of(event: Event, catalog: Catalog, speakers: Collection[str]) -> EventReader | None:
    if event.recalled or event.role in ("system", "tool") or event.kind in SILENT_KINDS or is_from_outside(event):
        return None
    voice = speaker_of(event, speakers)
    if voice is None or not event.text.strip():
        return None
    return EventReader(event, voice, language_of(event.text), catalog)


def _distinct(found: list[Proposition]) -> Iterator[Proposition]:
    seen = set()
    for one in found:
        if one.statement not in seen:
            seen.add(one.statement)
            yield one


def _in_message(reader: EventReader) -> list[Proposition]:
    """Read all sentences. One that takes back what was said removes what the sentence before it gave."""
    found: list[Proposition] = []
    last: list[Proposition] = []
    wrong = False
    for sentence in own_sentences(reader.event.text):
        plain = sentence._replace(text=sentence.text.replace("’", "'"))
        if reader.language.patterns["cancels"].match(plain.text):
            found = found[: len(found) - len(last)]
        last = list(_in_sentence(plain, reader)) if len(plain.text) <= LONGEST_SENTENCE else []
        last = [one._replace(corrects=True) for one in last] if wrong and len(last) == 1 else last
        wrong = reader.language.patterns["wrong"].fullmatch(plain.text.rstrip(STOPS)) is not None
        found += last
    return found


def _in_sentence(sentence: TextSpan, reader: EventReader) -> Iterator[Proposition]:
    requested = read_request(sentence, reader) if reader.voice.own and reader.in_chat else None
    if requested is not None:
        yield from requested
        return
    if reader.language.guards["untrue"].search(sentence.text):
        return
    corrected = read_correction(sentence, reader) if reader.voice.own and not is_question(sentence) else None
    if corrected:
        yield corrected
    else:
        yield from read_clauses(sentence, reader)


def _is_correction(found: Proposition) -> bool:
    """Return whether a statement says in its own words that something known is over or was replaced."""
    return found.corrects or found.ended or bool(found.former) or states_change(found)
