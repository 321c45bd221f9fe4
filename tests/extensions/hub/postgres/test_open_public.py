"""A member who may create objects in `public`: nothing of theirs runs with the rights of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from clawmem.extensions.hub.postgres import operator, organisation
from clawmem.extensions.hub.postgres.connect import ask, connect
from clawmem.extensions.hub.postgres.rows import migrate
from clawmem.extensions.hub.postgres.search import HubQuestion, enable_vectors, fill_vectors, search_facts, vector_type
from tests.extensions.hub.postgres.hubs import (
    WORKER,
    History,
    add,
    fact,
    items,
    make_worker,
    member,
    rows,
    verified,
    work,
)
from tests.extensions.hub.postgres.server import ORG, Database, Server, new_database
from tests.extensions.hub.postgres.test_search import NOW, vector

_TRAP = "ZX001"
# Parts of rows that a role may not see.
_FOREIGN = {
    "ann": re.compile(r"Said elsewhere|acme_team-b|acme-team-b|other_team-a|other-team-a|clawmem_hub_secret"),
    "olga": re.compile(r"Said |(acme|other)[-_]team-[ab]|clawmem_hub_secret"),
}

# Types that the functions of the hub, and those that they call, take.
_TYPES = (
    "text", "text[]", "name", "integer", "bigint", "double precision", "boolean", "jsonb", "date", "timestamptz",
    "tsvector", "tsquery", "tsquery[]", "record",
)  # fmt: skip

# Each pair of types, in operators and functions of every name that the sources have, then domains and tables.
_PLANTS = """
DO $plant$
DECLARE
    types CONSTANT text[] := %(types)s::text[];
    one text;
    a text;
    b text;
    f record;
    body CONSTANT text := ' LANGUAGE plpgsql AS $$BEGIN'
        ' IF current_user OPERATOR(pg_catalog.<>) ''ann''::pg_catalog.name THEN RAISE EXCEPTION'
        ' ''a shadow ran as %%'', current_user USING ERRCODE = ''ZX001''; END IF; RETURN NULL; END$$';
