"""What the hooks of agent harnesses did on this machine, below `.git/clawmem/hooks/`: one small file for each harness
and event, and one for each session that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from clawmem.model.named_tuple import NamedTuple
from clawmem.vault.vault import Vault

FOLDER = "hooks"
DONE, FAILED, LATE = "done", "failed", "late"
_SESSIONS = "sessions"
_NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_SHOWN = 500
_KEPT_SESSIONS = 50
_SILENT_SECONDS = 600


SKIPPED = "skipped"
"""The event of the mark that says how many messages of a transcript were not kept, at the last one that had some."""


class HookMark(NamedTuple):
    """The last call of a hook: its harness and event, when, how it ended (done, failed, late), what it gave or why not,
    and how many milliseconds it took."""

    harness: str
    event: str
    at: str
    outcome: str
    message: str
    milliseconds: int


class HookSession(NamedTuple):
    """What is known of a running session: what was asked last and when (empty once the agent was asked what to keep),
    the ids of the facts that it was shown, whether its conversation was shortened; its harness, project and transcript,
    how long the transcript was when it was taken in last, in bytes, the people for whom its agent reads, and its id."""

    asked: str = ""
    shown: tuple[str, ...] = ()
    compacted: bool = False
    harness: str = ""
    project: str | None = None
    transcript: str | None = None
    taken: int = 0
    at: str = ""
    viewers: tuple[str, ...] = ()
    session: str = ""


def write_mark(vault: Vault, mark: HookMark) -> None:
    """Store the mark of a call, in place of the one before."""
    vault.keep(f"{FOLDER}/{_name(mark.harness)}-{_name(mark.event)}.json", mark._asdict())


def read_marks(vault: Vault) -> list[HookMark]:
    """Return the marks, by harness and event. Files that cannot be read are left out."""
    files = sorted((vault.state / FOLDER).glob("*.json"))
    return [mark for path in files if (mark := vault.kept_record(HookMark, f"{FOLDER}/{path.name}"))]


def read_session(vault: Vault, session: str) -> HookSession | None:
    """Return what is known of a session, or None."""
    return vault.kept_record(HookSession, _session_file(session))


def write_session(vault: Vault, session: str, state: HookSession) -> None:
    """Store what is known of a session."""
    kept = state._replace(shown=state.shown[-_MOST_SHOWN:], session=session)
    vault.keep(_session_file(session), kept._asdict())


def left_sessions(vault: Vault, now: datetime) -> Iterator[tuple[str, HookSession]]:
    """Yield the sessions whose transcript grew since it was taken in, and has been silent for a while; each counts as
    taken in then. One whose transcript is gone is forgotten."""
    for path in sorted((vault.state / FOLDER / _SESSIONS).glob("*.json")):
        state = vault.kept_record(HookSession, f"{FOLDER}/{_SESSIONS}/{path.name}")
        if state is None or not (state.transcript and state.harness and state.session):
            continue
        try:
            found = Path(state.transcript).expanduser().stat()
        except OSError:
            path.unlink(missing_ok=True)
            continue
        if found.st_size != state.taken and now.timestamp() - found.st_mtime > _SILENT_SECONDS:
            write_session(vault, state.session, state._replace(taken=found.st_size))
            yield state.session, state


def forget_session(vault: Vault, session: str) -> None:
    """Remove what is known of a session, and of all but the newest ones that never ended."""
    folder = vault.state / FOLDER / _SESSIONS
    (vault.state / _session_file(session)).unlink(missing_ok=True)
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("*.json"), key=lambda other_path: other_path.stat().st_mtime, reverse=True)[
        _KEPT_SESSIONS:
    ]:
        path.unlink(missing_ok=True)


def _session_file(session: str) -> str:
    return f"{FOLDER}/{_SESSIONS}/{_name(session)}.json"


def _name(text: str) -> str:
    return _NOT_OF_A_NAME.sub("-", text)[:100] or "-"
