"""MEMORY.md: its generated part lists the most important global facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.conflicts import conflicting_ids
from clawmem.index.search.lookup import PlacedFact, important_facts
from clawmem.index.search.rival_values import rows_of_ids
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import BESIDE, Fact
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import ALWAYS_HOT
from clawmem.model.pages.memory_page import CATEGORIES, memory_block, sections
from clawmem.model.pages.summary import with_generated
from clawmem.model.pages.tokens import token_bound
from clawmem.model.proposals.promotion import MARK
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, owner_of

PATH = "MEMORY.md"


class MemoryPageResult(NamedTuple):
    """Whether the page changed, or would on a dry run; the commit; and the problems that prevented it."""

    changed: bool
    commit: str | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[ClawmemError, ...] = ()


def refresh_memory_page(work: WriteScope, dry_run: bool = False) -> MemoryPageResult:
    """Update the generated part of MEMORY.md in one commit. The rest of the page is never changed.

    If facts cannot be read, the page is not changed.

    The index of the write scope must be at HEAD.
    """
    unread = [problem for path, problem in work.unreadable_files(ITEMS).items() if path.startswith("life/")]
    if unread:
        return MemoryPageResult(False, None, work.notices, tuple(unread))
    after = memory_page_after(work)
    if after is None or dry_run:
        return MemoryPageResult(after is not None, notices=work.notices)
    change = Change(subject_line("curate", PATH, "what matters most"), {PATH: after}, trailers("curate"))
    return MemoryPageResult(True, work.commit([change], "memory")[-1], work.notices)


def memory_page_after(work: WriteScope, changed: Iterable[PlacedFact] = ()) -> bytes | None:
    """Return MEMORY.md with its generated part made of the facts of the index, with some of them `changed`, or None if
    it does not change. Raise Unreadable for a page with conflict markers."""
    page = work.text(PATH)
    refuse_conflict_markers(page, PATH)
    known = {one.fact.id: one.fact for one in important_facts(work.index, CATEGORIES, ALWAYS_HOT, MARK)}
    new = {one.fact.id: one.fact for one in changed if owner_of(one.entity) is None}
    known |= new
    parts = sections(known.values(), stamp(work.caller.now), _conflicts(work, known, new))
    block = memory_block(parts, work.vault.settings.whole("memory.max_tokens"), token_bound)
    after = with_generated(page or "# Memory\n", block)
    return after.encode() if after != page else None


def _conflicts(work: WriteScope, known: Mapping[str, Fact], new: Mapping[str, Fact]) -> dict[str, list[str]]:
    """Return the ids of the facts that each known fact is in conflict with, by id.

    The index does not have the changed facts `new` yet: what these settle is left out."""
    rows = rows_of_ids(work.index, list(known))
    if not rows:
        return {}
    catalog = work.vault.catalog_or_none() or Catalog({})
    found = conflicting_ids(work.index, [""], catalog, stamp(work.caller.now), rows)
    left = {
        one: [other for other in others if not (_is_settled(one, other, new) or _is_settled(other, one, new))]
        for one, others in found.items()
    }
    return {one: others for one, others in left.items() if others}


def _is_settled(one: str, other: str, new: Mapping[str, Fact]) -> bool:
    fact = new.get(one)
    return fact is not None and (
        not fact.is_current or any(link.type == BESIDE and link.to == other for link in fact.links)
    )
