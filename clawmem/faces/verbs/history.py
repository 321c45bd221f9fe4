"""`clawmem log`, `clawmem undo` and `clawmem diff`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from shlex import quote
from typing import Annotated, Any

from clawmem.errors import InvalidInput, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, LIMIT, Parameter
from clawmem.faces.parts.words import SHORT, data_of, entry_data, entry_line, said
from clawmem.memory.history import compare as comparing
from clawmem.memory.history import log as log_acts
from clawmem.memory.history.compare import Comparison, MovedFacts, OtherChanges
from clawmem.memory.history.log import LogBounds
from clawmem.memory.history.undo import UndoResult
from clawmem.memory.history.undo import undo as undo_act
from clawmem.model.facts.fact_words import fact_data, fact_line, origin_warnings
from clawmem.model.history.comparison import GROUPS, ChangeSentence, FactDifference, change_sentences, summary
from clawmem.model.history.entry import HistoryEntry
from clawmem.model.language.dates import end_of, minute, parse_end, parse_period, parse_start, stamp
from clawmem.model.language.text import counted

OLDER = "there are older entries"
_ASKS = "--agent is who asks; `clawmem log --by NAME` shows the changes of one"
# How many entries are shown without --limit.
_SHOWN = 20
_SEARCHED = 1000
_SHORTEST_ID = 4
_SINCE = re.compile(r"(?:since|from) (.+)", re.IGNORECASE)


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
    if about and not since and (start := _SINCE.fullmatch(about)):
        about, since = None, start[1]
    asks = [_ASKS] if call.runtime.names_agent and author is None else []
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
        asks.append(f"changes of {_days(*days)}")
    notices = list(result.notices)
    if result.truncated:
        notices.append(f"{OLDER}; use --limit {bounds.limit * 10} to show more")
    data = {
        "about": said({"kind": result.kind, "name": result.name}),
        "history": [entry_data(entry) for entry in result.entries],
        "cut": result.truncated,
    }
    talk = [*([] if result.entries else ["No commit matches."]), *asks]
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
    """History is not erased: the undo is a new commit, which `undo HEAD` takes back; `undo` alone goes one change
    further back each time. The command is refused if later changes depend on the change."""
    target = None if target == "last" else target
    if target and len(target) < _SHORTEST_ID and target.isdigit():
        times = f": type it {target} times" if int(target) > 1 else ""
        hint = f"Each `clawmem undo` goes one step back{times}."
        raise InvalidInput(f"'{target}' is too short for a commit or a fact.", hint)
    vault, caller = call.runtime.vault(), call.runtime.caller()
    try:
        result = undo_act(vault, target, caller, dry_run)
    except NotFound as problem:
        entries = reversed(log_acts.log(vault, None, caller, LogBounds(limit=_SEARCHED)).entries)
        last = next((entry for entry in entries if entry.subject.startswith(f"{target}(")), None)
        if last:
            problem.hint = f"The last is `clawmem undo {last.commit[:SHORT]}`: {last.subject}"
        raise
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
    undone = result.undone
    lines = [f"{'would undo' if dry_run else 'undone'}: {undone.subject}  ({undone.author}, {minute(undone.time)})"]
    would = "would be " if dry_run else ""
    for outcome, placed in zip(result.outcome, result.facts, strict=True):
        lines.append(f"{would}{outcome}: {fact_line(placed.fact, placed.entity)}")
    if not result.facts:
        lines += [f"{would}{'removed' if path in result.removed else 'restored'}: {path}" for path in result.paths]
    lines += [] if result.commit else ["dry run; nothing was changed"]
    imports = dict.fromkeys(placed.fact.source for placed in result.facts if placed.fact.source.startswith("import:"))
    lines += [f"to withdraw the whole import: clawmem retract --source {quote(source)}" for source in imports]
    return lines


def diff(
    call: Call,
    older: Annotated[
        str | None,
        Parameter(
            "A commit or a date; default: one day before TO. If the vault is younger, its first commit; if that day has"
            " no change, the commit before TO. A day, week or month alone means what changed in it.",
            metavar="[FROM]",
        ),
    ],
    newer: Annotated[str | None, Parameter("A commit or a date; default: HEAD.", metavar="[TO]")],
    start: Annotated[str | None, Parameter("The same as FROM; alone, what changed since then.", ("--from",))],
    end: Annotated[str | None, Parameter("The same as TO.", ("--to", "--until"))],
    since: Annotated[str | None, Parameter("What changed on this day and since then.", ("--since",))],
) -> Answer:
    """The answer describes in sentences what was learned, corrected and forgotten. A date means the last commit at or
    before it; a day, month or year means its end. One day, week or month alone means what changed in it."""
    caller = call.runtime.caller()
    if not since and (start_day := _SINCE.fullmatch(" ".join(filter(None, (older, newer))))):
        since, older, newer = start_day[1], None, None
    if older and newer and parse_period(f"{older} {newer}", caller.now):
        older, newer = f"{older} {newer}", None  # `diff last week`
    before = _day_before(parse_start(since, caller.now)) if since else None
    first, last = _one("FROM", _one("FROM", older, start), before), _one("TO", newer, end)
    days, only = parse_period(older, caller.now) if older and not last else None, list[str]()
    if days is not None:
        first = _day_before(days[0])
        today = stamp(caller.now)[:10]
        last = days[1] if days[1] < today else None
        if last or (days[0] == today and older != "today"):
            only = [f"On {_days(*days)}{f'; `clawmem diff --since {days[0]}` shows all since' if last else ''}."]
    comparison = comparing.compare(call.runtime.vault(), caller, first, last)
    asks = [_ASKS] if call.runtime.names_agent else []
    return Answer(_data(comparison), [*only, *_lines(comparison)], comparison.notices, talk=asks)


def _days(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _day_before(moment: str) -> str:
    return (date.fromisoformat(moment[:10]) - timedelta(days=1)).isoformat()


def _one(name: str, argument: str | None, option: str | None) -> str | None:
    if argument and option:
        raise InvalidInput(f"{name} is given twice: {argument} and {option}.", "Use one of them.")
    return option or argument


def _data(comparison: Comparison) -> dict[str, Any]:
    sentences = change_sentences(comparison.changes)
    return {
        **({"from": entry_data(comparison.older)} if comparison.older else {}),
        "to": entry_data(comparison.newer),
        "summary": f"{_sentence(comparison, sentences)}.",
        "sentences": [
            {"group": change_sentence.group, "sentence": change_sentence.sentence, "fact": change_sentence.fact.id}
            for change_sentence in sentences
        ],
        "changes": [_change_data(change) for change in comparison.changes],
        "moved": [facts._asdict() for facts in comparison.moved],
        "counts": data_of(comparison.counts),
    }


def _change_data(difference: FactDifference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "fact": fact_data(difference.fact, difference.entity),
        **({"before": fact_data(difference.before, difference.entity)} if difference.before else {}),
    }


def _lines(comparison: Comparison) -> Iterator[str]:
    sentences = change_sentences(comparison.changes)
    yield f"{_sentence(comparison, sentences)}."
    yield from (
        f"{change.sentence}  ({', '.join([*filter(None, [change.entity]), change.fact.id, *labels])})"
        for change in sentences
        for labels in [origin_warnings(change.fact)]
    )
    moves = (
        f"{counted(moved.facts, 'fact')} moved from {moved.source} to {moved.target}" for moved in comparison.moved
    )
    also, others = [*moves, *_counts(comparison.counts)], comparison.counts.other_files
    also += [f"{counted(len(others), 'other file')} changed"] if others and not (sentences or also) else []
    yield from (f"Also: {line}." for line in also)


def _sentence(comparison: Comparison, sentences: Sequence[ChangeSentence]) -> str:
    return f"From {_point(comparison.older)} to {_point(comparison.newer)} the vault {summary(sentences)}"


def _point(entry: HistoryEntry | None) -> str:
    return minute(entry.time) if entry else "before the first commit"


def _counts(counts: OtherChanges) -> Iterator[str]:
    if counts.events_added:
        yield f"{counted(counts.events_added, 'event')} added to the ledger"
    if counts.events_removed:
        yield f"{counted(counts.events_removed, 'event')} removed from the ledger"
    if counts.note_lines_added:
        yield f"{counted(counts.note_lines_added, 'line')} added to daily notes"
    if counts.note_lines_removed:
        yield f"{counted(counts.note_lines_removed, 'line')} removed from daily notes"


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
    "diff": Command(
        diff,
        {
            "from?": "entry",
            "to": "entry",
            "summary": str,
            "sentences": [{"group": set(GROUPS), "sentence": str, "fact": str}],
            "changes": [{"kind": str, "fact": "fact", "before?": "fact"}],
            "moved": [MovedFacts],
            "counts": OtherChanges,
        },
        ("clawmem diff", "clawmem diff today", "clawmem diff HEAD~3 HEAD"),
        ("changes",),
    ),
}
