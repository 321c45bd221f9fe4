"""Claims of a session: it claims a task, an entity or paths, and gives back what it claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, InvalidInput, NotFound, NotPermitted, Refused, Unreadable
from clawmem.index.search.lookup import entity_exists
from clawmem.index.tables.rights import is_restricted
from clawmem.memory.entities.places import resolve_entity
from clawmem.memory.leases import (
    ON_COLLISION,
    WARN,
    claims_in_force,
    mark_collision,
    own_claims,
    read_claims,
    refused,
    rivals,
    with_claims,
)
from clawmem.memory.permission import check_may_write
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.language.text import check_visible, one_line
from clawmem.model.records.caller import Caller
from clawmem.model.records.claims import (
    ENTITY,
    KINDS,
    PATH,
    TASK,
    Claim,
    LiveClaim,
    alive_until,
    claims_path,
    is_vault_path,
    pattern_of,
)
from clawmem.model.records.session import SessionRecord
from clawmem.model.records.task import CLOSED, OPEN, WORKING, Task
from clawmem.model.records.task_moves import TAKE
from clawmem.vault.vault import Vault
from clawmem.work.sessions.records import session_at_hand, session_change
from clawmem.work.tasks import claim_on, find_task, holder_is_gone, mover, with_move, with_values


class TakenTask(NamedTuple):
    """The task of a session that starts, the writes that take it, why they are missing, and the claim against it."""

    task: Task | None
    writes: dict[str, bytes | None]
    notices: tuple[str, ...]
    against: LiveClaim | None = None


class ClaimedWork(NamedTuple):
    """The session, what it has claimed or released now, all that it holds, the claims of others that overlap, and the
    commit; None if nothing changed."""

    session: str
    changed: tuple[Claim, ...]
    held: tuple[LiveClaim, ...]
    collisions: tuple[LiveClaim, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


def claim_work(
    vault: Vault, caller: Caller, what: str, session: str | None = None, project: str | None = None
) -> ClaimedWork:
    """Claim a task, an entity or paths for a session, for `coordination.lease_minutes` from its last sign of life.

    `what` is a task or an entity that exists, or a path or pattern; `task:`, `entity:` and `path:` say which. Raise
    Refused, naming the holder, if another session has claimed what overlaps, unless the settings say `warn`."""
    record, caller = session_at_hand(vault, caller, session)
    with writing(vault, caller, "session claim") as work:
        wanted = claim_of(work, what, project)._replace(since=stamp(caller.now))
        found = claims_in_force(vault, caller, work.read)
        met = rivals(found.claims, wanted, caller)
        if met and vault.settings.words(ON_COLLISION) != WARN:
            raise refused(vault, met[0], caller, f"{wanted.words} is not claimed")
        for claim in met:
            mark_collision(vault, claim, caller)
        items = own_claims(work, record.agent, record.id)
        is_new = all((claim.kind, claim.what, claim.project) != wanted[:3] for claim in items)
        writes = with_claims(work, record.agent, record.id, (*items, wanted) if is_new else items)
        commit = work.commit([session_change("session claim", record, wanted.words, writes)])[-1] if writes else None
        message = tuple(f"collision: {claim.words}" for claim in met)
        changed = (wanted,) if is_new else ()
        return ClaimedWork(
            record.id,
            changed,
            _held(vault, work, record),
            tuple(met),
            commit,
            (*work.notices, *found.notices, *message),
        )


def release_work(vault: Vault, caller: Caller, what: str | None, session: str | None = None) -> ClaimedWork:
    """Give back what a session has claimed: one claim, or all of them. Raise NotFound if it has not claimed it."""
    record, caller = session_at_hand(vault, caller, session)
    with writing(vault, caller, "session release") as work:
        known = next((claim.claims for claim in read_claims(work.read, record.agent) if claim.session == record.id), ())
        gone = tuple(claim for claim in known if what is None or _means(claim, what))
        if what is not None and not gone:
            names = ", ".join(claim.what for claim in known) or "nothing"
            raise NotFound(f"The session {record.id} has not claimed '{what}'.", f"It has claimed {names}.")
        writes = with_claims(work, record.agent, record.id, tuple(claim for claim in known if claim not in gone))
        words = ", ".join(claim.words for claim in gone)
        commit = work.commit([session_change("session release", record, words, writes)])[-1] if gone else None
        return ClaimedWork(record.id, gone, _held(vault, work, record), (), commit, work.notices)


def claim_of(work: WriteScope, what: str, project: str | None) -> Claim:
    """Return the claim that words mean. Raise NotFound or InvalidInput if they mean nothing."""
    check_visible(what, "claim")
    kind, mark, rest = what.partition(":")
    named = one_line(rest if mark and kind in KINDS else what)
    kind = kind if mark and kind in KINDS else ""
    if not named or named.startswith("/") or ".." in named.split("/"):
        raise InvalidInput(f"'{what}' cannot be claimed.", "Name a task, an entity, or a path below the project.")
    if kind in ("", TASK):
        try:
            return Claim(TASK, find_task(work.vault, named, exact=not kind).slug)
        except ClawmemError:
            if kind:
                raise
    if kind in ("", ENTITY):
        try:
            entity = resolve_entity(work.index, named, work.caller)
            if kind or entity_exists(work.index, entity):
                return Claim(ENTITY, entity)
        except ClawmemError:
            if kind:
                raise
    if not kind and not set(named) & set("/.*"):
        raise NotFound(f"There is no task and no entity '{what}'.", "A path is claimed as path:PATH.")
    return Claim(PATH, named, None if is_vault_path(named) else project)


def take_task(work: WriteScope, record: SessionRecord) -> TakenTask:
    """Return what a session that starts takes: the task, the writes that claim it and make it the agent's, and notices
    that say why they are missing."""
    try:
        task = task_of(work.vault, record)
    except Unreadable as problem:
        return TakenTask(None, {}, (problem.message,))
    if task is None:
        return TakenTask(None, {}, ())
    if task.state in CLOSED:
        return TakenTask(task, {}, (f"The task {task.slug} is {task.state}: `clawmem task reopen {task.slug}`.",))
    wanted = claim_on(task, work.caller)
    met = rivals(claims_in_force(work.vault, work.caller, work.read).claims, wanted, work.caller)
    if met:
        return TakenTask(task, {}, tuple(f"collision: {claim.words}, so it is not taken" for claim in met), met[0])
    try:
        mine = with_move(task, TAKE, mover(work), holder_is_gone=holder_is_gone(work, task))
        check_may_write(work.vault, work.caller, [task.path] if mine != task else [], "session start")
    except (Refused, NotPermitted) as problem:
        return TakenTask(task, {}, (problem.message,))
    items = [claim for claim in own_claims(work, record.agent, record.id) if claim[:2] != wanted[:2]]
    writes = with_claims(work, record.agent, record.id, (*items, wanted))
    return TakenTask(mine, {**writes, **({mine.path: mine.page.encode()} if mine != task else {})}, ())


def task_of(vault: Vault, record: SessionRecord) -> Task | None:
    """Return the page of a session's task; None if its task is only words. Raise Unreadable."""
    try:
        return find_task(vault, record.task, exact=True) if record.task else None
    except (NotFound, AmbiguousId):
        return None


