"""The dates in a clause: which way they look, when what it says began to be true, and the clause without them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from clawmem.learning.english import grammar
from clawmem.learning.english.third_person import article
from clawmem.learning.english.verbs import PAST, PRESENT
from clawmem.learning.english.words import PRAISED
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.date_words import DateMatch, find_dates
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.event import Event

_THEIR_WORK = re.compile(
    r"\b[Tt]his (?=(?:app|project|site|website|application|api|codebase|portfolio|dashboard|repo|program)\b)"
)
_BIRTH = re.compile(r"\b(?:birthday|born)\b")
_RESOLVING = frozenset("decide agree promise arrange choose resolve vow".split())
# The day that something was moved to lies ahead, though the moving is over.
_MOVED_TO = re.compile(
    r"(?:moved|pushed|changed|extended|postponed|delayed|rescheduled|brought|bumped|set|scheduled)\b.* "
    r"(?:to|until|till|for)\b"
)
# With a coming day these tell of a state that begins on it.
_TURNS = frozenset(
    "start begin move relocate join rejoin return go come leave quit retire switch migrate become marry adopt open "
    "close end finish stop emigrate immigrate transfer".split()
)
_GOT = re.compile(r"(?:married|engaged|divorced|promoted|back|an? |the |my |our )")
# What is said of a coming day is so now; only a state of these kinds begins on it.
_STATES = frozenset("status milestone identity relationship preference habit health".split())


def said_day(event: Event) -> date:
    """The day an event was said; the first day of 1970 where its time is none."""
    try:
        return date.fromisoformat(event.timestamp[:10])
    except ValueError:
        return date(1970, 1, 1)


def looks_ahead(reading: grammar.ParsedClause) -> bool:
    """Whether the dates in a clause are to come, as far as its verb tells."""
    return (
        reading.aspect == grammar.FUTURE
        or reading.lemma in ("plan", "intend", "want", "hope")
        or resolves(reading)
        or (_is_thing(reading) and reading.lemma == "be" and _MOVED_TO.match(reading.rest) is not None)
        or (reading.aspect in (grammar.DOING, grammar.BE) and not reading.past)
        or (reading.aspect not in (PAST, grammar.HAVE_DONE) and reading.lemma == "have" and not reading.past)
    )


def _is_thing(reading: grammar.ParsedClause) -> bool:
    return reading.person in (grammar.THING, grammar.MINE)


def resolves(reading: grammar.ParsedClause) -> bool:
    """Whether it tells of a resolution to do something: `decided to ship on Friday` speaks of the Friday to come."""
    return reading.lemma in _RESOLVING and reading.rest.startswith(("to ", "not to ", "that "))


def resolved_at(text: str, reading: grammar.ParsedClause) -> int:
    """Where in a clause what was resolved begins: the dates before that tell of the resolution, which is over."""
    return max(0, text.find(reading.rest[:8])) if resolves(reading) else 0


def holds_already(reading: grammar.ParsedClause) -> bool:
    """Whether a clause tells what is so now ("I'm working on ..."), and not of a turn ("I'm moving on Friday")."""
    now = reading.aspect in (grammar.DOING, grammar.BE, grammar.BEEN_DOING, PRESENT) and not reading.past
    return now and reading.lemma not in _TURNS and not (reading.lemma == "get" and _GOT.match(reading.rest))


def beginning(dates: Iterable[DateMatch], category: str, said: date, holds: bool = False) -> str | None:
    """The day from which on it is true, of the dates in a clause: one that ends it is none, nor is one that only
    names a thing, nor the coming day of a plan, a decision or an event, which is known and true as soon as it is
    told; nor, where it `holds` already, a coming day that is not named as its first."""
    for found in dates:
        if not found.day or found.until or found.names:
            continue
        if found.day <= said.isoformat() or (category in _STATES and (found.since or not holds)):
            return found.day
    return None


def without_value_as_beginning(proposition: Proposition, catalog: Catalog) -> Proposition:
    """The proposition with no day it is true from where its date is the value itself, such as a deadline."""
    entry = catalog.predicates.get(proposition.predicate or "")
    dated = entry is not None and entry.value == "date" and not (proposition.ended or proposition.former)
    return proposition._replace(valid_from=None) if dated else proposition


_DANGLES = re.compile(
    r"\b(?:is|are|was|due|due (?:on|by|at)|"
    r"(?:moved|pushed|postponed|set|rescheduled|extended|changed)(?: \w+)? (?:to|for|until))$"
)


def without_dates(text: str, dates: tuple[DateMatch, ...]) -> str:
    """The clause without dates that only mean something on the day they were said; one that it ends in because it is
    the point of it ("The deadline is Friday") is written for good instead."""
    last = dates[-1] if dates else None
    if last and last.relative and last.end >= len(text.rstrip(" .!")) and _DANGLES.search(text[: last.start].rstrip()):
        text = f"{text[: last.start]}{last.label}{text[last.end :]}"
        dates = dates[:-1]
    for found in reversed(dates):
        if found.relative:
            before, after = text[: found.start].rstrip(), text[found.end :]
            text = f"{before} {after.lstrip(' ,') if not before else after.lstrip()}"
        elif found.label and not _BIRTH.search(text):
            joint = ", " if found.label[:4].isdigit() else " "
            text = text[: found.end] + joint + re.findall(r"\d{4}", found.label)[0] + text[found.end :]
    text = _THEIR_WORK.sub("the ", PRAISED.sub(article, text))
    words = re.sub(r" ([,.])", r"\1", " ".join(text.split())).strip(" ,")
    return re.sub(
        r"^(?:[Ss]tarting|[Oo]n|[Bb]y|[Ff]rom|[Ss]ince|[Aa]round|[Jj]ust|[Bb]ack|[Ee]arlier|[Ll]ate|"
        r"[Ee]arly)\b[, ]+(?=(?:I|[Ww]e|[Mm]y)\b)",
        "",
        words,
    )


def without_any_date(text: str, said: date) -> str:
    """A text with every date in it cut out."""
    for found in reversed(find_dates(text, said)):
        text = f"{text[: found.start].rstrip(' ,')} {text[found.end :].lstrip(' ,')}"
    return text


def label_of(dates: Iterable[DateMatch]) -> str:
    """How the dates that were cut out of a clause are written for good."""
    return ", ".join(dict.fromkeys(found.label for found in dates if found.label and found.relative))


def label_ahead(dates: Iterable[DateMatch], said: date) -> str:
    """The label of those dates that are to come."""
    return label_of(found for found in dates if found.day and found.day > said.isoformat())


def settled(text: str) -> str:
    """Words that point at the project the speaker works on, made to name it."""
    return _THEIR_WORK.sub("the ", text).strip(" ,.!;:")
