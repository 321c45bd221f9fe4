"""Sync: what other machines learned is taken in, what this one learned is given to them, and nothing is ever forced."""

from __future__ import annotations

import re
import time
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, Locked, Refused, RemoteFailed
from clawmem.index.refresh import open_index
from clawmem.memory.completing import complete_merges
from clawmem.memory.curated import PATH as MEMORY
from clawmem.memory.curated import refresh_memory
from clawmem.memory.merging import Plan, plan_merge, policy_for
from clawmem.memory.permission import check_may_write_at_all
from clawmem.memory.summaries import refresh_summaries
from clawmem.memory.writing import writing
from clawmem.model.caller import Caller
from clawmem.model.change import Change, agent_author, subject_line, trailers
from clawmem.model.merging.policy import Conflict
from clawmem.model.text import counted
from clawmem.vault.driver import install_driver
from clawmem.vault.joining import advance, write_merge
from clawmem.vault.lock import writer_lock
from clawmem.vault.merges import merges_between
from clawmem.vault.remote import Told, check_remote, fetch, push
from clawmem.vault.rescue import keep_rescue
from clawmem.vault.transaction import Transaction, transaction
from clawmem.vault.vault import Vault
from clawmem.vault.versions import common_ancestors, count_between, is_ancestor, subjects_between

OP = "sync"
_BRANCH = re.compile(r"(?!.*(?:\.\.|//|\.lock$|/$|\.$))[A-Za-z0-9_][\w./-]*")
_SHOWN_SUBJECTS = 20
_SHORTEST_NAP, _LONGEST_NAP = 0.02, 1.0


class Wanted(NamedTuple):
    """With whom and how to meet; None where the settings say."""

    remote: str | None = None
    branch: str | None = None
    conflict: str | None = None
    dry_run: bool = False
    allow_unrelated: bool = False
    allow_rewritten: bool = False


class Taken(NamedTuple):
    """What was taken in: `nothing`, by `fast-forward` or by `merge`; how many commits, the new head, the rescue ref,
    and of a merge what was planned."""

    how: str = "nothing"
    received: int = 0
    commit: str | None = None
    rescue: str | None = None
    plan: Plan | None = None
    notices: tuple[str, ...] = ()


class Synced(NamedTuple):
    """Where was met, what was taken in over all attempts, how many commits were given (or would be), why giving failed
    where it did, what was in conflict and what waits for a person."""

    remote: str
    branch: str
    taken: tuple[Taken, ...]
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
    def plans(self) -> list[Plan]:
        """The merges that were made, or would be."""
        return [one.plan for one in self.taken if one.plan]

    @property
    def conflicts(self) -> list[Conflict]:
        """What both sides had changed in two ways."""
        return [conflict for plan in self.plans for conflict in plan.conflicts]

    @property
    def proposals(self) -> list[str]:
        """What waits for a person since."""
        return list(dict.fromkeys(one for plan in self.plans for one in plan.merged.proposals))


def sync(vault: Vault, caller: Caller, wanted: Wanted, told: Told = lambda line: None) -> Synced:
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
        meeting = _Meeting(vault, caller, wanted, told)
        done = meeting.tried() if wanted.dry_run else meeting.met()
    if done.received:
        open_index(vault).close()
    return done


