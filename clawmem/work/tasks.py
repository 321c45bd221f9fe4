"""Acts on tasks: add them.

Read the tasks of a vault, and answer the questions of an evaluation that wait for a person (escalations).

The failure modes of a vault: the built-in ones, and what its own file says.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, InvalidInput, NotFound
from clawmem.index.search.lookup import PlacedFact
from clawmem.memory.leases import MINUTES, claims_in_force, is_registered, own_claims, read_claims, with_claims
from clawmem.memory.proposals import ESCALATION, proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.quarantine import refuse_order
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import check_prefix
from clawmem.model.facts.fact_words import holds_for
from clawmem.model.kinds import file_kind
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.language.text import as_one_file, check_statement, check_visible, counted
from clawmem.model.proposals.proposal import APPROVED, OPEN, REJECTED, Proposal, ReviewDecision
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.claims import TASK as CLAIMED
from clawmem.model.records.claims import Claim
from clawmem.model.records.entity import slug
from clawmem.model.records.failure import (
    LOG_PATH,
    MODES_PATH,
    FailureMode,
    FailureRecord,
    parse_failures,
    parse_modes,
    with_own,
)
from clawmem.model.records.strict_json import refuse_unread
from clawmem.model.records.task import (
    CLOSED,
    DONE,
    FOLDER,
    PASS,
    REVIEW,
    WORKFLOWS,
    Task,
    Workflow,
    check_workflow,
    missing_in,
    new_page,
    parse_task,
    parse_workflow,
    task_path,
    with_keys,
    workflow_path,
)
from clawmem.model.records.task_moves import CLOSE, TAKE, Mover, NewTask, move_words, task_keys
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.exchange.create import template_folder
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class KnownModes(NamedTuple):
    """The modes by id, and a notice if the vault's own file cannot be read, so that only the built-in ones are
    known."""

    modes: dict[str, FailureMode]
    notices: tuple[str, ...] = ()


@cache
def built_in_modes() -> dict[str, FailureMode]:
    """Return the modes that the template of a vault defines."""
    return parse_modes((template_folder() / MODES_PATH).read_bytes(), MODES_PATH, parse_yaml)


def read_modes(vault: Vault) -> KnownModes:
    """Return the failure modes of the vault."""
    try:
        data = vault.read(MODES_PATH)
        return KnownModes(with_own(built_in_modes(), parse_modes(data, MODES_PATH, parse_yaml) if data else {}))
    except ClawmemError as problem:
        return KnownModes(dict(built_in_modes()), (IncompleteAnswer(problem.message),))


def find_mode(known: KnownModes, name: str) -> FailureMode:
    """Return a mode. Raise NotFound, naming the existing ones."""
    if name not in known.modes:
        raise NotFound(
            f"There is no failure mode '{name}'.",
            f"The modes are {', '.join(known.modes)}. More can be added to {MODES_PATH}.",
        )
    return known.modes[name]


def read_failures(vault: Vault) -> tuple[FailureRecord, ...]:
    """Return all recorded failures in file order. Raise Unreadable if the log cannot be read."""
    return failures_in(vault.read(LOG_PATH))


def failures_or_notice(vault: Vault) -> tuple[tuple[FailureRecord, ...], tuple[str, ...]]:
    """Return the recorded failures, or a notice that they cannot be read."""
    try:
        return read_failures(vault), ()
    except ClawmemError as problem:
        return (), (IncompleteAnswer(problem.message),)


def mode_of(placed: PlacedFact) -> str | None:
    """Return the failure mode of a guardrail, or None."""
    value = (placed.fact.details or {}).get("failure_mode")
    return value if isinstance(value, str) else None


def evidence_of(placed: PlacedFact) -> tuple[str, ...]:
    """Return the ids of what led to a guardrail."""
    items = (placed.fact.details or {}).get("evidence")
    return tuple(text for text in items if isinstance(text, str)) if isinstance(items, list) else ()


def came_back(placed: PlacedFact, records: Sequence[FailureRecord]) -> list[FailureRecord]:
    """Return the failures of a guardrail's mode and agents since it holds, oldest first."""
    fact, led = placed.fact, evidence_of(placed)
    found = [
        record
        for record in records
        if record.mode == mode_of(placed)
        and holds_for(fact, record.agent)
        and record.timestamp >= fact.timestamp
        and record.id not in led
    ]
    return sorted(found, key=lambda record: (record.timestamp, record.id))


def failures_in(data: bytes | None) -> tuple[FailureRecord, ...]:
    """Return the failures in the bytes of the log. Raise Unreadable."""
    refuse_unread(data, LOG_PATH)
    return parse_failures(data or b"", LOG_PATH, parse_yaml)


