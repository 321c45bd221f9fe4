"""What changed in the memory between two commits or dates, told in facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from clawmem.memory.history.log import cut_off, facts_at
from clawmem.model.facts.fact import Fact
from clawmem.model.history.comparison import FactDifference, count_moves, differences
from clawmem.model.history.entry import HistoryEntry
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.pages.daily import day_and_agent
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.vault.history.history import History, open_history
from clawmem.vault.history.points import nothing_yet
from clawmem.vault.vault import Vault


class MovedFacts(NamedTuple):
    """Facts that went from one entity to another."""

    source: str
    target: str
    facts: int


class OtherChanges(NamedTuple):
    """What else changed: events in the ledger, lines of daily notes, files that hold neither nor facts."""

    events_added: int = 0
    events_removed: int = 0
    note_lines_added: int = 0
    note_lines_removed: int = 0
    other_files: tuple[str, ...] = ()


class Comparison(NamedTuple):
    """The two points (`older` is None before the first commit) and all that differs between them."""

    older: HistoryEntry | None
    newer: HistoryEntry
    changes: tuple[FactDifference, ...]
    moved: tuple[MovedFacts, ...]
    counts: OtherChanges
    notices: tuple[str, ...] = ()


def compare(vault: Vault, caller: Caller, older: str | None = None, newer: str | None = None) -> Comparison:
    """Compare two points in time, each a commit or a date, which stands for the last commit at or before it.

    A bare day means its last instant. `newer` defaults to HEAD; `older` to one day before the newer one, in a younger
    vault to its first commit, and where that day brought nothing to the commit before.
    """
    with open_history(vault) as history:
        last = history.at(newer, caller.now) if newer else history.named("HEAD")
        if last is None:
            raise nothing_yet(vault, newer or "")
        moment = moment_of(last.time) if newer else caller.now
        first = history.at(older, caller.now) if older else _a_day_before(history, last, moment)
        return _compared(vault, first, last)


def _a_day_before(history: History, last: HistoryEntry, moment: datetime) -> HistoryEntry | None:
    name = history.last_at(stamp(moment - timedelta(days=1))) or _beginning(history.vault, last)
    if name != last.commit:
        return history.entry(name)
    return history.entry(last.parents[0]) if last.parents else None


def _beginning(vault: Vault, last: HistoryEntry) -> str:
    """The first commit of the main line."""
    return vault.git.run("rev-list", "--max-parents=0", "--first-parent", last.commit, "--").decode().strip()


def _compared(vault: Vault, first: HistoryEntry | None, last: HistoryEntry) -> Comparison:
    start = first.commit if first else None
    paths = _changed(vault, start, last.commit)
    items = [path for path in paths if path.endswith(f"/{ITEMS}") and name_of_path(path)]
    old, old_problems = facts_at(vault, start, items)
    new, new_problems = facts_at(vault, last.commit, items)
    comparable = old.keys() & new.keys() if start else new.keys()
    before, after = _by_id(old, comparable), _by_id(new, comparable)
    moved = tuple(MovedFacts(*pair, number) for pair, number in count_moves(before, after).items())
    counts = _counts(vault, start, last.commit, [path for path in paths if path not in items])
    notices = (*old_problems, *new_problems, *_same(first, last), *cut_off(vault))
    return Comparison(first, last, differences(before, after), moved, counts, notices)


def _same(first: HistoryEntry | None, last: HistoryEntry) -> list[str]:
    if first is None or first.commit != last.commit:
        return []
    return ["both points are one commit; a day counts to its end: name the day before it to see what it brought"]


def _changed(vault: Vault, start: str | None, end: str) -> list[str]:
    if start is None:
        return vault.files_at(end)
    return vault.changes_between(start, end)


def _by_id(files: Mapping[str, Iterable[Fact]], comparable: Iterable[str]) -> dict[str, tuple[Fact, str]]:
    wanted = set(comparable)
    return {
        fact.id: (fact, name_of_path(path) or path) for path, facts in files.items() if path in wanted for fact in facts
    }


def _counts(vault: Vault, start: str | None, end: str, paths: Iterable[str]) -> OtherChanges:
    names = list(paths)
    old = vault.contents_at(start, names) if start else {}
    new = vault.contents_at(end, names)
    counts = OtherChanges()
    for path in names:
        added, removed = _lines_changed(old.get(path) or b"", new[path] or b"")
        if path.startswith("ledger/") and path.endswith(".jsonl"):
            counts = counts._replace(
                events_added=counts.events_added + added, events_removed=counts.events_removed + removed
            )
        elif day_and_agent(path):
            counts = counts._replace(
                note_lines_added=counts.note_lines_added + added, note_lines_removed=counts.note_lines_removed + removed
            )
        else:
            counts = counts._replace(other_files=(*counts.other_files, path))
    return counts


def _lines_changed(old: bytes, new: bytes) -> tuple[int, int]:
    before, after = Counter(_lines(old)), Counter(_lines(new))
    return (after - before).total(), (before - after).total()


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]
