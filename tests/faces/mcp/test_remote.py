"""`clawmem mcp --http` as a process: who gets in, as whom, and what is refused."""

from __future__ import annotations

import asyncio
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from clawmem.errors import REFUSED, USAGE
from clawmem.faces.mcp.server import INSTRUCTIONS, MESSAGE_BYTES
from clawmem.faces.mcp.tools import tool_list
from clawmem.vault.disk import writer_lock
from clawmem.vault.git.acceptance import accept
from tests.conftest import Command, _environment
from tests.faces.mcp.remote import BACK, Remote, handle_of
from tests.faces.mcp.test_official_client import text_of
from tests.index.tables.test_rights import POLICY
from tests.trees import Tree

Serve = Callable[..., Remote]
LATER = "2026-11-21T10:31:00Z"


@pytest.fixture
def serve(vault_root: Path, environment: dict[str, str]) -> Iterator[Serve]:
    """Start servers of one vault, which end with the test."""
    servers: list[Remote] = []

    def start(*words: str, port: int | None = None, **more: str) -> Remote:
        servers.append(Remote(vault_root, {**environment, **more}, *words, port=port))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.close()


@pytest.fixture(scope="module")
def server(newborn: Tree, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A server of a vault of its own, for tests that need no other one."""
    folder = tmp_path_factory.mktemp("remote")
    environment = _environment(folder / "home")
    root = newborn.write(folder / "vault")
    accept(root / ".git", environment)
    found = Remote(root, environment)
    yield found
    found.close()


class Browser:
    """The owner's browser, and the address of a client that it is led back to."""

    def __init__(self, server: Remote) -> None:
        browser = self

        class Back(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                browser.back = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = server
        self._listener = HTTPServer(("127.0.0.1", 0), Back)
        self.address = f"http://127.0.0.1:{self._listener.server_port}/back"
        self.back: dict[str, str] = {}

    def visit(self, url: str) -> None:
        """Follow an address of the server, get a code from the terminal, type it, and go where that leads."""
        parts = urlsplit(url)
        asked = urlsplit(self._server.ask("GET", f"{parts.path}?{parts.query}").headers["location"])
        page = f"{asked.path}?{asked.query}"
        place = urlsplit(self._server.form(page, code=self._server.code(page)).headers["location"])
        thread = Thread(target=self._listener.handle_request)
        thread.start()
        connection = HTTPConnection(place.netloc)
        connection.request("GET", f"{place.path}?{place.query}")
        connection.getresponse().read()
        connection.close()
        thread.join()
        self._listener.server_close()


async def visit(server: Remote, browser: Browser, mode: str) -> dict[str, Any]:
    """What the official client gets, from its registration on."""
    import httpx2
    from mcp import Client
    from mcp.client.auth import OAuthClientProvider
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

    class Kept:
        tokens = client = None

        async def get_tokens(self) -> Any:
            return self.tokens

        async def set_tokens(self, tokens: Any) -> None:
            self.tokens = tokens

        async def get_client_info(self) -> Any:
            return self.client

        async def set_client_info(self, client_info: Any) -> None:
            self.client = client_info

    async def redirect(url: str) -> None:
        await asyncio.to_thread(browser.visit, url)

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(browser.back)

    about = OAuthClientMetadata.model_validate({"client_name": "Phone App", "redirect_uris": [browser.address]})
    login = OAuthClientProvider(server.url, about, Kept(), redirect, callback)
    async with (
        httpx2.AsyncClient(auth=login) as http,
        Client(streamable_http_client(server.url, http_client=http), mode=mode) as client,
    ):
        return {
            "version": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools],
            "stored": text_of(await client.call_tool("remember", {"text": f"Jane drinks tea ({mode})."})),
            "found": text_of(await client.call_tool("recall", {"question": "what does Jane drink?"})),
            "wrong": text_of(await client.call_tool("recall", {"query": "x"})),
        }


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_is_allowed_once_and_is_an_agent(server: Remote, mode: str, version: str) -> None:
    before = {row["id"] for row in server.data("mcp", "clients")["clients"]}
    seen = asyncio.run(visit(server, Browser(server), mode))
    assert seen["version"] == version
    assert seen["tools"] == tool_list() and seen["instructions"] == INSTRUCTIONS
    assert f"Jane drinks tea ({mode})." in seen["found"] and "It takes question" in seen["wrong"]
    (client,) = [row for row in server.data("mcp", "clients")["clients"] if row["id"] not in before]
    assert client["agent"].startswith("phone-app") and client["name"] == "Phone App"
    fact = server.data("show", seen["stored"].split()[1])["fact"]
    assert (fact["agent"], fact["trust"]) == (client["agent"], "agent")
    assert client["agent"] in server.run("log").stdout.decode().splitlines()[0]


def test_what_is_no_request_of_a_client_that_was_allowed(server: Remote) -> None:
    refused = server.call(None, "tools/list")
    assert refused.status == 401
    assert (
        f'resource_metadata="http://{server.host}/.well-known/oauth-protected-resource/mcp"'
        in (refused.headers["www-authenticate"])
    )
    about = server.ask("GET", "/.well-known/oauth-protected-resource/mcp").json
    assert about["resource"] == server.url and about["authorization_servers"] == [f"http://{server.host}"]
    about = server.ask("GET", "/.well-known/oauth-authorization-server").json
    assert about["issuer"] == f"http://{server.host}" and about["code_challenge_methods_supported"] == ["S256"]
    _, tokens = server.client()
    token = tokens["access_token"]
    assert server.call(token, "tools/list").status == 200
    for wrong in ("x", f"{token}x", token.partition(".")[0], f"{token.partition('.')[0]}.", tokens["refresh_token"]):
        assert server.call(wrong, "tools/list").status == 401
    for host in ("evil.example", "127.0.0.1", f"127.0.0.1:{server.port}.evil.example", "-", f"evil@{server.host}"):
        assert server.ask("POST", "/mcp", host=host).status in (400, 421)
        assert server.ask("GET", "/.well-known/oauth-authorization-server", host=host).status in (400, 421)
    assert server.call(token, "tools/list", [("Host", "evil.example")]).status == 400
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"http://{server.host}.evil.example"):
        assert server.call(token, "tools/list", [("Origin", origin)]).status == 403
        assert server.ask("POST", "/register", b"{}", [("Origin", origin)]).status == 403
    assert server.call(token, "tools/list", [("Origin", f"http://{server.host}")]).status == 200
    assert server.call(token, "tools/list", [("Authorization", "Bearer x")]).status == 400
    assert server.call(None, "tools/list", [("X-Forwarded-Host", "evil.example")]).status == 401
    bearer = [("Authorization", f"Bearer {token}")]
    assert [server.ask(method, "/mcp", headers=bearer).status for method in ("GET", "DELETE", "PUT")] == [405] * 3
    assert server.ask("POST", f"/mcp?access_token={token}").status == 401
    assert server.ask("POST", "/mcp/", headers=bearer).status == 404
    assert server.call(token, "tools/call", name="recall", arguments={"question": "x" * MESSAGE_BYTES}).status == 413
    assert server.ask("POST", "/register", b"x" * 70_000).status == 413
    assert "no tool" in server.call(token, "tools/call", name="forget", arguments={}).json["error"]["message"]


