"""`clawmem session start|note|checkpoint|end|list|show|resume|claim|release|watch|schema`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command, Feed, Table
from clawmem.faces.parts.filters import since_of
from clawmem.faces.parts.parameters import LIMIT, PROJECT, SINCE, WORKFLOW, Parameter
from clawmem.faces.parts.words import context_data, outcome_lines, plain_value, said
from clawmem.faces.verbs.task import TASK_SHAPE, task_data, task_lines
from clawmem.memory.permission import check_reads
from clawmem.model.facts.fact_words import fact_data
from clawmem.model.language.text import check_choice, each_text
from clawmem.model.lifecycle.tiers import ADVICE, ZONES, zone
from clawmem.model.pages.tokens import servable
from clawmem.model.proposals.quarantine import without_orders
from clawmem.model.records.claims import KINDS, Claim, LiveClaim
from clawmem.model.records.session import CHECKPOINT_SCHEMA, EXAMPLE, SCHEMA, STATES, session_to_mapping
from clawmem.model.records.strict_json import json_problem, read_json
from clawmem.model.safety.recalled_text import CLOSING, wrap_context
from clawmem.serving.for_hooks import earlier_part
from clawmem.work.sessions.end import checkpoint_session, end_session
from clawmem.work.sessions.notes import note_session
from clawmem.work.sessions.records import current_session, find_session, list_sessions, session_reach, visible_to
from clawmem.work.sessions.start import StartedSession, resume_session, start_session, watch_sessions

if TYPE_CHECKING:
    from clawmem.work.sessions.claims import ClaimedWork


def start(
    call: Call,
    workflow: Annotated[str | None, WORKFLOW._replace(help="The workflow (CLAWMEM_WORKFLOW).", completes="workflow")],
    project: Annotated[str | None, PROJECT],
    task: Annotated[
        str | None,
        Parameter("A task, which the session takes and claims, or any few words.", ("--task",), completes="task"),
    ],
    stage: Annotated[str | None, _STAGE],
    session_id: Annotated[
        str | None, Parameter("An id of your own for the session; one that exists continues.", ("--id",))
    ],
    budget: Annotated[int | None, _BUDGET],
) -> Answer:
    """Register a session and print its id, its scratchpad, the last sessions' summaries and the context. Give the id to
    later commands in CLAWMEM_SESSION, or with --session."""
    runtime = call.runtime
    session = start_session(
        runtime.vault(), runtime.caller(), runtime.workflow(workflow), runtime.project(project), task, stage, session_id
    )
    return _started(call, session, budget)


def resume(call: Call, session_id: Annotated[str, _SESSION_ID], budget: Annotated[int | None, _BUDGET]) -> Answer:
    """Continue a session, also an ended or an abandoned one, and print what `start` prints."""
    return _started(call, resume_session(call.runtime.vault(), call.runtime.caller(), session_id), budget)


def note(
    call: Call,
    text: Annotated[str, Parameter("What happened, or - for stdin.", stdin=True)],
    session: Annotated[str | None, _SESSION],
    used: Annotated[int | None, _USED],
    window: Annotated[int | None, _WINDOW],
) -> Answer:
    """The note is on the disk when the command returns. The next checkpoint, end or heartbeat commits it."""
    zoned = _zone(call, used, window)
    noted = note_session(call.runtime.vault(), text, call.runtime.caller(), session)
    data = {
        "session": noted.session,
        "note": noted.note,
        "since_checkpoint": noted.since_checkpoint,
        **_zone_data(zoned),
    }
    return Answer(data, [f"noted {noted.note} in {noted.session}", *_zone_lines(zoned)], noted.notices)


def checkpoint(
    call: Call,
    session: Annotated[str | None, _SESSION],
    file: Annotated[
        str | None, _FROM._replace(help="Reflection, lessons and decisions as JSON: a file, or - for stdin.")
    ],
    scratchpad: Annotated[
        str | None, Parameter("The new scratchpad: a file, or - for stdin.", ("--scratchpad",), completes="file")
    ],
    stage: Annotated[str | None, _STAGE],
    used: Annotated[int | None, _USED],
    window: Annotated[int | None, _WINDOW],
) -> Answer:
    """Commit the notes, store lessons and decisions, and save the scratchpad. After an hour, at a new stage and in a
    full window, older parts of the scratchpad move into the session record. Print a text to go on with."""
    from clawmem.faces.parts.reading import file_or_stdin

    if file == "-" and scratchpad == "-":
        raise InvalidInput("--from and --scratchpad cannot both read stdin.", "Give one of them a file.")
    document = _document(call, file) if file is not None else None
    pad = file_or_stdin(call, scratchpad) if scratchpad is not None else None
    vault, caller = call.runtime.vault(), call.runtime.caller()
    result = checkpoint_session(vault, caller, document, session, pad, stage, used, window)
    data = {
        "session": session_to_mapping(result.record),
        "facts": [fact_data(remembered_fact.fact, remembered_fact.entity) for remembered_fact in result.facts],
        "restart": result.restart,
        "rotated": result.rotated,
        "commit": result.commit,
        **_zone_data(result.zone),
    }
    changed = outcome_lines(result.facts, [fact.outcome for fact in result.facts], result.commit)
    talk = [f"checkpoint of {result.record.id}", *changed, *_zone_lines(result.zone)]
    moved = result.record.checkpoints[-1].get("moved")
    talk += [f"older parts of the scratchpad moved into the record, because {result.rotated}"] if moved else []
    return Answer(data, result.restart.splitlines(), result.notices, talk=talk)


def end(call: Call, file: Annotated[str, _FROM], session: Annotated[str | None, _SESSION]) -> Answer:
    """End a session with a JSON document: summary and reflection, and lessons, decisions, guardrails, knowledge,
    warnings and outcomes if there are any. Everything becomes one commit."""
    result = end_session(call.runtime.vault(), call.runtime.caller(), _document(call, file), session)
    outcomes = [fact.outcome for fact in result.facts]
    data = {
        "session": session_to_mapping(result.record),
        "facts": [fact_data(remembered_fact.fact, remembered_fact.entity) for remembered_fact in result.facts],
        "outcome": outcomes,
        "proposals": [proposal.id for proposal in result.proposals],
        "commit": result.commit,
    }
    lines = [f"ended {result.record.id}", *outcome_lines(result.facts, outcomes, result.commit)]
    lines += [f"waits for review: {proposal.id}  {proposal.says}" for proposal in result.proposals]
    return Answer(data, lines, result.notices)


def list_(
    call: Call,
    state: Annotated[str | None, Parameter("{choices}.", ("--state",), choices=STATES)],
    of_agent: Annotated[
        str | None, Parameter("Only sessions of this agent.", ("--of",), metavar="ID", completes="agent")
    ],
    limit: Annotated[int | None, LIMIT._replace(help="The maximum number of sessions.")],
    since: Annotated[str | None, SINCE._replace(help="Only sessions that began on this day or later.")],
) -> Answer:
    """List the sessions, newest first."""
    check_choice(state, "state of a session", STATES)
    first = since_of(call, since)
    listed = list_sessions(call.runtime.vault(), call.runtime.now(), of_agent)
    chosen = [each for each in listed.sessions if state in (None, each.state) and each.started >= first][: limit or 20]
    caller = call.runtime.caller()
    rows = [
        (record.id, record.agent, record.state, record.started, record.workflow or "", record.task or "")
        for record in chosen
    ]
    talk = () if rows else ("There are no sessions.",)
    table = Table(("session", "agent", "state", "started", "workflow", "task"), rows)
    return Answer(
        {"sessions": [session_to_mapping(visible_to(record, caller)) for record in chosen]},
        table,
        listed.notices,
        talk=talk,
    )


def show(call: Call, session_id: Annotated[str | None, _SESSION_ID]) -> Answer:
    """Show a session: its times, notes, checkpoints, summary and reflection; without an id, the current one. The notes
    of an open session are for its agent and for people."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    record = visible_to(find_session(vault, session_id) if session_id else current_session(vault, caller), caller)
    shown = {key: value for key, value in session_to_mapping(record).items() if key not in ("notes", "judged")}
    shown["reflection"] = {key: value for key, value in (shown.get("reflection") or {}).items() if value}
    lines = [f"{key}: {plain_value(value)}" for key, value in shown.items() if value not in ({}, [], "")]
    lines += [f"note {note.at} {note.text}" for note in record.notes]
    return Answer({"session": session_to_mapping(record)}, lines)