BEGIN
    FOREACH a IN ARRAY types LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION public.trap (%%s) RETURNS boolean', a) || body;
        EXCEPTION WHEN OTHERS THEN NULL; END;
        FOREACH b IN ARRAY types LOOP
            BEGIN
                EXECUTE format('CREATE FUNCTION public.trap (%%s, %%s) RETURNS boolean', a, b) || body;
                EXECUTE format('CREATE FUNCTION public.trap_value (%%s, %%s) RETURNS %%1$s', a, b) || body;
            EXCEPTION WHEN OTHERS THEN NULL; END;
        END LOOP;
    END LOOP;
    FOREACH one IN ARRAY %(operators)s::text[] LOOP
        FOREACH a IN ARRAY types LOOP
            FOREACH b IN ARRAY types LOOP
                BEGIN
                    EXECUTE format('CREATE OPERATOR public.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = public.%%s)',
                        one, a, b, CASE WHEN one ~ '[-+*/|]' AND one !~ '[<=]' THEN 'trap_value' ELSE 'trap' END);
                EXCEPTION WHEN OTHERS THEN NULL; END;
            END LOOP;
        END LOOP;
    END LOOP;
    FOR f IN SELECT DISTINCT p.proname, p.prokind, p.pronargs, p.proretset,
                CASE WHEN t.typtype = 'p' THEN NULL ELSE p.prorettype::regtype::text END AS kind, kinds.list,
                coalesce(array_length(kinds.list, 1), 0) AS number
            FROM pg_proc p JOIN pg_type t ON t.oid = p.prorettype, LATERAL (
                SELECT array_agg(CASE WHEN a.typtype = 'p' THEN NULL ELSE a.oid::regtype::text END
                                 ORDER BY place) AS list
                FROM unnest(p.proargtypes) WITH ORDINALITY AS u (oid, place) JOIN pg_type a ON a.oid = u.oid
            ) AS kinds
            WHERE p.pronamespace = 'pg_catalog'::regnamespace
                AND p.proname = ANY (%(functions)s::text[]) AND p.pronargs < 7
    LOOP
        FOREACH a IN ARRAY types LOOP
            SELECT string_agg(coalesce(kind, a), ', ') INTO one FROM unnest(f.list) AS kind;
            BEGIN
                IF f.prokind = 'a' THEN
                    EXECUTE format('CREATE AGGREGATE public.%%I (%%s) (SFUNC = public.trap_value, STYPE = %%s)',
                        f.proname, CASE WHEN f.number = 0 THEN '*' ELSE one END, one);
                ELSE
                    EXECUTE format('CREATE FUNCTION public.%%I (%%s) RETURNS %%s', f.proname, one, coalesce(f.kind, a))
                        || body;
                END IF;
            EXCEPTION WHEN OTHERS THEN NULL; END;
        END LOOP;
    END LOOP;
    FOREACH one IN ARRAY string_to_array('text jsonb tsquery date int4 int8 bool float8 halfvec record', ' ') LOOP
        BEGIN
            EXECUTE format('CREATE DOMAIN public.%%I AS pg_catalog.text CHECK (public.trap(VALUE, VALUE))', one);
        EXCEPTION WHEN OTHERS THEN NULL; END;
    END LOOP;
    FOREACH one IN ARRAY ARRAY['fact', 'member', 'account', 'pg_class', 'pg_stats', 'pg_extension', 'pg_roles'] LOOP
        EXECUTE format('CREATE VIEW public.%%I AS SELECT public.trap(''x''::text, ''y''::text) AS %%1$s', one);
    END LOOP;
    CREATE TYPE public.pair AS (a text, b text);
    CREATE FUNCTION public.as_text(public.pair) RETURNS text LANGUAGE sql AS 'SELECT ''x''::text';
    CREATE CAST (public.pair AS text) WITH FUNCTION public.as_text(public.pair) AS IMPLICIT;
END $plant$
"""


@pytest.fixture(scope="module")
def hub(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Two teams and another organisation, where every role may create objects in `public`."""
    with new_database(server, "clawmem_template") as made:
        with server.admin(made.name) as admin:
            admin.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
        ask(
            made.address(),
            10,
            lambda connection: operator.add_organisation(connection, "other", "clawmem_hub_secret", False),
        )
        make_worker(made)
        folder = tmp_path_factory.mktemp("open")
        for scope, org, says in (
            ("team-a", ORG, "tea"),
            ("team-b", ORG, "elsewhere"),
            ("team-a", "other", "elsewhere"),
        ):
            history = History(folder / f"{org}-{scope}")
            facts = [fact(f"{org}_{scope}_{n}", f"Said {says} {n}.", related_entities=["tea"]) for n in range(6)]
            history.commit({"life/resources/x/items.json": items(*facts)})
            add(made, history.root, scope, org)
        member(made, "ann", "team-a", "promote")
        member(made, "bob", "team-b", "promote", "review")
        member(made, "olga", "organisation")
        for scope in ("team-a", "organisation"):
            member(made, "rex", scope, "promote", "review")
        work(made, folder)
        rows(
            made,
            "INSERT INTO promotion (org, vault, fact, scope, status, asked_by) SELECT org, vault, id, 'organisation',"
            " 'pending', 'rex' FROM fact WHERE id = 'acme_team-a_2' RETURNING seq",
        )
        if vector_type_of(made):
            rows(made, f"UPDATE fact SET embedding = '{vector(0)}'::public.halfvec RETURNING id", WORKER)
        assert plant(made) > 2_000
        yield made


def vector_type_of(hub: Database) -> str | None:
    return ask(hub.address(), 10, vector_type)


