"""A hub that is down, slow, full, or read-only: one sentence, in time, and no credentials in it."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import ClawmemError, HubUnavailable, HubVersion, InvalidInput, NotPermitted
from clawmem.extensions.hub.postgres.connect import HubAddress, ask, hub_address
from tests.extensions.hub.postgres.server import Database

_PASSWORD = "tops3cret"


def failure(address: HubAddress, seconds: float, work: Callable[[Any], object] = lambda hub: None) -> ClawmemError:
    """The error of a call, which shows no password."""
    with pytest.raises(ClawmemError) as caught:
        ask(address, seconds, work)
    assert caught.value.hint
    assert _PASSWORD not in caught.value.message + caught.value.hint + repr(caught.value)
    return caught.value


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port of this machine that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    url = f"postgresql://ada:{_PASSWORD}@127.0.0.1:1/memory"
    assert "cannot be reached" in failure(hub_address(url, from_environment=True), 2).message
    assert isinstance(failure(HubAddress(f"postgresql:///x?host={tmp_path}"), 2), HubUnavailable)


def test_a_server_that_is_silent(silent_port: int) -> None:
    url = f"postgresql://ada:{_PASSWORD}@127.0.0.1:{silent_port}/memory"
    assert "did not answer in time" in failure(hub_address(url, from_environment=True), 0.3).message


def test_a_server_that_hangs_after_the_connection(database: Database) -> None:
    def hang(hub: Any) -> object:
        (backend,) = hub.execute("SELECT pg_backend_pid()").fetchone()
        os.kill(backend, signal.SIGSTOP)
        try:
            return hub.execute("SELECT 1").fetchone()
        finally:
            os.kill(backend, signal.SIGCONT)

    if os.geteuid() != 0 and database.server.data.stat().st_uid != os.geteuid():
        pytest.skip("the server is another user's")
    assert "did not answer in time" in failure(database.address(), 0.5, hang).message


def test_a_statement_that_takes_long_is_ended_by_the_server(database: Database) -> None:
    failure(database.address(), 0.3, lambda hub: hub.execute("SELECT pg_sleep(30)"))
    time.sleep(0.5)
    with database.server.admin(database.name) as admin:
        running = admin.execute("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)%' AND state = 'active' AND pid <> pg_backend_pid()")  # fmt: skip # noqa: E501
        assert running.fetchone() == (0,)


def test_no_connection_is_left(database: Database) -> None:
    with database.server.admin() as admin:
        admin.execute(f"ALTER DATABASE {database.name} CONNECTION LIMIT 0")
    assert "no free connection" in failure(database.address(), 2).message


def test_a_replica_takes_no_writes(database: Database) -> None:
    def write(hub: Any) -> object:
        hub.execute("SET TRANSACTION READ ONLY")
        return hub.execute("DELETE FROM link")

    assert "read-only replica" in failure(database.address(), 2, write).message


def test_no_rights_and_no_role(database: Database) -> None:
    with database.server.admin() as admin:
        admin.execute("CREATE ROLE stranger LOGIN")
    assert isinstance(failure(database.address("stranger"), 2), NotPermitted)
    assert isinstance(failure(database.address("nobody_there"), 2), HubUnavailable)


def test_a_database_that_is_no_hub(empty_database: Database) -> None:
    assert isinstance(failure(empty_database.address(), 2), HubVersion)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{_PASSWORD}@db.example.org/memory",
        f"postgresql://db.example.org/memory?user=ada&password={_PASSWORD}",
        f"host=db.example.org password={_PASSWORD}",
        f"postgresql://ada:{_PASSWORD}@db.example.org:x:y/memory",
        f"nonsense {_PASSWORD}",
    ],
)
def test_an_address_with_a_password_or_without_sense_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        hub_address(url)
    assert _PASSWORD not in caught.value.message + caught.value.hint


def test_an_address_is_shown_without_its_password() -> None:
    shown = hub_address(f"postgresql://ada:{_PASSWORD}@db.example.org:7/memory", from_environment=True).shown()
    assert shown == "db.example.org:7/memory"
    assert hub_address("-").shown() == "the hub of the environment"
