"""Review routes: which people decide which proposals, and which decisions are delegated to an agent.

Both are ordered lists of lines, as in a CODEOWNERS file: a pattern, then names. The last line that matches decides. A
pattern is one or more of these parts, joined by `&`, and all parts must match:

- `kind:NAME`, the kind of the proposal,
- `workflow:NAME`, the workflow that the fact or the proposal is for,
- an entity or a folder of entities: `*` is any text within a name, `**` any text, and what is below a match matches.

A line of a route names people by the address or the name of their git identity, with `*` for any text. A line without
names lets every person decide, as in CODEOWNERS. A line of a delegation names the agent and the person who delegated.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.proposals.proposal import BY_KIND, KINDS
from clawmem.model.records.entity import CANDIDATES, ROOTS

_KIND, _WORKFLOW = "kind:", "workflow:"
_ALL = frozenset(("*", "**"))


class RoutedItem(NamedTuple):
    """What the patterns are compared with."""

    kind: str
    entity: str | None = None
    workflow: str | None = None


class Route(NamedTuple):
    """A line of the routes: the pattern, and the people who decide (none: every person)."""

    pattern: str
    reviewers: tuple[str, ...]


class Delegation(NamedTuple):
    """A line of the delegations: the pattern, the agent who decides, and the person who delegated."""

    pattern: str
    agent: str
    by: str


def read_routes(text: str) -> tuple[Route, ...]:
    """Return the lines of `review.routes`. Raise InvalidInput, naming the line."""
    return tuple(Route(words[0], tuple(words[1:])) for _, words in _lines(text))


def read_delegations(text: str) -> tuple[Delegation, ...]:
    """Return the lines of `review.delegations`. Raise InvalidInput, naming the line."""
    found = []
    for number, words in _lines(text):
        if len(words) != 3:
            raise InvalidInput(
                f"line {number}: a delegation has a pattern, an agent, and the person who delegated, and this line has"
                f" {len(words)} {'word' if len(words) == 1 else 'words'}"
            )
        kind = kind_in(words[0])
        if kind is None:
            raise InvalidInput(f"line {number}: a delegation names a kind, such as kind:promotion")
        if not BY_KIND[kind].delegable:
            raise InvalidInput(f"line {number}: {delegation_refusal(kind)}")
        found.append(Delegation(*words))
    return tuple(found)


def delegation_refusal(kind: str) -> str:
    """Return why decisions of a kind are never delegated."""
    return f"decisions of the kind {kind} ({BY_KIND[kind].about}) are never delegated"


def kind_in(pattern: str) -> str | None:
    """Return the kind that a pattern names, or None."""
    return next((part[len(_KIND) :] for part in pattern.split("&") if part.startswith(_KIND)), None)


def written(rows: Sequence[Route | Delegation]) -> str:
    """Return lines in the form in which a setting has them: joined by `; `."""
    return "; ".join(shlex.join(_words(row)) for row in rows)


def last_match(rows: Sequence[Route | Delegation], item: RoutedItem) -> int | None:
    """Return the place of the last line whose pattern matches, or None."""
    found = None
    for place, row in enumerate(rows):
        if matches(row.pattern, item):
            found = place
    return found


def matches(pattern: str, item: RoutedItem) -> bool:
    """Return whether all parts of a pattern match."""
    return all(_part_matches(part, item) for part in pattern.split("&"))


def is_named(reviewers: Sequence[str], name: str, email: str) -> bool:
    """Return whether one of the reviewers is the person with this git identity; letter case does not matter."""
    forms = (name.lower(), email.lower(), f"{name} <{email}>".lower())
    return any(re.fullmatch(_glob(reviewer.lower()), form) for reviewer in reviewers for form in forms)


def _part_matches(part: str, item: RoutedItem) -> bool:
    if part.startswith(_KIND):
        return part[len(_KIND) :] == item.kind
    if part.startswith(_WORKFLOW):
        return item.workflow is not None and re.fullmatch(_glob(part[len(_WORKFLOW) :]), item.workflow) is not None
    if part in _ALL:
        return True
    wanted = part.strip("/")
    return item.entity is not None and re.fullmatch(f"{_entity_glob(wanted)}(/.*)?", item.entity) is not None


def _glob(pattern: str) -> str:
    return "".join(".*" if letter == "*" else re.escape(letter) for letter in pattern)


def _entity_glob(pattern: str) -> str:
    return ".*".join("[^/]*".join(map(re.escape, part.split("*"))) for part in pattern.split("**"))


def _words(row: Route | Delegation) -> tuple[str, ...]:
    return (row.pattern, *row.reviewers) if isinstance(row, Route) else (row.pattern, row.agent, row.by)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(re.split(r"[;\n]", text), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as problem:
            raise InvalidInput(f"line {number}: {str(problem).lower()}") from None
        if words:
            _check_pattern(number, words[0])
            yield number, words


def _check_pattern(number: int, pattern: str) -> None:
    for part in pattern.split("&"):
        kind = part[len(_KIND) :] if part.startswith(_KIND) else None
        if kind is not None and kind not in BY_KIND:
            raise InvalidInput(f"line {number}: '{kind}' is not a kind of proposal; choose one of {', '.join(KINDS)}")
        name = part[len(_WORKFLOW) :] if part.startswith(_WORKFLOW) else part
        unknown = part not in _ALL and not part.startswith(_WORKFLOW) and not _may_be_entity(part)
        if kind is None and (not name.strip("/") or ":" in name or "@" in name or unknown):
            raise InvalidInput(
                f"line {number}: '{part}' is no pattern; use kind:NAME, workflow:NAME, an entity such as"
                " areas/people/*, or *"
            )


def _may_be_entity(part: str) -> bool:
    """Return whether a pattern can match an entity: its first name is a folder of entities, or has a `*`."""
    first = part.strip("/").partition("/")[0]
    return "*" in first or first in (*ROOTS, CANDIDATES)