def sources(hub: Database) -> str:
    """The statements of the hub, its functions' and ours."""
    found = rows(hub, "SELECT prosrc FROM pg_proc WHERE pronamespace = 'clawmem'::regnamespace AND prolang <> 13")
    ours = (line for file in Path(operator.__file__).parent.glob("*.py") for line in file.read_text().splitlines())
    return "\n".join(
        [*(str(text) for (text,) in found), *(line for line in ours if line.strip()[:2] in ('"S', '" ', 'f"'))]
    )


def plant(hub: Database) -> int:
    """Let ann shadow every operator, function, aggregate, type and table of the sources. Return how many there are."""
    text = sources(hub)
    symbols = set(re.findall(r"(?<![-+*/<>=~!@#%^&|?])[-+*/<>=~!@#%^&|?]{1,3}(?![-+*/<>=~!@#%^&|?])", text))
    symbols &= {name for (name,) in rows(hub, "SELECT oprname FROM pg_operator")}
    words = sorted(set(re.findall(r"\b[a-z_]+(?=\()", text)))
    with psycopg.ClientCursor(psycopg.connect(hub.url("ann"), autocommit=True)) as ann:
        ann.execute("SET search_path = pg_catalog")
        ann.execute(_PLANTS, {"types": list(_TYPES), "operators": sorted(symbols), "functions": words})
        ann.connection.close()
    query = "SELECT count(*) FROM pg_depend WHERE refobjid = 'public'::regnamespace AND deptype = 'n'"
    ((made,),) = rows(hub, query)
    return int(made)


def value(hub: Database, name: str) -> Any:
    """A value for a parameter of a function, by its name, so that the function comes as far as it can."""
    vault = rows(hub, "SELECT vault FROM fact WHERE id = 'acme_team-a_1'")[0][0]
    known = {
        "wanted": "read", "wanted_scope": "team-a", "of_org": ORG, "of_vault": vault, "of_fact": "acme_team-a_1",
        "with_scope": "organisation", "shared": True, "asked": ["tea said"], "most": 10, "meaning": vector(0),
        "relations": ["likes"], "subjects": ["jane"], "first": "2026-01-01", "last": "2026-12-31",
        "in_scope": "organisation", "judged": "Said tea 1.", "verdicts": "{}", "wanted_status": "pending",
        "wanted_number": 1, "approved": True, "why": "because", "of_vaults": [vault], "of_facts": ["acme_team-a_1"],
        "addresses": ["/somewhere"], "commits": ["c" * 40], "last_commit": "c" * 40,
    }  # fmt: skip
    return known[name]


_FUNCTIONS = """
    SELECT p.oid::regprocedure::text, p.proname, p.prorettype = 'trigger'::regtype,
           p.proargnames[:p.pronargs], ARRAY(SELECT t::regtype::text FROM unnest(p.proargtypes) AS t),
           has_function_privilege('clawmem_member', p.oid, 'EXECUTE')
    FROM pg_proc p WHERE p.pronamespace = 'clawmem'::regnamespace AND p.prosecdef ORDER BY 2
"""
# A statement of a worker that runs a trigger with the owner's rights.
_TRIGGERS = {"end_promotions": "UPDATE clawmem.fact SET status = 'superseded' WHERE id LIKE 'acme_team-a_5'"}


def springs(hub: Database) -> dict[str, str | None]:
    """Call each function that has the owner's rights. Return what SQLSTATE each ended with, None if it returned."""
    ended: dict[str, str | None] = {}
    for signature, name, is_trigger, parameters, types, is_for_members in rows(hub, _FUNCTIONS):
        if is_trigger:
            query, values = _TRIGGERS[name], []
        else:
            query = f"SELECT * FROM clawmem.{name}({', '.join(f'%s::{kind}' for kind in types)})"
            values = [value(hub, parameter) for parameter in parameters or ()]
        with psycopg.connect(hub.url("rex" if is_for_members else WORKER)) as caller:
            caller.execute("SET search_path = pg_catalog")  # of the call; that of a function is its own
            try:
                caller.execute(query, values)
                caller.execute("SET CONSTRAINTS ALL IMMEDIATE")
                ended[signature] = None
            except psycopg.Error as problem:
                ended[signature] = problem.sqlstate
            caller.rollback()
    return ended


