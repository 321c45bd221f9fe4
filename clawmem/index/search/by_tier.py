"""Facts by tier: the size of each tier and its first facts, without reading the others."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, repeat
from math import nextafter
from typing import Any

from clawmem.index.tables.schema import QUARANTINE_PACE
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact, importance_of
from clawmem.model.facts.reach import PROJECT, Reach
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.lifecycle.tiers import ALWAYS_HOT, COLD, HOT, RECENCY, WARM, last_access
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.quarantine import quarantine_rule

ALWAYS = "always"
# Facts that have ended come after all others, on a shelf of their own. Their tier is cold.
PAST = "past"
SHELVES = (ALWAYS, HOT, WARM, COLD, PAST)
# An unreadable time counts as the present, whenever that is.
_UNREADABLE = 1e18
# Facts with more accesses stay longer in a tier; `pace` is their class. Facts that are always hot have a class of their
# own, and so have facts in quarantine (QUARANTINE_PACE).
_ALWAYS_PACE = len(RECENCY)
SPARE = 20
_PACES = tuple(range(_ALWAYS_PACE - 1, -1, -1))
_ORDER = "access_count DESC, weight DESC, timestamp DESC, id"


class FactCandidate(NamedTuple):
    """A fact that could be shown, with what its rank in a tier depends on.

    `tokens` are those of its context line, counted if `exact`. Accesses are those that are committed. `shelf` is its
    tier, or 'always' if it is always hot, 'past' if it is over, and '' if it is not active.
    """

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
    """Whose facts count, nearest first ('' is the global memory), only those of one entity if given, the current time,
    and the scope of the query (None sees every scope)."""

    owners: tuple[str, ...]
    now: datetime
    entity: str | None = None
    reach: Reach | None = None


def within_reach(reach: Reach | None) -> tuple[str, tuple[str, ...]]:
    """Return the scope of a query as an SQL condition on `fact`, and its values; empty if it sees all."""
    if reach is None:
        return "", ()
    ranges = reach.ranges()
    within, bounds = " OR realm >= ? AND realm < ?" * len(ranges), tuple(chain.from_iterable(ranges))
    if reach.others_hidden:
        # ';' is the character after ':'.
        return f"(realm < '{PROJECT}:' OR realm >= '{PROJECT};'{within})", bounds
    realms = reach.realms()
    return f"(realm IN ({','.join('?' * len(realms))}){within})", (*realms, *bounds)


def rows_in_reach(index: Index, reach: Reach, numbers: Collection[int]) -> set[int]:
    """Return those of the rows that a query with this scope sees."""
    condition, realms = within_reach(reach)
    query = f"SELECT n FROM fact WHERE n IN (SELECT value FROM json_each(?)) AND {condition}"
    return {n for (n,) in index.database.execute(query, (json.dumps(sorted(numbers)), *realms))}


def is_all_in_reach(index: Index, reach: Reach) -> bool:
    """Return whether a query with this scope sees every fact."""
    condition, realms = within_reach(reach)
    return index.database.execute(f"SELECT 1 FROM fact WHERE NOT {condition} LIMIT 1", realms).fetchone() is None


def _and_reach(reader: ReaderScope) -> tuple[str, tuple[str, ...]]:
    condition, values = within_reach(reader.reach)
    return f" AND {condition}" if condition else "", values


def columns(fact: Fact) -> tuple[float, float, int]:
    """Return the columns that determine the tier: time of the last access in seconds, importance, pace."""
    weight = importance_of(fact)
    pace = QUARANTINE_PACE if quarantine_rule(fact) else _pace(weight, fact.access_count)
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
    """Return the number of active facts on each shelf."""
    if reader.entity is not None:
        return _count_of_entity(index, reader)
    counts = dict.fromkeys(SHELVES, 0)
    for owner in reader.owners:
        for shelf in (ALWAYS, HOT, WARM, PAST):
            for source, values in _ranges(reader, owner, shelf, "fact_used"):
                counts[shelf] += _count(index, source, values)
        # Most facts are cold. Counting all facts takes a third of the time of counting the cold ones.
        within, realms = _and_reach(reader)
        of_owner, items = f"{_OF_OWNER}{within}", (owner, *realms)
        counts[COLD] += _count(index, of_owner, items) - _count(
            index, f"{of_owner} AND pace = {QUARANTINE_PACE}", items
        )
    counts[COLD] -= sum(counts[shelf] for shelf in (ALWAYS, HOT, WARM, PAST))
    return counts


def _count(index: Index, source: str, values: Sequence[object]) -> int:
    number: int = index.database.execute(f"SELECT count(*) FROM {source}", values).fetchone()[0]
    return number


def first_of_shelf(
    index: Index, reader: ReaderScope, shelf: str, tokens: int, without: Collection[str] = ()
) -> list[FactCandidate]:
    """Return the first facts of a shelf, as many as fit into `tokens`, and `SPARE` more.

    A short one of the spare facts may fit where a long one does not. Facts with the ids in `without` are skipped.
    """
    found: list[FactCandidate] = []
    spare = SPARE
    for candidate in map(tuple.__new__, repeat(FactCandidate), _in_order(index, reader, shelf)):
        if candidate.id in without:
            continue
        found.append(candidate)
        tokens -= candidate.tokens
        spare -= tokens < 0
        if spare < 0:
            break
    return found


def ids_always_hot(index: Index, reader: ReaderScope) -> list[str]:
    """Return the ids of the facts on the shelf `ALWAYS`, of all entities."""
    ranges = (found for owner in reader.owners for found in _ranges(reader, owner, ALWAYS, "fact_order"))
    return [row[0] for source, values in ranges for row in index.database.execute(f"SELECT id FROM {source}", values)]


def _in_order(index: Index, reader: ReaderScope, shelf: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a shelf one by one, so that rows after the last one used are not read."""
    if reader.entity is not None:
        which, bounds = _shelf_of_row(reader.now)
        within, realms = _and_reach(reader)
        source = f"fact {_OF_ENTITY}{within} AND shelf = ? ORDER BY owner = '', {_ORDER}"
        values = (*bounds, reader.entity, json.dumps(reader.owners), *realms, shelf)
        yield from index.database.execute(f"SELECT {_FIELDS}, {which} AS shelf FROM {source}", values)
        return
    for owner in reader.owners:
        for source, values in _ranges(reader, owner, shelf, "fact_order"):
            yield from index.database.execute(f"SELECT {_FIELDS}, '{shelf}' FROM {source} ORDER BY {_ORDER}", values)


