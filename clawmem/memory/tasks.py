"""Read the tasks of a vault, and answer the questions of an evaluation that wait for a person (escalations)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, NotFound
from clawmem.memory.leases import MINUTES, claims_in_force, is_registered, own_claims, read_claims, with_claims
from clawmem.memory.proposals import ESCALATION, proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import check_prefix
from clawmem.model.kinds import file_kind
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.language.text import check_statement
from clawmem.model.proposals.proposal import APPROVED, OPEN, REJECTED, Proposal, ReviewDecision
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.claims import TASK as CLAIMED
from clawmem.model.records.claims import Claim
from clawmem.model.records.entity import slug
from clawmem.model.records.task import CLOSED, FOLDER, PASS, Task, parse_task, task_path, with_keys
from clawmem.model.records.task_moves import CLOSE, TAKE, Mover, move_words, task_keys
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

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
