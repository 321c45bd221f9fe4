"""The result and the context of classifying a clause."""

from __future__ import annotations

from typing import NamedTuple

OWN_ATTRIBUTES = frozenset(
    "name birthday job wants from pronouns timezone email phone hobby deadline budget height diet works_at "
    "nationality".split()
)
DATELESS = frozenset(
    "lives_in works_at health from job studied_at studies uses owns member_of likes dislikes child pet spouse".split()
)


class ClauseShape(NamedTuple):
    """A classified clause.

    `object` is a part of the clause in the speaker's words. `former` is the value that it replaces, `scope` the thing
    in which it replaces whatever was used.
    """

    category: str
    predicate: str | None = None
    object: str | None = None
    importance: float = 0.5
    confidence: float = 0.75
    ended: bool = False
    former: str | None = None
    scope: str | None = None


class ClauseContext(NamedTuple):
    """The context of a clause.

    `specific` says that it contains a date, name or number, `dated` that it contains a date, and `chat` that it is said
    to an assistant and not among people.
    """

    specific: bool
    dated: bool
    chat: bool


COMPLETE = frozenset(
    "run swim hike paint meditate exercise jog surf climb knit sew draw sing dance garden write read cook "
    "bake retire graduate "
    "be like love enjoy hate dislike prefer get return move marry".split()
)
