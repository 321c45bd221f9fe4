"""End a session, and make a checkpoint of it, with what the agent hands in.

End a session that its agent did not end: its program ended it, and its transcript is in the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.memory.facts.remember import RememberedFact
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.lifecycle.tiers import COMPACT, ROTATE, zone
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.proposals.quarantine import judged_mark
from clawmem.model.records.caller import Caller
from clawmem.model.records.digestion import QUEUE_PATH, DigestionItem, render_queue, stored_queue
from clawmem.model.records.session import (
    CHECKPOINT_SCHEMA,
    ENDED,
    JUDGED,
    OPEN,
    UNREPORTED,
    SessionRecord,
    check_handover,
    new_scratchpad,
    render_session,
    scratchpad_path,
    sections,
    without_older_lines,
)
from clawmem.vault.state.journal import read_entries, take_entries
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import SessionEndRecords, WorkScope, joined, plan_records
from clawmem.work.sessions.claims import lost_task, renewed_claims, work_given_back
from clawmem.work.sessions.records import (
    find_session,
    record_path,
    session_at_hand,
    session_change,
    stored_record,
    with_entries,
)
from clawmem.work.tasks import find_workflow


class EndedSession(NamedTuple):
    """The ended session, the facts with their outcome, the proposals that wait, and the commit."""

    record: SessionRecord
    facts: tuple[RememberedFact, ...]
    proposals: tuple[Proposal, ...]
    commit: str
    notices: tuple[str, ...] = ()


class SessionCheckpoint(NamedTuple):
    """The session after a checkpoint, the facts, the zone (None if it was not asked), why older parts of the scratchpad
    were moved (empty if they were not), the restart text, and the commit."""

    record: SessionRecord
    facts: tuple[RememberedFact, ...]
    zone: str | None
    rotated: str
    restart: str
    commit: str
    notices: tuple[str, ...] = ()


def end_session(vault: Vault, caller: Caller, document: Mapping[str, Any], session: str | None = None) -> EndedSession:
    """End a session with the document that it hands in, in one commit.

    Lessons, decisions and knowledge become facts in the session's scope, guardrails become proposals, and outcomes are
    counted at their facts. Raise InvalidInput that names each wrong field, before anything is written."""
    checked = check_handover(document)
    record, caller = session_at_hand(vault, caller, session)
    moment = stamp(caller.now)
    with writing(vault, caller, "session end") as work:
        record, consumed = _folded(vault, work, record)
        result = plan_records(work, checked.document, scope_of_session(record))
        record = record._replace(
            state=ENDED,
            ended=moment,
            last_seen=moment,
            summary=result.report["summary"],
            reflection=result.report["reflection"],
            warnings=tuple(result.report.get("warnings") or ()),
            outcomes=checked.document.get("outcomes") or None,
        )
        record = _with_learned(record, result)
        record = record._replace(extra={**record.extra, JUDGED: judged_mark(record)})
        writes: dict[str, bytes | None] = {record_path(record): render_session(record), **work_given_back(work, record)}
        if record.notes or not (record.summary or "").startswith(UNREPORTED):
            queue = {f"session:{record.id}": _to_digest(record, moment), **stored_queue(work.read, parse_yaml)}
            writes[QUEUE_PATH] = render_queue(queue)
        change = session_change("session end", record, record.summary or "", writes)
        commit = work.commit([joined(result.changes, change)._replace(consumes=consumed)])[-1]
        notices = (*work.notices, *checked.notices, *result.notices)
        return EndedSession(record, result.facts, result.proposals, commit, notices)


def checkpoint_session(
    vault: Vault,
    caller: Caller,
    document: Mapping[str, Any] | None = None,
    session: str | None = None,
    scratchpad: str | None = None,
    stage: str | None = None,
    used: int | None = None,
    window: int | None = None,
) -> SessionCheckpoint:
    """Commit the notes of a session, its lessons and decisions, and its scratchpad (the whole new text), in one commit.

    In the zones `rotate` and `compact`, after an hour, and if the stage changes, older parts of the scratchpad move
    into the session record. `used` and `window` are tokens of the agent's context window."""
    checked = check_handover(document or {}, CHECKPOINT_SCHEMA)
    full = zone(used, window) if used is not None and window is not None else None
    record, caller = session_at_hand(vault, caller, session)
    if stage is not None and record.workflow is not None:
        find_workflow(vault, record.workflow).stage(stage)
    moment = stamp(caller.now)
    with writing(vault, caller, "session checkpoint") as work:
        renewed = renewed_claims(work, record, [*read_entries(vault, record.id), {"at": moment}])
        record, consumed = _folded(vault, work, record)
        why = _why_rotate(record, caller, full, stage)
        path = scratchpad_path(record.agent, record.task or record.id)
        before = work.text(path)
        pad, moved = _scratchpad(record, before, scratchpad, rotate=bool(why))
        document = {**checked.document, "scratchpad": pad, "moved": moved}
        result = plan_records(work, document, scope_of_session(record))
        pad = f"{result.report['scratchpad']}\n" if pad else ""
        entry: dict[str, Any] = {"at": moment, "notes": len(record.notes)}
        argument = {
            "stage": record.stage,
            "zone": full,
            **{key: result.report.get(key) for key in ("reflection", "moved")},
        }
        entry |= {key: value for key, value in argument.items() if value}
        record = _with_learned(record._replace(stage=stage or record.stage, last_seen=moment), result)
        record = record._replace(checkpoints=(*record.checkpoints, entry))
        writes: dict[str, bytes | None] = {path: pad.encode()} if pad != before else {}
        writes |= {record_path(record): render_session(record), **renewed}
        change = session_change("session checkpoint", record, record.task or record.id, writes)
        commit = work.commit([joined(result.changes, change)._replace(consumes=consumed)])[-1]
        notices = (*work.notices, *checked.notices, *result.notices, *lost_task(vault, record))
        return SessionCheckpoint(record, result.facts, full, why, restart_text(record, pad), commit, notices)


