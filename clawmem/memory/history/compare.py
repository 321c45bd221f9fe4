"""Compare two commits or dates: which facts changed between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from clawmem.errors import InvalidInput, NotPermitted
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import by_ids, forgotten_entities
from clawmem.index.tables.rights import is_restricted
from clawmem.index.tables.store import Index
from clawmem.memory.history.log import (
    entries_for,
    facts_at,
    seen_by_viewer,
    shallow_notices,
    without_words,
)
from clawmem.memory.sync.merge_plan import state_at
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.history.comparison import LEARNED, FactDifference, count_moves, differences, without_forgotten_words
from clawmem.model.history.entry import FORGET, HistoryEntry, trailer_pattern
from clawmem.model.kinds import AGENT_NOTE, DAILY_NOTE, ITEMS_FILE, LEDGER_DAY, file_kind
from clawmem.model.language.dates import end_of, looks_like_a_date, moment_of, parse_state, stamp
from clawmem.model.pages.daily import note_lines
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import name_of_path
from clawmem.vault.history.history import (
    History,
    HistoryFilter,
    before_first_commit,
    commit_time,
    find_commit,
    open_history,
    resolve_commit,
)
from clawmem.vault.past import VaultAt
from clawmem.vault.vault import Vault

_YEAR = re.compile(r"\d{4}")


class MovedFacts(NamedTuple):
    """The number of facts that moved from one entity to another."""

    source: str
    target: str
    facts: int


class OtherChanges(NamedTuple):
    """Changes outside facts: events in ledgers, lines of daily notes, and other files."""

    events_added: int = 0
    events_removed: int = 0
    note_lines_added: int = 0
    note_lines_removed: int = 0
    other_files: tuple[str, ...] = ()


class Comparison(NamedTuple):
    """The two points and the differences between them. `older` is None before the first commit."""

    older: HistoryEntry | None
    newer: HistoryEntry
    changes: tuple[FactDifference, ...]
    moved: tuple[MovedFacts, ...]
    counts: OtherChanges
    notices: tuple[str, ...] = ()


def compare(vault: Vault, caller: Caller, older: str | None = None, newer: str | None = None) -> Comparison:
    """Compare two points in time. Each is a commit, or a date, which means the last commit at or before it.

    A day without a time means its end: to see what changed on 2026-11-21, compare 2026-11-20 with 2026-11-21.
    `newer` defaults to HEAD. `older` defaults to one day before `newer`, or to the first commit of a younger vault;
    if nothing changed on that day, to the parent of `newer`. Raise NotFound if the history begins later, and
    NotPermitted for an agent if something was forgotten on request since then. Nobody gets forgotten words.
    """
    with open_history(vault) as history:
        last = _entry_at(history, newer, caller.now) if newer else history.named("HEAD")
        if last is None:
            raise before_first_commit(vault, newer or "")
        if caller.agent and newer:
            _refuse_forgotten(vault, last.commit)
        moment = moment_of(last.time) if newer else caller.now
        first = _entry_at(history, older, caller.now) if older else _one_day_before(history, last, moment)
        if is_restricted(vault):
            return run_query(vault, lambda index: _seen_by_viewer(history, index, first, last), one_state=False)
        found = _compare(vault, first, last)
    places = run_query(vault, forgotten_entities)
    found = found._replace(
        changes=tuple(map(without_forgotten_words, found.changes)),
        moved=tuple(each for each in found.moved if places.isdisjoint((each.source, each.target))),
        counts=found.counts._replace(
            other_files=tuple(path for path in found.counts.other_files if name_of_path(path) not in places)
        ),
    )
    newest, *oldest = entries_for(vault, caller, [found.newer, *([found.older] if found.older else [])])
    return found._replace(newer=newest, older=next(iter(oldest), None))


def _entry_at(history: History, text: str, now: datetime) -> HistoryEntry | None:
    point = point_at(history.vault, text, now)
    return history.entry(point.commit) if point else None


def _one_day_before(history: History, last: HistoryEntry, moment: datetime) -> HistoryEntry | None:
    name = (
        state_at(history.vault, stamp(moment - timedelta(days=1)))
        or history.vault.git.run("rev-list", "--max-parents=0", "--first-parent", last.commit, "--").decode().strip()
    )
    if name != last.commit:
        return history.entry(name)
    return history.entry(last.parents[0]) if last.parents else None


def fact_changes(vault: Vault, start: str | None, end: str) -> tuple[FactDifference, ...]:
    """Return the differences of facts between two commits; a `start` of None is the state before the first one."""
    items = [path for path in _changed_paths(vault, start, end) if file_kind(path) is ITEMS_FILE]
    return differences(*_states(vault, start, end, items)[:2])


def _compare(vault: Vault, first: HistoryEntry | None, last: HistoryEntry) -> Comparison:
    start = first.commit if first else None
    paths = _changed_paths(vault, start, last.commit)
    items = [path for path in paths if file_kind(path) is ITEMS_FILE]
    before, after, problems = _states(vault, start, last.commit, items)
    moved = tuple(MovedFacts(*pair, number) for pair, number in count_moves(before, after).items())
    counts = _count_other_changes(vault, start, last.commit, [path for path in paths if path not in items])
    notices = (*problems, *_same_commit_notice(first, last), *shallow_notices(vault))
    return Comparison(first, last, differences(before, after), moved, counts, notices)


def _seen_by_viewer(history: History, index: Index, first: HistoryEntry | None, last: HistoryEntry) -> Comparison:
    """Compare two points as a viewer may see them: only what became of facts that they may see, in the words that
    these have now. Other changes are not told, nor when the last one was."""
    vault, start = history.vault, first.commit if first else None
    items = [path for path in _changed_paths(vault, start, last.commit) if file_kind(path) is ITEMS_FILE]
    before, after = (_as_now(index, facts) for facts in _states(vault, start, last.commit, items)[:2])
    points = [
        next(seen_by_viewer(index, history.entries(HistoryFilter(rev=each.commit))), None) if each else None
        for each in (first, last)
    ]
    newer = points[1] or without_words(last)._replace(time=first.time if first else "")
    # One that was replaced by what the viewer may not see would be told as if it were in force.
    changes = (
        change
        for change in differences(before, after)
        if (change.kind, change.fact.status) != (LEARNED, SUPERSEDED) or change.fact.superseded_by in after
    )
    return Comparison(points[0], newer, tuple(changes), (), OtherChanges())


def _as_now(index: Index, facts: Mapping[str, tuple[Fact, str]]) -> dict[str, tuple[Fact, str]]:
    """Return the facts that the viewer of an index may see, as they are now, with the state that they had."""
    now = by_ids(index, facts)
    return {
        name: (
            placed.fact._replace(status=facts[name][0].status, superseded_by=placed.fact.superseded_by),
            placed.entity,
        )
        for name, placed in now.items()
    }


def _states(
    vault: Vault, start: str | None, end: str, items: Iterable[str]
) -> tuple[dict[str, tuple[Fact, str]], dict[str, tuple[Fact, str]], list[str]]:
    """Return the facts of two commits by id, from the files that both can be read in, and the problems of others."""
    old, old_problems = facts_at(vault, start, items)
    new, new_problems = facts_at(vault, end, items)
    comparable = old.keys() & new.keys() if start else new.keys()
    return _by_id(old, comparable), _by_id(new, comparable), [*old_problems, *new_problems]


def _same_commit_notice(first: HistoryEntry | None, last: HistoryEntry) -> list[str]:
    if first is None or first.commit != last.commit:
        return []
    return ["both points are the same commit; a day means its end, so name the day before to see the changes of a day"]


def _changed_paths(vault: Vault, start: str | None, end: str) -> list[str]:
    if start is None:
        return vault.files_at(end)
    return vault.changed_paths(start, end)


def _by_id(files: Mapping[str, Iterable[Fact]], comparable: Iterable[str]) -> dict[str, tuple[Fact, str]]:
    wanted = set(comparable)
    return {
        fact.id: (fact, name_of_path(path) or path) for path, facts in files.items() if path in wanted for fact in facts
    }


def _count_other_changes(vault: Vault, start: str | None, end: str, paths: Iterable[str]) -> OtherChanges:
    names = list(paths)
    old = vault.contents_at(start, names) if start else {}
    new = vault.contents_at(end, names)
    counts = OtherChanges()
    for path in names:
        read = _notes if file_kind(path) in (DAILY_NOTE, AGENT_NOTE) else _lines
        before, after = (Counter(read(data.get(path) or b"")) for data in (old, new))
        added, removed = (after - before).total(), (before - after).total()
        if file_kind(path) is LEDGER_DAY:
            counts = counts._replace(
                events_added=counts.events_added + added, events_removed=counts.events_removed + removed
            )
        elif file_kind(path) in (DAILY_NOTE, AGENT_NOTE):
            counts = counts._replace(
                note_lines_added=counts.note_lines_added + added, note_lines_removed=counts.note_lines_removed + removed
            )
        else:
            counts = counts._replace(other_files=(*counts.other_files, path))
    return counts


def _lines(data: bytes) -> Iterable[object]:
    return [line for line in data.split(b"\n") if line.strip()]


def _notes(data: bytes) -> Iterable[object]:
    return note_lines(data.decode(errors="replace"))


class Revision(NamedTuple):
    """A commit that leads to HEAD, or joins some that do.

    `time` is that of the commit. `moment` is the time asked for, or that of the commit if a commit was named. Times are
    ISO 8601 in UTC.
    """

    commit: str
    time: str
    moment: str


def point_at(vault: Vault, text: str, now: datetime) -> Revision | None:
    """Return the state of the vault at a date, or else the commit with that name.

    A day, month or year includes its whole length. Four digits are a year, but the start of a commit name if that year
    is in the future. Return None for a date before the first commit.

    Raise NotFound or AmbiguousId, and InvalidInput if the text looks like a date and is not valid.
    """
    try:
        moment = end_of(parse_state(_without_future_year(text, now), now))
    except InvalidInput as no_date:
        if looks_like_a_date(text) and find_commit(vault, text) is None:
            raise no_date from None
        commit = resolve_commit(vault, text.strip())
        time = commit_time(vault, commit)
        return Revision(commit, time, time)
    last = state_at(vault, moment)
    return Revision(last, commit_time(vault, last), min(moment, stamp(now))) if last else None


def _without_future_year(text: str, now: datetime) -> str:
    if _YEAR.fullmatch(value := text.strip()) and value > f"{now.year:04d}":
        raise InvalidInput(f"The year {value} is in the future.")
    return text


class PastVault(NamedTuple):
    """The vault as it was at a revision, and a caller with the clock of that time.

    Every reading act accepts these two in place of the current vault and caller.
    """

    vault: VaultAt
    caller: Caller
    point: Revision
    notices: tuple[str, ...]


def open_past(vault: Vault, caller: Caller, text: str) -> PastVault:
    """Open the vault at a commit, a unique commit prefix, a tag or a date.

    A date means the last commit at or before it, joined with what other clones had committed by then. The clock of the
    result is the time of the commit, or the end of the given date, but never later than now. Raise NotFound if the
    branch has no such commit or begins later, AmbiguousId for a prefix of several commits, InvalidInput for an
    impossible date, and NotPermitted for an agent if something was forgotten on request since then.
    """
    point = point_at(vault, text, caller.now)
    if point is None:
        raise before_first_commit(vault, text)
    if caller.agent:
        _refuse_forgotten(vault, point.commit)
    then = VaultAt(vault, point.commit)
    message = f"this is what the vault knew at {point.commit[:12]} ({point.time[:10]} {point.time[11:16]})"
    _ = then.settings, then.catalog  # read now, so that their problems are in the notices
    return PastVault(then, caller._replace(now=moment_of(point.moment)), point, (message, *then.notices))


def _refuse_forgotten(vault: Vault, commit: str) -> None:
    """Raise NotPermitted if something was forgotten on request after a commit."""
    later = HistoryFilter(grep=[trailer_pattern("Clawmem-Op", FORGET)], rev=f"{commit}..HEAD")
    with open_history(vault) as history:
        if any(True for _ in history.entries(later)):
            raise NotPermitted(
                "Something was forgotten on request since then, so no agent reads what the vault knew.",
                "Ask about the present, without --at. A person reads past states, on a terminal of their own.",
            )
