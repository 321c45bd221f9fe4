"""`clawmem cron install|show|remove`."""

from __future__ import annotations

from typing import Annotated, Any

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.model.settings.schedule import Schedule, daily_schedule, interval_schedule
from clawmem.setup import cron as beside
from clawmem.setup.cron import CRONTAB, SYSTEMD, ScheduleEntry

_DEFAULT = "15m"
_AUTO = "auto"


def install(
    call: Call,
    each: Annotated[str | None, Parameter(f"How often: 5m to 30m, 1h to 12h, 1d (default: {_DEFAULT}).", ("--every",))],
    hour: Annotated[str | None, Parameter("Once a day at HH:MM, local time.", ("--at",))],
    by: Annotated[
        str,
        Parameter(
            "crontab, systemd, or auto: the one that this machine has.",
            ("--by",),
            default=_AUTO,
            choices=(_AUTO, CRONTAB, SYSTEMD),
        ),
    ],
    dry_run: Annotated[bool, _DRY_RUN],
) -> Answer:
    """Add the heartbeat of this vault to the crontab or the systemd timers of this user; other entries stay."""
    runtime = call.runtime
    vault, environment = runtime.vault(), runtime.environment
    vault.check_writable()
    when = _schedule(each, hour)
    entry = beside.install_schedule(vault, environment, runtime.home(), when, _chosen(by, environment), dry_run)
    did = "would be installed" if dry_run else "installed"
    first = f"{did} in {entry.by}: the heartbeat runs {when.words}" if entry.changed else f"{entry.by} has it already"
    return Answer(_data(call, entry), [first, entry.text])


def show(call: Call) -> Answer:
    """Show the installed schedule, or the one that would be installed."""
    vault, environment = call.runtime.vault(), call.runtime.environment
    line = beside.find_crontab_entry(vault, environment)
    units = beside.find_systemd_units(vault, environment, call.runtime.home())
    found = [ScheduleEntry(CRONTAB, beside.entry_marker(vault), line, True)] if line else []
    found += [ScheduleEntry(SYSTEMD, beside.unit_name(vault), units, True)] if units else []
    if found:
        return Answer({"entries": [_data(call, entry) for entry in found]}, [entry.text for entry in found])
    wanted = ScheduleEntry(
        CRONTAB, beside.entry_marker(vault), beside.crontab_line(vault, environment, interval_schedule(_DEFAULT)), False
    )
    notices = ["nothing is installed; `clawmem cron install` would add this line"]
    return Answer({"entries": [_data(call, wanted)]}, [wanted.text], notices)


def remove(call: Call, dry_run: Annotated[bool, _DRY_RUN]) -> Answer:
    """Remove the heartbeat of this vault; other lines and timers stay."""
    vault, environment = call.runtime.vault(), call.runtime.environment
    gone = beside.remove_schedules(vault, environment, call.runtime.home(), dry_run)
    did = "would be removed from" if dry_run else "removed from"
    lines = [f"{did} {entry.by}: {entry.text}" for entry in gone] or ["nothing is installed, so nothing was removed"]
    return Answer({"removed": [_data(call, entry) for entry in gone]}, lines)


def _schedule(each: str | None, hour: str | None) -> Schedule:
    if each and hour:
        raise InvalidInput("--every and --at cannot be combined.", "Use one of them.")
    return daily_schedule(hour) if hour else interval_schedule(each or _DEFAULT)


def _chosen(by: str, environment: Any) -> str:
    if by in (CRONTAB, SYSTEMD):
        return by
    if by != _AUTO:
        raise InvalidInput(f"'{by}' is not a known scheduler.", "Choose crontab, systemd or auto.")
    return beside.scheduler_of(environment) or CRONTAB


def _data(call: Call, entry: ScheduleEntry) -> dict[str, Any]:
    _, log, _ = beside.heartbeat_command(call.runtime.vault(), call.runtime.environment)
    return {**entry._asdict(), "log": log}


_DRY_RUN = DRY_RUN._replace(help="Show what would be done; change nothing.")
_ENTRY = {"by": {CRONTAB, SYSTEMD}, "name": str, "text": str, "installed": bool, "changed": bool, "log": str}

VERB = {
    "install": Command(
        install,
        _ENTRY,
        ("clawmem cron install --every 30m", "clawmem cron install --at 03:30 --by systemd"),
        person="lets a program run on this machine at its own times",
    ),
    "show": Command(show, {"entries": [_ENTRY]}, ("clawmem cron show",), ("entries",)),
    "remove": Command(remove, {"removed": [_ENTRY]}, ("clawmem cron remove --dry-run",), ("removed",)),
}
