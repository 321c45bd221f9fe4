"""Extraction by rules: from one event to its propositions.

What a sentence asks to forget, to remember, always to do, or to set right.

The signal of a message that nobody has read: which sentence of it is most likely worth a fact.

A sentence counts for what it states (a habit, a rule, a decision, a reason, somebody's part, a date, a name) and
against it where it only asks for work. No statement is read out of it: a person sees the sentence itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from clawmem.learning.attribution.quoted import limit_trust, own_sentences
from clawmem.learning.attribution.sentences import TextSpan, speaker_of, sub_span
from clawmem.learning.rules.clauses import (
    CORRECTION,
    LONGEST_CLAUSE,
    RETRACTION,
    EventReader,
    in_third_person,
    is_complete,
    is_question,
    is_specific,
    read_clauses,
    said_day,
    sentence_of,
    states_change,
    template_filled,
    values_of,
    with_small_initial,
)
from clawmem.learning.rules.language import language_of
from clawmem.learning.turn_end import keeping_score
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import DEFAULT_IMPORTANCE
from clawmem.model.language.date_words import find_dates
from clawmem.model.proposals.para import Proposition, thing_in_front
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
    """Return the sentence of a person's own message with the strongest signal as a statement for the gate, or None."""
    reader = _reader_of(event, catalog, speakers)
    if reader is None or not reader.voice.own:
        return None
    # What asks to keep something was decided about when the rules read it.
    stated = (each for each in own_sentences(event.text) if read_request(each, reader) is None)
    sentence = _strongest(stated)
    if sentence is None:
        return None
    return next(iter(limit_trust(event, tuple(read_as_said(sentence, reader)))), None)


def _reader_of(event: Event, catalog: Catalog, speakers: Collection[str]) -> EventReader | None:
    if event.recalled or event.role in ("system", "tool") or event.kind in SILENT_KINDS or is_from_outside(event):
        return None
    voice = speaker_of(event, speakers)
    if voice is None or not event.text.strip():
        return None
    return EventReader(event, voice, language_of(event.text), catalog)


def _distinct(found: list[Proposition]) -> Iterator[Proposition]:
    seen = set()
    for proposition in found:
        if proposition.statement not in seen:
            seen.add(proposition.statement)
            yield proposition


def _in_message(reader: EventReader) -> list[Proposition]:
    """Read all sentences. One that takes back what was said removes what the sentence before it gave."""
    found: list[Proposition] = []
    last: list[Proposition] = []
    wrong = False
    for sentence in own_sentences(reader.event.text):
        plain = sentence._replace(text=sentence.text.replace("’", "'"))
        if reader.language.patterns["cancels"].match(plain.text):
            found = found[: len(found) - len(last)]
        last = list(_in_sentence(plain, reader, wrong)) if len(plain.text) <= LONGEST_SENTENCE else []
        last = [proposition._replace(corrects=True) for proposition in last] if wrong and len(last) == 1 else last
        wrong = reader.language.patterns["wrong"].fullmatch(plain.text.rstrip(STOPS)) is not None
        found += last
    return found


def _in_sentence(sentence: TextSpan, reader: EventReader, wrong: bool) -> Iterator[Proposition]:
    requested = read_request(sentence, reader) if reader.voice.own and reader.in_chat else None
    if requested is not None:
        yield from requested
        return
    if reader.language.guards["untrue"].search(sentence.text):
        return
    corrected = read_correction(sentence, reader, wrong) if reader.voice.own and not is_question(sentence) else None
    clauses = [] if corrected and corrected.object else list(read_clauses(sentence, reader))
    plainer = wrong or any(map(_is_correction, clauses))  # than the whole sentence, which a person decides about
    yield from clauses if clauses and plainer else [corrected] if corrected else clauses


def _is_correction(found: Proposition) -> bool:
    """Return whether a statement says in its own words that something known is over or was replaced."""
    return found.corrects or found.ended or bool(found.former) or states_change(found)


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
            if found and any(_names_nobody(words, reader, kind) for words in found.groupdict().values() if words):
                return None
            made = act(found, sentence, reader) if found else None
            if made is not None:
                return made
    return None


def _names_nobody(words: str, reader: EventReader, kind: str) -> bool:
    """Return whether a pronoun of some words stands for somebody whom nothing before it names."""
    words, guards = with_small_initial(words) if kind == "order" else words, reader.language.guards
    found = guards["pronoun"].search(words)
    return found is not None and guards["named"].search(words, 0, found.start()) is None


def _inner(found: re.Match[str], sentence: TextSpan, group: str = "words") -> TextSpan:
    return sub_span(sentence, *found.span(group))


def _forgotten(sentence: TextSpan, reader: EventReader) -> list[Proposition] | None:
    """Return the request to forget in a sentence: what is to be forgotten is its object."""
    from clawmem.learning.attribution.forgetting import asked_to_forget  # its patterns take a tenth of a second

    what = next((target[0] for target in asked_to_forget(sentence.text) if target), None)
    if what is None:
        return None
    text = in_third_person(what, reader) or what
    says = sentence_of(template_filled(reader.language.say["forget"], {"who": reader.who, "words": text}))
    return [_asked(sentence, reader, says, None, what, RETRACTION, 0.3)]