def claim(
    call: Call,
    what: Annotated[
        str,
        Parameter(
            "A task, an entity, or a path or pattern, such as src/auth/**; task:, entity: and path: say which.",
            completes="task",
        ),
    ],
    session: Annotated[str | None, _SESSION],
    project: Annotated[str | None, PROJECT],
) -> Answer:
    """Claim a task, an entity, or paths for a session. The claim lasts for coordination.lease_minutes after the last
    sign of life. If another session has claimed what overlaps, this says whose it is, and the exit code is 1."""
    from clawmem.work.sessions.claims import claim_work

    runtime = call.runtime
    work = claim_work(runtime.vault(), runtime.caller(), what, session, runtime.project(project))
    return _claimed(work, [f"claimed {claim.words}" for claim in work.changed] or ["It is claimed already."])


def release(
    call: Call,
    what: Annotated[str | None, Parameter("What to give back; the default is everything.")],
    session: Annotated[str | None, _SESSION],
) -> Answer:
    """Give back what a session has claimed: one claim, or without a name all of them."""
    from clawmem.work.sessions.claims import release_work

    work = release_work(call.runtime.vault(), call.runtime.caller(), what, session)
    return _claimed(work, [f"released {claim.words}" for claim in work.changed] or ["Nothing was claimed."])


