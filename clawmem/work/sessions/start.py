"""Start and resume sessions."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import Refused
from clawmem.memory.review.quarantine import refuse_order
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.ids import new_id
from clawmem.model.facts.reach import Reach
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement
from clawmem.model.pages.scratchpad import new_scratchpad, scratchpad_path
from clawmem.model.records.caller import Caller
from clawmem.model.records.claims import LiveClaim
from clawmem.model.records.session import (
    DEFAULT_AGENT,
    ENDED,
    OPEN,
    PREFIX,
    REVOKED,
    SessionCollision,
    SessionRecord,
    check_session_id,
    render_session,
)
from clawmem.model.records.task import Task
from clawmem.vault.state.session_journal import record_entry
from clawmem.vault.vault import Vault
from clawmem.work.sessions.claims import collision_of, others_claims, take_task, task_of
from clawmem.work.sessions.records import (
    SEEN,
    find_session,
    list_sessions,
    record_path,
    session_change,
)
from clawmem.work.workflows import find_workflow

_PREVIOUS = 3


class StartedSession(NamedTuple):
    """The session, its scratchpad as (path, text) if it has a task, the last ended sessions in the same scope (newest
    first), and the commit; None if the session was running already. `task` is the page of the task, if there is one,
    and `claims` are the claims of other sessions."""

    record: SessionRecord
    scratchpad: tuple[str, str] | None
    previous: tuple[SessionRecord, ...]
    commit: str | None
    notices: tuple[str, ...] = ()
    task: Task | None = None
    claims: tuple[LiveClaim, ...] = ()


def start_session(
    vault: Vault,
    caller: Caller,
    workflow: str | None = None,
    project: str | None = None,
    task: str | None = None,
    stage: str | None = None,
    session: str | None = None,
) -> StartedSession:
    """Register a session, take its task, and create the scratchpad, in one commit.

    `task` is a task of `tasks/`, or any words. If another session holds the task, the session starts without it, and a
    notice names the holder. `session` is the id that the caller wants, such as the id of its own conversation. If a
    session with this id exists, it continues. Raise NotFound for an unknown workflow, InvalidInput for an unknown stage
    or an invalid id."""
    if workflow is not None:
        declared = find_workflow(vault, workflow)
        if stage is not None:
            declared.stage(stage)
    wanted = check_session_id(session) if session else None
    if wanted is not None and _exists(vault, wanted):
        return resume_session(vault, caller, wanted)
    agent = caller.agent or DEFAULT_AGENT
    named = check_statement(task, "task") if task is not None else None
    refuse_order(caller, "task", task)
    refuse_order(caller, "stage", stage)
    others = list_sessions(vault, caller.now)
    chosen = wanted or new_id(PREFIX, caller.entropy, {other_session.id for other_session in others.sessions})
    moment = stamp(caller.now)
    record = SessionRecord(
        chosen, agent, OPEN, moment, moment, workflow=workflow, project=project, task=named, stage=stage
    )
    caller = caller._replace(agent=agent, session=chosen)
    with writing(vault, caller, "session start") as work:
        result = _started(vault, work, record)
        return result._replace(notices=(*result.notices, *others.notices))


def _started(vault: Vault, work: WriteScope, record: SessionRecord) -> StartedSession:
    taken = take_task(work, record)
    record = record._replace(task=taken.task.slug) if taken.task else record
    if taken.against is not None:
        met = SessionCollision(record.last_seen, *collision_of(taken.against))
        record = record._replace(collisions=(*record.collisions, met))
    pad = _scratchpad(work, record, taken.task)
    writes: dict[str, bytes | None] = {record_path(record): render_session(record), **taken.writes}
    if pad is not None and work.read(pad[0]) is None:
        writes[pad[0]] = pad[1].encode()
    commit = work.commit([session_change("session start", record, record.task or "no task", writes)])[-1]
    others = others_claims(vault, work.caller)
    items = (*work.notices, *taken.notices)
    return StartedSession(record, pad, previous_sessions(vault, work.caller, record), commit, items, taken.task, others)


def resume_session(vault: Vault, caller: Caller, reference: str) -> StartedSession:
    """Continue a session. An ended or abandoned one is opened again, in one commit."""
    record = find_session(vault, reference)
    if caller.agent is not None and record.agent != caller.agent:
        raise Refused(
            f"The session {record.id} belongs to the agent {record.agent}.", "Start one with `clawmem session start`."
        )
    if record.state == REVOKED:
        raise Refused(f"The session {record.id} was revoked.", "Start one with `clawmem session start`.")
    caller = caller._replace(agent=record.agent, session=record.id)
    moment, was = stamp(caller.now), record.state
    record = record._replace(state=OPEN, last_seen=moment, ended=None)
    if was == OPEN:
        pad_path = scratchpad_path(record.agent, record.task) if record.task else None
        text = vault.read_text(pad_path) if pad_path else None
        record_entry(vault, record.id, {"kind": SEEN, "at": moment}, durable=False)
        pad = (pad_path, text) if pad_path and text is not None else None
        task, others = task_of(vault, record), others_claims(vault, caller)
        return StartedSession(record, pad, previous_sessions(vault, caller, record), None, (), task, others)
    with writing(vault, caller, "session start") as work:
        return _started(vault, work, record)


def previous_sessions(vault: Vault, caller: Caller, record: SessionRecord) -> tuple[SessionRecord, ...]:
    """Return the last ended sessions with a summary that have the workflow and the project of a session."""
    every = list_sessions(vault, caller.now).sessions
    ended = [
        other_record
        for other_record in every
        if other_record.id != record.id and other_record.state == ENDED and other_record.summary
    ]
    same = [
        other_record
        for other_record in ended
        if (other_record.workflow, other_record.project) == (record.workflow, record.project)
    ]
    mine = [
        other_record for other_record in same if record.workflow or record.project or other_record.agent == record.agent
    ]
    return tuple(sorted(mine, key=lambda other_record: other_record.ended or "", reverse=True)[:_PREVIOUS])


def session_reach(record: SessionRecord) -> Reach | None:
    """Return the scope of a session's queries, or None if it has neither workflow nor project."""
    return Reach(record.workflow, record.project) if record.workflow or record.project else None


def _exists(vault: Vault, session: str) -> bool:
    return any((vault.root / "agents").glob(f"*/sessions/{session}.json"))


def _scratchpad(work: WriteScope, record: SessionRecord, task: Task | None) -> tuple[str, str] | None:
    if record.task is None:
        return None
    path = scratchpad_path(record.agent, record.task)
    return path, work.text(path) or new_scratchpad(task.title if task else record.task)
