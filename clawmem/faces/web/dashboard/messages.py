"""Requests and responses as values, with the headers that every response has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
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
