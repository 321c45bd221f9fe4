"""Resolve id collisions: of two different facts with one id, the newer one gets a longer id on its side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.fact import ACTIVE, RETRACTED, SUPERSEDED, Fact, FactLink
from clawmem.model.facts.validity import ended_at
from clawmem.model.kinds import SUMMARY_PAGE, file_kind
from clawmem.model.language.text import normal
from clawmem.model.lifecycle.chain import CONDENSED, REPLACING_LINKS
from clawmem.model.merging.fields import CIRCLE, OURS, THEIRS, MergeConflict, merge_fact, merge_links
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import name_of_path

FactsByPath = Mapping[str, tuple[Fact, ...]]
"""The facts of each `items.json`, in file order."""


class FiledFact(NamedTuple):
    """A fact and the path of its file."""

    fact: Fact
    path: str


def facts_by_id(files: FactsByPath) -> dict[str, FiledFact]:
    """Return the facts by id; of an id that occurs twice, the first one."""
    found: dict[str, FiledFact] = {}
    for path in sorted(files):
        for fact in files[path]:
            found.setdefault(fact.id, FiledFact(fact, path))
    return found


def facts_by_path(
    facts: Mapping[str, FiledFact], base: FactsByPath, ours: FactsByPath, theirs: FactsByPath
) -> dict[str, tuple[Fact, ...]]:
    """Return the facts by file.

    A file keeps a side's order if that side has exactly these facts. Else the old facts come first in their old
    order, then the new ones by time.
    """
    by_path: dict[str, dict[str, Fact]] = {path: {} for path in {*base, *ours, *theirs}}
    for fact_id, filed_fact in facts.items():
        by_path.setdefault(filed_fact.path, {})[fact_id] = filed_fact.fact
    return {path: _in_order(path, record, base, ours, theirs) for path, record in by_path.items()}


def _in_order(path: str, record: Mapping[str, Fact], *sides: FactsByPath) -> tuple[Fact, ...]:
    base, ours, theirs = (side.get(path, ()) for side in sides)
    same = [
        side
        for side in (ours, theirs)
        if len(side) == len(record) and all(record.get(fact.id) == fact for fact in side)
    ]
    if same:
        # If only one side changed the order, its order wins.
        changed = [side for side in same if _names(side) != _names(base)]
        return max(changed or same, key=_names)
    first = [fact.id for fact in base if fact.id in record]
    added = sorted((fact.timestamp, key) for key, fact in record.items() if key not in set(first))
    return tuple(record[key] for key in (*first, *(key for _, key in added)))


def _names(facts: Sequence[Fact]) -> list[str]:
    return [fact.id for fact in facts]


_DIGITS = (16, 32, 64)


class RenamedId(NamedTuple):
    """A fact's old and new id on one side (`ours` or `theirs`)."""

    side: str
    old: str
    new: str


def collisions(base: FactsByPath, ours: FactsByPath, theirs: FactsByPath) -> Iterator[RenamedId]:
    """Yield the facts to rename, and on which side, so that each id names one fact."""
    known, mine, yours = facts_by_id(base), facts_by_id(ours), facts_by_id(theirs)
    taken = {*known, *mine, *yours}
    for fact_id in sorted((mine.keys() & yours.keys()) - known.keys()):
        other_fact, other = mine[fact_id].fact, yours[fact_id].fact
        if normal(other_fact.fact) == normal(other.fact):
            continue
        newer = OURS if _age(other_fact) > _age(other) else THEIRS
        fact = other_fact if newer == OURS else other
        longer = longer_id(fact, taken)
        taken.add(longer)
        yield RenamedId(newer, fact_id, longer)


def longer_id(fact: Fact, taken: set[str] | Mapping[str, FiledFact]) -> str:
    """Return a longer id, derived from the first record of a fact so that every machine computes the same one."""
    from hashlib import sha256  # collisions are rare

    seed = f"{fact.id}\0{fact.fact}\0{fact.timestamp}\0{fact.source_event or ''}"
    digest = sha256(seed.encode()).hexdigest()
    return next((name for size in _DIGITS if (name := f"fact_{digest[:size]}") not in taken), f"fact_{digest}")


def _age(fact: Fact) -> tuple[str, str]:
    return fact.timestamp, fact_to_line(fact)


def with_new_names(text: str, names: Mapping[str, str]) -> str:
    """Return the text with each whole id replaced by its new one."""
    if not names:
        return text
    wanted = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![\w.:-])(?:{wanted})(?![\w:-])", lambda found: names[found[0]], text)


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


WORDED = "worded otherwise on another machine"


