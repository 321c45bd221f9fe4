"""What a sentence asks to forget, to remember, always to do, or to set right."""

from __future__ import annotations

import re

from clawmem.learning.attribution.forgetting import asked_to_forget
from clawmem.learning.attribution.sentences import TextSpan, sub_span
from clawmem.learning.rules.clauses import LONGEST_CLAUSE, read_clauses
from clawmem.learning.rules.corrections import CORRECTION, is_specific
from clawmem.learning.rules.dating import said_day
from clawmem.learning.rules.forms import is_complete, sentence_of, template_filled, values_of, with_small_initial
from clawmem.learning.rules.known_changes import RETRACTION
from clawmem.learning.rules.reader import EventReader, in_third_person
from clawmem.model.facts.fact import DEFAULT_IMPORTANCE
from clawmem.model.language.date_words import find_dates
from clawmem.model.proposals.proposition import Proposition

STOPS = " .,;:!?"
_KEPT, _RULED = "fact", "instruction"
_AS_SAID = 0.6  # confidence


def read_request(sentence: TextSpan, reader: EventReader) -> list[Proposition] | None:
    """Return what a sentence asks to forget, to remember or always to do; None if it asks nothing of the kind."""
    text = sentence.text.rstrip(" .!?*_")
    if sentence.text.rstrip().endswith("?") and not reader.language.patterns["asking"].match(text):
        return None
    forgotten = _forgotten(sentence, reader)
    if forgotten:
        return forgotten
    for kind, act in (("keep", _kept), ("lesson", _lesson), ("order", _ordered)):
        for form in reader.language.requests[kind]:
            found = form.fullmatch(text)
            made = act(found, sentence, reader) if found else None
            if made is not None:
                return made
    return None


def _inner(found: re.Match[str], sentence: TextSpan, group: str = "words") -> TextSpan:
    return sub_span(sentence, *found.span(group))


def _forgotten(sentence: TextSpan, reader: EventReader) -> list[Proposition] | None:
    """Return the request to forget in a sentence: what is to be forgotten is its object."""
    what = next((target[0] for target in asked_to_forget(sentence.text) if target), None)
    if what is None:
        return None
    told = in_third_person(what, reader) or what
    says = sentence_of(template_filled(reader.language.say["forget"], {"who": reader.who, "words": told}))
    return [_asked(sentence, reader, says, None, what, RETRACTION, 0.3)]


def _kept(found: re.Match[str], sentence: TextSpan, reader: EventReader) -> list[Proposition]:
    """Return what is to be remembered: as a statement where a pattern reads it, else in the words of the request."""
    inner = _inner(found, sentence)
    order = read_request(inner, reader)
    if order:
        return order
    sure = not any(reader.language.guards[name].search(inner.text) for name in ("unsure", "reported", "untrue"))
    read = list(read_clauses(inner, reader)) if sure else []
    if sum(len(one.source_text) for one in read) * 3 > len(inner.text) * 2:
        return [one._replace(confidence=0.95, importance=max(one.importance, 0.8), asked=True) for one in read]
    return _noted(inner, reader, "kept", None, _KEPT)


def _lesson(found: re.Match[str], sentence: TextSpan, reader: EventReader) -> list[Proposition]:
    return _noted(_inner(found, sentence), reader, "lesson", "learned", "lesson")


def read_as_said(sentence: TextSpan, reader: EventReader) -> list[Proposition]:
    """Return a sentence as a statement in the third person, or in quotation marks where that fails; empty if it cannot
    be understood alone."""
    return [
        each._replace(
            subject=reader.subject if each.object != sentence.text.rstrip(STOPS) else None,
            object=None,
            confidence=_AS_SAID,
            importance=DEFAULT_IMPORTANCE,
        )
        for each in _noted(sentence, reader, "said", None, _KEPT, "cited")
    ]


def _noted(
    inner: TextSpan, reader: EventReader, kind: str, predicate: str | None, category: str, quoted: str = "quoted"
) -> list[Proposition]:
    words = inner.text.rstrip(STOPS)
    if not is_complete(words, reader.language) or reader.language.guards["vague"].match(words):
        return []
    told = in_third_person(words, reader)
    template = reader.language.say[kind if told else quoted]
    say = template_filled(template, {"who": reader.who, "words": told or words})
    dates = find_dates(words, said_day(reader.event), ahead=True) if reader.language.reads_dates else ()
    labels = ", ".join(one.label for one in dates if one.relative and one.label)
    say = f"{sentence_of(say).rstrip('.')} ({labels})." if labels else sentence_of(say)
    return [_asked(inner, reader, say, predicate, told or words, category, 0.8)]


def _ordered(found: re.Match[str], sentence: TextSpan, reader: EventReader) -> list[Proposition] | None:
    """Return a standing order. One without a word of lasting must not point at what is on the table."""
    generic = found.groupdict().get("generic")
    rule = generic or found["rule"]
    tail = reader.language.patterns["tails"].search(rule, max(0, len(rule) - 60))
    rule = rule[: tail.start()] if tail else rule
    if generic and reader.language.guards["pointing"].search(generic):
        return None
    if not is_complete(rule, reader.language):
        return None
    told = in_third_person(rule, reader)
    if told is None:
        return None
    order = template_filled(reader.language.say["order"], {"who": reader.who, "words": with_small_initial(told)})
    return [_asked(sentence, reader, sentence_of(order), "instructed", told, _RULED, 0.85)]


def read_correction(sentence: TextSpan, reader: EventReader) -> Proposition | None:
    """Return the correction in a sentence that only sets a value right: "No, it is Bergen, not Oslo"."""
    text = sentence.text.rstrip(" .!")
    for form in reader.language.requests["correct"]:
        found = form.fullmatch(text) if len(text) <= LONGEST_CLAUSE else None
        values = values_of(found, reader.language) if found else {}
        named = values and all(is_specific(values[name]) for name in ("new", "former"))
        if named or (values and reader.language.patterns["wrong"].match(text)):
            words = sentence_of(template_filled(reader.language.say["corrected"], {**values, "who": reader.who}))
            made = _asked(sentence, reader, words, None, values["new"], CORRECTION, 0.6)
            return made._replace(former=values["former"])
    return None


def _asked(
    piece: TextSpan,
    reader: EventReader,
    words: str,
    predicate: str | None,
    value: str | None,
    category: str,
    importance: float,
) -> Proposition:
    return Proposition(
        statement=words,
        event_id=reader.event.id,
        span=(piece.start, piece.end),
        source_text=reader.event.text[piece.start : piece.end],
        subject=reader.subject,
        predicate=predicate,
        object=value,
        category=category,
        confidence=0.9,
        importance=importance,
        entity_hints=(reader.hint,),
        trust="user",
        said_at=reader.event.timestamp,
        asked=True,
    )
