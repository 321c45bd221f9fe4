"""Whether the vault still tells of every redaction that its history tells of."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.memory.health.checks.problem import ERROR, WARNING, HealthProblem
from clawmem.model.history.redaction import RECORD, records_of
from clawmem.model.language.text import counted
from clawmem.vault.rewriting.redacted_history import is_redacted, redactions_in, unreachable_originals
from clawmem.vault.vault import Vault


def redaction_problems(vault: Vault, head: str) -> Iterator[HealthProblem]:
    """A record that was taken out, or a file of records that is none. Runs git."""
    made = redactions_in(vault, head)
    try:
        known = len(records_of(vault.read(RECORD)))
    except ValueError as problem:
        yield HealthProblem(ERROR, "redactions", RECORD, None, f"The file cannot be read: {problem}.{_cure(made)}")
        return
    if known < len(made):
        message = f"History tells of {counted(len(made), 'redaction')}, the file of {known}.{_cure(made)}"
        yield HealthProblem(ERROR, "redactions", RECORD, None, message)


def old_history_problems(vault: Vault, head: str) -> Iterator[HealthProblem]:
    """Commits from before a redaction that git still keeps, by whatever road they came. Runs git over all objects."""
    kept = unreachable_originals(vault, head) if is_redacted(vault, head) else []
    if kept:
        message = (
            f"git still keeps {counted(len(kept), 'commit')} that look like this history from before a redaction, "
            f"{kept[0][:12]} among them. If nothing else needs them: `git remote prune origin`, delete the refs that "
            "lead there (`git for-each-ref --contains COMMIT`), `git reflog expire --expire=now --all`, "
            "`git repack -a -d` and `git prune --expire=now`."
        )
        yield HealthProblem(WARNING, "redactions", ".git", None, message)


def _cure(made: list[str]) -> str:
    return f" `git checkout {made[0][:12]} -- {RECORD}` brings back what was known then." if made else ""
