"""Taking commits of vaults in: one transaction for a batch of commits and the new head of the vault.

A worker locks the row of the vault, compares the head with the one that its batch continues, and writes log, tables and
head together. So each commit is taken in exactly once and in order, whoever is killed and however many workers run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.extensions.hub.postgres.rows import (
    COMMIT,
    ENTITY,
    ENTITY_GONE,
    FACT,
    FACT_GONE,
    REWRITTEN,
    UNSHARED,
    LogRow,
    TakenCommit,
    commit_rows,
    fact_row,
    first_value,
    link_rows,
    taken_commit,
)
from clawmem.extensions.hub.postgres.search import vector_type
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.proposals.quarantine import reviewer_needed
from clawmem.model.records.strict_json import stored_json

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

_FACT_COLUMNS = (
    "id text, scope text, scopes text[], entity text, claim text, category text, subject text, predicate text,"
    " object text, status text, confidence real, importance real, trust text, timestamp timestamptz, valid_from text,"
    " valid_to text, source text, source_event text, agent text, workflow text, project text, reach text, tags text[],"
    " superseded_by text, author text, commit text, path text, line integer, recorded_at timestamptz, record jsonb,"
    " waits boolean"
)
# A vector is of the claim and the entity. Drop that of another one.
_KEEP_VECTOR = ", embedding = CASE WHEN (f.claim, f.entity) = (excluded.claim, excluded.entity) THEN f.embedding END"
# What a fact says. The trigger `fact_ends` compares the same.
_STATEMENT = "entity, " + ", ".join(
    f"record ->> '{key}'"
    for key in (
        "fact", "subject", "predicate", "object", "relation_phrase", "category", "valid_from", "valid_to"
    )
)  # fmt: skip
_FACT_NAMES = [column.rpartition(" ")[0] for column in _FACT_COLUMNS.split(", ")]


class VaultRow(NamedTuple):
    """A vault as the hub has it. `head` is the last commit that was taken in, `commits` how many were."""

    org: str
    vault: str
    address: str
    scope: str
    head: str | None
    epoch: int


class Batch(NamedTuple):
    """What a worker takes in at once: rows of the log in order, and the commit that the vault is then at."""

    rows: Sequence[LogRow]
    head: str


class Written(NamedTuple):
    """What one batch wrote: rows of the log, and facts put or removed."""

    rows: int
    facts: int


_VAULT = "org, vault, address, scope, head, epoch"


def server_time(connection: HubConnection) -> datetime:
    """Return the time of the server, by which vaults are marked."""
    moment: datetime = first_value(connection, "SELECT clock_timestamp()")
    return moment


def next_vault(connection: HubConnection, before: datetime, org: str | None = None) -> VaultRow | None:
    """Return the vault that was not looked at for longest, and mark it as looked at now; None if each was since a time.

    Vaults that another worker has locked are left to it.
    """
    with connection.transaction():
        found = connection.execute(
            f"UPDATE clawmem.vault SET checked_at = clock_timestamp() WHERE (org, vault) IN (SELECT org, vault"
            f" FROM clawmem.vault WHERE (checked_at IS NULL OR checked_at < %s) AND (%s::text IS NULL OR org = %s)"
            f" ORDER BY checked_at NULLS FIRST LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING {_VAULT}",
            (before, org, org),
        ).fetchone()
    return VaultRow(*found) if found else None


def read_vault(connection: HubConnection, org: str, vault: str) -> VaultRow | None:
    """Return a vault, or None if it was removed."""
    found = connection.execute(
        f"SELECT {_VAULT} FROM clawmem.vault WHERE org = %s AND vault = %s", (org, vault)
    ).fetchone()
    return VaultRow(*found) if found else None


def facts_at(connection: HubConnection, row: VaultRow, path: str) -> set[str]:
    """Return the ids of the facts that the tables have from a file."""
    found = connection.execute(
        "SELECT id FROM clawmem.fact WHERE org = %s AND vault = %s AND path = %s", (row.org, row.vault, path)
    )
    return {fact_id for (fact_id,) in found}


def take_in(connection: HubConnection, row: VaultRow, batch: Batch) -> Written | None:
    """Write a batch that continues `row.head`, in one transaction. Return None if another worker was first or is at it.

    Nothing is written then.
    """
    with connection.transaction():
        if not _locked_at(connection, row):
            return None
        written = _write(connection, row, batch.rows)
        _finish(connection, row, batch.head)
    return written


def take_in_again(connection: HubConnection, row: VaultRow, head: str, batches: Iterable[Sequence[LogRow]]) -> Written | None:  # fmt: skip # noqa: E501
    """Replace everything of a vault by its rewritten history, in one transaction. Return None like `take_in`.

    What the new history does not have is emptied in the log. Facts that were promoted stay so if they still say the
    same; the promotions of others end.
    """
    with connection.transaction():
        if not _locked_at(connection, row):
            return None
        before = _asked_for(connection, row)
        clear_tables(connection, row.org, row.vault)
        row = row._replace(epoch=row.epoch + 1)
        connection.execute(
            "UPDATE clawmem.vault SET epoch = %s WHERE org = %s AND vault = %s", (row.epoch, row.org, row.vault)
        )
        rows = facts = 0
        _append(connection, row, [LogRow(REWRITTEN, row.vault, head, {"before": row.head})])
        for batch in batches:
            written = _write(connection, row, batch)
            rows, facts = rows + written.rows, facts + written.facts
        same = _same_statements(connection, row, before)
        for fact_id, (scopes, _) in before.items():
            for scope in scopes if fact_id in same else ():
                connection.execute(
                    "SELECT clawmem.share_fact(%s, %s, %s, %s, true)", (row.org, row.vault, fact_id, scope)
                )
        other = {fact_id: scopes for fact_id, (scopes, _) in before.items() if fact_id not in same}
        _append(connection, row, [LogRow(UNSHARED, name, None, {"scope": text}) for name in other for text in other[name]])  # fmt: skip # noqa: E501
        connection.execute("SELECT clawmem.empty_rewritten(%s, %s)", (row.org, row.vault))
        _withdraw(connection, row, list(other), "its vault changed or removed the fact")
        _finish(connection, row, head)
    return Written(rows, facts)


_Asked = Mapping[str, tuple[Sequence[str], tuple[Any, ...]]]


def _asked_for(connection: HubConnection, row: VaultRow) -> _Asked:
    """Return the facts of a vault that were promoted or wait for it: their scopes and statements."""
    found = connection.execute(
        f"SELECT id, array_remove(scopes, scope), {_STATEMENT} FROM clawmem.fact f WHERE org = %s AND vault = %s"
        " AND (promoted OR EXISTS (SELECT FROM clawmem.promotion p WHERE (p.org, p.vault, p.fact)"
        " = (f.org, f.vault, f.id) AND p.status IN ('pending', 'approved')))",
        (row.org, row.vault),
    )
    return {fact_id: (scopes, tuple(statement)) for fact_id, scopes, *statement in found}


def _same_statements(connection: HubConnection, row: VaultRow, before: _Asked) -> set[str]:
    """Return those of some facts that hold and say the same now."""
    found = connection.execute(
        f"SELECT id, {_STATEMENT} FROM clawmem.fact WHERE org = %s AND vault = %s AND id = ANY (%s)"
        " AND status NOT IN ('superseded', 'retracted') AND NOT coalesce(record -> 'metadata' ? 'redacted', false)",
        (row.org, row.vault, list(before)),
    )
    return {fact_id for fact_id, *statement in found if before[fact_id][1] == tuple(statement)}


def _withdraw(connection: HubConnection, row: VaultRow, facts: Sequence[str], reason: str) -> None:
    """End the promotions of facts whose rows in the tables are not shared any more."""
    connection.execute(
        "UPDATE clawmem.promotion SET status = 'withdrawn', reason = %s, decided_at = clock_timestamp()"
        " WHERE org = %s AND vault = %s AND fact = ANY (%s) AND status IN ('pending', 'approved')",
        (reason, row.org, row.vault, facts),
    )


def clear_tables(connection: HubConnection, org: str, vault: str) -> None:
    """Delete the rows of a vault from the tables that follow from the log."""
    for table in ("fact", "link", "entity", "author", "taken_commit"):
        connection.execute(f"DELETE FROM clawmem.{table} WHERE org = %s AND vault = %s", (org, vault))


def set_problem(connection: HubConnection, row: VaultRow, problem: str | None) -> None:
    """Record why a vault could not be looked at, or that it could."""
    with connection.transaction():
        connection.execute(
            "UPDATE clawmem.vault SET problem = %s WHERE org = %s AND vault = %s AND problem IS DISTINCT FROM %s",
            (problem, row.org, row.vault, problem),
        )


def _locked_at(connection: HubConnection, row: VaultRow) -> bool:
    """Lock the row of a vault. Return False if another worker has it locked, or moved its head."""
    found = connection.execute(
        "SELECT head, epoch, scope FROM clawmem.vault WHERE org = %s AND vault = %s FOR UPDATE SKIP LOCKED",
        (row.org, row.vault),
    ).fetchone()
    return found == (row.head, row.epoch, row.scope)


def _finish(connection: HubConnection, row: VaultRow, head: str) -> None:
    connection.execute(
        "UPDATE clawmem.vault SET head = %s, taken_at = clock_timestamp(), problem = NULL"
        " WHERE org = %s AND vault = %s",
        (head, row.org, row.vault),
    )
    connection.execute("SELECT pg_notify('clawmem_changed', '')")


def _write(connection: HubConnection, row: VaultRow, rows: Sequence[LogRow]) -> Written:
    """Append rows to the log, and bring the tables to the state after them."""
    _append(connection, row, rows)
    commits = {other_row.subject: taken_commit(other_row.body) for other_row in rows if other_row.kind == COMMIT}
    _put_commits(connection, row, commits)
    facts: dict[str, LogRow] = {}
    gone: list[tuple[str, str | None]] = []
    entities: dict[str, LogRow] = {}
    for other_row in rows:
        if other_row.kind == FACT:
            facts[other_row.subject] = other_row
        elif other_row.kind == FACT_GONE and other_row.subject not in facts:
            gone.append((other_row.subject, other_row.body["path"]))
        elif other_row.kind == FACT_GONE and facts[other_row.subject].body["path"] == other_row.body["path"]:
            # The table may have it at another path still, from before this batch.
            del facts[other_row.subject]
            gone.append((other_row.subject, None))
        elif other_row.kind in (ENTITY, ENTITY_GONE):
            entities[other_row.subject] = other_row
    _remove_facts(connection, row, gone)
    _put_facts(connection, row, [fact_row(fact.subject, row.scope, [row.scope], fact.body, fact.commit or "", commits[fact.commit or ""]) for fact in facts.values()])  # fmt: skip # noqa: E501
    _put_entities(connection, row, entities)
    return Written(len(rows), len(facts) + len(gone))


def _append(connection: HubConnection, row: VaultRow, rows: Sequence[LogRow]) -> None:
    connection.execute(
        "INSERT INTO clawmem.log (org, vault, epoch, commit, kind, subject, body)"
        " SELECT %s, %s, %s, commit, kind, subject, body"
        " FROM json_to_recordset(%s::json) AS r (commit text, kind text, subject text, body jsonb)",
        (row.org, row.vault, row.epoch, stored_json([other_row._asdict() for other_row in rows])),
    )


def _put_commits(connection: HubConnection, row: VaultRow, commits: Mapping[str, TakenCommit]) -> None:
    pair = (row.org, row.vault, stored_json(commit_rows(commits)))
    columns = "commit text, position bigint, parent text, at timestamptz, author text, subject text"
    connection.execute(
        "INSERT INTO clawmem.taken_commit (org, vault, commit, position, parent, at, author, subject)"
        " SELECT %s, %s, commit, r.position + (SELECT coalesce(max(position), 0) FROM clawmem.taken_commit"
        " WHERE org = %s AND vault = %s), parent, at, author, subject"
        f" FROM json_to_recordset(%s::json) AS r ({columns})",
        (row.org, row.vault, *pair),
    )
    connection.execute(
        "INSERT INTO clawmem.author AS a (org, vault, author, commits, last_at)"
        f" SELECT %s, %s, author, count(*), max(at) FROM json_to_recordset(%s::json) AS r ({columns}) GROUP BY author"
        " ON CONFLICT (org, vault, author) DO UPDATE"
        " SET commits = a.commits + excluded.commits, last_at = greatest(a.last_at, excluded.last_at)",
        pair,
    )


def _put_facts(connection: HubConnection, row: VaultRow, facts: Sequence[Mapping[str, Any]]) -> None:
    """Insert or replace facts; the scopes that they were promoted to stay."""
    if not facts:
        return
    names = ", ".join(_FACT_NAMES)
    sets = ", ".join(f"{name} = excluded.{name}" for name in _FACT_NAMES if name not in ("id", "scope", "scopes"))
    sets += _KEEP_VECTOR if vector_type(connection) else ""
    connection.execute(
        f"INSERT INTO clawmem.fact AS f (org, vault, {names}) SELECT %s, %s, {names}"
        f" FROM json_to_recordset(%s::json) AS r ({_FACT_COLUMNS})"
        f" ON CONFLICT (org, vault, id) DO UPDATE SET {sets}",
        (row.org, row.vault, stored_json([{**fact, "waits": _waits(fact["record"])} for fact in facts])),
    )
    connection.execute(
        "DELETE FROM clawmem.link WHERE org = %s AND vault = %s AND fact = ANY (%s)",
        (row.org, row.vault, [fact["id"] for fact in facts]),
    )
    links = [link for fact in facts for link in link_rows(fact["id"], [], fact["record"])]
    if links:
        connection.execute(
            "INSERT INTO clawmem.link (org, vault, fact, type, target, scopes, reason)"
            " SELECT f.org, f.vault, r.fact, r.type, r.target, f.scopes, r.reason"
            " FROM json_to_recordset(%s::json) AS r (fact text, type text, target text, reason text)"
            " JOIN clawmem.fact f ON f.org = %s AND f.vault = %s AND f.id = r.fact",
            (stored_json(links), row.org, row.vault),
        )


def judge_facts(connection: HubConnection) -> None:
    """Judge the facts that a version before this one took in: whether a promotion of them waits for a person."""
    for of in connection.execute("SELECT org, vault FROM clawmem.vault").fetchall():
        rows = connection.execute(
            "SELECT id, record FROM clawmem.fact WHERE org = %s AND vault = %s AND waits IS NULL", of
        ).fetchall()
        connection.execute(
            "UPDATE clawmem.fact f SET waits = g.waits FROM unnest(%s::text[], %s::boolean[]) AS g (id, waits)"
            " WHERE f.org = %s AND f.vault = %s AND f.id = g.id",
            ([fact_id for fact_id, _ in rows], [_waits(record) for _, record in rows], *of),
        )


def _waits(record: Mapping[str, Any]) -> bool:
    return reviewer_needed(fact_from_record(record)) is not None


def _remove_facts(connection: HubConnection, row: VaultRow, gone: Sequence[tuple[str, str | None]]) -> None:
    """Remove facts that are at a path (None: anywhere) no more, with links; withdraw promotions of them."""
    if not gone:
        return
    removed = connection.execute(
        "DELETE FROM clawmem.fact f USING unnest(%s::text[], %s::text[]) AS g (id, path)"
        " WHERE f.org = %s AND f.vault = %s AND f.id = g.id AND f.path = coalesce(g.path, f.path)"
        " RETURNING f.id",
        ([fact_id for fact_id, _ in gone], [path for _, path in gone], row.org, row.vault),
    ).fetchall()
    ids = [fact_id for (fact_id,) in removed]
    connection.execute(
        "DELETE FROM clawmem.link WHERE org = %s AND vault = %s AND fact = ANY (%s)", (row.org, row.vault, ids)
    )
    _withdraw(connection, row, ids, "its vault removed the fact")


def _put_entities(connection: HubConnection, row: VaultRow, entities: Mapping[str, LogRow]) -> None:
    if not entities:
        return
    connection.execute(
        "DELETE FROM clawmem.entity WHERE org = %s AND vault = %s AND entity = ANY (%s)",
        (row.org, row.vault, list(entities)),
    )
    rows = [
        {"entity": name, "commit": entity.commit, **entity.body}
        for name, entity in entities.items()
        if entity.kind == ENTITY
    ]
    connection.execute(
        "INSERT INTO clawmem.entity (org, vault, entity, title, kind, aliases, commit, path)"
        " SELECT %s, %s, entity, title, kind, aliases, commit, path FROM json_to_recordset(%s::json)"
        " AS r (entity text, title text, kind text, aliases text[], commit text, path text)",
        (row.org, row.vault, stored_json(rows)),
    )
