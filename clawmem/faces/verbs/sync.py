"""`clawmem sync`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import DONE, PARTIAL, InvalidInput, NoVault
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.memory.sync.sync import HEARTBEAT_REMOTE, ReceivedCommits, SyncOptions, SyncResult
from clawmem.memory.sync.sync import sync as act
from clawmem.model.language.text import check_choice, counted, visible
from clawmem.model.merging.fields import POLICIES, MergeConflict
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.memory.sync.merge_plan import RemoteRemoval

_SHOWN = 5


def sync(
    call: Call,
    remote: Annotated[str | None, Parameter("The git remote (default: sync.remote).", ("--remote",))],
    branch: Annotated[
        str | None, Parameter("The branch of the remote (default: sync.branch, or the current branch).", ("--branch",))
    ],
    conflict: Annotated[
        str | None,
        Parameter(
            "What to do on a conflict: review (keep both and ask), newest, ours, theirs or fail.",
            ("--conflict",),
            metavar="POLICY",
            choices=tuple(POLICIES),
        ),
    ],
    *,
    dry_run: Annotated[bool, DRY_RUN._replace(help="Fetch and show what would be done; change nothing.")],
    setup: Annotated[
        str | None,
        Parameter(
            "Connect with a private git address, or join the memory there; also `sync setup`.",
            ("--setup",),
            metavar="ADDRESS",
        ),
    ],
    unrelated: Annotated[bool, Parameter("Merge two vaults without a common history.", ("--allow-unrelated",))],
    rewritten: Annotated[bool, Parameter("Sync with a remote whose history was rewritten.", ("--allow-rewritten",))],
) -> Answer:
    """Sync never force-pushes and never asks. Exit code 4: changes were received but could not be sent; 11: other
    machines pushed first at each attempt; 12: there was a conflict with --conflict fail."""
    check_choice(conflict, "conflict policy", POLICIES)
    runtime = call.runtime
    if setup is not None:
        return _connected(call, setup)
    wanted = SyncOptions(remote, branch, conflict, dry_run, unrelated, rewritten)
    with call.progress() as on_progress:
        result = act(runtime.vault(), runtime.caller(), wanted, on_progress)
    notices = [*result.notices]
    if result.problem is not None:
        notices.append(f"not sent: {result.problem.message} {result.problem.hint}".strip())
    return Answer(_data(result, dry_run), _lines(result, dry_run), notices, PARTIAL if result.problem else DONE)


def _data(result: SyncResult, dry_run: bool) -> dict[str, Any]:
    problem = result.problem
    return {
        "remote": result.remote,
        "branch": result.branch,
        "received": result.received,
        "sent": result.sent,
        "pushed": result.pushed,
        "dry_run": dry_run,
        "attempts": result.attempts,
        "taken": [_taken(commits) for commits in result.rounds if commits.how != "nothing"],
        "conflicts": [conflict._asdict() for conflict in result.conflicts],
        "proposals": result.proposals,
        "lost": [removal._asdict() for removal in result.removals],
        "twins": [twin._asdict() for plan in result.plans for twin in plan.merged.twins],
        "renamed": [other_id._asdict() for plan in result.plans for other_id in plan.merged.renamed],
        "problem": {"code": problem.code, "message": problem.message, "hint": problem.hint} if problem else None,
    }


def _taken(commits: ReceivedCommits) -> dict[str, Any]:
    return {"how": commits.how, "received": commits.received, "commit": commits.commit, "rescue": commits.rescue}


def _lines(result: SyncResult, dry_run: bool) -> Iterator[str]:
    would = "would be " if dry_run else ""
    place = f"{result.remote}/{result.branch}"
    if not result.received and not result.sent:
        yield f"nothing to do: {place} and this vault have the same contents"
        return
    if result.received:
        yield f"{would}received: {counted(result.received, 'change')} from {place}"
    if result.sent:
        kept = would if result.pushed or dry_run else "not "
        yield f"{kept}sent: {counted(result.sent, 'change')} to {place}"
    yield from _lost(result.removals)
    for conflict in result.conflicts:
        yield f"conflict: {conflict.says}"
    if result.proposals:
        yield f"{counted(len(result.proposals), 'question')} for you: `clawmem review list`"
    rescues = [commits.rescue for commits in result.rounds if commits.rescue]
    if rescues:
        yield f"before: {rescues[0]}"


def _lost(lost: Sequence[RemoteRemoval]) -> Iterator[str]:
    """The facts that others removed or reworded, grouped by commit."""
    by_commit: dict[tuple[str | None, str], list[RemoteRemoval]] = {}
    for removal in lost:
        by_commit.setdefault((removal.commit, removal.how), []).append(removal)
    for (commit, how), facts in by_commit.items():
        did = "removed" if how == "gone" else "reworded"
        names = ", ".join(remote_removal.fact for remote_removal in facts[:_SHOWN]) + (
            " ..." if len(facts) > _SHOWN else ""
        )
        what = f"{did} by others: {counted(len(facts), 'fact')} ({names})"
        if commit is None:
            yield f"{what}, in a merge"
            continue
        by = visible(f"{facts[0].author}: {facts[0].subject}")
        yield f"{what}, in {commit[:12]} by {by}; `clawmem undo {commit[:12]}` reverts that"


def _connected(call: Call, address: str) -> Answer:
    """Connect this machine, and sync with each heartbeat from now on, which cron runs where there is one."""
    from clawmem.memory.health.configure import change_setting
    from clawmem.memory.sync.sync import connect

    runtime = call.runtime
    if address.startswith("-"):
        raise InvalidInput("The address is missing.", "Example: `clawmem sync setup git@host:me/memory.git`.")
    try:
        present, root = runtime.vault(), runtime.vault().root
    except NoVault:
        present, root = None, runtime.new_vault_folder(None)
    with call.progress() as on_progress:
        found = connect(present, root, address, runtime.caller(), runtime.environment, on_progress)
    vault = found.vault
    change_setting(vault, runtime.caller(), HEARTBEAT_REMOTE, found.sync.remote)
    what = "joined the memory at" if found.joined else "connected with"
    lines = [f"{what} {address}: {vault.root}", *_lines(found.sync, dry_run=False)]
    lines += [f"made a bare repository in {found.made}"] if found.made else []
    lines.append(f"each heartbeat syncs: {_scheduled(vault, runtime.environment)}")
    lines.append(f"on another machine: clawmem sync setup {quote(found.address)}")
    return Answer(_data(found.sync, dry_run=False), lines, (*runtime.notices(), *found.sync.notices))


def _scheduled(vault: Vault, environment: Mapping[str, str]) -> str:
    """Have cron run the heartbeat, where there is a crontab without it; return when it runs."""
    from clawmem.setup.cron import USUAL_INTERVAL, find_crontab_entry, has_crontab, install_crontab, interval_schedule

    if find_crontab_entry(vault, environment):
        return "cron runs it (`clawmem cron show`)"
    if not has_crontab(environment):
        return "it runs at the end of an agent's session, or by `clawmem heartbeat`"
    schedule = interval_schedule(USUAL_INTERVAL)
    install_crontab(vault, environment, schedule, dry_run=False)
    return f"cron runs it {schedule.words} (`clawmem cron remove` ends that)"


VERB = Command(
    sync,
    {
        "remote": str,
        "branch": str,
        "received": int,
        "sent": int,
        "pushed": bool,
        "dry_run": bool,
        "attempts": int,
        "taken": [{"how": str, "received": int, "commit": (str, None), "rescue": (str, None)}],
        "conflicts": [MergeConflict],
        "proposals": [str],
        "lost": ["clawmem.memory.sync.merge_plan:RemoteRemoval"],
        "twins": ["clawmem.model.merging.facts:DuplicateFact"],
        "renamed": ["clawmem.model.merging.collisions:RenamedId"],
        "problem": ({"code": str, "message": str, "hint": str}, None),
    },
    ("clawmem sync", "clawmem sync --dry-run"),
)
