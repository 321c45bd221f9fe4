"""The dashboard as a function from requests to responses: who may ask, which page answers, what an action does.

Server-sent events: what happens in sessions, and each new commit, for every open page that listens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import CONFLICT, LOCKED, ClawmemError, Locked, NotFound, NotPermitted
from clawmem.extensions.wiki.web.dashboard.messages import (
    HTML,
    Access,
    EventStream,
    Login,
    Request,
    Response,
    is_form_of,
    plain,
    redirect,
)
from clawmem.faces.parts.failures import explained
from clawmem.model.records.caller import Caller
from clawmem.model.records.session import SessionRecord
from clawmem.runtime import Runtime
from clawmem.vault.state.journal import SESSIONS
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.extensions.wiki.web.dashboard.actions import KnownWeeks
    from clawmem.extensions.wiki.web.dashboard.pages import Page


STATIC = Path(__file__).parent / "static"
WAIT_SECONDS = 15.0
LONGEST_TARGET = 8192
_SCRIPT, _STYLE = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
_TYPES = {".js": _SCRIPT, ".css": _STYLE, ".txt": "text/plain; charset=utf-8"}
_KEPT = (("Cache-Control", "private, max-age=3600"),)


class View(NamedTuple):
    """What a page may use: the runtime of this request, its query, what earlier pages computed, and the path behind
    which all pages are."""

    runtime: Runtime
    query: Mapping[str, str]
    known: KnownWeeks
    graph: dict[str, Mapping[str, bytes]]
    root: str


class Dashboard:
    """The state of one server: its logins, the turn of the vault, and when it was used last."""

    def __init__(self, runtime: Runtime, port: int, stop: Callable[[], None]) -> None:
        self.access = Access(port)
        self._runtime = runtime
        self._stop = stop
        self._live = Live(self.runtime, self.turn)
        self._turn = Lock()
        self._known: KnownWeeks = {}
        self._graph: dict[str, Mapping[str, bytes]] = {}

    def respond(self, request: Request) -> Response:
        """Return the response to a request."""
        if not self.access.is_for_us(request):
            return plain(421, "This server answers only as 127.0.0.1 and localhost with its own port.")
        if len(request.target) > LONGEST_TARGET or not request.target.startswith("/"):
            return plain(400, "The address is too long, or no path.")
        if request.method not in ("GET", "HEAD", "POST"):
            return plain(405, "This server takes GET, HEAD and POST.")
        if not self.access.is_from_us(request):
            return plain(403, "The request does not come from a page of this dashboard.")
        path = request.path
        if path == "/login":
            return self._log_in(request) if request.method == "POST" else self._login_page(200)
        inner = path.removeprefix(f"/{self.access.area}")
        if request.method != "POST" and (found := _static(inner)) is not None:
            return found
        login = self.access.login_of(request)
        if login is None or inner == path:
            return self._outside(request, login)
        if request.method == "POST":
            return self._act(inner, request, login)
        if inner == "/events":
            # What happens in sessions, and when something changes, is for those who may see everything.
            return plain(204, "") if self._is_restricted() else self._live.open_stream()
        return self._page(inner, request, login)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until nothing else in this process uses the vault. Raise Locked if that takes too long."""
        if not self._turn.acquire(timeout=WAIT_SECONDS):
            raise Locked("The dashboard is busy with another request.", "Try again in a moment.")
        try:
            yield
        finally:
            self._turn.release()

    def _is_restricted(self) -> bool:
        """Return whether the pages are for somebody who may not see everything, also where nobody knows what."""
        from clawmem.index.tables.rights import is_restricted  # few memories are shared

        try:
            return is_restricted(self.runtime().vault())
        except ClawmemError:
            return True  # each page says what is wrong

    def runtime(self) -> Runtime:
        """Return a runtime with nothing opened yet: each request sees the settings and the clock of its own time."""
        return self._runtime.at(self._runtime.working_folder)

    def close(self) -> None:
        """End the streams, and let an action that runs come to its end."""
        self._live.close()
        with suppress(Locked), self.turn():
            return

    def _outside(self, request: Request, login: Login | None) -> Response:
        """Answer a request for a path that is not behind the login, or without one."""
        if request.method == "POST":
            return plain(403, "Nobody is logged in.")
        if request.path in ("/", f"/{self.access.area}/"):
            return redirect("/login" if login is None else f"/{self.access.area}/")
        return self._login_page(401) if login is None else plain(404, "There is no such page.")

    def _login_page(self, status: int, problem: str = "") -> Response:
        values = {"problem": problem, "open": self.access.is_open}
        return _rendered(status, "dashboard/login.html", title="Log in", root="/", menu=(), login=None, **values)

    def _log_in(self, request: Request) -> Response:
        # Who enters the token by hand may paste the whole address.
        login = self.access.log_in(request.form().get("token", "").strip().rpartition("token=")[2])
        if login is None:
            return self._login_page(403, "This token is wrong, or was used already.")
        return redirect(f"/{self.access.area}/", ("Set-Cookie", self.access.cookie_header(login)))

    def _page(self, path: str, request: Request, login: Login) -> Response:
        from clawmem.extensions.wiki.web.dashboard import pages  # with what they need
        from clawmem.memory.proposals import read_proposals

        query = request.query()
        make: Callable[[View], Page] | None = pages.PAGES.get(path)
        for start, of_one in (("/fact/", pages.fact_page), ("/talk/", pages.talk)):
            if path.startswith(start):
                query, make = {**query, "id": path.removeprefix(start)}, of_one
        try:
            with self.turn():
                view = View(self.runtime(), query, self._known, self._graph, self._root)
                if path.startswith("/data/") and (data := pages.graph_data(view).get(path[1:])) is not None:
                    return Response(200, data, _SCRIPT)
                # The graph leads to the pages of a site: here to those of the entities.
                if path.endswith(".html") and (name := pages.entity_at(view, path[1:])) is not None:
                    return redirect(f"{self._root}{pages.entity_address(name)}")
                if make is None:
                    raise NotFound("There is no such page.", "The menu has all of them.")
                restricted = self._is_restricted()
                if restricted and make not in pages.FOR_VIEWERS:
                    make = pages.search
                page = make(view)
                waiting = 0 if restricted else len(read_proposals(view.runtime.vault()).open)
                values = {**page.values, "waiting_count": waiting}
            return self._shown(200, path, login, page.template, page.title, values)
        except Exception as problem:  # noqa: BLE001 - the person gets every failure as a page
            return self._failed(path, login, explained(problem))

    def _act(self, path: str, request: Request, login: Login) -> Response:
        from clawmem.extensions.wiki.web.dashboard.actions import ACTIONS  # with what they need

        form = request.form()
        if not is_form_of(login, form.get("form", "")):
            return plain(403, "The form was not made for this login. Load the page again.")
        if path == "/stop":
            self._stop()
            return _rendered(200, "dashboard/stopped.html", title="Stopped", root=self._root, menu=(), login=None)
        try:
            act = ACTIONS.get(path)
            if act is None:
                raise NotFound("There is no such action.", "The pages have all of them.")
            if self._is_restricted():
                raise NotPermitted("A viewer changes nothing here.", "Start the dashboard without --viewer.")
            with self.turn():
                result = act(self.runtime(), form)
        except Exception as problem:  # noqa: BLE001 - the person gets every failure as a page
            return self._failed(path, login, explained(problem), form.get("reason", "").strip())
        values = {"lines": result.lines, "notices": result.notices, "back": result.back}
        return self._shown(200, path, login, "dashboard/done.html", result.title, values)

    @property
    def _root(self) -> str:
        return f"/{self.access.area}/"

    def _failed(self, path: str, login: Login, problem: ClawmemError, typed: str = "") -> Response:
        values = {"problem": problem, "typed": typed}
        return self._shown(_status_of(problem), path, login, "dashboard/problem.html", "Not done", values)

    def _shown(
        self, status: int, path: str, login: Login, template: str, title: str, values: Mapping[str, Any]
    ) -> Response:
        from clawmem.extensions.wiki.web.dashboard.pages import FOR_VIEWERS, MENU, PAGES

        shown = [row for row in MENU if PAGES[f"/{row[0]}"] in FOR_VIEWERS] if self._is_restricted() else MENU
        menu = [(f"{self._root}{target}", words, mark, path == f"/{target}") for target, words, mark in shown]
        return _rendered(status, template, title=title, root=self._root, menu=menu, login=login, **values)


