"""The hook of a prompt beside a running server: it says the same, as the same caller, and needs no server."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawmem.faces.mcp.server import beside_hooks
from clawmem.faces.prompt_hook import ENDING, EVENTS, PREFIX, READY, all_of
from clawmem.model.harness import DELEGATED, HARNESSES, PLAIN, PROMPT, events_of
from clawmem.vault.git.acceptance import accept
from clawmem.vault.git.folder import SERVER_SOCKET
from tests.command_server import CommandServer
from tests.trees import Tree

FACT = "Jane lives in Leeds."
ASKED = json.dumps({"prompt": "Where does Jane live?", "session_id": "s1"})
Server = subprocess.Popen[bytes]


@pytest.fixture
def root(newborn: Tree, environment: dict[str, str], command_server: CommandServer) -> Iterator[Path]:
    """A vault with a fact below a short path: the name of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        root = newborn.write(Path(folder, "vault"))
        accept(root / ".git", environment)
        kept = command_server.run(("remember", FACT), b"", root, environment, seconds=300)
        assert kept.returncode == 0, kept
        yield root


@pytest.fixture
def start(root: Path, environment: dict[str, str]) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def run(**variables: str) -> Server:
        command = [sys.executable, "-m", "clawmem", "--vault", str(root), "mcp"]
        pipe = subprocess.PIPE
        server = subprocess.Popen(command, env={**environment, **variables}, stdin=pipe, stdout=pipe)
        servers.append(server)
        assert server.stdin
        assert server.stdout
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"] == {}
        return server

    yield run
    for server in servers:
        server.kill()
        server.wait()
        for pipe in (server.stdin, server.stdout):
            assert pipe
            pipe.close()


def sockets(root: Path) -> list[Path]:
    return [path for path in (root / ".git/clawmem").iterdir() if path.is_socket()]


def hook(
    root: Path, environment: dict[str, str], text: str = ASKED, more: tuple[str, ...] = (), **variables: str
) -> tuple[str, bool]:
    """What the hook prints, and whether it did the work itself: it then loaded what finds a vault."""
    command = [sys.executable, "-X", "importtime", "-m", "clawmem"]
    words = ["hook", "UserPromptSubmit", "--harness", "claude-code", "--vault", str(root)]
    env = {**environment, **variables}
    process = subprocess.run([*command, *words, *more], env=env, input=text, capture_output=True, text=True, check=True)
    return process.stdout, "clawmem.vault.vault" in process.stderr


def test_a_running_server_says_what_the_hook_would_say(
    root: Path, environment: dict[str, str], start: Callable[..., Server]
) -> None:
    alone, itself = hook(root, environment)
    assert FACT in alone
    assert itself
    server = start()
    assert [path.stat().st_mode & 0o777 for path in sockets(root)] == [0o600]
    other_session = ASKED.replace("s1", "s2")
    assert hook(root, environment, other_session) == (alone, False)
    assert hook(root, environment, other_session) == ("", False)  # given once in a session
    assert server.stdin
    server.stdin.close()
    assert server.wait(timeout=60) == 0
    assert sockets(root) == []
    assert hook(root, environment, ASKED.replace("s1", "s3")) == (alone, True)


def test_it_answers_the_viewer_of_the_hook(
    root: Path, environment: dict[str, str], start: Callable[..., Server], command_server: CommandServer
) -> None:
    (root / "governance").mkdir(exist_ok=True)
    policy = "people: {jane: {name: Jane}, ben: {}, claude-code: {role: owner}}\nkinds: {home: Where.}\n"
    (root / "governance/access.yaml").write_text(f"{policy}rules: [{{role: owner, may: all}}]\n")
    found = command_server.run(("list", "--json"), b"", root, environment, seconds=300)
    (fact,) = json.loads(found.stdout)["data"]["facts"]
    mark = ("access", "mark", fact["id"], "--kind", "home", "--about", "jane")
    assert command_server.run(mark, b"", root, environment, seconds=300).returncode == 0
    start()
    for name in ("jane", "ben"):
        asked = ASKED.replace("s1", name)
        given, itself = hook(root, environment, asked, ("--viewer", name))
        assert (FACT in given, itself) == (name == "jane", False)