def _to_digest(record: SessionRecord, moment: str) -> DigestionItem:
    """Return the session as a source for digestion."""
    return DigestionItem(
        record.task or record.id,
        moment,
        session=record.id,
        agent=record.agent,
        workflow=record.workflow,
        project=record.project,
        entity=scope_of_session(record).entity(),
    )


def scope_of_session(record: SessionRecord) -> WorkScope:
    """Return the scope of what is learned in a session."""
    return WorkScope(record.workflow, record.project, record.task, record.stage, record.id)


def restart_text(record: SessionRecord, pad: str) -> str:
    """Return what an agent needs to go on with a session in an empty context window."""
    other_record = sections(pad)
    lines = [f"# Session {record.id}" + (f": {record.task}" if record.task else "")]
    about = {"workflow": record.workflow, "project": record.project, "stage": record.stage}
    lines += [f"{key}: {value}" for key, value in about.items() if value]
    for name in ("Goal", "Plan", "State", "Decisions", "Questions", "Next"):
        lines += [f"## {name}", other_record[name]] if other_record.get(name) else []
    reflection: Mapping[str, Any] = next(
        (checkpoint["reflection"] for checkpoint in reversed(record.checkpoints) if checkpoint.get("reflection")), {}
    )
    for key, title in (("learned", "Learned"), ("watch_for", "Watch for")):
        lines += [f"## {title}", *(f"- {other}" for other in reflection.get(key, ()))] if reflection.get(key) else []
    since = record.notes[-5:]
    lines += ["## Last notes", *(f"- {note.at[11:16]} {note.text}" for note in since)] if since else []
    return "\n".join(lines)


def _folded(vault: Vault, work: WriteScope, record: SessionRecord) -> tuple[SessionRecord, tuple[str, ...]]:
    """Return the record as the transaction sees it with the entries of its journal, and the files to consume."""
    entries, consumed = take_entries(vault, record.id)
    return with_entries(stored_record(work.read, record), entries), consumed


def _with_learned(record: SessionRecord, result: SessionEndRecords) -> SessionRecord:
    stored = [remembered_fact.fact.id for remembered_fact in result.facts if remembered_fact.outcome != "proposed"]
    filed = [remembered_fact.fact.id for remembered_fact in result.facts if remembered_fact.outcome == "proposed"] + [
        proposal.id for proposal in result.proposals
    ]
    return record._replace(
        learned=tuple(dict.fromkeys((*record.learned, *stored))),
        proposals=tuple(dict.fromkeys((*record.proposals, *filed))),
    )


def _why_rotate(record: SessionRecord, caller: Caller, full: str | None, stage: str | None) -> str:
    if full in (ROTATE, COMPACT):
        return f"the zone is {full}"
    if stage is not None and stage != record.stage:
        return f"the stage changed to {stage}"
    last = str(record.checkpoints[-1].get("at")) if record.checkpoints else record.started
    return "an hour has passed" if caller.now - moment_of(last) >= timedelta(hours=1) else ""


def _scratchpad(record: SessionRecord, before: str, text: str | None, rotate: bool) -> tuple[str, dict[str, str]]:
    """Return the text of the scratchpad, and what was moved out of it by heading. `text` is the whole new text."""
    pad = text if text is not None else before or (new_scratchpad(record.task) if record.task else "")
    return without_older_lines(pad) if rotate else (pad, {})


def end_unattended(vault: Vault, caller: Caller, session: str) -> bool:
    """End an open session that leaves no report; returns whether there was one to end.

    What the session taught is learned from its transcript by the next heartbeat. What was said in it is in the ledger
    only, where a request to forget reaches it."""
    try:
        record = find_session(vault, session)
    except ClawmemError:
        return False  # never registered
    if record.state != OPEN:
        return False
    end_session(vault, caller, {"summary": UNREPORTED, "reflection": {"learned": [], "watch_for": []}}, session)
    return True
