"""Facts that may contradict each other: linked as such, or with different values for one subject and predicate."""

import json
from collections.abc import Collection

from clawmem.index.search.lookup import FACT_COLUMNS, PlacedFact, fact_from_row
from clawmem.index.tables.schema import QUARANTINE_PACE
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, BESIDE
from clawmem.model.named_tuple import NamedTuple

# At most this many values of one subject and predicate are compared.
MOST_VALUES = 20
# At most this many statements of one entity are read for what they claim.
MOST_STATEMENTS = 200
_SHOWN = (
    f"fact.status = '{ACTIVE}' AND fact.pace != {QUARANTINE_PACE} AND fact.owner IN (SELECT value FROM json_each(?))"
)


class RivalValue(NamedTuple):
    """What an active fact says about its subject: the object, or the whole statement if it has none, and when it is
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
    """Return the active facts that share subject and predicate with some facts, in groups of several."""
    # CROSS JOIN keeps SQLite from scanning a table for a few given rows.
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


class StatementRow(NamedTuple):
    """An active fact: its row, entity and statement, when it was recorded, and when it is true."""

    n: int
    entity: str
    statement: str
    timestamp: str
    valid_from: str | None
    valid_to: str | None


_STATEMENT = "fact.n, fact.entity, json_extract(fact.line, '$.fact'), fact.timestamp, valid_from, valid_to"


def entities_with_claims(index: Index, numbers: Collection[int]) -> list[str]:
    """Return the entities of the active facts in some rows whose statements may contradict each other: one of these
    gives a value of what another one does, too, or any denies something. None where no fact in the rows may claim
    anything."""
    rows = index.database.execute(
        "SELECT fact.entity, EXISTS (SELECT 1 FROM claim WHERE entity = fact.entity AND about = '' AND n = fact.n),"
        " EXISTS (SELECT 1 FROM claim WHERE entity = fact.entity AND about = '-')"
        " OR EXISTS (SELECT 1 FROM claim AS ours CROSS JOIN claim AS other"
        " ON other.entity = ours.entity AND other.about = ours.about AND other.n != ours.n"
        " WHERE ours.entity = fact.entity AND ours.n = fact.n AND ours.about > '-')"
        f" FROM json_each(?) AS given CROSS JOIN fact ON fact.n = given.value WHERE fact.status = '{ACTIVE}'",
        (json.dumps(sorted(numbers)),),
    ).fetchall()
    return sorted({entity for entity, _, rivals in rows if rivals}) if any(claims for _, claims, _ in rows) else []


def statements_about(index: Index, entities: Collection[str], owners: Collection[str]) -> list[StatementRow]:
    """Return the newest active facts of some entities, at most `MOST_STATEMENTS` of each."""
    found = []
    for entity in entities:
        rows = index.database.execute(
            f"SELECT {_STATEMENT} FROM fact INDEXED BY fact_entity WHERE entity = ? AND {_SHOWN}"
            " ORDER BY timestamp DESC, id LIMIT ?",
            (entity, json.dumps(sorted(owners)), MOST_STATEMENTS),
        )
        found += [StatementRow(*row) for row in rows]
    return found


def facts_with_value(index: Index, owner: str, subjects: Collection[str], predicate: str) -> list[PlacedFact]:
    """Return the current facts of an owner whose triple gives one of the subjects (normal form) this relation."""
    rows = index.database.execute(
        f"SELECT {FACT_COLUMNS} FROM fact INDEXED BY fact_subject WHERE subject IN (SELECT value FROM json_each(?))"
        f" AND predicate = ? AND owner = ? AND status IN ('{ACTIVE}', '{ARCHIVED}') AND pace != {QUARANTINE_PACE}"
        " ORDER BY timestamp, id",
        (json.dumps(sorted(subjects)), predicate, owner),
    )
    return [fact_from_row(row) for row in rows]


def rows_of_ids(index: Index, ids: Collection[str]) -> dict[int, str]:
    """Return the rows of the active facts among some ids."""
    rows = index.database.execute(
        "SELECT fact.n, fact.id FROM json_each(?) AS given CROSS JOIN fact ON fact.id = given.value"
        f" WHERE status = '{ACTIVE}'",
        (json.dumps(sorted(ids)),),
    )
    return dict(rows.fetchall())


def ended_rows(index: Index, numbers: Collection[int], moment: str) -> set[int]:
    """Return those of the rows whose facts had ended at a time."""
    rows = index.database.execute(
        "SELECT fact.n FROM json_each(?) AS given CROSS JOIN fact ON fact.n = given.value WHERE valid_to <= ?",
        (json.dumps(sorted(numbers)), moment),
    )
    return {n for (n,) in rows}


def oldest_first(index: Index, numbers: Collection[int]) -> dict[int, int]:
    """Return the position of each row by the time of its fact. Row numbers depend on how the index was built."""
    found = index.database.execute(
        "SELECT fact.n FROM json_each(?) AS given CROSS JOIN fact ON fact.n = given.value"
        " ORDER BY fact.timestamp, fact.id",
        (json.dumps(sorted(numbers)),),
    )
    return {n: place for place, (n,) in enumerate(found)}


def kept_beside(index: Index, numbers: Collection[int]) -> set[tuple[int, int]]:
    """Return the pairs of some rows, in both orders, that a person kept beside each other."""
    rows = index.database.execute(
        "SELECT edge.n, fact.n FROM json_each(?) AS given CROSS JOIN edge ON edge.n = given.value AND edge.kind = ?"
        " CROSS JOIN fact INDEXED BY fact_id ON fact.id = edge.target",
        (json.dumps(sorted(numbers)), BESIDE),
    )
    found: list[tuple[int, int]] = rows.fetchall()
    if found:
        from clawmem.index.search.graph import check_links  # few facts are kept beside others

        check_links(index, BESIDE, found)
    return {pair for number, other in found for pair in ((number, other), (other, number))}


def linked_as_contrary(index: Index, owners: Collection[str], numbers: Collection[int]) -> list[tuple[int, int]]:
    """Return pairs of active facts, at least one of them in the rows, with a `contradicts` link between them."""
    execute, pair = index.database.execute, (json.dumps(sorted(numbers)), json.dumps(sorted(owners)))
    towards = execute(
        "SELECT edge.n, fact.n FROM json_each(?) AS given"
        " CROSS JOIN edge ON edge.n = given.value AND edge.kind = 'contradicts'"
        f" CROSS JOIN fact INDEXED BY fact_id ON fact.id = edge.target WHERE {_SHOWN}",
        pair,
    )
    back = execute(
        "SELECT ours.n, edge.n FROM json_each(?) AS given CROSS JOIN fact AS ours ON ours.n = given.value"
        " CROSS JOIN edge INDEXED BY edge_target ON edge.target = ours.id AND edge.kind = 'contradicts'"
        f" CROSS JOIN fact ON fact.n = edge.n WHERE {_SHOWN}",
        pair,
    )
    ahead, behind = towards.fetchall(), back.fetchall()
    if ahead or behind:
        from clawmem.index.search.graph import check_links  # few facts contradict each other

        check_links(index, "contradicts", [*ahead, *((other, candidate) for candidate, other in behind)])
    return sorted({*ahead, *behind})
