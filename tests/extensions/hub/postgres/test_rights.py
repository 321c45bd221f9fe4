"""Who sees what, tried with SQL of their own: roles x tables x scopes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from clawmem.extensions.hub.postgres.connect import ask, connect
from clawmem.extensions.hub.postgres.operator import add_organisation, revoke_user
from clawmem.extensions.hub.postgres.organisation import VaultMarks, own_vaults, readable_counts
from tests.extensions.hub.postgres.hubs import WORKER, History, add, fact, items, make_worker, member, rows, work
from tests.extensions.hub.postgres.server import ORG, OWNER, Database, Server, new_database

_TABLES = ("fact", "link", "entity", "author", "taken_commit", "log", "vault", "promotion")
# Which scopes each role sees: `acme` has two teams and a framework; `other` has a scope of the same name.
_ROLES = {"ann": {"team-a"}, "bob": {"team-b"}, "fay": {"team-a", "framework-x"}, "olga": set[str](), "eve": {"other"}}
_SCOPES = ("team-a", "team-b", "framework-x", "other")


@pytest.fixture(scope="module")
def hub(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Two organisations with vaults in four scopes, a promotion in each, and five roles."""
    with new_database(server, "clawmem_template") as made:
        ask(made.address(), 10, lambda connection: add_organisation(connection, "other", "Other", False))
        make_worker(made)
        folder = tmp_path_factory.mktemp("rights")
        for scope in _SCOPES:
            _vault(made, folder, scope)
        for name, scopes in _ROLES.items():
            org = "other" if name == "eve" else ORG
            for scope in scopes or {"organisation"}:
                member(made, name, "team-a" if scope == "other" else scope, org=org)
        work(made, folder)
        for vault, fact_id, org in rows(made, "SELECT vault, id, org FROM fact WHERE id LIKE '%_1'", WORKER):
            rows(
                made,
                "INSERT INTO promotion (org, vault, fact, scope, status) VALUES (%s, %s, %s,"
                " (SELECT scope FROM vault WHERE vault.vault = %s), 'pending') RETURNING seq",
                OWNER, org, vault, fact_id, vault,
            )  # fmt: skip
        yield made


def _vault(made: Database, folder: Path, scope: str) -> None:
    history = History(folder / scope)
    facts = [fact(f"{scope}_{number}", f"Said in {scope}.", related_entities=[scope]) for number in (1, 2)]
    summary = {f"life/resources/{scope}/summary.md": f"---\ntitle: {scope}\n---\n"}
    history.commit({f"life/resources/{scope}/items.json": items(*facts), **summary})
    add(made, history.root, "team-a" if scope == "other" else scope, "other" if scope == "other" else ORG)


def _vaults_seen(hub: Database, role: str, table: str) -> set[str]:
    """The scopes of the vaults whose rows a role sees in a table, by the name of the vault's folder."""
    names = {vault: Path(address).name for vault, address in rows(hub, "SELECT vault, address FROM vault", OWNER)}
    return {names[vault] for (vault,) in rows(hub, f"SELECT vault FROM {table}", role)}


@pytest.mark.parametrize("table", _TABLES)
def test_a_role_sees_the_rows_of_its_scopes_and_no_others(hub: Database, table: str) -> None:
    assert {role: _vaults_seen(hub, role, table) for role in _ROLES} == _ROLES
    assert _vaults_seen(hub, WORKER, table) == set(_SCOPES)


def test_a_role_sees_only_its_own_account_and_its_organisation(hub: Database) -> None:
    for role in _ROLES:
        assert {name for (name,) in rows(hub, "SELECT role_name FROM account", role)} == {role}
        assert {name for (name,) in rows(hub, "SELECT role_name FROM member", role)} == {role}
        own = "other" if role == "eve" else ORG
        assert {org for (org,) in rows(hub, "SELECT org FROM organisation UNION SELECT org FROM scope", role)} == {own}


def test_a_promoted_fact_is_seen_by_the_other_scope_and_nothing_else_of_its_vault_is(hub: Database) -> None:
    def share(shared: bool) -> None:
        rows(
            hub,
            "SELECT share_fact(org, vault, id, 'organisation', %s) FROM fact WHERE id = 'team-a_1'",
            WORKER,
            shared,
        )

    share(True)
    try:
        for role in ("bob", "olga"):
            assert {other for (other,) in rows(hub, "SELECT id FROM fact WHERE scope = 'team-a'", role)} == {"team-a_1"}
            assert {other for (other,) in rows(hub, "SELECT fact FROM link WHERE fact LIKE 'team-a%%'", role)} == {
                "team-a_1"
            }
            assert _vaults_seen(hub, role, "log") == _ROLES[role]
        assert _vaults_seen(hub, "eve", "fact") == {"other"}
    finally:
        share(False)
    assert _vaults_seen(hub, "bob", "fact") == {"team-b"}


def test_the_vault_for_which_most_speaks_is_the_callers(hub: Database) -> None:
    """An address counts more than a commit: a fork has the commits of its origin."""
    marks = {Path(address).name: (address, head) for address, head in rows(hub, "SELECT address, head FROM vault")}
    (boat, _), (fork, head) = marks["team-a"], marks["framework-x"]

    def own(addresses: tuple[str, ...], commits: tuple[str, ...]) -> list[str]:
        found = ask(hub.address("fay"), 10, lambda connection: own_vaults(connection, VaultMarks(addresses, commits)))
        return sorted(vault.scope for vault in found)

    assert own((boat,), (head,)) == ["team-a"]
    assert own((), (head,)) == ["framework-x"]
    assert own((boat, fork), ()) == ["framework-x", "team-a"]
    assert own((), ()) == []