def test_it_is_the_hooks_own_environment_that_counts(
    root: Path, environment: dict[str, str], start: Callable[..., Server]
) -> None:
    start(CLAWMEM_AGENT="other", CLAWMEM_NOW="2027-11-21T09:30:00Z")
    assert FACT in hook(root, environment)[0]
    assert hook(root, environment, ASKED.replace("s1", "s2"), CLAWMEM_READER="1") == ("", False)
    marks = json.loads(next((root / ".git/clawmem/hooks").glob("*.json")).read_text())
    assert "claude-code" in json.dumps(marks)
    assert "2026-11-21T09:30:00Z" in json.dumps(marks)
    assert "2027" not in json.dumps(marks)


def test_its_notes_are_printed_a_line_each(
    root: Path, environment: dict[str, str], start: Callable[..., Server]
) -> None:
    planted = {**environment, "XDG_CONFIG_HOME": str(root / "config")}
    words = ["hook", "UserPromptSubmit", "--harness", "claude-code", "--vault", str(root)]

    def notes() -> str:
        command = [sys.executable, "-m", "clawmem", *words]
        return subprocess.run(command, env=planted, input=ASKED, capture_output=True, text=True, check=True).stderr

    alone = notes()
    assert alone.startswith("note: XDG_CONFIG_HOME is")
    start()
    assert notes() == alone


def test_a_socket_of_the_same_process_number_is_replaced(root: Path) -> None:
    path = root / ".git/clawmem" / f"{PREFIX}{os.getpid()}{ENDING}"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    with tempfile.TemporaryFile() as source, beside_hooks(source, path.parent, lambda: None) as beside:
        assert beside is not source
        assert path.is_socket()
    assert not path.exists()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_has_ended_or_is_busy_holds_nobody_up(
    end: int, root: Path, environment: dict[str, str], start: Callable[..., Server]
) -> None:
    server = start()
    server.send_signal(end)
    if end == signal.SIGKILL:
        server.wait(timeout=60)
    text, itself = hook(root, environment)
    assert FACT in text
    assert itself
    assert len(sockets(root)) == (0 if end == signal.SIGKILL else 1)


def test_a_server_that_ends_in_the_middle_leaves_the_work_to_the_hook(root: Path, environment: dict[str, str]) -> None:
    path = root / ".git/clawmem" / f"{PREFIX}1{ENDING}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        child = os.fork()
        if child == 0:
            connection = listener.accept()[0]
            connection.sendall(READY)
            all_of(connection)
            os._exit(0)
        text, itself = hook(root, environment)
        os.waitpid(child, 0)
    assert FACT in text
    assert itself


@pytest.mark.parametrize(
    "words",
    [
        ["remember", "Jane lives in York.", "--harness", "claude-code", "--vault", "."],
        ["hook", "SessionEnd", "--harness", "claude-code", "--vault", "."],
        ["hook", "UserPromptSubmit", "--harness", "nobody", "--vault", "."],
    ],
)
def test_a_server_does_nothing_else(words: list[str], root: Path, start: Callable[..., Server]) -> None:
    server = start()
    head = [str(root), *words, f"HOME={root.parent}", ""]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(sockets(root)[0]))
        assert connection.recv(1) == READY
        connection.sendall("\0".join([*head, ASKED]).encode())
        connection.shutdown(socket.SHUT_WR)
        assert all_of(connection) == b""
    assert server.poll() is None
    assert not (root / ".git/clawmem/hooks").exists()


def test_the_messages_of_the_client_go_on_beside_it(
    root: Path, environment: dict[str, str], start: Callable[..., Server]
) -> None:
    server = start()
    assert server.stdin
    assert server.stdout
    for number in range(3):
        assert hook(root, environment, ASKED.replace("s1", f"s{number}"))[1] is False
        for request in (number * 2 + 2, number * 2 + 3):  # two lines in one piece
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": request, "method": "ping"}).encode() + b"\n")
        server.stdin.flush()
        ids = [json.loads(server.stdout.readline())["id"] for _ in range(2)]
        assert ids == [number * 2 + 2, number * 2 + 3]


def test_the_events_are_those_that_give_a_text() -> None:
    tables = [*map(events_of, HARNESSES), PLAIN]
    assert set(EVENTS) == {name for table in tables for name, what in table.items() if what in (PROMPT, DELEGATED)}


def test_only_a_socket_may_lie_in_the_state_folder(root: Path, environment: dict[str, str]) -> None:
    assert ENDING == SERVER_SOCKET
    os.mkfifo(root / ".git/clawmem" / f"{PREFIX}1{ENDING}")
    command = [sys.executable, "-m", "clawmem", "--vault", str(root), "status"]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "is not a regular file" in process.stderr
