"""Who may use the dashboard: a login that works once, then a cookie, and requests from its own pages only."""

from __future__ import annotations

from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from secrets import token_urlsafe
from threading import Lock
from typing import NamedTuple

from clawmem.faces.web.dashboard.messages import Request

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
        given = self._cookie(request).encode(errors="replace")
        found = None
        for one in self._logins:
            if compare_digest(one.cookie.encode(), given):
                found = one
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


def is_form_of(login: Login, given: str) -> bool:
    """Return whether a form was drawn for this login."""
    return compare_digest(login.form.encode(), given.encode(errors="replace"))
