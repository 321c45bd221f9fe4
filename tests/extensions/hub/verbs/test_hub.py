"""`clawmem hub`, from an empty database to a redaction, as the real command."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.errors import HubUnavailable
from clawmem.extensions.hub.postgres.connect import HubAddress, connect
from tests.conftest import Command, Result
from tests.extensions.hub.postgres.hubs import PATH, WORKER, History, add, fact, items, make_worker, verified
from tests.extensions.hub.postgres.server import OWNER, Database, database, empty_database, server

__all__ = ["database", "empty_database", "server"]
_SECRET = "correct-horse-battery"


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "source")
    made.commit({PATH: items(fact("fact_1", "Jane likes tea."), fact("fact_2", f"The password is {_SECRET}."))})
    return made


def hub(clawmem: Command, hub: Database, *words: str, role: str = OWNER, **more: str) -> Result:
    return clawmem("hub", *words, "--json", env={"CLAWMEM_HUB_URL": hub.url(role), **more})


def test_a_hub_from_init_to_a_redaction(
    clawmem: Command, empty_database: Database, history: History, tmp_path: Path
) -> None:
    def call(*words: str, role: str = OWNER) -> Result:
        return hub(clawmem, empty_database, *words, role=role)

    assert call("init", empty_database.url(), "--org", "acme").data["added"] == "acme"
    again = call("init", empty_database.url(), "--org", "acme").data
    assert (again["applied"], again["added"]) == ([], None)
    assert call("vault", "add", str(history.root), "--scope", "team-a").data["vault"].startswith("vault_")
    assert call("user", "add", "wanda", "--worker").data["made"]
    assert call("user", "add", "ann", "--scope", "team-a", "--may", "promote").data["made"]
    (taken,) = call("worker", "--once", role="wanda").data["vaults"]
    assert (taken["commits"], taken["facts"], taken["problem"]) == (1, 2, None)
    shown = call("status").data
    assert shown["organisations"][0]["members"] == [{"user": "ann", "scope": "team-a", "may": ["read", "promote"]}]
    assert [vault["facts"] for vault in shown["vaults"]] == [2]
    assert call("verify").data["differences"] == []
    assert call("verify", "--redacted", _SECRET).code == 1
    history.git("commit", "--quiet", "--amend", "--allow-empty", "-m", "before")
    history.git("update-ref", "-d", "HEAD")
    history.commit({PATH: items(fact("fact_1", "Jane likes tea."), fact("fact_2", "The password is [redacted]."))})
    (taken,) = call("worker", "--once", role="wanda").data["vaults"]
    assert taken["rewritten"]
    assert call("verify", "--redacted", _SECRET, "--vacuum").data["found"] == []
    assert call("verify").data["differences"] == []
    state = call("state", str(history.root)).data
    assert [other_fact["claim"] for other_fact in state["facts"]] == ["Jane likes tea.", "The password is [redacted]."]
    assert call("user", "revoke", "ann").data["scopes"] == ["team-a"]
    assert call("vault", "remove", str(history.root), "--purge").data["emptied"] > 0


def test_a_worker_has_no_scope_and_status_lists_it(clawmem: Command, database: Database) -> None:
    for more in (("--scope", "organisation"), ("--may", "promote"), ("--org", "acme")):
        refused = hub(clawmem, database, "user", "add", "wanda", "--worker", *more)
        assert refused.code == 2 and "A worker has no scope" in refused.json["error"]["message"], refused
    assert hub(clawmem, database, "status").data["workers"] == []
    assert hub(clawmem, database, "user", "add", "wanda", "--worker").code == 0
    assert hub(clawmem, database, "status").data["workers"] == ["wanda"]


def test_a_new_scope_is_named_and_one_that_nothing_uses_is_removed(
    clawmem: Command, database: Database, history: History
) -> None:
    def scopes() -> list[str]:
        return [scope["scope"] for scope in hub(clawmem, database, "status").data["organisations"][0]["scopes"]]

    def vault(*words: str) -> Result:
        return hub(clawmem, database, "vault", *words)

    root = str(history.root)
    shown = clawmem("hub", "vault", "add", root, "--scope", "taem-a", env={"CLAWMEM_HUB_URL": database.url()})
    assert "new scope taem-a (team)" in shown.out
    assert vault("add", root, "--scope", "taem-a").data["new_scope"] is None
    assert vault("remove", root).data["removed_scopes"] == ["taem-a"] and scopes() == ["organisation"]
    assert vault("add", root, "--scope", "team-a").data["new_scope"] == "team-a"
    assert hub(clawmem, database, "user", "add", "ann", "--scope", "team-a").code == 0
    assert vault("remove", root).data["removed_scopes"] == [] and "team-a" in scopes()
    assert hub(clawmem, database, "user", "revoke", "ann").code == 0
    assert scopes() == ["organisation"]


def test_review_changes_only_when_asked_for(clawmem: Command, database: Database) -> None:
    def reviews() -> bool:
        return bool(hub(clawmem, database, "status").data["organisations"][0]["review"])

    def add(*words: str) -> Result:
        return clawmem("hub", "init", database.url(), "--org", "acme", *words)

    assert "updated the organisation acme: promotions wait for a person" in add("--review").out
    assert add("--name", "Acme Inc.").code == 0 and reviews()
    assert "promotions are shared at once" in add("--no-review").out and not reviews()
    assert add("--review", "--no-review").code == 2


def test_what_goes_wrong_is_said_in_a_sentence_without_credentials(
    clawmem: Command, database: Database, tmp_path: Path
) -> None:
    secret = "tops3cret"
    for words, code, says in (
        (("init", f"postgresql://ada:{secret}@localhost/memory"), 2, "contains a password"),
        (("vault", "add", f"https://ada:{secret}@git.example.org/x.git", "--scope", "a"), 2, "contains a password"),
        (("vault", "add", "nowhere", "--scope", "a"), 2, "neither the URL of a git remote nor a folder"),
        (("user", "add", "ann", "--scope", "nothing"), 1, "no scope 'nothing'"),
        (("user", "add", OWNER, "--scope", "organisation"), 1, "stands above row-level security"),
        (("user", "revoke", "nobody"), 1, "does not have any scope"),
    ):
        result = hub(clawmem, database, *words)
        assert (result.code, says in result.json["error"]["message"]) == (code, True), result
        assert secret not in result.out + result.err
    value = hub(clawmem, database, "status", "--hub", f"postgresql://ada:{secret}@localhost/x")
    assert value.json["error"]["message"] == "The address of the hub contains a password."
    down = clawmem("hub", "status", "--json", env={"CLAWMEM_HUB_URL": f"postgresql://ada:{secret}@127.0.0.1:1/x"})
    assert (down.code, down.json["error"]["code"]) == (1, "hub")
    assert secret not in down.out + down.err
    assert clawmem("hub", "status", "--json").json["error"]["message"] == "No hub is named."
    agent = hub(clawmem, database, "user", "add", "ann", "--scope", "organisation", CLAWMEM_AGENT="bot")
    assert agent.json["error"]["code"] == "not_permitted" and "who reads what" in agent.json["error"]["message"]
    assert "for a worker" in hub(clawmem, database, "user", "add", OWNER, "--worker").json["error"]["hint"]
    with database.server.admin(database.name) as admin:
        admin.execute("INSERT INTO clawmem.migration VALUES (9999, 'later', '')")
    newer = hub(clawmem, database, "status")
    assert (newer.code, newer.json["error"]["code"]) == (1, "hub_version")
    assert "newer than this program" in newer.json["error"]["message"]
    refused = hub(clawmem, database, "init", database.url())
    assert "newer than this program" in refused.json["error"]["message"]


def test_what_a_user_may_is_said_and_only_the_owner_changes_it(clawmem: Command, empty_database: Database) -> None:
    def call(*words: str, role: str = OWNER) -> Result:
        return clawmem("hub", *words, env={"CLAWMEM_HUB_URL": empty_database.url(role)})

    for org in ("acme", "globex"):
        assert call("init", empty_database.url(), "--org", org).code == 0
    add_rita = ("user", "add", "rita", "--scope", "organisation", "--org", "acme")
    assert "rita may now read, promote in organisation\n" in call(*add_rita, "--may", "promote").out
    assert "rita may now read in organisation; before: read, promote\n" in call(*add_rita).out
    by_member = call(*add_rita, role="rita")
    assert by_member.code == 1 and "rita does not own the hub" in by_member.err
    assert "sees nothing of organisation" in call("user", "revoke", "rita").out
    assert "has no rights at the hub, or not any more" in call("status", role="rita").err


def test_init_refuses_an_open_public_or_closes_it(clawmem: Command, empty_database: Database) -> None:
    def init(*words: str) -> Result:
        return clawmem("hub", "init", empty_database.url(), *words, "--json")

    def own_public(role: str) -> None:
        with empty_database.server.admin(empty_database.name) as admin:
            admin.execute(f"ALTER SCHEMA public OWNER TO {role}")
            admin.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")

    own_public(OWNER)
    refused = init("--org", "acme")
    assert refused.code == 1 and "PUBLIC may create objects in the schema public" in refused.json["error"]["message"]
    assert "--close-public" in refused.json["error"]["hint"]
    with connect(empty_database.address()) as owner:
        assert owner.execute("SELECT to_regnamespace('clawmem')").fetchone() == (None,)
    assert init("--org", "acme", "--close-public").data["closed"] == ["PUBLIC"]
    assert init().code == 0 and init("--close-public").data["closed"] == []
    # A user of the hub, or a group of theirs.
    assert clawmem("hub", "user", "add", "ann", "--scope", "organisation", "--hub", empty_database.url()).code == 0
    with empty_database.server.admin(empty_database.name) as admin:
        admin.execute('CREATE ROLE "some Staff"')
        admin.execute('GRANT CREATE ON SCHEMA public TO "some Staff"')
        assert init().code == 0
        admin.execute('GRANT "some Staff" TO ann')
    assert "some Staff may create" in init().json["error"]["message"]
    assert init("--close-public").data["closed"] == ["some Staff"] and init().code == 0
    # Only the owner of the schema can close it, and nothing is said to be closed that is not.
    own_public("postgres")
    refused = init("--close-public")
    assert refused.code == 1 and refused.json["error"]["hint"].startswith("Its owner runs: REVOKE CREATE")


def test_a_silent_server_did_not_answer_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = HubAddress(f"postgresql://ada@127.0.0.1:{silent.getsockname()[1]}/x?sslmode=disable")
        with pytest.raises(HubUnavailable, match="did not answer in time"):
            connect(address, to_connect=2)


def test_a_worker_goes_on_by_itself_also_after_the_hub_was_away(
    database: Database, history: History, environment: dict[str, str]
) -> None:
    make_worker(database)
    add(database, history.root)
    words = [sys.executable, "-m", "clawmem", "hub", "worker", "--every", "0.1", "--embed-seconds", "0"]
    variables = {**environment, "CLAWMEM_HUB_URL": database.url(WORKER)}
    with subprocess.Popen(words, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = json.loads(process.stdout.readline())
        assert (first["event"], first["facts"]) == ("vault", 2)
        with database.server.admin() as admin:
            admin.execute(f"ALTER DATABASE {database.name} CONNECTION LIMIT 0")
            away = json.loads(process.stdout.readline())
            assert away["event"] == "hub" and "no free connection" in away["problem"]
            admin.execute(f"ALTER DATABASE {database.name} CONNECTION LIMIT -1")
        history.commit({PATH: items(fact("fact_1", "Jane likes coffee."))})
        back = next(one for line in process.stdout if (one := json.loads(line))["event"] == "vault")
        assert back["commits"] == 1
        process.terminate()
    verified(database)
