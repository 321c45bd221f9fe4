"""`clawmem failure record|list|stats|modes`, and their acts: a failure that repeats files a guardrail proposal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from clawmem.errors import NotFound
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.filters import since_of
from clawmem.faces.parts.parameters import LIMIT, SINCE, Parameter
from clawmem.faces.parts.words import data_of
from clawmem.index.refresh import run_query
from clawmem.index.search.listing import all_guardrails
from clawmem.index.search.lookup import PlacedFact
from clawmem.memory.proposals import read_proposals
from clawmem.memory.quarantine import FiledProposalChange, ProposalWriter, QuarantineReason
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import GUARDRAIL, new_id
from clawmem.model.facts.fact_words import agents_of, holds_for
from clawmem.model.forms import render_lines
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement, counted
from clawmem.model.proposals.proposal import ADD, OPEN, REJECTED, SUPERSEDE, Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.failure import (
    LOG_PATH,
    MAST,
    PREFIX,
    FailureMode,
    FailureRecord,
    guardrail_rule,
)
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.vault import Vault
from clawmem.work.tasks import (
    came_back,
    evidence_of,
    failures_in,
    find_mode,
    mode_of,
    read_failures,
    read_modes,
)

_MOST_NOTES = 3
# So many failures of one mode and one agent propose a guardrail.
GUARDRAIL_AFTER = 3


class RecordedFailure(NamedTuple):
    """The recorded failure and its mode with the actions; how often this agent recorded the mode since the last
    decision about a guardrail for it; the proposal that this filed, if any; and the commit."""

    record: FailureRecord
    mode: FailureMode
    times: int
    proposal: Proposal | None
    commit: str
    notices: tuple[str, ...] = ()


class FailureList(NamedTuple):
    """Recorded failures, newest first, and how many there are in all."""

    failures: tuple[FailureRecord, ...]
    total: int


class FailureCount(NamedTuple):
    """The failures of one mode and agent: their number, the first and the last, the guardrails that hold, and the
    number since the newest of them."""

    mode: str
    agent: str | None
    number: int
    first: str
    last: str
    guardrails: tuple[str, ...]
    since: int


class _LastRuling(NamedTuple):
    """What was decided about a guardrail for a mode and an agent: the current guardrail that holds for it alone, the
    time from which failures count, the failures that led to a decision, and whether a proposal waits."""

    guardrail: PlacedFact | None
    after: str
    counted: frozenset[str]
    waits: bool


def record_failure(
    vault: Vault, mode_id: str, caller: Caller, note: str | None = None, where: Mapping[str, str | None] | None = None
) -> RecordedFailure:
    """Record a failure in one commit. `where` may have its workflow, project and task.

    If the agent recorded the mode GUARDRAIL_AFTER times since the last decision about it, the same commit
    files a guardrail proposal. Raise NotFound for an unknown mode, Unreadable if the log cannot be read.
    """
    known = read_modes(vault)
    mode = find_mode(known, mode_id)
    words = allowed(vault.settings, check_statement(note, "note"), "The note") if note else None
    with writing(vault, caller, "failure record") as work:
        before = failures_in(work.read(LOG_PATH))
        record = FailureRecord(
            new_id(PREFIX, caller.entropy, {other_record.id for other_record in before}),
            stamp(caller.now),
            mode.id,
            caller.agent,
            caller.session,
            note=words,
            **dict(where or {}),
        )
        ruling = _last_ruling(work, mode.id, caller.agent)
        recent = _recent([*before, record], record, ruling)
        due = len(recent) >= GUARDRAIL_AFTER and not ruling.waits
        filed = _propose(work, mode, recent, ruling) if due else None
        if filed is not None and filed.change is not None:
            record = record._replace(proposal=filed.proposal.id)
        commit = work.commit([_change(work, record, filed)])[-1]
        notices = [*known.notices, *work.notices, *([filed.notice] if filed is not None and filed.notice else [])]
        proposal = filed.proposal if filed is not None and filed.change is not None else None
        return RecordedFailure(record, mode, len(recent), proposal, commit, tuple(notices))


def list_failures(vault: Vault, mode: str | None, agent: str | None, limit: int, since: str = "") -> FailureList:
    """Return the recorded failures, newest first, of one mode or agent if given, and from a day or time on. Raise
    NotFound for an unknown mode."""
    if mode is not None:
        find_mode(read_modes(vault), mode)
    found = [
        failure
        for failure in read_failures(vault)
        if mode in (None, failure.mode) and agent in (None, failure.agent) and failure.timestamp >= since
    ]
    # Of those of one second, the log has the last one last.
    found.reverse()
    found.sort(key=lambda record: record.timestamp, reverse=True)
    return FailureList(tuple(found[:limit]), len(found))


def count_failures(vault: Vault) -> tuple[FailureCount, ...]:
    """Return the counts of each mode and agent, the most frequent first."""
    guardrails = run_query(vault, all_guardrails)
    by_setting: dict[tuple[str, str | None], list[FailureRecord]] = {}
    for failure in read_failures(vault):
        by_setting.setdefault((failure.mode, failure.agent), []).append(failure)
    counts = []
    for (mode, agent), records in by_setting.items():
        holding = [placed for placed in guardrails if mode_of(placed) == mode and holds_for(placed.fact, agent)]
        times = sorted(record.timestamp for record in records)
        since = min((len(came_back(placed, records)) for placed in holding), default=len(records))
        ids = tuple(placed.fact.id for placed in holding)
        counts.append(FailureCount(mode, agent, len(records), times[0], times[-1], ids, since))
    return tuple(sorted(counts, key=lambda count: (-count.number, count.mode, count.agent or "")))


def _last_ruling(work: WriteScope, mode: str, agent: str | None) -> _LastRuling:
    alone = [agent] if agent else []
    guardrails = [
        placed for placed in all_guardrails(work.index) if mode_of(placed) == mode and holds_for(placed.fact, agent)
    ]
    filed = [
        proposal
        for proposal in read_proposals(work.vault, work.read).proposals
        if proposal.fact is not None and proposal.fact.category == GUARDRAIL
        if mode_of(PlacedFact(proposal.fact, "")) == mode and list(agents_of(proposal.fact)) == alone
    ]
    rejected = [proposal for proposal in filed if proposal.status == REJECTED and proposal.decided is not None]
    counted = {each for placed in guardrails for each in evidence_of(placed)}
    counted |= {each for proposal in rejected if proposal.fact for each in evidence_of(PlacedFact(proposal.fact, ""))}
    times = [placed.fact.timestamp for placed in guardrails] + [
        proposal.decided.at for proposal in rejected if proposal.decided
    ]
    own = next((placed for placed in guardrails if list(agents_of(placed.fact)) == alone), None)
    return _LastRuling(
        own, max(times, default=""), frozenset(counted), any(proposal.status == OPEN for proposal in filed)
    )


def _recent(records: Sequence[FailureRecord], new: FailureRecord, ruling: _LastRuling) -> list[FailureRecord]:
    same = [record for record in records if record.mode == new.mode and record.agent == new.agent]
    return [record for record in same if record.timestamp >= ruling.after and record.id not in ruling.counted]


def _propose(
    work: WriteScope, mode: FailureMode, recent: Sequence[FailureRecord], ruling: _LastRuling
) -> FiledProposalChange:
    """Plan the proposal of a guardrail; of a stronger one if the failure came back in spite of one."""
    caller, before = work.caller, ruling.guardrail
    who = f"The agent {caller.agent}" if caller.agent else "A person"
    notes = list(dict.fromkeys(other_record.note for other_record in recent if other_record.note))[-_MOST_NOTES:]
    why = f"{who} recorded the failure mode {mode.id} {counted(len(recent), 'time')}"
    why += f" in spite of {before.fact.id}" if before else ""
    why += f": {'; '.join(notes)}" if notes else "."
    rule = guardrail_rule(mode)
    if before:
        rule = f"{rule} It came back {counted(len(recent), 'time')} until {caller.now:%Y-%m-%d}: {mode.actions[0]}"
    details: dict[str, Any] = {"why": why, "failure_mode": mode.id, "evidence": [each.id for each in recent]}
    record = {
        "fact": rule,
        "category": GUARDRAIL,
        "source": f"session:{caller.session}" if caller.session else "agent" if caller.agent else "user",
        "trust": "agent" if caller.agent else None,
        "agent": caller.agent,
        "details": {**details, **({"agents": [caller.agent]} if caller.agent else {})},
    }
    draft = draft_from_record({key: value for key, value in record.items() if value is not None}, caller.now)
    entity = before.entity if before else work.vault.settings.words("defaults.entity")
    reason = QuarantineReason(GUARDRAIL, why)
    return ProposalWriter(work).file(
        draft.fact, entity, reason, SUPERSEDE if before else ADD, [before.fact] if before else ()
    )  # fmt: skip


def _change(work: WriteScope, record: FailureRecord, filed: FiledProposalChange | None) -> Change:
    caller = work.caller
    log = work.read(LOG_PATH) or b""
    gap = b"\n" if log and not log.endswith(b"\n") else b""
    also = filed.change if filed is not None else None
    rows = trailers("failure record", agent=caller.agent, session=caller.session)
    return Change(
        subject_line("failure", record.mode, f"recorded as {record.id}"),
        {**(also.writes if also else {}), LOG_PATH: log + gap + render_lines([record])},
        tuple(dict.fromkeys((*rows, *(row for row in (also.trailers if also else ()) if row[0] != "Clawmem-Op")))),
        also.subject if also else "",
        agent_author(caller.agent),
    )


def record(
    call: Call,
    mode: Annotated[str, _WHICH],
    session: Annotated[
        str | None, Parameter("The session in which it happened (CLAWMEM_SESSION).", ("--session",), metavar="ID")
    ],
    note: Annotated[str | None, Parameter("What happened, in one sentence.", ("--note",))],
) -> Answer:
    """Record a failure, in one commit, and print what to do now, in order. After three of one mode and agent,
    the same commit files a guardrail proposal."""
    vault, caller, where = call.runtime.vault(), call.runtime.caller(), {}
    wanted = session or caller.session
    if wanted is not None:
        from clawmem.work.sessions.records import find_session

        try:
            found = find_session(vault, wanted)
            where = {"workflow": found.workflow, "project": found.project, "task": found.task}
            caller = caller._replace(agent=caller.agent or found.agent or None, session=found.id)
        except NotFound:
            if session is not None:
                raise
    failure = record_failure(vault, mode, caller, note, where)
    lines = [f"{number}. {action}" for number, action in enumerate(failure.mode.actions, 1)]
    lines.append(f"recorded as {failure.record.id}; {counted(failure.times, 'time')} since the last decision about it")
    if failure.proposal is not None:
        lines.append(f"proposed as a guardrail, {failure.proposal.id}: {failure.proposal.says}")
    data = {
        "failure": failure.record._asdict(),
        "actions": list(failure.mode.actions),
        "times": failure.times,
        "proposal": failure.proposal.id if failure.proposal else None,
        "commit": failure.commit,
    }
    return Answer(data, lines, failure.notices)


def list_(
    call: Call,
    mode: Annotated[str | None, Parameter("Only failures of this mode.", ("--mode",), completes="failure mode")],
    limit: Annotated[int | None, LIMIT],
    since: Annotated[str | None, SINCE._replace(help="Only failures of this day or later.")],
) -> Answer:
    """List the recorded failures, newest first; with --agent, those of the agent."""
    found = list_failures(call.runtime.vault(), mode, call.runtime.caller().agent, limit or 50, since_of(call, since))
    rows = [
        (each.timestamp, each.mode, each.agent or "a person", each.task or "", each.note or "", each.id)
        for each in found.failures
    ]
    talk = () if rows else ("No failures were recorded.",)
    return Answer(data_of(found), Table(("time", "mode", "agent", "task", "note", "failure"), rows), talk=talk)


def stats(call: Call) -> Answer:
    """Count the failures by mode and agent, and say which guardrails hold and how often the failure came back."""
    counts = count_failures(call.runtime.vault())
    rows = [
        (
            count.mode,
            count.agent or "a person",
            str(count.number),
            count.first,
            count.last,
            " ".join(count.guardrails) or "none",
            str(count.since) if count.guardrails else "",
        )
        for count in counts
    ]
    columns = ("mode", "agent", "failures", "first", "last", "guardrail", "since then")
    return Answer(
        {"stats": [data_of(count) for count in counts]},
        Table(columns, rows),
        talk=() if rows else ("No failures were recorded.",),
    )


def modes(call: Call, mode: Annotated[str | None, _WHICH]) -> Answer:
    """List the failure modes, or show one: its signs, its recovery actions in order, and the codes of MAST."""
    known = read_modes(call.runtime.vault())
    if mode is None:
        rows = [(each.id, each.about or "", " ".join(each.mast)) for each in known.modes.values()]
        data = [data_of(each) for each in known.modes.values()]
        return Answer({"modes": data}, Table(("mode", "about", "MAST"), rows), known.notices)
    other = find_mode(known, mode)
    lines = [f"{other.id}: {other.about or ''}".rstrip(": ")]
    lines += [f"sign: {sign}" for sign in other.signs]
    lines += [f"{number}. {action}" for number, action in enumerate(other.actions, 1)]
    lines += [f"guardrail: {other.guardrail}"] if other.guardrail else []
    lines += [f"MAST {code}: {MAST[code]}" for code in other.mast]
    return Answer({"modes": [data_of(other)]}, lines, known.notices)


_WHICH = Parameter("The failure mode, such as loop.", completes="failure mode")

VERB = {
    "record": Command(
        record,
        {"failure": FailureRecord, "actions": [str], "times": int, "proposal": (str, None), "commit": str},
        ("clawmem failure record loop --note 'The same test failed three times.'",),
    ),
    "list": Command(
        list_,
        {"failures": [FailureRecord], "total": int},
        ("clawmem failure list", "clawmem failure list --mode loop"),
        ("failures",),
    ),
    "stats": Command(stats, {"stats": [FailureCount]}, ("clawmem failure stats",), ("stats",)),
    "modes": Command(
        modes,
        {"modes": [{"...": FailureMode, "mast": [str]}]},
        ("clawmem failure modes", "clawmem failure modes loop"),
        ("modes",),
    ),
}
