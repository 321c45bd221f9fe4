"""The curator: once a week it writes a report, mends what a machine can mend, and files proposals for the rest.

Everything is one commit. A finding is filed once, and never again after a person rejected it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from clawmem.errors import NotFound, NotPermitted, Refused
from clawmem.extensions.wiki.compile import (
    GONE,
    BuildPlan,
    page_writes,
    pages_in,
    plan_build,
    remember_build,
    replaced_notices,
)
from clawmem.extensions.wiki.gather import Titles, is_on_wiki, titles_of
from clawmem.extensions.wiki.values.curation import (
    StaleClaim,
    WikiFinding,
    dead_link_findings,
    duplicate_claims,
    duplicate_entities,
    filed_findings,
    long_page,
    proposal_of,
    settled,
    stale_findings,
)
from clawmem.extensions.wiki.values.links import (
    DeadTarget,
    LinkReport,
    LinkTargets,
    MendedLink,
    check_links,
    dead_targets,
    link_targets,
    mended,
    outside_markers,
    page_names,
    resolved,
)
from clawmem.extensions.wiki.values.page import (
    FOLDER,
    INDEX,
    REPORTS,
    title_of_text,
    topic_page,
)
from clawmem.extensions.wiki.values.report import ReportedWeek, render_report, report_path
from clawmem.index.search.events import events_by_id
from clawmem.index.search.lookup import PlacedFact, all_facts, by_ids, entity_exists
from clawmem.index.tables.fact_marks import counted_facts
from clawmem.memory.entities.entities import merge_writes
from clawmem.memory.facts.gates import GateContext, judge
from clawmem.memory.history.compare import compare
from clawmem.memory.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import ACTIVE, importance_of
from clawmem.model.facts.gates import FRESH
from clawmem.model.history.comparison import FactDifference, told_changes
from clawmem.model.language.dates import IsoWeek, last_full_week, stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.premises import confirmed
from clawmem.model.lifecycle.tiers import stale_reason
from clawmem.model.pages.summary import generated_part, own_text, with_generated
from clawmem.model.proposals.proposal import (
    APPROVED,
    CONFIRM,
    JOIN_ENTITIES,
    OPEN,
    REJECTED,
    Proposal,
)
from clawmem.model.proposals.quarantine import is_approved, orders_in, with_approval
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.vault.vault import Vault

# The last week for which the curator ran on this machine, in the state folder.
_STATE = "curator.json"
# The words above which a page is too long, and the most proposals that one run files.
PAGE_WORDS, MOST_PROPOSALS = 4000, 20
FILED, WAITS, LEFT = "filed", "waits", "left"
OUTCOMES = (FILED, WAITS, LEFT, REJECTED, APPROVED)
_OUTCOMES = {OPEN: WAITS, REJECTED: REJECTED, APPROVED: APPROVED}


class CuratedFinding(NamedTuple):
    """A finding and what became of it: filed, waits (filed before), left (for the next run), or what a person decided
    before; and the proposal, if there is one."""

    finding: WikiFinding
    outcome: str
    proposal: str | None = None


class Curation(NamedTuple):
    """What a run did: the week, its report if one was written, the pages that were written or removed otherwise, the
    links that were mended, the findings, and the commit."""

    week: str
    report: str | None
    pages: tuple[str, ...]
    mended: tuple[MendedLink, ...]
    findings: tuple[CuratedFinding, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


class _Built(NamedTuple):
    """The plan of the build, the pages as it leaves them by path, the titles, and the dead links that stay."""

    plan: BuildPlan
    texts: Mapping[str, str]
    titles: Titles
    dead: tuple[DeadTarget, ...]
    mended: tuple[MendedLink, ...] = ()


def curate(vault: Vault, caller: Caller, dry_run: bool = False) -> Curation:
    """Check the wiki, mend it, file proposals, and write the report of the last week that is over, all in one commit.

    The report is written once, and only if there is something to tell."""
    week = last_full_week(caller.now)
    with writing(vault, caller, "wiki", dry_run=dry_run) as work:
        built = _mended(work, _build(work, {}))
        findings, stale = _find(work, built)
        curated, proposals = _filing(work, findings, built.titles)
        report = _report(work, built, week, stale, curated, proposals)
        path = report_path(week) if report is not None else None
        writes = page_writes(work, built.plan, [path] if path else [])
        replaced = replaced_notices(work, built.plan, writes)
        pages = tuple(sorted(writes))
        if path is not None and report is not None:
            writes[path] = report.encode()
        writes.update(proposal_writes(proposals))
        commit = None
        if writes and not dry_run:
            commit = work.commit([_change(work, week, path, built, proposals, writes)])[-1]
        if not dry_run:
            remember_build(work, built.plan, commit)
            vault.keep(_STATE, {"week": week.name})
        return Curation(week.name, path, pages, built.mended, tuple(curated), commit, (*work.notices, *replaced))


def is_due(vault: Vault, caller: Caller) -> bool:
    """Return whether the curator has not run on this machine since the last week ended."""
    return bool(vault.kept(_STATE) != {"week": last_full_week(caller.now).name})


def _build(work: WriteScope, texts: Mapping[str, str]) -> _Built:
    plan = plan_build(work, texts=texts)
    titles = titles_of(work.index)
    pages = _texts(work, plan)
    names, targets = page_names(pages), _targets(plan, pages, titles)
    found = [
        dead_target
        for path, text in pages.items()
        for dead_target in dead_targets(path, outside_markers(text), names, targets)
    ]
    others = page_names(other_files(work.vault)) if found else {}
    dead = tuple(target for target in found if resolved(target.page, target.link, others) is None)
    return _Built(plan, pages, titles, dead)


def _mended(work: WriteScope, built: _Built) -> _Built:
    """Return the build with dead links of people mended that have one possible target. Unreadable pages stay."""
    names = page_names(built.texts)
    items: list[MendedLink] = []
    changed: dict[str, str] = {}
    for path in dict.fromkeys(target.page for target in built.dead if target.page not in work.transaction.unreadable):
        text = built.texts[path]
        refuse_conflict_markers(text, path)
        after, links = mended(text, [target for target in built.dead if target.page == path], names)
        if after != text:
            changed[path] = after
            items += links
    return _build(work, changed)._replace(mended=tuple(items)) if changed else built


def _texts(work: WriteScope, plan: BuildPlan) -> dict[str, str]:
    """Return the pages of the wiki as the build leaves them, by path."""
    writes = page_writes(work, plan)
    texts = {path: work.text(path) for path in pages_in(work, FOLDER) if path not in writes}
    texts |= {path: data.decode() for path, data in writes.items() if data is not None}
    return dict(sorted(texts.items()))


def _targets(plan: BuildPlan, texts: Mapping[str, str], titles: Titles) -> LinkTargets:
    compiled = {INDEX, *(entry.path for entry in plan.entries.values()), *map(topic_page, plan.topics)}
    own = {
        path: title_of_text(outside_markers(text), path)
        for path, text in texts.items()
        if path not in compiled and not path.startswith(f"{REPORTS}/") and GONE not in text
    }
    return link_targets(titles.entities.values(), plan.topics, own)


def _find(work: WriteScope, built: _Built) -> tuple[list[WikiFinding], tuple[StaleClaim, ...]]:
    """Return what needs a person, and the stale facts that would be on the wiki otherwise."""
    context = GateContext(work.vault.catalog, work.caller)
    facts = [placed for placed in all_facts(work.index) if placed.fact.status == ACTIVE and is_on_wiki(placed.entity)]
    stale = _stale(work, context, facts)
    numbers: dict[str, int] = {}
    for placed in facts:
        numbers[placed.entity] = numbers.get(placed.entity, 0) + 1
    findings = [
        *dead_link_findings(built.dead),
        *duplicate_entities(built.titles.entities.values(), numbers),
        *duplicate_claims((placed.entity, placed.fact) for placed in facts),
        *stale_findings(stale),
        *_long_pages(built),
    ]
    return findings, stale


def _stale(work: WriteScope, context: GateContext, facts: Sequence[PlacedFact]) -> tuple[StaleClaim, ...]:
    """Return the facts that only their staleness keeps from the wiki, the most important first."""
    sources = events_by_id(
        work.index, {placed.fact.source_event for placed in facts if placed.fact.source_event is not None}
    )
    used = counted_facts(work.index, [placed.fact for placed in facts])
    reasons = [stale_reason(fact, context.caller.now, sources) for fact in used]
    found = [(placed, why) for placed, why in zip(facts, reasons, strict=True) if why is not None]
    judged = judge(work.index, context, [placed for placed, _ in found]) if found else None
    shown = []
    for placed, why in found:
        failed = [each.gate for each in judged.results[placed.fact.id] if not each.passed] if judged else []
        shown += [StaleClaim(placed.fact, placed.entity, why)] if failed == [FRESH] else []
    return tuple(sorted(shown, key=lambda claim: (-importance_of(claim.fact), claim.fact.timestamp, claim.fact.id)))


def _long_pages(built: _Built) -> Iterator[WikiFinding]:
    for path, text in built.texts.items():
        if path != INDEX and not path.startswith(f"{REPORTS}/"):
            generated = (generated_part(text) or "").split()
            finding = long_page(path, len(own_text(text).split()), len(generated), PAGE_WORDS)
            yield from (finding,) if finding else ()


def _filing(
    work: WriteScope, findings: Iterable[WikiFinding], titles: Titles
) -> tuple[list[CuratedFinding], list[Proposal]]:
    """Return what becomes of each finding, and the proposals to file, at most MOST_PROPOSALS."""
    filed = read_proposals(work.vault, work.read).proposals
    names = {alias: entity.name for entity in titles.entities.values() for alias in entity.aliases}
    waiting = {target.id: proposal.id for proposal in filed if proposal.status == OPEN for target in proposal.targets}
    known = filed_findings(filed, names)
    taken = {proposal.id for proposal in filed}
    items: list[CuratedFinding] = []
    fresh: list[Proposal] = []
    for finding in findings:
        before = settled(finding, known, names)
        other = next((waiting[fact.id] for fact in finding.targets if fact.id in waiting), None)
        if before is not None:
            items.append(CuratedFinding(finding, _OUTCOMES[before.status], before.id))
        elif other is not None:
            items.append(CuratedFinding(finding, WAITS, other))
        elif len(fresh) < MOST_PROPOSALS:
            fresh.append(proposal_of(finding, stamp(work.caller.now), work.caller.agent, taken))
            taken.add(fresh[-1].id)
            items.append(CuratedFinding(finding, FILED, fresh[-1].id))
        else:
            items.append(CuratedFinding(finding, LEFT))
    return items, fresh


def _report(
    work: WriteScope,
    built: _Built,
    week: IsoWeek,
    stale: Sequence[StaleClaim],
    curated: Sequence[CuratedFinding],
    fresh: Sequence[Proposal],
) -> str | None:
    """Return the page of a report, or None if it is written already or there is nothing to tell."""
    path = report_path(week)
    before = work.text(path)
    if generated_part(before) is not None:
        return None
    changes = _changes(work, week)
    if not (changes or built.mended or fresh):
        return None
    refuse_conflict_markers(before, path)
    message = ReportedWeek(
        week,
        changes,
        tuple(stale),
        built.mended,
        (*read_proposals(work.vault, work.read).open, *fresh),
        tuple(curated_finding.finding for curated_finding in curated if curated_finding.outcome == LEFT),
        {name: (entry.title, entry.path) for name, entry in built.plan.entries.items()},
    )
    after = with_generated(before, render_report(message))
    return after if after != before else None


def _changes(work: WriteScope, week: IsoWeek) -> tuple[FactDifference, ...]:
    """Return the changes of shared facts in a week; none where the history begins later."""
    start = (week.first - timedelta(days=1)).isoformat()
    try:
        comparison = compare(work.vault, work.caller, start, week.last.isoformat())
    except NotFound:
        return ()
    return told_changes(change for change in comparison.changes if is_on_wiki(change.entity))


def _change(
    work: WriteScope,
    week: IsoWeek,
    report: str | None,
    built: _Built,
    proposals: Sequence[Proposal],
    writes: Mapping[str, bytes | None],
) -> Change:
    pages = len(writes) - len(proposals) - (report is not None)
    parts = [*(["report"] if report else []), *([counted(pages, "page")] if pages else [])]
    parts += [f"{counted(len(built.mended), 'link')} mended"] if built.mended else []
    parts += [counted(len(proposals), "proposal")] if proposals else []
    caller = work.caller
    return Change(
        subject_line("wiki", "curator", f"{week.name}: {', '.join(parts)}"),
        writes,
        (*trailers("wiki", agent=caller.agent, session=caller.session), *proposal_trailers(proposals)),
        author=agent_author(caller.agent),
    )


def check_pages(vault: Vault) -> LinkReport:
    """Return the dead links and the orphans of the pages in the folder, as they are on disk. What a report links to may
    be gone."""
    paths = (path.relative_to(vault.root).as_posix() for path in sorted((vault.root / FOLDER).rglob("*.md")))
    texts = {path: (vault.read(path) or b"").decode("utf-8-sig", errors="replace") for path in paths}
    pages = {path: outside_markers(text) if path.startswith(f"{REPORTS}/") else text for path, text in texts.items()}
    found = check_links(pages)
    return check_links(pages, other_files(vault)) if found.dead else found


def other_files(vault: Vault) -> list[str]:
    """Return the files of the vault that are no pages of the wiki, as they are on disk, without hidden ones."""
    found = []
    for folder, folders, names in os.walk(vault.root):
        folders[:] = [other_folder for other_folder in folders if not other_folder.startswith(".")]
        place = os.path.relpath(folder, vault.root).replace(os.sep, "/")
        prefix = "" if place == "." else f"{place}/"
        in_wiki = f"{prefix}/".startswith(f"{FOLDER}/")
        found += [prefix + name for name in names if not (in_wiki and name.endswith(".md"))]
    return found


Writes = dict[str, bytes | None]


def on_wiki_decision(work: WriteScope, proposal: Proposal, facts: Sequence[PlacedFact]) -> Writes:
    """Return the writes of an approved finding. Raise Refused if it is outdated, NotPermitted for an agent."""
    details = proposal.details or {}
    action = details.get("action")
    if proposal.status != APPROVED or action is None:
        return {}
    act = _ACTIONS.get(str(action))
    if act is None:
        raise Refused(f"This clawmem has no action '{action}'.", "Edit the page by hand, and reject the proposal.")
    return act(work, proposal, details)


def _gone(what: str, proposal: Proposal) -> Refused:
    return Refused(f"{what} any more.", f"`clawmem review reject {proposal.id}` closes the proposal.")


def _confirm(work: WriteScope, proposal: Proposal, details: Mapping[str, Any]) -> Writes:
    """A fact that is confirmed counts as used today, so that it is not stale for want of use."""
    if work.caller.agent is not None:
        raise NotPermitted(
            f"Only a person may confirm a claim, and {work.caller.agent} is an agent.",
            "Leave the proposal to a person.",
        )
    placed = _placed(work, proposal)
    now = stamp(work.caller.now)
    new = confirmed(placed.fact, now[:10])._replace(access_count=placed.fact.access_count + 1, last_accessed=now)
    if new.trust == "agent" and not is_approved(new) and orders_in(new) is None:
        new = with_approval(new, proposal.decided.by if proposal.decided else "a person", now)
    return work.items_with([PlacedFact(new, placed.entity)])


def _placed(work: WriteScope, proposal: Proposal) -> PlacedFact:
    target = proposal.targets[0]
    found = by_ids(work.index, [target.id]).get(target.id)
    if found is None or found.fact.status != ACTIVE or found.fact.fact != target.fact:
        raise _gone(f"{target.id} does not say '{target.fact}'", proposal)
    return found


def _join_entities(work: WriteScope, proposal: Proposal, details: Mapping[str, Any]) -> Writes:
    old, new = str(details.get("from")), str(details.get("into"))
    for name in (old, new):
        if not entity_exists(work.index, name):
            raise _gone(f"There is no entity {name}", proposal)
    return merge_writes(work, old, new)


_ACTIONS: Mapping[str, Callable[[WriteScope, Proposal, Mapping[str, Any]], Writes]] = {
    CONFIRM: _confirm,
    JOIN_ENTITIES: _join_entities,
}
