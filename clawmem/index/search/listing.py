"""Lists of facts as queries, without reading the facts: their order by tier, their number, how they are used, and which
belong to the scope of a query, by category, by tag and by link.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from clawmem.index.search.by_tier import seconds_after, within_reach
from clawmem.index.search.channels import FactFilter, condition_of
from clawmem.index.search.lookup import FACT_COLUMNS, PlacedFact, fact_from_row
from clawmem.index.tables.schema import QUARANTINE_PACE, RowDamaged, tags_column
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, DEFAULT_IMPORTANCE, RETRACTED, SUPERSEDED
from clawmem.model.facts.reach import PROJECT, Reach, project_name, project_of_realm
from clawmem.model.language.dates import end_of, stamp
from clawmem.model.lifecycle.tiers import (
    ALWAYS_HOT,
    IMPORTANCE_POLICY,
    RECENCY,
    RECENCY_POLICY,
    SCORE_POLICY,
    SCORE_WARM_DAYS,
    TIERS,
    WARM_IMPORTANCE,
    policy_tier,
)
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import owner_of


class ListOrder(NamedTuple):
    """When and for whom facts are listed, the policy of their tiers, and the only tier and status that are wanted.
    `newest` is the order for people: the facts of the query's project first, then everybody's, each newest first."""

    now: datetime
    agent: str | None = None
    policy: str = RECENCY_POLICY
    tier: str | None = None
    status: str | None = None
    newest: bool = False


def listed_rows(
    index: Index, wanted: FactFilter, order: ListOrder, limit: int | None, without: Collection[str] = ()
) -> tuple[dict[int, str], int]:
    """Return the rows of the first facts that pass a filter, in the order of `ordered`, each with its tier; and how
    many pass it in all. Facts with the ids in `without` are left out.

    Tiers are those of `tier_of`, with the accesses that are committed."""
    _check_number(index)
    source = f"fact INDEXED BY {'fact_entity' if wanted.entity else 'fact_order'}"
    moment = end_of(wanted.as_of or stamp(order.now))
    tier, of_tier = _tier(index, order, moment)
    condition, values = condition_of(wanted)
    for column, value in (("status", order.status), (tier, order.tier and TIERS.index(order.tier))):
        if value is not None:
            condition += f" AND {column} = ?"
            values += (*(of_tier if column is tier else ()), value)
    by: tuple[str, tuple[object, ...]] = ("? AND realm NOT LIKE 'project:%'", (names_project(wanted),))
    if not order.newest:
        used = "tier, coalesce(valid_to <= ?, 0), owner IS NOT ?, access_count DESC, weight DESC"
        by = (used, (moment, order.agent))
    rows = index.database.execute(
        f"SELECT n, fact.id, {tier} AS tier FROM {source} WHERE {condition}"
        f" ORDER BY {by[0]}, timestamp DESC, fact.id LIMIT ?",
        (*of_tier, *values, *by[1], -1 if limit is None else limit + len(without)),
    )
    found = [(n, TIERS[place]) for n, fact_id, place in rows if fact_id not in without]
    left_out = "json_each(?) AS given CROSS JOIN fact INDEXED BY fact_id ON fact.id = given.value"
    total = _count(index, source, condition, values)
    if without:
        total -= _count(index, left_out, condition, (json.dumps(sorted(without)), *values))
    return dict(found[:limit]), total


def names_project(wanted: FactFilter) -> bool:
    """Return whether a query names a project, so that other facts are everybody's."""
    return wanted.reach is not None and wanted.reach.project is not None and not wanted.reach.others_hidden


def names_in_use(index: Index, owners: Collection[str]) -> dict[str, set[str]]:
    """Return the categories, the tags and the projects that facts of some owners have."""
    query = "SELECT DISTINCT {} FROM fact WHERE owner IN (SELECT value FROM json_each(?))"

    def values(column: str) -> set[str]:
        rows = index.database.execute(query.format(column), (json.dumps(sorted(owners)),))
        return {text for (text,) in rows if text}

    tags = {tag for tags in values("tags") for tag in tags.split("\n") if tag}
    projects = {project_of_realm(realm) for realm in values("realm") if realm.startswith(f"{PROJECT}:")}
    return {"category": values("category"), "tag": tags, "project": projects}


def projects_in_use(index: Index) -> set[str]:
    """Return the projects that facts have."""
    query = f"SELECT DISTINCT realm FROM fact INDEXED BY fact_realm WHERE realm != '' AND realm LIKE '{PROJECT}:%'"
    return {project_of_realm(realm) for (realm,) in index.database.execute(query)}


def _count(index: Index, source: str, condition: str, values: Sequence[object]) -> int:
    return int(index.database.execute(f"SELECT count(*) FROM {source} WHERE {condition}", values).fetchone()[0])


