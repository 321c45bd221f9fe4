"""What a vault asks of the hub: who asks, promotions, and the facts of others. All functions need an open connection.

The role of the connection decides what is seen and allowed: row-level security for tables, and checks of rights in the
functions that change something (`sql/0020_promotions.sql`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import NotFound, NotPermitted, Refused
from clawmem.extensions.hub.postgres.rows import first_value
from clawmem.extensions.hub.postgres.search import HUB_FACT_COLUMNS, HubFact, hub_fact
from clawmem.model.language.dates import stamp

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

# SQLSTATE of a refusal by the functions of the hub, and of something that is not there.
_REFUSED, _NOT_THERE = "P0001", "P0002"
MOST_COUNTED = 10_000
"""To count a million facts takes longer than a person waits for a status."""


class HubIdentity(NamedTuple):
    """Who a connection is at the hub: the role, its organisation, whether promotions wait there for a person, and its
    rights by scope. A scope that everybody of the organisation reads is among them."""

    role: str
    org: str
    name: str
    review: bool
    rights: Mapping[str, tuple[str, ...]]


class VaultMarks(NamedTuple):
    """By what the hub knows a vault: its folder and the addresses of its remotes, its last commits, newest first."""

    addresses: tuple[str, ...]
    commits: tuple[str, ...]


class OwnVault(NamedTuple):
    """The vault of the caller as the hub knows it: its id and scope, and when it was last taken in."""

    vault: str
    scope: str
    taken_at: str | None


class Promotion(NamedTuple):
    """A request to share a fact with a scope, and what became of it."""

    number: int
    vault: str
    fact: str
    scope: str
    status: str
    gates: Mapping[str, Any]
    reason: str | None
    asked_by: str
    asked_at: str
    entity: str
    claim: str
    author: str
    may_decide: bool


def identity(connection: HubConnection) -> HubIdentity:
    """Return who the connection is. Raise NotPermitted if its role belongs to no organisation."""
    row = connection.execute(
        "SELECT session_user, o.org, o.name, o.review FROM organisation o WHERE o.org = my_org()"
    ).fetchone()
    if row is None:
        (role,) = connection.execute("SELECT session_user").fetchone() or ("",)
        raise NotPermitted(
            f"The role {role} is no member of an organisation at this hub.",
            "Its operator runs `clawmem hub user add`.",
        )
    rights = {scope: tuple(may) for scope, may in connection.execute("SELECT scope, may FROM member ORDER BY scope")}
    for (scope,) in connection.execute("SELECT unnest(my_scopes()) ORDER BY 1"):
        rights.setdefault(scope, ("read",))
    role, org, name, review = row
    return HubIdentity(role, org, name, review, rights)


def own_vaults(connection: HubConnection, marks: VaultMarks) -> list[OwnVault]:
    """Return the vaults at the hub that are the one with these marks; several, if equally much speaks for them."""
    rows = connection.execute(
        "SELECT vault, scope, taken_at, certainty FROM my_own_vaults(%s, %s, %s)",
        (list(marks.addresses), list(marks.commits), marks.commits[0] if marks.commits else ""),
    ).fetchall()
    most = rows[0][3] if rows else 0
    return [OwnVault(vault, scope, at and stamp(at)) for vault, scope, at, certainty in rows if certainty == most]


def ask_promotion(
    connection: HubConnection, vault: str, fact: str, scope: str, claim: str, gates: Mapping[str, Any]
) -> tuple[int, str, bool]:
    """Ask to share a fact with a scope. Return the number of the promotion, its status, and whether it is new.

    Raise NotFound if there is no such scope, NotPermitted without the right to it, and Refused if the hub has the fact
    in another state."""
    from psycopg.types.json import Jsonb

    if connection.execute("SELECT FROM scope WHERE scope = %s", (scope,)).fetchone() is None:
        raise NotFound(f"The organisation has no scope '{scope}'.", "`clawmem org status` shows those of your role.")
    with _refusals("The worker of the hub takes in new commits; `clawmem org status` shows when it last did."):
        row = connection.execute(
            "SELECT number, state, is_new FROM ask_promotion(%s, %s, %s, %s, %s)",
            (vault, fact, scope, claim, Jsonb(dict(gates))),
        ).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def promotions(connection: HubConnection, status: str) -> list[Promotion]:
    """Return the promotions of a status that the role may decide, and those that it asked for."""
    rows = connection.execute(
        "SELECT number, vault, fact, scope, state, gates, reason, asked_by, asked_at, entity, claim, author, may_decide"
        " FROM promotions_to_decide(%s)",
        (status,),
    )
    return [Promotion._make((*row[:8], stamp(row[8]), *row[9:])) for row in rows]


def decide_promotion(connection: HubConnection, number: int, approved: bool, reason: str | None) -> str:
    """Approve or reject a promotion, and return its status. Rejecting an approved one withdraws it. Raise NotPermitted
    without the right to it, NotFound if the role sees no such promotion, and Refused if it was decided otherwise."""
    with _refusals("Only a promotion that waits, of a fact that is active, can be approved: see `clawmem org review`."):
        return str(first_value(connection, "SELECT decide_promotion(%s, %s, %s)", (number, approved, reason)))


def withdraw_promotions(connection: HubConnection, vault: str, fact: str, reason: str | None) -> int:
    """Withdraw the promotions of a fact. Return how many there were."""
    return int(first_value(connection, "SELECT withdraw_promotions(%s, %s, %s)", (vault, fact, reason)))


def promoted_facts(connection: HubConnection, vault: str) -> dict[str, list[tuple[str, str]]]:
    """Return the facts of a vault that are promoted or wait for it: by id, the scopes with the status."""
    found: dict[str, list[tuple[str, str]]] = {}
    rows = connection.execute(
        "SELECT fact, scope, status FROM promotion WHERE vault = %s AND status IN ('pending', 'approved')"
        " ORDER BY fact, scope",
        (vault,),
    )
    for fact, scope, status in rows:
        found.setdefault(fact, []).append((scope, status))
    return found


def shared_facts(
    connection: HubConnection, without: Collection[str], after: tuple[str, str], limit: int
) -> list[HubFact]:
    """Return active facts that were promoted out of other vaults and that the role reads, by vault and id, beginning
    after one of them. `without` are vaults to leave out."""
    rows = connection.execute(
        f"SELECT {HUB_FACT_COLUMNS} FROM fact WHERE status = 'active' AND NOT vault = ANY(%s) AND promoted"
        " AND (vault, id) > (%s, %s) ORDER BY vault, id LIMIT %s",
        (list(without), *after, limit),
    )
    return [hub_fact(row) for row in rows]


def named_facts(connection: HubConnection, pairs: Sequence[tuple[str, str]]) -> list[HubFact]:
    """Return those of some facts, each named by vault and id, that the role reads, whatever their status."""
    vaults, ids = [vault for vault, _ in pairs], [text for _, text in pairs]
    rows = connection.execute(
        f"SELECT {HUB_FACT_COLUMNS} FROM fact WHERE (vault, id) IN (SELECT * FROM unnest(%s::text[], %s::text[]))",
        (vaults, ids),
    )
    return [hub_fact(row) for row in rows]


def redacted_among(connection: HubConnection, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those of some facts, each named by vault and id, that were redacted."""
    vaults, ids = [vault for vault, _ in pairs], [text for _, text in pairs]
    return set(connection.execute("SELECT vault, fact FROM redacted_among(%s, %s)", (vaults, ids)))


def readable_counts(connection: HubConnection) -> tuple[int, int]:
    """Return how many active facts the role reads, and how many promoted ones, each counted up to MOST_COUNTED."""
    query = "SELECT count(*) FROM (SELECT FROM fact WHERE status = 'active' AND {} LIMIT %s) AS counted"
    readable, promoted = (
        first_value(connection, query.format(condition), (MOST_COUNTED,)) for condition in ("true", "promoted")
    )
    return readable, promoted


@contextmanager
def _refusals(hint: str) -> Iterator[None]:
    """Turn refusals of the hub's functions into errors with their words."""
    try:
        yield
    except Exception as problem:
        code = getattr(problem, "sqlstate", None)
        if code not in (_REFUSED, _NOT_THERE):
            raise
        words = problem.diag.message_primary or str(problem)  # type: ignore[attr-defined]
        if code == _NOT_THERE:
            raise NotFound(
                f"{words[:1].upper()}{words[1:]}.", "`clawmem org review list` shows the promotions."
            ) from None
        raise Refused(f"The organisation refused it: {words}.", hint) from None
