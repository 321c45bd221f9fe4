"""Schedules of the heartbeat, as lines for cron and units for systemd; a mark identifies clawmem's entries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput

_EVERY = re.compile(r"(\d{1,4})\s*(m|min|h|d)")
_AT = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_MINUTES = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)
_HOURS = (1, 2, 3, 4, 6, 8, 12)


class Schedule(NamedTuple):
    """A schedule in words, as the five fields of cron, and as systemd's OnCalendar."""

    words: str
    cron: str
    calendar: str


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
