"""Schedule the heartbeat in the user's crontab; a mark at the end of a line identifies clawmem's entries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.llm.choice import model_programs
from clawmem.vault.state.heartbeat_state import LOG
from clawmem.vault.vault import Vault

CRONTAB = "crontab"
USUAL_INTERVAL = "15m"
MARK = "clawmem heartbeat"
"""The beginning of the comment that marks clawmem's entries."""
_DEFAULT_PATH = "/usr/bin:/bin"
_TIMEOUT_SECONDS = 60
_EVERY = re.compile(r"(\d{1,4})\s*(m|min|h|d)")
_AT = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_MINUTES = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)
_HOURS = (1, 2, 3, 4, 6, 8, 12)


class ScheduleEntry(NamedTuple):
    """The schedule of a vault's heartbeat.

    `by` is CRONTAB. `text` is the crontab line. `changed` says whether the call changed the schedule, or would change
    it in a dry run.
    """

    by: str
    name: str
    text: str
    installed: bool
    changed: bool = False


def entry_marker(vault: Vault) -> str:
    """Return the comment that marks this vault's entry. It is derived from the path of the vault."""
    return f"{MARK} {sha256(os.fsencode(vault.root.resolve())).hexdigest()[:8]}"


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
            f"Install cron, or run this line with another scheduler: {line}",
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


def has_crontab(environment: Mapping[str, str]) -> bool:
    """Return whether there is a `crontab` command."""
    return shutil.which("crontab", path=environment.get("PATH")) is not None


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


class Schedule(NamedTuple):
    """A schedule in words, and as the five fields of cron."""

    words: str
    cron: str


def interval_schedule(text: str) -> Schedule:
    """Return a repeated schedule (`5m` to `30m`, `1h` to `12h`, `1d`), or raise InvalidInput for other intervals."""
    found = _EVERY.fullmatch(text.strip().lower())
    number, unit = (int(found[1]), found[2][0]) if found else (0, "")
    if (number, unit) == (60, "m"):
        number, unit = 1, "h"
    if (number, unit) in ((24, "h"), (1, "d")):
        return Schedule("every day at 00:00", "0 0 * * *")
    if unit == "m" and number in _MINUTES:
        return Schedule(f"every {number} minutes", f"*/{number} * * * *")
    if unit == "h" and number in _HOURS:
        hours = "*" if number == 1 else f"*/{number}"
        words = "every hour" if number == 1 else f"every {number} hours"
        return Schedule(words, f"0 {hours} * * *")
    minutes, hours = (", ".join(map(str, row)) for row in (_MINUTES, _HOURS))
    raise InvalidInput(
        f"'{text}' is not an interval that cron supports.",
        f"Use minutes ({minutes}), hours ({hours}) or 1d, such as 30m or 2h.",
    )


def daily_schedule(text: str) -> Schedule:
    """Return a daily schedule at `HH:MM`, in the machine's own time zone."""
    found = _AT.fullmatch(text.strip())
    if not found:
        raise InvalidInput(f"'{text}' is not a time of day.", "Use a time such as 03:30.")
    hour, minute = int(found[1]), int(found[2])
    return Schedule(f"every day at {hour:02}:{minute:02}", f"{minute} {hour} * * *")


def shell_command(parts: Sequence[str], log: str, path: str) -> str:
    """Return one line for `sh`: the quoted parts, run from `/` without input, with all output appended to `log`."""
    for part in (*parts, log, path):
        if any(ord(letter) < 32 for letter in part):
            raise InvalidInput(f"{part!r} contains a line break or another control character.", "Rename that folder.")
    words = " ".join(quoted(part) for part in parts)
    return f"cd / && PATH={quoted(path)} {words} </dev/null >>{quoted(log)} 2>&1"


def quoted(text: str) -> str:
    """Return the text as one shell word."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def cron_line(schedule: Schedule, command: str, mark: str) -> str:
    """Return a crontab entry.

    In a crontab, a bare `%` is a line break, and `\\%` a percent sign. After a backslash, an empty pair of quotes must
    come first, or cron would escape that backslash.
    """
    safe = command.replace("\\%", "\\''%").replace("%", "\\%")
    return f"{schedule.cron} {safe} # {mark}"


def find_entry(crontab: str, mark: str) -> str | None:
    """Return the entry with this mark, or None."""
    return next((line for line in crontab.split("\n") if _is_ours(line, mark)), None)


def with_entry(crontab: str, line: str | None, mark: str) -> str:
    """Return the crontab with the entry of this mark replaced by `line`, or removed if it is None; the rest stays."""
    kept: list[str] = []
    for row in crontab.removesuffix("\n").split("\n") if crontab else ():
        if not _is_ours(row, mark):
            kept.append(row)
        elif line is not None:
            kept.append(line)
            line = None
    if line is not None:
        kept.append(line)
    return "".join(f"{row}\n" for row in kept)


def _is_ours(line: str, mark: str) -> bool:
    return line.rstrip().endswith(f" # {mark}") and not line.lstrip().startswith("#")
