"""Check that what was set up in harnesses is still there, and that their hooks are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.model.harness import native_events
from clawmem.setup.harnesses import HARNESSES, SHELL, VendorCommand, own_command, wiring
from clawmem.setup.wire import Receipt, receipt_of, wire
from clawmem.vault.state.hook_marks import read_marks
from clawmem.vault.vault import Vault

HARNESS = "harness"
# Where a harness that can skip hooks in silence keeps its sessions.
_SESSIONS = {"codex": (".codex/sessions", "rollout-*.jsonl")}
_TRUST = {"codex": " Codex skips hooks until you trust them: start `codex` and accept them under 'Hooks need review'."}


def harness_problems(vault: Vault, environment: Mapping[str, str], home: Path) -> Iterator[HealthProblem]:
    """Yield a problem for each file of a setup that is gone or is not what a setup of today writes, and for hooks that
    ran sessions never called."""
    for harness in HARNESSES:
        try:
            receipt = receipt_of(harness, home, environment)
        except ClawmemError as problem:
            yield HealthProblem(WARNING, HARNESS, None, None, f"{problem.message} {problem.hint}")
            continue
        if not receipt.exists:
            continue
        gone = [path for path in receipt.files if not Path(path).exists()]
        for path in gone:
            message = f"{harness}: {path} is gone. `clawmem setup {harness}` writes it again."
            yield HealthProblem(WARNING, HARNESS, None, None, message)
        if not gone and str(vault.root) in str(receipt.files):  # it was set up for this vault
            yield from _outdated(harness, vault, receipt, environment, home)
        if harness != SHELL and native_events(harness) and _never_called(vault, harness, receipt.at, home, environment):
            message = f"{harness} had sessions since its setup, but called no hook.{_TRUST.get(harness, '')}"
            yield HealthProblem(WARNING, HARNESS, None, None, message)


def _outdated(
    harness: str, vault: Vault, receipt: Receipt, environment: Mapping[str, str], home: Path
) -> Iterator[HealthProblem]:
    wanted = wiring(harness, home, environment, own_command(environment), str(vault.root))
    own = wanted._replace(steps=tuple(step for step in wanted.steps if not isinstance(step, VendorCommand)))
    try:
        files = wire(own, receipt, environment, receipt.at, dry_run=True).files
    except ClawmemError as problem:
        yield HealthProblem(WARNING, HARNESS, None, None, f"{harness}: {problem.message} {problem.hint}")
        return
    for file in files:
        message = f"{harness}: {file.path} is not what this version sets up. `clawmem setup {harness}` renews it."
        yield HealthProblem(WARNING, HARNESS, None, None, message)


def _never_called(vault: Vault, harness: str, since: str, home: Path, environment: Mapping[str, str]) -> bool:
    if harness not in _SESSIONS or any(mark.harness == harness for mark in read_marks(vault)):
        return False
    from datetime import datetime

    folder, pattern = _SESSIONS[harness]
    named = environment.get("CODEX_HOME")
    place = Path(named) / "sessions" if named else home / folder
    moment = datetime.fromisoformat(since).timestamp()
    return any(path.stat().st_mtime > moment for path in place.rglob(pattern))