def test_a_number_that_json_does_not_have_is_not_stored(server: Remote) -> None:
    token = server.client()[1]["access_token"]
    for number in (float("nan"), float("inf")):
        arguments = {"text": "Nan drinks tea.", "importance": number}
        reply = server.call(token, "tools/call", name="remember", arguments=arguments)
        assert reply.status == 400 or reply.json["result"]["isError"], reply
    assert "Nan" not in server.run("list").stdout.decode()


def test_a_code_works_once_for_the_client_that_asked(server: Remote) -> None:
    client = server.register().json["client_id"]
    other = server.register().json["client_id"]
    asked = server.authorize(client, resource="https://evil.example/mcp")
    assert asked.back["error"] == "invalid_target" and asked.headers["location"].startswith(BACK)
    asked = server.authorize(client, redirect_uri="https://evil.example/back")
    assert asked.status == 400 and "location" not in asked.headers
    assert server.authorize("nobody").status == 400
    assert server.authorize(client, code_challenge_method="plain").back["error"] == "invalid_request"
    assert server.authorize(client, code_challenge="").back.get("error") != "server_error"

    def refused(asks: str, code: str, **fields: str) -> bool:
        reply = server.exchange(asks, code, **fields)
        return reply.status in (400, 401) and "access_token" not in reply.text

    assert refused(client, server.allowed(client), code_verifier="w" * 50)
    assert refused(client, server.allowed(client), redirect_uri="http://127.0.0.1:3/other")
    code = server.allowed(client)
    assert refused(other, code) and refused(client, f"{code}x")
    assert server.exchange(client, code).json["expires_in"] == 3600
    assert refused(client, code)


