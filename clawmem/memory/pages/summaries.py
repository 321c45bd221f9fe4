"""Summaries: the generated part of each changed entity's page, and the index of all of them, in one commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import all_facts, entities
from clawmem.memory.entities.places import new_entity_files
from clawmem.memory.writing import WriteScope, writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.lifecycle.week import week_began
from clawmem.model.pages.summary import INDEX_PATH, IndexRow, facts_block, index_page, with_generated
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import Entity, name_of_path, owner_of, summary_path
from clawmem.vault.vault import Vault


class SummariesResult(NamedTuple):
    """The entities whose pages changed, the commit, asides, and why a page was left as it is."""

    entities: tuple[str, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[ClawmemError, ...] = ()


def refresh_summaries(vault: Vault, caller: Caller, dry_run: bool = False) -> SummariesResult:
    """Rewrite the generated part of every page that says something else now; the rest is never touched.

    Tiers are those at the beginning of the week, a day and hour of the settings: within a week only facts that
    changed, or ended, change a page, and with a new one every page is made anew. Where files cannot be read, their
    entities' pages and the index of all are left as they are.
    """
    with writing(vault, caller, "summaries", dry_run=dry_run) as work:
        return refresh_pages(work, dry_run)


def refresh_pages(work: WriteScope, dry_run: bool = False) -> SummariesResult:
    """The same within a write that is under way, whose index must be at HEAD."""
    settings = work.vault.settings
    most = settings.whole("summary.max_facts")
    since = week_began(work.caller.now, settings.words("summary.weekly_day"), settings.whole("summary.weekly_hour"))
    by_entity: dict[str, list[Fact]] = defaultdict(list)
    for one in all_facts(work.index):
        by_entity[one.entity].append(one.fact)
    described = {entity.name: entity for entity in entities(work.index)}
    writes: dict[str, bytes | None] = {}
    unread = work.unreadable_files()
    changed, problems = [], list(unread.values())
    for name in sorted({*by_entity, *described} - {name_of_path(path) for path in unread}):
        try:
            page = _page(work, name, by_entity[name], since, most)
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


def _page(work: WriteScope, name: str, facts: Sequence[Fact], since: datetime, most: int) -> bytes | None:
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
            sum(1 for fact in by_entity[name] if fact.stands),
            max((day_of(fact.timestamp) for fact in by_entity[name]), default=None),
        )
        for name, entity in described.items()
        if owner_of(name) is None
    ]
    after = index_page(text, rows)
    return after.encode() if after != text else None
