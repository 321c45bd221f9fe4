"""`clawmem failure record|list|stats|modes`."""

from __future__ import annotations

from typing import Annotated, Any

from clawmem.errors import NotFound
from clawmem.extensions.governance.failures import count_failures, list_failures, list_modes, record_failure
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import LIMIT, Parameter
from clawmem.memory.failure_modes import find_mode
from clawmem.model.language.text import counted
from clawmem.model.records.failure import MAST, FailureMode, FailureRecord


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
        "failure": _failure(failure.record),
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
) -> Answer:
    """List the recorded failures, newest first; with --agent, those of the agent."""
    found = list_failures(call.runtime.vault(), mode, call.runtime.caller().agent, limit or 50)
    rows = [
        (
            failure.timestamp,
            failure.mode,
            failure.agent or "a person",
            failure.task or "",
            failure.note or "",
            failure.id,
        )
        for failure in found.failures
    ]
    data = {"failures": [_failure(failure) for failure in found.failures], "total": found.total}
    talk = () if rows else ("No failures were recorded.",)
    return Answer(data, Table(("time", "mode", "agent", "task", "note", "failure"), rows), talk=talk)


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
    data = [{**count._asdict(), "guardrails": list(count.guardrails)} for count in counts]
    return Answer({"stats": data}, Table(columns, rows), talk=() if rows else ("No failures were recorded.",))


def modes(call: Call, mode: Annotated[str | None, _WHICH]) -> Answer:
    """List the failure modes, or show one: its signs, its recovery actions in order, and the codes of MAST."""
    known = list_modes(call.runtime.vault())
    if mode is None:
        rows = [
            (other_mode.id, other_mode.about or "", " ".join(other_mode.mast)) for other_mode in known.modes.values()
        ]
        data = [_mode(other_mode) for other_mode in known.modes.values()]
        return Answer({"modes": data}, Table(("mode", "about", "MAST"), rows), known.notices)
    other = find_mode(known, mode)
    lines = [f"{other.id}: {other.about or ''}".rstrip(": ")]
    lines += [f"sign: {sign}" for sign in other.signs]
    lines += [f"{number}. {action}" for number, action in enumerate(other.actions, 1)]
    lines += [f"guardrail: {other.guardrail}"] if other.guardrail else []
    lines += [f"MAST {code}: {MAST[code]}" for code in other.mast]
    return Answer({"modes": [_mode(other)]}, lines, known.notices)


def _failure(record: FailureRecord) -> dict[str, Any]:
    return record._asdict()


def _mode(mode: FailureMode) -> dict[str, Any]:
    return {**mode._asdict(), **{key: list(getattr(mode, key)) for key in ("signs", "actions", "mast")}}


_OPTIONAL = (str, None)
_FAILURE = {
    "id": str, "timestamp": str, "mode": str, "agent": _OPTIONAL, "session": _OPTIONAL, "workflow": _OPTIONAL,
    "project": _OPTIONAL, "task": _OPTIONAL, "note": _OPTIONAL, "proposal": _OPTIONAL,
}  # fmt: skip
_MODE = {
    "id": str, "about": _OPTIONAL, "signs": [str], "actions": [str], "guardrail": _OPTIONAL, "mast": [str],
}  # fmt: skip
_STAT = {
    "mode": str, "agent": _OPTIONAL, "number": int, "first": str, "last": str, "guardrails": [str], "since": int,
}  # fmt: skip
_WHICH = Parameter("The failure mode, such as loop.", completes="failure mode")

VERB = {
    "record": Command(
        record,
        {"failure": _FAILURE, "actions": [str], "times": int, "proposal": _OPTIONAL, "commit": str},
        ("clawmem failure record loop --note 'The same test failed three times.'",),
    ),
    "list": Command(
        list_,
        {"failures": [_FAILURE], "total": int},
        ("clawmem failure list", "clawmem failure list --mode loop"),
        ("failures",),
    ),
    "stats": Command(stats, {"stats": [_STAT]}, ("clawmem failure stats",), ("stats",)),
    "modes": Command(
        modes,
        {"modes": [_MODE]},
        ("clawmem failure modes", "clawmem failure modes loop"),
        ("modes",),
    ),
}
