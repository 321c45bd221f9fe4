"""What is done where two machines changed the same thing in two ways, and how it is told."""

from __future__ import annotations

from typing import NamedTuple

REVIEW, NEWEST, OURS, THEIRS, FAIL = "review", "newest", "ours", "theirs", "fail"
POLICIES = (NEWEST, OURS, THEIRS, REVIEW, FAIL)

# The kinds of conflict: two successors of one fact, two wordings of one fact, two values of a relation that takes one,
# facts that replace each other, two versions of a text, two values of one setting, two versions of a file that cannot
# be joined, an event that one side took back and the other learned from.
SUCCESSORS, WORDING, VALUES, CIRCLE = "successors", "wording", "values", "circle"
TEXT, SETTING, FILE, EVENT = "text", "setting", "file", "event"


class MergePolicy(NamedTuple):
    """The policy by name; which side was committed later (`ours` or `theirs`), for `newest`; and the relations that
    take one value at a time."""

    name: str = REVIEW
    newer: str = OURS
    single: frozenset[str] = frozenset()

    @property
    def side(self) -> str | None:
        """The side that wins outright, or None where both versions are kept."""
        if self.name == NEWEST:
            return self.newer
        return self.name if self.name in (OURS, THEIRS) else None


class MergeConflict(NamedTuple):
    """One thing that both sides changed in two ways: its kind, file, fact where it is one, and what was done."""

    kind: str
    path: str
    fact: str | None
    says: str
