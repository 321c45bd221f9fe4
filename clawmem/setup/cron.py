"""The crontab and the systemd timers of the person who runs clawmem: read, written, and tried before it is trusted."""

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
_PLAIN = "/usr/bin:/bin"
_TRIAL_SECONDS = 60


class ScheduleEntry(NamedTuple):
    """What starts the heartbeat of a vault: by crontab or systemd, when, and the text of its entry or units."""

    by: str
    name: str
    text: str
    installed: bool
    changed: bool = False


def mark_of(vault: Vault) -> str:
    """The words that mark this vault's entry, made from its place."""
    return f"clawmem heartbeat {sha256(os.fsencode(vault.root.resolve())).hexdigest()[:8]}"


def unit_of(vault: Vault) -> str:
    """The name of this vault's systemd units, without their endings."""
    return mark_of(vault).replace(" ", "-")


def command_of(vault: Vault, environment: Mapping[str, str]) -> tuple[tuple[str, ...], str, str]:
    """The parts of the command with absolute paths only, the log, and the PATH on which git is found."""
    root = str(vault.root.resolve())
    interpreter = os.path.abspath(sys.executable)  # noqa: PTH100 - a link is the environment it belongs to
    parts = (interpreter, "-P", "-m", "clawmem", "heartbeat", "--stamped", "--vault", root)
    git = shutil.which("git", path=environment.get("PATH"))
    folder = str(Path(git).parent) if git else ""
    path = _PLAIN if folder in ("", *_PLAIN.split(":")) else f"{folder}:{_PLAIN}"
    return parts, str(vault.git_dir.resolve() / "clawmem" / LOG), path


def line_for(vault: Vault, environment: Mapping[str, str], schedule: Schedule) -> str:
    """The crontab entry of a vault."""
    return cron_line(schedule, shell_command(*command_of(vault, environment)), mark_of(vault))


def install_crontab(vault: Vault, environment: Mapping[str, str], schedule: Schedule, dry_run: bool) -> ScheduleEntry:
    """Put the entry into the crontab; NotFound, with the line, where there is no `crontab` command."""
    line = line_for(vault, environment, schedule)
    if not has_crontab(environment):
        raise NotFound(
            "There is no `crontab` command on this machine.",
            f"Install cron, or use `--by systemd`, or have this line run by what you have: {line}",
        )
    before = _read_crontab(environment)
    if find_entry(before, mark_of(vault)) == line:
        return ScheduleEntry(CRONTAB, mark_of(vault), line, True)
    if not dry_run:
        try_out(vault, environment)
        _write_crontab(environment, with_entry(before, line, mark_of(vault)))
    return ScheduleEntry(CRONTAB, mark_of(vault), line, not dry_run, True)


def shown_crontab(vault: Vault, environment: Mapping[str, str]) -> str | None:
    """The entry that stands in the crontab, or None."""
    return find_entry(_read_crontab(environment), mark_of(vault)) if has_crontab(environment) else None


def remove_crontab(vault: Vault, environment: Mapping[str, str], dry_run: bool) -> ScheduleEntry | None:
    """Take the entry out of the crontab; None where there is none."""
    line = shown_crontab(vault, environment)
    if line is None:
        return None
    if not dry_run:
        _write_crontab(environment, with_entry(_read_crontab(environment), None, mark_of(vault)))
    return ScheduleEntry(CRONTAB, mark_of(vault), line, dry_run, True)


def install_systemd(
    vault: Vault, environment: Mapping[str, str], home: Path, schedule: Schedule, dry_run: bool
) -> ScheduleEntry:
    """Write the user service and timer and start the timer; NotFound where systemd keeps no timers for this user."""
    _need_systemd(environment)
    units = _units(vault, environment, home, schedule)
    text = _together(units)
    if _standing(units) == text:
        return ScheduleEntry(SYSTEMD, unit_of(vault), text, True)
    if not dry_run:
        try_out(vault, environment)
        for path, content in units.items():
            vault.prepare_state()
            vault.disk.replace(path, content.encode(), vault.state)
        _systemctl(environment, "daemon-reload")
        _systemctl(environment, "enable", "--now", f"{unit_of(vault)}.timer")
    return ScheduleEntry(SYSTEMD, unit_of(vault), text, not dry_run, True)


def shown_systemd(vault: Vault, environment: Mapping[str, str], home: Path) -> str | None:
    """The units that stand on the disk, or None."""
    return _standing(dict.fromkeys(_unit_paths(vault, environment, home), ""))