def set_paths(hub: Database, functions: Iterable[str], path: str) -> None:
    with connect(hub.address()) as owner:
        for signature in functions:
            owner.execute(f"ALTER FUNCTION {signature} SET search_path = {path}")  # type: ignore[arg-type, unused-ignore]


def test_no_function_with_the_rights_of_the_owner_runs_what_a_member_put_into_public(hub: Database) -> None:
    ended = springs(hub)
    assert ended and {text for text in ended.values() if text not in (None, "P0001", "P0002")} == set(), ended
    # The same plants work where the path is open: the test can fail, for each of the functions.
    set_paths(hub, ended, "public, pg_catalog")
    try:
        opened = springs(hub)
    finally:
        set_paths(hub, ended, "pg_catalog, pg_temp")
    assert [text for text in ended if opened[text] == ended[text]] == []
    assert list(opened.values()).count(_TRAP) > len(opened) / 2, opened


def test_what_others_run_with_a_full_public_is_not_touched_by_it(hub: Database, tmp_path: Path) -> None:
    def owner(connection: Any) -> None:
        migrate(connection)
        enable_vectors(connection)
        operator.read_state(connection)
        operator.ensure_scope(connection, ORG, "team-c", None)
        operator.add_vault(connection, ORG, "/vaults/c", "team-c")
        operator.add_user(connection, ORG, "cleo", "team-c", ["promote"], None)
        operator.revoke_user(connection, ORG, "cleo", None)
        operator.remove_vault(connection, ORG, operator.vault_id(ORG, "/vaults/c"), True)
        operator.remove_unused_scopes(connection, ORG, ["team-c"])

    def rex(connection: Any) -> None:
        organisation.identity(connection)
        organisation.promotions(connection, "pending")
        organisation.shared_facts(connection, [], ("", ""), 10)
        organisation.redacted_among(connection, [("v", "f")])
        organisation.readable_counts(connection)
        items = [float(word) for word in vector(0)[1:-1].split(",")]
        assert search_facts(connection, HubQuestion("Who said tea in November 2026?", NOW, vector=items))

    ask(hub.address(), 60, owner)
    ask(hub.address("rex"), 60, rex)
    history = History(tmp_path / "new")
    history.commit({"life/resources/y/items.json": items(fact("acme_team-a_new", "Said tea again."))})
    add(hub, history.root, "team-a")
    work(hub, tmp_path)
    with connect(hub.address(WORKER)) as worker:
        fill_vectors(worker, lambda text: [1.0] * 384, 10)
    verified(hub)


