"""Repair ids that occur in several files: one file keeps the fact with all its data, the others drop it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import SUMMARY_PAGE, file_kind
from clawmem.model.merging.facts.chains import Facts, break_circles, close_replaced, replace_fact
from clawmem.model.merging.facts.fields import merge_fact
from clawmem.model.merging.facts.table import FactsByPath, FiledFact
from clawmem.model.merging.facts.wordings import add_wording
from clawmem.model.merging.policy import OURS
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import name_of_path

FrontMatters = Mapping[str, str]
"""The front matter of each entity's page."""


class JoinedId(NamedTuple):
    """An id that occurred more than once: the file that keeps it, those that dropped it, and ids of other wordings."""

    id: str
    kept: str
    left: tuple[str, ...]
    beside: tuple[str, ...] = ()


def front_matters(files: Mapping[str, bytes | None]) -> dict[str, str]:
    """Return the front matter of the entity pages among some files."""
    found = {}
    for path, data in files.items():
        name = name_of_path(path)
        if name and data is not None and file_kind(path) is SUMMARY_PAGE:
            found[name] = split_front_matter(data.decode(errors="replace"))[0] or ""
    return found


def join_duplicate_ids(
    files: FactsByPath, pages: FrontMatters
) -> tuple[dict[str, tuple[Fact, ...]], tuple[JoinedId, ...]]:
    """Return the files with each id only once, and what was joined.

    The strongest status wins: retracted, then superseded, then active, then archived. Where the wording differs, the
    kept file's wording stays and the other one becomes a fact with its own id.
    """
    places: dict[str, list[FiledFact]] = {}
    for path in sorted(files):
        for fact in files[path]:
            places.setdefault(fact.id, []).append(FiledFact(fact, path))
    doubled = {fact_id: place for fact_id, place in places.items() if len(place) > 1}
    if not doubled:
        return dict(files), ()
    facts: Facts = {fact_id: place[0] for fact_id, place in places.items()}
    joined = [_unite(facts, items, pages) for items in doubled.values()]
    close_replaced(facts, ())
    tuple(break_circles(facts, {}))  # run the generator: it changes `facts`
    return _placed(facts, files), tuple(joined)


def choose_path(paths: Iterable[str], pages: FrontMatters) -> str:
    """Return the path that keeps a fact.

    A place that another entity names as its former place loses. Else the shortest path wins, because the name of a
    copy is usually longer.
    """
    names = {path: name_of_path(path) or path for path in paths}
    former = {
        path
        for path, name in names.items()
        if any(f'"{name}"' in pages.get(other, "") for other in names.values() if other != name)
    }
    return min(set(names) - former or names, key=lambda path: (len(path), path))


def _unite(facts: Facts, items: list[FiledFact], pages: FrontMatters) -> JoinedId:
    kept = choose_path((other_fact.path for other_fact in items), pages)
    first, *others = sorted(items, key=lambda other_fact: other_fact.path != kept)
    facts[first.fact.id] = first
    beside = []
    for other in others:
        fact = facts[first.fact.id].fact
        joined = merge_fact(None, fact, other.fact, lambda fact_id: _recorded(facts, fact_id), OURS)
        replace_fact(facts, joined.fact)
        if joined.other is not None:
            beside.append(add_wording(facts, joined.fact, joined.other, other.path, closed=False))
    left = dict.fromkeys(other_other.path for other_other in others if other_other.path != kept)
    return JoinedId(first.fact.id, kept, tuple(left), tuple(beside))


def _recorded(facts: Facts, fact_id: str) -> tuple[str, str]:
    return (facts[fact_id].fact.timestamp if fact_id in facts else "", fact_id)


def _placed(facts: Facts, files: FactsByPath) -> dict[str, tuple[Fact, ...]]:
    """Return the files with these facts, in their old order, with new ones at the end."""
    left = dict(facts)
    found: dict[str, tuple[Fact, ...]] = {}
    for path, file in files.items():
        stay = [left.pop(fact.id).fact for fact in file if fact.id in left and left[fact.id].path == path]
        found[path] = tuple(stay)
    for filed_fact in left.values():
        found[filed_fact.path] = (*found.get(filed_fact.path, ()), filed_fact.fact)
    return found