def remove_systemd(vault: Vault, environment: Mapping[str, str], home: Path, dry_run: bool) -> ScheduleEntry | None:
    """Stop the timer and remove both units; None where there are none."""
    text = shown_systemd(vault, environment, home)
    if text is None:
        return None
    if not dry_run:
        if has_systemd(environment):
            _systemctl(environment, "disable", "--now", f"{unit_of(vault)}.timer")
        for path in _unit_paths(vault, environment, home):
            vault.disk.remove(path)
        if has_systemd(environment):
            _systemctl(environment, "daemon-reload")
    return ScheduleEntry(SYSTEMD, unit_of(vault), text, dry_run, True)


def has_crontab(environment: Mapping[str, str]) -> bool:
    """Whether there is a `crontab` command."""
    return shutil.which("crontab", path=environment.get("PATH")) is not None


def has_systemd(environment: Mapping[str, str]) -> bool:
    """Whether systemd answers for this user."""
    if shutil.which("systemctl", path=environment.get("PATH")) is None:
        return False
    code, _, _ = _run(environment, ["systemctl", "--user", "show-environment"])
    return code == 0


def try_out(vault: Vault, environment: Mapping[str, str]) -> None:
    """Start the installed interpreter as cron will, with next to no environment; Refused where clawmem is not there."""
    parts, _, path = command_of(vault, environment)
    poor = {"PATH": path, **({"HOME": environment["HOME"]} if "HOME" in environment else {})}
    code, _, complaint = _run(poor, [*parts[:4], "--version"])
    if code != 0:
        last = (complaint.strip().splitlines() or ["no reason given"])[-1]
        raise Refused(
            f"{parts[0]} cannot start clawmem without your environment: {last}.",
            "Install clawmem for that interpreter, such as with pipx, and run the command again.",
        )


def _read_crontab(environment: Mapping[str, str]) -> str:
    code, printed, complaint = _run(environment, ["crontab", "-l"])
    if code == 0:
        return printed
    if "no crontab" in complaint.lower() or not complaint.strip():
        return ""
    raise Refused(f"crontab -l failed: {complaint.strip().splitlines()[-1]}.", "The crontab was left as it is.")


def _write_crontab(environment: Mapping[str, str], text: str) -> None:
    code, _, complaint = _run(environment, ["crontab", "-"], text)
    if code != 0:
        last = (complaint.strip().splitlines() or [f"exit code {code}"])[-1]
        raise Refused(f"crontab refused the new table: {last}.", "The crontab was left as it is.")


def _need_systemd(environment: Mapping[str, str]) -> None:
    if not has_systemd(environment):
        raise NotFound("systemd keeps no timers for this user here.", "Use `clawmem cron install --by crontab`.")


def _systemctl(environment: Mapping[str, str], *arguments: str) -> None:
    code, _, complaint = _run(environment, ["systemctl", "--user", *arguments])
    if code != 0:
        last = (complaint.strip().splitlines() or [f"exit code {code}"])[-1]
        raise Refused(f"systemctl --user {arguments[0]} failed: {last}.", "`systemctl --user status` tells more.")


def _unit_paths(vault: Vault, environment: Mapping[str, str], home: Path) -> tuple[Path, Path]:
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "systemd" / "user"
    return config / f"{unit_of(vault)}.service", config / f"{unit_of(vault)}.timer"


def _units(vault: Vault, environment: Mapping[str, str], home: Path, schedule: Schedule) -> dict[Path, str]:
    service, timer = _unit_paths(vault, environment, home)
    return {service: service_unit(*command_of(vault, environment)), timer: timer_unit(schedule)}


def _standing(units: Mapping[Path, str]) -> str | None:
    if not all(path.is_file() for path in units):
        return None
    return _together({path: path.read_text(encoding="utf-8") for path in units})


def _together(units: Mapping[Path, str]) -> str:
    return "\n".join(f"# {path}\n{content}" for path, content in units.items())


def _run(environment: Mapping[str, str], command: Sequence[str], given: str = "") -> tuple[int, str, str]:
    try:
        done = subprocess.run(
            command,
            input=given.encode(errors="surrogateescape"),
            capture_output=True,
            env={**environment},
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"{command[0]} did not end within {_TRIAL_SECONDS} seconds.", "Try it by hand.") from None
    return done.returncode, done.stdout.decode(errors="surrogateescape"), done.stderr.decode(errors="replace")
