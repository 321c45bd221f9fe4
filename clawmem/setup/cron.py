"""Schedule the heartbeat in the user's crontab or systemd timers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import NotFound, Refused
from clawmem.llm.choice import model_programs
from clawmem.model.settings.schedule import (
    Schedule,
    cron_line,
    find_entry,
    service_unit,
    shell_command,
    timer_unit,
    with_entry,
)
from clawmem.vault.state.heartbeat_state import LOG
from clawmem.vault.vault import Vault

CRONTAB = "crontab"
SYSTEMD = "systemd"
MARK = "clawmem heartbeat"
"""The beginning of the comment that marks clawmem's entries."""
_DEFAULT_PATH = "/usr/bin:/bin"
_TIMEOUT_SECONDS = 60


class ScheduleEntry(NamedTuple):
    """The schedule of a vault's heartbeat.

    `by` is CRONTAB or SYSTEMD. `text` is the crontab line or the content of the units. `changed` says whether the call
    changed the schedule, or would change it in a dry run.
    """

    by: str
    name: str
    text: str
    installed: bool
    changed: bool = False


def entry_marker(vault: Vault) -> str:
    """Return the comment that marks this vault's entry. It is derived from the path of the vault."""
    return f"{MARK} {sha256(os.fsencode(vault.root.resolve())).hexdigest()[:8]}"


def unit_name(vault: Vault) -> str:
    """Return the name of this vault's systemd units, without suffix."""
    return entry_marker(vault).replace(" ", "-")


def heartbeat_command(vault: Vault, environment: Mapping[str, str]) -> tuple[tuple[str, ...], str, str]:
    """Return the command with absolute paths, the path of the log, and a PATH value on which git is found, and
    the programs of models where this environment finds them."""
    root = str(vault.root.resolve())
    interpreter = os.path.abspath(sys.executable)  # noqa: PTH100 - keep the link of a virtual environment
    parts = (interpreter, "-P", "-m", "clawmem", "heartbeat", "--stamped", "--vault", root)
    found = [
        shutil.which(model_program, path=environment.get("PATH"))
        for model_program in ("git", *model_programs(vault.settings))
    ]
    folders = [str(Path(text).parent) for text in found if text]
    own = dict.fromkeys(folder for folder in folders if ":" not in folder and folder not in _DEFAULT_PATH.split(":"))
    path = ":".join([*own, _DEFAULT_PATH])
    return parts, str(vault.git_dir.resolve() / "clawmem" / LOG), path


def crontab_line(vault: Vault, environment: Mapping[str, str], schedule: Schedule) -> str:
    """Return the crontab line of a vault."""
    return cron_line(schedule, shell_command(*heartbeat_command(vault, environment)), entry_marker(vault))


def install_crontab(vault: Vault, environment: Mapping[str, str], schedule: Schedule, dry_run: bool) -> ScheduleEntry:
    """Add the line to the crontab.

    Raise NotFound, with the line in the hint, if there is no `crontab` command. Raise Refused if the interpreter cannot
    start clawmem without the caller's environment.
    """
    line = crontab_line(vault, environment, schedule)
    if not has_crontab(environment):
        raise NotFound(
            "There is no `crontab` command on this machine.",
            f"Install cron, or use `--by systemd`, or run this line with another scheduler: {line}",
        )
    before = read_crontab(environment)
    if find_entry(before, entry_marker(vault)) == line:
        return ScheduleEntry(CRONTAB, entry_marker(vault), line, True)
    if not dry_run:
        check_interpreter(vault, environment)
        _write_crontab(environment, with_entry(before, line, entry_marker(vault)))
    return ScheduleEntry(CRONTAB, entry_marker(vault), line, not dry_run, True)


def find_crontab_entry(vault: Vault, environment: Mapping[str, str]) -> str | None:
    """Return the vault's line in the crontab, or None."""
    return find_entry(read_crontab(environment), entry_marker(vault)) if has_crontab(environment) else None


def remove_crontab(vault: Vault, environment: Mapping[str, str], dry_run: bool) -> ScheduleEntry | None:
    """Remove the line from the crontab. Return None if there is none."""
    line = find_crontab_entry(vault, environment)
    if line is None:
        return None
    if not dry_run:
        _write_crontab(environment, with_entry(read_crontab(environment), None, entry_marker(vault)))
    return ScheduleEntry(CRONTAB, entry_marker(vault), line, dry_run, True)


def install_systemd(
    vault: Vault, environment: Mapping[str, str], home: Path, schedule: Schedule, dry_run: bool
) -> ScheduleEntry:
    """Write the user service and timer, and start the timer. Raise NotFound if systemd has no user session."""
    _require_systemd(environment)
    units = _units(vault, environment, home, schedule)
    text = _joined(units)
    if _installed_units(units) == text:
        return ScheduleEntry(SYSTEMD, unit_name(vault), text, True)
    if not dry_run:
        check_interpreter(vault, environment)
        for path, content in units.items():
            vault.prepare_state()
            vault.disk.replace(path, content.encode(), vault.state)
        _systemctl(environment, "daemon-reload")
        _systemctl(environment, "enable", "--now", f"{unit_name(vault)}.timer")
    return ScheduleEntry(SYSTEMD, unit_name(vault), text, not dry_run, True)


def scheduler_of(environment: Mapping[str, str]) -> str | None:
    """Return what schedules commands on this machine: CRONTAB, SYSTEMD, or None."""
    return CRONTAB if has_crontab(environment) else SYSTEMD if has_systemd(environment) else None


def is_scheduled(vault: Vault, environment: Mapping[str, str], home: Path) -> bool:
    """Return whether the crontab or systemd runs the vault's heartbeat."""
    return bool(find_crontab_entry(vault, environment) or find_systemd_units(vault, environment, home))


