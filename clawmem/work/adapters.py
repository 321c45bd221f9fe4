"""Adapters: programs that connect a workflow with a foreign system. Only those run that a person allowed here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NotFound, Refused, key_name
from clawmem.index.search.lookup import find_fact, known_events
from clawmem.memory.health.configure import change_setting
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact_words import outcomes_of
from clawmem.model.facts.gates import DECISION_OUTCOMES
from clawmem.model.forms import Before, FilledText, TimeText, WrongValue, no_other_keys, read_record
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.language.text import check_statement, counted, one_line
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.event import EVENT_ROLES, Event, ledger_path, render_events
from clawmem.model.records.strict_json import read_json
from clawmem.model.records.task import (
    CLOSED,
    DONE,
    FIRST,
    LAST,
    PASS,
    REJECT,
    STATES,
    USUAL,
    Task,
    Workflow,
    new_page,
    parse_task,
    task_path,
)
from clawmem.programs import Program, read_program, run_allowed
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault
from clawmem.work.decisions import record_outcome
from clawmem.work.tasks import find_workflow, free_slug, list_tasks, with_values

VERSION = 1
"""The version of the request, and of the answer."""
LISTS = ("tasks", "events", "outcomes")
MOST = 5_000
"""The most entries of one list."""


class AdapterTask(NamedTuple):
    """A task of the foreign system: its id there, its title, its state, its address, its text, its criteria, and its
    priority, 1 (first) to 5."""

    id: str
    title: str
    state: Annotated[str, STATES] = "open"
    url: str | None = None
    about: str = ""
    acceptance: tuple[Annotated[FilledText, one_line], ...] = ()
    priority: Annotated[int, (FIRST, LAST)] | None = None


class AdapterEvent(NamedTuple):
    """Something that happened there: its id, its time (ISO 8601 UTC), its text, and who said it."""

    id: str
    timestamp: Annotated[TimeText, lambda text: stamp(moment_of(text))]
    text: str
    role: Annotated[str, EVENT_ROLES] = "system"
    speaker: str | None = None


class AdapterOutcome(NamedTuple):
    """What became of a decision of this memory."""

    decision: str
    outcome: Annotated[str, DECISION_OUTCOMES]
    note: str | None = None


def _stripped(entry: Any) -> Any:
    """Return an entry without blanks around its texts, and without texts that are empty then."""
    if not isinstance(entry, Mapping):
        return entry
    stripped = {key: value.strip() if isinstance(value, str) else value for key, value in entry.items()}
    return {key: value for key, value in stripped.items() if value != ""}


def _few(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(entries) > MOST:
        raise WrongValue(f"has more than {MOST:,} entries")
    return entries


@no_other_keys
class AdapterReply(NamedTuple):
    """A checked answer."""

    tasks: Annotated[tuple[Annotated[AdapterTask, Before(_stripped)], ...], _few] = ()
    events: Annotated[tuple[Annotated[AdapterEvent, Before(_stripped)], ...], _few] = ()
    outcomes: Annotated[tuple[Annotated[AdapterOutcome, Before(_stripped)], ...], _few] = ()


def parse_reply(value: Any) -> AdapterReply:
    """Return the answer of an adapter. Raise InvalidInput with the path of the first wrong value."""
    try:
        return read_record(AdapterReply, value)
    except WrongValue as problem:
        name = key_name(problem.keys) or "the answer"
        raise InvalidInput(f"{name} {problem.problem}.", f"An answer has lists of {', '.join(LISTS)}.") from None


# Tasks of a foreign system: what an update of it changes here.
#
# The front matter of such a task keeps under `foreign` what the foreign system said last. So a value that differs from
# that was changed here, and an update does not replace it.

_SHARED = ("title", "state", "priority", "url")


def origin_of(workflow: str, adapter: str, foreign_id: str) -> str:
    """Return the value of `origin` for a task that an adapter brings."""
    return f"{workflow}/{adapter}:{foreign_id}"


def new_keys(task: AdapterTask, workflow: str, adapter: str, moment: str) -> dict[str, Any]:
    """Return the keys of the front matter of a task that is new here."""
    keys = {"workflow": workflow, "state": task.state, "priority": task.priority, "url": task.url}
    decision = _decision(task.state, workflow, adapter, moment)
    origin = origin_of(workflow, adapter, task.id)
    return {
        **{key: value for key, value in keys.items() if value is not None},
        **decision,
        "origin": origin,
        "foreign": _text(_values(task)),
    }


def updated(
    task: Task, argument: AdapterTask, workflow: str, adapter: str, moment: str
) -> tuple[dict[str, Any], list[str]]:
    """Return the keys of the front matter that an update of the foreign task sets, each that only the foreign side
    changed, and what both sides changed, in words."""
    before, now = _said(task), _values(argument)
    here = {key: getattr(task, key) for key in _SHARED}
    keys: dict[str, Any] = {}
    kept = []
    for key, value in now.items():
        if value in (before.get(key), here[key]):
            continue
        if here[key] == before.get(key):
            keys[key] = value
        else:
            kept.append(f"{key} of {task.slug} is '{here[key]}' here and '{value}' there; yours is kept")
    if "state" in keys:
        undone = {key: None for key in ("verdict", "decided", "decided_by", "reason") if getattr(task, key)}
        keys |= {"since": moment, **undone, **_decision(argument.state, workflow, adapter, moment)}
    return {**keys, **({"foreign": _text(now)} if now != before else {})}, kept


def _decision(state: str, workflow: str, adapter: str, moment: str) -> dict[str, Any]:
    if state not in CLOSED:
        return {}
    verdict = PASS if state == DONE else REJECT
    return {"verdict": verdict, "decided": moment, "decided_by": f"the adapter {workflow}/{adapter}"}


def _values(task: AdapterTask) -> dict[str, Any]:
    return {"title": task.title, "state": task.state, "priority": task.priority or USUAL, "url": task.url}


def _said(task: Task) -> dict[str, Any]:
    try:
        record = read_json(task.foreign or "{}")
    except ValueError:
        return {}  # a person changed the note of what was said: then every difference is one of this side
    return record if isinstance(record, dict) else {}


def _text(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False)


ALLOWED = "adapters.allowed"
# How long an adapter may run.
_SECONDS = 30.0


class AdapterCheck(NamedTuple):
    """An adapter of a workflow, what its answer to the recorded input contains, and what is wrong (None: nothing)."""

    name: str
    tasks: int = 0
    events: int = 0
    outcomes: int = 0
    problem: str | None = None


class AdapterRun(NamedTuple):
    """What a run gave: the tasks, the new events, those that were known, the recorded outcomes, and the commits; then
    how many tasks were added and changed here."""

    tasks: tuple[AdapterTask, ...]
    added: int
    known: int
    outcomes: int
    commits: tuple[str, ...]
    notices: tuple[str, ...] = ()
    new_tasks: int = 0
    changed_tasks: int = 0


class AllowedAdapter(NamedTuple):
    """The program of an adapter, and its SHA-256, by which it is allowed on this machine."""

    path: str
    checksum: str


def allow_adapter(vault: Vault, caller: Caller, workflow: str, adapter: str) -> AllowedAdapter:
    """Allow the program of an adapter on this machine, as it is now. Raise NotPermitted for an agent."""
    program = _program(vault, find_workflow(vault, workflow), adapter)
    items = vault.settings.words(ALLOWED).split()
    if program.checksum not in items:
        change_setting(vault, caller, ALLOWED, " ".join([*items, program.checksum]))
    return AllowedAdapter(program.path, program.checksum)


def check_adapters(vault: Vault, workflow: Workflow) -> list[AdapterCheck]:
    """Run each adapter of a workflow with its recorded input, and check its answer. Nothing is stored."""
    return [_check(vault, workflow, name) for name in workflow.adapters]


def run_adapter(vault: Vault, caller: Caller, workflow: str, adapter: str) -> AdapterRun:
    """Run an adapter: its events go to the ledger, its outcomes to the decisions, and its tasks to `tasks/`.

    What is known already is not stored again, and a value of a task that was changed here is kept. Raise Refused if it
    is not allowed on this machine, or fails: then nothing is stored."""
    found = find_workflow(vault, workflow)
    reply = ask_adapter(vault, found, adapter, recorded=False)
    # Of the begin, so that what happens there during the run comes with the next one.
    began = stamp(caller.now)
    events = [_event(vault, caller, found.id, adapter, event) for event in reply.events]
    commits: tuple[str, ...] = ()
    with writing(vault, caller, "adapter") as work:
        known = known_events(work.index, [event.id for event in events])
        fresh = list({event.id: event for event in events if event.id not in known}.values())
        days: dict[str, list[Event]] = {}
        for event in fresh:
            days.setdefault(ledger_path(event.timestamp[:10]), []).append(event)
        writes: dict[str, bytes | None] = {
            path: (work.read(path) or b"") + render_events(day) for path, day in days.items()
        }
        new = [each for each in reply.outcomes if not _is_recorded(work, each)]
        known_tasks = _tasks_of(vault, found.id, adapter)
        pages, added, changed, kept = take_in(work, found.id, adapter, reply.tasks, known_tasks)
        writes |= pages
        if writes:
            items = trailers("adapter", agent=caller.agent, session=caller.session, sources=[_source(adapter)])
            items = (*items, *(("Task", path.partition("/")[2].removesuffix(".md")) for path in pages))
            parts = [counted(len(fresh), "event")] if fresh else []
            parts += [counted(len(pages), "task")] if pages else []
            words = f"{' and '.join(parts)} of {found.id}"
            change = Change(subject_line("adapter", adapter, words), writes, items, author=agent_author(caller.agent))
            commits = work.commit([change])
        notices = (*work.notices, *kept)
    for new_outcome in new:
        decided = record_outcome(vault, new_outcome.decision, new_outcome.outcome, caller, new_outcome.note)
        commits = (*commits, decided.commit)
    vault.keep(_RUNS, {**_runs(vault), f"{found.id} {adapter}": began})
    counts = (len(fresh), len(events) - len(fresh), len(new))
    return AdapterRun(reply.tasks, *counts, commits, notices, added, changed)


def _is_recorded(work: WriteScope, reported: AdapterOutcome) -> bool:
    recorded = outcomes_of(find_fact(work.index, reported.decision).fact)
    return (reported.outcome, reported.note) in ((each.get("outcome"), each.get("note")) for each in recorded)


def _tasks_of(vault: Vault, workflow: str, adapter: str) -> list[Task]:
    origin = origin_of(workflow, adapter, "")
    return [task for task in list_tasks(vault).tasks if (task.origin or "").startswith(origin)]


def ask_adapter(vault: Vault, workflow: Workflow, adapter: str, recorded: bool) -> AdapterReply:
    """Run an adapter with its recorded input, or with none, and return its checked answer."""
    program = _program(vault, workflow, adapter)
    if program.checksum not in vault.settings.words(ALLOWED).split():
        raise Refused(
            f"The adapter {adapter} ({program.path}) is not allowed on this machine as it is now.",
            f"A person reads it, and then: `clawmem workflow allow {workflow.id} {adapter}`.",
        )
    tried = workflow.adapters[adapter].recorded
    if recorded and tried is None:
        raise InvalidInput(f"The adapter {adapter} has no recorded input.", f"Write it in adapters.{adapter}.recorded.")
    record, since = (tried or {}, None) if recorded else ({}, last_run(vault, workflow.id, adapter))
    # `since` is the time of the last run that was stored (ISO 8601 UTC), null before the first.
    about = {"version": VERSION, "workflow": workflow.id, "adapter": adapter}
    request = {**about, "since": since, "input": dict(record)}
    output = run_allowed(program, f"{json.dumps(request)}\n".encode(), _SECONDS)
    try:
        return parse_reply(read_json(output))
    except InvalidInput as problem:
        raise InvalidInput(f"The adapter {adapter}: {problem.message}", problem.hint) from None
    except ValueError as problem:
        raise InvalidInput(f"The adapter {adapter} did not write one JSON document: {problem}.") from None


def _program(vault: Vault, workflow: Workflow, adapter: str) -> Program:
    if adapter not in workflow.adapters:
        names = ", ".join(workflow.adapters) or "none"
        raise NotFound(f"The workflow {workflow.id} has no adapter '{adapter}'.", f"Its adapters are: {names}.")
    return read_program(workflow.adapters[adapter].run, vault.root)


def _check(vault: Vault, workflow: Workflow, name: str) -> AdapterCheck:
    try:
        reply = ask_adapter(vault, workflow, name, recorded=True)
    except ClawmemError as problem:
        return AdapterCheck(name, problem=f"{problem.message} {problem.hint}".strip())
    return AdapterCheck(name, len(reply.tasks), len(reply.events), len(reply.outcomes))


def _event(vault: Vault, caller: Caller, workflow: str, adapter: str, event: AdapterEvent) -> Event:
    key = f"{workflow} {adapter} {event.id}"
    return Event(
        f"evt_{hashlib.sha256(key.encode()).hexdigest()[:16]}",
        event.timestamp,
        event.role,
        allowed(vault.settings, event.text, "An event of the adapter"),
        speaker=event.speaker,
        agent=caller.agent,
        source=_source(adapter),
        external_id=event.id,
        kind="app",
        trust="tool",
    )


def _source(adapter: str) -> str:
    return f"tool:{adapter}"


def take_in(
    work: WriteScope, workflow: str, adapter: str, items: Sequence[AdapterTask], known: Sequence[Task]
) -> tuple[dict[str, bytes | None], int, int, list[str]]:
    """Plan the writes for the tasks that an adapter gave. `known` are those that it brought before. Return with the
    writes how many tasks are new and how many changed, and what was changed on both sides."""
    moment = stamp(work.caller.now)
    before = {each.origin: each for each in known}
    tasks = dict(before)
    notices: list[str] = []
    made: dict[str, Task] = {}
    for task in {each.id: each for each in items}.values():
        origin = origin_of(workflow, adapter, task.id)
        here = tasks.get(origin)
        if here is None:
            made[origin] = _new(work, task, workflow, adapter, moment, {each.slug for each in made.values()})
            continue
        keys, kept = updated(here, task, workflow, adapter, moment)
        notices += kept
        tasks[origin] = with_values(here, keys) if keys else here
    changed = [each for origin, each in tasks.items() if each != before[origin]]
    writes: dict[str, bytes | None] = {each.path: each.page.encode() for each in (*made.values(), *changed)}
    return writes, len(made), len(changed), notices


def _new(work: WriteScope, task: AdapterTask, workflow: str, adapter: str, moment: str, taken: set[str]) -> Task:
    title = check_statement(task.title, "title")
    criteria = tuple((text, False) for text in task.acceptance)
    page = new_page(title, new_keys(task._replace(title=title), workflow, adapter, moment), task.about, criteria)
    path = task_path(free_slug(work, title, taken))
    return parse_task(allowed(work.vault.settings, page, f"The task '{title}'").encode(), path, parse_yaml)


_RUNS = "adapters.json"


def last_run(vault: Vault, workflow: str, adapter: str) -> str | None:
    """Return when an adapter last ran to its end (ISO 8601 UTC), or None."""
    when = _runs(vault).get(f"{workflow} {adapter}")
    return when if isinstance(when, str) else None


def _runs(vault: Vault) -> Mapping[str, Any]:
    """When each adapter last ran; empty if the file is missing or damaged, so that the next run gives everything."""
    record = vault.kept(_RUNS)
    return record if isinstance(record, dict) else {}
