"""MEMORY.md: what matters most out of all global facts, in its generated part, in one commit."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import important_facts
from clawmem.memory.writing import WriteScope, writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import ALWAYS_HOT
from clawmem.model.pages.memory_page import CATEGORIES, memory_block, sections
from clawmem.model.pages.summary import with_generated
from clawmem.model.pages.tokens import token_bound
from clawmem.model.proposals.promotion import MARK
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS
from clawmem.vault.vault import Vault

PATH = "MEMORY.md"


class MemoryPageResult(NamedTuple):
    """Whether the page changed (or would), the commit, asides, and why it was left as it is."""

    changed: bool
    commit: str | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[ClawmemError, ...] = ()


def refresh_memory(vault: Vault, caller: Caller, dry_run: bool = False) -> MemoryPageResult:
    """Rewrite the generated part of MEMORY.md where the facts say something else now; the rest is never touched, and
    nothing of it where there are facts that cannot be read."""
    with writing(vault, caller, "memory", dry_run=dry_run) as work:
        return refreshed(work, dry_run)


def refreshed(work: WriteScope, dry_run: bool = False) -> MemoryPageResult:
    """The same within a write that is under way, whose index must be at HEAD."""
    unread = [problem for path, problem in work.unread(ITEMS).items() if path.startswith("life/")]
    if unread:
        return MemoryPageResult(False, None, work.notices, tuple(unread))
    page = work.text(PATH)
    refuse_conflict_markers(page, PATH)
    known = [one.fact for one in important_facts(work.index, CATEGORIES, ALWAYS_HOT, MARK)]
    block = memory_block(
        sections(known, stamp(work.caller.now)), work.vault.settings.whole("memory.max_tokens"), token_bound
    )
    after = with_generated(page or "# Memory\n", block)
    if after == page or dry_run:
        return MemoryPageResult(after != page, notices=work.notices)
    change = Change(subject_line("curate", PATH, "what matters most"), {PATH: after.encode()}, trailers("curate"))
    return MemoryPageResult(True, work.commit([change], "memory")[-1], work.notices)
