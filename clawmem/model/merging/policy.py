"""Merge policies and the conflicts they settle."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.model.facts.stated_value import SinglePhrase

REVIEW, NEWEST, OURS, THEIRS, FAIL = "review", "newest", "ours", "theirs", "fail"
POLICIES = (NEWEST, OURS, THEIRS, REVIEW, FAIL)

# The kinds of conflict: two successors of one fact, two wordings of one fact, two values of a relation that takes one,
# facts that replace each other, two versions of a text, two values of one setting, two versions of a file that cannot
# be merged, an event that one side took back and the other learned from.
SUCCESSORS, WORDING, VALUES, CIRCLE = "successors", "wording", "values", "circle"
TEXT, SETTING, FILE, EVENT = "text", "setting", "file", "event"


class MergePolicy(NamedTuple):
    """How to settle conflicts.

    `newer` is the side (`ours` or `theirs`) with the later commit, for the policy `newest`. `single` are the relations
    that take one value at a time, and `phrases` are the words by which statements without a triple name them.
    """

    name: str = REVIEW
    newer: str = OURS
    single: frozenset[str] = frozenset()
    phrases: tuple[SinglePhrase, ...] = ()

    @property
    def side(self) -> str | None:
        """Return the side that always wins, or None if both versions are kept."""
        if self.name == NEWEST:
            return self.newer
        return self.name if self.name in (OURS, THEIRS) else None


class MergeConflict(NamedTuple):
    """One conflict: its kind, file, fact (if it is about one), and a sentence on how it was settled."""

    kind: str
    path: str
    fact: str | None
    says: str
