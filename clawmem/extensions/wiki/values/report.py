"""The weekly report of the wiki: what was learned, corrected and forgotten, and what needs a person, as Markdown.

The same changes and the same state give the same bytes. Links are relative, as on every compiled page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.extensions.wiki.values.curation import KIND, StaleClaim, WikiFinding, sentence
from clawmem.extensions.wiki.values.links import MendedLink
from clawmem.extensions.wiki.values.markdown import markdown_text, section
from clawmem.extensions.wiki.values.page import INDEX, REPORTS, relative_link
from clawmem.model.facts.fact import ARCHIVED, RETRACTED, Fact, is_revoked
from clawmem.model.facts.fact_words import trust_label
from clawmem.model.history.comparison import (
    CHANGED,
    CORRECTED,
    FORGOTTEN_KINDS,
    LEARNED,
    REMOVED,
    FactDifference,
    count_kinds,
)
from clawmem.model.language.dates import IsoWeek
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.proposals.quarantine import quarantine_rule

_MOST = 30
"""The most lines of one section; the rest is counted."""


class ReportedWeek(NamedTuple):
    """What a report tells. `places` are the titles and pages of entities by name; an entity without a page has None."""

    week: IsoWeek
    changes: tuple[FactDifference, ...] = ()
    stale: tuple[StaleClaim, ...] = ()
    mended: tuple[MendedLink, ...] = ()
    waiting: tuple[Proposal, ...] = ()
    unfiled: tuple[WikiFinding, ...] = ()
    places: Mapping[str, tuple[str, str | None]] = {}


def report_path(week: IsoWeek) -> str:
    """Return the vault path of the report of a week."""
    return f"{REPORTS}/{week.name}.md"


def render_report(week: ReportedWeek) -> str:
    """Return the generated part of a report."""
    path = report_path(week.week)
    blocks = [
        f"# Week {week.week.name}",
        _head(week, path),
        _sums(week.changes),
        _section("Learned", [_stated(difference, week, path) for difference in _of(week, LEARNED)]),
        _section("Corrected", [_stated(difference, week, path) for difference in _of(week, CORRECTED)]),
        _section("Forgotten", [_forgotten(difference, week, path) for difference in _of(week, *FORGOTTEN_KINDS)]),
        _section(
            "Stale facts",
            [
                f"- {_at(claim.entity, week, path)}: {_words(claim.fact)} {markdown_text(claim.reason)}."
                for claim in week.stale
            ],
        ),
        _section("Mended links", [_mended(link, path) for link in week.mended]),
        _section("Needs a person", list(_waiting(week))),
    ]
    return "\n\n".join(filter(None, blocks))


def _head(message: ReportedWeek, path: str) -> str:
    week = message.week
    span = f"{week.first.day} {week.first:%B %Y} to {week.last.day} {week.last:%B %Y}."
    return f"{span} [Index]({relative_link(path, INDEX)})."


def _sums(changes: Sequence[FactDifference]) -> str:
    kinds = ((LEARNED, "learned"), (CORRECTED, "corrected"), (RETRACTED, "withdrawn"), (ARCHIVED, "archived"),
             (CHANGED, "changed otherwise"), (REMOVED, "removed"))  # fmt: skip
    numbers = count_kinds(changes)
    text = ", ".join(f"{numbers[kind]} {words}" for kind, words in kinds if numbers[kind])
    entities = counted(len({change.entity for change in changes}), "entity", "entities")
    return f"Facts: {text}, in {entities}." if text else "No fact changed."


def _of(week: ReportedWeek, *kinds: str) -> list[FactDifference]:
    return sorted(
        [change for change in week.changes if change.kind in kinds],
        key=lambda change: (
            _title(change.entity, week).casefold(),
            change.entity,
            change.fact.timestamp,
            change.fact.id,
        ),
    )


def _section(title: str, lines: Sequence[str]) -> str:
    left = len(lines) - _MOST
    return section(title, [*lines[:_MOST], *([f"- {left} more"] if left > 0 else [])])


def _title(entity: str, week: ReportedWeek) -> str:
    return week.places.get(entity, (entity, None))[0]


def _at(entity: str, week: ReportedWeek, path: str) -> str:
    title, page = week.places.get(entity, (entity, None))
    return f"[{markdown_text(title)}]({relative_link(path, page)})" if page else markdown_text(title)


def _words(fact: Fact) -> str:
    """Return a fact with its label and its id. What was revoked, or reads as an order, is not repeated."""
    if is_revoked(fact) or quarantine_rule(fact) is not None:
        return f"a fact whose words are not repeated here ({markdown_text(fact.id)})"
    about = ", ".join(filter(None, (trust_label(fact), fact.id)))
    return f"{markdown_text(fact.fact)} ({markdown_text(about)})"


def _stated(difference: FactDifference, week: ReportedWeek, path: str) -> str:
    before = f" It was: {_words(difference.before)}" if difference.before is not None else ""
    return f"- {_at(difference.entity, week, path)}: {_words(difference.fact)}{before}"


def _forgotten(difference: FactDifference, week: ReportedWeek, path: str) -> str:
    remark = (difference.fact.metadata or {}).get("retracted")
    reason = remark.get("reason") if isinstance(remark, Mapping) and not is_revoked(difference.fact) else None
    how = {RETRACTED: "withdrawn", ARCHIVED: "archived", REMOVED: "removed"}[difference.kind]
    because = f", because: {markdown_text(reason)}" if isinstance(reason, str) and reason else ""
    return f"- {_at(difference.entity, week, path)}: {how}{because}: {_words(difference.fact)}"


def _mended(link: MendedLink, path: str) -> str:
    on = f"[{markdown_text(link.page)}]({relative_link(path, link.page).replace(' ', '%20')})"
    to = f"[{markdown_text(link.to)}]({relative_link(path, link.to).replace(' ', '%20')})"
    return f"- On {on}, '{markdown_text(link.target)}' leads to {to} now."


def _waiting(week: ReportedWeek) -> Iterable[str]:
    """Yield a line for each proposal that waits, newest first, and for each finding that is not filed. The words of
    facts are in the proposal only."""
    for proposal in sorted(week.waiting, key=lambda each: (each.created, each.id), reverse=True):
        shown = sentence(proposal.says, proposal.why) if proposal.kind == KIND else _kind_of_proposal(proposal)
        yield f"- {markdown_text(shown)} `clawmem review show {proposal.id}`"
    for finding in week.unfiled:
        yield f"- Not filed yet: {markdown_text(sentence(finding.says, finding.why))}"


def _kind_of_proposal(proposal: Proposal) -> str:
    by = f", from the agent {proposal.agent}" if proposal.agent else ""
    about = f", about {proposal.entity}" if proposal.entity else ""
    facts = f", of {', '.join(target.id for target in proposal.targets)}" if proposal.targets else ""
    return f"A proposal of the kind {proposal.kind}{by}{about}{facts}."
