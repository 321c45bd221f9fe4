"""A change to the vault, decided but not yet written: one becomes one commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.model.language.text import one_line

LONGEST_SUBJECT = 160


class Author(NamedTuple):
    """A git identity."""

    name: str
    email: str


class Change(NamedTuple):
    """Files to write (None deletes) under one commit message.

    `consumes` names files below `.git/clawmem/` that this change makes obsolete; they are removed
    once the commit is reachable. `author` is the vault's own identity where it is None.
    """

    subject: str
    writes: Mapping[str, bytes | None]
    trailers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    author: Author | None = None
    consumes: tuple[str, ...] = ()


def agent_author(agent: str | None) -> Author | None:
    """The identity an agent's commits carry."""
    return Author(agent, f"{agent}@agents.clawmem") if agent else None


def subject_line(verb: str, entity: str, words: str) -> str:
    """`verb(entity): words`, cut to one line that a log can show."""
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
    """The trailers of a commit, in their one order, repeated keys allowed, equal ones once."""
    rows = [("Clawmem-Op", op)]
    rows += [("Fact", value) for value in facts]
    rows += [("Entity", value) for value in entities]
    rows += [("Agent", agent)] if agent else []
    rows += [("Session", session)] if session else []
    rows += [("Source", value) for value in sources]
    rows += [("Supersedes", value) for value in supersedes]
    rows += [("Event", value) for value in events]
    return tuple(dict.fromkeys((key, one_line(value)) for key, value in rows))


def message(change: Change) -> str:
    """The whole commit message: subject, body where there is one, trailers."""
    parts = [change.subject]
    if change.body:
        parts.append(change.body.strip())
    if change.trailers:
        parts.append("\n".join(f"{key}: {value}" for key, value in change.trailers))
    return "\n\n".join(parts) + "\n"
