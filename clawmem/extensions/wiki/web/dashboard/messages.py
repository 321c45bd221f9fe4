"""Requests and responses as values, with the headers that every response has.

Who may use the dashboard: a login that works once, then a cookie, and requests from its own pages only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from queue import Empty, SimpleQueue
from secrets import token_urlsafe
from threading import Lock
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

# No inline script or style, nothing from elsewhere, no frame around a page, and forms go to this server only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"
)
# With `no-referrer`, browsers name no origin with forms, so that a form of another site would look like ours. Other
# origins get no address with `same-origin` either.
HEADERS = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
_FIELDS = 20
_PAUSE_SECONDS = 1.0


class Request(NamedTuple):
    """A request: its method, its target as it was written, its headers in order, and the body of a form."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def every(self, name: str) -> list[str]:
        """Return the values of all headers of a name."""
        return [value.strip() for key, value in self.headers if key.lower() == name.lower()]

    def one(self, name: str) -> str | None:
        """Return the value of a header that is there once, or None."""
        found = self.every(name)
        return found[0] if len(found) == 1 else None

    @property
    def path(self) -> str:
        """Return the path of the target, as it was written."""
        return self.target.partition("?")[0]

    def query(self) -> dict[str, str]:
        """Return the query of the target; of a name that is there more than once, the last value."""
        return _values(urlsplit(self.target).query)

    def form(self) -> dict[str, str]:
        """Return the fields of the body."""
        return _values(self.body.decode("utf-8", errors="replace"))


class EventStream:
    """The parts of a response that has no end yet. `closed` is called once, with the stream, when nobody reads it."""

    def __init__(self, closed: Callable[[EventStream], None]) -> None:
        self._closed = closed
        self._parts: SimpleQueue[bytes | None] = SimpleQueue()

    def put(self, part: bytes) -> None:
        """Add a part."""
        self._parts.put(part)

    def end(self) -> None:
        """End the stream after the parts that it has."""
        self._parts.put(None)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the parts, and an empty one after each second without one, so that the reader can be looked for."""
        while True:
            try:
                part = self._parts.get(timeout=_PAUSE_SECONDS)
            except Empty:
                part = b""
            if part is None:
                return
            yield part

    def close(self) -> None:
        """Say that nobody reads the stream."""
        self._closed(self)


class Response(NamedTuple):
    """A response: status, headers beside HEADERS, and the body, or a stream of its parts."""

    status: int
    body: bytes = b""
    type: str = HTML
    headers: tuple[tuple[str, str], ...] = (("Cache-Control", "no-store"),)
    stream: EventStream | None = None


def plain(status: int, sentence: str) -> Response:
    """Return a sentence as the whole response."""
    return Response(status, f"{sentence}\n".encode(), TEXT)


def redirect(place: str, *headers: tuple[str, str]) -> Response:
    """Return a response that leads to a path of this server, by GET."""
    return Response(303, b"", TEXT, (("Cache-Control", "no-store"), ("Location", place), *headers))


def _values(text: str) -> dict[str, str]:
    try:
        found = parse_qs(text, keep_blank_values=True, max_num_fields=_FIELDS, errors="replace")
    except ValueError:
        return {}
    return {key: values[-1] for key, values in found.items()}


ADDRESS = "127.0.0.1"
_NAMES = (ADDRESS, "localhost")
_USUAL_PORT = 80  # browsers leave it out
# What browsers say of requests that a page of this origin, or the person, started.
_OWN_SITES = ("same-origin", "none")


class Login(NamedTuple):
    """A browser that logged in: the value of its cookie, and the token that its forms carry."""

    cookie: str
    form: str


class Access:
    """The logins of one server.

    `area` is the unguessable first part of every path behind the login. Browsers send cookies to all ports of a host,
    but only for their path; so a server on another port does not get ours."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.area = token_urlsafe(16)
        self._token: str | None = token_urlsafe(32)
        self._logins: list[Login] = []
        self._lock = Lock()

    def address(self) -> str:
        """Return the address that logs in one browser. What stands behind `#` is not sent to any server."""
        return f"http://{ADDRESS}:{self.port}/login#token={self._token}"

    def is_for_us(self, request: Request) -> bool:
        """Return whether the request names this server as its host, once. A page of another site whose name leads to
        this machine (DNS rebinding) names that site."""
        hosts = request.every("Host")
        ours = {f"{name}:{self.port}" for name in _NAMES} | (set(_NAMES) if self.port == _USUAL_PORT else set())
        return len(hosts) == 1 and hosts[0] in ours

    def is_from_us(self, request: Request) -> bool:
        """Return whether a page of this server sent a request that changes something or gives data to scripts."""
        origins, sites = request.every("Origin"), request.every("Sec-Fetch-Site")
        own = f"http://{request.one('Host')}"
        if request.method == "POST":
            return origins == [own] and sites in ([], ["same-origin"])
        if request.one("Sec-Fetch-Mode") in (None, "navigate"):
            return origins in ([], [own])
        return origins in ([], [own]) and all(site in _OWN_SITES for site in sites)

    def log_in(self, token: str) -> Login | None:
        """Return a new login for the right token, which is worth nothing afterwards; None for another one."""
        with self._lock:
            if self._token is None or not compare_digest(self._token.encode(), token.encode(errors="replace")):
                return None
            self._token = None
            login = Login(token_urlsafe(32), token_urlsafe(32))
            self._logins.append(login)
            return login

    @property
    def is_open(self) -> bool:
        """Return whether the address can still log somebody in."""
        return self._token is not None

    def login_of(self, request: Request) -> Login | None:
        """Return the login of the browser that sent the request, or None."""
        data = self._cookie(request).encode(errors="replace")
        found = None
        for login in self._logins:
            if compare_digest(login.cookie.encode(), data):
                found = login
        return found

    def cookie_header(self, login: Login) -> str:
        """Return the header that gives a browser its cookie. Scripts cannot read it, and other sites cannot use it."""
        return f"{self._name}={login.cookie}; Path=/{self.area}/; HttpOnly; SameSite=Strict"

    @property
    def _name(self) -> str:
        return f"clawmem-{self.port}"

    def _cookie(self, request: Request) -> str:
        try:
            found = SimpleCookie("; ".join(request.every("Cookie"))).get(self._name)
        except CookieError:
            return ""
        return found.value if found else ""


def is_form_of(login: Login, value: str) -> bool:
    """Return whether a form was drawn for this login."""
    return compare_digest(login.form.encode(), value.encode(errors="replace"))