BY_HAND = "by hand"


def open_escalations(work: WriteScope, slug: str) -> list[Proposal]:
    """Return the escalations of a task that wait for a person."""
    filed = read_proposals(work.vault, work.read).proposals
    return [
        proposal
        for proposal in filed
        if proposal.kind == ESCALATION and proposal.status == OPEN and (proposal.details or {}).get("task") == slug
    ]


def answered_escalations(work: WriteScope, task: Task) -> list[Proposal]:
    """Return the open escalations of a closed task with the decision that closed it."""
    decision = ReviewDecision(task.decided_by or BY_HAND, task.decided or stamp(work.caller.now), "decided at the task")
    status = APPROVED if task.ruling == PASS else REJECTED
    return [escalation._replace(status=status, decided=decision) for escalation in open_escalations(work, task.slug)]


class TaskList(NamedTuple):
    """The tasks that can be read, by priority and then by slug, and a notice for each other file."""

    tasks: tuple[Task, ...]
    notices: tuple[str, ...] = ()


def list_tasks(vault: Vault) -> TaskList:
    """Return all tasks of the vault, closed ones too."""
    found, notices = [], []
    for name in _slugs(vault):
        try:
            found.append(_read(vault, name))
        except ClawmemError as problem:
            notices.append(IncompleteAnswer(problem.message))
    return TaskList(tuple(sorted(found, key=lambda task: (task.priority, task.slug))), tuple(notices))


def find_task(vault: Vault, reference: str, exact: bool = False) -> Task:
    """Return the task with this slug, path or title, or unless `exact` with this unique beginning of a slug.

    Raise NotFound, AmbiguousId, or Unreadable, which names line and key, and InvalidInput for a short beginning."""
    names = _slugs(vault)
    wanted = reference.removeprefix(f"{FOLDER}/").removesuffix(".md")
    if wanted in names:
        return _read(vault, wanted)
    same = [name for name in names if slug(wanted) and slug(name) == slug(wanted)]
    if len(same) == 1:
        return _read(vault, same[0])
    near = [name for name in names if slug(wanted) and name.startswith(slug(wanted)) and not exact]
    titled = [task.slug for task in list_tasks(vault).tasks if slug(task.title) == slug(wanted) != ""]
    matches = titled or near
    if len(matches) > 1:
        raise AmbiguousId(reference, matches)
    if not matches:
        raise NotFound(f"There is no task '{reference}'.", "`clawmem task list` shows them.")
    return _read(vault, matches[0] if titled else check_prefix(reference, slug(wanted), matches[0]))


def _slugs(vault: Vault) -> list[str]:
    paths = (path.stem for path in (vault.root / FOLDER).glob("*.md"))
    return sorted(name for name in paths if (kind := file_kind(task_path(name))) and kind.name == "task")


def _read(vault: Vault, name: str) -> Task:
    path = task_path(name)
    return parse_task(vault.read(path) or b"", path, parse_yaml)


A_PERSON = "a person"


class ChangedTask(NamedTuple):
    """The task as it is now, as it was before, and the commit; None if nothing changed."""

    task: Task
    before: Task
    commit: str | None
    notices: tuple[str, ...] = ()


def move_task(vault: Vault, caller: Caller, reference: str, move: str, reason: str | None = None) -> ChangedTask:
    """Move a task: `take`, `release`, `submit`, `close`, `reject` or `reopen`, as `task_moves` decides. An escalation
    of a task that is closed gets the same decision.

    Raise NotFound, AmbiguousId, Unreadable, Refused or NotPermitted before anything is written."""
    text = allowed(vault.settings, check_statement(reason, "reason"), "The reason") if reason is not None else None
    with writing(vault, caller, f"task {move}") as work:
        before = find_task(vault, reference)
        task = with_move(before, move, mover(work), text, move == TAKE and holder_is_gone(work, before))
        writes = _claim_writes(work, task, move)
        change = task_change(work.caller, move, task, move_words(task, move, text))
        answered = answered_escalations(work, task) if task.ruling is not None else []
        written = {**(change.writes if task != before else {}), **writes, **proposal_writes(answered)}
        change = change._replace(writes=written, trailers=(*change.trailers, *proposal_trailers(answered)))
        commit = work.commit([change])[-1] if change.writes else None
        return ChangedTask(task, before, commit, (*work.notices, *_unchecked(task, move)))


