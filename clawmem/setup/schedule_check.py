"""Check that an installed schedule has what the heartbeat needs: its program and vault, git, and keys of models."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from clawmem.errors import ClawmemError
from clawmem.llm.choice import model_programs, needed_keys
from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.model.harness import native_events
from clawmem.model.records.layout import SETTINGS
from clawmem.model.settings.schedule import ScheduledCommand, cron_command, marks_in, unit_command
from clawmem.setup.cron import (
    CRONTAB,
    MARK,
    SYSTEMD,
    entry_marker,
    find_drop_ins,
    find_systemd_units,
    has_crontab,
    read_crontab,
    run_program,
)
from clawmem.setup.harnesses import HARNESSES, SHELL, VendorCommand, own_command, wiring
from clawmem.setup.wire import Receipt, receipt_of, wire
from clawmem.vault.state.hook_marks import read_marks
from clawmem.vault.vault import Vault

SCHEDULE = "schedule"
# What cron and systemd give to a command that sets no PATH.
_DEFAULT_PATH = "/usr/bin:/bin"
_REPLACE = "`clawmem cron remove` and `clawmem cron install` replace it."


def schedule_problems(vault: Vault, environment: Mapping[str, str], home: Path) -> Iterator[HealthProblem]:
    """Yield what the installed schedules of this vault lack, why they cannot be read, and which lines of the crontab
    are for a vault that is gone, as after it was moved."""
    for by in (CRONTAB, SYSTEMD):
        try:
            lacks = schedule_lacks(vault, environment, home, by)
        except ClawmemError as problem:
            lacks = (problem.message,)
        for sentence in lacks:
            yield HealthProblem(WARNING, SCHEDULE, None, None, f"The schedule in {by}: {sentence} {_REPLACE}")
    for root in _vaults_gone(vault, environment):
        message = f"The crontab has a heartbeat for {root}, where no vault is any more. Remove it with `crontab -e`."
        yield HealthProblem(WARNING, SCHEDULE, None, None, message)


def schedule_lacks(vault: Vault, environment: Mapping[str, str], home: Path, by: str) -> tuple[str, ...]:
    """Return one sentence for each thing that the vault's entry in CRONTAB or SYSTEMD lacks; none if there is no entry.

    Raise Refused if the crontab cannot be read.
    """
    mark = entry_marker(vault)
    if by == CRONTAB:
        text = read_crontab(environment) if has_crontab(environment) else ""
        command, installed = cron_command(text, mark), f" # {mark}" in text
    else:
        units = find_systemd_units(vault, environment, home)
        service = f"{units or ''}\n{find_drop_ins(vault, environment, home)}"
        command, installed = unit_command(service, lambda path: _environment_file(path, home)), units is not None
    if not installed:
        return ()
    if command is None:
        return ("its command cannot be read.",)
    return tuple(_lacks(vault, command, home))


def _environment_file(path: str, home: Path) -> str | None:
    """Return the text of a file of variables that a unit names, or None if it cannot be read from here."""
    try:
        return Path(path.replace("%h", str(home))).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _vaults_gone(vault: Vault, environment: Mapping[str, str]) -> Iterator[str]:
    try:
        text = read_crontab(environment) if has_crontab(environment) else ""
    except ClawmemError:
        return  # reported with the entry of this vault
    for mark in marks_in(text, MARK):
        command = cron_command(text, mark) if mark != entry_marker(vault) else None
        if command and command.vault and not (Path(command.vault) / SETTINGS).exists():
            yield command.vault


def _lacks(vault: Vault, command: ScheduledCommand, home: Path) -> Iterator[str]:
    path = command.environment.get("PATH", _DEFAULT_PATH)
    yield from _program_lacks(command, {"HOME": str(home), **command.environment, "PATH": path})
    if command.vault is None or Path(command.vault).resolve() != vault.root.resolve():
        yield f"it runs the heartbeat of another vault, {command.vault or 'which it does not name'}."
    if shutil.which("git", path=path) is None:
        yield f"git is not found on its PATH, {path}."
    for needed in model_programs(vault.settings):
        if shutil.which(needed, path=path) is None:
            yield f"the program {needed}, which calls the model, is not found on its PATH, {path}."
    for setting, variable in needed_keys(vault.settings).items():
        if not command.environment.get(variable) and not command.more:
            yield f"it does not set {variable}, which holds the key of {setting}."


def _program_lacks(command: ScheduledCommand, environment: Mapping[str, str]) -> Iterator[str]:
    program = command.words[0]
    if shutil.which(program, path=environment["PATH"]) is None:
        yield f"its program {program} is not there, or cannot be run."
        return
    if "heartbeat" not in command.words:
        yield "it does not run `heartbeat`."
        return
    start = command.words[: command.words.index("heartbeat")]
    code, _, errors = run_program(environment, [*start, "--version"])
    if code != 0:
        reason = (errors.strip().splitlines() or [f"exit code {code}"])[-1]
        yield f"{program} cannot start clawmem: {reason}."


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
