"""The history of a vault as rows of the hub's log: what each commit changed, in batches of bounded size."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.extensions.hub.postgres.intake import Batch
from clawmem.extensions.hub.postgres.rows import COMMIT, ENTITY, ENTITY_GONE, FACT, FACT_GONE, UNREADABLE, LogRow
from clawmem.model.facts.codec import fact_from_record, fact_to_record, parse_items_with_lines
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.pulled import holds_copies
from clawmem.model.history.entry import CommitInfo, HistoryStep
from clawmem.model.kinds import FACTS, SUMMARY, file_kind
from clawmem.model.language.dates import stamp_of_seconds
from clawmem.model.language.text import common_start
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import kind_of, name_of_path, owner_of, title_of
from clawmem.model.records.strict_json import read_json
from clawmem.vault.exchange.mirror import BlobReader, FileChange, Mirror
from clawmem.vault.strict_yaml import parse_yaml

MOST_ROWS, MOST_COMMITS = 2000, 500
# Commits whose files are asked for before they are needed.
_AHEAD = 24
# Bytes of file versions that are kept, because the next commit that changes the file needs them again.
_KEPT_BYTES = 64 << 20
# Stands for a version that is too large to be read. It is no JSON, so it counts as unreadable.
_UNREAD = b"too large"

KnownIds = Callable[[str], set[str]]
"""Returns the ids of the facts that the hub has from a file."""


_Origins = dict[str, tuple[str, str, "FactPut"]]
"""Where facts of a merge were recorded, by their ids: the commit on the other side, the path, and the place there."""


class Reading:
    """Reads the changes of one vault from its mirror, commit by commit."""

    def __init__(self, mirror: Mirror, reader: BlobReader, known_ids: KnownIds) -> None:
        self._mirror = mirror
        self._reader = reader
        self._versions = _Versions(reader)
        self._known_ids = known_ids
        self._rows: list[LogRow] = []

    def batches(self, steps: Sequence[HistoryStep]) -> Iterator[Batch]:
        """Yield the rows of the log for some steps. Each step is in one batch, and the last batch ends with the last.

        The next batch is read after the one before was written, because a file that could not be read is compared
        with what the hub has.
        """
        pairs = [pair for step in steps for pair in _pairs(step)]
        changes = _ahead(self._mirror.changes(pairs, FOLDERS), self._reader)
        commit, files = next(changes, ("", []))
        commits = 0
        for step in steps:
            origins: _Origins = {}
            for info in (*step.merged, step.commit):
                found: list[FileChange] = []
                if info.commit == commit:
                    found = files
                    commit, files = next(changes, ("", []))
                self._rows.append(_commit_row(info))
                if info is step.commit:
                    self._take(info.commit, found, origins)
                else:
                    self._remember(info.commit, found, origins)
            commits += 1 + len(step.merged)
            if len(self._rows) >= MOST_ROWS or commits >= MOST_COMMITS:
                yield Batch(self._rows, step.commit.commit)
                self._rows, commits = [], 0
        if self._rows:
            yield Batch(self._rows, steps[-1].commit.commit)

    def _take(self, commit: str, files: Sequence[FileChange], origins: _Origins) -> None:
        """Add the rows for what a step changed. Facts that moved to another file come before what is gone from one."""
        put: dict[str, LogRow] = {}
        gone: list[tuple[str, str]] = []
        others: list[LogRow] = []
        for file in files:
            if is_items(file.path):
                change = self._change(file)
                if change is None:
                    others.append(LogRow(UNREADABLE, file.path, commit, {"path": file.path}))
                    continue
                put |= {other_put.fact.id: _fact_row(commit, file.path, other_put, origins) for other_put in change.put}
                ids = self._now_at(file.path) if change.whole else change.gone
                gone += [(identifier, file.path) for identifier in sorted(ids)]
            elif is_taken_in(file.path, SUMMARY):
                others.append(self._entity_row(commit, file))
        self._rows += put.values()
        self._rows += [LogRow(FACT_GONE, text, commit, {"path": path}) for text, path in gone if text not in put]
        self._rows += others

    def _remember(self, commit: str, files: Sequence[FileChange], origins: _Origins) -> None:
        """Note which facts a commit on the other side of a merge recorded."""
        for file in files:
            if is_items(file.path) and (change := self._change(file)):
                origins.update({put.fact.id: (commit, file.path, put) for put in change.put})

    def _change(self, file: FileChange) -> ItemsChange | None:
        """Return what a change of a file of facts is; None if its new version cannot be read."""
        try:
            old, new = (self._versions.read(blob, file.path) for blob in (file.old, file.new))
            return items_change(old, new, file.path)
        except ClawmemError:
            return None

    def _now_at(self, path: str) -> set[str]:
        """Return the ids of the facts at a path: those of the hub, and of the rows that were not written yet."""
        ids = self._known_ids(path)
        for row in self._rows:
            if row.kind == FACT:
                (ids.add if row.body["path"] == path else ids.discard)(row.subject)
            elif row.kind == FACT_GONE and row.body["path"] == path:
                ids.discard(row.subject)
        return ids

    def _entity_row(self, commit: str, file: FileChange) -> LogRow:
        name = name_of_path(file.path) or file.path
        data = self._versions.read(file.new, file.path)
        if data is None:
            return LogRow(ENTITY_GONE, name, commit, {"path": file.path})
        state = entity_state(b"" if data is _UNREAD else data, file.path)
        return LogRow(ENTITY, name, commit, {**state, "path": file.path})


class _Versions:
    """Contents of versions of files; the newest of each file is kept for a while."""

    def __init__(self, reader: BlobReader) -> None:
        self._reader = reader
        self._kept: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._bytes = 0

    def read(self, blob: str | None, path: str) -> bytes | None:
        """Return a version of a file, None if there is none."""
        if blob is None:
            return None
        kept = self._kept.get(path)
        if kept is not None and kept[0] == blob:
            return kept[1]
        data = self._reader.read(blob, path)
        data = _UNREAD if data is None else data
        self._bytes += len(data) - len(self._kept.pop(path, ("", b""))[1])
        self._kept[path] = blob, data
        while self._bytes > _KEPT_BYTES and len(self._kept) > 1:
            self._bytes -= len(self._kept.popitem(last=False)[1][1])
        return data


def _ahead(
    changes: Iterator[tuple[str, list[FileChange]]], reader: BlobReader
) -> Iterator[tuple[str, list[FileChange]]]:
    """Yield changes; the reader is told of the files of some further ones."""
    waiting: deque[tuple[str, list[FileChange]]] = deque()
    for commit, files in changes:
        reader.announce((file.new, file.path) for file in files if file.new and is_items(file.path))
        waiting.append((commit, files))
        if len(waiting) > _AHEAD:
            yield waiting.popleft()
    yield from waiting


def _pairs(step: HistoryStep) -> Iterator[tuple[str, str | None]]:
    """Yield what is compared for a step: the commits of the other side with their first parents, then the step."""
    for info in step.merged:
        yield info.commit, next(iter(info.parents), None)
    yield step.commit.commit, step.before


def _commit_row(info: CommitInfo) -> LogRow:
    body = {
        "author": info.author,
        "at": stamp_of_seconds(info.at),
        "subject": info.subject,
        "parents": list(info.parents),
    }
    return LogRow(COMMIT, info.commit, info.commit, body)


def _fact_row(commit: str, path: str, put: FactPut, origins: _Origins) -> LogRow:
    """Return the row for a fact. One that a merge brought is of the commit that recorded it."""
    first, of_path, recorded = origins.get(put.fact.id, (commit, path, put))
    if recorded.fact == put.fact and of_path == path:
        commit, put = first, recorded
    body = {"record": fact_to_record(put.fact), "entity": name_of_path(path) or path, "path": path, "line": put.line}
    return LogRow(FACT, put.fact.id, commit, body)


FOLDERS = ("life", "daily")
"""The folders of a vault that the hub takes in: what agents keep in their own workspaces stays in the vault."""

_BEGIN, _END = b"[\n", b"\n]\n"
_EMPTY = b"[]\n"


class FactPut(NamedTuple):
    """A fact that a file has now, with its 1-based line; it had another text there before, or was not there."""

    fact: Fact
    line: int


class ItemsChange(NamedTuple):
    """The difference of two versions of an `items.json`: the facts put, and the ids of those gone from it.

    `whole` says that the old version could not be read, so that all facts are put and `gone` is unknown: whatever else
    was known of that file is gone.
    """

    put: tuple[FactPut, ...] = ()
    gone: tuple[str, ...] = ()
    whole: bool = False


def is_taken_in(path: str, indexed_as: str) -> bool:
    """Return whether the hub takes a file in as FACTS or SUMMARY. It has what was pulled from it already."""
    kind = file_kind(path)
    name = name_of_path(path)
    if kind is None or kind.indexed_as != indexed_as or name is None:
        return False
    return owner_of(name) is None and not holds_copies(name)


def is_items(path: str) -> bool:
    """Return whether a file contains facts that the hub takes in."""
    return is_taken_in(path, FACTS)


def items_change(old: bytes | None, new: bytes | None, path: str) -> ItemsChange:
    """Return the difference of two versions of a file of facts (None: there is none).

    Files with one fact a line are compared as bytes first, so that only changed lines are parsed. Raise ClawmemError if
    the new version cannot be read.
    """
    if new is not None and (old is None or _is_plain(old)) and _is_plain(new):
        try:
            return _changed_lines(old or _EMPTY, new)
        except (ValueError, ClawmemError):
            pass  # not one fact a line, or wrong: the whole file says what
    now = parse_items_with_lines(new, path) if new is not None else ()
    try:
        before = {fact.id: fact for _, fact in parse_items_with_lines(old, path)} if old is not None else {}
    except ClawmemError:
        return ItemsChange(tuple(FactPut(fact, line) for line, fact in now), (), True)
    put = tuple(FactPut(fact, line) for line, fact in now if before.get(fact.id) != fact)
    kept = {fact.id for _, fact in now}
    return ItemsChange(put, tuple(text for text in before if text not in kept))


def entity_state(data: bytes, path: str) -> dict[str, Any]:
    """Return what a `summary.md` says of its entity: `title`, `kind` and `aliases`; where its front matter cannot be
    read, what its path says."""
    name = name_of_path(path) or path
    front, _ = split_front_matter(data.decode(errors="replace"))
    try:
        described = parse_yaml(front, path) if front else {}
    except ClawmemError:
        described = {}
    described = described if isinstance(described, dict) else {}
    aliases = described.get("aliases")
    listed: Iterable[Any] = [aliases] if isinstance(aliases, str) else aliases if isinstance(aliases, list) else ()
    return {
        "title": str(described.get("title") or title_of(name)),
        "kind": str(described.get("kind") or kind_of(name)),
        "aliases": list(map(str, listed)),
    }


def _is_plain(data: bytes) -> bool:
    return data == _EMPTY or (data.startswith(_BEGIN) and data.endswith(_END))


def _changed_lines(old: bytes, new: bytes) -> ItemsChange:
    """Compare two files with one fact a line. Raise ValueError or ClawmemError if a changed line is no fact."""
    start = new.rfind(b"\n", 0, common_start(old, new)) + 1
    end = _common_end(old, new, min(len(old), len(new)) - start)
    old_lines, new_lines = _lines(old[start : len(old) - end]), _lines(new[start : len(new) - end])
    first = new.count(b"\n", 0, start) + 1
    before, after = set(old_lines), set(new_lines)
    put = tuple(
        FactPut(_fact(line), first + place) for place, line in enumerate(new_lines) if line and line not in before
    )
    gone = [_fact(line).id for line in old_lines if line and line not in after]
    kept = {other_put.fact.id for other_put in put}
    if len(kept) != len(put):
        raise ValueError("an id stands twice")
    return ItemsChange(put, tuple(text for text in gone if text not in kept))


def _fact(line: bytes) -> Fact:
    record = read_json(line)
    if not isinstance(record, dict):
        raise InvalidInput("a fact must be a JSON object")
    return fact_from_record(record)


def _lines(data: bytes) -> list[bytes]:
    """Return the lines of a part of a file, without commas at their ends; brackets of the list are empty lines."""
    stripped = (line.strip().removesuffix(b",") for line in data.split(b"\n"))
    return [b"" if line in (b"[", b"]", b"[]") else line for line in stripped]


def _common_end(old: bytes, new: bytes, most: int) -> int:
    """Return how many bytes the files share at their end, in whole lines, of at most so many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    at = new.find(b"\n", len(new) - low)
    return len(new) - at - 1 if at >= 0 else 0
