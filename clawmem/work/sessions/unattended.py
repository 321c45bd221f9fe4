"""End a session that its agent did not end: its program ended it, and its transcript is in the ledger."""

from __future__ import annotations

from clawmem.errors import ClawmemError
from clawmem.model.language.text import one_line
from clawmem.model.records.caller import Caller
from clawmem.model.records.session import OPEN, UNREPORTED
from clawmem.vault.vault import Vault
from clawmem.work.sessions.end import end_session
from clawmem.work.sessions.records import find_session

_ASKED_CHARACTERS = 240


def end_unattended(vault: Vault, caller: Caller, session: str, asked: str) -> bool:
    """End an open session with a summary that says what was asked last; returns whether there was one to end.

    What the session taught is learned from its transcript by the next heartbeat."""
    try:
        record = find_session(vault, session)
    except ClawmemError:
        return False  # never registered
    if record.state != OPEN:
        return False
    last = one_line(asked)[:_ASKED_CHARACTERS]
    summary = f'{UNREPORTED}. Asked last: "{last}"' if last else ""
    document = {
        "summary": summary or f"{UNREPORTED}; nothing was asked.",
        "reflection": {"learned": [], "watch_for": []},
    }
    end_session(vault, caller, document, session)
    return True