def test_a_port_of_loopback_may_differ_and_nothing_else(server: Remote) -> None:
    client = server.register("Editor", "http://127.0.0.1/back", "https://app.example/back").json["client_id"]
    assert "/allow?" in server.authorize(client, redirect_uri="http://127.0.0.1:4567/back").headers["location"]
    for uri in ("http://127.0.0.1:4567/other", "https://app.example:4567/back", "http://app.example/back"):
        assert server.authorize(client, redirect_uri=uri).status == 400
    for uri in (
        "http://evil.example/back",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://a@evil.example/",
        "x:y",
    ):
        assert server.register("Evil", uri).status == 400
    assert server.register("Evil", *[f"https://a.example/{n}" for n in range(11)]).status == 400


def test_a_token_to_renew_works_once_and_one_that_is_used_again_ends_all(server: Remote) -> None:
    client, first = server.client()
    other = server.register().json["client_id"]
    assert server.renew(other, first["refresh_token"]).status == 400
    second = server.renew(client, first["refresh_token"]).json
    assert server.call(first["access_token"], "tools/list").status == 401
    assert server.call(second["access_token"], "tools/list").status == 200
    assert server.renew(client, second["access_token"].partition(".")[0]).status == 400
    client, first = server.client("Tablet")
    second = server.renew(client, first["refresh_token"]).json
    assert server.renew(client, first["refresh_token"]).json["error"] == "invalid_grant"
    assert server.call(second["access_token"], "tools/list").status == 401
    assert server.renew(client, second["refresh_token"]).status == 400


def test_tokens_end_after_their_time_and_for_another_address(serve: Serve) -> None:
    server = serve()
    client, tokens = server.client()
    server.close()
    assert server.port
    later = serve(port=server.port, CLAWMEM_NOW=LATER)
    assert later.call(tokens["access_token"], "tools/list").status == 401
    renewed = later.renew(client, tokens["refresh_token"]).json
    assert later.call(renewed["access_token"], "tools/list").status == 200
    later.close()
    elsewhere = serve("--public-url", "https://memory.example.org", CLAWMEM_NOW=LATER)
    assert elsewhere.url == "https://memory.example.org/mcp"
    assert elsewhere.call(renewed["access_token"], "tools/list").status == 401
    assert elsewhere.ask("GET", "/allow", host=f"127.0.0.1:{elsewhere.port}").status == 404
    assert elsewhere.ask("GET", "/allow", host="evil.example").status == 421
    elsewhere.close()
    last = serve(port=server.port, CLAWMEM_NOW="2026-12-22T10:31:00Z")
    assert last.renew(client, renewed["refresh_token"]).status == 400


def test_a_client_that_is_revoked_ends_at_once(server: Remote) -> None:
    (client, tokens), (other, others) = server.client("Bag", "--as", "pocket"), server.client("Bag", "--as", "purse")
    assert server.call(tokens["access_token"], "tools/list").status == 200
    rows = {row["id"]: row["agent"] for row in server.data("mcp", "clients")["clients"]}
    assert (rows[client], rows[other]) == ("pocket", "purse")
    assert server.run("mcp", "clients", "revoke", "Bag").returncode == REFUSED
    stranger = server.register("pocket").json["client_id"]
    assert server.data("mcp", "clients", "revoke", "pocket")["revoked"]["id"] == client
    assert server.data("mcp", "clients", "revoke", stranger)["revoked"]["agent"] is None
    assert server.call(tokens["access_token"], "tools/list").status == 401
    assert server.renew(client, tokens["refresh_token"]).status == 401
    assert server.call(others["access_token"], "tools/list").status == 200
    assert server.form("/revoke", client_id=client, token=others["refresh_token"]).status == 401
    assert server.form("/revoke", client_id=other, token=others["refresh_token"]).status == 200
    assert server.call(others["access_token"], "tools/list").status == 401