def install_schedule(
    vault: Vault, environment: Mapping[str, str], home: Path, schedule: Schedule, by: str, dry_run: bool = False
) -> ScheduleEntry:
    """Schedule the heartbeat by CRONTAB or SYSTEMD."""
    if by == SYSTEMD:
        return install_systemd(vault, environment, home, schedule, dry_run)
    return install_crontab(vault, environment, schedule, dry_run)


def remove_schedules(
    vault: Vault, environment: Mapping[str, str], home: Path, dry_run: bool
) -> tuple[ScheduleEntry, ...]:
    """Remove the heartbeat of the vault from the crontab and from systemd; return what was there."""
    found = (remove_crontab(vault, environment, dry_run), remove_systemd(vault, environment, home, dry_run))
    return tuple(entry for entry in found if entry)


def find_systemd_units(vault: Vault, environment: Mapping[str, str], home: Path) -> str | None:
    """Return the text of the installed units, or None unless both exist."""
    return _installed_units(dict.fromkeys(_unit_paths(vault, environment, home), ""))


def remove_systemd(vault: Vault, environment: Mapping[str, str], home: Path, dry_run: bool) -> ScheduleEntry | None:
    """Stop the timer and remove both units. Return None if there are none."""
    text = find_systemd_units(vault, environment, home)
    if text is None:
        return None
    if not dry_run:
        if has_systemd(environment):
            _systemctl(environment, "disable", "--now", f"{unit_name(vault)}.timer")
        for path in _unit_paths(vault, environment, home):
            vault.disk.remove(path)
        if has_systemd(environment):
            _systemctl(environment, "daemon-reload")
    return ScheduleEntry(SYSTEMD, unit_name(vault), text, dry_run, True)


def has_crontab(environment: Mapping[str, str]) -> bool:
    """Return whether there is a `crontab` command."""
    return shutil.which("crontab", path=environment.get("PATH")) is not None


def has_systemd(environment: Mapping[str, str]) -> bool:
    """Return whether systemd has a session for this user."""
    if shutil.which("systemctl", path=environment.get("PATH")) is None:
        return False
    code, _, _ = run_program(environment, ["systemctl", "--user", "show-environment"])
    return code == 0


def check_interpreter(vault: Vault, environment: Mapping[str, str]) -> None:
    """Start clawmem with a minimal environment, as cron does. Raise Refused if it does not start."""
    parts, _, path = heartbeat_command(vault, environment)
    minimal = {"PATH": path, **({"HOME": environment["HOME"]} if "HOME" in environment else {})}
    code, _, errors = run_program(minimal, [*parts[:4], "--version"])
    if code != 0:
        last = (errors.strip().splitlines() or ["no reason given"])[-1]
        raise Refused(
            f"{parts[0]} cannot start clawmem without your environment: {last}.",
            "Install clawmem for that interpreter, for example with pipx, and run the command again.",
        )


def read_crontab(environment: Mapping[str, str]) -> str:
    """Return the crontab of this user, empty if there is none. Raise Refused if it cannot be read."""
    code, output, errors = run_program(environment, ["crontab", "-l"])
    if code == 0:
        return output
    if "no crontab" in errors.lower() or not errors.strip():
        return ""
    raise Refused(f"crontab -l failed: {errors.strip().splitlines()[-1]}.", "The crontab is unchanged.")


def _write_crontab(environment: Mapping[str, str], text: str) -> None:
    code, _, errors = run_program(environment, ["crontab", "-"], text)
    if code != 0:
        last = (errors.strip().splitlines() or [f"exit code {code}"])[-1]
        raise Refused(f"crontab rejected the new table: {last}.", "The crontab is unchanged.")


def _require_systemd(environment: Mapping[str, str]) -> None:
    if not has_systemd(environment):
        raise NotFound(
            "systemd has no user session here, so it cannot run timers.", "Use `clawmem cron install --by crontab`."
        )


def _systemctl(environment: Mapping[str, str], *arguments: str) -> None:
    code, _, errors = run_program(environment, ["systemctl", "--user", *arguments])
    if code != 0:
        last = (errors.strip().splitlines() or [f"exit code {code}"])[-1]
        raise Refused(f"systemctl --user {arguments[0]} failed: {last}.", "`systemctl --user status` shows more.")


def _unit_paths(vault: Vault, environment: Mapping[str, str], home: Path) -> tuple[Path, Path]:
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "systemd" / "user"
    return config / f"{unit_name(vault)}.service", config / f"{unit_name(vault)}.timer"


def _units(vault: Vault, environment: Mapping[str, str], home: Path, schedule: Schedule) -> dict[Path, str]:
    service, timer = _unit_paths(vault, environment, home)
    return {service: service_unit(*heartbeat_command(vault, environment)), timer: timer_unit(schedule)}


def _installed_units(units: Mapping[Path, str]) -> str | None:
    if not all(path.is_file() for path in units):
        return None
    return _joined({path: path.read_text(encoding="utf-8") for path in units})


def _joined(units: Mapping[Path, str]) -> str:
    return "\n".join(f"# {path}\n{content}" for path, content in units.items())


def run_program(environment: Mapping[str, str], command: Sequence[str], stdin: str = "") -> tuple[int, str, str]:
    """Run a program and return its exit code, output and errors. Raise Refused if it does not end in time."""
    try:
        process = subprocess.run(
            command,
            input=stdin.encode(errors="surrogateescape"),
            capture_output=True,
            env={**environment},
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Refused(
            f"{command[0]} did not finish within {_TIMEOUT_SECONDS} seconds.", "Run it manually to see why."
        ) from None
    return process.returncode, process.stdout.decode(errors="surrogateescape"), process.stderr.decode(errors="replace")
