"""The server: `http.server` on loopback, bounded in connections, sizes and times, until somebody ends it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from select import select
from socket import MSG_PEEK, SHUT_RDWR, socket
from socketserver import TCPServer
from threading import Event, Thread, current_thread, main_thread
from typing import Any

from clawmem.errors import Refused
from clawmem.extensions.wiki.web.dashboard.app import Dashboard
from clawmem.extensions.wiki.web.dashboard.messages import ADDRESS, HEADERS, Request, Response, plain
from clawmem.platform.processes import ENDING_SIGNALS, signals_handled
from clawmem.runtime import Runtime
from clawmem.vault.vault import Vault

MOST_CONNECTIONS = 32
LONGEST_FORM = 65_536
_SOCKET_SECONDS = 10.0
_REQUEST_SECONDS = 20.0
_LOOK_SECONDS = 0.25
_END_SECONDS = 3.0
_FORM = "application/x-www-form-urlencoded"


class _Server(ThreadingHTTPServer):
    """A server of one dashboard. A connection over the limit takes the place of the one that has waited longest for its
    request, so that idle connections shut nobody out. It is closed at once if all others are answered."""

    daemon_threads = True
    request_queue_size = 2 * MOST_CONNECTIONS

    def __init__(self, port: int) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.timeout = _LOOK_SECONDS
        self.dashboard: Dashboard
        self.used = time.monotonic()
        self._open: set[int] = set()
        self._reading: dict[socket, float] = {}

    def server_bind(self) -> None:
        """Bind, and do not ask for the name of the address."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection, or close it."""
        if len(self._open) >= MOST_CONNECTIONS:
            oldest = next(iter(dict(self._reading)), None)
            if oldest is None:
                self.shutdown_request(request)
                return
            self._end(oldest)
        self._open.add(id(request))
        self._reading[request] = time.monotonic()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.was_read(request)
            self._open.discard(id(request))

    def was_read(self, connection: Any) -> None:
        """Note that a request has come in completely."""
        self._reading.pop(connection, None)

    def end_slow_requests(self) -> None:
        """Close the connections whose request takes too long to come in."""
        latest = time.monotonic() - _REQUEST_SECONDS
        for connection, begun in list(self._reading.items()):
            if begun < latest:
                self._end(connection)

    def _end(self, connection: socket) -> None:
        """End a connection of which the request is not complete. Its thread then ends, too."""
        self.was_read(connection)
        self._open.discard(id(connection))
        with suppress(OSError):
            connection.shutdown(SHUT_RDWR)

    def wait_for_responses(self) -> None:
        """Wait until every connection is closed, but not for long."""
        end = time.monotonic() + _END_SECONDS
        while self._open and time.monotonic() < end:
            time.sleep(0.01)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what went wrong, except that the browser is gone."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "clawmem"
    sys_version = ""
    timeout = _SOCKET_SECONDS

    def do_GET(self) -> None:
        self._answer(b"")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 10) or "Transfer-Encoding" in self.headers:
            return self._give(plain(411, "The length of the form is missing."))
        if int(length) > LONGEST_FORM:
            return self._give(plain(413, f"The form is longer than {LONGEST_FORM:,} bytes."))
        if self.headers.get_content_type() != _FORM:
            return self._give(plain(415, f"Only forms ({_FORM}) are taken."))
        return self._answer(self.rfile.read(int(length)))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no request that this server takes."""
        self._give(plain(code, self.responses.get(code, ("Error", ""))[0] + "."))

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: an address can contain what nobody else should read."""

    def _answer(self, body: bytes) -> None:
        self.server.was_read(self.connection)
        request = Request(self.command, self.path, tuple(self.headers.items()), body)
        self._give(self.server.dashboard.respond(request))

    def _give(self, response: Response) -> None:
        try:
            self._write(response)
        finally:
            if response.stream is not None:
                response.stream.close()

    def _write(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in (*HEADERS, *response.headers, ("Content-Type", response.type)):
            self.send_header(name, value)
        if response.stream is None:
            self.server.used = time.monotonic()
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if response.stream is None:
            self.wfile.write(response.body)
            return
        for part in response.stream:
            if not part and self._is_left():
                return
            self.wfile.write(part)

    def _is_left(self) -> bool:
        """Return whether the browser has closed the connection of a stream."""
        readable, _, _ = select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, MSG_PEEK)


def serve(runtime: Runtime, port: int | None, opens: bool, idle_minutes: float, started: Callable[[str], None]) -> None:
    """Serve until Ctrl-C, SIGTERM, SIGHUP, the Stop button, or so many minutes without a request (0: never).

    Give the address to `started`, and with `opens` to a browser. Raise Refused if the port is taken.
    """
    gc.enable()  # a short command needs no collection, but this process lives for long
    # What reads the history changes the environment of the process for a moment: requests use a copy.
    environment = {key: value for key, value in runtime.environment.items() if key != "CLAWMEM_SESSION"}
    runtime = Runtime(
        environment, runtime.working_folder, str(runtime.locate().root), person=True, viewer=runtime.viewer
    )
    vault, stop = runtime.vault(), Event()
    server = _bound(port)
    try:
        server.dashboard = dashboard = Dashboard(runtime, server.server_port, stop.set)
        with _ended_by_signals(stop):
            address = dashboard.access.address()
            started(address)
            # Only one with a window: one in the terminal would take it over.
            display = any(map(runtime.environment.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
            if opens and (display or sys.platform == "darwin"):
                import webbrowser  # only on a desktop

                page = write_opening_page(vault, server.server_port, address)
                Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
            _run(server, stop, idle_minutes * 60)
        dashboard.close()
        server.wait_for_responses()
    finally:
        server.server_close()
        delete_opening_page(vault, server.server_port)


def _run(server: _Server, stop: Event, idle_seconds: float) -> None:
    while not stop.is_set():
        server.handle_request()
        server.end_slow_requests()
        if idle_seconds and time.monotonic() - server.used > idle_seconds:
            return


def _bound(port: int | None) -> _Server:
    try:
        return _Server(port or 0)
    except OSError as problem:
        raise Refused(
            f"The port {port} cannot be used: {problem.strerror}.", "Name another one, or leave --port out."
        ) from None


@contextmanager
def _ended_by_signals(stop: Event) -> Iterator[None]:
    """Let the signals that end a process end the server first. Only the main thread can do that."""
    if current_thread() is not main_thread():
        yield
        return
    with signals_handled((signal.SIGINT, *ENDING_SIGNALS), lambda *_: stop.set()):
        yield


# The page that leads a browser to the dashboard: everybody on the machine can read the arguments of a program, and
# only its owner this file, so that no argument holds the token of the login.

_PAGE = '<!doctype html>\n<title>clawmem</title>\n<meta http-equiv="refresh" content="0; url={}">\n'


def write_opening_page(vault: Vault, port: int, address: str) -> Path:
    """Write the page for a port, which only its owner can read, and return its path."""
    vault.prepare_state()
    path = _path(vault, port)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_PAGE.format(escape(address)))
    return path


def delete_opening_page(vault: Vault, port: int) -> None:
    """Delete the page for a port, if it is there."""
    _path(vault, port).unlink(missing_ok=True)


def _path(vault: Vault, port: int) -> Path:
    return vault.state / f"dashboard-{port}.html"