def _check_number(index: Index) -> None:
    """Raise RowDamaged if rows of facts are missing or superfluous. Each row that is shown is checked by its seal."""
    if index.database.execute("SELECT (SELECT count(*) FROM fact) = facts FROM total").fetchone() != (1,):
        raise RowDamaged("rows of the index are missing")


def _tier(index: Index, order: ListOrder, moment: str) -> tuple[str, tuple[object, ...]]:
    """Return an SQL expression for the place of a row's tier in TIERS, and its values: `tier_of` in SQL."""
    by_policy, values = _BY_POLICY[order.policy](index, order.now)
    gone = f"status IN ('{SUPERSEDED}', '{RETRACTED}') OR valid_to <= ?"
    return f"CASE WHEN {gone} THEN 2 WHEN weight >= {ALWAYS_HOT} THEN 0 {by_policy} ELSE 2 END", (moment, *values)


def _by_recency(index: Index, now: datetime) -> tuple[str, tuple[object, ...]]:
    parts, values = [], list[object]()
    for more_than, hot, warm in RECENCY:
        parts.append(f"WHEN access_count > {more_than} THEN (used < ?) + (used < ?)")
        values += [seconds_after(now - timedelta(days=days + 1)) for days in (hot, warm)]
    return " ".join(parts), tuple(values)


def _by_importance(index: Index, now: datetime) -> tuple[str, tuple[object, ...]]:
    return f"WHEN weight >= {WARM_IMPORTANCE} THEN 1", ()


def _by_score(index: Index, now: datetime) -> tuple[str, tuple[object, ...]]:
    def tier(base: float, access_count: int, last_access: str) -> int:
        return TIERS.index(policy_tier(SCORE_POLICY, base, access_count, last_access, now))

    index.database.create_function("tier_by_score", 3, tier, deterministic=True)
    # The importance that accesses raised is no base.
    plain = (
        f"(SELECT coalesce(json_extract(fact.line, '$.importance'), {DEFAULT_IMPORTANCE}) FROM access"
        " WHERE access.id = fact.id AND access.importance IS NOT NULL)"
    )
    score = f"tier_by_score(coalesce({plain}, weight), access_count, coalesce(nullif(last_accessed, ''), timestamp))"
    return f"WHEN used >= ? THEN {score}", (seconds_after(now - timedelta(days=SCORE_WARM_DAYS + 1)),)


_BY_POLICY = {RECENCY_POLICY: _by_recency, IMPORTANCE_POLICY: _by_importance, SCORE_POLICY: _by_score}


class FactsInUse(NamedTuple):
    """The rows of the active facts that were accessed most, and of the oldest that never were; and of each entity the
    number of its active facts, of those that were accessed, and of their accesses."""

    most: list[int]
    never: list[int]
    entities: dict[str, tuple[int, int, int]]


def facts_in_use(index: Index, owners: Collection[str], limit: int, more: Mapping[str, int]) -> FactsInUse:
    """Return how the active facts of some owners are used, at most `limit` rows of each list. `more` are accesses that
    are not committed yet, by fact id."""
    _check_number(index)
    among = json.dumps(sorted(more))
    used = index.database.execute(
        "SELECT n, fact.id, entity, access_count, owner FROM json_each(?) AS given"
        f" CROSS JOIN fact INDEXED BY fact_id ON fact.id = given.value WHERE status = '{ACTIVE}'",
        (among,),
    ).fetchall()
    query = (
        f"SELECT n, access_count FROM fact INDEXED BY fact_order WHERE status = '{ACTIVE}'"
        " AND owner IN (SELECT value FROM json_each(?)) AND {} LIMIT ?"
    )
    values = (json.dumps(sorted(owners)), limit + len(used))
    counts = dict(
        index.database.execute(query.format("access_count > 0 ORDER BY access_count DESC, n"), values).fetchall()
    )
    oldest = index.database.execute(query.format("access_count = 0 ORDER BY timestamp, n"), values).fetchall()
    grouped = index.database.execute(
        f"SELECT entity, count(*), sum(access_count > 0), sum(access_count) FROM fact INDEXED BY fact_entity"
        f" WHERE status = '{ACTIVE}' GROUP BY entity"
    )
    entities = {name: numbers for name, *numbers in grouped if (owner_of(name) or "") in owners}
    for n, fact_id, entity, count, owner in used:
        if owner in owners:
            counts[n] = count + more[fact_id]
            entities[entity][1] += not count
            entities[entity][2] += more[fact_id]
    most = sorted(counts, key=lambda n: (-counts[n], n))[:limit]
    never = [n for n, _ in oldest if n not in counts][:limit]
    return FactsInUse(most, never, {name: (facts, asked, number) for name, (facts, asked, number) in entities.items()})


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
    """Return the current guardrails of all, the most important and newest first, without quarantined ones."""
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
