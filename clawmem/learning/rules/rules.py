"""Extraction by rules: from one event to its propositions, without a model or network."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date

from clawmem.learning.attribution.orders import limit_trust
from clawmem.learning.attribution.quoted import own_sentences
from clawmem.learning.attribution.speaker import THE_USER, Speaker, name_user, speaker_of
from clawmem.learning.english import grammar
from clawmem.learning.english.quotations import has_unmatched_quote
from clawmem.learning.english.sentences import LONGEST_SENTENCE, TextSpan, clauses, sub_span
from clawmem.learning.english.third_person import statement, subject_of
from clawmem.learning.english.words import HAS_A, RECENT
from clawmem.learning.rules import noise
from clawmem.learning.rules.antecedents import object_first, with_antecedent
from clawmem.learning.rules.companions import people_named, rejoin_parts, split_home_and_work
from clawmem.learning.rules.corrections import corrected_value, is_specific, mark_correction, split_correction
from clawmem.learning.rules.dating import (
    date_label,
    future_date_label,
    is_current,
    is_future,
    name_project,
    resolution_start,
    said_day,
    start_day,
    states_resolution,
    without_dates,
    without_value_as_start,
)
from clawmem.learning.rules.hints import PersonRelation, hints_of, relation_of, with_introduced_name
from clawmem.learning.rules.known_changes import as_resumed, as_retraction, forget_request, resumed_diet
from clawmem.learning.rules.paraphrases import plain_form
from clawmem.learning.rules.requests import assistant_propositions, remember_request, tool_propositions
from clawmem.learning.rules.requirements import requirement
from clawmem.learning.rules.shapes.classify import classify
from clawmem.learning.rules.shapes.shape import OWN_ATTRIBUTES, ClauseContext, ClauseShape
from clawmem.learning.rules.shapes.turns import lost_job
from clawmem.learning.rules.shared_subject import read_parts
from clawmem.learning.rules.triples import subject_name, triple_object, triple_subject, without_attribute
from clawmem.model.facts.catalog import Catalog, canonical_predicate
from clawmem.model.facts.validity import PLANS
from clawmem.model.language.date_words import DateMatch, find_dates, last_coming_day
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.event import SILENT_KINDS, Event, is_from_outside

_LONGEST_STATEMENT = 45
_WITH_COMPANY = frozenset(("lives_in", "lives_with", "works_at"))
_LEAD = re.compile(
    r"(?P<lead>(?:When|After|Before|During|As|While|Since|Growing up|For|Over|At|In|On|By|"
    r"Around) [^,.;]{3,60}), (?=(?:I|we|my)\b)",
    re.I,
)
# "i live", "i'm" and "im": a small letter before a word of prose is the speaker as well.
_SMALL_I = re.compile(r"(?<![\w.'’/-])i(?=(?:['’]?(?:m|ve)|['’](?:d|ll))?\s+(?!in\b|is\b|am I\b)[a-z])")
_MAIN = re.compile(r",? (?=(?:I|[Ww]e|[Mm]y)\b)")
_PROPER = re.compile(r"(?<=\s)(?!I\b|I')(?:[A-Z][\w&'-]+|\d[\w.,:%-]*)|[\"“][^\"”]{2,60}[\"”]")
_DANGLING = re.compile(
    r"\b(?:for|with|about|to|of|from|at|into|than|and|or|but|the|an?|few|as|such|my|our|their|some)\.$"
)


def extract(event: Event, catalog: Catalog, speakers: Collection[str] = ()) -> tuple[Proposition, ...]:
    """Return the propositions in one event.

    `speakers` names the people whose turns are read in full. Content next to injected instructions gets low trust.
    """
    return limit_trust(event, _extract(event, catalog, speakers))


def _extract(event: Event, catalog: Catalog, speakers: Collection[str]) -> tuple[Proposition, ...]:
    if event.recalled or event.role == "system" or not event.text.strip():
        return ()
    if event.kind in SILENT_KINDS:
        return ()
    if event.role == "tool" or event.kind == "tool_result":
        return tuple(name_user(one, speakers) for one in tool_propositions(event))
    if is_from_outside(event):
        # What an outsider says of others is a claim; "I" is nobody there, and never the user.
        return tuple(
            one for one in _propositions_in(event, catalog, Speaker(THE_USER, chat=False)) if not _of_the_user(one)
        )
    voice = speaker_of(event, speakers)
    if voice is None:
        return tuple(name_user(one, speakers) for one in assistant_propositions(event))
    return _propositions_in(event, catalog, voice)


def _propositions_in(event: Event, catalog: Catalog, voice: Speaker) -> tuple[Proposition, ...]:
    heard = event._replace(text=_SMALL_I.sub("I", event.text))
    own = own_sentences(heard.text)
    found = (proposition for sentence in own for proposition in _in_sentence(sentence, heard, voice))
    return tuple(_quoting(event, _mapped(proposition, catalog)) for proposition in _distinct(found))


def _of_the_user(proposition: Proposition) -> bool:
    found = (proposition.statement, proposition.subject, proposition.object)
    return any(THE_USER.casefold() in (text or "").casefold() for text in found)


def _quoting(event: Event, proposition: Proposition) -> Proposition:
    """The proposition with its evidence as it was written."""
    start, end = proposition.span
    return proposition._replace(source_text=event.text[start:end])


def _distinct(found: Iterator[Proposition]) -> Iterator[Proposition]:
    """Each statement once; one that holds half of a quotation says what nobody said."""
    seen = set()
    for proposition in found:
        if proposition.statement not in seen and not has_unmatched_quote(proposition.statement):
            seen.add(proposition.statement)
            yield proposition


def _mapped(proposition: Proposition, catalog: Catalog) -> Proposition:
    """The proposition with its predicate as the catalog calls it, or none where the catalog does not know it."""
    name = canonical_predicate(catalog, proposition.predicate) if proposition.predicate else None
    return without_value_as_start(proposition._replace(predicate=name), catalog)


def _in_sentence(sentence: TextSpan, event: Event, voice: Speaker) -> Iterator[Proposition]:
    kept, forgotten = remember_request(sentence, event, voice.name, voice.chat), forget_request(sentence)
    if forgotten:
        yield from (as_retraction(one) for one in _in_clauses(forgotten, event, voice))
    elif kept:
        rest, proposition = kept
        inner = list(_in_clauses(rest, event, voice)) if rest else []
        yield from (found._replace(confidence=0.95, importance=max(found.importance, 0.8)) for found in inner)
        if not inner and proposition:
            yield proposition
    elif not noise.is_jest(sentence.text) and (voice.chat or not noise.is_question(sentence.text)):
        whole = requirement(sentence, event, voice.name, voice.trust) or corrected_value(
            sentence, event, voice.name, voice.trust
        )
        yield from [whole] if whole else _in_clauses(sentence, event, voice)


def _in_clauses(sentence: TextSpan, event: Event, voice: Speaker) -> Iterator[Proposition]:
    parts = (
        list(rejoin_parts(tuple(clauses(sentence)), sentence)) if len(sentence.text) <= 20 * LONGEST_SENTENCE else []
    )
    asks = noise.is_question(sentence.text)
    for number, part in enumerate(parts):
        if asks and number == len(parts) - 1:
            continue
        piece = _begun(noise.strip_noise(TextSpan(part.text.replace("’", "'"), part.start, part.end)), part)
        if 6 <= len(piece.text) <= LONGEST_SENTENCE and not noise.is_noise(piece.text):
            yield from (
                mark_correction(one, event) for one in read_parts(piece, lambda part: _in_parts(part, event, voice))
            )


def _begun(piece: TextSpan, part: TextSpan) -> TextSpan:
    """A clause that "Sorry, " or the like stood before, begun as a sentence is."""
    cut = piece.start > part.start and piece.text.startswith("the ")
    return TextSpan(f"T{piece.text[1:]}", piece.start, piece.end) if cut else piece


def _in_parts(piece: TextSpan, event: Event, voice: Speaker) -> Sequence[Proposition]:
    """What a clause says; where it tells of a home or an employer, those whom it names on the way as well."""
    each = [list(_in_clause(part, event, voice)) for part in split_home_and_work(piece)]
    whole_too = len(each) > 1 and not all(each)
    found = list(_in_clause(piece, event, voice)) if whole_too else [one for part in each for one in part]
    if any(one.predicate in _WITH_COMPANY for one in found):
        found += [_kinship(one.relation, TextSpan("", one.start, one.end), event, voice) for one in people_named(piece)]
    return found


def _in_clause(piece: TextSpan, event: Event, voice: Speaker) -> Sequence[Proposition]:
    """What a clause says; where it names the value that is wrong as well, and what it says is of a known kind, that
    one is replaced."""
    again = resumed_diet(piece, event.text)
    if again:
        return [as_resumed(one) for one in _read(again, event, voice) if one.predicate == "dislikes"]
    piece = object_first(plain_form(with_antecedent(piece, event.text), event.text))
    kept, former = split_correction(piece)
    found = list(_read(kept, event, voice, former)) if former else []
    return found if any(one.former for one in found) else list(_read(piece, event, voice))


def _lead_of(piece: TextSpan, said: date) -> int:
    """Where the main clause begins after words that say when: `When I was ten, I` or `In May I`."""
    lead = _LEAD.match(piece.text)
    if lead:
        return lead.end()
    first = next(iter(find_dates(piece.text, said)), None)
    main = _MAIN.match(piece.text, first.end) if first and first.start == 0 and not first.relative else None
    return main.end() if main else 0


def _read(piece: TextSpan, event: Event, voice: Speaker, former: str | None = None) -> Iterator[Proposition]:
    said = said_day(event)
    begins = _lead_of(piece, said)
    led = piece.text[:begins].rstrip(" ,")
    main = sub_span(piece, begins, len(piece.text))
    first = find_dates(main.text, said)
    reading = grammar.read(without_dates(main.text, first), past_hint=any(found.relative for found in first))
    if reading is None:
        return
    ahead = is_future(reading)
    early = find_dates(led, said, ahead and not states_resolution(reading))
    dates = find_dates(main.text, said, ahead, resolution_start(main.text, reading))
    text = without_dates(main.text, dates)
    reading = grammar.read(text, past_hint=any(found.relative for found in dates)) or reading
    setting = ClauseContext(
        bool(dates or early or RECENT.search(text) or _PROPER.search(" " + reading.rest)),
        bool(dates or early),
        voice.chat,
    )
    shape = classify(reading, setting)
    shape = lost_job(shape, reading, piece.text, dates, said) if shape else None
    relation = with_introduced_name(reading, relation_of(reading, voice.name), former)
    if relation and relation.name and (shape is None or former):
        kin = _kinship(relation, piece, event, voice)._replace(former=former)
        named_here = relation_of(reading, voice.name) != relation
        yield _no_longer(kin, event) if reading.ended and named_here else kin
    if shape:
        if former and shape.predicate and is_specific(former) == is_specific(shape.object or ""):
            shape = shape._replace(former=shape.former or former)
        yield from _propose(piece, reading, shape, dates + early, without_dates(led, early), event, voice)


def _propose(
    piece: TextSpan,
    reading: grammar.ParsedClause,
    shape: ClauseShape,
    dates: tuple[DateMatch, ...],
    lead: str,
    event: Event,
    voice: Speaker,
) -> Iterator[Proposition]:
    if shape.predicate in ("lives_in", "lives_with") and reading.person == grammar.WE:
        # Who says "we moved" moved; that they are a team or a family would be a guess.
        reading = reading._replace(person=grammar.SELF)
    label = date_label(found for found in dates if found.label not in reading.rest)
    context = piece.text + " " + event.text[:400]
    words = statement(reading, voice.name, name_project(reading.rest), piece.text, label, lead)
    if not 3 <= len(words.split()) <= _LONGEST_STATEMENT or _DANGLING.search(words) or _lacks_company(reading):
        return
    subject = subject_of(reading, voice.name, piece.text)
    relation = relation_of(without_attribute(reading) if shape.predicate in OWN_ATTRIBUTES else reading, voice.name)
    day = start_day(dates, shape.category, said_day(event), is_current(reading))
    main = Proposition(
        statement=words,
        event_id=event.id,
        span=(piece.start, piece.end),
        source_text=event.text[piece.start : piece.end],
        subject=triple_subject(reading, shape, relation, subject, voice.name),
        predicate=shape.predicate,
        object=triple_object(shape, said_day(event), future_date_label(dates, said_day(event))) or None,
        relation_phrase=reading.verb or None,
        category=shape.category,
        confidence=shape.confidence,
        importance=shape.importance,
        valid_from=day or (event.timestamp[:10] if shape.ended or shape.former else None),
        valid_to=last_coming_day(dates, said_day(event)) if shape.category in PLANS and not shape.ended else None,
        entity_hints=hints_of(reading, shape, voice.name, relation, context),
        trust=voice.trust,
        ended=shape.ended,
        former=shape.former,
        scope=shape.scope,
        said_at=event.timestamp,
    )
    if relation and relation.name:
        yield _kinship(relation, piece, event, voice)
    yield main


def _kinship(relation: PersonRelation, piece: TextSpan, event: Event, voice: Speaker) -> Proposition:
    """Who somebody is to the speaker, told in passing ("my sister Ana")."""
    hint = EntityHint("person", "User" if voice.name == THE_USER else voice.name, "speaker")
    close = (EntityHint("person", relation.name or "", "relation"),) if relation.predicate != "pet" else ()
    return Proposition(
        statement=f"{relation.name} is {voice.name}'s {relation.noun}.".replace("The user's", "the user's"),
        event_id=event.id,
        span=(piece.start, piece.end),
        source_text=event.text[piece.start : piece.end],
        subject=subject_name(voice.name),
        predicate=relation.predicate,
        object=relation.name,
        relation_phrase=f"{HAS_A}{relation.noun}",
        category="relationship",
        confidence=0.85,
        importance=0.75,
        entity_hints=(hint, *close),
        trust=voice.trust,
        said_at=event.timestamp,
    )


def _no_longer(kin: Proposition, event: Event) -> Proposition:
    """That somebody is to the speaker what they were no more."""
    words = re.sub(r"^(.+?) is ", r"\1 is no longer ", kin.statement)
    return kin._replace(statement=words, ended=True, valid_from=event.timestamp[:10])


def _lacks_company(reading: grammar.ParsedClause) -> bool:
    """Whether one person does something "together", with nobody named."""
    return (
        reading.person == grammar.SELF
        and re.search(r"\btogether\b(?! with)", reading.rest) is not None
        and (
            re.search(r"\b(?:put|putting|pull|pulling|get|bring|work|with|my|and)\b", f"{reading.lemma} {reading.rest}")
            is None
        )
    )