def _rendered(status: int, name: str, **values: Any) -> Response:
    from clawmem.extensions.wiki.web.notes import template  # Jinja2 costs as much as the whole start

    text = template(name).render({"policy": None, "waiting_count": 0, **values})
    return Response(status, text.encode("utf-8", errors="replace"), HTML)


def _static(path: str) -> Response | None:
    """Return a file of the package, which every browser may have, or None."""
    folder, _, name = path.removeprefix("/").partition("/")
    if folder not in ("static", "libraries") or "/" in name:
        return plain(204, "") if path == "/favicon.ico" else None
    from clawmem.extensions.wiki.web import notes  # which a page needs before it needs a file

    places = (STATIC, notes.STATIC) if folder == "static" else (notes.LIBRARIES,)
    for place in places:
        kind = _TYPES.get(Path(name).suffix)
        if kind is not None and name in {other_path.name for other_path in place.iterdir()}:
            return Response(200, (place / name).read_bytes(), kind, _KEPT)
    return None


def _status_of(problem: ClawmemError) -> int:
    if isinstance(problem, NotFound):
        return 404
    if isinstance(problem, NotPermitted):
        return 403
    if problem.exit_code == LOCKED:
        return 503
    return 500 if problem.code == "bug" else 409 if problem.exit_code in (1, CONFLICT) else 400


