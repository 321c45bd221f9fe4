"""Summaries: update the generated part of entity pages, and the index page, in one commit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, all_facts, facts_of, known_entities
from clawmem.index.tables.background import count_exactly, count_recent, judge_events, needs_counting
from clawmem.index.tables.fact_marks import counted_fact, plain_importances
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import new_entity_files
from clawmem.memory.pages.memory_page import PATH, RefreshedPages, memory_page_after
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import Fact, is_forgotten
from clawmem.model.language.dates import day_of, stamp, week_began
from clawmem.model.lifecycle.tiers import SCORE_POLICY
from clawmem.model.pages.daily import day_and_agent, without_notes
from clawmem.model.pages.summary import (
    INDEX_PATH,
    IndexRow,
    TierRule,
    facts_block,
    generated_part,
    index_page,
    with_generated,
)
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import Entity, is_candidate_place, name_of_path, owner_of, summary_path
from clawmem.model.settings.permission import forbidden, rights_of
from clawmem.vault.vault import Vault


def refresh_pages(work: WriteScope, dry_run: bool = False) -> RefreshedPages:
    """Update the generated part of every page whose facts changed. The rest of a page is never changed.

    Tiers are computed for the start of the week. Within a week only changed or ended facts, and another policy, change
    a page; in a new week all pages are updated. The pages of entities with unreadable
    files, and then the index page too, are not changed.

    The index of the write scope must be at HEAD.
    """
    rule = tier_rule(work)
    by_entity: dict[str, list[Fact]] = defaultdict(list)
    for placed in all_facts(work.index):
        by_entity[placed.entity].append(counted_fact(work.index, placed.fact))
    described = {entity.name: entity for entity in known_entities(work.index)}
    writes: dict[str, bytes | None] = {}
    unread = work.unreadable_files()
    changed, problems = [], list(unread.values())
    candidates = {name for name in by_entity if is_candidate_place(name)}
    for name in sorted({*by_entity, *described} - {name_of_path(path) for path in unread} - candidates):
        try:
            page = summary_after(work, name, by_entity[name], rule)
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
        return RefreshedPages(tuple(changed), None, work.notices, tuple(problems))
    words = f"{len(changed)} refreshed" if changed else "the index"
    change = Change(subject_line("summarise", "entities", words), writes, trailers("summarise", entities=changed))
    return RefreshedPages(tuple(changed), work.join(change, "summaries"), work.notices, tuple(problems))


def tier_rule(work: WriteScope) -> TierRule:
    """Return how the tiers of all pages are told."""
    policy = work.vault.settings.words("tiers.policy")
    return TierRule(policy, plain_importances(work.index) if policy == SCORE_POLICY else {})


def summary_after(work: WriteScope, name: str, facts: Sequence[Fact], rule: TierRule) -> bytes | None:
    """Return the page of an entity with its generated part made of these facts, or None if it does not change.

    Tiers are those at the start of the week. Raise Unreadable for a page with conflict markers."""
    path = summary_path(name)
    data = work.read(path)
    if data is None:
        data = new_entity_files(name, work.caller)[path] or b""
        before = ""
    else:
        before = data.decode("utf-8-sig", errors="replace")
    text = data.decode("utf-8-sig", errors="replace")
    refuse_conflict_markers(text, path)
    after = with_generated(
        text, facts_block(name, facts, week_began(work.caller.now), today=stamp(work.caller.now), rule=rule)
    )
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
    after = index_page(text, rows, wiki_links=work.vault.settings.words("wiki.links") == "obsidian")
    return after.encode() if after != text else None


def index_after(work: WriteScope, changed: Iterable[PlacedFact]) -> dict[str, bytes | None]:
    """Return the write of `life/index.md` with some facts changed; none if it is not there or stays as it is."""
    if not work.text(INDEX_PATH) or work.unreadable_files() or not _may_write(work, INDEX_PATH):
        return {}
    new = {placed.fact.id: placed.fact for placed in changed}
    by_entity: dict[str, list[Fact]] = defaultdict(list)
    for placed in all_facts(work.index):
        by_entity[placed.entity].append(new.get(placed.fact.id, placed.fact))
    gone = {name for name, facts in by_entity.items() if all(map(is_forgotten, facts))}
    described = {entity.name: entity for entity in known_entities(work.index) if entity.name not in gone}
    index = _index(work, by_entity, described)
    return {INDEX_PATH: index} if index is not None else {}


_FACT_ID = re.compile(r"fact_[0-9a-z]+")


def pages_after(work: WriteScope, changed: Iterable[PlacedFact]) -> dict[str, bytes | None]:
    """Return the summaries of the changed facts' entities, and MEMORY.md, where their generated parts change.

    Pages that do not exist, that cannot be read or that the calling agent may not write are left to the heartbeat."""
    changed, rule = list(changed), tier_rule(work)
    writes: dict[str, bytes | None] = {}
    for entity in dict.fromkeys(placed.entity for placed in changed):
        new = {placed.fact.id: placed.fact for placed in changed if placed.entity == entity}
        facts = [
            new.get(placed.fact.id, counted_fact(work.index, placed.fact)) for placed in facts_of(work.index, entity)
        ]
        path = summary_path(entity)
        if work.read(path) is None or not work.is_readable(entity):
            continue
        try:
            page = summary_after(work, entity, facts, rule)
        except ClawmemError:
            continue  # the heartbeat reports the page
        if page is not None:
            writes[path] = page
    try:
        memory = memory_page_after(work, changed) if work.read(PATH) is not None else None
    except ClawmemError:
        memory = None
    if memory is not None:
        writes[PATH] = memory
    return {path: page for path, page in writes.items() if _may_write(work, path)}


def daily_pages_without(
    work: WriteScope, ids: Set[str], is_gone: Callable[[str | None, str, str], bool], why: str = ""
) -> dict[str, bytes | None]:
    """Return the daily notes without the generated lines that name one of some facts, and without the lines for which
    `is_gone(agent, day, text)` holds: notes go into comments, which say why. The heartbeat writes the rest."""

    def without(name: str, page: str) -> str:
        day, agent = day_and_agent(name) or ("", None)
        gone = partial(is_gone, agent, day)
        block = generated_part(page) or ""
        lines = [
            line for line in block.splitlines()
            if not ids & set(_FACT_ID.findall(line)) and not (line.startswith("- ") and gone(line[2:]))
        ]  # fmt: skip
        new = with_generated(page, "\n".join(lines)) if lines != block.splitlines() else page
        return without_notes(new, why or f"revoked on {day_of(stamp(work.caller.now))}", gone) if day else new

    return daily_pages_after(work, without)


def daily_pages_after(work: WriteScope, change: Callable[[str, str], str]) -> dict[str, bytes | None]:
    """Return the daily notes that `change(path, page)` changes, and that the calling agent may write."""
    root = work.vault.root
    paths = sorted([*root.glob("daily/*.md"), *root.glob("agents/*/daily/*.md")])
    names = [path.relative_to(root).as_posix() for path in paths]
    pages = {name: (work.text(name), change(name, work.text(name))) for name in names}
    return {name: new.encode() for name, (page, new) in pages.items() if new != page and _may_write(work, name)}


def _may_write(work: WriteScope, path: str) -> bool:
    agent = work.caller.agent
    return agent is None or forbidden(agent, rights_of(work.vault.settings, agent), [path], "revoke") is None


class TokenCountResult(NamedTuple):
    """The number of counted facts, notes and events; 0 if nothing was left."""

    number: int


def count_tokens(vault: Vault) -> TokenCountResult:
    """Check new events, and replace the estimated token counts in the index by exact ones. Makes no commit."""
    return run_query(vault, _count, one_state=False)


def count_said(vault: Vault) -> None:
    """Count the tokens of what was said and recorded since, which a context would count too high. Makes no commit."""
    run_query(vault, _count_recent, one_state=False)


def _count_recent(index: Index) -> int:
    if not index.kept or not needs_counting(index):
        return 0
    from clawmem.index.tables.background import exact_counter  # making it takes 0.2 s

    return count_recent(index, exact_counter())


def _count(index: Index) -> TokenCountResult:
    if not index.kept:
        return TokenCountResult(0)
    judge_events(index)
    if not needs_counting(index):
        return TokenCountResult(0)
    from clawmem.index.tables.background import exact_counter  # making it takes 0.2 s

    return TokenCountResult(count_exactly(index, exact_counter()))
