"""What a commit changed of the facts and entities of a vault, from two versions of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.model.facts.codec import fact_from_record, parse_items_with_lines
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.pulled import holds_copies
from clawmem.model.kinds import FACTS, SUMMARY, file_kind
from clawmem.model.language.text import common_start
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import kind_of, name_of_path, owner_of, title_of
from clawmem.model.records.strict_json import read_json

FOLDERS = ("life", "daily")
"""The folders of a vault that the hub takes in: what agents keep in their own workspaces stays in the vault."""

_BEGIN, _END = b"[\n", b"\n]\n"
_EMPTY = b"[]\n"

ReadYaml = Callable[[str, str], Any]


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


class EntityState(NamedTuple):
    """What the summary of an entity says of it."""

    title: str
    kind: str
    aliases: tuple[str, ...]


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


def is_summary(path: str) -> bool:
    """Return whether a file describes an entity that the hub takes in."""
    return is_taken_in(path, SUMMARY)


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


def entity_state(data: bytes, path: str, read_yaml: ReadYaml) -> EntityState:
    """Return what a `summary.md` says of its entity; where its front matter cannot be read, what its path says."""
    name = name_of_path(path) or path
    front, _ = split_front_matter(data.decode(errors="replace"))
    try:
        described = read_yaml(front, path) if front else {}
    except ClawmemError:
        described = {}
    described = described if isinstance(described, dict) else {}
    aliases = described.get("aliases")
    listed: Iterable[Any] = [aliases] if isinstance(aliases, str) else aliases if isinstance(aliases, list) else ()
    return EntityState(
        str(described.get("title") or title_of(name)),
        str(described.get("kind") or kind_of(name)),
        tuple(str(other) for other in listed),
    )


def _is_plain(data: bytes) -> bool:
    return data == _EMPTY or (data.startswith(_BEGIN) and data.endswith(_END))


def _changed_lines(old: bytes, new: bytes) -> ItemsChange:
    """Compare two files with one fact a line. Raise ValueError or ClawmemError if a changed line is no fact."""
    start = _common_start(old, new)
    most = min(len(old), len(new)) - start
    end = _common_end(old, new, most)
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


def _common_start(old: bytes, new: bytes) -> int:
    """Return how many bytes the files share at their start, in whole lines."""
    return new.rfind(b"\n", 0, common_start(old, new)) + 1


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
