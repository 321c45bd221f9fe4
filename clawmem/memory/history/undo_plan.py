"""The plan of an undo: what each file of one commit must become, and what in the vault forbids it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import Refused
from clawmem.index.search.lookup import PlacedFact, by_ids, facts_from_event, facts_naming
from clawmem.index.tables.store import Index
from clawmem.memory.history.log import fact_history
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.history.comparison import points_at
from clawmem.model.history.entry import REDACT, HistoryEntry
from clawmem.model.history.redaction import RECORD, lacks_record
from clawmem.model.history.restoration import changed_facts, connected, facts_back, file_back, lines_back
from clawmem.model.records.entity import ITEMS, SUMMARY, items_path, name_of_path
from clawmem.model.records.event import parse_events
from clawmem.model.records.layout import is_owned
from clawmem.vault.history.history import History, HistoryFilter
from clawmem.vault.vault import Vault

Read = Callable[[str], bytes | None]

# How far learning has come. It never goes back: the next heartbeat would learn again what was just taken back.
_PROGRESS = "ledger/learned.json"


class UndoPlan(NamedTuple):
    """The files to write, each touched fact with `restored` or `removed`, what was as before already, and a sentence
    for each part that stays because others use it."""

    writes: Mapping[str, bytes | None]
    facts: tuple[tuple[PlacedFact, str], ...]
    already: tuple[str, ...]
    kept: tuple[str, ...]


class _UndoPlanner:
    """One commit's files before it, after it and now, and the plan that grows from them."""

    def __init__(self, vault: Vault, index: Index, history: History, read: Read, entry: HistoryEntry) -> None:
        self.vault = vault
        self.index = index
        self.history = history
        self.entry = entry
        parent = entry.parents[0]
        self.paths = vault.changed_paths(parent, entry.commit)
        self.before = vault.contents_at(parent, self.paths)
        self.after = vault.contents_at(entry.commit, self.paths)
        self.now = {path: read(path) for path in self.paths if is_owned(path) and path != _PROGRESS}
        self.writes: dict[str, bytes | None] = {}
        self.facts: list[tuple[PlacedFact, str]] = []
        self.left: dict[str, int] = {}
        self.already: list[str] = []
        self.kept: list[str] = []

    def items(self) -> list[str]:
        """The commit's files of facts."""
        return [path for path in self.now if path.endswith(f"/{ITEMS}") and name_of_path(path)]

    def parsed(self, path: str) -> tuple[Sequence[Fact], Sequence[Fact], Sequence[Fact]]:
        """A file's facts before, after and now."""
        states = (self.before[path], self.after[path], self.now[path])
        before, after, now = (parse_items(data, path) if data is not None else () for data in states)
        return before, after, now

    def write(self, path: str, content: bytes | None) -> None:
        """Plan a file's content, where it differs from what stands."""
        if content != self.now[path]:
            self.writes[path] = content


def plan_back(
    vault: Vault, index: Index, history: History, read: Read, entry: HistoryEntry, fact_id: str | None
) -> UndoPlan:
    """What taking back a commit means, for one fact's group where `fact_id` names one; Refused with the reason."""
    scene = _UndoPlanner(vault, index, history, read, entry)
    states = {path: scene.parsed(path) for path in scene.items()}
    if fact_id is not None:
        _refuse_moved(scene, states, fact_id)
    _take_facts_back(scene, states, _only(states, fact_id))
    _refuse_dangling(scene)
    if fact_id is None:
        for path in scene.now:
            if path.startswith("ledger/") and path.endswith(".jsonl"):
                _take_events_back(scene, path)
            elif path not in states and not path.endswith(f"/{SUMMARY}"):
                _take_file_back(scene, path)
    for path in scene.now:
        if path.endswith(f"/{SUMMARY}"):
            _take_summary_back(scene, path, whole=fact_id is None)
    scene.kept += [f"{path} is not clawmem's" for path in scene.paths if fact_id is None and not is_owned(path)]
    return UndoPlan(scene.writes, tuple(scene.facts), tuple(scene.already), tuple(scene.kept))


def _only(states: Mapping[str, tuple[Sequence[Fact], ...]], fact_id: str | None) -> frozenset[str]:
    """The facts to take back: all that the commit changed, or those connected with one."""
    changed: dict[str, list[Fact | None]] = {}
    for before, after, _ in states.values():
        for key, pair in changed_facts(before, after).items():
            changed.setdefault(key, []).extend(pair)
    return connected(fact_id, changed) if fact_id else frozenset(changed)


