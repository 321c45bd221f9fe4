"""Extraction by rules: from one event to its propositions, by patterns that must match a whole clause."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from clawmem.learning.attribution.orders import limit_trust
from clawmem.learning.attribution.quoted import own_sentences
from clawmem.learning.attribution.sentences import TextSpan, sub_span
from clawmem.learning.attribution.speaker import THE_USER, Speaker, speaker_of
from clawmem.learning.rules.corrections import CORRECTION, is_specific
from clawmem.learning.rules.dating import full_date, names_day, said_day, start_day, without_value_as_start
from clawmem.learning.rules.known_changes import RETRACTION
from clawmem.learning.rules.language import Form, Language, Rule, language_of
from clawmem.model.facts.catalog import Catalog, canonical_predicate
from clawmem.model.language.date_words import DateMatch, find_dates
from clawmem.model.language.text import normal, one_line
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.event import SILENT_KINDS, Event, is_from_outside

# Longer clauses and sentences are not read: no plain statement has this length, and it bounds the time of a pattern.
LONGEST_CLAUSE, LONGEST_SENTENCE = 200, 600
_PLAIN, _IN_PASSING = 0.85, 0.75  # confidence
_SAID_AFTER = 40  # characters after a clause, where "she said" may follow
_KEPT, _RULED = "fact", "instruction"
_STOPS = " .,;:!?"
_EDGES = " .,;:!"
_LOWER = re.compile(r"(?<![\w'.@/-])[^\W\d_]{3,}(?![\w'@/])")
_NAMED = ("lives_in", "works_at", "from")
_SLOT = re.compile(r"\{([a-z_]+)\}")


class _Reader(NamedTuple):
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
    def subject(self) -> str:
        return in_triple(self.voice.name)

    @property
    def hint(self) -> EntityHint:
        return EntityHint("person", "User" if self.voice.name == THE_USER else self.voice.name, "speaker")


def extract(event: Event, catalog: Catalog, speakers: Collection[str] = ()) -> tuple[Proposition, ...]:
    """Return the propositions in one event.

    Only people are read, in their own words: not assistants, tools, the system, and texts from outside. `speakers`
    names the people whose turns are read. Content next to injected instructions gets low trust.
    """
    if event.recalled or event.role in ("system", "tool") or event.kind in SILENT_KINDS or is_from_outside(event):
        return ()
    voice = speaker_of(event, speakers)
    if voice is None or not event.text.strip():
        return ()
    reader = _Reader(event, voice, language_of(event.text), catalog)
    return limit_trust(event, tuple(_distinct(_in_message(reader))))


def in_triple(name: str) -> str:
    """Return the name of a speaker as triples have it."""
    return in_text(name)


def in_text(words: str) -> str:
    """Return words about the speaker as they stand within a sentence."""
    return words.replace(THE_USER, "the user")


def _distinct(found: list[Proposition]) -> Iterator[Proposition]:
    seen = set()
    for one in found:
        if one.statement not in seen:
            seen.add(one.statement)
            yield one


def _in_message(reader: _Reader) -> list[Proposition]:
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
        wrong = reader.language.patterns["wrong"].fullmatch(plain.text.rstrip(_STOPS)) is not None
        found += last
    return found


def _in_sentence(sentence: TextSpan, reader: _Reader) -> Iterator[Proposition]:
    requested = _request(sentence, reader) if reader.voice.chat else None
    if requested is not None:
        yield from requested
        return
    if reader.language.guards["untrue"].search(sentence.text):
        return
    corrected = None if _asks(sentence) else _correction(sentence, reader)
    if corrected:
        yield corrected
    else:
        yield from _in_clauses(sentence, reader)


# --- statements ----------------------------------------------------------------------------------------------------


def _asks(sentence: TextSpan) -> bool:
    return sentence.text.rstrip(" \"')*_").endswith("?")


def _in_clauses(sentence: TextSpan, reader: _Reader) -> Iterator[Proposition]:
    """Read the clauses of a sentence; the last one of a question is what it asks."""
    clauses = list(_split(sentence, reader.language.patterns["joints"]))
    wrong = reader.language.patterns["wrong"].match(sentence.text)
    for clause in clauses[:-1] if _asks(sentence) else clauses:
        end = clause.end - sentence.start
        if reader.language.guards["unsure"].search(sentence.text, 0, end):
            return
        if reader.language.guards["reported"].search(sentence.text, 0, end + _SAID_AFTER):
            return
        begins = wrong is not None and clause.start - sentence.start <= wrong.end() + 1
        corrects = begins or reader.language.patterns["wrong"].match(clause.text) is not None
        bare = _without_edges(clause, reader.language)
        if 5 <= len(bare.text) <= LONGEST_CLAUSE:
            yield from (one._replace(corrects=corrects) for one in _in_clause(bare, reader))
            yield from _in_passing(bare, reader)


def _split(piece: TextSpan, joint: re.Pattern[str]) -> Iterator[TextSpan]:
    start = 0
    for cut in joint.finditer(piece.text):
        yield sub_span(piece, start, cut.start())
        start = cut.end()
    yield sub_span(piece, start, len(piece.text))


def _in_clause(bare: TextSpan, reader: _Reader) -> Iterator[Proposition]:
    whole = _statement(bare, bare.text, reader)
    yield from whole or _shared(bare, reader)


def _in_passing(bare: TextSpan, reader: _Reader) -> Iterator[Proposition]:
    """Read what a part of a clause says whatever the rest is: "my sister Ana"."""
    for rule in reader.language.rules:
        if rule.passing:
            for found in rule.hears[0].pattern.finditer(bare.text):
                piece = sub_span(bare, found.start(), found.end())
                yield from _proposed(rule, rule.hears[0].says, found, piece, reader, ())


def _without_edges(clause: TextSpan, language: Language) -> TextSpan:
    """Return the clause without greetings and fillers at its beginning and its end."""
    start = 0
    while (
        start < len(clause.text)
        and (head := language.patterns["heads"].match(clause.text, start))
        and head.end() > start
    ):
        start = head.end()
    tail = language.patterns["tails"].search(clause.text, max(start, len(clause.text) - 60))
    return sub_span(clause, start, tail.start() if tail else len(clause.text))


def _statement(piece: TextSpan, text: str, reader: _Reader) -> list[Proposition]:
    """Return what a clause says, without a date at its beginning or end, which is the start of what it says.

    A coming day must be named as the start ("from Monday"); anything else about it is planned.
    """
    said = said_day(reader.event)
    dates = find_dates(text, said) if reader.language.reads_dates else ()
    for date in dates:
        rest = text[: date.start] if date.end == len(text) else text[date.end :] if date.start == 0 else ""
        coming = date.day is not None and date.day > said.isoformat()
        if rest and (date.since or not coming) and not date.until:
            found = _matched(piece, rest.strip(_EDGES), reader, (date,))
            if found:
                return found
    found = _matched(piece, text, reader, (), dates) or _of_relative(piece, text, reader)
    if found or text != text.lower() or reader.event.text != reader.event.text.lower():
        return found
    return _matched(piece, _with_capitals(text), reader, (), dates, in_small=True)


def _with_capitals(text: str) -> str:
    """Return a text of a message in small letters with capitals for the words that are not common, likely names."""
    from clawmem.model.language.common_words import COMMON_WORDS  # few messages need it

    return _LOWER.sub(lambda word: word[0] if word[0] in COMMON_WORDS else word[0].capitalize(), text)


def _shared(piece: TextSpan, reader: _Reader) -> Iterator[Proposition]:
    """Read "I live in Leeds and work at Brightpath": the later parts have the subject of the first one."""
    subject = reader.language.patterns["shared_subject"].match(piece.text)
    parts = list(_split(piece, reader.language.patterns["shared"]))
    if subject is None or len(parts) < 2:
        return
    first, *others = parts
    yield from _statement(first, first.text, reader)
    for part in others:
        said = (f"{begin} {part.text}" for begin in (re.split(r"[' ]", subject[0])[0], subject[0]))
        yield from next((found for text in said if (found := _statement(part, text, reader))), [])


def _matched(
    piece: TextSpan,
    text: str,
    reader: _Reader,
    dates: tuple[DateMatch, ...],
    within: tuple[DateMatch, ...] = (),
    in_small: bool = False,
) -> list[Proposition]:
    """Return what the first rule that matches says. `dates` were cut off; a date `within` must be the value itself.

    With `in_small`, the capital letters are guessed, and only the plain forms of a home or an employer count.
    """
    dated = any(date.day for date in within)
    for rule in reader.language.rules:
        if not rule.passing and rule.of in ("", "thing" if reader.voice.chat else "people"):
            form, found = matched_form(rule, text) or (None, None)
            fits = found is not None and (not dated or "date" in found.re.groupindex)
            if in_small:
                fits = fits and rule.predicate in _NAMED and form is not None and form.says == rule.says
            made = list(_proposed(rule, form.says, found, piece, reader, dates)) if form and found and fits else []
            if made:
                return made
    return []


def matched_form(rule: Rule, text: str) -> tuple[Form, re.Match[str]] | None:
    """Return the first form of a rule that matches a whole text, with its match."""
    return next(((form, found) for form in rule.hears if (found := form.pattern.fullmatch(text))), None)


def tail_match(rule: Rule, rest: str, owned: bool) -> re.Match[str] | None:
    """Return the match of what a statement says of its subject, or None."""
    found = (tail.pattern.fullmatch(rest) for tail in rule.tails if tail.owned == owned)
    return next((one for one in found if one), None)


def _of_relative(piece: TextSpan, text: str, reader: _Reader) -> list[Proposition]:
    """Return what is said of a person close to the speaker: "My sister Ana lives in Leeds"."""
    language = reader.language
    head = language.patterns["relative"].fullmatch(text)
    if head is None:
        return []
    named, noun = head["name"], head["relation"]
    kin = template_filled(language.say["relative"], {"whose": reader.whose, "relation": noun.lower()})
    who = named or kin
    possessive = language.possessive.replace("{name}", who)
    for rule in language.rules:
        if rule.of or rule.subject != "{who}":
            continue
        found = tail_match(rule, head["rest"], bool(head["own"]))
        if found:
            names = {"who": who, "whose": possessive}
            hints = (EntityHint("person", named, "relation"), reader.hint) if named else (reader.hint,)
            return [
                one._replace(subject=who if named else in_text(kin), entity_hints=hints)
                for one in _proposed(rule, rule.says, found, piece, reader, (), names)
            ]
    return []


def _proposed(
    rule: Rule,
    says: str,
    found: re.Match[str],
    piece: TextSpan,
    reader: _Reader,
    dates: tuple[DateMatch, ...],
    names: Mapping[str, str] | None = None,
) -> Iterator[Proposition]:
    said = said_day(reader.event)
    own = found.groupdict().get("own") is not None
    slots = {name: text for name, text in values_of(found, reader.language).items() if name != "own"}
    values = {name: told for name, text in slots.items() if (told := _told(text, reader))}
    if len(values) < len(slots):
        return
    if "date" in values and reader.language.reads_dates:
        if rule.of != "thing" and not names_day(values["date"], said):
            return
        values["date"] = full_date(values["date"], said) if rule.of == "thing" else values["date"]
    team = template_filled(reader.language.say["team"], {"whose": reader.whose})
    who = {"who": reader.who, "whose": reader.whose, "user": reader.who if own else team} | dict(names or {})
    former = values.get("former")
    words = statement_of(rule, says, {**values, **who})
    value = template_filled(rule.object, {**values, **who})
    predicate = predicate_of(rule, values, reader.language)
    if predicate is None or not is_complete(words, reader.language) or (former and normal(former) == normal(value)):
        return
    changed = rule.ended or former
    start = start_day(dates, rule.category, said)
    proposition = Proposition(
        statement=words,
        event_id=reader.event.id,
        span=(piece.start, piece.end),
        source_text=reader.event.text[piece.start : piece.end],
        subject=template_filled(rule.subject, {**values, "who": reader.subject, "whose": in_text(reader.whose)}),
        predicate=canonical_predicate(reader.catalog, predicate),
        object=value or None,
        relation_phrase=template_filled(rule.phrase, values).lower() or None,
        category=rule.category,
        confidence=_IN_PASSING if rule.passing else _PLAIN,
        importance=rule.importance,
        valid_from=start or (reader.event.timestamp[:10] if changed else None),
        entity_hints=_hints(rule, values, reader),
        trust=reader.voice.trust,
        ended=rule.ended,
        former=former,
        said_at=reader.event.timestamp,
    )
    yield without_value_as_start(proposition, reader.catalog)


def values_of(found: re.Match[str], language: Language) -> dict[str, str]:
    """Return the slots of a match without punctuation at their ends; those without a text are left out.

    A common noun may stand first with a capital letter, which goes."""
    slots = {name: text.strip(_EDGES) for name, text in found.groupdict().items() if text and text.strip(_EDGES)}
    return {name: _small(text) if name in language.common_slots else text for name, text in slots.items()}


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


def _hints(rule: Rule, values: Mapping[str, str], reader: _Reader) -> tuple[EntityHint, ...]:
    if not rule.hint or rule.ended:
        return (reader.hint,)
    kind, slot, role = rule.hint
    title = values.get(slot, "")
    if not title[:1].isupper() or predicate_of(rule, values, reader.language) == "pet":
        return (reader.hint,)
    return reader.hint, EntityHint(kind, title, role)


# --- requests ------------------------------------------------------------------------------------------------------


def _request(sentence: TextSpan, reader: _Reader) -> list[Proposition] | None:
    """Return what a sentence asks to forget, to remember or always to do; None if it asks nothing of the kind."""
    text = sentence.text.rstrip(" .!?*_")
    if sentence.text.rstrip().endswith("?") and not reader.language.patterns["asking"].match(text):
        return None
    for kind, act in (("forget", _forgotten), ("keep", _kept), ("lesson", _lesson), ("order", _ordered)):
        for form in reader.language.requests[kind]:
            found = form.fullmatch(text)
            made = act(found, sentence, reader) if found else None
            if made is not None:
                return made
    return None


def _inner(found: re.Match[str], sentence: TextSpan, group: str = "words") -> TextSpan:
    return sub_span(sentence, *found.span(group))


def _forgotten(found: re.Match[str], sentence: TextSpan, reader: _Reader) -> list[Proposition]:
    """Return a retraction: of the statement that is repeated, or of what is known about the thing that is named."""
    if "words" in found.groupdict():
        inner = _inner(found, sentence)
        read = [*_in_clauses(inner, reader)]
        if read:
            return [
                one._replace(
                    statement=template_filled(reader.language.say["retracted"], {"words": _small(one.statement)}),
                    category=RETRACTION,
                    importance=0.3,
                    valid_from=None,
                    ended=True,
                )
                for one in read
            ]
        words = inner.text
        noun = None
    else:
        words = noun = found["noun"].strip(_STOPS)
    thing = re.sub(r"(?i)^(?:my|our|the|mein\w*|unser\w*) ", "", noun or words)
    predicate = canonical_predicate(reader.catalog, thing) if noun else None
    say = sentence_of(
        template_filled(reader.language.say["forget"], {"who": reader.who, "words": _told(words, reader) or words})
    )
    made = _asked(sentence, reader, say, predicate, None if predicate else thing, RETRACTION, 0.3)
    return [made._replace(ended=True)]


def _kept(found: re.Match[str], sentence: TextSpan, reader: _Reader) -> list[Proposition]:
    """Return what is to be remembered: as a statement where a pattern reads it, else in the words of the request."""
    inner = _inner(found, sentence)
    order = _request(inner, reader)
    if order:
        return order
    sure = not any(reader.language.guards[name].search(inner.text) for name in ("unsure", "reported", "untrue"))
    read = list(_in_clauses(inner, reader)) if sure else []
    if sum(len(one.source_text) for one in read) * 3 > len(inner.text) * 2:
        return [one._replace(confidence=0.95, importance=max(one.importance, 0.8)) for one in read]
    return _noted(inner, reader, "kept", None, _KEPT)


def _lesson(found: re.Match[str], sentence: TextSpan, reader: _Reader) -> list[Proposition]:
    return _noted(_inner(found, sentence), reader, "lesson", "learned", "lesson")


def _noted(inner: TextSpan, reader: _Reader, kind: str, predicate: str | None, category: str) -> list[Proposition]:
    words = inner.text.rstrip(_STOPS)
    if not is_complete(words, reader.language) or reader.language.guards["vague"].match(words):
        return []
    told = _told(words, reader)
    template = reader.language.say[kind if told else "quoted"]
    say = template_filled(template, {"who": reader.who, "words": told or words})
    dates = find_dates(words, said_day(reader.event), ahead=True) if reader.language.reads_dates else ()
    labels = ", ".join(one.label for one in dates if one.relative and one.label)
    say = f"{sentence_of(say).rstrip('.')} ({labels})." if labels else sentence_of(say)
    return [_asked(inner, reader, say, predicate, told or words, category, 0.8)]


def _ordered(found: re.Match[str], sentence: TextSpan, reader: _Reader) -> list[Proposition] | None:
    """Return a standing order. One without a word of lasting must not point at what is on the table."""
    generic = found.groupdict().get("generic")
    rule = generic or found["rule"]
    tail = reader.language.patterns["tails"].search(rule, max(0, len(rule) - 60))
    rule = rule[: tail.start()] if tail else rule
    if generic and reader.language.guards["pointing"].search(generic):
        return None
    if not is_complete(rule, reader.language):
        return None
    told = _told(rule, reader)
    if told is None:
        return None
    words = sentence_of(template_filled(reader.language.say["order"], {"who": reader.who, "words": _small(told)}))
    return [_asked(sentence, reader, words, "instructed", told, _RULED, 0.85)]


def _told(words: str, reader: _Reader) -> str | None:
    """Return words of the speaker in the third person, or None where a first person is left."""
    names = {"who": reader.subject, "whose": in_text(reader.whose)}
    for form, put in reader.language.third_person:
        for name, value in names.items():
            put = put.replace(f"{{{name}}}", value)
        words = form.sub(put, words)
    return None if reader.language.patterns["first_person"].search(words) else one_line(words)


def _small(words: str) -> str:
    """Return words that go on in a sentence: a capital letter of their first word goes, unless it is a name's."""
    return words[:1].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


def _correction(sentence: TextSpan, reader: _Reader) -> Proposition | None:
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
    reader: _Reader,
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
        trust=reader.voice.trust,
        said_at=reader.event.timestamp,
    )
