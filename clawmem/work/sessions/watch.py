"""Follow the sessions of a vault: one entry for each start, note, checkpoint, end and abandoned session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from threading import Event
from typing import Any

from clawmem.model.records.session import ENDED, OPEN, SessionRecord
from clawmem.vault.vault import Vault
from clawmem.work.sessions.records import list_sessions

EVERY_SECONDS = 0.5


def watch_sessions(vault: Vault, now: Callable[[], datetime], seconds: float | None) -> Iterator[dict[str, Any]]:
    """Yield what happens from now on, for that long, or until the caller stops."""
    known = {one.id: one for one in list_sessions(vault, now()).sessions}
    left = timedelta(seconds=seconds) if seconds is not None else None
    pause, waited = Event(), timedelta()
    while left is None or waited < left:
        pause.wait(EVERY_SECONDS)
        waited += timedelta(seconds=EVERY_SECONDS)
        current = {one.id: one for one in list_sessions(vault, now()).sessions}
        for session, record in sorted(current.items()):
            yield from changes(known.get(session), record)
        known = current


def changes(before: SessionRecord | None, after: SessionRecord) -> Iterator[dict[str, Any]]:
    """Yield what happened to a session between two readings, oldest first."""
    about = {"session": after.id, "agent": after.agent}
    if before is None or (before.state != OPEN and after.state == OPEN):
        yield _entry("start", after.started, about, workflow=after.workflow, task=after.task)
    seen = {one.id for one in before.notes} if before else set()
    for note in after.notes:
        if note.id not in seen:
            yield _entry("note", note.at, about, text=note.text)
    for one in after.checkpoints[len(before.checkpoints) if before else 0 :]:
        yield _entry("checkpoint", str(one.get("at", "")), about, stage=after.stage)
    if after.state != OPEN and (before is None or before.state == OPEN):
        name = "end" if after.state == ENDED else after.state
        yield _entry(name, after.ended or after.last_seen, about, summary=after.summary)


def _entry(event: str, at: str, about: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": event, "at": at, **about, **{key: value for key, value in more.items() if value is not None}}
