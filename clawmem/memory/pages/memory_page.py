"""MEMORY.md: its generated part lists the most important global facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import PlacedFact, important_facts
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.codec import refuse_conflict_markers
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
    known |= {one.fact.id: one.fact for one in changed if owner_of(one.entity) is None}
    block = memory_block(
        sections(known.values(), stamp(work.caller.now)), work.vault.settings.whole("memory.max_tokens"), token_bound
    )
    after = with_generated(page or "# Memory\n", block)
    return after.encode() if after != page else None
