"""Server-sent events: what happens in sessions, and each new commit, for every open page that listens."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from threading import Event, Lock, Thread
from typing import Any

from clawmem.errors import ClawmemError
from clawmem.faces.web.dashboard.messages import EventStream, Response, plain
from clawmem.model.records.caller import Caller
from clawmem.model.records.session import SessionRecord
from clawmem.runtime import Runtime
from clawmem.vault.state.session_journal import FOLDER
from clawmem.vault.vault import Vault

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


class _State:
    """What was known at the last look."""

    def __init__(self, signature: _Signature, sessions: dict[str, SessionRecord]) -> None:
        self.signature = signature
        self.sessions = sessions


def _signature(vault: Vault) -> _Signature:
    """Return values that change with each commit and each entry of a session's journal."""
    found = []
    folder = vault.state / FOLDER
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        with suppress(FileNotFoundError):
            status = path.stat()
            found.append((path.name, status.st_mtime_ns, status.st_size))
    return vault.head().commit, tuple(found)


def _changed(runtime: Runtime, signature: _Signature, known: _State | None) -> tuple[_State, dict[str, Any]]:
    from clawmem.faces.web.dashboard.pages import session_rows  # with the first page that listens
    from clawmem.work.sessions.records import list_sessions
    from clawmem.work.sessions.watch import changes

    vault, caller = runtime.vault(), runtime.caller()
    current = {one.id: one for one in list_sessions(vault, caller.now).sessions}
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
    names = [one.commit for one in newest_first]
    new = newest_first[: names.index(before)] if before in names else newest_first
    return [{"event": "commit", "at": one.time, "agent": one.author, "text": one.subject} for one in reversed(new)]