def watch(
    call: Call,
    seconds: Annotated[float | None, Parameter("Stop after this time; the default is never.", ("--seconds",))],
) -> Feed:
    """Follow the vault, and print one line of JSON for each start, note, checkpoint, end, claim, release and collision
    as it happens, until the command is stopped or the time is over; also with --json."""
    return Feed(watch_sessions(call.runtime.vault(), call.runtime.now, seconds, call.runtime.caller()))


def schema(
    call: Call,
    example: Annotated[bool, Parameter("Print a document that fits instead.", ("--example",))],
    of_checkpoint: Annotated[bool, Parameter("The document of `session checkpoint`.", ("--checkpoint",))],
) -> Answer:
    """Print the JSON Schema of the document of `session end`, or a document that fits it."""
    shown = EXAMPLE if example else CHECKPOINT_SCHEMA if of_checkpoint else SCHEMA
    if example and of_checkpoint:
        shown = {key: value for key, value in EXAMPLE.items() if key in CHECKPOINT_SCHEMA["properties"]}
    data = {"of": "checkpoint" if of_checkpoint else "end", "schema": shown}
    return Answer(data, json.dumps(shown, indent=2, ensure_ascii=False).splitlines())


def _started(call: Call, session: StartedSession, budget: int | None) -> Answer:
    from clawmem.serving.context.context import context  # only here

    vault, record = call.runtime.vault(), session.record
    caller = call.runtime.caller()._replace(agent=record.agent, session=record.id)
    check_reads(vault, caller)
    most = budget or vault.settings.whole("context.budget")
    result = context(vault, caller, most, record.task, reach=session_reach(record))
    path, pad = session.scratchpad or ("", "")
    pad = without_orders(pad)
    data = {
        "session": session_to_mapping(record),
        "previous": [each_text(session_to_mapping(other_record), without_orders) for other_record in session.previous],
        **({"scratchpad": {"path": path, "text": pad}} if path else {}),
        **({"task": task_data(session.task)} if session.task else {}),
        "claims": [_live_data(claim) for claim in session.claims],
        "context": context_data(result),
        "commit": session.commit,
    }
    lines = [f"session {record.id}"]
    if session.task is not None:
        title, *criteria = task_lines(session.task)
        lines += ["", f"task {session.task.slug} ({session.task.state}): {title}", *criteria]
        lines += [f"scratchpad {path}"] if path else []
    lines += [claim.words for claim in session.claims]
    if path:
        page = "\n".join(line[: -len(line.lstrip()) or None] + servable(line) for line in pad.rstrip().splitlines())
        lines += ["", wrap_context(f"{page}\n({path}, kept by {record.agent}, unreviewed)")]
    text = result.text.replace(CLOSING, f"{earlier_part(session.previous)}{CLOSING}")
    return Answer(data, [*lines, "", text], (*session.notices, *result.notices))


def _claimed(work: ClaimedWork, lines: list[str]) -> Answer:
    data = {
        "session": work.session,
        "changed": [_claim_data(claim) for claim in work.changed],
        "claims": [_live_data(claim) for claim in work.held],
        "collisions": [_live_data(collision) for collision in work.collisions],
        "commit": work.commit,
    }
    return Answer(data, lines, work.notices)


def _claim_data(claim: Claim) -> dict[str, Any]:
    return said({"kind": claim.kind, "what": claim.what, "project": claim.project})


def _live_data(claim: LiveClaim) -> dict[str, Any]:
    since = {"since": claim.claim.since, "until": claim.until}
    return {**_claim_data(claim.claim), **since, "session": claim.session, "agent": claim.agent}


def _document(call: Call, file: str) -> Any:
    from clawmem.faces.parts.reading import file_or_stdin

    text = file_or_stdin(call, file)
    try:
        return read_json(text)
    except ValueError as problem:
        raise InvalidInput(
            "The document is empty." if not text.strip() else f"The document is not JSON: {json_problem(problem)}.",
            "`clawmem session schema --example` prints a document that fits.",
        ) from None


