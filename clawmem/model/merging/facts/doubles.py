"""An id that stands in several files: one place keeps it, with all that its records say, and the others let it go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import SUMMARY_PAGE, file_kind
from clawmem.model.merging.facts.chains import Facts, close_replaced, put, without_circles
from clawmem.model.merging.facts.fields import merged_fact
from clawmem.model.merging.facts.table import FiledFact, Shelves
from clawmem.model.merging.facts.wordings import set_beside
from clawmem.model.merging.policy import OURS
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import name_of_path

Pages = Mapping[str, str]
"""By entity the front matter of its page."""


class United(NamedTuple):
    """An id that stood more than once: the file that keeps it, those that let it go, and the ids of other wordings."""

    id: str
    kept: str
    left: tuple[str, ...]
    beside: tuple[str, ...] = ()


def fronts(files: Mapping[str, bytes | None]) -> dict[str, str]:
    """The front matter of the entities' pages among some files."""
    found = {}
    for path, data in files.items():
        name = name_of_path(path)
        if name and data is not None and file_kind(path) is SUMMARY_PAGE:
            found[name] = split_front_matter(data.decode(errors="replace"))[0] or ""
    return found


def united(shelves: Shelves, pages: Pages) -> tuple[dict[str, tuple[Fact, ...]], tuple[United, ...]]:
    """The files with each id once. What ended a fact in one record ends it: withdrawn beats replaced beats in use; of
    words that differ those of the kept place stay, and the others stand beside under an id of their own."""
    places: dict[str, list[FiledFact]] = {}
    for path in sorted(shelves):
        for fact in shelves[path]:
            places.setdefault(fact.id, []).append(FiledFact(fact, path))
    doubled = {fact_id: held for fact_id, held in places.items() if len(held) > 1}
    if not doubled:
        return dict(shelves), ()
    facts: Facts = {fact_id: held[0] for fact_id, held in places.items()}
    told = [_unite(facts, held, pages) for held in doubled.values()]
    close_replaced(facts, ())
    tuple(without_circles(facts, {}))  # it opens them as it goes
    return _placed(facts, shelves), tuple(told)


def home(paths: Iterable[str], pages: Pages) -> str:
    """The place among some that keeps a fact: not one that another names as its former place; else the shortest name,
    as a copy's is mostly longer."""
    names = {path: name_of_path(path) or path for path in paths}
    former = {
        path
        for path, name in names.items()
        if any(f'"{name}"' in pages.get(other, "") for other in names.values() if other != name)
    }
    return min(set(names) - former or names, key=lambda path: (len(path), path))


def _unite(facts: Facts, held: list[FiledFact], pages: Pages) -> United:
    kept = home((one.path for one in held), pages)
    first, *others = sorted(held, key=lambda one: one.path != kept)
    facts[first.fact.id] = first
    beside = []
    for other in others:
        fact = facts[first.fact.id].fact
        joined = merged_fact(None, fact, other.fact, lambda fact_id: _recorded(facts, fact_id), OURS)
        put(facts, joined.fact)
        if joined.other is not None:
            beside.append(set_beside(facts, joined.fact, joined.other, other.path, closed=False))
    left = dict.fromkeys(one.path for one in others if one.path != kept)
    return United(first.fact.id, kept, tuple(left), tuple(beside))


def _recorded(facts: Facts, fact_id: str) -> tuple[str, str]:
    return (facts[fact_id].fact.timestamp if fact_id in facts else "", fact_id)


def _placed(facts: Facts, shelves: Shelves) -> dict[str, tuple[Fact, ...]]:
    """The files with these facts, in their old order, new ones at the end."""
    left = dict(facts)
    found: dict[str, tuple[Fact, ...]] = {}
    for path, held in shelves.items():
        stay = [left.pop(one.id).fact for one in held if one.id in left and left[one.id].path == path]
        found[path] = tuple(stay)
    for one in left.values():
        found[one.path] = (*found.get(one.path, ()), one.fact)
    return found