_TABLES = (
    "organisation", "scope", "account", "member", "vault", "log", "fact", "link", "entity", "author", "taken_commit",
    "promotion",
)  # fmt: skip
_LEAK = (
    "CREATE OR REPLACE FUNCTION public.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001"
    " AS $$BEGIN RAISE NOTICE '%', $1; RETURN true; END$$"
)
_STATEMENTS = (
    # Read tables, partitions and what the planner keeps of them.
    *(f"TABLE clawmem.{table}" for table in _TABLES),
    *(f"SELECT * FROM clawmem.{table} t WHERE public.leak(t::pg_catalog.text)" for table in _TABLES),
    *(f"TABLE clawmem.{table}_{org}" for table in ("fact", "log", "link", "promotion") for org in (ORG, "other")),
    *(f"COPY clawmem.{table} TO STDOUT" for table in ("fact", "log", "member")),
    "COPY (SELECT record FROM clawmem.fact) TO STDOUT",
    "SELECT * FROM ONLY clawmem.fact",
    "SELECT * FROM clawmem.fact TABLESAMPLE SYSTEM (100)",
    "SELECT * FROM pg_stats WHERE schemaname = 'clawmem'",
    "SELECT * FROM pg_statistic",
    "SELECT * FROM pg_stat_activity WHERE query LIKE '%tea%' AND query LIKE '%else%'",
    "SELECT query_to_xml('SELECT * FROM clawmem.fact', true, true, '')",
    "SELECT table_to_xml('clawmem.log', true, true, '')",
    "SELECT schema_to_xml('clawmem', true, true, '')",
    "SELECT ts_stat('SELECT text_search FROM clawmem.fact')",
    "SELECT pg_read_file(pg_relation_filepath('clawmem.fact_other'))",
    "SELECT lo_import('/etc/passwd')",
    "SELECT claim::pg_catalog.int4 FROM clawmem.fact WHERE org <> 'acme'",
    "SELECT 1 / (length(claim) - length(claim)) FROM clawmem.fact WHERE org <> 'acme'",
    "SELECT count(*) FROM clawmem.fact HAVING bool_or(public.leak(claim))",
    "SELECT f FROM clawmem.fact f, LATERAL (SELECT public.leak(f.claim)) x ORDER BY f.claim",
    "SELECT * FROM clawmem.fact f WHERE CASE WHEN public.leak(f.claim) THEN f.org <> 'acme' END",
    "SET row_security = off; TABLE clawmem.fact",
    "SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT * FROM clawmem.fact WHERE public.leak(claim)",
    "SET constraint_exclusion = on; SELECT * FROM clawmem.fact WHERE public.leak(record::pg_catalog.text)",
    "CREATE TEMP VIEW peek AS SELECT * FROM clawmem.fact WHERE public.leak(claim); TABLE peek",
    "CREATE MATERIALIZED VIEW public.kept AS TABLE clawmem.fact; TABLE public.kept",
    "CREATE TABLE public.copied AS TABLE clawmem.log; TABLE public.copied",
    "DECLARE c CURSOR WITH HOLD FOR TABLE clawmem.vault; FETCH ALL FROM c",
    "PREPARE p AS TABLE clawmem.organisation; EXECUTE p",
    "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM clawmem.fact WHERE public.leak(claim)",
    "LOCK TABLE clawmem.fact IN ACCESS EXCLUSIVE MODE",
    "CREATE STATISTICS public.s (mcv) ON org, claim FROM clawmem.fact",
    # Ask the functions for what others have.
    "SELECT * FROM clawmem.facts_by_words(NULL, NULL)",
    "SELECT * FROM clawmem.facts_by_words('{elsewhere}', 1000000)",
    "SELECT * FROM clawmem.facts_by_words('{\"elsewhere '' | said\"}', 1000000)",
    "SELECT * FROM clawmem.facts_by_words('{said}', -1)",
    f"SELECT * FROM clawmem.facts_by_meaning('{vector(0)}', 1000000)",
    f"SELECT * FROM clawmem.facts_by_meaning('{vector(0)}'') OR ((true', 1000000)",
    "SELECT * FROM clawmem.facts_by_meaning(NULL, NULL)",
    "SELECT * FROM clawmem.facts_by_time('-infinity', 'infinity', 1000000)",
    "SELECT * FROM clawmem.facts_by_relation(NULL, NULL, NULL)",
    "SELECT * FROM clawmem.ranked_by_words('other', '{team-a}', '{said}', 10, 10)",
    "SELECT clawmem.word_counts('other', '{team-a}', '{said}', 10, 10)",
    "SELECT * FROM clawmem.promotions_to_decide('pending')",
    "SELECT * FROM clawmem.promotions_to_decide('x'' OR true --')",
    "SELECT * FROM clawmem.redacted_among((SELECT array_agg(vault) FROM clawmem.vault), NULL)",
    "SELECT * FROM clawmem.my_own_vaults('{/}', '{}', '')",
    "SELECT * FROM clawmem.my_own_vaults(NULL, NULL, NULL)",
    "SELECT clawmem.decide_promotion(1, true, '')",
    "SELECT clawmem.decide_promotion(NULL, true, '')",
    "SELECT * FROM clawmem.ask_promotion('v', 'f', 'team-b', 'x', '{}')",
    "SELECT * FROM clawmem.ask_promotion(NULL, NULL, NULL, NULL, NULL)",
    "SELECT clawmem.withdraw_promotions(vault, fact, '') FROM clawmem.promotion WHERE asked_by <> session_user",
    "SELECT clawmem.share_fact('acme', 'v', 'f', 'organisation', true)",
    "SELECT clawmem.empty_rewritten('acme', 'v')",
    "SELECT clawmem.add_organisation('mine', 'Mine', false)",
    "SELECT clawmem.enable_vectors()",
    # Change what decides about rights.
    *(f"DELETE FROM clawmem.{table}" for table in _TABLES),
    *(f"UPDATE clawmem.{table} SET org = 'acme'" for table in _TABLES),
    "INSERT INTO clawmem.member VALUES ('acme', session_user, 'team-b', '{read,promote,review}')",
    "MERGE INTO clawmem.member m USING (SELECT 1) x ON true WHEN MATCHED THEN UPDATE SET scope = 'team-b'",
    "WITH x AS (UPDATE clawmem.member SET may = '{read,review}' RETURNING *) TABLE x",
    "TRUNCATE clawmem.member CASCADE",
    "GRANT clawmem_worker TO CURRENT_USER",
    "GRANT hub_owner TO CURRENT_USER",
    "GRANT ALL ON ALL TABLES IN SCHEMA clawmem TO PUBLIC",
    "GRANT ALL ON SCHEMA clawmem TO CURRENT_USER",
    "ALTER ROLE CURRENT_USER SUPERUSER",
    "ALTER ROLE CURRENT_USER BYPASSRLS",
    "ALTER ROLE CURRENT_USER CREATEROLE",
    "ALTER ROLE hub_owner SET search_path = public",
    "ALTER ROLE bob PASSWORD 'known'",
    "CREATE ROLE clawmem_helper SUPERUSER",
    "SET ROLE hub_owner; TABLE clawmem.fact",
    "SET ROLE clawmem_worker; TABLE clawmem.fact",
    "SET SESSION AUTHORIZATION bob; TABLE clawmem.fact",
    "SELECT set_config('session_authorization', 'bob', false)",
    "SELECT set_config('role', 'clawmem_worker', false)",
    "ALTER TABLE clawmem.fact OWNER TO CURRENT_USER",
    "ALTER TABLE clawmem.fact DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE clawmem.fact NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE clawmem.fact ATTACH PARTITION public.copied FOR VALUES IN ('mine')",
    "CREATE TABLE public.child () INHERITS (clawmem.member)",
    "CREATE TABLE public.probe (name text REFERENCES clawmem.account (role_name))",
    "DROP POLICY member ON clawmem.fact",
    "ALTER POLICY member ON clawmem.fact USING (true)",
    "CREATE POLICY mine ON clawmem.fact USING (true)",
    "CREATE RULE mine AS ON SELECT TO clawmem.fact DO INSTEAD TABLE clawmem.log",
    "CREATE TRIGGER mine BEFORE INSERT ON clawmem.fact FOR EACH ROW EXECUTE FUNCTION clawmem.end_promotions()",
    "CREATE INDEX ON clawmem.fact (public.leak(claim))",
    "CREATE OR REPLACE FUNCTION clawmem.my_scopes() RETURNS text[] LANGUAGE sql AS $$SELECT '{team-b}'$$",
    "CREATE FUNCTION clawmem.mine() RETURNS text LANGUAGE sql AS $$SELECT 'x'$$",
    "ALTER FUNCTION clawmem.my_scopes() SET search_path = public",
    "ALTER FUNCTION clawmem.my_scopes() OWNER TO CURRENT_USER",
    "DROP FUNCTION clawmem.my_scopes() CASCADE",
    "CREATE EVENT TRIGGER mine ON ddl_command_start EXECUTE FUNCTION public.leak()",
    "ALTER EXTENSION vector SET SCHEMA clawmem",
    "ALTER SCHEMA clawmem RENAME TO taken",
    "ALTER DEFAULT PRIVILEGES FOR ROLE hub_owner GRANT ALL ON TABLES TO PUBLIC",
    "CREATE OPERATOR CLASS public.mine DEFAULT FOR TYPE text USING btree AS FUNCTION 1 bttextcmp(text, text)",
    "CREATE CAST (text AS bigint) WITH INOUT AS IMPLICIT",
    "CREATE PUBLICATION mine FOR ALL TABLES",
    "ALTER SYSTEM SET session_preload_libraries = 'x'",
    "LOAD '/tmp/x.so'",
    "COPY public.pair FROM PROGRAM 'id'",
    "DO LANGUAGE plpgsql $$BEGIN EXECUTE 'SET ROLE clawmem_worker'; RAISE NOTICE '%', (SELECT string_agg(claim, ' ')"
    " FROM clawmem.fact); END$$",
)
_STATE = (
    *(f"SELECT t::text FROM clawmem.{table} t" for table in _TABLES),
    "SELECT (rolname, rolsuper, rolbypassrls, rolcreaterole, rolconfig)::text FROM pg_roles",
    "SELECT (roleid::regrole, member::regrole)::text FROM pg_auth_members",
    "SELECT (proname, prosrc, proconfig, proacl, proowner)::text FROM pg_proc"
    " WHERE pronamespace = 'clawmem'::regnamespace",
    "SELECT (relname, relacl, relowner, relrowsecurity, relforcerowsecurity)::text FROM pg_class"
    " WHERE relnamespace = 'clawmem'::regnamespace",
    "SELECT p::text FROM pg_policies p",
    "SELECT (nspname, nspacl, nspowner)::text FROM pg_namespace WHERE nspname = 'clawmem'",
)


