"""Extraction by rules: from one event to the propositions in it, with no model and no network."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import date
from typing import NamedTuple

from clawmem.learning import grammar, noise
from clawmem.learning.antecedents import turned_round, with_antecedent
from clawmem.learning.hints import Relation, hints_of, relation_of
from clawmem.learning.injection import as_trusted
from clawmem.learning.relative_dates import Found, find_dates
from clawmem.learning.requests import asked_to_keep, assistant_says, tool_reports
from clawmem.learning.requirements import requirement
from clawmem.learning.sentences import LONGEST_SENTENCE, Piece, clauses, sentences, sub_piece
from clawmem.learning.shapes.classify import classify
from clawmem.learning.shapes.shape import DATELESS, OWN_ATTRIBUTES, Setting, Shape
from clawmem.learning.third_person import about, article, first_verb, statement, subject_of
from clawmem.learning.verbs import PAST
from clawmem.learning.words import PRAISED, RECENT
from clawmem.model.catalog import Catalog, canonical
from clawmem.model.event import Event
from clawmem.model.proposition import Hint, Proposition

THE_USER = "The user"
_LONGEST_STATEMENT = 45
_ASSISTANTS = frozenset("assistant ai bot claude chatgpt gpt gemini copilot agent system model".split())
_LEAD = re.compile(
    r"(?P<lead>(?:When|After|Before|During|As|While|Since|Growing up|For|Over|At|In|On|By|"
    r"Around) [^,.;]{3,60}), (?=(?:I|we|my)\b)",
    re.I,
)
_PROPER = re.compile(r"(?<=\s)(?!I\b|I')(?:[A-Z][\w&'-]+|\d[\w.,:%-]*)|[\"“][^\"”]{2,60}[\"”]")
_THEIR_WORK = re.compile(
    r"\b[Tt]his (?=(?:app|project|site|website|application|api|codebase|portfolio|dashboard|repo|program)\b)"
)
_BIRTH = re.compile(r"\b(?:birthday|born)\b")
_DANGLING = re.compile(
    r"\b(?:for|with|about|to|of|from|at|into|than|and|or|but|the|an?|few|as|such|my|our|their|some)\.$"
)
_AHEAD = (grammar.FUTURE,)


class Voice(NamedTuple):
    """Who speaks in an event: the name in statements, whether to an assistant, and how far it is to be trusted."""

    name: str
    chat: bool
    trust: str = "user"


def extract(event: Event, catalog: Catalog, speakers: Collection[str] = ()) -> tuple[Proposition, ...]:
    """The propositions in one event; `speakers` names the people whose every turn is read in full. What stands beside
    orders to a machine is trusted as little as they are."""
    return as_trusted(event, _extract(event, catalog, speakers))


def _extract(event: Event, catalog: Catalog, speakers: Collection[str]) -> tuple[Proposition, ...]:
    if event.recalled or event.role == "system" or not event.text.strip():
        return ()
    if event.role == "tool" or event.kind in ("tool_call", "tool_result"):
        return tuple(tool_reports(event)) if event.kind != "tool_call" else ()
    voice = _voice(event, speakers)
    if voice is None:
        return tuple(assistant_says(event))
    found = (proposition for sentence in sentences(event.text) for proposition in _in_sentence(sentence, event, voice))
    return tuple(_mapped(proposition, catalog) for proposition in _distinct(found))


def _voice(event: Event, speakers: Collection[str]) -> Voice | None:
    """Who speaks; None for an assistant."""
    speaker = (event.speaker or "").strip()
    person = speaker and speaker.lower() not in _ASSISTANTS | {"user", "human", "me"}
    if event.role == "assistant" and not (person and speaker in speakers):
        return None
    among_people = len([name for name in speakers if name.lower() not in _ASSISTANTS]) > 1
    return Voice(speaker if person else THE_USER, chat=not (person and among_people))


def _distinct(found: Iterator[Proposition]) -> Iterator[Proposition]:
    seen = set()
    for proposition in found:
        if proposition.statement not in seen:
            seen.add(proposition.statement)
            yield proposition


def _mapped(proposition: Proposition, catalog: Catalog) -> Proposition:
    """The proposition with its predicate as the catalog calls it, or none where the catalog does not know it."""
    name = canonical(catalog, proposition.predicate) if proposition.predicate else None
    return proposition._replace(predicate=name)


def _in_sentence(sentence: Piece, event: Event, voice: Voice) -> Iterator[Proposition]:
    kept = asked_to_keep(sentence, event, voice.name, voice.chat)
    if kept:
        rest, proposition = kept
        inner = list(_in_clauses(rest, event, voice)) if rest else []
        yield from (told._replace(confidence=0.95, importance=max(told.importance, 0.8)) for told in inner)
        if not inner and proposition:
            yield proposition
    elif not noise.is_jest(sentence.text) and (voice.chat or not noise.is_question(sentence.text)):
        wanted = requirement(sentence, event, voice.name, voice.trust)
        yield from [wanted] if wanted else _in_clauses(sentence, event, voice)


def _in_clauses(sentence: Piece, event: Event, voice: Voice) -> Iterator[Proposition]:
    parts = list(clauses(sentence)) if len(sentence.text) <= 20 * LONGEST_SENTENCE else []
    asks = noise.is_question(sentence.text)
    for number, part in enumerate(parts):
        if asks and number == len(parts) - 1:
            continue
        piece = noise.bare(Piece(part.text.replace("’", "'"), part.start, part.end))
        if 6 <= len(piece.text) <= LONGEST_SENTENCE and not noise.is_noise(piece.text):
            yield from _in_clause(piece, event, voice)


def _in_clause(piece: Piece, event: Event, voice: Voice) -> Iterator[Proposition]:
    said = _said(event)
    piece = turned_round(with_antecedent(piece, event.text))
    lead = _LEAD.match(piece.text)
    main = sub_piece(piece, lead.end(), len(piece.text)) if lead else piece
    first = find_dates(main.text, said)
    reading = grammar.read(_without(main.text, first), past_hint=any(found.relative for found in first))
    if reading is None:
        return
    ahead = _looks_ahead(reading)
    early = find_dates(lead["lead"], said, ahead) if lead else ()
    dates = find_dates(main.text, said, ahead)
    text = _without(main.text, dates)
    reading = grammar.read(text, past_hint=any(found.relative for found in dates)) or reading
    setting = Setting(
        bool(dates or early or RECENT.search(text) or _PROPER.search(" " + reading.rest)),
        bool(dates or early),
        voice.chat,
    )
    shape = classify(reading, setting)
    relation = relation_of(reading, voice.name)
    if shape is None and relation and relation.name:
        yield _kinship(relation, piece, event, voice)
    if shape:
        yield from _propose(
            piece, reading, shape, dates + early, _without(lead["lead"], early) if lead else "", event, voice
        )


def _propose(
    piece: Piece,
    reading: grammar.Reading,
    shape: Shape,
    dates: tuple[Found, ...],
    lead: str,
    event: Event,
    voice: Voice,
) -> Iterator[Proposition]:
    label = ", ".join(dict.fromkeys(found.label for found in dates if found.label and found.relative))
    context = piece.text + " " + event.text[:400]
    words = statement(reading, voice.name, _settled(reading.rest), piece.text, label, lead)
    if not 3 <= len(words.split()) <= _LONGEST_STATEMENT or _DANGLING.search(words) or _lacks_company(reading):
        return
    subject = subject_of(reading, voice.name, piece.text)
    relation = relation_of(_owner(reading) if shape.predicate in OWN_ATTRIBUTES else reading, voice.name)
    day = next((found.day for found in dates if found.day), None)
    main = Proposition(
        statement=words,
        event_id=event.id,
        span=(piece.start, piece.end),
        source_text=event.text[piece.start : piece.end],
        subject=_triple_subject(reading, shape, relation, subject, voice.name),
        predicate=shape.predicate,
        object=_object(shape, said=_said(event)) or None,
        relation_phrase=reading.verb or None,
        category=shape.category,
        confidence=shape.confidence,
        importance=shape.importance,
        valid_from=day or (event.timestamp[:10] if shape.ended or shape.former else None),
        entity_hints=hints_of(reading, shape, voice.name, relation, context),
        trust=voice.trust,
        ended=shape.ended,
        former=shape.former,
        said_at=event.timestamp,
    )
    if relation and relation.name:
        yield _kinship(relation, piece, event, voice)
    yield main


def _kinship(relation: Relation, piece: Piece, event: Event, voice: Voice) -> Proposition:
    """Who somebody is to the speaker, told in passing ("my sister Ana")."""
    hint = Hint("person", "User" if voice.name == THE_USER else voice.name, "speaker")
    close = (Hint("person", relation.name or "", "relation"),) if relation.predicate != "pet" else ()
    return Proposition(
        statement=f"{relation.name} is {voice.name}'s {relation.noun}.".replace("The user's", "the user's"),
        event_id=event.id,
        span=(piece.start, piece.end),
        source_text=event.text[piece.start : piece.end],
        subject=_subject_name(voice.name),
        predicate=relation.predicate,
        object=relation.name,
        relation_phrase=f"has a {relation.noun}",
        category="relationship",
        confidence=0.85,
        importance=0.75,
        entity_hints=(hint, *close),
        trust=voice.trust,
        said_at=event.timestamp,
    )


def _triple_subject(reading: grammar.Reading, shape: Shape, relation: Relation | None, subject: str, name: str) -> str:
    """Whom the triple is about: the speaker also where they say "we" or name an attribute of their own."""
    if relation and relation.name:
        return relation.name
    if reading.person == grammar.WE:
        return _subject_name(name)
    if reading.person == grammar.MINE and shape.predicate in OWN_ATTRIBUTES and not relation:
        return _subject_name(name if _is_own(reading.subject, shape.predicate) else subject)
    if shape.predicate in OWN_ATTRIBUTES:
        return _subject_name(re.sub(r"'s (?!.*'s )[a-z -]+$", "", subject) if "'s " in reading.subject else subject)
    return _subject_name(subject)


def _is_own(subject: str, predicate: str | None) -> bool:
    """Whether an attribute is the speaker's and not that of a thing or of somebody else ("my kitchen budget")."""
    words = subject.split()[1:]
    return "'s " not in subject and (len(words) == 1 or predicate not in ("budget", "deadline"))