def _claim_writes(work: WriteScope, task: Task, move: str) -> dict[str, bytes | None]:
    """Return the write with which the caller's session claims the task that it takes, or with which the session of the
    calling agent that claims it gives it back."""
    agent, session = work.caller.agent, work.caller.session or ""
    if agent is None:
        return {}
    if move == TAKE:
        items = own_claims(work, agent, session) if is_registered(work.vault, agent, session) else None
        if items is None or any(_is_about(claim, task) for claim in items):
            return {}
        return with_claims(work, agent, session, (*items, claim_on(task, work.caller)))
    for session_claims in read_claims(work.read, agent):
        left = tuple(claim for claim in session_claims.claims if not _is_about(claim, task))
        if left != session_claims.claims:
            return with_claims(work, agent, session_claims.session, left, session_claims.seen)
    return {}


def _is_about(claim: Claim, task: Task) -> bool:
    return (claim.kind, claim.what) == (CLAIMED, task.slug)


def claim_on(task: Task, caller: Caller) -> Claim:
    """Return the claim on a task as of now."""
    return Claim(CLAIMED, task.slug, since=stamp(caller.now))


def mover(work: WriteScope) -> Mover:
    """Return who moves a task in this scope."""
    at = stamp(work.caller.now)
    if work.caller.agent is not None:
        return Mover(work.caller.agent, False, at)
    person = work.person
    return Mover(person.name, True, at, f"{person.name} <{person.email}>") if person else Mover(A_PERSON, True, at)


def with_move(task: Task, move: str, who: Mover, reason: str | None = None, holder_is_gone: bool = False) -> Task:
    """Return the task after a move; the same task where the move changes nothing."""
    keys = task_keys(task, move, who, reason, holder_is_gone)
    return with_values(task, keys) if keys else task


def holder_is_gone(work: WriteScope, task: Task) -> bool:
    """Return whether an agent took a task longer ago than a lease lasts, and no session claims it any more."""
    if task.holder is None or "/" in task.holder or task.since is None:
        return False
    if not (work.vault.root / "agents" / task.holder).is_dir():
        return False  # a person
    try:
        since = moment_of(task.since)
    except ValueError:
        return False
    is_claimed = any(
        live_claim.claim.kind == CLAIMED and live_claim.claim.what == task.slug
        for live_claim in claims_in_force(work.vault, work.caller, work.read).claims
    )
    return not is_claimed and since + timedelta(minutes=work.vault.settings.number(MINUTES)) < work.caller.now


def with_values(task: Task, keys: Mapping[str, Any]) -> Task:
    """Return the task with these keys of its front matter, None for those that are removed."""
    return parse_task(with_keys(task.page, keys).encode(), task.path, parse_yaml)


def task_change(caller: Caller, move: str, task: Task, words: str, verb: str = "task") -> Change:
    """Return the change that writes a task. Its trailers let plain git find it, and the verdict."""
    items = (*trailers(f"{verb}-{move}", agent=caller.agent, session=caller.session), ("Task", task.slug))
    if task.verdict is not None and task.state in CLOSED:
        items = (*items, ("Verdict", task.verdict), ("Decided-By", task.decided_by or ""))
    subject = subject_line(f"{verb} {move}", task.path.removesuffix(".md"), words)
    return Change(subject, {task.path: task.page.encode()}, items, author=agent_author(caller.agent))


def _unchecked(task: Task, move: str) -> tuple[str, ...]:
    left = sum(not item.checked for item in task.acceptance)
    if move != CLOSE or not left:
        return ()
    return (f"criteria that are not checked: {left} of {len(task.acceptance)}",)


class AddedTasks(NamedTuple):
    """The tasks with an outcome each, `added` or `noop` (an open task has this title), and the commit."""

    tasks: tuple[Task, ...]
    outcomes: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


def add_tasks(vault: Vault, caller: Caller, new: Sequence[NewTask], keys: Mapping[str, Any]) -> AddedTasks:
    """Add tasks in one commit. `keys` are set in the front matter of each.

    A task whose title an open one has already is not added again. A checked box makes a task `done`, or `review` where
    an agent adds it, because a person decides what is done. Raise InvalidInput, NotFound or SecretFound before anything
    is written."""
    if keys.get("workflow"):
        find_workflow(vault, keys["workflow"])
    with writing(vault, caller, "task add") as work:
        known = list_tasks(vault)
        by_title = {slug(task.title): task for task in known.tasks if task.state not in CLOSED}
        made: dict[str, Task] = {}
        tasks, outcomes = list[Task](), list[str]()
        for task in new:
            name = slug(task.title)
            same = by_title.get(name)
            if same is None:
                same = by_title[name] = _task(work, task, keys, made)
                made[same.slug] = same
                outcomes.append("added")
            else:
                outcomes.append("noop")
            tasks.append(same)
        commit = work.commit([_added(caller, list(made.values()))])[-1] if made else None
        return AddedTasks(tuple(tasks), tuple(outcomes), commit, work.notices)


