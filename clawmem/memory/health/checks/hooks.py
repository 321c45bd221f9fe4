"""Check the hooks of agent harnesses: the last call of each must have done its work in time."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.vault.state.hook_marks import DONE, FOLDER, read_marks
from clawmem.vault.vault import Vault

HOOK = "hook"


def hook_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield a problem for each hook whose last call failed or took too long."""
    for one in read_marks(vault):
        if one.outcome != DONE:
            said = f"The last call of {one.event} by {one.harness} ({one.at}) {_WORDS.get(one.outcome, 'failed')}"
            yield HealthProblem(WARNING, HOOK, f".git/clawmem/{FOLDER}", None, f"{said}: {one.message.rstrip('.')}.")


_WORDS = {"late": "was too late", "failed": "failed"}
