"""The hub fails in every way: local verbs answer as before, nothing waits too long, no password is shown."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.extensions.hub.hub_vaults import Hub
from tests.extensions.hub.members import Member, ana, hub, new_member

__all__ = ["ana", "hub", "new_member"]

QUESTION = "which port does the gateway use?"
LIMIT = 0.5
PASSWORD = "tr0ub4dor-and-3"


@pytest.fixture
def lone(new_member: Callable[[str], Member]) -> Member:
    """A vault with one fact and a short limit of time, connected to nothing."""
    member = new_member("lone")
    member.keep("The gateway is written in Go.")
    assert member("config", "set", "org.timeout_seconds", str(LIMIT)).code == 0
    return member


@contextmanager
def listener(answer: bytes | None) -> Iterator[str]:
    """A server that accepts and says `answer`, or nothing; gives the address of its hub."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(0.05)
        items: list[socket.socket] = []
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                with suppress(OSError):  # nobody came, or they left again
                    items.append(server.accept()[0])
                    if answer is not None:
                        items[-1].sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"postgresql://ana@127.0.0.1:{server.getsockname()[1]}/clawmem?sslmode=disable"
        finally:
            ended.set()
            thread.join()
            for other in items:
                other.close()


def check_answers_alone(member: Member, url: str, why: str) -> None:
    """Check that `recall --org` gives the vault's own part with one notice, and the same lines as without."""
    alone = member("recall", QUESTION)
    assert (alone.code, alone.err) == (0, "") and "written in Go" in alone.out
    result = member("recall", QUESTION, "--org", env={"CLAWMEM_ORG_URL": url})
    assert (result.code, result.out) == (4, alone.out), result
    assert result.err.count("without the organisation") == 1 and why in result.err, result.err
    text = member("context", QUESTION)
    with_org = member("context", QUESTION, "--org", env={"CLAWMEM_ORG_URL": url})
    assert (with_org.code, with_org.out) == (4, text.out)
    status = member("org", "status", "--json", env={"CLAWMEM_ORG_URL": url})
    assert status.code == 4 and status.data["reachable"] is False
    for words in (("org", "query", QUESTION), ("org", "pull"), ("org", "review")):
        failed = member(*words, env={"CLAWMEM_ORG_URL": url})
        assert failed.code == 1 and why in failed.err, (words, failed)


def test_nothing_listens(lone: Member) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        check_answers_alone(lone, f"postgresql://127.0.0.1:{port}/clawmem", "cannot be reached")


def test_a_server_that_accepts_and_says_nothing(lone: Member) -> None:
    with listener(None) as url:
        check_answers_alone(lone, url, "did not answer in time")