def _refuse_moved(scene: _UndoPlanner, states: Mapping[str, tuple[Sequence[Fact], ...]], fact_id: str) -> None:
    places = [
        [path for path, each in states.items() if any(fact.id == fact_id for fact in each[when])] for when in (0, 1)
    ]
    if places[0] and places[1] and places[0] != places[1]:
        raise Refused(
            f"The latest change of {fact_id} is {scene.entry.commit[:12]} ({scene.entry.subject}), a move.",
            f"Take the whole move back: `clawmem undo {scene.entry.commit[:12]}`.",
        )


def _take_facts_back(
    scene: _UndoPlanner,
    states: Mapping[str, tuple[Sequence[Fact], Sequence[Fact], Sequence[Fact]]],
    only: frozenset[str],
) -> None:
    removed: dict[str, PlacedFact] = {}
    restored: dict[str, PlacedFact] = {}
    for path, (before, after, now) in states.items():
        back = facts_back(before, after, now, only)
        entity = name_of_path(path) or path
        elsewhere = _elsewhere(scene, [key for key in back.already if key not in {fact.id for fact in before}])
        for blocked in (*back.blocked, *elsewhere):
            raise _changed_since(scene, blocked)
        standing = {fact.id: fact for fact in now}
        removed.update({key: PlacedFact(standing[key], entity) for key in back.removed})
        restored.update({key: PlacedFact(back.records[key], entity) for key in back.restored})
        scene.already += back.already
        scene.left[path] = len(back.records)
        if back.restored or back.removed or _emptied(scene, path):
            scene.write(path, render_items(back.records.values()))
    _refuse_split(scene, states, removed.keys() & restored.keys())
    scene.facts += [(one, "restored") for one in restored.values()]
    scene.facts += [(one, "removed") for key, one in removed.items() if key not in restored]


def _elsewhere(scene: _UndoPlanner, gone: Iterable[str]) -> list[str]:
    """Facts that are not where the commit put them because they were moved since."""
    places = {name_of_path(path) for path in scene.items()}
    return [key for key, one in by_ids(scene.index, gone).items() if one.entity not in places]


def _emptied(scene: _UndoPlanner, path: str) -> bool:
    """Whether the commit took away a file of facts that is still missing."""
    return scene.before[path] is not None and scene.after[path] is None and scene.now[path] is None


def _refuse_split(scene: _UndoPlanner, states: Iterable[str], moved: Iterable[str]) -> None:
    """An entity that was moved goes back whole, so nothing else may have come to stand in its new place."""
    name = scene.entry.commit[:12]
    for path in states if any(True for _ in moved) else ():
        if scene.before[path] is None and scene.left[path]:
            entity = name_of_path(path)
            raise Refused(
                f"{name} cannot be undone: facts came to {entity} since.",
                f"Undo those first: `clawmem log {entity}` shows them.",
            )


def _changed_since(scene: _UndoPlanner, fact_id: str) -> Refused:
    """The refusal for a fact that was changed again after the commit, naming the newest change."""
    entries = fact_history(scene.history, {fact_id: scene.items()}, folds=True)[fact_id]
    names = [entry.commit for entry in entries]
    later = entries[names.index(scene.entry.commit) + 1 :] if scene.entry.commit in names else []
    return _refused(scene, fact_id, next(reversed(later), None))


def _refused(scene: _UndoPlanner, what: str, later: HistoryEntry | None) -> Refused:
    by = f", last by {later.commit[:12]} ({later.subject})" if later else ", by an edit that is not committed yet"
    hint = f"Undo that first: `clawmem undo {later.commit[:12]}`." if later else "`git diff` in the vault shows it."
    if later and later.op == REDACT:
        hint = "A redaction cannot be undone; `clawmem retract ID` forgets what is left of a fact."
    return Refused(f"{scene.entry.commit[:12]} cannot be undone: {what} was changed since{by}.", hint)