_FIELDS = "n, tokens, exact, fact.id, owner, access_count, weight, timestamp, last_accessed"
_RANGE = (
    f"fact INDEXED BY {{}} WHERE status = '{ACTIVE}' AND owner = ? AND pace = ? AND used >= ? AND used < ?"
    " AND (valid_to IS NULL OR valid_to > ?)"
)
_OF_OWNER = f"fact INDEXED BY fact_used WHERE status = '{ACTIVE}' AND owner = ?"
_ENDED = (
    f"fact INDEXED BY fact_ended WHERE status = '{ACTIVE}' AND owner = ? AND valid_to <= ?"
    f" AND pace != {QUARANTINE_PACE}"
)


def _ranges(reader: ReaderScope, owner: str, shelf: str, by: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield the ranges of the table that make up a shelf of one owner, in order, with their values."""
    moment = stamp(reader.now)
    within, realms = _and_reach(reader)
    if shelf == PAST:
        yield f"{_ENDED}{within}", (owner, moment, *realms)
        return
    # A higher pace means more accesses, so these facts also come first.
    for pace in (_ALWAYS_PACE,) if shelf == ALWAYS else _PACES:
        yield f"{_RANGE.format(by)}{within}", (owner, pace, *_bounds(reader.now, pace, shelf), moment, *realms)


def _bounds(now: datetime, pace: int, shelf: str) -> tuple[float, float]:
    """Return the range of last access times, in seconds, of facts with this pace on a shelf."""
    if shelf == ALWAYS:
        return float("-inf"), float("inf")
    hot, warm = _since(now, pace)
    return {HOT: (hot, float("inf")), WARM: (warm, hot), COLD: (float("-inf"), warm)}[shelf]


def _since(now: datetime, pace: int) -> tuple[float, float]:
    """Return the last access times, in seconds, from which facts with this pace are hot, and warm.

    Whole days count, so a day more has not passed at the first moment after its beginning.
    """
    _, hot, warm = RECENCY[len(RECENCY) - 1 - pace]
    return seconds_after(now - timedelta(days=hot + 1)), seconds_after(now - timedelta(days=warm + 1))


def seconds_after(moment: datetime) -> float:
    """Return the first time in seconds that is later than a moment, as a bound of `fact.used`."""
    return nextafter(moment.timestamp(), float("inf"))


_OF_ENTITY = (
    f"INDEXED BY fact_entity WHERE entity = ? AND status = '{ACTIVE}' AND pace != {QUARANTINE_PACE}"
    " AND owner IN (SELECT value FROM json_each(?))"
)


def _count_of_entity(index: Index, reader: ReaderScope) -> dict[str, int]:
    shelf, bounds = _shelf_of_row(reader.now)
    within, realms = _and_reach(reader)
    query = f"SELECT {shelf}, count(*) FROM fact {_OF_ENTITY}{within} GROUP BY 1"
    counted = index.database.execute(query, (*bounds, reader.entity, json.dumps(reader.owners), *realms))
    return {**dict.fromkeys(SHELVES, 0), **dict(counted)}


def _shelf_of_row(now: datetime, then: bool = False) -> tuple[str, list[object]]:
    """Return an SQL expression for the shelf of a row, and its values. With `then`, status and end are ignored."""
    inactive = [] if then else [f"WHEN status != '{ACTIVE}' THEN ''", f"WHEN valid_to <= ? THEN '{PAST}'"]
    parts, values = (
        [*inactive, f"WHEN pace = {_ALWAYS_PACE} THEN '{ALWAYS}'"],
        list[object]([] if then else [stamp(now)]),
    )
    for pace in _PACES:
        parts += [f"WHEN pace = {pace} AND used >= ? THEN '{tier}'" for tier in (HOT, WARM)]
        values += _since(now, pace)
    return f"(CASE {' '.join(parts)} ELSE '{COLD}' END)", values


def candidates_with_ids(index: Index, reader: ReaderScope, ids: Collection[str]) -> list[FactCandidate]:
    """Return the valid facts among some ids that are in the reader's scope."""
    within = " AND (entity = ? OR ? IS NULL)"
    return _chosen(index, reader, "id", sorted(ids), within, (reader.entity, reader.entity)) if ids else []


def candidates_in_rows(index: Index, reader: ReaderScope, numbers: Collection[int]) -> list[FactCandidate]:
    """Return the valid facts among some rows that the reader may see, without those of other entities."""
    found = _chosen(index, reader, "n", sorted(numbers)) if numbers else []
    if reader.entity is None:
        return found
    asked = {candidate.n for candidate in candidates_with_ids(index, reader, [candidate.id for candidate in found])}
    return [candidate if candidate.n in asked else candidate._replace(shelf="") for candidate in found]


def candidates_matching(
    index: Index, reader: ReaderScope, condition: str, values: Sequence[object], then: bool = True
) -> list[FactCandidate]:
    """Return all facts that meet an SQL condition. With `then`, whatever their status, as if active."""
    shelf, bounds = _shelf_of_row(reader.now, then)
    query = f"SELECT {_FIELDS}, {shelf} FROM fact WHERE pace != {QUARANTINE_PACE} AND {condition}"
    return _candidates(index.database.execute(query, (*bounds, *values)))


def _chosen(
    index: Index,
    reader: ReaderScope,
    column: str,
    values: Sequence[object],
    within: str = "",
    more: tuple[object, ...] = (),
) -> list[FactCandidate]:
    shelf, bounds = _shelf_of_row(reader.now)
    reached, realms = _and_reach(reader)
    # CROSS JOIN keeps SQLite from scanning the table for a few given rows.
    query = (
        f"SELECT {_FIELDS}, {shelf} FROM json_each(?) AS given CROSS JOIN fact ON fact.{column} = given.value"
        f" WHERE status IN ('{ACTIVE}', '{ARCHIVED}') AND pace != {QUARANTINE_PACE}"
        f" AND owner IN (SELECT value FROM json_each(?)){within}{reached}"
    )
    items = (*bounds, json.dumps(values), json.dumps(reader.owners), *more, *realms)
    return _candidates(index.database.execute(query, items))


def _candidates(rows: Iterable[tuple[Any, ...]]) -> list[FactCandidate]:
    # There are hundreds: this makes them without a call of Python for each.
    return list(map(tuple.__new__, repeat(FactCandidate), rows))


def entities_of(index: Index, numbers: Sequence[int]) -> list[str]:
    """Return the entities of some facts, in the order of the facts, each once."""
    rows = index.database.execute(
        "SELECT n, entity FROM fact WHERE n IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
    )
    found = dict(rows.fetchall())
    return list(dict.fromkeys(found[n] for n in numbers if n in found))


def quarantined_facts(index: Index, reader: ReaderScope, most: int) -> tuple[int, list[str]]:
    """Return the number of active facts in quarantine, and the ids of at most `most` of them."""
    source = f"fact INDEXED BY fact_used WHERE status = '{ACTIVE}' AND pace = {QUARANTINE_PACE} AND owner IN"
    within, realms = _and_reach(reader)
    items = (json.dumps(reader.owners), reader.entity, reader.entity, *realms)
    query = f"SELECT {{}} FROM {source} (SELECT value FROM json_each(?)) AND (? IS NULL OR entity = ?){within}"
    (number,) = index.database.execute(query.format("count(*)"), items).fetchone()
    ids = index.database.execute(query.format("id") + " ORDER BY n LIMIT ?", (*items, most)) if number else ()
    return number, [row[0] for row in ids]
