"""Notes and signs of life of a session. They are on the disk at once, and committed later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.memory.permission import check_not_read_only
from clawmem.memory.quarantine import HandoverScreen
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import new_id
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement, counted
from clawmem.model.proposals.quarantine import order_handed_on
from clawmem.model.records.caller import Caller
from clawmem.model.records.session import (
    ABANDONED,
    OPEN,
    SessionRecord,
    render_session,
    state_at,
)
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.state.journal import read_entries, record_entry, sessions_with_entries, take_entries
from clawmem.vault.vault import Vault
from clawmem.work.sessions.claims import lost_task, renewed_claims, work_given_back
from clawmem.work.sessions.records import (
    ABANDONED_AFTER,
    NOTE,
    SEEN,
    SERVED,
    check_open,
    current_session,
    find_session,
    list_sessions,
    notes_since_checkpoint,
    record_path,
    session_change,
    stored_record,
    with_entries,
)

# From so many notes since the last checkpoint on, a note asks for one.
NOTES_BEFORE_CHECKPOINT = 5


class SessionNoted(NamedTuple):
    """The session, the id of the note, and how many notes were made since the last checkpoint."""

    session: str
    note: str
    since_checkpoint: int
    notices: tuple[str, ...] = ()


class FoldedSessions(NamedTuple):
    """The number of notes that were committed, the sessions that are abandoned now, and the commits."""

    notes: int
    abandoned: tuple[str, ...]
    commits: tuple[str, ...] = ()
    problems: tuple[ClawmemError, ...] = ()


def note_session(vault: Vault, text: str, caller: Caller, session: str | None = None) -> SessionNoted:
    """Store a note of a session in its journal. Raise Refused if the session has ended, SecretFound, or StorageFailed.

    The note is on the disk when this returns; the next checkpoint, end or heartbeat commits it."""
    record = current_session(vault, caller, session)
    caller = caller._replace(agent=caller.agent or record.agent)
    check_not_read_only(vault, caller)
    check_open(record, caller)
    statement = allowed(vault.settings, check_statement(text, "note"), "The note")
    waits: Sequence[str] = ()
    if order_handed_on(statement) is not None:
        with writing(vault, caller, "note") as work:
            screen = HandoverScreen(work, {"source": f"session:{record.id}"})
            statement, waits = screen.kept(statement, "note"), screen.notices
            work.commit(screen.changes)
    note = new_id("note_", caller.entropy, {note.id for note in record.notes})
    record_entry(vault, record.id, {"kind": NOTE, "id": note, "at": stamp(caller.now), "text": statement})
    number = notes_since_checkpoint(record) + 1
    ask = f"{number} notes since the last checkpoint: update the scratchpad with `clawmem session checkpoint`"
    asks = (ask,) if number >= NOTES_BEFORE_CHECKPOINT else ()
    return SessionNoted(record.id, note, number, (*waits, *asks, *lost_task(vault, record)))


def mark_served(vault: Vault, caller: Caller, fact_ids: Sequence[str]) -> None:
    """Record in the session of CLAWMEM_SESSION that facts were shown. Do nothing if it is no open session."""
    if not caller.session or vault.present is not None:
        return
    try:
        record = find_session(vault, caller.session)
        if record.state == OPEN:
            entry = {"kind": SERVED if fact_ids else SEEN, "at": stamp(caller.now)}
            record_entry(vault, record.id, {**entry, **({"facts": list(fact_ids)} if fact_ids else {})}, durable=False)
    except ClawmemError:
        return  # the session is of another program, or the disk is read-only: the answer is worth more than the mark


def fold_sessions(vault: Vault, caller: Caller, dry_run: bool = False) -> FoldedSessions:
    """Commit the notes that are only in journals, and mark sessions without a sign of life as abandoned.

    One commit for each session, so that one that cannot be written stops no other."""
    known = {record.id: record for record in list_sessions(vault, caller.now).sessions}
    waiting = [session for session in sessions_with_entries(vault) if session in known]
    gone = [
        record
        for record in known.values()
        if record.state == ABANDONED and stored_record(vault.read, record).state == OPEN
    ]
    if dry_run:
        return FoldedSessions(len(waiting), tuple(record.id for record in gone))
    notes = 0
    abandoned: list[str] = []
    commits: list[str] = []
    problems: list[ClawmemError] = []
    for session in dict.fromkeys([*waiting, *(record.id for record in gone)]):
        try:
            sessions = _fold(vault, caller, known[session])
        except ClawmemError as problem:
            problems.append(problem)
            continue
        notes += sessions.notes
        abandoned += sessions.abandoned
        commits += sessions.commits
    return FoldedSessions(notes, tuple(abandoned), tuple(commits), tuple(problems))


def _fold(vault: Vault, caller: Caller, record: SessionRecord) -> FoldedSessions:
    with writing(vault, caller._replace(agent=record.agent, session=record.id), "fold") as work:
        before = stored_record(work.read, record)
        seen = with_entries(before, read_entries(vault, record.id))
        seen = seen._replace(state=state_at(seen, caller.now, vault.settings.number(ABANDONED_AFTER)))
        if seen._replace(last_seen=before.last_seen) == before:
            return FoldedSessions(0, ())  # a sign of life alone is no commit
        entries, consumed = take_entries(vault, record.id)
        after = with_entries(before, entries)._replace(state=seen.state)
        added = len(after.notes) - len(before.notes)
        writes: dict[str, bytes | None] = {record_path(record): render_session(after)}
        if after.state == ABANDONED:
            writes |= work_given_back(work, after)
        else:
            writes |= renewed_claims(work, after, entries)
        change = session_change("session fold", after, counted(added, "note"), writes)
        commits = work.commit([change._replace(consumes=consumed)])
        gone = (record.id,) if after.state == ABANDONED != before.state else ()
        return FoldedSessions(added, gone, commits)