def state(hub: Database) -> list[list[Any]]:
    return [sorted(text for (text,) in rows(hub, query)) for query in _STATE]


@pytest.mark.parametrize("role", ["ann", "olga"])
def test_no_statement_reads_rows_of_others_or_changes_rights(hub: Database, role: str) -> None:
    assert len(set(_STATEMENTS)) > 98
    before, through = state(hub), []
    items: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        items.append(notice.message_primary or "")

    for statement in _STATEMENTS:
        with psycopg.connect(hub.url(role), autocommit=True) as connection:
            connection.add_notice_handler(hear)
            connection.execute("SET search_path = pg_catalog, clawmem")
            with suppress(psycopg.errors.InsufficientPrivilege):
                connection.execute(_LEAK)  # type: ignore[arg-type, unused-ignore]
            try:
                items += answers(connection, statement)
            except psycopg.Error as problem:
                items += [problem.diag.message_primary or "", problem.diag.message_detail or ""]
        if found := [text for text in items if _FOREIGN[role].search(text)]:
            through.append((statement, found[0][:200]))
        items.clear()
    assert through == []
    assert state(hub) == before


def answers(connection: psycopg.Connection[Any], statement: str) -> list[str]:
    """Run a statement as the server takes it; return every row that it answers."""
    cursor = connection.cursor()
    if statement.startswith("COPY") and "STDOUT" in statement:
        with cursor.copy(statement) as copied:  # type: ignore[arg-type, unused-ignore]
            return [bytes(row).decode() for row in copied]
    cursor.execute(statement)  # type: ignore[arg-type, unused-ignore]
    found = cursor.fetchall() if cursor.description else []
    while cursor.nextset():
        found += cursor.fetchall() if cursor.description else []
    return [str(row) for row in found]
