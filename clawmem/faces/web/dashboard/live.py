"""Server-sent events: what happens in sessions, and each new commit, for every open page that listens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from clawmem.errors import ClawmemError
from clawmem.faces.web.dashboard.messages import Response, plain
from clawmem.model.records.caller import Caller
from clawmem.model.records.session import SessionRecord
from clawmem.runtime import Runtime
from clawmem.vault.state.session_journal import FOLDER
from clawmem.vault.vault import Vault

MOST_STREAMS = 8
EVERY_SECONDS = 1.0
PING_SECONDS = 15.0
_COMMITS = 5

Turn = Callable[[], AbstractContextManager[None]]
_Signature = tuple[str | None, tuple[tuple[str, int, int], ...]]


class Live:
    """The open streams. One thread looks for changes while there is a stream, and reads the vault only after one."""

    def __init__(self, runtime: Callable[[], Runtime], turn: Turn) -> None:
        self._runtime = runtime
        self._turn = turn
        self._streams: list[SimpleQueue[bytes | None]] = []
        self._lock = Lock()
        self._ended = Event()
        self._watcher: Thread | None = None

    def open_stream(self) -> Response:
        """Return a stream of events, or a refusal if there are too many."""
        queue: SimpleQueue[bytes | None] = SimpleQueue()
        with self._lock:
            if len(self._streams) >= MOST_STREAMS or self._ended.is_set():
                return plain(503, "Too many pages listen. Close one of them.")
            self._streams.append(queue)
            if self._watcher is None:
                self._watcher = Thread(target=self._watch, daemon=True)
                self._watcher.start()
        return Response(200, type="text/event-stream; charset=utf-8", stream=self._parts(queue))

    def close(self) -> None:
        """End every stream."""
        self._ended.set()
        with self._lock:
            for queue in self._streams:
                queue.put(None)

    def _parts(self, queue: SimpleQueue[bytes | None]) -> Iterator[bytes]:
        try:
            yield b"retry: 3000\n\n"
            while True:
                try:
                    part = queue.get(timeout=PING_SECONDS)
                except Empty:
                    part = b": still here\n\n"
                if part is None:
                    yield b"event: end\ndata: {}\n\n"
                    return
                yield part
        finally:
            with self._lock:
                self._streams.remove(queue)

    def _watch(self) -> None:
        """Look for changes until no stream is left."""
        known: _State | None = None
        while not self._ended.wait(0 if known is None else EVERY_SECONDS):
            with self._lock:
                if not self._streams:
                    self._watcher = None
                    return
            # What cannot be read now is read at the next look: the pages say what is wrong.
            with suppress(ClawmemError, OSError):
                known = self._look(known)

    def _look(self, known: _State | None) -> _State:
        runtime = self._runtime()
        signature = _signature(runtime.vault())
        if known is not None and signature == known.signature:
            return known
        with self._turn():
            state, news = _changed(runtime, signature, known)
        part = f"event: change\ndata: {json.dumps(news)}\n\n".encode()
        with self._lock:
            for queue in self._streams:
                queue.put(part)
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