def _kept(found: re.Match[str], sentence: TextSpan, reader: EventReader) -> list[Proposition]:
    """Return what is to be remembered: as a statement where it is one, else in the words of the request."""
    inner = _inner(found, sentence)
    order = read_request(inner, reader)
    if order:
        return order
    sure = not any(reader.language.guards[name].search(inner.text) for name in ("unsure", "reported", "untrue"))
    read = list(read_clauses(inner, reader)) if sure else []
    if sum(len(proposition.source_text) for proposition in read) * 3 > len(inner.text) * 2:
        return [
            proposition._replace(confidence=0.95, importance=max(proposition.importance, 0.8), asked=True)
            for proposition in read
        ]
    noted = _noted(inner, reader, "kept", None, _KEPT)
    if not (sure and noted and in_third_person(inner.text.rstrip(STOPS), reader) and _is_clause(found, sentence.text)):
        return noted
    front = thing_in_front(inner.text[:1].upper() + inner.text[1:])
    return [
        each._replace(
            subject=front.title if front else each.subject,
            object=None,
            entity_hints=(*([front] if front else []), *each.entity_hints),
        )
        for each in _noted(inner, reader, "said", None, _KEPT)
    ]


def _is_clause(found: re.Match[str], text: str) -> bool:
    """Return whether what is to be remembered is a sentence of its own, and not "the milk"."""
    before, words = text[: found.start("words")].rstrip().lower(), found["words"]
    # After "dass" the verb stands last.
    return before.endswith(" that") or (not before.endswith(" dass") and _STATES.search(words) is not None)


def _lesson(found: re.Match[str], sentence: TextSpan, reader: EventReader) -> list[Proposition]:
    return _noted(_inner(found, sentence), reader, "lesson", "learned", "lesson")


def read_as_said(sentence: TextSpan, reader: EventReader) -> list[Proposition]:
    """Return a sentence in the third person, or in quotation marks; empty if it is not understood alone."""
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
    lead = reader.language.patterns["wrong"].match(words) if kind == "said" else None
    words = words[lead.end() :] if lead else words  # "No, the limit is 40"
    if not is_complete(words, reader.language) or reader.language.guards["vague"].match(words):
        return []
    text = in_third_person(words, reader)
    template = reader.language.say[kind if text else quoted]
    say = template_filled(template, {"who": reader.who, "words": text or words})
    dates = find_dates(words, said_day(reader.event), ahead=True) if reader.language.reads_dates else ()
    labels = ", ".join(day.label for day in dates if day.relative and day.label)
    say = f"{sentence_of(say).rstrip('.')} ({labels})." if labels else sentence_of(say)
    return [_asked(inner, reader, say, predicate, text or words, category, 0.8)]


def _ordered(found: re.Match[str], sentence: TextSpan, reader: EventReader) -> list[Proposition] | None:
    """Return a standing order. One without a word of lasting must not point at what is on the table."""
    generic = found.groupdict().get("generic")
    rule = generic or found["rule"]
    tail = reader.language.patterns["tails"].search(rule, max(0, len(rule) - 60))
    rule = rule[: tail.start()] if tail else rule
    if generic and reader.language.guards["pointing"].search(generic):
        return None
    if not is_complete(rule, reader.language) or reader.language.guards["unclear"].match(rule):
        return None
    text = in_third_person(rule, reader) if reader.language.third_person else rule
    if text is None:
        return None
    order = template_filled(reader.language.say["order"], {"who": reader.who, "words": with_small_initial(text)})
    return [_asked(sentence, reader, sentence_of(order), "instructed", text, _RULED, 0.85)]


def read_correction(sentence: TextSpan, reader: EventReader, wrong: bool = False) -> Proposition | None:
    """Return the correction in a sentence that only sets a value right: "No, it is Bergen, not Oslo"; and, without an
    object, in one that begins with or follows on (`wrong`) such a word: "No, the limit is 40, not 30"."""
    text = sentence.text.rstrip(" .!")
    wrong = wrong or reader.language.patterns["wrong"].match(text) is not None
    for form in reader.language.requests["correct"]:
        found = form.fullmatch(text) if len(text) <= LONGEST_CLAUSE else None
        values = values_of(found, reader.language) if found else {}
        if "words" in values:
            own = found and wrong and not _names_nobody(values["words"], reader, "correct")
            whole = _noted(_inner(found, sentence), reader, "said", None, _KEPT) if found and own else []
            return whole[0]._replace(category=CORRECTION, object=None, former=values["former"]) if whole else None
        named = values and all(is_specific(values[name]) for name in ("new", "former"))
        if named or (values and wrong):
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


# Of an unread message, a sentence that looks enough like something to keep (a logit) is shown to a person.
_STRONG = 0.2
_LONGEST_CANDIDATE = 400  # characters
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|['’]s|['’]re|runs?|goes|ist|sind|war|waren|hat|haben|läuft)\b", re.IGNORECASE
)


def _tells_nothing(text: str) -> bool:
    """Return whether a sentence is not meant, an errand, or takes back or sets right what was said before."""
    language, text = language_of(text), text.replace("’", "'")
    passing = language.guards["passing"].match(text) or language.patterns["cancels"].match(text)
    return passing is not None or language.guards["untrue"].search(text) is not None


def _strongest(sentences: Iterable[TextSpan]) -> TextSpan | None:
    """Return the sentence that looks most like something to keep, the first of equals, or None if none does so."""
    found = [sentence for sentence in sentences if len(sentence.text) <= _LONGEST_CANDIDATE]
    found = [each for each in found if not _tells_nothing(each.text)]
    best = max(found, key=lambda sentence: keeping_score(sentence.text), default=None)
    return best if best and keeping_score(best.text) >= _STRONG else None