def _owner(reading: grammar.Reading) -> grammar.Reading:
    """The reading with its attribute taken off the subject: `my sister Ana's birthday` is about my sister Ana."""
    return reading._replace(subject=re.sub(r"'s [a-z -]+$", "", reading.subject))


def _object(shape: Shape, said: date) -> str:
    """The object in the third person; a date in it stays only where it is the point."""
    text = shape.object or ""
    if shape.predicate in DATELESS:
        for found in reversed(find_dates(text, said)):
            text = f"{text[: found.start].rstrip(' ,')} {text[found.end :].lstrip(' ,')}"
    if shape.predicate in ("lives_in", "works_at"):
        text = re.split(r",? (?:with|and|because|for|since|as|where|while|but|so|now) ", text)[0]
    return _settled(about(first_verb(text) or text))


def _subject_name(subject: str) -> str:
    """A subject as the triple holds it: the way a name is written, `the user` in the middle of a sentence."""
    return subject.replace(THE_USER, "the user").replace("The ", "the ", 1) if subject.startswith("The ") else subject


def _lacks_company(reading: grammar.Reading) -> bool:
    """Whether one person does something "together", with nobody named."""
    return (
        reading.person == grammar.SELF
        and re.search(r"\btogether\b(?! with)", reading.rest) is not None
        and (
            re.search(r"\b(?:put|putting|pull|pulling|get|bring|work|with|my|and)\b", f"{reading.lemma} {reading.rest}")
            is None
        )
    )


