"""The record of clients over HTTP: how many nobody allowed it keeps, and what a record that is damaged allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.errors import NotFound
from clawmem.memory.remote_clients import RemoteClient, RemoteClients
from clawmem.vault.vault import Vault

HOUR = 3_600


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def clients(vault: Vault, clock: Clock) -> RemoteClients:
    return RemoteClients(vault, clock)


def register(clients: RemoteClients, name: str) -> RemoteClient:
    """A new client."""
    client = RemoteClient(name, name, ("https://app.example/back",), clients.now())
    clients.register(client)
    return client


def allowed(clients: RemoteClients, name: str) -> RemoteClient:
    """A client that a person allowed."""
    asking = clients.ask(register(clients, name).id, "https://app.example/back")
    client = clients.allow(asking, clients.new_code(asking, name))
    assert client is not None
    return client


def test_clients_that_nobody_allowed_are_few_and_forgotten(clients: RemoteClients, clock: Clock) -> None:
    phone = allowed(clients, "phone")
    waiting = clients.ask(register(clients, "waits").id, "https://app.example/back")
    code = clients.new_code(waiting, "waits")
    for number in range(150):
        register(clients, f"stranger-{number}")
    assert len(clients.all()) == 102 and "stranger-149" in clients.all()
    assert clients.allow(waiting, code) is not None
    clock.seconds += HOUR
    register(clients, "last")
    assert set(clients.all()) == {phone.id, "waits", "last"}


def test_a_request_is_over_after_ten_minutes(clients: RemoteClients, clock: Clock) -> None:
    asking = clients.ask(register(clients, "phone").id, "https://app.example/back")
    code = clients.new_code(asking, "phone")
    assert clients.waiting(asking[:6].lower()).id == "phone"
    clock.seconds += 600
    assert clients.allow(asking, code) is None
    with pytest.raises(NotFound):
        clients.waiting(asking[:6])


def test_a_code_may_be_typed_in_any_way(clients: RemoteClients) -> None:
    asking = clients.ask(register(clients, "phone").id, "https://app.example/back")
    code = clients.new_code(asking, "phone")
    assert clients.allow(asking, f" {code.lower().replace('-', ' ')} ") is not None


def test_a_damaged_record_allows_nobody(clients: RemoteClients, vault: Vault) -> None:
    access, refresh = clients.grant(allowed(clients, "phone").id, "https://memory.example/mcp")
    assert clients.of_access(access) is not None and clients.of_access(refresh) is None
    (record,) = Path(vault.environment["HOME"], ".config/clawmem/remote").glob("*.json")
    for text in ("{", "[]", '{"clients": [{"id": 3}]}', '{"clients": 3}', "\xff"):
        record.write_text(text, encoding="latin-1")
        assert clients.of_access(access) is None and not clients.all()
    with pytest.raises(NotFound):
        clients.grant("phone", "https://memory.example/mcp")


def test_a_record_that_cannot_be_read_is_not_replaced(clients: RemoteClients, vault: Vault) -> None:
    allowed(clients, "phone")
    (record,) = Path(vault.environment["HOME"], ".config/clawmem/remote").glob("*.json")
    record.rename(record.with_suffix(".kept"))
    record.mkdir()
    with pytest.raises(OSError):
        clients.all()
    with pytest.raises(OSError):
        register(clients, "tablet")
    record.rmdir()
    record.with_suffix(".kept").rename(record)
    assert set(clients.all()) == {"phone"}


def test_another_vault_has_other_clients(clients: RemoteClients, vault: Vault, tmp_path: Path, clock: Clock) -> None:
    allowed(clients, "phone")
    (tmp_path / "other/.git").mkdir(parents=True)
    assert not RemoteClients(Vault(tmp_path / "other", vault.environment), clock).all()


def test_an_id_names_its_client_whatever_another_one_calls_itself(clients: RemoteClients) -> None:
    phone = allowed(clients, "phone")
    clients.register(RemoteClient("rival", phone.id, ("https://app.example/back",), clients.now()))
    asking = clients.ask("rival", "https://app.example/back")
    assert clients.allow(asking, clients.new_code(asking, "rival")) is not None
    assert clients.revoke(phone.id).name == "phone"
    assert set(clients.all()) == {"rival"}