def _zone(call: Call, used: int | None, window: int | None) -> str | None:
    if (used is None) != (window is None):
        raise InvalidInput("--used and --window belong together.", "Example: --used 90000 --window 200000")
    if used is None or window is None:
        return None
    return zone(used, window)


def _zone_data(zoned: str | None) -> dict[str, str]:
    return {"zone": zoned, "advice": ADVICE[zoned]} if zoned else {}


def _zone_lines(zoned: str | None) -> list[str]:
    return [f"zone {zoned}: {ADVICE[zoned]}"] if zoned else []


_SESSION_ID = Parameter("The id of the session, or a unique prefix.", completes="session")
_SESSION = Parameter(
    "The session; the default is CLAWMEM_SESSION, or the only open one of the agent.",
    ("--session",),
    metavar="ID",
    completes="session",
)
_USED = Parameter("How many tokens of the context window are in use.", ("--used",), least=0)
_WINDOW = Parameter("The size of the context window, in tokens.", ("--window",), least=1)
_BUDGET = Parameter("The maximum number of tokens of the context.", ("--budget", "-b"), least=1)
_FROM = Parameter("The JSON document: a file, or - for stdin.", ("--from",), completes="file")
_STAGE = Parameter("The stage of the workflow.", ("--stage",))
_NOTE = {"id": str, "at": str, "text": str}
_RECORD: Mapping[Any, Any] = {
    "id": str, "agent?": str, "state": set(STATES), "started?": str, "last_seen?": str, "ended?": str,
    "workflow?": str, "project?": str, "task?": str, "stage?": str, "served?": [str], "notes?": [_NOTE],
    "checkpoints?": [{str: object}], "summary?": str, "reflection?": {str: object}, "warnings?": [str],
    "outcomes?": {str: str}, "learned?": [str], "proposals?": [str], "judged?": int,
    "collisions?": [{"at": str, "what": str, "holder": str, "session": str}], str: object,
}  # fmt: skip
_CLAIM = {"kind": set(KINDS), "what": str, "project?": str}
_LIVE = {**_CLAIM, "since": str, "until": str, "session": str, "agent": str}
_CLAIMED = {"session": str, "changed": [_CLAIM], "claims": [_LIVE], "collisions": [_LIVE], "commit": (str, None)}
_STARTED = {
    "session": _RECORD, "previous": [_RECORD], "scratchpad?": {"path": str, "text": str}, "context": "context",
    "task?": TASK_SHAPE, "claims": [_LIVE], "commit": (str, None),
}  # fmt: skip
_ZONED = {"zone?": set(ZONES), "advice?": str}

VERB = {
    "start": Command(
        start,
        _STARTED,
        ("clawmem session start --workflow software --task 'stream the uploads'",),
        ("session",),
    ),
    "note": Command(
        note,
        {"session": str, "note": str, "since_checkpoint": int, **_ZONED},
        ("clawmem session note 'The parser accepts dates.' --session ses_1a2b",),
    ),
    "checkpoint": Command(
        checkpoint,
        {
            "session": _RECORD,
            "facts": ["fact"],
            "restart": str,
            "rotated": str,
            "commit": str,
            **_ZONED,
        },
        ("clawmem session checkpoint --session ses_1a2b --used 130000 --window 200000",),
        ("session",),
    ),
    "end": Command(
        end,
        {"session": _RECORD, "facts": ["fact"], "outcome": [str], "proposals": [str], "commit": str},
        ("clawmem session end --from end.json --session ses_1a2b",),
        ("session",),
    ),
    "list": Command(
        list_,
        {"sessions": [_RECORD]},
        ("clawmem session list --state open",),
        ("sessions",),
    ),
    "show": Command(
        show,
        {"session": _RECORD},
        ("clawmem session show ses_1a2b",),
        ("session",),
    ),
    "resume": Command(resume, _STARTED, ("clawmem session resume ses_1a2b",), ("session",)),
    "claim": Command(
        claim,
        _CLAIMED,
        ("clawmem session claim projects/website --session ses_1a2b", "clawmem session claim 'src/auth/**'"),
    ),
    "release": Command(
        release,
        _CLAIMED,
        ("clawmem session release --session ses_1a2b",),
    ),
    "watch": Command(
        watch,
        {"events": [{"event": str, "session": str, "agent": str, "at": str, str: object}]},
        ("clawmem session watch --seconds 1",),
        ("events",),
    ),
    "schema": Command(
        schema,
        {"of": {"end", "checkpoint"}, "schema": {str: object}},
        ("clawmem session schema", "clawmem session schema --example"),
    ),
}