def _looks_ahead(reading: grammar.Reading) -> bool:
    return (
        reading.aspect in _AHEAD
        or reading.lemma in ("plan", "intend", "want", "hope")
        or (reading.aspect in (grammar.DOING, grammar.BE) and not reading.past)
        or (reading.aspect not in (PAST, grammar.HAVE_DONE) and reading.lemma == "have" and not reading.past)
    )


def _said(event: Event) -> date:
    try:
        return date.fromisoformat(event.timestamp[:10])
    except ValueError:
        return date(1970, 1, 1)


def _without(text: str, dates: tuple[Found, ...]) -> str:
    """The clause without dates that only mean something on the day they were said."""
    for found in reversed(dates):
        if found.relative:
            before, after = text[: found.start].rstrip(), text[found.end :]
            text = f"{before} {after.lstrip(' ,') if not before else after.lstrip()}"
        elif found.label and not _BIRTH.search(text):
            joint = ", " if found.label[:4].isdigit() else " "
            text = text[: found.end] + joint + re.findall(r"\d{4}", found.label)[0] + text[found.end :]
    text = _THEIR_WORK.sub("the ", PRAISED.sub(article, text))
    words = re.sub(r"\s+([,.])", r"\1", " ".join(text.split())).strip(" ,")
    return re.sub(
        r"^(?:[Ss]tarting|[Oo]n|[Bb]y|[Ff]rom|[Ss]ince|[Aa]round|[Jj]ust|[Bb]ack|[Ee]arlier|[Ll]ate|"
        r"[Ee]arly)\b[, ]+(?=(?:I|[Ww]e|[Mm]y)\b)",
        "",
        words,
    )


def _settled(text: str) -> str:
    """Words that point at the project the speaker works on, made to name it."""
    return _THEIR_WORK.sub("the ", text).strip(" ,.!;:")
