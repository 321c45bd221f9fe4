"""A server of `clawmem mcp --http` as a process, and a client of it that speaks plain HTTP."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.command_server import shared_server

VERIFIER = "v" * 50
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
BACK = "http://127.0.0.1:3/back"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Reply(NamedTuple):
    """A response."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.text)

    @property
    def back(self) -> dict[str, str]:
        """What the address that it leads to says."""
        return {key: values[0] for key, values in parse_qs(urlsplit(self.headers["location"]).query).items()}


class Remote:
    """A server, and the commands of its owner."""

    def __init__(self, root: Path, environment: Mapping[str, str], *words: str, port: int | None = None) -> None:
        self.root, self.environment = root, environment
        self.port = port or free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "clawmem", "mcp", "--http", str(self.port), *words],
            cwd=root,
            env=dict(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url or self.process.wait(), self.process.stderr and self.process.stderr.read()
        self.host = urlsplit(self.url).netloc

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command of the owner."""
        return shared_server().run(words, b"", self.root, {**self.environment, **more}, seconds=300)

    def data(self, *words: str) -> Any:
        """What a command of the owner answers."""
        document = json.loads(self.run(*words, "--json").stdout)
        assert document["ok"], document
        return document["data"]

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Sequence[tuple[str, str]] = (), host: str = ""
    ) -> Reply:
        """Send one request as it is, and return what comes back."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        fields = [*([] if host == "-" else [("Host", host or self.host)]), ("Content-Length", str(len(body))), *headers]
        for name, value in fields:
            connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        reply = Reply(response.status, found, response.read().decode())
        connection.close()
        return reply

    def form(self, path: str, **fields: str) -> Reply:
        """Send a form."""
        return self.ask(
            "POST", path, urlencode(fields).encode(), [("Content-Type", "application/x-www-form-urlencoded")]
        )

    def register(self, name: str = "Phone", *redirects: str) -> Reply:
        """Register a client."""
        return self.ask(
            "POST", "/register", json.dumps({"client_name": name, "redirect_uris": redirects or (BACK,)}).encode()
        )

    def authorize(self, client: str, **other: str) -> Reply:
        """Ask for a client to be allowed."""
        fields = {
            "client_id": client,
            "redirect_uri": BACK,
            "response_type": "code",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "some state",
            "resource": self.url,
        }
        return self.ask("GET", f"/authorize?{urlencode(fields | other)}")

    def page(self, client: str) -> str:
        """The path of the page that asks for the code."""
        parts = urlsplit(self.authorize(client).headers["location"])
        return f"{parts.path}?{parts.query}"

    def code(self, page: str, *words: str) -> str:
        """The code that the owner gets for a page."""
        return str(self.data("mcp", "clients", "allow", handle_of(self.ask("GET", page).text), "--yes", *words)["code"])

    def allowed(self, client: str, *words: str) -> str:
        """The code of the protocol for a client that the owner allows."""
        page = self.page(client)
        return self.form(page, code=self.code(page, *words)).back["code"]

    def exchange(self, client: str, code: str, **other: str) -> Reply:
        """Ask for the tokens of a code."""
        fields = {"code": code, "redirect_uri": BACK, "code_verifier": VERIFIER, "resource": self.url}
        return self.form("/token", grant_type="authorization_code", client_id=client, **(fields | other))

    def renew(self, client: str, token: str) -> Reply:
        """Ask for new tokens."""
        return self.form("/token", grant_type="refresh_token", client_id=client, refresh_token=token)

    def client(self, name: str = "Phone", *words: str) -> tuple[str, dict[str, str]]:
        """The id and the tokens of a client that the owner allows."""
        client = self.register(name).json["client_id"]
        return client, self.exchange(client, self.allowed(client, *words)).json

    def call(self, token: str | None, method: str, more: Sequence[tuple[str, str]] = (), **params: Any) -> Reply:
        """Send a message of the protocol."""
        named = [("Mcp-Name", params["name"])] if "name" in params else []
        headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
            *named,
            *more,
        ]
        if token is not None:
            headers.append(("Authorization", f"Bearer {token}"))
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
        return self.ask("POST", "/mcp", json.dumps(message).encode(), headers)

    def tool(self, token: str, name: str, **arguments: Any) -> str:
        """The text that a tool answers."""
        return str(self.call(token, "tools/call", name=name, arguments=arguments).json["result"]["content"][0]["text"])

    def close(self, number: int = signal.SIGTERM) -> int:
        """End the server, and return its exit code."""
        self.process.send_signal(number)
        code = self.process.wait(30)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code


def handle_of(page: str) -> str:
    """The letters by which a page lets the owner name its client."""
    found = re.search(r"clients allow (\w{6})<", page)
    assert found is not None, page
    return found[1]


def free_port() -> int:
    """A port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
