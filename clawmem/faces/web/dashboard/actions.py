"""The actions of the forms: each is the act of a verb, for the person whose git identity this machine has.

A form says which state of a proposal it was drawn from, and the act compares it under the writer lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.faces.parts.past import SHORT, entry_line
from clawmem.faces.parts.words import outcome_lines
from clawmem.memory.history.undo import undo
from clawmem.review.review import ReviewOutcome, approve, reject
from clawmem.runtime import Runtime

_FULL_NAMES = (40, 64)
_HEX = frozenset("0123456789abcdef")


class Done(NamedTuple):
    """What an action did, as a title and lines, and the page to go back to."""

    title: str
    lines: tuple[str, ...]
    notices: tuple[str, ...]
    back: tuple[str, str]


def approved(runtime: Runtime, form: Mapping[str, str]) -> Done:
    """Approve a proposal; `beside` and `keep` are as for the verb."""
    done = approve(
        runtime.vault(),
        _given(form, "proposal", "The proposal"),
        runtime.caller(),
        form.get("reason", "").strip() or None,
        form.get("beside") == "yes",
        form.get("keep") or None,
        _given(form, "seen", "The version of the proposal"),
    )
    return _decided(done, "Approved")


def rejected(runtime: Runtime, form: Mapping[str, str]) -> Done:
    """Reject a proposal, with a reason."""
    done = reject(
        runtime.vault(),
        _given(form, "proposal", "The proposal"),
        runtime.caller(),
        _given(form, "reason", "The reason"),
        _given(form, "seen", "The version of the proposal"),
    )
    return _decided(done, "Rejected")


def undone(runtime: Runtime, form: Mapping[str, str]) -> Done:
    """Undo a commit, which the form gives with its full name."""
    commit = _given(form, "commit", "The commit")
    if len(commit) not in _FULL_NAMES or not set(commit) <= _HEX:
        raise InvalidInput("The form names no commit.", "Load the page again.")
    done = undo(runtime.vault(), commit, runtime.caller())
    rows = [f"{outcome}: {one.fact.fact}" for outcome, one in zip(done.outcome, done.facts, strict=True)]
    rows = rows or [f"{'removed' if path in done.removed else 'restored'}: {path}" for path in done.paths]
    made = f"commit {done.commit[:SHORT]}" if done.commit else "no commit was made"
    return Done("Undone", (entry_line(done.undone), *rows, made), done.notices, ("timeline", "Changes"))


def _decided(done: ReviewOutcome, title: str) -> Done:
    rows = [(outcome, one.fact, one.entity) for outcome, one in zip(done.outcome, done.facts, strict=True)]
    lines = (f"{done.proposal.id}: {done.proposal.says}", *outcome_lines(rows, done.commit))
    return Done(title, lines, done.notices, ("approvals", "Approvals"))


def _given(form: Mapping[str, str], key: str, what: str) -> str:
    text = form.get(key, "").strip()
    if not text:
        raise InvalidInput(f"{what} is missing.", "Go back, and fill in the form.")
    return text


ACTIONS: Mapping[str, Callable[[Runtime, Mapping[str, str]], Done]] = {
    "/approve": approved,
    "/reject": rejected,
    "/undo": undone,
}
