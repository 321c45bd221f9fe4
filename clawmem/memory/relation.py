"""How two histories stand to each other, and which of them must not be met."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import HistoryRewritten, Refused
from clawmem.memory.merge_words import SHOWN
from clawmem.model.redaction import RECORD
from clawmem.vault.merges import News, news_between
from clawmem.vault.remote import tracking_ref
from clawmem.vault.rewritten import forget_fetched, is_other_form
from clawmem.vault.vault import Vault
from clawmem.vault.versions import apart, common_ancestors


class Place(NamedTuple):
    """A branch of another repository, by the names they have here, and what is allowed of it."""

    remote: str
    branch: str
    unrelated: bool = False
    rewritten: bool = False


class Relation(NamedTuple):
    """How far two commits are apart: how many commits only ours and only theirs has, what those of theirs are, and what
    both have in common."""

    own: int
    received: int
    news: News = News()
    common: tuple[str, ...] = ()


def relation(vault: Vault, head: str, tip: str, place: Place) -> Relation:
    """How the branch here, at `head`, stands to the other one, at `tip`. The caller holds the writer lock.

    Raises Refused where they have nothing in common, HistoryRewritten where one is the other before a redaction.
    """
    if head == tip:
        return Relation(0, 0)
    own, received = apart(vault, head, tip)
    if not received:
        return Relation(own, 0)
    common = common_ancestors(vault, head, tip) if own else [head]
    news = news_between(vault, head, tip, SHOWN)
    if not place.rewritten:
        _refuse_rewritten(vault, head, tip, place, news.redacted or not common)
    if not common and not place.unrelated:
        raise Refused(
            f"This vault and {place.remote}/{place.branch} have no history in common: they were begun separately.",
            _UNRELATED if not (vault.git_dir / "shallow").exists() else _SHALLOW,
        )
    return Relation(own, received, news, tuple(common))


def _refuse_rewritten(vault: Vault, head: str, tip: str, place: Place, there: bool) -> None:
    """Where something was redacted here, or `there`, the other side must not bring it back."""
    here = vault.read(RECORD) is not None
    if not (here or there) or not is_other_form(vault, head, tip):
        return
    if here:
        forget_fetched(vault, tracking_ref(place.remote, place.branch), place.remote)
    raise _rewritten(place.remote, here)


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
        "`clawmem sync --allow-rewritten` brings the old history back.",
    )


_UNRELATED = (
    "If they are one memory, join them with --allow-unrelated; else name another remote, or clone that vault instead."
)
_SHALLOW = "This clone is shallow: fetch the rest with `git fetch --unshallow`, then run the command again."
