"""What the hooks of agent harnesses did on this machine, below `.git/clawmem/hooks/`: one small file for each harness
and event, and one for each session that runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from clawmem.model.named_tuple import NamedTuple
from clawmem.vault.vault import Vault

FOLDER = "hooks"
DONE, FAILED, LATE = "done", "failed", "late"
_SESSIONS = "sessions"
_NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_SHOWN = 500
_KEPT_SESSIONS = 50


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
    """What is known of a running session: what was asked last, and the ids of the facts that it was shown."""

    asked: str = ""
    shown: tuple[str, ...] = ()


def write_mark(vault: Vault, mark: HookMark) -> None:
    """Store the mark of a call, in place of the one before."""
    _write(vault, vault.state / FOLDER / f"{_name(mark.harness)}-{_name(mark.event)}.json", mark._asdict())


def read_marks(vault: Vault) -> list[HookMark]:
    """Return the marks, by harness and event. Files that cannot be read are left out."""
    found = []
    for path in sorted((vault.state / FOLDER).glob("*.json")):
        held = _read(path)
        try:
            found.append(HookMark(**held))
        except TypeError:
            continue
    return found


def read_session(vault: Vault, session: str) -> HookSession:
    """Return what is known of a session."""
    held = _read(vault.state / FOLDER / _SESSIONS / f"{_name(session)}.json")
    asked, shown = held.get("asked"), held.get("shown")
    return HookSession(
        asked if isinstance(asked, str) else "",
        tuple(one for one in shown if isinstance(one, str)) if isinstance(shown, list) else (),
    )


def write_session(vault: Vault, session: str, state: HookSession) -> None:
    """Store what is known of a session."""
    held = {"asked": state.asked, "shown": list(state.shown[-_MOST_SHOWN:])}
    _write(vault, vault.state / FOLDER / _SESSIONS / f"{_name(session)}.json", held)


def forget_session(vault: Vault, session: str) -> None:
    """Remove what is known of a session, and of all but the newest ones that never ended."""
    folder = vault.state / FOLDER / _SESSIONS
    (folder / f"{_name(session)}.json").unlink(missing_ok=True)
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("*.json"), key=lambda one: one.stat().st_mtime, reverse=True)[_KEPT_SESSIONS:]:
        path.unlink(missing_ok=True)


def _name(text: str) -> str:
    return _NOT_OF_A_NAME.sub("-", text)[:100] or "-"


def _write(vault: Vault, path: Path, held: dict[str, Any]) -> None:
    vault.prepare_state()
    vault.disk.replace(path, (json.dumps(held) + "\n").encode(), vault.state)


def _read(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}
