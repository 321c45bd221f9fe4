"""Check that the vault has a record of every redaction in its history."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.memory.health.checks.problem import ERROR, WARNING, HealthProblem
from clawmem.model.history.redaction import RECORD, records_of
from clawmem.model.language.text import counted
from clawmem.vault.rewriting.redacted_history import is_redacted, redactions_in, unreachable_originals
from clawmem.vault.vault import Vault


def redaction_problems(vault: Vault, head: str) -> Iterator[HealthProblem]:
    """Yield missing records, or an unreadable record file. Runs git."""
    made = redactions_in(vault, head)
    try:
        known = len(records_of(vault.read(RECORD)))
    except ValueError as problem:
        yield HealthProblem(ERROR, "redactions", RECORD, None, f"The records cannot be read: {problem}")
        return
    if known < len(made):
        message = f"The history has {counted(len(made), 'redaction')}, but the file has {known}.{_cure(made)}"
        yield HealthProblem(ERROR, "redactions", RECORD, None, message)


def old_history_problems(vault: Vault, head: str) -> Iterator[HealthProblem]:
    """Yield commits from before a redaction that the repository still has. Runs git over all objects."""
    kept = unreachable_originals(vault, head) if is_redacted(vault, head) else []
    if kept:
        message = (
            f"git still has {counted(len(kept), 'commit')} of this history from before a redaction, "
            f"such as {kept[0][:12]}. To remove them, if nothing else needs them: `git remote prune origin`, delete "
            "the refs that contain them (`git for-each-ref --contains COMMIT`), "
            "`git reflog expire --expire=now --all`, `git repack -a -d` and `git prune --expire=now`."
        )
        yield HealthProblem(WARNING, "redactions", ".git", None, message)


def _cure(made: list[str]) -> str:
    return f" `git checkout {made[0][:12]} -- {RECORD}` restores the record of that commit." if made else ""
