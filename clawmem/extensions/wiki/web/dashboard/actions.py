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
    outcome = approve(
        runtime.vault(),
        _given(form, "proposal", "The proposal"),
        runtime.caller(),
        form.get("reason", "").strip() or None,
        form.get("beside") == "yes",
        form.get("keep") or None,
        _given(form, "seen", "The version of the proposal"),
    )
    return _decided(outcome, "Approved")


def rejected(runtime: Runtime, form: Mapping[str, str]) -> Done:
    """Reject a proposal, with a reason."""
    outcome = reject(
        runtime.vault(),
        _given(form, "proposal", "The proposal"),
        runtime.caller(),
        _given(form, "reason", "The reason"),
        _given(form, "seen", "The version of the proposal"),
    )
    return _decided(outcome, "Rejected")


def undone(runtime: Runtime, form: Mapping[str, str]) -> Done:
    """Undo a commit, which the form gives with its full name."""
    commit = _given(form, "commit", "The commit")
    if len(commit) not in _FULL_NAMES or not set(commit) <= _HEX:
        raise InvalidInput("The form names no commit.", "Load the page again.")
    result = undo(runtime.vault(), commit, runtime.caller())
    rows = [f"{outcome}: {placed.fact.fact}" for outcome, placed in zip(result.outcome, result.facts, strict=True)]
    rows = rows or [f"{'removed' if path in result.removed else 'restored'}: {path}" for path in result.paths]
    made = f"commit {result.commit[:SHORT]}" if result.commit else "no commit was made"
    return Done("Undone", (entry_line(result.undone), *rows, made), result.notices, ("timeline", "Changes"))


def _decided(result: ReviewOutcome, title: str) -> Done:
    rows = [(outcome, placed.fact, placed.entity) for outcome, placed in zip(result.outcome, result.facts, strict=True)]
    lines = (f"{result.proposal.id}: {result.proposal.says}", *outcome_lines(rows, result.commit))
    return Done(title, lines, result.notices, ("approvals", "Approvals"))


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