def _refuse_dangling(scene: _UndoPlanner) -> None:
    """No fact may be left pointing at one that is gone."""
    gone = {one.fact.id for one, outcome in scene.facts if outcome == "removed"}
    back = {one.fact.id: one for one, outcome in scene.facts if outcome == "restored"}
    for fact_id in sorted(gone):
        for each in facts_naming(scene.index, fact_id):
            stays = back.get(each.fact.id, each)
            if stays.fact.id not in gone and fact_id in points_at(stays.fact):
                raise Refused(
                    f"{scene.entry.commit[:12]} cannot be undone: "
                    f"{stays.fact.id} ({stays.fact.fact}) stands on {fact_id}.",
                    f"Undo what connects them first: `clawmem log {stays.fact.id}` shows it.",
                )
    for one in back.values():
        targets = points_at(one.fact) - back.keys()
        missing = sorted((targets & gone) | (targets - by_ids(scene.index, targets).keys()))
        if missing and not set(missing) <= _dangling_now(scene, one.fact.id):
            raise Refused(
                f"{scene.entry.commit[:12]} cannot be undone: "
                f"{one.fact.id} would point at {missing[0]}, which is gone.",
                f"Bring that back first: `clawmem log {missing[0]}` shows what took it away.",
            )


def _dangling_now(scene: _UndoPlanner, fact_id: str) -> set[str]:
    """What the fact points at today and is not there today either: no reason to refuse."""
    found = by_ids(scene.index, [fact_id]).get(fact_id)
    targets = points_at(found.fact) if found else frozenset()
    return set(targets - by_ids(scene.index, targets).keys())


def _take_events_back(scene: _UndoPlanner, path: str) -> None:
    states = (scene.before[path], scene.after[path], scene.now[path])
    back = lines_back(*(_by_event(data or b"", path) for data in states))
    if back.blocked:
        raise _refused(scene, f"the event {back.blocked[0]}", _later_on(scene, path))
    going = {one.fact.id for one, outcome in scene.facts if outcome == "removed"}
    for event in back.removed:
        citing = next((one for one in facts_from_event(scene.index, event) if one.fact.id not in going), None)
        if citing is not None:
            raise Refused(
                f"{scene.entry.commit[:12]} cannot be undone: {citing.fact.id} ({citing.fact.fact}) was learned from "
                f"the event {event}.",
                f"Undo what was learned first: `clawmem log {citing.fact.id}` shows it.",
            )
    scene.already += back.already
    if back.removed or back.restored:
        lines = b"".join(line + b"\n" for line in back.records.values())
        scene.write(path, lines or None)


def _by_event(data: bytes, path: str) -> dict[str, bytes]:
    """A ledger's lines, to the byte, by the event each holds."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    return {event.id: line for event, line in zip(parse_events(data, path), lines, strict=True)}


def _take_file_back(scene: _UndoPlanner, path: str) -> None:
    before, after, now = scene.before[path], scene.after[path], scene.now[path]
    found = file_back(path, before, after, now)
    if found.verdict == "blocked":
        raise _refused(scene, path, _later_on(scene, path))
    if path == RECORD and lacks_record(found.content if found.verdict == "back" else now, now):
        scene.kept.append(f"{path} stays: what was redacted must stay known")
    elif found.verdict == "back":
        scene.write(path, found.content)
    elif file_back(path, before, after, after).verdict == "back":
        scene.already.append(path)


def _later_on(scene: _UndoPlanner, path: str) -> HistoryEntry | None:
    later = HistoryFilter(paths=[path], rev=f"{scene.entry.commit}..HEAD")
    return next(iter(scene.history.entries(later)), None)


def _take_summary_back(scene: _UndoPlanner, path: str, whole: bool) -> None:
    """A summary goes with the entity that the commit made, where nothing else has come to live there."""
    if scene.before[path] is not None or scene.after[path] is None:
        if whole:
            _take_file_back(scene, path)
        return
    entity = name_of_path(path) or path
    items = items_path(entity)
    if scene.now[path] is None:
        scene.already.append(path)
    elif scene.left.get(items, 1 if _has_facts(scene, items) else 0):
        scene.kept.append(f"{entity} stays, because other facts stand in it")
    elif file_back(path, None, scene.after[path], scene.now[path]).verdict == "blocked":
        scene.kept.append(f"{entity} stays, because its summary was edited since")
    else:
        scene.write(path, None)
        if items in scene.now:
            scene.write(items, None)


def _has_facts(scene: _UndoPlanner, items: str) -> bool:
    data = scene.now.get(items)
    return bool(data and parse_items(data, items))