def add_wording(facts: Facts, kept: Fact, other: Fact, path: str, *, closed: bool) -> str:
    """Add another wording beside the one that keeps the id, or as its predecessor if `closed`.

    Return the id of the added fact, which is the same on every machine.
    """
    beside_id = longer_id(other, set())
    if closed:
        replaced = other._replace(id=beside_id, links=(), status=SUPERSEDED, superseded_by=kept.id)
        facts[beside_id] = FiledFact(replaced, path)
        link = FactLink("supersedes", beside_id, WORDED, other.timestamp)
        known = facts[kept.id]
        facts[kept.id] = known._replace(fact=known.fact._replace(links=merge_links((), known.fact.links, (link,))))
    else:
        link = FactLink("contradicts", kept.id, WORDED, other.timestamp)
        facts[beside_id] = FiledFact(other._replace(id=beside_id, links=(link,)), path)
    return beside_id


Facts = dict[str, FiledFact]


def break_circles(facts: Facts, base: Mapping[str, FiledFact]) -> Iterator[MergeConflict]:
    """Break each circle of successors at its oldest decision, so that the later correction wins."""
    for members in list(_circles(facts)):
        oldest = min(members, key=lambda member: _decided(facts, member))
        path, fact = facts[oldest].path, facts[oldest].fact
        by = fact.superseded_by or ""
        before = base[oldest].fact.valid_to if oldest in base and base[oldest].fact.is_current else None
        replace_fact(facts, fact._replace(status=ACTIVE, superseded_by=None, valid_to=before))
        _contradict(facts, by, oldest)
        names = " and ".join(sorted(members))
        text = f"{names} replaced each other; the later decision wins and {oldest} is active again: {fact.fact}"
        yield MergeConflict(CIRCLE, path, oldest, text)


def _circles(facts: Mapping[str, FiledFact]) -> Iterator[list[str]]:
    group: set[str] = set()
    for start in facts:
        path: dict[str, None] = {}
        current = start
        while current in facts and current not in group and current not in path:
            path[current] = None
            current = facts[current].fact.superseded_by or ""
        if current in path:
            members = list(path)
            yield members[members.index(current) :]
        group.update(path)


def _decided(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[str, str]:
    """Return when a fact was replaced, according to its successor."""
    successor = facts[facts[fact_id].fact.superseded_by or ""].fact
    times = [link.at for link in successor.links if link.to == fact_id and link.type in REPLACING_LINKS and link.at]
    return max(times, default=successor.timestamp), fact_id


def _contradict(facts: Facts, fact_id: str, target: str) -> None:
    """Turn a fact's claim to replace another one into a contradiction."""
    fact = facts[fact_id].fact
    links = [
        link._replace(type="contradicts") if link.to == target and link.type in REPLACING_LINKS else link
        for link in fact.links
    ]
    replace_fact(facts, fact._replace(links=tuple(links)))


def close_replaced(facts: Facts, sides: Iterable[Mapping[str, FiledFact]]) -> None:
    """Close current facts that another fact replaced.

    This happens where one side undid a correction and the other side built on it. A state that one of the `sides`
    already had before the merge is left alone.
    """
    known = list(sides)
    for fact_id in sorted(facts):
        for link in facts[fact_id].fact.links:
            if (
                link.reason != CONDENSED
                and _wrongly_standing(facts, fact_id, link.type, link.to)
                and not any(_wrongly_standing(side, fact_id, link.type, link.to) for side in known)
            ):
                _close(facts, link.to, fact_id)


def _wrongly_standing(facts: Mapping[str, FiledFact], fact_id: str, kind: str, target: str) -> bool:
    if kind not in REPLACING_LINKS or fact_id not in facts or target not in facts:
        return False
    return facts[fact_id].fact.status != RETRACTED and facts[target].fact.is_current


def _close(facts: Facts, old_id: str, new_id: str) -> None:
    end = known_end_of_chain(facts, new_id)
    if end is not None and end.id == old_id:
        _contradict(facts, new_id, old_id)
        return
    old, new = facts[old_id].fact, facts[new_id].fact
    replace_fact(facts, superseded(old, new))


def superseded(old: Fact, new: Fact) -> Fact:
    """Return the old fact as superseded by the new one."""
    until = ended_at(old, new.valid_from or new.timestamp)
    return old._replace(status=SUPERSEDED, superseded_by=new.id, valid_to=until)


def replace_fact(facts: Facts, fact: Fact) -> None:
    """Replace a fact by its new state."""
    facts[fact.id] = facts[fact.id]._replace(fact=fact)


def known_end_of_chain(facts: Mapping[str, FiledFact], fact_id: str) -> Fact | None:
    """Return the end of a chain, in a circle the last fact before it closes; None if the id is unknown."""
    last, seen = facts.get(fact_id), {fact_id}
    while last is not None and (heir := last.fact.superseded_by) in facts and heir and heir not in seen:
        last = facts[heir]
        seen.add(heir)
    return last.fact if last is not None else None