class _Meeting:
    """One sync: with whom, how, and what was done so far."""

    def __init__(self, vault: Vault, caller: Caller, wanted: Wanted, told: Told) -> None:
        settings = vault.settings
        self.vault, self.caller, self.wanted, self.told = vault, caller, wanted, told
        self.remote = wanted.remote or settings.words("sync.remote")
        self.conflict = wanted.conflict or settings.words("sync.conflict")
        self.seconds = settings.number("sync.timeout_seconds")
        self.attempts = settings.whole("sync.attempts")
        self.branch = _checked_branch(wanted.branch or settings.words("sync.branch") or _own_branch(vault))
        check_remote(vault, self.remote)

    def fetched(self) -> str | None:
        """The remote's commit, or None where it has no such branch."""
        allowed = self.wanted.allow_rewritten
        return fetch(self.vault, self.remote, self.branch, self.told, self.seconds, allowed)

    def tried(self) -> Synced:
        """What would be done."""
        tip = self.fetched()
        head = _head(self.vault)
        taken = Taken() if tip is None else self._relation(head, tip)
        if taken.how == "merge" and tip is not None:
            taken = taken._replace(plan=self._planned(head, tip))
        return Synced(self.remote, self.branch, (taken,), count_between(self.vault, tip, head))

    def met(self) -> Synced:
        """Take in and give until nothing is left, or the attempts are."""
        install_driver(self.vault)
        taken: list[Taken] = []
        for attempt in range(1, self.attempts + 1):
            tip = self.fetched()
            taken.append(self._take_in(tip))
            head = _head(self.vault)
            done = Synced(self.remote, self.branch, tuple(taken), attempts=attempt, notices=_notices(taken))
            if head == tip:
                return done
            sent = count_between(self.vault, tip, head)
            try:
                if push(self.vault, self.remote, self.branch, head, self.told, self.seconds):
                    return done._replace(sent=sent, pushed=True)
            except RemoteFailed as problem:
                return done._replace(sent=sent, problem=problem)
            time.sleep(self._nap(attempt))
        raise Locked(
            f"Others pushed to {self.remote} at the same moment, {self.attempts} times; what they said is merged here.",
            "Run the command again: only giving is left to do.",
        )

    def _nap(self, attempt: int) -> float:
        """Who has tried often tries again soon, so that no one of many is passed over for ever."""
        share = int.from_bytes(self.caller.entropy(2)) / 0xFFFF
        return max(_SHORTEST_NAP, _LONGEST_NAP * share / attempt)

    def _take_in(self, tip: str | None) -> Taken:
        with transaction(self.vault, self.caller.now, OP) as started:
            started.adopt()
            head = _head(self.vault)
            taken = Taken() if tip is None else self._relation(head, tip)
            if tip is not None and taken.how == "fast-forward":
                taken = self._forward(started, head, tip, taken)
            elif tip is not None and taken.how == "merge":
                taken = self._merge(started, head, tip, taken)
            taken = taken._replace(notices=tuple(started.notices))
        self._complete(head, tip if taken.received else None)
        self._make_anew(taken)
        return taken

    def _complete(self, head: str, tip: str | None) -> None:
        """Complete what others merged with git alone."""
        merges = merges_between(self.vault, head, tip) if tip else []
        if merges:
            with writing(self.vault, self.caller, OP) as work:
                complete_merges(work, merges)

    def _relation(self, head: str, tip: str) -> Taken:
        if is_ancestor(self.vault, tip, head):
            return Taken()
        received = count_between(self.vault, head, tip)
        if is_ancestor(self.vault, head, tip):
            return Taken("fast-forward", received, tip)
        if not common_ancestors(self.vault, head, tip) and not self.wanted.allow_unrelated:
            raise Refused(
                f"This vault and {self.remote}/{self.branch} have no history in common: they were begun separately.",
                _UNRELATED if not (self.vault.git_dir / "shallow").exists() else _SHALLOW,
            )
        return Taken("merge", received)

    def _planned(self, head: str, tip: str) -> Plan:
        return plan_merge(self.vault, head, tip, policy_for(self.vault, self.conflict, head, tip))

    def _forward(self, started: Transaction, head: str, tip: str, taken: Taken) -> Taken:
        rescue = keep_rescue(self.vault, head, self.caller.now)
        advance(started, tip, subject_line(OP, "vault", f"took in {counted(taken.received, 'change')}"))
        return taken._replace(rescue=rescue)

    def _merge(self, started: Transaction, head: str, tip: str, taken: Taken) -> Taken:
        plan = self._planned(head, tip)
        rescue = keep_rescue(self.vault, head, self.caller.now)
        change = self._change(plan, head, tip, taken.received)
        commit = write_merge(self.vault, (head, tip), change, plan.entries, int(self.caller.now.timestamp()))
        advance(started, commit, change.subject)
        return taken._replace(commit=commit, rescue=rescue, plan=plan)

    def _change(self, plan: Plan, head: str, tip: str, received: int) -> Change:
        own = count_between(self.vault, tip, head)
        words = f"{counted(received, 'change')} from {self.remote} joined with {own} made here"
        return merge_change(self.vault, self.caller, plan, words, (head, tip))

    def _make_anew(self, taken: Taken) -> None:
        """Generated parts that both sides had rewritten are made anew, of the facts as they are now."""
        stale = taken.plan.merged.stale if taken.plan else ()
        if any(path.endswith(("/summary.md", "/index.md")) for path in stale):
            refresh_summaries(self.vault, self.caller)
        if MEMORY in stale:
            refresh_memory(self.vault, self.caller)


def merge_change(vault: Vault, caller: Caller, plan: Plan, words: str, parents: tuple[str, str]) -> Change:
    """The words of a merge commit: what came in, what was decided, which facts it touched beyond that."""
    merged = plan.merged
    told = [f"- {line}" for line in subjects_between(vault, parents[0], parents[1], _SHOWN_SUBJECTS)]
    decided = [f"- {one.says}" for one in merged.conflicts]
    decided += [f"- {one.old} was the id of two facts; one of them is {one.new} now" for one in merged.renamed]
    decided += [f"- {one.other} says the same as {one.kept}, which stands for both" for one in merged.twins]
    body = "\n".join(["Taken in:", *told, *(["", "Decided:", *decided] if decided else [])])
    facts = [one.fact for one in merged.conflicts if one.fact]
    facts += [one.new for one in merged.renamed] + [name for one in merged.twins for name in (one.kept, one.other)]
    rows = trailers(OP, facts=facts, agent=caller.agent, session=caller.session)
    filed = tuple(("Proposal", one) for one in merged.proposals)
    return Change(subject_line(OP, "vault", words), {}, (*rows, *filed), body, agent_author(caller.agent))


_UNRELATED = (
    "If they are one memory, join them with --allow-unrelated; else name another remote, or clone that vault instead."
)
_SHALLOW = "This clone is shallow: fetch the rest with `git fetch --unshallow`, then run the command again."


def _own_branch(vault: Vault) -> str:
    branch = vault.head().branch
    if branch is None:
        raise Refused("HEAD is detached: there is no branch to meet others on.", "Return to it with `git switch main`.")
    return branch.removeprefix("refs/heads/")


def _head(vault: Vault) -> str:
    head = vault.head()
    if head.branch is None:
        raise Refused("HEAD is detached: there is no branch to meet others on.", "Return to it with `git switch main`.")
    if head.commit is None:
        raise Locked("The vault has no first commit yet.", "Run `clawmem init` on it again.")
    return head.commit


def _checked_branch(name: str) -> str:
    if not _BRANCH.fullmatch(name):
        raise InvalidInput(f"'{name}' is not the name of a branch.", "Name one such as main.")
    return name


def _notices(taken: list[Taken]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notice for one in taken for notice in one.notices))
