"""The schema is reached from every earlier version, with what was in it, and a newer or changed one is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from clawmem.errors import HubVersion
from clawmem.index.hub.connect import ask
from clawmem.index.hub.migrations import known_migrations, migrate
from clawmem.index.hub.operator import add_organisation
from tests.hub.hubs import PATH, History, add, fact, items, make_worker, rows, verified, work
from tests.hub.server import Database, Server, new_database

_KNOWN = [one.number for one in known_migrations()]
# Everything that makes a schema what it is, in words.
_SHAPE = """
    SELECT 'column', table_name || '.' || column_name, data_type || coalesce(generation_expression, '') || is_nullable
    FROM information_schema.columns WHERE table_schema = 'clawmem'
    UNION ALL SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'clawmem'
    UNION ALL SELECT 'policy', tablename || '.' || policyname, cmd || coalesce(qual, '') || roles::text
    FROM pg_policies WHERE schemaname = 'clawmem'
    UNION ALL SELECT 'function', oid::regprocedure::text, prosrc || coalesce(proacl::text, '')
    FROM pg_proc WHERE pronamespace = 'clawmem'::regnamespace AND prolang <> 13
    UNION ALL SELECT 'rights', relname, relacl::text FROM pg_class WHERE relnamespace = 'clawmem'::regnamespace
    ORDER BY 1, 2, 3
"""


def shape(database: Database) -> list[tuple[Any, ...]]:
    return ask(database.address(), 10, lambda hub: hub.execute(_SHAPE).fetchall(), checked=False)


def apply(database: Database, last: int | None = None) -> list[int]:
    return [one.number for one in ask(database.address(), 30, lambda hub: migrate(hub, last), checked=False)]


@pytest.mark.parametrize("version", _KNOWN)
def test_the_schema_is_the_same_from_every_earlier_version(server: Server, database: Database, version: int) -> None:
    with new_database(server, "template1") as older:
        with server.admin(older.name) as admin, suppress(psycopg.Error):
            admin.execute("CREATE EXTENSION vector")  # as the template of the other has it, if the server has it
        apply(older, version)
        ask(older.address(), 10, lambda hub: add_organisation(hub, "acme", "Acme", False), checked=False)
        assert apply(older) == [number for number in _KNOWN if number > version]
        assert apply(older) == []
        assert shape(older) == shape(database)


def test_a_hub_with_rows_is_updated_and_goes_on(empty_database: Database, tmp_path: Path) -> None:
    first = _KNOWN[1]  # the first one with which a worker could work
    apply(empty_database, first)
    ask(empty_database.address(), 10, lambda hub: add_organisation(hub, "acme", "Acme", False), checked=False)
    ask(
        empty_database.address(), 10,
        lambda hub: hub.execute(
            "INSERT INTO log (org, vault, epoch, kind, subject) VALUES ('acme', 'v', 1, 'removed', 'v')"
        ),
        checked=False,
    )  # fmt: skip
    with pytest.raises(HubVersion, match="older than this program") if len(_KNOWN) > 2 else _nothing():
        rows(empty_database, "SELECT 1")
    apply(empty_database)
    make_worker(empty_database)
    history = History(tmp_path / "source")
    history.commit({PATH: items(fact("fact_1", "Jane likes tea."))})
    add(empty_database, history.root)
    work(empty_database, tmp_path)
    assert verified(empty_database).rows["fact"] == 1
    assert rows(empty_database, "SELECT count(*) FROM log WHERE vault = 'v'") == [(1,)]


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


def test_a_newer_and_a_changed_schema_are_refused(database: Database) -> None:
    with database.server.admin(database.name) as admin:
        admin.execute("INSERT INTO clawmem.migration VALUES (9999, 'later', '')")
    for act in (lambda: rows(database, "SELECT 1"), lambda: apply(database)):
        with pytest.raises(HubVersion, match="newer than this program"):
            act()
    with database.server.admin(database.name) as admin:
        admin.execute("DELETE FROM clawmem.migration WHERE number = 9999")
        admin.execute("UPDATE clawmem.migration SET digest = 'other' WHERE number = 1")
    with pytest.raises(HubVersion, match="another text"):
        apply(database)


def test_a_database_without_the_schema_is_said_to_be_older(empty_database: Database) -> None:
    with pytest.raises(HubVersion, match="lacks: all"):
        rows(empty_database, "SELECT 1")


def test_the_numbers_and_names_are_in_order() -> None:
    assert len(set(_KNOWN)) == len(_KNOWN)
    assert all(one.name for one in known_migrations())
