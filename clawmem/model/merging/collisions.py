"""Resolve what two sides did to one fact.

Of two different facts with one id, the newer one gets a longer id on its side. Facts that replaced the same fact become
one chain, or a proposal for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.fact import ACTIVE, RETRACTED, SUPERSEDED, UNSET_ID, Fact, FactLink, is_low_trust, trust_rank
from clawmem.model.facts.validity import ended_at
from clawmem.model.kinds import SUMMARY_PAGE, file_kind
from clawmem.model.language.text import all_of, normal
from clawmem.model.lifecycle.chain import CONDENSED, REPLACING_LINKS
from clawmem.model.merging.fields import (
    CIRCLE,
    NEWEST,
    OURS,
    SUCCESSORS,
    THEIRS,
    VALUES,
    WORDING,
    MergeConflict,
    MergePolicy,
    merge_fact,
    merge_links,
)
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.proposals.proposal import PREFIX, SUPERSEDE, Proposal, ProposalTarget
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


_WHY = "two machines replaced the same fact"


class SuccessorContest(NamedTuple):
    """A fact that both sides replaced, and its successor on each."""

    fact: str
    ours: str
    theirs: str


def find_contests(
    base: Mapping[str, FiledFact], ours: Mapping[str, FiledFact], theirs: Mapping[str, FiledFact]
) -> Iterable[SuccessorContest]:
    """The facts that each side replaced by another one."""
    for fact_id in sorted(ours.keys() & theirs.keys()):
        fact, other = ours[fact_id].fact, theirs[fact_id].fact
        before = base[fact_id].fact.superseded_by if fact_id in base else None
        if fact.status == other.status == SUPERSEDED and fact.superseded_by and other.superseded_by:
            pointers = {fact.superseded_by, other.superseded_by}
            if len(pointers) == 2 and before not in pointers:
                yield SuccessorContest(fact_id, fact.superseded_by, other.superseded_by)


def settle_contest(facts: Facts, contest: SuccessorContest, policy: MergePolicy) -> MergeConflict | None:
    """Make one chain of the rivals if the policy names a winner; return None if only one rival is current."""
    fact = facts[contest.fact]
    standing = current_rivals(facts, contest.fact)
    if fact.fact.status != SUPERSEDED or len(standing) < 2:
        return None
    names = " and ".join(other_fact.id for other_fact in standing)
    winner = _winner(facts, contest, standing, policy)
    if winner is None:
        kept = f"{all_of(len(standing))} are kept"
        return MergeConflict(SUCCESSORS, fact.path, contest.fact, f"{contest.fact} was replaced by {names}; {kept}")
    supersede_all(facts, winner, [other_fact for other_fact in standing if other_fact.id != winner.id], _WHY)
    return MergeConflict(
        SUCCESSORS,
        fact.path,
        contest.fact,
        f"{contest.fact} was replaced by {names}; {winner.id} wins",
    )


def supersede_all(facts: Facts, winner: Fact, losers: Iterable[Fact], why: str) -> None:
    """Let one fact replace other current facts."""
    losers = list(losers)
    for loser in losers:
        replace_fact(facts, superseded(facts[loser.id].fact, winner))
    links = tuple(FactLink("supersedes", fact.id, why, max(fact.timestamp, winner.timestamp)) for fact in losers)
    replace_fact(facts, winner._replace(links=merge_links((), winner.links, links)))


def current_rivals(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[Fact, ...]:
    """Return the current facts at the ends of the chains that replaced a fact, oldest first."""
    ends = {}
    for filed_fact in facts.values():
        if any(link.type in REPLACING_LINKS and link.to == fact_id for link in filed_fact.fact.links):
            end = known_end_of_chain(facts, filed_fact.fact.id)
            if end is not None and end.is_current:
                ends[end.id] = end
    return tuple(sorted(ends.values(), key=lambda fact: (fact.timestamp, fact.id)))


def _winner(facts: Facts, contest: SuccessorContest, standing: tuple[Fact, ...], policy: MergePolicy) -> Fact | None:
    """Return the fact that replaces the others, never one of higher trust, or None if a person must decide."""
    if policy.name == NEWEST:
        winner: Fact | None = standing[-1]
    elif policy.side is not None:
        winner = known_end_of_chain(facts, contest.ours if policy.side == OURS else contest.theirs)
    else:
        return None
    return winner if winner and winner.is_current and may_win(winner, standing, policy) else None


def may_win(winner: Fact, others: Sequence[Fact], policy: MergePolicy) -> bool:
    """Return whether the trust of a fact lets it replace others without a person."""
    if policy.name == NEWEST and trust_rank(winner.trust) < max(trust_rank(fact.trust) for fact in others):
        return False
    return not is_low_trust(winner.trust) or all(is_low_trust(fact.trust) for fact in others)


def conflict_proposal(conflict: MergeConflict, facts: Mapping[str, FiledFact]) -> Proposal | None:
    """Return the proposal that the latest fact of a conflict replaces the others, or None if nothing is open."""
    if conflict.fact is None or conflict.kind not in (SUCCESSORS, WORDING):
        return None
    standing = (
        current_rivals(facts, conflict.fact) if conflict.kind == SUCCESSORS else current_wordings(facts, conflict.fact)
    )
    if len(standing) < 2:
        return None
    return supersede_proposal(conflict, standing, _why(conflict, facts), name_of_path(facts[standing[-1].id].path))


def supersede_proposal(conflict: MergeConflict, standing: Sequence[Fact], why: str, entity: str | None) -> Proposal:
    """Return the proposal that the last of some facts replaces the others."""
    latest, others = standing[-1], standing[:-1]
    return Proposal(
        id=proposal_id(conflict, *(fact.id for fact in standing if conflict.kind != SUCCESSORS)),
        kind="conflict",
        says=f"{latest.fact} (instead of: {'; '.join(other.fact for other in others)})",
        why=why,
        created=max(fact.timestamp for fact in standing),
        does=SUPERSEDE,
        targets=tuple(ProposalTarget(fact.id, fact.fact) for fact in standing),
        fact=latest._replace(id=UNSET_ID, status="active", superseded_by=None, access_count=0, last_accessed=None),
        entity=entity,
    )


def current_wordings(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[Fact, ...]:
    """Return a fact and the other wordings that merges kept beside it, current ones only, oldest first."""
    found = [
        filed_fact.fact
        for filed_fact in facts.values()
        if filed_fact.fact.id == fact_id
        or any(link.type == "contradicts" and link.to == fact_id for link in filed_fact.fact.links)
    ]
    return tuple(sorted((fact for fact in found if fact.is_current), key=lambda fact: (fact.timestamp, fact.fact)))


def proposal_id(conflict: MergeConflict, *standing: str) -> str:
    """Return the id of a conflict's proposal, on every machine the same; with `standing`, of these facts."""
    from hashlib import sha256  # conflicts are rare

    about = "" if conflict.kind == VALUES else conflict.fact or ""
    seed = "\0".join((conflict.kind, about, *sorted(standing)))
    return PREFIX + sha256(seed.encode()).hexdigest()[:16]


def _why(conflict: MergeConflict, facts: Mapping[str, FiledFact]) -> str:
    if conflict.kind == WORDING:
        return f"Two machines changed the wording of {conflict.fact}; both stay active until this is decided."
    text = facts[conflict.fact or ""].fact.fact
    return f"Two machines replaced {conflict.fact} ({text}); both successors stay active until this is decided."
