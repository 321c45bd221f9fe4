"""The facts that belong to the scope of a query, by category, by tag and by link."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence

from clawmem.index.search.by_tier import within_reach
from clawmem.index.search.channels import FactFilter, condition_of
from clawmem.index.search.lookup import FACT_COLUMNS, PlacedFact, fact_from_row
from clawmem.index.tables.schema import QUARANTINE_PACE, tags_column
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE, ARCHIVED
from clawmem.model.facts.reach import PROJECT, Reach, project_name, project_of_realm

_SCOPED = f"realm != '' AND pace != {QUARANTINE_PACE}"


def scoped_rows(index: Index, wanted: FactFilter, most: int, least: float = 0.0) -> list[int]:
    """Return the facts of the query's scope and of the broader ones, the most important and newest first, without those
    that are everybody's. `least` is the lowest importance."""
    condition, values = condition_of(wanted)
    query = (
        f"SELECT n FROM fact INDEXED BY fact_realm WHERE {_SCOPED} AND weight >= ? AND {condition}"
        " ORDER BY weight DESC, timestamp DESC, n LIMIT ?"
    )
    return [n for (n,) in index.database.execute(query, (least, *values, most))]


def guardrail_rows(index: Index, wanted: FactFilter) -> list[int]:
    """Return all guardrails that a query sees, those of everybody too, the most important and newest first."""
    condition, values = condition_of(wanted)
    query = (
        f"SELECT n FROM fact INDEXED BY fact_guardrail WHERE category = 'guardrail' AND pace != {QUARANTINE_PACE}"
        f" AND {condition} ORDER BY weight DESC, timestamp DESC, n"
    )
    return [n for (n,) in index.database.execute(query, values)]


def all_guardrails(index: Index) -> list[PlacedFact]:
    """Return the current guardrails of everybody and of every agent, the most important and newest first, without those
    in quarantine."""
    query = (
        f"SELECT {FACT_COLUMNS} FROM fact INDEXED BY fact_guardrail WHERE category = 'guardrail'"
        f" AND pace != {QUARANTINE_PACE} AND status IN ('{ACTIVE}', '{ARCHIVED}')"
        " ORDER BY weight DESC, timestamp DESC, n"
    )
    return [fact_from_row(row) for row in index.database.execute(query)]


def quarantined_guardrails(index: Index) -> set[str]:
    """Return the ids of the guardrails in quarantine."""
    query = f"SELECT id FROM fact INDEXED BY fact_guardrail WHERE category = 'guardrail' AND pace = {QUARANTINE_PACE}"
    return {fact_id for (fact_id,) in index.database.execute(query)}


def facts_of_day(index: Index, category: str, agent: str, day: str) -> int:
    """Return how many facts of a category an agent stored on a day (`YYYY-MM-DD`, UTC)."""
    query = (
        "SELECT count(*) FROM fact WHERE category = ? AND timestamp >= ? AND timestamp < ?"
        " AND json_extract(line, '$.agent') = ?"
    )
    (number,) = index.database.execute(query, (category, day, f"{day}U", agent)).fetchone()
    return int(number)


def scoped_among(index: Index, wanted: FactFilter, numbers: Collection[int]) -> set[int]:
    """Return those of the rows that belong to the query's scope or a broader one, and are not everybody's."""
    condition, values = condition_of(wanted)
    query = (
        "SELECT fact.n FROM json_each(?) AS given CROSS JOIN fact ON fact.n = given.value"
        f" WHERE {_SCOPED} AND {condition}"
    )
    return {n for (n,) in index.database.execute(query, (json.dumps(sorted(numbers)), *values))}


def realms_of_work(index: Index, numbers: Collection[int]) -> dict[int, str]:
    """Return the realms of those of the rows that belong to a project or a workflow."""
    value = "realm != '' AND (realm >= 'project:' AND realm < 'project;' OR realm >= 'team:' AND realm < 'team;')"
    if index.database.execute(f"SELECT 1 FROM fact INDEXED BY fact_realm WHERE {value} LIMIT 1").fetchone() is None:
        return {}
    query = f"SELECT n, realm FROM json_each(?) AS given CROSS JOIN fact ON fact.n = given.value WHERE {value}"
    return dict(index.database.execute(query, (json.dumps(sorted(numbers)),)))


def scoped_with_tags(index: Index, wanted: FactFilter, tags: Sequence[str], most: int) -> list[int]:
    """Return the facts of the query's scope that have one of the tags, newest first."""
    if not tags:
        return []
    condition, values = condition_of(wanted)
    with_tag = " OR ".join("instr(tags, ?)" for _ in tags)
    query = (
        f"SELECT n FROM fact INDEXED BY fact_realm WHERE {_SCOPED} AND ({with_tag}) AND {condition}"
        " ORDER BY timestamp DESC, n LIMIT ?"
    )
    items = [tags_column((tag,)) for tag in tags]
    return [n for (n,) in index.database.execute(query, (*items, *values, most))]


def scoped_linked(index: Index, wanted: FactFilter, numbers: Collection[int]) -> set[int]:
    """Return the facts of the query's scope that some facts point to, or that point to them."""
    rows = json.dumps(sorted(numbers))
    towards = index.database.execute(
        "SELECT fact.n FROM json_each(?) AS given CROSS JOIN edge ON edge.n = given.value"
        " CROSS JOIN fact INDEXED BY fact_id ON fact.id = edge.target",
        (rows,),
    ).fetchall()
    back = index.database.execute(
        "SELECT edge.n FROM json_each(?) AS given CROSS JOIN fact AS ours ON ours.n = given.value"
        " CROSS JOIN edge INDEXED BY edge_target ON edge.target = ours.id",
        (rows,),
    ).fetchall()
    return scoped_among(index, wanted, {n for (n,) in (*towards, *back)})


def namesakes(index: Index, reach: Reach) -> dict[str, int]:
    """Return the other projects with the last word of a project that has no facts, and how many facts each has."""
    of_projects = f"{PROJECT}:", f"{PROJECT};"
    own, bounds = within_reach(Reach(project=reach.project, joined=reach.joined, others_hidden=True))
    known = f"SELECT 1 FROM fact WHERE realm >= ? AND realm < ? AND {own} LIMIT 1"
    if reach.project is None or index.database.execute(known, (*of_projects, *bounds)).fetchone():
        return {}
    counts: Counter[str] = Counter()
    query = "SELECT realm, COUNT(*) FROM fact WHERE realm >= ? AND realm < ? GROUP BY realm"
    for realm, number in index.database.execute(query, of_projects):
        counts[project_of_realm(realm)] += number
    return {name: n for name, n in counts.items() if project_name(name) == project_name(reach.project)}