def test_what_is_readable_is_counted(hub: Database) -> None:
    assert ask(hub.address("ann"), 10, readable_counts) == (2, 0)


_FORBIDDEN = (
    *(f"INSERT INTO {table} DEFAULT VALUES" for table in _TABLES),
    *(f"UPDATE {table} SET org = org" for table in _TABLES),
    *(f"DELETE FROM {table}" for table in _TABLES),
    *(f"TRUNCATE {table}" for table in _TABLES),
    *(f'SELECT * FROM "{table}_acme"' for table in _TABLES if table != "vault"),
    "INSERT INTO member VALUES ('acme', session_user, 'team-b', '{read}')",
    "UPDATE member SET scope = 'team-b'",
    "UPDATE account SET org = 'other'",
    "INSERT INTO scope VALUES ('acme', 'x', 'organisation')",
    "ALTER TABLE fact DISABLE ROW LEVEL SECURITY",
    "DROP POLICY member ON fact",
    "CREATE POLICY mine ON fact USING (true)",
    "SELECT share_fact('acme', 'v', 'f', 'organisation', true)",
    "SELECT empty_rewritten('acme', 'v')",
    "SELECT add_organisation('mine', 'Mine', false)",
    "SET ROLE clawmem_worker",
    "SET ROLE hub_owner",
    "SET SESSION AUTHORIZATION bob",
    "CREATE FUNCTION clawmem.my_org() RETURNS text LANGUAGE sql AS 'SELECT $$other$$'",
    "CREATE TABLE clawmem.mine ()",
)


@pytest.mark.parametrize("role", ["ann", "olga"])
def test_nothing_else_is_allowed(hub: Database, role: str) -> None:
    items = []
    with connect(hub.address(role)) as connection:
        connection.autocommit = True
        for query in _FORBIDDEN:
            with suppress(psycopg.errors.InsufficientPrivilege):
                connection.execute(query)  # type: ignore[arg-type, unused-ignore]
                items.append(query)
    assert items == []


@pytest.mark.parametrize(
    "trick",
    [
        "SET clawmem.role = 'bob'",
        "SET row_security = off",
        "SET search_path = pg_temp, clawmem",
        "CREATE TEMP VIEW mine AS SELECT * FROM clawmem.fact",
        "CREATE FUNCTION pg_temp.my_scopes() RETURNS text[] LANGUAGE sql AS 'SELECT ARRAY[$$team-b$$]'",
        "CREATE FUNCTION pg_temp.see(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001"
        " AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN true; END'",
    ],
)
def test_settings_and_functions_of_the_client_change_nothing(hub: Database, trick: str) -> None:
    items: list[str] = []
    with connect(hub.address("ann")) as connection:
        connection.add_notice_handler(lambda notice: items.append(notice.message_primary or ""))
        connection.execute(trick)  # type: ignore[arg-type, unused-ignore]
        condition = "WHERE pg_temp.see(claim)" if "see" in trick else ""
        try:
            seen = {claim for (claim,) in connection.execute(f"SELECT claim FROM clawmem.fact {condition}")}
        except psycopg.errors.InsufficientPrivilege:
            seen = {"Said in team-a."}  # refused instead: `row_security = off` asks for that
            connection.rollback()
    assert seen == {"Said in team-a."}
    assert not [text for text in items if "team-b" in text]


def test_a_revocation_holds_at_once_for_an_open_connection(hub: Database) -> None:
    member(hub, "zoe", "team-b")
    with connect(hub.address("zoe")) as connection:
        connection.autocommit = True
        assert len(connection.execute("SELECT id FROM fact").fetchall()) == 2
        ask(hub.address(), 10, lambda owner: revoke_user(owner, ORG, "zoe", None))
        with suppress(psycopg.errors.InsufficientPrivilege):
            assert connection.execute("SELECT id FROM clawmem.fact").fetchall() == []


def test_no_function_is_open_to_everybody_and_each_has_its_search_path(hub: Database) -> None:
    found = rows(
        hub,
        "SELECT proname FROM pg_proc WHERE pronamespace = 'clawmem'::regnamespace AND prokind = 'f'"
        " AND (has_function_privilege('public', oid, 'EXECUTE')"
        " OR NOT 'search_path=pg_catalog, pg_temp' = ANY (coalesce(proconfig, '{}')))"
        " AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_proc.oid AND d.deptype = 'e')",
    )
    assert found == []


def test_each_table_has_row_level_security_that_holds_its_owner_too(hub: Database) -> None:
    found = rows(
        hub,
        "SELECT relname FROM pg_class WHERE relnamespace = 'clawmem'::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT relispartition AND NOT (relrowsecurity AND relforcerowsecurity)",
    )
    assert found == [("migration",)]


def test_the_log_only_grows(hub: Database) -> None:
    for role in (OWNER, "postgres", WORKER):
        for query in ("UPDATE log SET body = NULL, emptied = true", "DELETE FROM log", "TRUNCATE log"):
            with connect(hub.address(role)) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(query)  # type: ignore[arg-type, unused-ignore]
                raise AssertionError(query)
