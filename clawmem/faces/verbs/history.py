"""`clawmem log` and `clawmem undo`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, LIMIT, Parameter
from clawmem.faces.parts.words import SHORT, entry_data, entry_line, said
from clawmem.memory.history import log as log_acts
from clawmem.memory.history.log import LogBounds
from clawmem.memory.history.undo import UndoResult
from clawmem.memory.history.undo import undo as undo_act
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.dates import end_of, parse_end, parse_period, parse_start

OLDER = "there are older entries"
# How many entries are shown without --limit.
_SHOWN = 20


def log(
    call: Call,
    about: Annotated[
        str | None,
        Parameter(
            "An entity, a fact, or a day, week or month, such as yesterday; default: the whole vault.",
            metavar="[ENTITY|FACT_ID|DAYS]",
            completes="fact or entity",
        ),
    ],
    limit: Annotated[int | None, LIMIT._replace(help="Show only this many of the newest entries.")],
    since: Annotated[str | None, Parameter("Only entries from this date on.", ("--since",))],
    until: Annotated[
        str | None, Parameter("Only entries up to this date; a day, month or year includes its end.", ("--until",))
    ],
    author: Annotated[
        str | None, Parameter("Only changes by this agent or person.", ("--author", "--by"), completes="agent")
    ],
    everything: Annotated[bool, Parameter("Also show commits that only count accesses.", ("--all",))],
    oldest_first: Annotated[bool, Parameter("Begin with the oldest of the entries.", ("--oldest-first",))],
) -> Answer:
    """The newest entries come first; with --json the oldest. The history of an entity includes its former paths."""
    caller, vault = call.runtime.caller(), call.runtime.vault()
    bounds = LogBounds(
        limit or _SHOWN,
        start_of(parse_start(since, caller.now)) if since else None,
        end_of(parse_end(until, caller.now)) if until else None,
        author,
        everything,
    )
    try:
        result = log_acts.log(vault, about, caller, bounds)
    except NotFound:
        days = None if about is None or since or until else parse_period(about, caller.now)
        if days is None:
            raise
        result = log_acts.log(vault, None, caller, bounds._replace(since=start_of(days[0]), until=end_of(days[1])))
    notices = list(result.notices)
    if result.truncated:
        notices.append(f"{OLDER}; use --limit {bounds.limit * 10} to show more")
    data = {
        "about": said({"kind": result.kind, "name": result.name}),
        "history": [entry_data(entry) for entry in result.entries],
        "cut": result.truncated,
    }
    talk = () if result.entries else ("No commit matches.",)
    entries = result.entries if oldest_first else reversed(result.entries)
    return Answer(data, map(entry_line, entries), notices, talk=talk)


def start_of(moment: str) -> str:
    """The first second of a day or time."""
    return f"{moment}T00:00:00Z" if len(moment) == 10 else moment


def undo(
    call: Call,
    target: Annotated[
        str | None,
        Parameter(
            "A commit, or a fact, whose latest change is reverted; default: your own last change.",
            metavar="[FACT_ID|COMMIT]",
            completes="fact",
        ),
    ],
    dry_run: Annotated[bool, DRY_RUN._replace(help="Show what would change; change nothing.")],
) -> Answer:
    """History is not erased: the undo is a new commit and can itself be undone. The command is refused if later changes
    depend on the change."""
    result = undo_act(call.runtime.vault(), target, call.runtime.caller(), dry_run)
    data = {
        "undone": result.undone.commit,
        "undone_entry": entry_data(result.undone),
        "commit": result.commit,
        "facts": [fact_data(placed.fact, placed.entity) for placed in result.facts],
        "outcome": list(result.outcome),
        "paths": list(result.paths),
        "removed": list(result.removed),
        "dry_run": dry_run,
    }
    return Answer(data, _undo_lines(result, dry_run), result.notices)


def _undo_lines(result: UndoResult, dry_run: bool) -> list[str]:
    lines = [f"{'would undo' if dry_run else 'undone'}: {entry_line(result.undone)}"]
    would = "would be " if dry_run else ""
    for outcome, placed in zip(result.outcome, result.facts, strict=True):
        lines.append(f"{would}{outcome}: {fact_line(placed.fact, placed.entity)}")
    if not result.facts:
        lines += [f"{would}{'removed' if path in result.removed else 'restored'}: {path}" for path in result.paths]
    lines.append(f"commit {result.commit[:SHORT]}" if result.commit else "dry run; nothing was changed")
    return lines


VERBS = {
    "log": Command(
        log,
        {"about": {"kind": str, "name?": str}, "history": ["entry"], "cut": bool},
        ("clawmem log yesterday", "clawmem log areas/people/jane", "clawmem log --jsonl --fields commit,subject"),
        ("history",),
    ),
    "undo": Command(
        undo,
        {
            "undone": str,
            "undone_entry": "entry",
            "commit": (str, None),
            "facts": ["fact"],
            "outcome": [str],
            "paths": [str],
            "removed": [str],
            "dry_run": bool,
        },
        ("clawmem undo", "clawmem undo fact_1a2b", "clawmem undo HEAD --dry-run"),
    ),
}
