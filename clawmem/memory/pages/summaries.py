"""Summaries: update the generated part of entity pages, and the index page, in one commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import all_facts, entities
from clawmem.index.tables.accesses import counted_fact
from clawmem.memory.entities.places import new_entity_files
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.lifecycle.week import week_began
from clawmem.model.pages.summary import INDEX_PATH, IndexRow, facts_block, index_page, with_generated
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import Entity, is_candidate_place, name_of_path, owner_of, summary_path


class SummariesResult(NamedTuple):
    """The entities with changed pages, the commit, and the problems that prevented updates."""

    entities: tuple[str, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[ClawmemError, ...] = ()


def refresh_pages(work: WriteScope, dry_run: bool = False) -> SummariesResult:
    """Update the generated part of every page whose facts changed. The rest of a page is never changed.

    Tiers are computed for the start of the week (`summary.weekly_day`, `summary.weekly_hour`). Within a week only
    changed or ended facts change a page; in a new week all pages are updated. The pages of entities with unreadable
    files, and then the index page too, are not changed.

    The index of the write scope must be at HEAD.
    """
    settings = work.vault.settings
    most = settings.whole("summary.max_facts")
    since = week_of(work)
    by_entity: dict[str, list[Fact]] = defaultdict(list)
    for placed in all_facts(work.index):
        by_entity[placed.entity].append(counted_fact(work.index, placed.fact))
    described = {entity.name: entity for entity in entities(work.index)}
    writes: dict[str, bytes | None] = {}
    unread = work.unreadable_files()
    changed, problems = [], list(unread.values())
    candidates = {name for name in by_entity if is_candidate_place(name)}
    for name in sorted({*by_entity, *described} - {name_of_path(path) for path in unread} - candidates):
        try:
            page = summary_after(work, name, by_entity[name], since, most)
        except ClawmemError as problem:
            problems.append(problem)
            continue
        if page is not None:
            writes[summary_path(name)] = page
            changed.append(name)
    index = None if unread else _index(work, by_entity, described)
    if index is not None:
        writes[INDEX_PATH] = index
    if dry_run or not writes:
        return SummariesResult(tuple(changed), None, work.notices, tuple(problems))
    words = f"{len(changed)} refreshed" if changed else "the index"
    change = Change(subject_line("summarise", "entities", words), writes, trailers("summarise", entities=changed))
    return SummariesResult(tuple(changed), work.commit([change], "summaries")[-1], work.notices, tuple(problems))


def week_of(work: WriteScope) -> datetime:
    """Return the start of the week for which tiers are computed."""
    settings = work.vault.settings
    return week_began(work.caller.now, settings.words("summary.weekly_day"), settings.whole("summary.weekly_hour"))


def summary_after(work: WriteScope, name: str, facts: Sequence[Fact], since: datetime, most: int) -> bytes | None:
    """Return the page of an entity with its generated part made of these facts, or None if it does not change.

    Tiers are those at `since`; at most `most` facts are shown. Raise Unreadable for a page with conflict markers."""
    path = summary_path(name)
    data = work.read(path)
    if data is None:
        data = new_entity_files(name, work.caller)[path] or b""
        before = ""
    else:
        before = data.decode("utf-8-sig", errors="replace")
    text = data.decode("utf-8-sig", errors="replace")
    refuse_conflict_markers(text, path)
    after = with_generated(text, facts_block(name, facts, since, most, stamp(work.caller.now)))
    return after.encode() if after != before else None


def _index(work: WriteScope, by_entity: dict[str, list[Fact]], described: dict[str, Entity]) -> bytes | None:
    text = work.text(INDEX_PATH)
    refuse_conflict_markers(text, INDEX_PATH)
    rows = [
        IndexRow(
            name,
            entity.title,
            sum(1 for fact in by_entity[name] if fact.is_current),
            max((day_of(fact.timestamp) for fact in by_entity[name]), default=None),
        )
        for name, entity in described.items()
        if owner_of(name) is None
    ]
    after = index_page(text, rows)
    return after.encode() if after != text else None
