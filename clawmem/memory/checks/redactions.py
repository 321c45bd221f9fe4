"""Whether the vault still tells of every redaction that its history tells of."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.memory.checks.problem import ERROR, Problem
from clawmem.model.redaction import RECORD, records_of
from clawmem.model.text import counted
from clawmem.vault.rewritten import redactions_in
from clawmem.vault.vault import Vault


def redaction_problems(vault: Vault, head: str) -> Iterator[Problem]:
    """A record that was taken out, or a file of records that is none. Runs git."""
    made = redactions_in(vault, head)
    try:
        known = len(records_of(vault.read(RECORD)))
    except ValueError as problem:
        yield Problem(ERROR, "redactions", RECORD, None, f"The file cannot be read: {problem}.{_cure(made)}")
        return
    if known < len(made):
        message = f"History tells of {counted(len(made), 'redaction')}, the file of {known}.{_cure(made)}"
        yield Problem(ERROR, "redactions", RECORD, None, message)


def _cure(made: list[str]) -> str:
    return f" `git checkout {made[0][:12]} -- {RECORD}` brings back what was known then." if made else ""
