"""Facts by how near to hand they are: counts of each tier, and the first of each, without reading the others."""

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact, importance_of
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.lifecycle.tiers import ALWAYS_HOT, COLD, HOT, RECENCY, WARM, last_access
from clawmem.model.proposals.quarantine import quarantine_rule

ALWAYS = "always"
# What has ended by now stands behind all that holds, on a shelf of its own: its tier is cold.
PAST = "past"
SHELVES = (ALWAYS, HOT, WARM, COLD, PAST)
# A time that cannot be read counts as just now, whenever now is.
_UNREADABLE = 1e18
# Facts with more accesses keep longer: `pace` tells them apart. Those that are always hot have one of their own, and
# those in quarantine, which no context shows.
_ALWAYS_PACE = len(RECENCY)
HELD = -1
SPARE = 20
_PACES = tuple(range(_ALWAYS_PACE - 1, -1, -1))
_ORDER = "access_count DESC, weight DESC, timestamp DESC, id"


class FactCandidate(NamedTuple):
    """A fact that could be shown: its row, the tokens of its line and whether they are exact, and what its standing
    in a tier needs, as folded so far. `shelf` is its tier, 'always' where it is always hot, 'past' where it is over; ''
    where not active."""

    n: int
    tokens: int
    exact: bool
    id: str
    owner: str
    access_count: int
    weight: float
    timestamp: str
    last_accessed: str | None
    shelf: str


class ReaderScope(NamedTuple):
    """Whose facts count, nearest first ('' is the global memory), those of one entity only, and when it is now."""

    owners: tuple[str, ...]
    now: datetime
    entity: str | None = None


def columns(fact: Fact) -> tuple[float, float, int]:
    """What the index keeps to tell the tier: seconds of the last access, importance, pace."""
    weight = importance_of(fact)
    pace = HELD if quarantine_rule(fact) else _pace(weight, fact.access_count)
    return _seconds(last_access(fact)), weight, pace


def _seconds(written: str) -> float:
    try:
        return moment_of(written).timestamp()
    except (ValueError, OverflowError):
        return _UNREADABLE


def _pace(weight: float, access_count: int) -> int:
    if weight >= ALWAYS_HOT:
        return _ALWAYS_PACE
    slower = next(at for at, (more_than, _, _) in enumerate(RECENCY) if access_count > more_than or more_than < 0)
    return len(RECENCY) - 1 - slower


def count_tiers(index: Index, reader: ReaderScope) -> dict[str, int]:
    """How many active facts are in each tier, those that are always hot and those that are over apart."""
    if reader.entity is not None:
        return _count_of_entity(index, reader)
    counts = dict.fromkeys(SHELVES, 0)
    for owner in reader.owners:
        for shelf in (ALWAYS, HOT, WARM, PAST):
            for source, values in _stretches(reader, owner, shelf, "fact_used"):
                counts[shelf] += _count(index, source, values)
        # Most facts are cold, and all together are counted in a third of the time that those of a stretch take.
        counts[COLD] += _count(index, _OF_OWNER, (owner,)) - _count(index, f"{_OF_OWNER} AND pace = {HELD}", (owner,))
    counts[COLD] -= sum(counts[shelf] for shelf in (ALWAYS, HOT, WARM, PAST))
    return counts


def _count(index: Index, source: str, values: Sequence[object]) -> int:
    number: int = index.database.execute(f"SELECT count(*) FROM {source}", values).fetchone()[0]
    return number


def nearest(
    index: Index, reader: ReaderScope, shelf: str, tokens: int, without: Collection[str] = ()
) -> list[FactCandidate]:
    """The first facts of a shelf in their order of standing, as many as so many tokens could hold, and `SPARE` more, of
    which a short one may fit where a long one does not. Some ids are left out."""
    found: list[FactCandidate] = []
    spare = SPARE
    for row in _in_order(index, reader, shelf):
        one = FactCandidate(*row)
        if one.id in without:
            continue
        found.append(one)
        tokens -= one.tokens
        spare -= tokens < 0
        if spare < 0:
            break
    return found


