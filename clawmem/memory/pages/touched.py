"""The generated pages that a change of facts makes wrong, as they are after the change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from functools import partial

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import PlacedFact, facts_of
from clawmem.index.tables.accesses import counted_fact
from clawmem.memory.pages.memory_page import PATH, memory_page_after
from clawmem.memory.pages.summaries import summary_after, week_of
from clawmem.memory.scope import WriteScope
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.pages.daily import day_and_agent, without_notes
from clawmem.model.pages.summary import generated_part, with_generated
from clawmem.model.records.entity import summary_path
from clawmem.model.settings.permission import forbidden, rights_of

_FACT_ID = re.compile(r"fact_[0-9a-z]+")


def pages_after(work: WriteScope, changed: Iterable[PlacedFact]) -> dict[str, bytes | None]:
    """Return the summaries of the changed facts' entities, and MEMORY.md, where their generated parts change.

    Pages that do not exist, that cannot be read or that the calling agent may not write are left to the heartbeat."""
    changed = list(changed)
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
            page = summary_after(work, entity, facts, week_of(work), work.vault.settings.whole("summary.max_facts"))
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
    work: WriteScope, ids: Set[str], is_gone: Callable[[str | None, str, str], bool]
) -> dict[str, bytes | None]:
    """Return the daily notes without the generated lines that name one of some facts, and with the notes in comments
    for which `is_gone(agent, day, text)` holds. The heartbeat writes the rest."""
    today = day_of(stamp(work.caller.now))
    writes: dict[str, bytes | None] = {}
    for pattern in ("daily/*.md", "agents/*/daily/*.md"):
        for path in sorted(work.vault.root.glob(pattern)):
            name = path.relative_to(work.vault.root).as_posix()
            page = work.text(name)
            block = generated_part(page)
            lines = [line for line in (block or "").splitlines() if not ids & set(_FACT_ID.findall(line))]
            new = with_generated(page, "\n".join(lines)) if block and lines != block.splitlines() else page
            day, agent = day_and_agent(name) or ("", None)
            new = without_notes(new, today, partial(is_gone, agent, day)) if day else new
            if new != page and _may_write(work, name):
                writes[name] = new.encode()
    return writes


def _may_write(work: WriteScope, path: str) -> bool:
    agent = work.caller.agent
    return agent is None or forbidden(agent, rights_of(work.vault.settings, agent), [path], "revoke") is None
