"""Facts that may contradict each other: linked as such, or with values for one subject and predicate."""

import json
from collections.abc import Collection
from typing import NamedTuple

from clawmem.index.search.by_tier import QUARANTINE_PACE
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE

# Of one subject and predicate, no more are compared.
MOST_VALUES = 20
_SHOWN = (
    f"fact.status = '{ACTIVE}' AND fact.pace != {QUARANTINE_PACE} AND fact.owner IN (SELECT value FROM json_each(?))"
)


class RivalValue(NamedTuple):
    """What an active fact says of its subject: the object, or the whole statement where it names none, and when that is
    true."""

    n: int
    predicate: str
    object: str | None
    statement: str | None
    valid_from: str | None
    valid_to: str | None


def find_rival_values(
    index: Index, owners: Collection[str], predicates: Collection[str], numbers: Collection[int]
) -> list[list[RivalValue]]:
    """For each subject and predicate of some active facts, all active facts with the same two, where there are more."""
    # CROSS JOIN keeps SQLite from looking through a table for the few rows that are given.
    rows = index.database.execute(
        "SELECT fact.subject, fact.n, fact.predicate, json_extract(fact.line, '$.object'),"
        " iif(json_extract(fact.line, '$.object') IS NULL, json_extract(fact.line, '$.fact'), NULL),"
        " valid_from, valid_to FROM"
        " (SELECT DISTINCT subject, predicate FROM json_each(?) AS given CROSS JOIN fact ON fact.n = given.value"
        " WHERE subject IS NOT NULL AND predicate IN (SELECT value FROM json_each(?))) AS pair"
        " CROSS JOIN fact INDEXED BY fact_subject ON fact.subject = pair.subject AND fact.predicate = pair.predicate"
        f" WHERE {_SHOWN} ORDER BY fact.timestamp, fact.id",
        (json.dumps(sorted(numbers)), json.dumps(sorted(predicates)), json.dumps(sorted(owners))),
    )
    groups: dict[tuple[str, str], list[RivalValue]] = {}
    for subject, n, *value in rows:
        groups.setdefault((subject, value[0]), []).append(RivalValue(n, *value))
    return [group[:MOST_VALUES] for group in groups.values() if len(group) > 1]


def ended_rows(index: Index, numbers: Collection[int], moment: str) -> set[int]:
    """Those of some rows whose facts were over at a moment."""
    rows = index.database.execute(
        "SELECT fact.n FROM json_each(?) AS given CROSS JOIN fact ON fact.n = given.value WHERE valid_to <= ?",
        (json.dumps(sorted(numbers)), moment),
    )
    return {n for (n,) in rows}


def oldest_first(index: Index, numbers: Collection[int]) -> dict[int, int]:
    """The place of each row among the others by when its fact was recorded: row numbers tell no more than how this
    very index was made."""
    found = index.database.execute(
        "SELECT fact.n FROM json_each(?) AS given CROSS JOIN fact ON fact.n = given.value"
        " ORDER BY fact.timestamp, fact.id",
        (json.dumps(sorted(numbers)),),
    )
    return {n: place for place, (n,) in enumerate(found)}


def linked_as_contrary(index: Index, owners: Collection[str], numbers: Collection[int]) -> list[tuple[int, int]]:
    """Pairs of active facts, one of them among the rows, of which one is linked to the other as contradicting it."""
    execute, given = index.database.execute, (json.dumps(sorted(numbers)), json.dumps(sorted(owners)))
    towards = execute(
        "SELECT edge.n, fact.n FROM json_each(?) AS given"
        " CROSS JOIN edge ON edge.n = given.value AND edge.kind = 'contradicts'"
        f" CROSS JOIN fact INDEXED BY fact_id ON fact.id = edge.target WHERE {_SHOWN}",
        given,
    )
    back = execute(
        "SELECT ours.n, edge.n FROM json_each(?) AS given CROSS JOIN fact AS ours ON ours.n = given.value"
        " CROSS JOIN edge INDEXED BY edge_target ON edge.target = ours.id AND edge.kind = 'contradicts'"
        f" CROSS JOIN fact ON fact.n = edge.n WHERE {_SHOWN}",
        given,
    )
    ahead, behind = towards.fetchall(), back.fetchall()
    if ahead or behind:
        from clawmem.index.search.graph import check_links  # few facts contradict each other

        check_links(index, "contradicts", [*ahead, *((other, one) for one, other in behind)])
    return sorted({*ahead, *behind})
