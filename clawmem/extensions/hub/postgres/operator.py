"""What the operator of a hub does: organisations, scopes, vaults, and who may read what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import InvalidInput, NotFound, NotPermitted, Refused
from clawmem.extensions.hub.postgres.intake import clear_tables
from clawmem.extensions.hub.postgres.rows import REMOVED, first_value
from clawmem.extensions.hub.postgres.search import vector_type

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

TEAM, FRAMEWORK, ORGANISATION = "team", "framework", "organisation"
SCOPE_KINDS = (TEAM, FRAMEWORK, ORGANISATION)
RIGHTS = ("read", "promote", "review")
MEMBER, WORKER = "clawmem_member", "clawmem_worker"
_ORG = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
_SCOPE = re.compile(r"[a-z0-9]([a-z0-9._/-]{0,98}[a-z0-9])?")
_ROLE = re.compile(r"[a-z0-9_][a-z0-9_.@-]{0,62}")
_RESERVED = ("pg_", "clawmem_")
# The states of PostgreSQL's roles that no policy holds.
_ABOVE_POLICIES = "rolsuper OR rolbypassrls"


class VaultState(NamedTuple):
    """A vault as `hub status` shows it: what was taken in, when it was last looked at, and what is wrong."""

    org: str
    vault: str
    address: str
    scope: str
    head: str | None
    epoch: int
    commits: int
    facts: int
    checked_at: datetime | None
    taken_at: datetime | None
    problem: str | None


class OrganisationState(NamedTuple):
    """An organisation as `hub status` shows it. `waiting` is the number of promotions that wait for a decision."""

    org: str
    name: str
    review: bool
    scopes: tuple[tuple[str, str], ...]
    members: tuple[tuple[str, str, tuple[str, ...]], ...]
    waiting: int


class HubState(NamedTuple):
    """A hub: the version of its schema, its server, whether it has vectors, its size in bytes, its workers' roles,
    and what is in it."""

    migration: int
    server: str
    vectors: bool
    bytes: int
    rows_in_log: int
    workers: tuple[str, ...]
    organisations: tuple[OrganisationState, ...]
    vaults: tuple[VaultState, ...]


def close_public(connection: HubConnection, revoke: bool) -> tuple[str, ...]:
    """Make sure that no user of the hub may create objects in the schema `public`, where other programs of the database
    would take them for their own. With `revoke`, take that right away. Return from whom, PUBLIC for everybody.

    Raise Refused if somebody has it and it was not revoked."""
    from psycopg import sql

    found = _who_may_create(connection)
    for who in found if revoke else ():
        name = sql.SQL(who) if who == _EVERYBODY else sql.Identifier(who)
        connection.execute(sql.SQL("REVOKE CREATE ON SCHEMA public FROM {}").format(name))
    if open_to := _who_may_create(connection):
        names, of = ", ".join(open_to), "Its owner runs" if revoke else "Run it with --close-public, or"
        raise Refused(
            f"In this database, {names} may create objects in the schema public: functions there can run with the"
            " rights of others. Nothing was changed.",
            f"{of}: REVOKE CREATE ON SCHEMA public FROM {names};",
        )
    return found


_EVERYBODY = "PUBLIC"


def _who_may_create(connection: HubConnection) -> tuple[str, ...]:
    """Return who was granted to create objects in `public`: everybody, users of a hub, and groups that have such."""
    found = connection.execute(
        "SELECT CASE WHEN g.grantee = 0 THEN %s ELSE pg_get_userbyid(g.grantee) END FROM pg_namespace n,"
        " LATERAL aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS g"
        " WHERE n.nspname = 'public' AND g.privilege_type = 'CREATE' AND (g.grantee = 0 OR EXISTS ("
        "  SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member"
        "  WHERE m.roleid = to_regrole(%s) AND NOT r.rolsuper AND NOT r.rolcreaterole"
        "  AND pg_has_role(r.oid, g.grantee, 'MEMBER'))) GROUP BY 1 ORDER BY 1",
        (_EVERYBODY, MEMBER),
    )
    return tuple(str(name) for (name,) in found)


def add_organisation(connection: HubConnection, org: str, name: str | None, review: bool | None) -> bool:
    """Make an organisation with its partitions and its scope `organisation`. Return False if it was there already.

    Then its name and whether promotions wait for a person are updated, each only if it is given. In a new organisation
    promotions do not wait unless `review` says so.
    """
    _check(org, _ORG, "an organisation", "Use lower-case letters, digits and -, at most 40.")
    if first_value(connection, "SELECT clawmem.add_organisation(%s, %s, %s)", (org, name or org, bool(review))):
        return True
    connection.execute(
        "UPDATE clawmem.organisation SET name = coalesce(%s, name), review = coalesce(%s, review) WHERE org = %s",
        (name, review, org),
    )
    return False


def has_review(connection: HubConnection, org: str) -> bool:
    """Return whether promotions of an organisation wait for a person."""
    return bool(first_value(connection, "SELECT review FROM clawmem.organisation WHERE org = %s", (org,)))


def chosen_organisation(connection: HubConnection, named: str | None) -> str:
    """Return the named organisation, or the only one. Raise NotFound or InvalidInput if there is none or no one."""
    known = [str(org) for (org,) in connection.execute("SELECT org FROM clawmem.organisation ORDER BY org")]
    if named is not None:
        if named in known:
            return named
        raise NotFound(f"The hub has no organisation '{named}'.", f"Add it: `clawmem hub init - --org {named}`.")
    if len(known) == 1:
        return known[0]
    if not known:
        raise NotFound("The hub has no organisation yet.", "Add one: `clawmem hub init - --org NAME`.")
    raise InvalidInput(f"The hub has {len(known)} organisations: {', '.join(known[:9])}.", "Name one with --org.")


def ensure_scope(connection: HubConnection, org: str, scope: str, kind: str | None) -> bool:
    """Make a scope of a kind (default: team). Return False if it was there. Raise Refused if it has another kind."""
    _check(scope, _SCOPE, "a scope", "Use lower-case letters, digits and . _ / -, at most 100.")
    found = connection.execute("SELECT kind FROM clawmem.scope WHERE org = %s AND scope = %s", (org, scope)).fetchone()
    if found is None:
        connection.execute("INSERT INTO clawmem.scope VALUES (%s, %s, %s)", (org, scope, kind or TEAM))
        return True
    if kind is not None and found != (kind,):
        raise Refused(f"The scope {scope} is of kind {found[0]}.", "A scope keeps its kind: choose another name.")
    return False


def remove_unused_scopes(connection: HubConnection, org: str, scopes: Sequence[str]) -> tuple[str, ...]:
    """Remove and return those of some scopes that nothing uses. `organisation` stays: everybody reads it."""
    found = connection.execute(
        "DELETE FROM clawmem.scope s WHERE s.org = %s AND s.scope = ANY (%s) AND s.scope <> %s"
        " AND NOT EXISTS (SELECT FROM clawmem.vault v WHERE (v.org, v.scope) = (s.org, s.scope))"
        " AND NOT EXISTS (SELECT FROM clawmem.member m WHERE (m.org, m.scope) = (s.org, s.scope))"
        " AND NOT EXISTS (SELECT FROM clawmem.promotion p WHERE (p.org, p.scope) = (s.org, s.scope)"
        " AND p.status IN ('pending', 'approved')) RETURNING s.scope",
        (org, list(scopes), ORGANISATION),
    )
    return tuple(sorted(str(scope) for (scope,) in found))


def add_vault(connection: HubConnection, org: str, address: str, scope: str) -> tuple[str, bool]:
    """Add a vault by its address, with the scope whose members read it. Return its id, and False if it was there.

    Raise Refused if it is there with another scope.
    """
    vault = vault_id(org, address)
    found = connection.execute("SELECT scope FROM clawmem.vault WHERE org = %s AND vault = %s", (org, vault)).fetchone()
    if found is None:
        connection.execute(
            "INSERT INTO clawmem.vault (org, vault, address, scope) VALUES (%s, %s, %s, %s)",
            (org, vault, address, scope),
        )
    elif found != (scope,):
        raise Refused(
            f"The vault is in the scope {found[0]} already.",
            f"Remove it first, `clawmem hub vault remove {vault}`, then add it again: it is taken in anew.",
        )
    return vault, found is None


def vault_id(org: str, address: str) -> str:
    """Return the id of a vault: it follows from its address, so that it is the same each time it is added."""
    return f"vault_{sha256(f'{org} {address}'.encode()).hexdigest()[:12]}"


def find_vault(connection: HubConnection, org: str, named: str) -> tuple[str, str, str]:
    """Return id, address and scope of a vault by its id or its address. Raise NotFound if there is none."""
    found = connection.execute(
        "SELECT vault, address, scope FROM clawmem.vault WHERE org = %s AND %s IN (vault, address)", (org, named)
    ).fetchone()
    if found is None:
        raise NotFound(f"The hub has no vault '{named}' in {org}.", "`clawmem hub status` lists them.")
    return found[0], found[1], found[2]


def remove_vault(connection: HubConnection, org: str, vault: str, purge: bool) -> int:
    """Remove a vault and its rows. The log keeps what it had, or with `purge` only that it was there.

    Return the number of bodies that were emptied. Its promotions are withdrawn.
    """
    connection.execute("SELECT FROM clawmem.vault WHERE org = %s AND vault = %s FOR UPDATE", (org, vault))
    clear_tables(connection, org, vault)
    connection.execute("UPDATE clawmem.vault SET epoch = epoch + 1 WHERE org = %s AND vault = %s", (org, vault))
    connection.execute(
        "INSERT INTO clawmem.log (org, vault, epoch, kind, subject) SELECT org, vault, epoch, %s, vault"
        " FROM clawmem.vault WHERE org = %s AND vault = %s",
        (REMOVED, org, vault),
    )
    emptied = 0
    if purge:
        # Nothing of the new epoch is in the log, so everything before it goes.
        emptied = first_value(connection, "SELECT clawmem.empty_rewritten(%s, %s)", (org, vault))
    connection.execute(
        "UPDATE clawmem.promotion SET status = 'withdrawn', reason = 'the vault was removed'"
        " WHERE org = %s AND vault = %s AND status IN ('pending', 'approved')",
        (org, vault),
    )
    connection.execute("DELETE FROM clawmem.vault WHERE org = %s AND vault = %s", (org, vault))
    connection.execute("SELECT pg_notify('clawmem_changed', '')")
    return emptied


def add_user(
    connection: HubConnection, org: str, role: str, scope: str, may: Sequence[str], password: str | None
) -> bool:
    """Let a login role read a scope, and what else it may there: this replaces its rights in the scope. Return whether
    the role was made now.

    Raise NotPermitted unless the caller owns the hub, Refused if the role is of another organisation or stands above
    row-level security, and NotFound for no scope.
    """
    from psycopg import sql  # an extra

    _check_role(role)
    _check_owner(connection)
    if connection.execute("SELECT FROM clawmem.scope WHERE org = %s AND scope = %s", (org, scope)).fetchone() is None:
        raise NotFound(f"{org} has no scope '{scope}'.", "A scope comes with its first vault: `clawmem hub vault add`.")
    made = _ensure_role(connection, role, password, "user")
    other = organisation_of(connection, role)
    if other not in (None, org):
        raise Refused(f"{role} is of the organisation {other}.", "One role is of one organisation: make another.")
    connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(MEMBER), sql.Identifier(role)))
    connection.execute(
        "INSERT INTO clawmem.account (role_name, org) VALUES (%s, %s) ON CONFLICT DO NOTHING", (role, org)
    )
    connection.execute(
        "INSERT INTO clawmem.member VALUES (%s, %s, %s, %s) ON CONFLICT (org, role_name, scope)"
        " DO UPDATE SET may = excluded.may",
        (org, role, scope, sorted({"read", *may}, key=RIGHTS.index)),
    )
    return made


def add_worker(connection: HubConnection, role: str, password: str | None) -> bool:
    """Let a login role take vaults in. It reads and writes everything that workers do. Return whether it was made now.

    Raise NotPermitted unless the caller owns the hub, and Refused if the role is that of a user.
    """
    from psycopg import sql

    _check_role(role)
    _check_owner(connection)
    if organisation_of(connection, role) is not None:
        raise Refused(f"{role} is a user of the hub.", "A worker sees every scope: use a role of its own.")
    made = _ensure_role(connection, role, password, "worker")
    connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(WORKER), sql.Identifier(role)))
    return made


def rights_in(connection: HubConnection, org: str, role: str, scope: str) -> tuple[str, ...]:
    """Return what a role may do in a scope."""
    query = "SELECT may FROM clawmem.member WHERE org = %s AND role_name = %s AND scope = %s"
    return tuple(first_value(connection, query, (org, role, scope)) or ())


def organisation_of(connection: HubConnection, role: str) -> str | None:
    """Return the organisation of a user, or None if the role is no user."""
    org: str | None = first_value(connection, "SELECT org FROM clawmem.account WHERE role_name = %s", (role,))
    return org


def revoke_user(connection: HubConnection, org: str, role: str, scope: str | None) -> tuple[str, ...]:
    """Take the scope from a role, or all scopes and its membership. Return the scopes that it had and lost.

    It holds at once, for open connections, too. Raise NotFound if the role had none of them.
    """
    from psycopg import sql

    lost = connection.execute(
        "DELETE FROM clawmem.member WHERE org = %s AND role_name = %s AND (%s::text IS NULL OR scope = %s)"
        " RETURNING scope",
        (org, role, scope, scope),
    ).fetchall()
    ended = scope is None and (
        connection.execute(
            "DELETE FROM clawmem.account WHERE org = %s AND role_name = %s RETURNING role_name", (org, role)
        ).fetchone()
        is not None
    )
    if ended:
        connection.execute(sql.SQL("REVOKE {} FROM {}").format(sql.Identifier(MEMBER), sql.Identifier(role)))
    elif not lost:
        what = f"the scope {scope}" if scope else "any scope"
        raise NotFound(f"{role} does not have {what} in {org}.", "`clawmem hub status` lists the members.")
    return tuple(sorted(other for (other,) in lost))


def read_state(connection: HubConnection) -> HubState:
    """Return the state of the hub, as far as the role may see it."""
    orgs = [
        OrganisationState(
            org, name, review,
            tuple((scope, kind) for scope, kind in scopes or ()),
            tuple((role, scope, tuple(may)) for role, scope, may in members or ()),
            waiting,
        )
        for org, name, review, scopes, members, waiting in connection.execute(
            "SELECT o.org, o.name, o.review,"
            " (SELECT json_agg(ARRAY[scope, kind] ORDER BY scope) FROM clawmem.scope s WHERE s.org = o.org),"
            " (SELECT json_agg(json_build_array(role_name, scope, may) ORDER BY role_name, scope)"
            "  FROM clawmem.member m WHERE m.org = o.org),"
            " (SELECT count(*) FROM clawmem.promotion p WHERE p.org = o.org AND p.status = 'pending')"
            " FROM clawmem.organisation o ORDER BY o.org"
        )
    ]  # fmt: skip
    vaults = [
        VaultState(*row)
        for row in connection.execute(
            "SELECT v.org, v.vault, v.address, v.scope, v.head, v.epoch,"
            " (SELECT count(*) FROM clawmem.taken_commit c WHERE c.org = v.org AND c.vault = v.vault),"
            " (SELECT count(*) FROM clawmem.fact f WHERE f.org = v.org AND f.vault = v.vault),"
            " v.checked_at, v.taken_at, v.problem FROM clawmem.vault v ORDER BY v.org, v.address"
        )
    ]
    whole = connection.execute(
        "SELECT (SELECT max(number) FROM clawmem.migration), current_setting('server_version'),"
        " pg_database_size(current_database()), (SELECT count(*) FROM clawmem.log)"
    ).fetchone()
    assert whole is not None
    migration, server, size, rows = whole
    vectors = vector_type(connection) is not None
    return HubState(migration, server, vectors, size, rows, _workers(connection), tuple(orgs), tuple(vaults))


def _workers(connection: HubConnection) -> tuple[str, ...]:
    """Return the login roles with the rights of a worker. The group is one of the server, not of a database."""
    found = connection.execute(
        "SELECT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member"
        " WHERE m.roleid = (SELECT oid FROM pg_roles WHERE rolname = %s)"
        " AND r.rolcanlogin AND pg_has_role(r.oid, m.roleid, 'USAGE') GROUP BY r.rolname ORDER BY r.rolname",
        (WORKER,),
    )
    return tuple(str(role) for (role,) in found)


def _ensure_role(connection: HubConnection, role: str, password: str | None, what: str) -> bool:
    """Make a login role if there is none. Raise Refused if the role is one that policies do not hold."""
    from psycopg import sql

    name = sql.Identifier(role)
    found = connection.execute(
        f"SELECT {_ABOVE_POLICIES} OR rolname = current_user OR pg_has_role(rolname, %s, 'MEMBER')"
        " FROM pg_roles WHERE rolname = %s",
        (WORKER, role),
    ).fetchone()
    if found == (True,):
        raise Refused(
            f"{role} stands above row-level security: it is a superuser, a worker, or owns the hub.",
            f"Use a role of its own for a {what}.",
        )
    if found is None:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(name))
    if password:
        # The server gets the verifier, so that the password is in none of its logs.
        made = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(name, made.decode()))
    return found is None


def _check_owner(connection: HubConnection) -> None:
    row = connection.execute(
        "SELECT session_user, pg_has_role(session_user, nspowner, 'MEMBER') FROM pg_namespace WHERE nspname = 'clawmem'"
    ).fetchone()
    if row is not None and not row[1]:
        raise NotPermitted(f"{row[0]} does not own the hub, so it may not add users.", "The owner of the hub does it.")


def _check_role(role: str) -> None:
    _check(role, _ROLE, "a role", "Use lower-case letters, digits and _ . @ -, at most 63.")
    if role.startswith(_RESERVED):
        raise InvalidInput(f"'{role}' is reserved.", f"Use a name that does not begin with {' or '.join(_RESERVED)}.")


def _check(text: str, pattern: re.Pattern[str], what: str, hint: str) -> None:
    if not pattern.fullmatch(text):
        raise InvalidInput(f"'{text}' is not the name of {what}.", hint)
