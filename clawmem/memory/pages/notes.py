"""Notes: lines in the daily note. People and agents write them; the heartbeat learns from them."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.memory.quarantine import HandoverScreen
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement
from clawmem.model.pages.daily import daily_path, with_line
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.vault import Vault


class NoteResult(NamedTuple):
    """The written line, the path of the daily note, and the commit."""

    line: str
    path: str
    commit: str
    notices: tuple[str, ...] = ()


def note(vault: Vault, text: str, caller: Caller, day: str | None = None) -> NoteResult:
    """Add a line to a day's note (default: today's) of the calling agent, or of the vault if a person calls. Raise
    SecretFound."""
    statement = allowed(vault.settings, check_statement(text, "note"), "The note")
    moment = stamp(caller.now)
    clock = f"{moment[11:16]} " if day in (None, moment[:10]) else ""
    moment = day or moment
    path = daily_path(moment[:10], caller.agent)
    with writing(vault, caller, "note") as work:
        screen = HandoverScreen(work, {"source": path})
        statement = screen.kept(statement, "note") if caller.agent else statement
        line = f"- {clock}{statement}"
        page = work.text(path)
        refuse_conflict_markers(page, path)
        place = path.removesuffix(".md")
        change = Change(
            subject_line("note", place, statement),
            {path: with_line(page, moment[:10], line).encode()},
            trailers("note", agent=caller.agent, session=caller.session),
            author=agent_author(caller.agent),
        )
        commits = work.commit([*screen.changes, change])
        return NoteResult(line, path, commits[-1], (*work.notices, *screen.notices))
