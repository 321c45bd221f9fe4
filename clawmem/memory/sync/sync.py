"""Sync: what other machines learned is taken in, what this one learned is given to them, and nothing is ever forced."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import ClawmemError, HistoryRewritten, InvalidInput, Locked, Refused, RemoteFailed
from clawmem.memory.permission import check_may_write_at_all
from clawmem.memory.sync.merge_message import OP
from clawmem.memory.sync.relation import HistoryRelation, RemoteBranch, relation
from clawmem.model.records.caller import Caller
from clawmem.vault.commit.lock import writer_lock
from clawmem.vault.commit.stale_locks import clear_ref_locks, ref_locks
from clawmem.vault.commit.transaction import Transaction, transaction
from clawmem.vault.exchange.remote import ASKED as ABOUT_REMOTES
from clawmem.vault.exchange.remote import fetch, find_remote, push, unused_on_the_way
from clawmem.vault.exchange.remote_process import Told
from clawmem.vault.git.configured import configured
from clawmem.vault.git.driver import ASKED as ABOUT_DRIVER
from clawmem.vault.git.driver import install_driver
from clawmem.vault.git.refs import Head, read_ref
from clawmem.vault.history.git_merges import GitMerge, git_merged, has_left
from clawmem.vault.history.versions import count_between
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.index.refresh.refresh import HeadChange
    from clawmem.memory.sync.merge_plan import MergePlan
    from clawmem.memory.sync.removed_facts import TakenOut
    from clawmem.model.merging.policy import MergeConflict
    from clawmem.model.settings.settings import Settings

_BRANCH = re.compile(r"(?!.*(?:\.\.|//|\.lock$|/$|\.$))[A-Za-z0-9_][\w./-]*")
_SHORTEST_NAP, _LONGEST_NAP = 0.02, 1.0


class SyncOptions(NamedTuple):
    """With whom and how to meet; None where the settings say."""

    remote: str | None = None
    branch: str | None = None
    conflict: str | None = None
    dry_run: bool = False
    allow_unrelated: bool = False
    allow_rewritten: bool = False


class ReceivedCommits(NamedTuple):
    """What was taken in: `nothing`, by `fast-forward` or by `merge`; how many commits, the new head, the rescue ref,
    and of a merge what was planned; where the branch was left, how many commits the remote lacked then, for the index
    what has changed, and the facts that others took out or altered."""

    how: str = "nothing"
    received: int = 0
    commit: str | None = None
    rescue: str | None = None
    plan: MergePlan | None = None
    notices: tuple[str, ...] = ()
    left_at: str | None = None
    ahead: int | None = None
    step: HeadChange | None = None
    lost: tuple[TakenOut, ...] = ()


class SyncResult(NamedTuple):
    """Where was met, what was taken in over all attempts, how many commits were given (or would be), why giving failed
    where it did, what was in conflict and what waits for a person."""

    remote: str
    branch: str
    taken: tuple[ReceivedCommits, ...]
    sent: int = 0
    pushed: bool = False
    attempts: int = 1
    problem: ClawmemError | None = None
    notices: tuple[str, ...] = ()

    @property
    def received(self) -> int:
        """How many commits of others were taken in."""
        return sum(one.received for one in self.taken)

    @property
    def plans(self) -> list[MergePlan]:
        """The merges that were made, or would be."""
        return [one.plan for one in self.taken if one.plan]

    @property
    def conflicts(self) -> list[MergeConflict]:
        """What both sides had changed in two ways."""
        return [conflict for plan in self.plans for conflict in plan.conflicts]

    @property
    def lost(self) -> list[TakenOut]:
        """The facts that others took out or altered."""
        return [fact for one in self.taken for fact in one.lost]

    @property
    def proposals(self) -> list[str]:
        """What waits for a person since."""
        return list(dict.fromkeys(one for plan in self.plans for one in plan.merged.proposals))


def sync(vault: Vault, caller: Caller, wanted: SyncOptions, told: Told | None = None) -> SyncResult:
    """Fetch, merge, push; again, a bounded number of times, where others push at the same moment.

    Raises NotFound without a remote, RemoteFailed where it cannot be fetched from, Refused for histories that have
    nothing in common, NeedsPerson where the policy is to fail or facts cannot be read, Locked where others were faster
    every time; what was merged here stays.
    """
    if caller.agent:
        check_may_write_at_all(vault, caller)
    vault.prepare_state()
    wait = vault.settings.number("lock.wait_seconds")
    with writer_lock(vault.state / "sync.lock", wait, "sync"):
        _clear_locks(vault, wait)
        meeting = _SyncRun(vault, caller, wanted, told)
        return meeting.tried() if wanted.dry_run else meeting.met()


def _clear_locks(vault: Vault, wait: float) -> None:
    """Let go of the locks of a sync that was killed."""
    if ref_locks(vault):
        with writer_lock(vault.state / "lock", wait, OP):
            clear_ref_locks(vault)


def _check_answered(settings: Settings, wanted: SyncOptions) -> None:
    """Raise Refused where the vault suggests another place than the one in force, and nobody on this machine said
    which: either could be the wrong one to give a memory to."""
    given = {"sync.remote": wanted.remote, "sync.branch": wanted.branch}
    if not given.keys() & settings.suggested.keys():
        return
    from clawmem.model.settings.local import open_suggestions

    for one in open_suggestions(settings):
        if one.key in given and given[one.key] is None and not one.answered:
            option, standing = one.key.replace("sync.", "--"), one.in_force or '""'
            raise Refused(
                f"This vault suggests another {one.key} than the one in force on this machine, and nobody here accepted"
                " it.",
                f"`clawmem config trust` shows and accepts it; `clawmem config set {one.key} {standing}` keeps what is"
                f" in force; {option} names one for this time.",
            )


class _SyncRun:
    """One sync: with whom, how, and what was done so far."""

    def __init__(self, vault: Vault, caller: Caller, wanted: SyncOptions, told: Told | None) -> None:
        settings = vault.settings
        _check_answered(settings, wanted)
        self.vault, self.caller, self.wanted, self.told = vault, caller, wanted, told
        self.conflict = wanted.conflict or settings.words("sync.conflict")
        self.seconds = settings.number("sync.timeout_seconds")
        self.attempts = settings.whole("sync.attempts")
        self.branch = _checked_branch(wanted.branch or settings.words("sync.branch") or _own_branch(vault))
        # Everything that git's own settings must tell is read by one git.
        self.configuration = configured(vault, f"{ABOUT_REMOTES}|{ABOUT_DRIVER}")
        self.remote = find_remote(vault, wanted.remote or settings.words("sync.remote"), self.configuration)
        unused = unused_on_the_way(vault)
        self.unused = (unused,) if unused else ()
        self.place = RemoteBranch(self.remote.name, self.branch, wanted.allow_unrelated, wanted.allow_rewritten)

    def fetched(self) -> str | None:
        """The remote's commit, or None where it has no such branch."""
        allowed = self.wanted.allow_rewritten
        # git moves this one by itself, whether or not we take what was fetched.
        theirs = f"refs/remotes/{self.remote.name}/{self.branch}"
        before = read_ref(self.vault.git_dir, theirs)
        try:
            return fetch(self.vault, self.remote, self.branch, self.told, self.seconds, allowed)
        except HistoryRewritten:
            from clawmem.vault.rewriting.redacted_history import forget_rejected  # only where a history is not taken

            with writer_lock(self.vault.state / "lock", self.vault.settings.number("lock.wait_seconds"), OP):
                forget_rejected(self.vault, theirs, before)
            raise

    def tried(self) -> SyncResult:
        """What would be done."""
        tip = self.fetched()
        head = _commit(_head(self.vault))
        if tip is None:
            return self._so_far([ReceivedCommits()], count_between(self.vault, None, head))
        with writer_lock(self.vault.state / "lock", self.vault.settings.number("lock.wait_seconds"), OP):
            apart = relation(self.vault, head, tip, self.place)
        taken = _how(apart, tip)
        if taken.how == "merge":
            from clawmem.memory.sync.apply_remote import planned  # only where both sides have something new

            taken = taken._replace(plan=planned(self.vault, (head, tip), self.conflict, apart))
        return self._so_far([taken], apart.own)

    def met(self) -> SyncResult:
        """Take in and give until nothing is left, or the attempts are."""
        install_driver(self.vault, self.configuration)
        taken: list[ReceivedCommits] = []
        for attempt in range(1, self.attempts + 1):
            began = time.monotonic()
            tip = self.fetched()
            taken.append(self._take_in(tip))
            head = _head(self.vault)
            done = self._so_far(taken)._replace(attempts=attempt)
            if head.commit == tip:
                return done
            sent = self._ahead(taken[-1], tip, _commit(head))
            try:
                if push(self.vault, self.remote, self.branch, head, self.told, self.seconds):
                    return done._replace(sent=sent, pushed=True, notices=(*done.notices, *self._first(tip)))
            except RemoteFailed as problem:
                return done._replace(sent=sent, problem=problem)
            time.sleep(self._nap(attempt, time.monotonic() - began))
        raise Locked(
            f"Others pushed to {self.remote.name} at the same moment, {self.attempts} times; what they said is merged"
            " here.",
            "Run the command again: only giving is left to do.",
        )

    def _first(self, tip: str | None) -> tuple[str, ...]:
        """What is to be told where the remote had no such branch before."""
        if tip is not None:
            return ()
        from clawmem.vault.exchange.first_push import settle_head  # once for each remote

        said = settle_head(self.vault, self.remote, self.branch, self.seconds)
        return (said,) if said else ()

    def _ahead(self, taken: ReceivedCommits, tip: str | None, head: str) -> int:
        """How many commits the remote lacks."""
        known = taken.ahead if taken.left_at == head else None
        return count_between(self.vault, tip, head) if known is None else known

    def _so_far(self, taken: list[ReceivedCommits], sent: int = 0) -> SyncResult:
        return SyncResult(self.remote.name, self.branch, tuple(taken), sent, notices=(*self.unused, *_notices(taken)))

    def _nap(self, attempt: int, took: float) -> float:
        """Up to as long as an attempt takes, as whoever was faster is through by then. Who has tried often tries again
        soon, so that no one of many is passed over for ever."""
        share = int.from_bytes(self.caller.entropy(2)) / 0xFFFF
        return max(_SHORTEST_NAP, min(_LONGEST_NAP, took) * share / attempt)

    def _take_in(self, tip: str | None) -> ReceivedCommits:
        with transaction(self.vault, self.caller.now, OP) as started:
            started.adopt()
            head = _commit(_head(self.vault))
            apart = relation(self.vault, head, tip, self.place) if tip is not None else HistoryRelation()
            taken = _how(apart, tip)._replace(left_at=head, ahead=apart.own if tip else None)
            if tip is not None and taken.how != "nothing":
                taken = self._joined(started, head, tip, apart, taken)
            taken = taken._replace(notices=tuple(started.notices))
        notices = self._settled(taken, apart.news.merges)
        if taken.plan is not None and taken.plan.merged.stale:
            from clawmem.memory.sync.apply_remote import make_anew  # it is there: a merge was made
            from clawmem.memory.writing import writing

            with writing(self.vault, self.caller, "summaries") as work:
                make_anew(work, taken.plan.merged.stale)
        return taken._replace(notices=(*taken.notices, *notices))

    def _joined(
        self, started: Transaction, head: str, tip: str, apart: HistoryRelation, taken: ReceivedCommits
    ) -> ReceivedCommits:
        from clawmem.memory.sync.apply_remote import (  # 20 ms: only where others said something new
            join,
            move_forward,
            planned,
        )

        if taken.how == "fast-forward":
            done = move_forward(started, self.caller, head, tip, apart)
            return taken._replace(rescue=done.rescue, left_at=tip, step=done.step, lost=done.lost)
        plan = planned(self.vault, (head, tip), self.conflict, apart)
        done = join(started, self.caller, self.remote.name, (head, tip), apart, plan)
        ahead = apart.own + 1
        return ReceivedCommits(
            "merge", apart.received, done.commit, done.rescue, plan, (), done.commit, ahead, done.step, done.lost
        )

    def _settled(self, taken: ReceivedCommits, merges: Sequence[GitMerge]) -> tuple[str, ...]:
        """What came in taken into the index; what git alone merged, here or elsewhere, completed, and ids that stand
        twice united."""
        doubled = False
        if taken.received:
            from clawmem.index.refresh.refresh import follow  # where nothing is new the index is not touched

            doubled = follow(self.vault, [taken.step] if taken.step else [])
        if not merges and not doubled and not (git_merged(self.vault) or has_left(self.vault)):
            return ()
        from clawmem.memory.sync.complete_merges import complete_merges  # where people merge by hand
        from clawmem.memory.writing import writing

        with writing(self.vault, self.caller, OP) as work:
            complete_merges(work, merges)
            return work.notices


def _how(apart: HistoryRelation, tip: str | None) -> ReceivedCommits:
    if not apart.received:
        return ReceivedCommits()
    return (
        ReceivedCommits("merge", apart.received) if apart.own else ReceivedCommits("fast-forward", apart.received, tip)
    )


def _own_branch(vault: Vault) -> str:
    branch = vault.head().branch
    if branch is None:
        raise Refused("HEAD is detached: there is no branch to meet others on.", "Return to it with `git switch main`.")
    return branch.removeprefix("refs/heads/")


def _commit(head: Head) -> str:
    assert head.commit
    return head.commit


def _head(vault: Vault) -> Head:
    head = vault.head()
    if head.branch is None:
        raise Refused("HEAD is detached: there is no branch to meet others on.", "Return to it with `git switch main`.")
    if head.commit is None:
        raise Locked("The vault has no first commit yet.", "Run `clawmem init` on it again.")
    return head


def _checked_branch(name: str) -> str:
    if not _BRANCH.fullmatch(name):
        raise InvalidInput(f"'{name}' is not the name of a branch.", "Name one such as main.")
    return name


def _notices(taken: list[ReceivedCommits]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notice for one in taken for notice in one.notices))