def _in_order(index: Index, reader: ReaderScope, shelf: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a shelf one by one: what is not asked for is not read."""
    if reader.entity is not None:
        which, bounds = _shelf_of_row(reader.now)
        source = f"fact {_OF_ENTITY} AND shelf = ? ORDER BY owner = '', {_ORDER}"
        values = (*bounds, reader.entity, json.dumps(reader.owners), shelf)
        yield from index.database.execute(f"SELECT {_FIELDS}, {which} AS shelf FROM {source}", values)
        return
    for owner in reader.owners:
        for source, values in _stretches(reader, owner, shelf, "fact_order"):
            yield from index.database.execute(f"SELECT {_FIELDS}, '{shelf}' FROM {source} ORDER BY {_ORDER}", values)


_FIELDS = "n, tokens, exact, fact.id, owner, access_count, weight, timestamp, last_accessed"
_STRETCH = (
    f"fact INDEXED BY {{}} WHERE status = '{ACTIVE}' AND owner = ? AND pace = ? AND used >= ? AND used < ?"
    " AND (valid_to IS NULL OR valid_to > ?)"
)
_OF_OWNER = f"fact INDEXED BY fact_used WHERE status = '{ACTIVE}' AND owner = ?"
_ENDED = f"fact INDEXED BY fact_ended WHERE status = '{ACTIVE}' AND owner = ? AND valid_to <= ? AND pace != {HELD}"


def _stretches(reader: ReaderScope, owner: str, shelf: str, by: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    """A shelf of one owner as parts of the table in their order, each with its values."""
    moment = stamp(reader.now)
    if shelf == PAST:
        yield _ENDED, (owner, moment)
        return
    # Higher paces have more accesses, so they come first in the order, too.
    for pace in (_ALWAYS_PACE,) if shelf == ALWAYS else _PACES:
        yield _STRETCH.format(by), (owner, pace, *_bounds(reader.now, pace, shelf), moment)


def _bounds(now: datetime, pace: int, shelf: str) -> tuple[float, float]:
    """The seconds of the last access between which facts of a pace are on a shelf."""
    if shelf == ALWAYS:
        return float("-inf"), float("inf")
    hot, warm = _since(now, pace)
    return {HOT: (hot, float("inf")), WARM: (warm, hot), COLD: (float("-inf"), warm)}[shelf]


def _since(now: datetime, pace: int) -> tuple[float, float]:
    """The seconds of the last access from which facts of a pace are hot, and warm."""
    _, hot, warm = RECENCY[len(RECENCY) - 1 - pace]
    return (now - timedelta(days=hot)).timestamp(), (now - timedelta(days=warm)).timestamp()


_OF_ENTITY = (
    f"INDEXED BY fact_entity WHERE entity = ? AND status = '{ACTIVE}' AND pace != {HELD}"
    " AND owner IN (SELECT value FROM json_each(?))"
)


def _count_of_entity(index: Index, reader: ReaderScope) -> dict[str, int]:
    shelf, bounds = _shelf_of_row(reader.now)
    query = f"SELECT {shelf}, count(*) FROM fact {_OF_ENTITY} GROUP BY 1"
    counted = index.database.execute(query, (*bounds, reader.entity, json.dumps(reader.owners)))
    return {**dict.fromkeys(SHELVES, 0), **dict(counted)}


def _shelf_of_row(now: datetime, then: bool = False) -> tuple[str, list[object]]:
    """The shelf of a row as SQL, and its values; `then` is for what was true at another time, whatever became of it."""
    gone = [] if then else [f"WHEN status != '{ACTIVE}' THEN ''", f"WHEN valid_to <= ? THEN '{PAST}'"]
    parts, values = [*gone, f"WHEN pace = {_ALWAYS_PACE} THEN '{ALWAYS}'"], list[object]([] if then else [stamp(now)])
    for pace in _PACES:
        parts += [f"WHEN pace = {pace} AND used >= ? THEN '{tier}'" for tier in (HOT, WARM)]
        values += _since(now, pace)
    return f"(CASE {' '.join(parts)} ELSE '{COLD}' END)", values


def with_ids(index: Index, reader: ReaderScope, ids: Collection[str]) -> list[FactCandidate]:
    """The facts among some ids that stand and that this reader asks for."""
    within = " AND (entity = ? OR ? IS NULL)"
    return _chosen(index, reader, "id", sorted(ids), within, (reader.entity, reader.entity)) if ids else []


def in_rows(index: Index, reader: ReaderScope, numbers: Collection[int]) -> list[FactCandidate]:
    """The facts among some rows that stand and that this reader may see; those of other entities than the one that is
    asked for are on no shelf."""
    found = _chosen(index, reader, "n", sorted(numbers)) if numbers else []
    if reader.entity is None:
        return found
    asked = {one.n for one in with_ids(index, reader, [one.id for one in found])}
    return [one if one.n in asked else one._replace(shelf="") for one in found]


def true_then(index: Index, reader: ReaderScope, condition: str, values: Sequence[object]) -> list[FactCandidate]:
    """All facts that meet a condition on their columns, whatever became of them, on the shelves of active ones."""
    shelf, bounds = _shelf_of_row(reader.now, then=True)
    query = f"SELECT {_FIELDS}, {shelf} FROM fact WHERE pace != {HELD} AND {condition}"
    return [FactCandidate(*row) for row in index.database.execute(query, (*bounds, *values))]


def _chosen(
    index: Index,
    reader: ReaderScope,
    column: str,
    values: Sequence[object],
    within: str = "",
    more: tuple[object, ...] = (),
) -> list[FactCandidate]:
    shelf, bounds = _shelf_of_row(reader.now)
    # CROSS JOIN keeps SQLite from looking through the table for the few rows that are given.
    query = (
        f"SELECT {_FIELDS}, {shelf} FROM json_each(?) AS given CROSS JOIN fact ON fact.{column} = given.value"
        f" WHERE status IN ('{ACTIVE}', '{ARCHIVED}') AND pace != {HELD}"
        f" AND owner IN (SELECT value FROM json_each(?)){within}"
    )
    given = (*bounds, json.dumps(values), json.dumps(reader.owners), *more)
    return [FactCandidate(*row) for row in index.database.execute(query, given)]


def entities_of(index: Index, numbers: Sequence[int]) -> list[str]:
    """The entities of some facts, in the order of the facts, each once."""
    rows = index.database.execute(
        "SELECT n, entity FROM fact WHERE n IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
    )
    found = dict(rows.fetchall())
    return list(dict.fromkeys(found[n] for n in numbers if n in found))


def held_back(index: Index, reader: ReaderScope, most: int) -> tuple[int, list[str]]:
    """How many active facts are in quarantine, and the ids of some of them."""
    source = f"fact INDEXED BY fact_used WHERE status = '{ACTIVE}' AND pace = {HELD} AND owner IN"
    given = (json.dumps(reader.owners), reader.entity, reader.entity)
    query = f"SELECT {{}} FROM {source} (SELECT value FROM json_each(?)) AND (? IS NULL OR entity = ?)"
    (number,) = index.database.execute(query.format("count(*)"), given).fetchone()
    ids = index.database.execute(query.format("id") + " ORDER BY n LIMIT ?", (*given, most)) if number else ()
    return number, [row[0] for row in ids]
