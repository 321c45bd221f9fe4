"""`clawmem cron install|show|remove`."""

from __future__ import annotations

from typing import Annotated, Any

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.setup import cron as beside
from clawmem.setup.cron import CRONTAB, USUAL_INTERVAL, Schedule, ScheduleEntry, daily_schedule, interval_schedule


def install(
    call: Call,
    each: Annotated[
        str | None, Parameter(f"How often: 5m to 30m, 1h to 12h, 1d (default: {USUAL_INTERVAL}).", ("--every",))
    ],
    hour: Annotated[str | None, Parameter("Once a day at HH:MM, local time.", ("--at",))],
    dry_run: Annotated[bool, _DRY_RUN],
) -> Answer:
    """Add the heartbeat of this vault to the crontab of this user; other lines stay."""
    runtime = call.runtime
    vault, environment = runtime.vault(), runtime.environment
    vault.check_writable()
    when = _schedule(each, hour)
    entry = beside.install_crontab(vault, environment, when, dry_run)
    did = "would be installed" if dry_run else "installed"
    first = f"{did} in {entry.by}: the heartbeat runs {when.words}" if entry.changed else f"{entry.by} has it already"
    return Answer(_data(call, entry), [first, entry.text])


def show(call: Call) -> Answer:
    """Show the installed schedule, or the one that would be installed."""
    vault, environment = call.runtime.vault(), call.runtime.environment
    line = beside.find_crontab_entry(vault, environment)
    wanted = beside.crontab_line(vault, environment, interval_schedule(USUAL_INTERVAL))
    entry = ScheduleEntry(CRONTAB, beside.entry_marker(vault), line or wanted, line is not None)
    notices = [] if line else ["nothing is installed; `clawmem cron install` would add this line"]
    return Answer({"entries": [_data(call, entry)]}, [entry.text], notices)


def remove(call: Call, dry_run: Annotated[bool, _DRY_RUN]) -> Answer:
    """Remove the heartbeat of this vault; other lines stay."""
    vault, environment = call.runtime.vault(), call.runtime.environment
    gone = beside.remove_crontab(vault, environment, dry_run)
    if gone is None:
        return Answer({"removed": []}, ["nothing is installed, so nothing was removed"])
    did = "would be removed from" if dry_run else "removed from"
    return Answer({"removed": [_data(call, gone)]}, [f"{did} {gone.by}: {gone.text}"])


def _schedule(each: str | None, hour: str | None) -> Schedule:
    if each and hour:
        raise InvalidInput("--every and --at cannot be combined.", "Use one of them.")
    return daily_schedule(hour) if hour else interval_schedule(each or USUAL_INTERVAL)


def _data(call: Call, entry: ScheduleEntry) -> dict[str, Any]:
    _, log, _ = beside.heartbeat_command(call.runtime.vault(), call.runtime.environment)
    return {**entry._asdict(), "log": log}


_DRY_RUN = DRY_RUN._replace(help="Show what would be done; change nothing.")
_ENTRY = {"by": {CRONTAB}, "name": str, "text": str, "installed": bool, "changed": bool, "log": str}

VERB = {
    "install": Command(
        install,
        _ENTRY,
        ("clawmem cron install --every 30m", "clawmem cron install --at 03:30"),
        person="lets a program run on this machine at its own times",
    ),
    "show": Command(show, {"entries": [_ENTRY]}, ("clawmem cron show",), ("entries",)),
    "remove": Command(remove, {"removed": [_ENTRY]}, ("clawmem cron remove --dry-run",), ("removed",)),
}
