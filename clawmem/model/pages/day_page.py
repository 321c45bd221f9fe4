"""The generated part of a daily note: what was learned, corrected, decided and mentioned, and the day's sessions.

It is made from facts, events and the mentions that learning added to the page, and not from people's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import RETRACTED, Fact, is_revoked
from clawmem.model.facts.fact_words import labels
from clawmem.model.language.text import normal, one_line
from clawmem.model.pages.summary import generated_part, with_generated
from clawmem.model.records.event import Event
from clawmem.model.records.strict_json import checksum

MENTIONS = "Mentioned, and kept as notes only:"
NARRATIVE = "## Narrative"
MOST = 100
_WRITTEN = "Written by a model from the facts of the day ({of}):"
_NARRATED = re.compile(re.escape(_WRITTEN).replace(re.escape("{of}"), "(?P<of>[0-9a-f]+)"))
_CITED = re.compile(r"\bfact_[0-9a-f]{4,64}\b")
_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_REPLACING = ("supersedes", "merges")


def is_day(text: str) -> bool:
    """Return whether a text is a valid day (`YYYY-MM-DD`) for a note."""
    return _DAY.fullmatch(text) is not None


class DayFact(NamedTuple):
    """A fact of the day, its entity, and the statements of the facts it replaced."""

    fact: Fact
    entity: str
    before: tuple[str, ...] = ()


class DayNarrative(NamedTuple):
    """The lines of a day's narrative, and the checksum of the facts that it was written from."""

    lines: tuple[str, ...] = ()
    of: str = ""


NO_NARRATIVE = DayNarrative()
_REVOKED = "(a revoked statement)"


def day_block(
    facts: Sequence[DayFact],
    withdrawn: Sequence[DayFact],
    events: Iterable[Event],
    mentions: Iterable[str],
    narrative: DayNarrative = NO_NARRATIVE,
) -> str:
    """Return the generated part of a day's note, or an empty text if there is nothing to report."""
    corrected = [fact for fact in facts if fact.before]
    decided = [day_fact for day_fact in facts if not day_fact.before and day_fact.fact.category == "decision"]
    learned = [day_fact for day_fact in facts if not day_fact.before and day_fact.fact.category != "decision"]
    statements = {normal(day_fact.fact.fact) for day_fact in facts}
    noted = dict.fromkeys(text for text in map(one_line, mentions) if normal(text) not in statements)
    items = [_WRITTEN.format(of=narrative.of), "", *narrative.lines] if narrative.lines else []
    blocks = (
        _block(NARRATIVE, items),
        _block("## Learned", [_line(fact) for fact in learned]),
        _block(
            "## Corrected", [*(_correction(fact) for fact in corrected), *(_withdrawal(fact) for fact in withdrawn)]
        ),
        _block("## Decided", [_line(fact) for fact in decided]),
        _block("## Sessions", _sessions(events)),
        # Last, because learning adds its lines at the end.
        "\n".join([MENTIONS, "", *(f"- {text}" for text in noted)]) if noted else "",
    )
    return "\n\n".join(filter(None, blocks))


def facts_checksum(facts: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> str:
    """Return the checksum of what a narrative of these facts rests on: their ids, statements and statuses."""
    rows = [
        (day_fact.fact.id, day_fact.fact.fact, day_fact.fact.status, day_fact.before)
        for day_fact in (*facts, *withdrawn)
    ]
    return f"{checksum(*map(repr, sorted(rows))):08x}"


def narrative_of(page: str) -> DayNarrative:
    """Return the narrative in the generated part of a page, or an empty one."""
    rest = (generated_part(page) or "").partition(f"{NARRATIVE}\n\n")[2].splitlines()
    found = _NARRATED.fullmatch(rest[0]) if rest else None
    lines = []
    for line in rest[2:] if found else ():
        if not line.startswith("- "):
            break
        lines.append(line)
    return DayNarrative(tuple(lines), found["of"] if found else "")


def still_grounded(narrative: DayNarrative, known: Iterable[str]) -> DayNarrative:
    """Return the narrative without the lines that cite a fact that is not among these ids."""
    ids = frozenset(known)
    return narrative._replace(lines=tuple(line for line in narrative.lines if ids.issuperset(_CITED.findall(line))))


def narrative_line(part: str, text: str, cites: Iterable[str]) -> str:
    """Return a sentence of a narrative as a line of the page, with the ids that it cites."""
    return f"- {part.capitalize()}: {text} ({', '.join(cites)})"


def mentions_of(page: str) -> tuple[str, ...]:
    """Return the statements that learning added to the page as mentions: below their title, or after a block."""
    found, ours, begun = [], False, False
    for line in (generated_part(page) or "").splitlines():
        if line.startswith("## "):
            ours, begun = True, False
        elif line == MENTIONS or (begun and not line):
            ours, begun = False, False
        elif line.startswith("- "):
            begun = ours
            found += [] if ours else [line.removeprefix("- ").strip()]
    return tuple(found)


def with_day_block(page: str, day: str, block: str) -> str:
    """Return the page with its generated part replaced; a new page starts with the day as its title.

    If the block is empty, a page without a generated part is not changed.
    """
    if not block and generated_part(page) in (None, ""):
        return page
    return with_generated(page if page.strip() else f"# {day}\n", block)


def _block(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    shown = list(lines[:MOST])
    if len(lines) > MOST:
        shown.append(f"- {len(lines) - MOST} more: `clawmem list` shows all facts")
    return "\n".join([title, "", *shown])


def _line(fact: DayFact) -> str:
    gone = ", withdrawn since" if fact.fact.status == RETRACTED else ""
    return f"- {_statement(fact.fact)} ({', '.join([fact.entity, fact.fact.id, *labels(fact.fact)])}{gone})"


def _statement(fact: Fact) -> str:
    return _REVOKED if is_revoked(fact) else one_line(fact.fact)


def _correction(fact: DayFact) -> str:
    return f"{_line(fact)} Before: {' / '.join(map(one_line, fact.before))}"


def _withdrawal(fact: DayFact) -> str:
    reason = ((fact.fact.metadata or {}).get("retracted") or {}).get("reason")
    because = f" Because: {one_line(str(reason))}" if reason else ""
    return f"- Withdrawn: {_statement(fact.fact)} ({fact.entity}, {fact.fact.id}){because}"


def _sessions(events: Iterable[Event]) -> list[str]:
    """Return one line for each session or source of messages, in the order of their first events."""
    groups: dict[tuple[str, str], list[Event]] = {}
    for event in sorted(events, key=lambda other_event: other_event.timestamp):
        if event.role != "note":
            groups.setdefault((event.session or "", event.source or ""), []).append(event)
    return [_session(*key, found) for key, found in groups.items()]


def _session(session: str, source: str, events: Sequence[Event]) -> str:
    who = dict.fromkeys(
        one_line(event.speaker or event.role) for event in events if event.role in ("user", "assistant")
    )
    names = ", ".join([*list(who)[:5], *([f"{len(who) - 5} others"] if len(who) > 5 else [])])
    first, last = events[0].timestamp[11:16], events[-1].timestamp[11:16]
    span = first if first == last else f"{first} to {last}"
    count = f"{len(events)} event{'' if len(events) == 1 else 's'}"
    title = " from ".join(one_line(part) for part in (session, source) if part) or "no session"
    return f"- {title}: {count}, {span}" + (f", {names}" if names else "")


def replaced_by(fact: Fact) -> tuple[str, ...]:
    """Return the ids of the facts that this one replaced."""
    return tuple(link.to for link in fact.links if link.type in _REPLACING)
