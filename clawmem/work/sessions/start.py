"""Start and resume sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Event
from typing import Any, NamedTuple

from clawmem.memory.leases import claims_in_force
from clawmem.memory.quarantine import refuse_order
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import new_id
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement
from clawmem.model.records.caller import Caller
from clawmem.model.records.claims import LiveClaim, collisions
from clawmem.model.records.session import (
    DEFAULT_AGENT,
    ENDED,
    OPEN,
    PREFIX,
    SessionCollision,
    SessionRecord,
    check_session_id,
    new_scratchpad,
    render_session,
    scratchpad_path,
)
from clawmem.model.records.task import Task
from clawmem.vault.state.journal import record_entry
from clawmem.vault.vault import Vault
from clawmem.work.sessions.claims import lost_task, others_claims, take_task, task_of
from clawmem.work.sessions.records import (
    SEEN,
    check_own,
    find_session,
    list_sessions,
    record_path,
    seen_by_viewer,
    session_change,
    visible_to,
)
from clawmem.work.tasks import find_workflow

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
    if wanted is not None and any((vault.root / "agents").glob(f"*/sessions/{wanted}.json")):
        return resume_session(vault, caller, wanted)
    agent = caller.agent or DEFAULT_AGENT
    named = check_statement(task, "task") if task is not None else None
    refuse_order(caller, "task", task)
    refuse_order(caller, "stage", stage)
    others = list_sessions(vault, caller.now)
    chosen = wanted or new_id(PREFIX, caller.entropy, {session.id for session in others.sessions})
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
        against = taken.against
        met = SessionCollision(record.last_seen, against.claim.what, against.agent, against.session)
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
    check_own(record, caller)
    caller = caller._replace(agent=record.agent, session=record.id)
    moment, was = stamp(caller.now), record.state
    record = record._replace(state=OPEN, last_seen=moment, ended=None)
    if was == OPEN:
        pad_path = scratchpad_path(record.agent, record.task) if record.task else None
        text = vault.read_text(pad_path) if pad_path else None
        record_entry(vault, record.id, {"kind": SEEN, "at": moment}, durable=False)
        pad = (pad_path, text) if pad_path and text is not None else None
        task, others = task_of(vault, record), others_claims(vault, caller)
        return StartedSession(
            record, pad, previous_sessions(vault, caller, record), None, lost_task(vault, record), task, others
        )
    with writing(vault, caller, "session start") as work:
        return _started(vault, work, record)


def previous_sessions(vault: Vault, caller: Caller, record: SessionRecord) -> tuple[SessionRecord, ...]:
    """Return the last ended sessions with a summary that have the workflow and the project of a session."""
    every = list_sessions(vault, caller.now).sessions
    ended = [each for each in every if each.id != record.id and each.state == ENDED and each.summary]
    same = [each for each in ended if (each.workflow, each.project) == (record.workflow, record.project)]
    shares = record.workflow or record.project
    mine = [each for each in seen_by_viewer(vault, same) if shares or each.agent == record.agent]
    return tuple(sorted(mine, key=lambda each: each.ended or "", reverse=True)[:_PREVIOUS])


def _scratchpad(work: WriteScope, record: SessionRecord, task: Task | None) -> tuple[str, str] | None:
    if record.task is None:
        return None
    path = scratchpad_path(record.agent, record.task)
    return path, work.text(path) or new_scratchpad(task.title if task else record.task)


EVERY_SECONDS = 0.5


def watch_sessions(
    vault: Vault, now: Callable[[], datetime], seconds: float | None, caller: Caller | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what happens from now on, for that long, or until the caller stops. An agent does not see the notes of the
    open sessions of others; a caller of None is a person."""
    known = {session.id: session for session in list_sessions(vault, now()).sessions}
    claimed = _claims(vault, now())
    left = timedelta(seconds=seconds) if seconds is not None else None
    pause, waited = Event(), timedelta()
    while left is None or waited < left:
        pause.wait(EVERY_SECONDS)
        waited += timedelta(seconds=EVERY_SECONDS)
        current = {session.id: session for session in list_sessions(vault, now()).sessions}
        current_claims = _claims(vault, now())
        yield from claim_changes(claimed, current_claims, stamp(now()))
        for session, record in sorted(current.items()):
            yield from changes(known.get(session), record, caller)
        known, claimed = current, current_claims


def changes(
    before: SessionRecord | None, after: SessionRecord, caller: Caller | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what happened to a session between two readings, oldest first."""
    after = after if caller is None else visible_to(after, caller)
    about = {"session": after.id, "agent": after.agent}
    if before is None or (before.state != OPEN and after.state == OPEN):
        yield _entry("start", after.started, about, workflow=after.workflow, task=after.task)
    seen = {note.id for note in before.notes} if before else set()
    for note in after.notes:
        if note.id not in seen:
            yield _entry("note", note.at, about, text=note.text)
    for checkpoint in after.checkpoints[len(before.checkpoints) if before else 0 :]:
        yield _entry("checkpoint", str(checkpoint.get("at", "")), about, stage=after.stage)
    for met in after.collisions[len(before.collisions) if before else 0 :]:
        against = {"what": met.what, "holder": met.holder, "with": met.session}
        yield _entry("collision", met.at, about, **against)
    if after.state != OPEN and (before is None or before.state == OPEN):
        name = "end" if after.state == ENDED else after.state
        yield _entry(name, after.ended or after.last_seen, about, summary=after.summary)


def claim_changes(before: Sequence[LiveClaim], after: Sequence[LiveClaim], at: str) -> Iterator[dict[str, Any]]:
    """Yield the claims that came and went between two readings, and those that overlap now: two machines may both
    have claimed the same."""
    record, holds = {_key(claim): claim for claim in before}, {_key(claim): claim for claim in after}
    for key, hold in holds.items():
        if key not in record:
            yield _entry("claim", hold.claim.since or at, _about(hold), what=hold.claim.what)
    for key, live_claim in record.items():
        if key not in holds:
            yield _entry("release", at, _about(live_claim), what=live_claim.claim.what)
    known = {(_key(claim), _key(two)) for claim, two in collisions(before)}
    for claim, two in collisions(after):
        if (_key(claim), _key(two)) not in known:
            against = {"what": two.claim.what, "holder": claim.agent, "with": claim.session}
            yield _entry("collision", two.claim.since or at, _about(two), **against)


def _claims(vault: Vault, now: datetime) -> tuple[LiveClaim, ...]:
    return claims_in_force(vault, Caller(now, bytes)).claims


def _key(claim: LiveClaim) -> tuple[str, str]:
    return claim.session, claim.claim.words


def _about(claim: LiveClaim) -> dict[str, str]:
    return {"session": claim.session, "agent": claim.agent}


def _entry(event: str, at: str, about: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": event, "at": at, **about, **{key: value for key, value in more.items() if value is not None}}