def test_a_server_of_another_kind(lone: Member) -> None:
    with listener(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url:
        check_answers_alone(lone, url, "cannot be reached")


def test_a_name_that_no_server_has(lone: Member) -> None:
    result = lone("recall", QUESTION, "--org", env={"CLAWMEM_ORG_URL": "postgresql://hub.invalid/clawmem"})
    assert result.code == 4 and "without the organisation" in result.err


def test_an_address_that_cannot_be_read(lone: Member) -> None:
    check_answers_alone(lone, "postgresql://a:b:c@[/x", "The address of the hub cannot be read.")


def test_a_query_that_hangs(hub: Hub, ana: Member) -> None:
    ana.keep("The gateway is written in Go.")
    ana("config", "set", "org.timeout_seconds", str(LIMIT))
    alone = ana("recall", QUESTION).out
    with hub.database.server.admin(hub.database.name) as admin:
        admin.autocommit = False
        admin.execute("LOCK TABLE clawmem.fact, clawmem.organisation IN ACCESS EXCLUSIVE MODE")
        result = ana("recall", QUESTION, "--org")
        admin.rollback()
    assert (result.code, result.out) == (4, alone) and "did not answer in time" in result.err


# What is not taken back comes last.
_REFUSALS = (
    (
        "INSERT INTO clawmem.migration (number, name, digest) VALUES (9999, 'later', 'x')",
        "DELETE FROM clawmem.migration WHERE number = 9999",
        "newer than this program",
    ),
    (
        "DELETE FROM clawmem.migration WHERE number = 20",
        "INSERT INTO clawmem.migration (number, name, digest) VALUES (20, 'promotions', 'x')",
        "older than this program",
    ),
    ("ALTER ROLE ana CONNECTION LIMIT 0", "ALTER ROLE ana CONNECTION LIMIT -1", "no free connection"),
    ("ALTER ROLE ana NOLOGIN", "ALTER ROLE ana LOGIN", "cannot be reached"),
    ("DELETE FROM clawmem.account WHERE role_name = 'ana'", "SELECT 1", "no member of an organisation"),
    (
        "REVOKE clawmem_member FROM ana GRANTED BY hub_owner",
        "SELECT 1",
        "has no rights at the hub, or not any more",
    ),
)


def test_a_hub_that_refuses(hub: Hub, ana: Member) -> None:
    ana.keep("The gateway is written in Go.")
    alone = ana("recall", QUESTION)
    with hub.database.server.admin(hub.database.name) as admin:
        for change, back, why in _REFUSALS:
            admin.execute(change)
            result = ana("recall", QUESTION, "--org")
            admin.execute(back)
            assert (result.code, result.out) == (4, alone.out), result
            assert why in result.err and result.err.count("\n") == 1, result.err


def test_a_read_only_replica_answers_and_changes_nothing(hub: Hub, ana: Member) -> None:
    fact = ana.keep("The gateway listens on port 8123.")
    hub.take_in("alpha", "team-a", ana.root)
    with hub.database.server.admin() as admin:
        admin.execute(f"ALTER DATABASE {hub.database.name} SET default_transaction_read_only = on")
    assert [other_fact["id"] for other_fact in ana("org", "query", QUESTION, "--json").data["facts"]] == [fact]
    assert ana("recall", QUESTION, "--org").code == 0
    result = ana("org", "promote", fact)
    assert result.code == 1 and "read-only replica" in result.err


_WITH_PASSWORD = (
    f"postgresql://ana:{PASSWORD}@hub.example/clawmem",
    f"postgresql://ana@hub.example/clawmem?password={PASSWORD}",
    f"postgresql://ana@hub.example/clawmem?sslpassword={PASSWORD}",
    f"postgresql://hub.example/clawmem?user=ana&%70assword={PASSWORD}",
    f"host=hub.example dbname=clawmem user=ana password={PASSWORD}",
    f"host=hub.example password = '{PASSWORD}'",
    f"postgres://ana:{PASSWORD}@hub.example:port/clawmem",
    f"postgresql://ana:{PASSWORD}",
    f"ana:{PASSWORD}@hub.example/clawmem",
)


def test_a_password_is_never_stored_or_shown(lone: Member) -> None:
    local = lone.root / ".git" / "clawmem" / "local.yaml"
    kept = local.read_bytes() if local.exists() else None
    for url in _WITH_PASSWORD:
        for words in (
            ("org", "connect", url),
            ("config", "set", "org.url", url),
            ("config", "set", "--user", "org.url", url),
        ):
            result = lone(*words)
            assert result.code in (1, 2) and PASSWORD not in result.out + result.err, (words, result)
        local.parent.mkdir(exist_ok=True)
        local.write_text(f"org:\n  url: {url!r}\n")
        for command in (["org", "status"], ["recall", QUESTION, "--org"], ["config", "list"], ["doctor"]):
            result = lone(*command)
            assert PASSWORD not in result.out + result.err, (command, result)
        local.unlink() if kept is None else local.write_bytes(kept)


def test_a_password_of_the_environment_is_used_and_not_shown(lone: Member) -> None:
    with listener(None) as url:
        secret = url.replace("ana@", f"ana:{PASSWORD}@")
        for words in (("org", "status"), ("recall", QUESTION, "--org"), ("org", "query", QUESTION)):
            result = lone(*words, env={"CLAWMEM_ORG_URL": secret})
            assert result.code in (1, 4) and PASSWORD not in result.out + result.err
    result = lone("org", "status", env={"CLAWMEM_ORG_URL": f"postgresql://ana:{PASSWORD}@127.0.0.1:1/x"})
    assert result.code == 4 and PASSWORD not in result.out + result.err
    assert PASSWORD not in _everything_in(lone.root)


def _everything_in(root: Path) -> str:
    return "".join(path.read_bytes().decode(errors="replace") for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "words",
    [["recall", "gateway"], ["remember", "A boat is red."]],
    ids=lambda other: other[0],
)
def test_hot_verbs_do_not_load_the_client_of_the_hub(lone: Member, words: list[str]) -> None:
    loaded = (
        "import sys\nfrom clawmem.faces.cli.plain import run_plain\n"
        "try:\n    run_plain(sys.argv[1:])\nexcept BaseException:\n    pass\n"
        "print([one for one in sys.modules if 'psycopg' in one or '.hub' in one or '.bridge' in one])"
    )
    process = subprocess.run(
        [sys.executable, "-c", loaded, *words], cwd=lone.root, env=lone.environment, capture_output=True, text=True
    )
    assert process.stdout.endswith("\n[]\n"), process.stdout + process.stderr
