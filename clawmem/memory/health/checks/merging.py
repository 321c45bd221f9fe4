"""Check that git in this clone uses the merge driver of clawmem."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.vault.git.driver import driver_problem
from clawmem.vault.vault import Vault

CHECK = "merge-driver"
ATTRIBUTES = ".gitattributes"
CONFIGURATION = ".git/config"
UNFINISHED_MERGE = ".git/MERGE_HEAD"


def merging_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield what prevents `git merge` and `git pull` from merging facts."""
    why = driver_problem(vault)
    if why is not None:
        yield HealthProblem(WARNING, CHECK, CONFIGURATION, None, f"{why[0].upper()}{why[1:]}", fixable=True)
    if missing_attributes(vault.read(ATTRIBUTES)):
        message = "The file does not set the merge driver of clawmem, so git merges the vault files as plain text."
        yield HealthProblem(WARNING, CHECK, ATTRIBUTES, None, message, fixable=True)


def missing_attributes(data: bytes | None) -> list[str]:
    """Return the rules that `.gitattributes` lacks."""
    wanted = {"*.md": "clawmem", "*.json": "clawmem", "*.jsonl": "union", "*.yaml": "clawmem"}
    lines = (data or b"").decode(errors="replace").splitlines()
    rules = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [
        f"{pattern} merge={driver}"
        for pattern, driver in wanted.items()
        if not any(
            rule[0] == pattern and any(text.startswith("merge=") or text == "-merge" for text in rule) for rule in rules
        )
    ]


def with_attributes(data: bytes | None) -> bytes:
    """Return the file with the missing rules added at its end."""
    text = (data or b"").decode(errors="replace")
    gap = "" if not text or text.endswith("\n") else "\n"
    return (text + gap + "".join(f"{line}\n" for line in missing_attributes(data))).encode()
