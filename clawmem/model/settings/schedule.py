"""Schedules of the heartbeat, as lines for cron and units for systemd; a mark identifies clawmem's entries."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput

_EVERY = re.compile(r"(\d{1,4})\s*(m|min|h|d)")
_AT = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_MINUTES = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)
_HOURS = (1, 2, 3, 4, 6, 8, 12)
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_READ_KEYS = ("Environment", "EnvironmentFile", "PassEnvironment", "ExecStart")


class Schedule(NamedTuple):
    """A schedule in words, as the five fields of cron, and as systemd's OnCalendar."""

    words: str
    cron: str
    calendar: str


class ScheduledCommand(NamedTuple):
    """The command that an entry runs, and the environment variables that the entry sets.

    `more` means that it also takes variables from where they cannot be read, so that none can be said to lack.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = {}
    more: bool = False

    @property
    def vault(self) -> str | None:
        """The folder after `--vault`, or None."""
        place = self.words.index("--vault") + 1 if "--vault" in self.words else len(self.words)
        return self.words[place] if place < len(self.words) else None


def interval_schedule(text: str) -> Schedule:
    """Return a repeated schedule (`5m` to `30m`, `1h` to `12h`, `1d`), or raise InvalidInput for other intervals."""
    found = _EVERY.fullmatch(text.strip().lower())
    number, unit = (int(found[1]), found[2][0]) if found else (0, "")
    if (number, unit) == (60, "m"):
        number, unit = 1, "h"
    if (number, unit) in ((24, "h"), (1, "d")):
        return Schedule("every day at 00:00", "0 0 * * *", "*-*-* 00:00:00")
    if unit == "m" and number in _MINUTES:
        return Schedule(f"every {number} minutes", f"*/{number} * * * *", f"*-*-* *:0/{number}:00")
    if unit == "h" and number in _HOURS:
        hours = "*" if number == 1 else f"*/{number}"
        words = "every hour" if number == 1 else f"every {number} hours"
        return Schedule(words, f"0 {hours} * * *", f"*-*-* 0/{number}:00:00")
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
    return Schedule(f"every day at {hour:02}:{minute:02}", f"{minute} {hour} * * *", f"*-*-* {hour:02}:{minute:02}:00")


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


def service_unit(parts: Sequence[str], log: str, path: str) -> str:
    """Return a systemd user service that runs the heartbeat once."""
    return "\n".join(
        (
            "[Unit]",
            "Description=clawmem heartbeat",
            "",
            "[Service]",
            "Type=oneshot",
            f"Environment={_unit_word(f'PATH={path}')}",
            f"ExecStart={' '.join(_unit_word(part).replace('$', '$$') for part in parts)}",
            f"StandardOutput=append:{log.replace('%', '%%')}",
            "StandardError=inherit",
            "",
        )
    )


def timer_unit(schedule: Schedule) -> str:
    """Return the timer for the service of the same name; systemd catches up on a missed run."""
    return "\n".join(
        (
            "[Unit]",
            f"Description=clawmem heartbeat, {schedule.words}",
            "",
            "[Timer]",
            f"OnCalendar={schedule.calendar}",
            "Persistent=true",
            "",
            "[Install]",
            "WantedBy=timers.target",
            "",
        )
    )


def _unit_word(text: str) -> str:
    """Return a word of a systemd unit with `%` escaped, which begins a specifier there."""
    safe = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{safe}"'


def marks_in(crontab: str, prefix: str) -> list[str]:
    """Return the marks of all entries whose mark begins with the prefix."""
    rows = (line.rstrip().rpartition(" # ") for line in crontab.split("\n") if not line.lstrip().startswith("#"))
    return [mark for before, _, mark in rows if before and mark.startswith(prefix)]


def cron_command(crontab: str, mark: str) -> ScheduledCommand | None:
    """Return the command of the entry with this mark, with the variables that the crontab sets above it, or None if
    there is no such entry, or if a person changed it so that it cannot be read."""
    line = find_entry(crontab, mark)
    if line is None:
        return None
    above = crontab.split("\n")[: crontab.split("\n").index(line)]
    settings = {found[1]: found[2].strip("'\"") for row in above if (found := _ASSIGNMENT.fullmatch(row))}
    try:
        words = shlex.split(line.rstrip().removesuffix(f" # {mark}").replace("\\%", "%"))
    except ValueError:
        return None
    start = words.index("&&") + 1 if "&&" in words else 1 if line.startswith("@") else 5
    command = _with_assignments(words[start:])
    return command._replace(environment={**settings, **command.environment}) if command.words else None


def unit_command(service: str, read: Callable[[str], str | None] = lambda path: None) -> ScheduledCommand | None:
    """Return the command of a service unit with its environment, or None if it cannot be read.

    Drop-ins follow the unit in `service`; an empty value resets what came before, as in systemd. `read` returns the
    text of an environment file, whose variables replace those of `Environment`, or None if it cannot be read.
    """
    environment: dict[str, str] = {}
    files: list[str] = []
    words: list[str] = []
    more = False
    for line in service.splitlines():
        key, _, value = line.partition("=")
        try:
            parts = shlex.split(value.replace("%%", "%")) if key in _READ_KEYS else []
        except ValueError:
            return None
        if key == "Environment":
            environment = {**environment, **_with_assignments(parts).environment} if parts else {}
        elif key == "EnvironmentFile":
            files = [*files, *parts] if parts else []
        elif key == "PassEnvironment":
            more = more or bool(parts)
        elif key == "ExecStart":
            words = [part.replace("$$", "$") for part in parts]
    for path in files:
        text = read(path.removeprefix("-"))
        more = more or text is None
        environment.update(_assigned(text or ""))
    return ScheduledCommand(tuple(words), environment, more) if words else None


def _assigned(text: str) -> dict[str, str]:
    """Return the variables of an environment file: one assignment a line, `#` and `;` begin remarks."""
    rows = (row for row in text.splitlines() if not row.lstrip().startswith(("#", ";")))
    return {found[1]: found[2].strip("'\"") for row in rows if (found := _ASSIGNMENT.fullmatch(row))}


def _with_assignments(words: Sequence[str]) -> ScheduledCommand:
    """Return a command with the assignments that stand before it."""
    environment: dict[str, str] = {}
    for number, word in enumerate(words):
        name, sign, value = word.partition("=")
        if word != "env" and not (sign and name.isidentifier()):
            return ScheduledCommand(tuple(words[number:]), environment)
        if sign:
            environment[name] = value
    return ScheduledCommand((), environment)