def _task(work: WriteScope, new: NewTask, keys: Mapping[str, Any], made: Container[str]) -> Task:
    """Return a new task with a slug that no file has."""
    title = check_statement(new.title, "title")
    path = task_path(free_slug(work, title, made))
    state = {} if not new.checked else {"state": DONE if work.caller.agent is None else REVIEW}
    page = new.page if new.page else new_page(title, {**keys, **state}, new.about, new.acceptance)
    check_visible(page, "task")
    refuse_order(work.caller, "task", page)
    task = parse_task(allowed(work.vault.settings, page, f"The task '{title}'").encode(), path, parse_yaml)
    if not new.page:
        return task
    if task.state in CLOSED and not mover(work).decides:
        raise InvalidInput(f"The task '{title}' is {task.state}, and a person decides that.", "Give it another state.")
    return with_values(task, {"title": task.title, "state": task.state, **keys})


def free_slug(work: WriteScope, title: str, made: Container[str]) -> str:
    """Return a slug for a title that no file of the vault has, and none in `made`."""
    name = as_one_file(slug(title)) or "task"
    name = f"{name}-task" if name == "readme" else name
    number, free = 1, name
    while free in made or work.read(task_path(free)) is not None:
        number += 1
        free = f"{name}-{number}"
    return free


def _added(caller: Caller, tasks: Sequence[Task]) -> Change:
    items = trailers("task-add", agent=caller.agent, session=caller.session)
    items = (*items, *(("Task", task.slug) for task in tasks))
    where = tasks[0].path.removesuffix(".md") if len(tasks) == 1 else "tasks"
    words = tasks[0].title if len(tasks) == 1 else counted(len(tasks), "task")
    writes: dict[str, bytes | None] = {task.path: task.page.encode() for task in tasks}
    return Change(subject_line("task add", where, words), writes, items, author=agent_author(caller.agent))


class WorkflowCheck(NamedTuple):
    """What a workflow lacks, one sentence each; empty if it is complete. If it is unreadable, its error."""

    id: str
    missing: tuple[str, ...]
    is_readable: bool = True


def list_workflows(vault: Vault) -> tuple[list[Workflow], list[str]]:
    """Return the readable workflows of the vault in the order of their ids, and a notice for each unreadable file."""
    found, notices = list[Workflow](), list[str]()
    for name in _ids(vault):
        try:
            found.append(find_workflow(vault, name))
        except ClawmemError as problem:
            notices.append(IncompleteAnswer(problem.message))
    return found, notices


def find_workflow(vault: Vault, workflow: str) -> Workflow:
    """Return a workflow. Raise NotFound, naming the existing ones, or Unreadable."""
    name = check_workflow(workflow)
    path = workflow_path(name)
    data = vault.read(path)
    if data is None:
        names = ", ".join(_ids(vault)) or "none"
        raise NotFound(
            f"There is no workflow '{name}'.", f"The workflows of this vault are: {names}. A new one is a file {path}."
        )
    return parse_workflow(data, path, parse_yaml)


def check_workflows(vault: Vault, workflow: str | None = None) -> tuple[WorkflowCheck, ...]:
    """Return what one workflow lacks, or each of them. An unreadable file lacks what its error says."""
    return tuple(_check(vault, name) for name in ([check_workflow(workflow)] if workflow else _ids(vault)))


def _check(vault: Vault, name: str) -> WorkflowCheck:
    try:
        found = find_workflow(vault, name)
        return WorkflowCheck(name, (*missing_in(found), *_unknown_modes(vault, found)))
    except NotFound:
        raise
    except ClawmemError as problem:
        return WorkflowCheck(name, (problem.message,), is_readable=False)


def _unknown_modes(vault: Vault, workflow: Workflow) -> list[str]:
    if not workflow.failure_modes:
        return []
    known = read_modes(vault)
    if known.notices:
        return list(known.notices)
    named = (failure_mode for failure_mode in workflow.failure_modes if failure_mode not in known.modes)
    return [f"failure_modes: '{text}' is no failure mode; the modes are {', '.join(known.modes)}." for text in named]


def _ids(vault: Vault) -> list[str]:
    return sorted(path.stem for path in (vault.root / WORKFLOWS).glob("*.yaml"))
