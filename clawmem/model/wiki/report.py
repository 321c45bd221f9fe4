"""The weekly report of the wiki: what was learned, corrected and forgotten, and what needs a person, as Markdown.

The same changes, the same state and the same day give the same bytes. Links are relative, as on every compiled page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from clawmem.model.facts.fact import ARCHIVED, RETRACTED, Fact, is_revoked
from clawmem.model.facts.labels import trust_label
from clawmem.model.history.comparison import (
    CHANGED,
    CORRECTED,
    FORGOTTEN_KINDS,
    LEARNED,
    REMOVED,
    FactDifference,
    count_kinds,
)
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.week import IsoWeek
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.wiki.curation import KIND, StaleClaim, WikiFinding, sentence
from clawmem.model.wiki.escaping import markdown_text
from clawmem.model.wiki.mending import MendedLink
from clawmem.model.wiki.names import INDEX, REPORTS, relative_link
from clawmem.model.wiki.page import FactPlace, WikiConflict

_MOST = 30
"""The most lines of one section; the rest is counted."""
_MOST_ENTITIES = 10
_SO_FAR = "So far, up to"


class ReportedWeek(NamedTuple):
    """What a report tells. `day` is the last day of the week that it covers. `places` are the titles and pages of
    entities by name; an entity without a page has None."""

    week: IsoWeek
    day: date
    changes: tuple[FactDifference, ...] = ()
    conflicts: tuple[WikiConflict, ...] = ()
    stale: tuple[StaleClaim, ...] = ()
    mended: tuple[MendedLink, ...] = ()
    waiting: tuple[Proposal, ...] = ()
    unfiled: tuple[WikiFinding, ...] = ()
    unreadable: tuple[str, ...] = ()
    places: Mapping[str, tuple[str, str | None]] = {}
    previous: str | None = None


def report_path(week: IsoWeek) -> str:
    """Return the vault path of the report of a week."""
    return f"{REPORTS}/{week.name}.md"


def is_complete(generated: str) -> bool:
    """Return whether a report was written after its week was over."""
    return _SO_FAR not in generated


def render_report(told: ReportedWeek) -> str:
    """Return the generated part of a report."""
    path = report_path(told.week)
    blocks = [
        f"# Week {told.week.name}",
        _head(told, path),
        _sums(told.changes),
        _section("Learned", [_new(one, told, path) for one in _of(told, LEARNED)]),
        _section("Corrected", [_corrected(one, told, path) for one in _of(told, CORRECTED)]),
        _section("Forgotten", [_forgotten(one, told, path) for one in _of(told, *FORGOTTEN_KINDS)]),
        _section("Changed most", _changed_most(told, path), _MOST_ENTITIES),
        _section("Open conflicts", [_conflict(one, path) for one in told.conflicts]),
        _section("Stale facts", [f"- {_at(one.entity, told, path)}: {_words(one.fact)} {markdown_text(one.reason)}."
                                 for one in told.stale]),
        _section("Mended links", [_mended(one, path) for one in told.mended]),
        _section("Needs a person", [*_waiting(told), *_unfiled(told.unfiled), *_unreadable(told.unreadable)]),
    ]  # fmt: skip
    return "\n\n".join(filter(None, blocks))


def _head(told: ReportedWeek, path: str) -> str:
    week = told.week
    span = f"{week.first.day} {week.first:%B %Y} to {week.last.day} {week.last:%B %Y}."
    so_far = f" {_SO_FAR} {told.day.isoformat()}." if told.day < week.last else ""
    before = f" [The report before]({relative_link(path, told.previous)})." if told.previous else ""
    return f"{span}{so_far} [Index]({relative_link(path, INDEX)}).{before}"


def _sums(changes: Sequence[FactDifference]) -> str:
    kinds = ((LEARNED, "learned"), (CORRECTED, "corrected"), (RETRACTED, "withdrawn"), (ARCHIVED, "archived"),
             (CHANGED, "changed otherwise"), (REMOVED, "removed"))  # fmt: skip
    numbers = count_kinds(changes)
    told = ", ".join(f"{numbers[kind]} {words}" for kind, words in kinds if numbers[kind])
    entities = counted(len({one.entity for one in changes}), "entity", "entities")
    return f"Facts: {told}, in {entities}." if told else "No fact changed."


def _of(told: ReportedWeek, *kinds: str) -> list[FactDifference]:
    found = [one for one in told.changes if one.kind in kinds]
    return sorted(found, key=lambda one: (_title(one.entity, told).casefold(), one.entity, _order(one.fact)))


def _order(fact: Fact) -> tuple[str, str]:
    return fact.timestamp, fact.id


def _section(title: str, lines: Sequence[str], most: int = _MOST) -> str:
    if not lines:
        return ""
    left = len(lines) - most
    return f"## {title}\n\n" + "\n".join([*lines[:most], *([f"- {left} more"] if left > 0 else [])])


def _title(entity: str, told: ReportedWeek) -> str:
    return told.places.get(entity, (entity, None))[0]


def _at(entity: str, told: ReportedWeek, path: str) -> str:
    title, page = told.places.get(entity, (entity, None))
    return f"[{markdown_text(title)}]({relative_link(path, page)})" if page else markdown_text(title)


def _words(fact: Fact) -> str:
    """Return a fact with its label and its id. What was revoked, or reads as an order, is not repeated."""
    if is_revoked(fact) or quarantine_rule(fact) is not None:
        return f"a fact whose words are not repeated here ({markdown_text(fact.id)})"
    label = trust_label(fact)
    about = ", ".join(filter(None, (label, fact.id)))
    return f"{markdown_text(fact.fact)} ({markdown_text(about)})"


def _new(one: FactDifference, told: ReportedWeek, path: str) -> str:
    return f"- {_at(one.entity, told, path)}: {_words(one.fact)}"


def _corrected(one: FactDifference, told: ReportedWeek, path: str) -> str:
    before = f" It was: {_words(one.before)}" if one.before is not None else ""
    return f"- {_at(one.entity, told, path)}: {_words(one.fact)}{before}"


def _forgotten(one: FactDifference, told: ReportedWeek, path: str) -> str:
    remark = (one.fact.metadata or {}).get("retracted")
    reason = remark.get("reason") if isinstance(remark, Mapping) and not is_revoked(one.fact) else None
    how = {RETRACTED: "withdrawn", ARCHIVED: "archived", REMOVED: "removed"}[one.kind]
    because = f", because: {markdown_text(reason)}" if isinstance(reason, str) and reason else ""
    return f"- {_at(one.entity, told, path)}: {how}{because}: {_words(one.fact)}"


def _changed_most(told: ReportedWeek, path: str) -> list[str]:
    numbers: dict[str, int] = {}
    for one in told.changes:
        numbers[one.entity] = numbers.get(one.entity, 0) + 1
    ordered = sorted(numbers.items(), key=lambda row: (-row[1], _title(row[0], told).casefold(), row[0]))
    return [f"- {_at(entity, told, path)}: {counted(number, 'change')}" for entity, number in ordered]


def _conflict(one: WikiConflict, path: str) -> str:
    return f"- {_side(one.one, path)} Against it: {_side(one.other, path)}"


def _side(place: FactPlace, path: str) -> str:
    title = markdown_text(place.title)
    return f"{f'[{title}]({relative_link(path, place.page)})' if place.page else title}: {_words(place.fact)}"


def _mended(one: MendedLink, path: str) -> str:
    on = f"[{markdown_text(one.page)}]({relative_link(path, one.page).replace(' ', '%20')})"
    to = f"[{markdown_text(one.to)}]({relative_link(path, one.to).replace(' ', '%20')})"
    return f"- On {on}, '{markdown_text(one.target)}' leads to {to} now."


def _waiting(told: ReportedWeek) -> Iterable[str]:
    """Return a line for each proposal that waits, newest first. The words of facts are in the proposal only."""
    for one in sorted(told.waiting, key=lambda each: (each.created, each.id), reverse=True):
        shown = sentence(one.says, one.why) if one.kind == KIND else _kind_of_proposal(one)
        yield f"- {markdown_text(shown)} `clawmem review show {one.id}`"


def _kind_of_proposal(one: Proposal) -> str:
    by = f", from the agent {one.agent}" if one.agent else ""
    about = f", about {one.entity}" if one.entity else ""
    facts = f", of {', '.join(target.id for target in one.targets)}" if one.targets else ""
    return f"A proposal of the kind {one.kind}{by}{about}{facts}."


def _unfiled(findings: Iterable[WikiFinding]) -> Iterable[str]:
    return (f"- Not filed yet: {markdown_text(sentence(one.says, one.why))}" for one in findings)


def _unreadable(problems: Iterable[str]) -> Iterable[str]:
    return (f"- {markdown_text(one)}" for one in problems)
