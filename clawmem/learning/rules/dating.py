"""The dates in a clause: past or future, the start of validity, and the clause without its dates."""

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
    """Return the day an event was said, or 1970-01-01 if its timestamp is invalid."""
    try:
        return date.fromisoformat(event.timestamp[:10])
    except ValueError:
        return date(1970, 1, 1)


def is_future(reading: grammar.ParsedClause) -> bool:
    """Return whether the dates in a clause are in the future, as far as its verb shows."""
    return (
        reading.aspect == grammar.FUTURE
        or reading.lemma in ("plan", "intend", "want", "hope")
        or states_resolution(reading)
        or (_is_thing(reading) and reading.lemma == "be" and _MOVED_TO.match(reading.rest) is not None)
        or (reading.aspect in (grammar.DOING, grammar.BE) and not reading.past)
        or (reading.aspect not in (PAST, grammar.HAVE_DONE) and reading.lemma == "have" and not reading.past)
    )


def _is_thing(reading: grammar.ParsedClause) -> bool:
    return reading.person in (grammar.THING, grammar.MINE)


def states_resolution(reading: grammar.ParsedClause) -> bool:
    """Return whether a clause states a resolution: `decided to ship on Friday` means the coming Friday."""
    return reading.lemma in _RESOLVING and reading.rest.startswith(("to ", "not to ", "that "))


def resolution_start(text: str, reading: grammar.ParsedClause) -> int:
    """Return the offset where the resolved action begins. Dates before it belong to the past resolution."""
    return max(0, text.find(reading.rest[:8])) if states_resolution(reading) else 0


def is_current(reading: grammar.ParsedClause) -> bool:
    """Return whether a clause says what is true now ("I'm working on ..."), not an event ("I'm moving on Friday")."""
    now = reading.aspect in (grammar.DOING, grammar.BE, grammar.BEEN_DOING, PRESENT) and not reading.past
    return now and reading.lemma not in _TURNS and not (reading.lemma == "get" and _GOT.match(reading.rest))


def start_day(dates: Iterable[DateMatch], category: str, said: date, holds: bool = False) -> str | None:
    """Return the day from which a statement is true, or None.

    These dates are ignored: an end date, a date that only names a thing, and the future date of a plan, decision or
    event. If `holds` is true, a future date counts only if it is named as the start.
    """
    for found in dates:
        if not found.day or found.until or found.names:
            continue
        if found.day <= said.isoformat() or (category in _STATES and (found.since or not holds)):
            return found.day
    return None


def without_value_as_start(proposition: Proposition, catalog: Catalog) -> Proposition:
    """Return the proposition without a start day if its date is the value itself, such as a deadline."""
    entry = catalog.predicates.get(proposition.predicate or "")
    dated = entry is not None and entry.value == "date" and not (proposition.ended or proposition.former)
    return proposition._replace(valid_from=None) if dated else proposition


_DANGLES = re.compile(
    r"\b(?:is|are|was|due|due (?:on|by|at)|"
    r"(?:moved|pushed|postponed|set|rescheduled|extended|changed)(?: \w+)? (?:to|for|until))$"
)


def without_dates(text: str, dates: tuple[DateMatch, ...]) -> str:
    """Return the clause without relative dates.

    A date at the end that is the point of the clause ("The deadline is Friday") is written as a full date.
    """
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
    """Return the text without its dates. `said` is the day it was said."""
    for found in reversed(find_dates(text, said)):
        text = f"{text[: found.start].rstrip(' ,')} {text[found.end :].lstrip(' ,')}"
    return text


def date_label(dates: Iterable[DateMatch]) -> str:
    """Return the dates that were removed from a clause, in full form."""
    return ", ".join(dict.fromkeys(found.label for found in dates if found.label and found.relative))


def future_date_label(dates: Iterable[DateMatch], said: date) -> str:
    """Return the future ones of the removed dates, in full form."""
    return date_label(found for found in dates if found.day and found.day > said.isoformat())


def name_project(text: str) -> str:
    """Replace words that point at the speaker's project by a name for it."""
    return _THEIR_WORK.sub("the ", text).strip(" ,.!;:")