MOST_STREAMS = 8
EVERY_SECONDS = 1.0
_COMMITS = 5

Turn = Callable[[], AbstractContextManager[None]]
_Signature = tuple[str | None, tuple[tuple[str, int, int], ...]]


class Live:
    """The open streams. One thread looks for changes while there is a stream, and reads the vault only after one."""

    def __init__(self, runtime: Callable[[], Runtime], turn: Turn) -> None:
        self._runtime = runtime
        self._turn = turn
        self._streams: list[EventStream] = []
        self._lock = Lock()
        self._ended = Event()
        self._joined = Event()
        self._watches = False

    def open_stream(self) -> Response:
        """Return a stream that begins with the present state, or a refusal if there are too many."""
        stream = EventStream(self._leave)
        with self._lock:
            if len(self._streams) >= MOST_STREAMS or self._ended.is_set():
                return plain(503, "Too many pages listen. Close one of them.")
            self._streams.append(stream)
            self._joined.set()
            if not self._watches:
                self._watches = True
                Thread(target=self._watch, daemon=True).start()
        stream.put(b"retry: 3000\n\n")
        return Response(200, type="text/event-stream; charset=utf-8", stream=stream)

    def close(self) -> None:
        """End every stream."""
        self._ended.set()
        self._send(b"event: end\ndata: {}\n\n")
        with self._lock:
            for stream in self._streams:
                stream.end()

    def _leave(self, stream: EventStream) -> None:
        with self._lock:
            self._streams.remove(stream)

    def _send(self, part: bytes) -> None:
        with self._lock:
            for stream in self._streams:
                stream.put(part)

    def _watch(self) -> None:
        """Look for changes until no stream is left."""
        known: _State | None = None
        try:
            while self._is_needed():
                # What cannot be read now is read at the next look: the pages say what is wrong.
                with suppress(ClawmemError, OSError):
                    known = self._look(known)
                self._ended.wait(EVERY_SECONDS)
        except BaseException:
            with self._lock:
                self._watches = False
            raise

    def _is_needed(self) -> bool:
        with self._lock:
            self._watches = bool(self._streams) and not self._ended.is_set()
            return self._watches

    def _look(self, known: _State | None) -> _State:
        runtime = self._runtime()
        signature = _signature(runtime.vault())
        if known is not None and signature == known.signature and not self._joined.is_set():
            return known
        self._joined.clear()
        with self._turn():
            state, news = _changed(runtime, signature, known)
        self._send(f"event: change\ndata: {json.dumps(news)}\n\n".encode())
        return state


class _State(NamedTuple):
    """What was known at the last look."""

    signature: _Signature
    sessions: dict[str, SessionRecord]


def _signature(vault: Vault) -> _Signature:
    """Return values that change with each commit and each entry of a session's journal."""
    from clawmem.review.reviewers import signature_of  # with the first page that listens

    folder = vault.state / SESSIONS
    return vault.head().commit, signature_of(folder.iterdir() if folder.is_dir() else ())


def _changed(runtime: Runtime, signature: _Signature, known: _State | None) -> tuple[_State, dict[str, Any]]:
    from clawmem.extensions.wiki.web.dashboard.pages import session_rows  # with the first page that listens
    from clawmem.work.sessions.records import list_sessions
    from clawmem.work.sessions.start import changes

    vault, caller = runtime.vault(), runtime.caller()
    current = {session.id: session for session in list_sessions(vault, caller.now).sessions}
    events: list[dict[str, Any]] = []
    if known is not None:
        for name, record in sorted(current.items()):
            if record != known.sessions.get(name):
                events += changes(known.sessions.get(name), record)
        events += _commits(vault, caller, known.signature[0])
    news = {"head": signature[0], "sessions": session_rows(runtime)[0], "events": events}
    return _State(signature, current), news


def _commits(vault: Vault, caller: Caller, before: str | None) -> list[dict[str, Any]]:
    """Return the commits since one, newest `_COMMITS` at most, oldest first."""
    from clawmem.memory.history.log import LogBounds, log

    if vault.head().commit == before:
        return []
    newest_first = list(reversed(log(vault, None, caller, LogBounds(_COMMITS)).entries))
    names = [entry.commit for entry in newest_first]
    new = newest_first[: names.index(before)] if before in names else newest_first
    return [
        {"event": "commit", "at": entry.time, "agent": entry.author, "text": entry.subject} for entry in reversed(new)
    ]
