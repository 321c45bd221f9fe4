"""`clawmem sync`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.memory.sync.sync import ReceivedCommits, SyncOptions, SyncResult
from clawmem.memory.sync.sync import sync as act
from clawmem.model.language.text import counted, visible
from clawmem.model.merging.policy import POLICIES

if TYPE_CHECKING:
    from clawmem.memory.sync.removed_facts import RemoteRemoval

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
    go_on: Annotated[
        bool, Parameter("Finish the stopped git merge with the present contents of the files.", ("--continue",))
    ],
    dry_run: Annotated[bool, DRY_RUN._replace(help="Fetch and show what would be done; change nothing.")],
    unrelated: Annotated[bool, Parameter("Merge two vaults without a common history.", ("--allow-unrelated",))],
    rewritten: Annotated[bool, Parameter("Sync with a remote whose history was rewritten.", ("--allow-rewritten",))],
) -> Answer:
    """Sync never force-pushes and never asks. Exit code 4: changes were received but could not be sent; 11: other
    machines pushed first at each attempt; 12: there was a conflict with --conflict fail."""
    policy = _checked_policy(conflict)
    runtime = call.runtime
    if go_on:
        return _continued(call, policy)
    wanted = SyncOptions(remote, branch, policy, dry_run, unrelated, rewritten)
    with call.progress() as on_progress:
        done = act(runtime.vault(), runtime.caller(), wanted, on_progress)
    notices = [*done.notices]
    if done.problem is not None:
        notices.append(f"not sent: {done.problem.message} {done.problem.hint}".strip())
    return Answer(_data(done, dry_run), _lines(done, dry_run), notices, PARTIAL if done.problem else DONE)


def _checked_policy(name: str | None) -> str | None:
    if name is not None and name not in POLICIES:
        raise InvalidInput(f"'{name}' is not a conflict policy.", f"Choose one of {', '.join(POLICIES)}.")
    return name


def _data(done: SyncResult, dry_run: bool) -> dict[str, Any]:
    problem = done.problem
    return {
        "remote": done.remote,
        "branch": done.branch,
        "received": done.received,
        "sent": done.sent,
        "pushed": done.pushed,
        "dry_run": dry_run,
        "attempts": done.attempts,
        "taken": [_taken(one) for one in done.rounds if one.how != "nothing"],
        "conflicts": [one._asdict() for one in done.conflicts],
        "proposals": done.proposals,
        "lost": [one._asdict() for one in done.removals],
        "twins": [twin._asdict() for plan in done.plans for twin in plan.merged.twins],
        "renamed": [one._asdict() for plan in done.plans for one in plan.merged.renamed],
        "problem": {"code": problem.code, "message": problem.message, "hint": problem.hint} if problem else None,
    }


def _taken(one: ReceivedCommits) -> dict[str, Any]:
    return {"how": one.how, "received": one.received, "commit": one.commit, "rescue": one.rescue}


def _lines(done: SyncResult, dry_run: bool) -> Iterator[str]:
    would = "would be " if dry_run else ""
    place = f"{done.remote}/{done.branch}"
    if not done.received and not done.sent:
        yield f"nothing to do: {place} and this vault have the same contents"
        return
    if done.received:
        yield f"{would}received: {counted(done.received, 'change')} from {place}"
    if done.sent:
        kept = would if done.pushed or dry_run else "not "
        yield f"{kept}sent: {counted(done.sent, 'change')} to {place}"
    yield from _lost(done.removals)
    for conflict in done.conflicts:
        yield f"conflict: {conflict.says}"
    if done.proposals:
        yield f"{counted(len(done.proposals), 'question')} for you: `clawmem review list`"
    rescues = [one.rescue for one in done.rounds if one.rescue]
    if rescues:
        yield f"before: {rescues[0]}"


def _lost(lost: Sequence[RemoteRemoval]) -> Iterator[str]:
    """The facts that others removed or reworded, grouped by commit."""
    by_commit: dict[tuple[str | None, str], list[RemoteRemoval]] = {}
    for one in lost:
        by_commit.setdefault((one.commit, one.how), []).append(one)
    for (commit, how), facts in by_commit.items():
        did = "removed" if how == "gone" else "reworded"
        names = ", ".join(one.fact for one in facts[:_SHOWN]) + (" ..." if len(facts) > _SHOWN else "")
        what = f"{did} by others: {counted(len(facts), 'fact')} ({names})"
        if commit is None:
            yield f"{what}, in a merge"
            continue
        by = visible(f"{facts[0].author}: {facts[0].subject}")
        yield f"{what}, in {commit[:12]} by {by}; `clawmem undo {commit[:12]}` reverts that"


def _continued(call: Call, policy: str | None) -> Answer:
    from clawmem.memory.sync.finish_merge import finish_merge  # only after a git merge that stopped

    done = finish_merge(call.runtime.vault(), call.runtime.caller(), policy)
    conflicts = done.plan.conflicts if done.plan else ()
    data = {
        "commit": done.commit,
        "rescue": done.rescue,
        "conflicts": [one._asdict() for one in conflicts],
        "proposals": list(done.plan.merged.proposals) if done.plan else [],
    }
    lines = [f"finished the merge: commit {done.commit[:12]}" if done.commit else "the merge was already finished"]
    lines += [f"conflict: {one.says}" for one in conflicts]
    return Answer(data, lines, done.notices)


_CONFLICTS = [{"kind": str, "path": str, "fact": (str, None), "says": str}]

VERB = Command(
    sync,
    (
        {
            "remote": str,
            "branch": str,
            "received": int,
            "sent": int,
            "pushed": bool,
            "dry_run": bool,
            "attempts": int,
            "taken": [{"how": str, "received": int, "commit": (str, None), "rescue": (str, None)}],
            "conflicts": _CONFLICTS,
            "proposals": [str],
            "lost": [
                {
                    "fact": str,
                    "how": str,
                    "entity": str,
                    "words": str,
                    "commit": (str, None),
                    "author": (str, None),
                    "subject": (str, None),
                }
            ],
            "twins": [{"kept": str, "other": str}],
            "renamed": [{"side": str, "old": str, "new": str}],
            "problem": ({"code": str, "message": str, "hint": str}, None),
        },
        {"commit": (str, None), "rescue": (str, None), "conflicts": _CONFLICTS, "proposals": [str]},
    ),
    ("clawmem sync", "clawmem sync --dry-run"),
)
