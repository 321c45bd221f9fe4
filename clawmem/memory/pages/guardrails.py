"""The pages of guardrails: `governance/GUARDRAILS.md` for everybody, and `agents/<id>/GUARDRAILS.md`.

Their generated parts list the current guardrails. Each commit that changes a guardrail also changes the pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.errors import ClawmemError, NotPermitted
from clawmem.index.search.listing import all_guardrails, quarantined_guardrails
from clawmem.index.search.lookup import PlacedFact
from clawmem.memory.pages.memory_page import RefreshedPages
from clawmem.memory.scope import GUARDRAIL_BYTES, WriteScope
from clawmem.model.facts.codec import parse_items, refuse_conflict_markers
from clawmem.model.facts.fact import ACTIVE, GUARDRAIL, Fact, importance_of
from clawmem.model.facts.fact_words import GLOBAL, PAGE, guardrail_block, pages_of
from clawmem.model.pages.summary import with_generated
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.model.settings.permission import forbidden, rights_of

__all__ = ["GLOBAL", "PAGE", "check_agent", "refresh_guardrail_pages", "with_pages"]

_TITLE = "# Guardrails\n"


def with_pages(
    work: WriteScope, changes: Sequence[Change], committed: Mapping[str, bytes | None]
) -> tuple[Change, ...]:
    """Return the changes, each with the pages as it leaves them. `committed` are files that the index does not have
    yet. A page that cannot be read, or that the calling agent may not write, is left to the heartbeat."""
    files = dict(committed)
    items = []
    for change in changes:
        files |= change.writes
        pages, _ = _pages_after(work, files)
        allowed = {path: page for path, page in pages.items() if _may_write(work, path)}
        files |= allowed
        items.append(change._replace(writes={**change.writes, **allowed}) if allowed else change)
    return tuple(items)


def check_agent(work: WriteScope, changes: Sequence[Change], committed: Mapping[str, bytes | None]) -> None:
    """Raise NotPermitted if the changes add, change or withdraw a guardrail. `committed` are files that this scope has
    committed. A fact may move, and its counts may grow."""
    written = {path: data for change in changes for path, data in change.writes.items() if path.endswith(f"/{ITEMS}")}
    before = {path: committed[path] if path in committed else work.read(path) for path in written}
    old, new = (
        {placed.fact.id: _ruling(placed.fact) for path, data in files.items() for placed in _guardrails_in(path, data)}
        for files in (before, written)
    )
    differing = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    if differing:
        raise NotPermitted(
            f"{differing[0]} is a guardrail, and only a person may add, change or withdraw one.",
            "Hand in a better one at the end of a session, or with `clawmem guardrail add`: it waits for a person.",
        )


def _ruling(fact: Fact) -> Fact:
    """Return a guardrail without what its use changes: its counts, what sessions report of it, and links to it."""
    metadata = {key: value for key, value in (fact.metadata or {}).items() if key != "outcomes"}
    return fact._replace(
        access_count=0, last_accessed=None, status=ACTIVE, links=(), related_entities=(), metadata=metadata
    )  # fmt: skip


def refresh_guardrail_pages(work: WriteScope, dry_run: bool = False) -> RefreshedPages:
    """Update the generated parts of the pages in one commit. The index of the write scope must be at HEAD."""
    pages, problems = _pages_after(work, {})
    if not pages or dry_run:
        return RefreshedPages(tuple(pages), None, work.notices, problems)
    change = Change(subject_line("curate", GLOBAL, "guardrails"), pages, trailers("curate"))
    return RefreshedPages(tuple(pages), work.join(change, "guardrails"), work.notices, problems)


def _pages_after(
    work: WriteScope, files: Mapping[str, bytes | None]
) -> tuple[dict[str, bytes | None], tuple[ClawmemError, ...]]:
    """Return the pages that change, where some files have new contents, and the pages that cannot be read."""
    by_page: dict[str, list[PlacedFact]] = {}
    for placed in _guardrails(work, files):
        for path in pages_of(placed.fact, placed.entity):
            by_page.setdefault(path, []).append(placed)
    existing = [f"agents/{path.parent.name}/{PAGE}" for path in (work.vault.root / "agents").glob(f"*/{PAGE}")]
    existing += [GLOBAL] if work.read(GLOBAL) is not None else []
    pages: dict[str, bytes | None] = {}
    problems = []
    deleted = {path for path, data in files.items() if data is None}
    for path in sorted({*by_page, *existing} - (deleted - by_page.keys())):
        data = files[path] if path in files else work.read(path)
        page = (data or b"").decode("utf-8-sig", errors="replace")
        try:
            refuse_conflict_markers(page, path)
        except ClawmemError as problem:
            problems.append(problem)
            continue
        after = with_generated(page or _TITLE, guardrail_block(placed.fact for placed in by_page.get(path, ())))
        if after != page:
            pages[path] = after.encode()
    return pages, tuple(problems)


def _guardrails(work: WriteScope, files: Mapping[str, bytes | None]) -> list[PlacedFact]:
    """Return the current guardrails, the most important and newest first."""
    changed = {name_of_path(path): (path, data) for path, data in files.items() if path.endswith(f"/{ITEMS}")}
    found = [placed for placed in all_guardrails(work.index) if placed.entity not in changed]
    hidden = quarantined_guardrails(work.index) if changed else set()
    for path, data in changed.values():
        found += [placed for placed in _guardrails_in(path, data) if placed.fact.id not in hidden]
    return sorted(
        {placed.fact.id: placed for placed in found}.values(),
        key=lambda placed: (-importance_of(placed.fact), placed.fact.timestamp, placed.fact.id),
    )


def _guardrails_in(path: str, data: bytes | None) -> list[PlacedFact]:
    """Return the current guardrails in a file of facts."""
    entity = name_of_path(path)
    if entity is None or data is None or GUARDRAIL_BYTES not in data:
        return []
    return [
        PlacedFact(item, entity) for item in parse_items(data, path) if item.category == GUARDRAIL and item.is_current
    ]


def _may_write(work: WriteScope, path: str) -> bool:
    agent = work.caller.agent
    return agent is None or forbidden(agent, rights_of(work.vault.settings, agent), [path], "guardrails page") is None