def test_the_page_says_who_asks_and_takes_five_wrong_codes(server: Remote) -> None:
    client = server.register('<script>alert(1)</script>"\u202e').json["client_id"]
    page = server.page(client)
    shown = server.ask("GET", page)
    assert "&lt;script&gt;" in shown.text and "<script" not in shown.text and "\u202e" not in shown.text
    assert "<strong>127.0.0.1:3</strong>" in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert shown.headers["x-frame-options"] == "DENY" and shown.headers["cache-control"] == "no-store"
    other = server.code(server.page(server.register("Other").json["client_id"]))
    assert server.form(page, code=other).status == 403  # the code of another request, before it has one of its own
    code = server.code(page)
    for guess in ("", "AAAA-AAAA", other, "x" * 60_000):
        assert server.form(page, code=guess).status == 403
    assert server.form(page, code=code).status == 303
    assert server.form(page, code=code).status == 404
    page = server.page(client)
    code = server.code(page)
    assert [server.form(page, code=f"GUESS{number}").status for number in range(6)] == [403] * 5 + [404]
    assert server.form(page, code=code).status == 404
    assert server.ask("GET", "/allow?request=").status == 404
    assert server.run("mcp", "clients", "allow", handle_of(shown.text), "--yes").returncode == REFUSED


def test_no_agent_allows_or_serves_itself(server: Remote) -> None:
    client = server.register().json["client_id"]
    handle = handle_of(server.ask("GET", server.page(client)).text)
    for words, variables in (((), {"CLAUDECODE": "1"}), (("--agent", "scout"), {}), ((), {"CLAWMEM_AGENT": "scout"})):
        for command in (("allow", handle, "--yes"), ("revoke", client)):
            refused = server.run("mcp", "clients", *command, *words, **variables)
            assert refused.returncode == REFUSED and b"only a person" in refused.stderr
        refused = server.run("mcp", "--http", *words, **variables)
        assert refused.returncode == REFUSED and b"only a person" in refused.stderr
    assert server.run("mcp", "clients", "allow", handle).returncode == REFUSED
    assert server.run("mcp", "clients", "allow", handle, "--yes", "--as", "owner").returncode == USAGE
    assert {row["id"]: row["agent"] for row in server.data("mcp", "clients")["clients"]}[client] is None


def test_an_agent_has_the_rights_of_its_settings(server: Remote) -> None:
    token = server.client("Reader")[1]["access_token"]
    assert server.tool(token, "remember", text="Jane drinks tea.").startswith("remembered")
    server.data("config", "set", "agents.reader.read_only", "true")
    assert "may not change" in server.tool(token, "remember", text="Jane drinks cocoa.")
    server.data("config", "set", "agents.reader.verbs", "recall")
    assert "may not use" in server.tool(token, "context", question="Jane")
    assert "tea" in server.tool(token, "recall", question="What does Jane drink?")


def test_a_name_does_not_make_a_client_an_agent_that_is_there(server: Remote) -> None:
    names = ["Claude Code", "The Owner", "Twin", "Twin"]
    clients = [server.client(name)[0] for name in names]
    rows = {row["id"]: row["agent"] for row in server.data("mcp", "clients")["clients"]}
    assert [rows[client] for client in clients] == ["claude-code-2", "the-owner", "twin", "twin-2"]


def test_a_client_sees_what_its_agent_may_see(serve: Serve, clawmem: Command, vault_root: Path) -> None:
    (vault_root / "governance").mkdir(exist_ok=True)
    (vault_root / "governance/access.yaml").write_text(POLICY)
    (fact,) = clawmem("remember", "Lucia has a rash.", "-e", "areas/people/lucia", "--json").data["facts"]
    assert clawmem("access", "mark", fact["id"], "--kind", "health", "--about", "lucia").code == 0
    server = serve()
    answers = {}
    for agent in ("boss", "desk"):
        token = server.client(agent, "--as", agent)[1]["access_token"]
        answers[agent] = server.tool(token, "recall", question="What does Lucia have?")
    server.close()
    token = (server := serve("--viewer", "clara")).client("boss", "--as", "boss")[1]["access_token"]
    answers["boss for clara"] = server.tool(token, "recall", question="What does Lucia have?")
    assert {name: "rash" in answer.replace("rash'", "") for name, answer in answers.items()} == {
        "boss": True, "desk": False, "boss for clara": False,
    }  # fmt: skip