def lost_task(vault: Vault, record: SessionRecord) -> tuple[str, ...]:
    """Return a notice if somebody else holds the task of a session, as after a merge where both had taken it."""
    try:
        task = task_of(vault, record)
    except ClawmemError:
        return ()
    if task is None or task.state in CLOSED or task.holder in (None, record.agent):
        return ()
    return (f"{task.holder} holds the task {task.slug}, not {record.agent}: ask before you go on with it",)


def others_claims(vault: Vault, caller: Caller) -> tuple[LiveClaim, ...]:
    """Return the claims in force of all sessions but the caller's; none where not everything may be seen: they name
    entities."""
    if is_restricted(vault):
        return ()
    return tuple(claim for claim in claims_in_force(vault, caller).claims if claim.session != caller.session)


def work_given_back(work: WriteScope, record: SessionRecord) -> dict[str, bytes | None]:
    """Return the writes that end the claims of a session and release its task."""
    writes = with_claims(work, record.agent, record.id, ()) if work.read(claims_path(record.agent)) else {}
    if record.task is None:
        return writes
    try:
        task = task_of(work.vault, record)
        check_may_write(work.vault, work.caller, [task.path] if task else [], "session end")
    except ClawmemError:
        return writes  # a page that cannot be read, or not be written by this agent: the session ends all the same
    if task is None or task.slug != record.task or task.state != WORKING or task.holder != record.agent:
        return writes
    released = with_values(task, {"state": OPEN, "holder": None, "since": stamp(work.caller.now)})
    return {**writes, task.path: released.page.encode()}


def renewed_claims(
    work: WriteScope, record: SessionRecord, entries: Iterable[Mapping[str, Any]]
) -> dict[str, bytes | None]:
    """Return the write that keeps the signs of life of a session with its claims, because its journal is folded now. A
    session whose lease ended in between has lost its claims."""
    if work.read(claims_path(record.agent)) is None:
        return {}
    signs = [str(entry["at"]) for entry in entries if "at" in entry]
    minutes = work.vault.settings.number("coordination.lease_minutes")
    mine = next((claim for claim in read_claims(work.read, record.agent) if claim.session == record.id), None)
    if mine is None:
        return {}
    last = max((mine.seen, *signs))
    is_alive = alive_until(mine.seen, signs, minutes) >= moment_of(last)
    return with_claims(work, record.agent, record.id, mine.claims if is_alive else (), last)


def _held(vault: Vault, work: WriteScope, record: SessionRecord) -> tuple[LiveClaim, ...]:
    found = claims_in_force(vault, work.caller, work.read).claims
    return tuple(claim for claim in found if claim.session == record.id)


def _means(claim: Claim, what: str) -> bool:
    return what in (claim.what, f"{claim.kind}:{claim.what}", pattern_of(claim))
