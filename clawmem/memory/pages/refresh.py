"""Acts that update the generated pages."""

from __future__ import annotations

from clawmem.memory.pages.guardrails import GuardrailPagesResult, refresh_guardrail_pages
from clawmem.memory.pages.memory_page import MemoryPageResult, refresh_memory_page
from clawmem.memory.pages.summaries import SummariesResult, refresh_pages
from clawmem.memory.writing import writing
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault


def refresh_summaries(vault: Vault, caller: Caller, dry_run: bool = False) -> SummariesResult:
    """Update all summaries and the index page in one commit: see refresh_pages."""
    with writing(vault, caller, "summaries", dry_run=dry_run) as work:
        return refresh_pages(work, dry_run)


def refresh_memory(vault: Vault, caller: Caller, dry_run: bool = False) -> MemoryPageResult:
    """Update MEMORY.md in one commit: see refresh_memory_page."""
    with writing(vault, caller, "memory", dry_run=dry_run) as work:
        return refresh_memory_page(work, dry_run)


def refresh_guardrails(vault: Vault, caller: Caller, dry_run: bool = False) -> GuardrailPagesResult:
    """Update the pages of guardrails in one commit: see refresh_guardrail_pages."""
    with writing(vault, caller, "guardrails", dry_run=dry_run) as work:
        return refresh_guardrail_pages(work, dry_run)
