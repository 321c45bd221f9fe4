"""How two histories stand to each other, and which of them must not be met."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import HistoryRewritten, Refused
from clawmem.memory.sync.merge_message import SHOWN
from clawmem.vault.exchange.remote import tracking_ref
from clawmem.vault.history.git_merges import HistoryDistance, IncomingCommits, history_distance
from clawmem.vault.history.versions import common_ancestors
from clawmem.vault.vault import Vault


class RemoteBranch(NamedTuple):
    """A branch of another repository, by the names they have here, and what is allowed of it."""

    remote: str
    branch: str
    unrelated: bool = False
    rewritten: bool = False


class HistoryRelation(NamedTuple):
    """How far two commits are apart: how many commits only ours and only theirs has, what those of theirs are, and what
    both have in common."""

    own: int = 0
    received: int = 0
    news: IncomingCommits = IncomingCommits()
    common: tuple[str, ...] = ()


def relation(vault: Vault, head: str, tip: str, place: RemoteBranch) -> HistoryRelation:
    """How the branch here, at `head`, stands to the other one, at `tip`. The caller holds the writer lock.

    Raises Refused where they have nothing in common, HistoryRewritten where one is the other before a redaction.
    """
    if head == tip:
        return HistoryRelation()
    between = history_distance(vault, head, tip, SHOWN)
    own, received = between.own, between.received
    if not received:
        return HistoryRelation(own, 0)
    common = _common(vault, head, tip, between.parting) if own else (head,)
    if not place.rewritten:
        _refuse_rewritten(vault, head, tip, place, between)
    if not common and not place.unrelated:
        _forget_where_redacted(vault, head, place)
        raise Refused(
            f"This vault and {place.remote}/{place.branch} have no history in common: they were begun separately.",
            _UNRELATED if not (vault.git_dir / "shallow").exists() else _SHALLOW,
        )
    return HistoryRelation(own, received, between.news, common)


def _common(vault: Vault, head: str, tip: str, parting: tuple[str, ...]) -> tuple[str, ...]:
    """What they have in common at best: all of it is among the commits at which they part."""
    return parting if len(parting) < 2 else tuple(common_ancestors(vault, head, tip))


def _refuse_rewritten(vault: Vault, head: str, tip: str, place: RemoteBranch, between: HistoryDistance) -> None:
    """Where something was redacted here or there, the other side must not bring it back."""
    from clawmem.vault.rewriting.redacted_history import (  # not needed where nothing came in
        HERE,
        discard_fetched,
        redacted_side,
    )

    side = redacted_side(vault, head, tip, between)
    if side == HERE:
        discard_fetched(vault, tracking_ref(place.remote, place.branch), place.remote)
    if side is not None:
        raise _rewritten(place.remote, side == HERE)


def _forget_where_redacted(vault: Vault, head: str, place: RemoteBranch) -> None:
    """What is refused may be an old form of what was redacted here, begun anew."""
    from clawmem.vault.rewriting.redacted_history import (  # not needed where nothing came in
        discard_fetched,
        is_redacted,
    )

    if is_redacted(vault, head):
        discard_fetched(vault, tracking_ref(place.remote, place.branch), place.remote)


def _rewritten(remote: str, here: bool) -> HistoryRewritten:
    if here:
        return HistoryRewritten(
            f"{remote} still has the history from before a redaction here: meeting it would bring back what was taken"
            " out. Nothing was kept of what it gave.",
            f"Give it the new history: `git push --force-with-lease {remote}`. Then clone anew everywhere else.",
        )
    return HistoryRewritten(
        f"Something was redacted in {remote}, and this clone still has the history from before: meeting it would bring"
        " that back.",
        "Make a new clone, and carry over what only this one has, say with `git cherry-pick`. "
        "`clawmem sync --allow-rewritten` restores the old history.",
    )


_UNRELATED = (
    "If they are one memory, join them with --allow-unrelated; else name another remote, or clone that vault instead."
)
_SHALLOW = "This clone is shallow: fetch the rest with `git fetch --unshallow`, then run the command again."
