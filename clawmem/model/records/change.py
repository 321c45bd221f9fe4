"""A change to the vault that is decided but not yet written; it becomes one commit."""

from collections.abc import Iterable, Mapping

from clawmem.model.language.text import one_line
from clawmem.model.named_tuple import NamedTuple

LONGEST_SUBJECT = 160
# Operations that neither end a fact nor let one stand again. The premises of a new fact are looked at where it is
# planned.
_PREMISES_STAY = frozenset("remember publish reinforce access archive decay note ingest premises".split())


class Author(NamedTuple):
    """A git identity."""

    name: str
    email: str


class Change(NamedTuple):
    """Files to write under one commit message; None as content deletes a file.

    `consumes` names files below `.git/clawmem/` that are removed after the commit. With `author` None, the vault's own
    identity is used. `signed` requires a signed commit, whatever `git.sign` says.
    """

    subject: str
    writes: Mapping[str, bytes | None]
    trailers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    author: Author | None = None
    consumes: tuple[str, ...] = ()
    signed: bool = False


def operation(change: Change) -> str:
    """Return the operation that a change's trailers name, or an empty text."""
    return next((value for key, value in change.trailers if key == "Clawmem-Op"), "")


def changed_facts(change: Change) -> list[str]:
    """Return the ids of the facts that a change's trailers name."""
    return [value for key, value in change.trailers if key == "Fact"]


def is_about_premises(change: Change) -> bool:
    """Return whether a change may end a fact on which others rest, or let one stand again."""
    return operation(change) not in _PREMISES_STAY and bool(changed_facts(change))


def agent_author(agent: str | None) -> Author | None:
    """Return the identity for an agent's commits, or None for a person."""
    return Author(agent, f"{agent}@agents.clawmem") if agent else None


def subject_line(verb: str, entity: str, words: str) -> str:
    """Return `verb(entity): words` as one line, shortened for a log."""
    line = one_line(f"{verb}({entity}): {words}")
    return line if len(line) <= LONGEST_SUBJECT else line[: LONGEST_SUBJECT - 1].rstrip() + "…"


def trailers(
    op: str,
    *,
    facts: Iterable[str] = (),
    entities: Iterable[str] = (),
    agent: str | None = None,
    session: str | None = None,
    sources: Iterable[str] = (),
    supersedes: Iterable[str] = (),
    events: Iterable[str] = (),
) -> tuple[tuple[str, str], ...]:
    """Return the trailers of a commit in their fixed order; keys may repeat, equal rows appear once."""
    rows = [("Clawmem-Op", op)]
    rows += [("Fact", value) for value in facts]
    rows += [("Entity", value) for value in entities]
    rows += [("Agent", agent)] if agent else []
    rows += [("Session", session)] if session else []
    rows += [("Source", value) for value in sources]
    rows += [("Supersedes", value) for value in supersedes]
    rows += [("Event", value) for value in events]
    return tuple(dict.fromkeys((key, one_line(value)) for key, value in rows))


def commit_message(change: Change) -> str:
    """Return the whole commit message: subject, body if any, and trailers."""
    parts = [change.subject]
    if change.body:
        parts.append(change.body.strip())
    if change.trailers:
        parts.append("\n".join(f"{key}: {value}" for key, value in change.trailers))
    return "\n\n".join(parts) + "\n"