def test_the_record_is_for_its_owner_and_has_no_token(server: Remote) -> None:
    client, tokens = server.client()
    folder = Path(server.environment["HOME"], ".config/clawmem/remote")
    (record,) = folder.glob("*.json")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, record)] == [0o700, 0o600]
    text = record.read_text()
    assert client in text
    assert not any(
        secret in text for token in (tokens["access_token"], tokens["refresh_token"]) for secret in token.split(".")[1:]
    )
    record.write_text("{")
    assert server.call(tokens["access_token"], "tools/list").status == 401


def test_a_call_that_waits_does_not_stop_others(server: Remote) -> None:
    one, two = (server.client(name)[1]["access_token"] for name in ("One", "Two"))
    server.tool(one, "remember", text="Jane drinks tea.")
    with ThreadPoolExecutor(1) as pool:
        with writer_lock(server.root / ".git/clawmem/lock", 5, "test"):
            waiting = pool.submit(server.tool, one, "remember", text="Tom drinks milk.")
            assert "tea" in server.tool(two, "recall", question="What does Jane drink?")
            assert server.call(one, "tools/list").status == 200 and not waiting.done()
        assert waiting.result().startswith("remembered")


def test_a_call_that_waits_is_not_made_for_a_client_that_is_revoked(server: Remote) -> None:
    client, tokens = server.client("Gone")

    def write(text: str) -> bool:
        reply = server.call(tokens["access_token"], "tools/call", name="note", arguments={"text": text})
        return "result" in reply.text

    with ThreadPoolExecutor(2) as pool:
        with writer_lock(server.root / ".git/clawmem/lock", 5, "test"):
            done = [pool.submit(write, text) for text in ("One came.", "Two came.")]
            server.data("mcp", "clients", "revoke", client)
        assert sum(each.result() for each in done) <= 1


def test_writes_of_many_clients_are_all_kept(server: Remote) -> None:
    tokens = [server.client(f"Client {number}")[1]["access_token"] for number in range(3)]
    with ThreadPoolExecutor(6) as pool:
        texts = [f"Boat number {number} is called Name{number}." for number in range(9)]
        said = list(pool.map(lambda pair: server.tool(tokens[pair[0] % 3], "remember", text=pair[1]), enumerate(texts)))
    assert all(text.startswith("remembered") for text in said), said
    kept = {fact["fact"]: fact["agent"] for fact in server.data("list")["facts"]}
    assert [kept[text] for text in texts] == [f"client-{number % 3}" for number in range(9)]


def test_idle_connections_shut_nobody_out_and_sigterm_ends_cleanly(serve: Serve) -> None:
    server = serve("--exposed", "--public-url", "https://memory.example.org/")
    token = server.client()[1]["access_token"]
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    for number, connection in enumerate(idle):
        try:
            connection.sendall(b"POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"[: 20 + number % 40])
        except OSError:
            assert number < 40, "the connections that wait longest make room"
    assert server.call(token, "tools/list").status == 200
    assert server.close(signal.SIGTERM) == 0
    for connection in idle:
        connection.close()


def test_only_loopback_unless_somebody_says_otherwise(clawmem: Command) -> None:
    def refused(*words: str) -> str:
        result = clawmem("mcp", *words)
        assert result.code in (REFUSED, USAGE), result
        return result.err + result.out

    assert "not loopback" in refused("--http", "0.0.0.0:8765")
    assert "not loopback" in refused("--http", "0.0.0.0:8765", "--exposed")
    assert "not loopback" in refused("--http", "example.org:8765", "--public-url", "https://example.org")
    for url in ("http://example.org", "https://example.org/path", "https://a@example.org", "example.org", "https://"):
        assert "no public address" in refused("--http", "--public-url", url)
    assert "no address" in refused("--http", "127.0.0.1")
    assert "no address" in refused("--http", "127.0.0.1:99999")
    assert "is for --http" in refused("127.0.0.1:8765")
    assert "no document" in refused("--http", "--json")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert "cannot be used" in refused("--http", str(listener.getsockname()[1]))


def test_without_the_sdk_it_says_how_to_install_it(vault_root: Path, environment: dict[str, str]) -> None:
    program = "import sys; sys.modules['mcp'] = None; from clawmem.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "mcp", "--http"]
    process = subprocess.run(command, cwd=vault_root, env=environment, capture_output=True, text=True)
    assert process.returncode == REFUSED and "pip install 'clawmem-vault[remote]'" in process.stderr
