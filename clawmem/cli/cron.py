"""`clawmem cron install|show|remove`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.errors import InvalidInput
from clawmem.model.settings.schedule import Schedule, daily_schedule, interval_schedule
from clawmem.setup import cron as beside
from clawmem.setup.cron import CRONTAB, SYSTEMD, ScheduleEntry

cron = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Have the heartbeat run by itself."
)

_DEFAULT = "30m"
_Every = Annotated[str | None, typer.Option("--every", help="How often: 5m to 30m, 1h to 12h, 1d (default: 30m).")]
_At = Annotated[str | None, typer.Option("--at", help="Once a day at HH:MM, the machine's time.")]
_By = Annotated[str, typer.Option("--by", help="crontab, systemd, or auto: what this machine has.")]
_Dry = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, change nothing.")]


@cron.command("install")
def install(ctx: typer.Context, each: _Every = None, hour: _At = None, by: _By = "auto", dry_run: _Dry = False) -> int:
    """Add the heartbeat of this vault to the crontab or the systemd timers of this user; the rest stays."""
    face = Face.of(ctx)
    runtime = face.runtime
    vault, environment = runtime.vault(), runtime.environment
    when = _schedule(each, hour)
    if _chosen(by, environment) == SYSTEMD:
        entry = beside.install_systemd(vault, environment, runtime.home(), when, dry_run)
    else:
        entry = beside.install_crontab(vault, environment, when, dry_run)
    did = "would be installed" if dry_run else "installed"
    first = f"{did} in {entry.by}: the heartbeat runs {when.words}" if entry.changed else f"{entry.by} has it already"
    return face.done(_data(face, entry), [first, entry.text])


@cron.command("show")
def show(ctx: typer.Context) -> int:
    """Show what is installed, or what would be."""
    face = Face.of(ctx)
    vault, environment = face.runtime.vault(), face.runtime.environment
    line = beside.shown_crontab(vault, environment)
    units = beside.shown_systemd(vault, environment, face.runtime.home())
    found = [ScheduleEntry(CRONTAB, beside.mark_of(vault), line, True)] if line else []
    found += [ScheduleEntry(SYSTEMD, beside.unit_of(vault), units, True)] if units else []
    if found:
        data = {**_data(face, found[0]), "entries": [_data(face, one) for one in found]}
        return face.done(data, [one.text for one in found])
    wanted = ScheduleEntry(
        CRONTAB, beside.mark_of(vault), beside.line_for(vault, environment, interval_schedule(_DEFAULT)), False
    )
    notices = ["nothing is installed; `clawmem cron install` would add this line"]
    return face.done({**_data(face, wanted), "entries": []}, [wanted.text], notices)


@cron.command("remove")
def remove(ctx: typer.Context, dry_run: _Dry = False) -> int:
    """Take the heartbeat of this vault out again; all other lines and timers stay."""
    face = Face.of(ctx)
    vault, environment = face.runtime.vault(), face.runtime.environment
    gone = [
        one
        for one in (
            beside.remove_crontab(vault, environment, dry_run),
            beside.remove_systemd(vault, environment, face.runtime.home(), dry_run),
        )
        if one
    ]
    did = "would be removed from" if dry_run else "removed from"
    lines = [f"{did} {one.by}: {one.text}" for one in gone] or ["nothing is installed, so nothing was removed"]
    return face.done({"removed": [_data(face, one) for one in gone]}, lines)


def _schedule(each: str | None, hour: str | None) -> Schedule:
    if each and hour:
        raise InvalidInput("--every and --at contradict each other.", "Give one of them.")
    return daily_schedule(hour) if hour else interval_schedule(each or _DEFAULT)


def _chosen(by: str, environment: Any) -> str:
    if by in (CRONTAB, SYSTEMD):
        return by
    if by != "auto":
        raise InvalidInput(f"'{by}' runs nothing by itself.", "Choose crontab, systemd or auto.")
    return SYSTEMD if not beside.has_crontab(environment) and beside.has_systemd(environment) else CRONTAB


def _data(face: Face, entry: ScheduleEntry) -> dict[str, Any]:
    _, log, _ = beside.command_of(face.runtime.vault(), face.runtime.environment)
    return {**entry._asdict(), "log": log}
