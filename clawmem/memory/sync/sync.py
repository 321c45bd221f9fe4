"""Sync: fetch and merge commits of other machines, and push ours. Sync never forces a push.

Connect a vault with a git address of the user's own, or join the memory that is there on a further machine.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import (
    PERSON_RUNS,
    ClawmemError,
    HistoryRewritten,
    InvalidInput,
    Locked,
    NotPermitted,
    Refused,
    RemoteFailed,
)
from clawmem.memory.permission import check_not_read_only
from clawmem.memory.sync.relation import OP, HistoryRelation, RemoteBranch, compare_histories
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import slug
from clawmem.vault.commit.transaction import Transaction, repeat_if_changed, transaction
from clawmem.vault.disk import writer_lock
from clawmem.vault.exchange.remote import REMOTE_SETTINGS as ABOUT_REMOTES
from clawmem.vault.exchange.remote import fetch, find_remote, ignored_settings_notice, push, set_remote_head
from clawmem.vault.git.index import clear_ref_locks, ref_locks
from clawmem.vault.git.merge_driver import DRIVER_SETTINGS as ABOUT_DRIVER
from clawmem.vault.git.merge_driver import install_driver
from clawmem.vault.git.refs import Head, read_ref
from clawmem.vault.history.git_merges import GitMerge, has_new_merges, has_unfinished_merges
from clawmem.vault.history.history import count_between
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.index.refresh import HeadChange
    from clawmem.memory.sync.merge_plan import MergePlan, RemoteRemoval
    from clawmem.model.merging.fields import MergeConflict
    from clawmem.model.progress import OnProgress
    from clawmem.model.settings.settings import Settings

_BRANCH = re.compile(r"(?!.*(?:\.\.|//|\.lock$|/$|\.$))[A-Za-z0-9_][\w./-]*")
_MIN_DELAY, _MAX_DELAY = 0.02, 1.0
# The setting of this machine with the remote that each heartbeat syncs with.
HEARTBEAT_REMOTE = "sync.heartbeat"
# How often a sync tries if others push at the same time.
ATTEMPTS = 30


class SyncOptions(NamedTuple):
    """The remote, the branch and the policy of a sync. None means the value of the settings."""

    remote: str | None = None
    branch: str | None = None
    conflict: str | None = None
    dry_run: bool = False
    allow_unrelated: bool = False
    allow_rewritten: bool = False


class ReceivedCommits(NamedTuple):
    """The result of one fetch. `how` is `nothing`, `fast-forward` or `merge`; `received` is the number of commits.

    `head_after` is our branch afterwards, and `ahead` the number of commits that the remote lacked then.
    `head_change` is for the index; `removals` are our facts that others removed or reworded. `elsewhere` are conflicts
    that received merges settled, and `asked` the proposals that they filed and nobody decided."""

    how: str = "nothing"
    received: int = 0
    commit: str | None = None
    rescue: str | None = None
    plan: MergePlan | None = None
    notices: tuple[str, ...] = ()
    head_after: str | None = None
    ahead: int | None = None
    head_change: HeadChange | None = None
    removals: tuple[RemoteRemoval, ...] = ()
    elsewhere: tuple[MergeConflict, ...] = ()
    asked: tuple[str, ...] = ()


class SyncResult(NamedTuple):
    """The result of a sync over all attempts.

    `sent` is the number of commits that were pushed, or would be on a dry run. `problem` says why a push failed."""

    remote: str
    branch: str
    rounds: tuple[ReceivedCommits, ...]
    sent: int = 0
    pushed: bool = False
    attempts: int = 1
    problem: ClawmemError | None = None
    notices: tuple[str, ...] = ()

    @property
    def received(self) -> int:
        """Return the number of received commits."""
        return sum(commits.received for commits in self.rounds)

    @property
    def plans(self) -> list[MergePlan]:
        """Return the merges that were made, or would be on a dry run."""
        return [commits.plan for commits in self.rounds if commits.plan]

    @property
    def conflicts(self) -> list[MergeConflict]:
        """Return the conflicts of all merges, received ones, too."""
        found = [conflict for plan in self.plans for conflict in plan.conflicts]
        known = {conflict.says for conflict in found}
        other = (conflict for commits in self.rounds for conflict in commits.elsewhere)
        return [*found, *(conflict for conflict in other if conflict.says not in known)]

    @property
    def removals(self) -> list[RemoteRemoval]:
        """Return our facts that others removed or reworded."""
        return [fact for commits in self.rounds for fact in commits.removals]

    @property
    def proposals(self) -> list[str]:
        """Return the ids of the new proposals."""
        asked = (proposal for commits in self.rounds for proposal in commits.asked)
        return list(dict.fromkeys((*(name for plan in self.plans for name in plan.merged.proposals), *asked)))


def sync(vault: Vault, caller: Caller, options: SyncOptions, on_progress: OnProgress | None = None) -> SyncResult:
    """Fetch, merge and push. Repeat up to ATTEMPTS times if others push at the same time.

    `on_progress` gets how far git is. A failed push is not raised: see `problem` in the result. Raise
    NotFound without a remote, RemoteFailed if the fetch fails, Refused without a common history, NeedsDecision if the
    policy is `fail` or facts cannot be read, and Locked if others pushed first at every attempt. Merges made here
    are kept.
    """
    if caller.agent:
        check_not_read_only(vault, caller)
    vault.check_writable()
    vault.prepare_state()
    wait = vault.settings.number("lock.wait_seconds")
    with writer_lock(vault.state / "sync.lock", wait, "sync"):
        _clear_stale_locks(vault, wait)
        run = _SyncRun(vault, caller, options, on_progress)
        addresses = _check_addresses(vault, caller, run.remote.name)
        if options.dry_run:
            return run.preview()
        result = run.run()
        if caller.shell is None and caller.agent is None and not result.problem:
            vault.disk.replace(_synced_path(vault, run.remote.name), addresses, vault.state)
        return result


def _synced_path(vault: Vault, remote: str) -> Path:
    return vault.state / f"synced-{slug(remote)}"


def _check_addresses(vault: Vault, caller: Caller, remote: str) -> bytes:
    """Return the settings that say where the memory is sent to. Raise NotPermitted if an agent syncs and they are not
    those with which a person synced last."""
    with vault.git.with_user_config():
        pattern = rf"^(remote\.{re.escape(remote)}\.(push)?url|url\..*|core\.sshcommand)$"
        addresses = vault.git.try_run("config", "-z", "--get-regexp", pattern) or b""
    if caller.agent is not None and vault.disk.read(_synced_path(vault, remote)) != addresses:
        raise NotPermitted(
            f"No person has synced this vault with {remote} at its present address, and {caller.agent} is an agent.",
            f"{PERSON_RUNS} After that, {caller.agent} can sync with the same address.",
        )
    return addresses


def _clear_stale_locks(vault: Vault, wait: float) -> None:
    """Remove the ref locks of a sync that was killed."""
    if ref_locks(vault):
        with writer_lock(vault.state / "lock", wait, OP):
            clear_ref_locks(vault)


def _check_suggestions(settings: Settings, options: SyncOptions) -> None:
    """Raise Refused if the vault suggests another remote or branch than the current one and no person has decided.

    Either could be the wrong place to send a memory to."""
    record = {"sync.remote": options.remote, "sync.branch": options.branch}
    if not record.keys() & settings.suggested.keys():
        return
    from clawmem.model.settings.local import open_suggestions

    for other in open_suggestions(settings):
        if other.key in record and record[other.key] is None and not other.answered:
            option, standing = other.key.replace("sync.", "--"), other.in_force or '""'
            raise Refused(
                f"This vault suggests another {other.key} than this machine uses, and nobody has accepted it here.",
                f"`clawmem config trust` shows and accepts it; `clawmem config set {other.key} {standing}` keeps the"
                f" current value; {option} sets it for one run.",
            )


class _SyncRun:
    """One sync with its options."""

    def __init__(self, vault: Vault, caller: Caller, options: SyncOptions, on_progress: OnProgress | None) -> None:
        settings = vault.settings
        _check_suggestions(settings, options)
        self.vault, self.caller, self.options, self.on_progress = vault, caller, options, on_progress
        self.policy = options.conflict or settings.words("sync.conflict")
        self.seconds = settings.number("sync.timeout_seconds")
        self.branch = _check_branch(options.branch or settings.words("sync.branch") or _branch(vault.head()))
        # One git process reads all git settings.
        self.configuration = vault.git.config_values(f"{ABOUT_REMOTES}|{ABOUT_DRIVER}")
        self.remote = find_remote(vault, options.remote or settings.words("sync.remote"), self.configuration)
        unused = ignored_settings_notice(vault)
        self.unused = (unused,) if unused else ()
        self.remote_branch = RemoteBranch(
            self.remote.name, self.branch, options.allow_unrelated, options.allow_rewritten
        )

    def fetch(self) -> str | None:
        """Fetch, and return the commit of the remote branch, or None if it does not exist."""
        allowed = self.options.allow_rewritten
        # git updates this ref, even if we reject the fetched commits.
        theirs = f"refs/remotes/{self.remote.name}/{self.branch}"
        before = read_ref(self.vault.git_dir, theirs)
        try:
            return fetch(self.vault, self.remote, self.branch, self.on_progress, self.seconds, allowed)
        except HistoryRewritten:
            from clawmem.vault.history.git_merges import discard_rejected  # only where a history is rejected

            with writer_lock(self.vault.state / "lock", self.vault.settings.number("lock.wait_seconds"), OP):
                discard_rejected(self.vault, theirs, before)
            raise

    def preview(self) -> SyncResult:
        """Return what a sync would do. Only the fetch is done."""
        tip = self.fetch()
        head = _commit(_head(self.vault))
        if tip is None:
            return self._result([ReceivedCommits()], count_between(self.vault, None, head))
        with writer_lock(self.vault.state / "lock", self.vault.settings.number("lock.wait_seconds"), OP):
            relation = compare_histories(self.vault, head, tip, self.remote_branch)
        taken = _received(relation, tip)
        if taken.how == "merge":
            from clawmem.memory.sync.merge_plan import plan_with_policy

            taken = taken._replace(plan=plan_with_policy(self.vault, (head, tip), self.policy, relation))
        return self._result([taken], relation.own)

    def run(self) -> SyncResult:
        """Merge and push until both sides are equal, or all attempts are used."""
        install_driver(self.vault, self.configuration)
        rounds: list[ReceivedCommits] = []
        for attempt in range(1, ATTEMPTS + 1):
            began = time.monotonic()
            tip = self.fetch()
            rounds.append(self._take_in(tip))
            head = _head(self.vault)
            result = self._result(rounds)._replace(attempts=attempt)
            if head.commit == tip:
                return result
            sent = self._ahead(rounds[-1], tip, _commit(head))
            try:
                if push(self.vault, self.remote, self.branch, head, self.on_progress, self.seconds):
                    return result._replace(
                        sent=sent, pushed=True, notices=(*result.notices, *self._after_first_push(tip))
                    )
            except RemoteFailed as problem:
                return result._replace(sent=sent, problem=problem)
            time.sleep(self._delay(attempt, time.monotonic() - began))
        raise Locked(
            f"Others pushed to {self.remote.name} at the same time, {ATTEMPTS} times. Their commits are merged here.",
            "Run the command again: only the push is missing.",
        )

    def _after_first_push(self, tip: str | None) -> tuple[str, ...]:
        """Return notices for the first push to a branch."""
        if tip is not None:
            return ()
        text = set_remote_head(self.vault, self.remote, self.branch, self.seconds)
        return (text,) if text else ()

    def _ahead(self, taken: ReceivedCommits, tip: str | None, head: str) -> int:
        """Return the number of commits that the remote lacks."""
        known = taken.ahead if taken.head_after == head else None
        return count_between(self.vault, tip, head) if known is None else known

    def _result(self, rounds: list[ReceivedCommits], sent: int = 0) -> SyncResult:
        return SyncResult(
            self.remote.name,
            self.branch,
            tuple(rounds),
            sent,
            notices=(*self.unused, *tuple(dict.fromkeys(notice for commits in rounds for notice in commits.notices))),
        )

    def _delay(self, attempt: int, took: float) -> float:
        """Return a random delay in seconds, at most the duration of one attempt.

        The delay gets shorter with each attempt, so that every machine gets its turn."""
        share = int.from_bytes(self.caller.entropy(2)) / 0xFFFF
        return max(_MIN_DELAY, min(_MAX_DELAY, took) * share / attempt)

    def _take_in(self, tip: str | None) -> ReceivedCommits:
        with transaction(self.vault, self.caller.now, OP, caller=self.caller) as txn:
            taken, relation = repeat_if_changed(lambda: self._merged(txn, tip))
            taken = taken._replace(notices=tuple(txn.notices))
        notices = self._complete(taken, relation.news.merges)
        if taken.received:
            from clawmem.memory.facts.premises import refresh_premises

            notices = (*notices, *refresh_premises(self.vault, self.caller).notices)
        if taken.plan is not None and taken.plan.merged.stale:
            from clawmem.memory.sync.merge_plan import regenerate_pages
            from clawmem.memory.writing import writing

            with writing(self.vault, self.caller, "summaries") as work:
                regenerate_pages(work, taken.plan.merged.stale)
        if relation.news.joins:
            from clawmem.memory.proposals import read_proposals
            from clawmem.memory.sync.relation import joined_elsewhere

            conflicts, filed = joined_elsewhere(self.vault, relation.news.joins)
            asked = {proposal.id for proposal in read_proposals(self.vault).open}.intersection(filed)
            taken = taken._replace(elsewhere=tuple(conflicts), asked=tuple(sorted(asked)))
        return taken._replace(notices=(*taken.notices, *notices))

    def _merged(self, txn: Transaction, tip: str | None) -> tuple[ReceivedCommits, HistoryRelation]:
        """Merge `tip` into the branch as it is now. Raise ChangedMeanwhile if a person commits or edits meanwhile."""
        txn.scan_again()
        txn.adopt()
        head = _commit(_head(self.vault))
        if tip is None:
            return ReceivedCommits(head_after=head), HistoryRelation()
        relation = compare_histories(self.vault, head, tip, self.remote_branch)
        taken = _received(relation, tip)._replace(head_after=head, ahead=relation.own)
        return (taken if taken.how == "nothing" else self._apply(txn, head, tip, relation, taken)), relation

    def _apply(
        self, txn: Transaction, head: str, tip: str, relation: HistoryRelation, taken: ReceivedCommits
    ) -> ReceivedCommits:
        from clawmem.memory.sync.merge_plan import apply_fast_forward, commit_merge, plan_with_policy

        if self.on_progress:
            from clawmem.model.progress import Progress

            self.on_progress(Progress("merging", 0, None, now=f"{taken.received:,} commits"))
        plan, ahead = None, relation.own
        if taken.how == "fast-forward":
            remote = apply_fast_forward(txn, self.caller, head, tip, relation)
        else:
            plan, ahead = plan_with_policy(self.vault, (head, tip), self.policy, relation), relation.own + 1
            remote = commit_merge(txn, self.caller, self.remote.name, (head, tip), relation, plan)
        return taken._replace(**remote._asdict(), plan=plan, head_after=remote.commit, ahead=ahead)

    def _complete(self, taken: ReceivedCommits, merges: Sequence[GitMerge]) -> tuple[str, ...]:
        """Update the index, complete merges made by git, and merge duplicate ids. Return notices."""
        duplicates = False
        if taken.received:
            from clawmem.index.refresh import follow_head  # without new commits the index is not opened

            duplicates = follow_head(self.vault, [taken.head_change] if taken.head_change else [])
        if not merges and not duplicates and not (has_new_merges(self.vault) or has_unfinished_merges(self.vault)):
            return ()
        from clawmem.memory.sync.complete_merges import complete_merges  # only where people merge by hand
        from clawmem.memory.writing import writing

        with writing(self.vault, self.caller, OP) as work:
            complete_merges(work, merges)
            return work.notices


def _received(relation: HistoryRelation, tip: str | None) -> ReceivedCommits:
    if not relation.received:
        return ReceivedCommits()
    return (
        ReceivedCommits("merge", relation.received)
        if relation.own
        else ReceivedCommits("fast-forward", relation.received, tip)
    )


def _commit(head: Head) -> str:
    assert head.commit
    return head.commit


def _branch(head: Head) -> str:
    return head.needed_branch().removeprefix("refs/heads/")


def _head(vault: Vault) -> Head:
    head = vault.head()
    _branch(head)
    if head.commit is None:
        raise Locked("The vault has no first commit yet.", "Run `clawmem init` on it again.")
    return head


def _check_branch(name: str) -> str:
    if not _BRANCH.fullmatch(name):
        raise InvalidInput(f"'{name}' is not a valid branch name.", "Use a name such as main.")
    return name


if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress

_DRIVES = re.compile(
    r"dropbox( .*)?|onedrive.*|google ?drive.*|my drive|icloud ?drive|mobile documents|nextcloud|owncloud|"
    r"pcloud ?drive|mega(sync)?",
    re.IGNORECASE,
)


class Connection(NamedTuple):
    """The connected vault, the address as git has it, whether the vault was joined (the memory was there), the bare
    repository that was made, and the first sync."""

    vault: Vault
    address: str
    joined: bool
    made: Path | None
    sync: SyncResult


def connect(
    vault: Vault | None, root: Path, address: str, caller: Caller, environment: Mapping[str, str],
    on_progress: OnProgress | None = None,
) -> Connection:  # fmt: skip
    """Connect the vault at `root` with an address and sync. Without a vault there, join the memory at the address, or
    create one. A path where nothing is becomes a bare repository.

    Raise NotPermitted for an agent, Refused for an address that everybody can read, that is on a synced drive or is no
    vault, or where git has another one, and RemoteFailed if it cannot be reached. Only a new vault is left then.
    """
    import shutil

    from clawmem.vault.exchange.create import clone_vault, create_vault, make_bare, refuse_readable  # once in a vault

    if caller.agent is not None or caller.shell is not None:
        raise NotPermitted("Only a person says where a memory is sent to.", PERSON_RUNS)
    _refuse_synced_drive(root)
    made = None
    if ":" not in address.partition("/")[0]:
        folder = Path(address).expanduser().resolve()
        _refuse_synced_drive(folder)
        made = None if folder.exists() else folder
        address = str(folder)
    elif address.startswith(("http://", "https://")):
        refuse_readable(address, environment)
    try:
        if made is not None:
            make_bare(made, environment)
        joined = vault is None and clone_vault(root, address, environment, on_progress)
        vault = Vault(root, environment) if joined else vault or create_vault(root, environment, caller.now)
        return Connection(vault, address, joined, made, _first_sync(vault, address, caller, on_progress))
    except BaseException:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        raise


def _refuse_synced_drive(folder: Path) -> None:
    for place in (folder, *folder.parents):
        if _DRIVES.fullmatch(place.name) or (place / ".stfolder").exists():
            raise Refused(
                f"{folder} is on a drive that a program syncs ({place.name}). It copies files one by one, and two"
                " machines that write at once would damage a git repository.",
                "Keep the vault outside, and use a git host, or a folder on a disk or server that is not copied.",
            )


def _first_sync(vault: Vault, address: str, caller: Caller, on_progress: OnProgress | None) -> SyncResult:
    """Add the remote and sync. If that fails, the remote is removed again."""
    from clawmem.index.refresh import run_query  # once in a vault
    from clawmem.index.tables.contents import row_counts

    vault.check_writable()
    name = vault.settings.words("sync.remote")
    present = (vault.git.try_run("config", f"remote.{name}.url") or b"").decode().strip()
    if present and present != address:
        raise Refused(
            f"This vault is connected with {present} already.",
            f"To change that: `git -C {vault.root} remote set-url {name} {address}`.",
        )
    if not present:
        vault.git.run("remote", "add", name, address)
    try:
        # A vault in which nothing is yet takes what is there.
        is_empty = run_query(vault, lambda index: row_counts(index)[:2] == (0, 0))
        result = sync(vault, caller, SyncOptions(allow_unrelated=is_empty), on_progress)
        if result.problem is not None:
            raise result.problem
        # A plain `git pull` and `git push` of a person know where to.
        own = (vault.head().branch or "").removeprefix("refs/heads/")
        vault.git.run("config", f"branch.{own}.remote", name)
        vault.git.run("config", f"branch.{own}.merge", f"refs/heads/{result.branch}")
    except BaseException:
        if not present:
            vault.git.run("remote", "remove", name)
        raise
    return result
