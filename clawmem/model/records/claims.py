"""Claims of sessions on tasks, entities and paths: leases that every sign of life renews, and when two overlap."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from itertools import combinations, takewhile
from typing import Annotated, NamedTuple

from clawmem.model.forms import TimeText, read_in_file, to_record
from clawmem.model.kinds import ROOMS
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.records.entity import folder_of
from clawmem.model.records.parsing import Yaml, json_object
from clawmem.model.records.task import task_path

TASK, ENTITY, PATH = KINDS = ("task", "entity", "path")
_WILD = "*?["


class Claim(NamedTuple):
    """What is claimed: a task by its slug, an entity by its name, or a path or pattern, which is one of the vault where
    it begins with a folder of a vault, else one of a project. `since` is ISO 8601 UTC."""

    kind: Annotated[str, KINDS]
    what: str
    project: str | None = None
    since: str = ""

    @property
    def words(self) -> str:
        """Return the claim in words."""
        return f"the {self.kind} {self.what}" + (f" of {self.project}" if self.project else "")


class SessionClaims(NamedTuple):
    """The claims of one session, and its last sign of life that is recorded with them, ISO 8601 UTC."""

    session: str
    agent: str
    seen: Annotated[TimeText, lambda text: stamp(moment_of(text))]
    claims: tuple[Claim, ...]


class LiveClaim(NamedTuple):
    """A claim in force: whose it is, and until when without a further sign of life, ISO 8601 UTC."""

    claim: Claim
    session: str
    agent: str
    until: str

    @property
    def words(self) -> str:
        """Return the claim and its holder in words."""
        return f"{self.claim.words} is claimed by {self.agent} ({self.session}) until {self.until[11:16]} UTC"


def claims_path(agent: str) -> str:
    """Return the vault path of the claims of an agent's sessions."""
    return f"agents/{agent}/claims.json"


def parse_claims(data: bytes, path: str, yaml: Yaml) -> tuple[SessionClaims, ...]:
    """Read the claims of an agent's sessions. Raise Unreadable, naming the key, where a value has a wrong form."""
    agent = path.split("/")[1]
    return tuple(
        read_in_file(SessionClaims, value, path, None, (name,), session=name, agent=agent)
        for name, value in json_object(data, path, yaml).items()
    )


def render_claims(sessions: Iterable[SessionClaims]) -> bytes:
    """The claims as JSON, one session a line."""
    rows = [
        f" {json.dumps(session_claims.session)}: "
        + json.dumps(
            {"seen": session_claims.seen, "claims": [to_record(claim, (None, "")) for claim in session_claims.claims]}
        )
        for session_claims in sessions
    ]
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode() if rows else b"{}\n"


def alive_until(seen: str, signs: Iterable[str], minutes: float) -> datetime:
    """Return until when a lease lasts: it ends at the first gap between two signs of life that is longer than it."""
    lease = timedelta(minutes=minutes)
    until = moment_of(seen) + lease
    for sign in sorted(map(moment_of, signs)):
        if sign > until:
            break
        until = max(until, sign + lease)
    return until


def live_claims(claims: SessionClaims, signs: Sequence[str], now: datetime, minutes: float) -> tuple[LiveClaim, ...]:
    """Return the claims of a session that are in force."""
    until = alive_until(claims.seen, signs, minutes)
    if until < now:
        return ()
    return tuple(LiveClaim(claim, claims.session, claims.agent, stamp(until)) for claim in claims.claims)


def overlap(claim: Claim, other: Claim) -> bool:
    """Return whether two claims are about something that both contain."""
    if claim.project != other.project:
        return False
    first, second = pattern_of(claim), pattern_of(other)
    wild = [any(mark in pattern for mark in _WILD) for pattern in (first, second)]
    if wild == [False, True]:
        first, second = second, first
    if not any(wild):
        return _contains(first, second) or _contains(second, first)
    if not all(wild):
        return fnmatchcase(second, first) or fnmatchcase(second, f"{first}/*") or _contains(second, _fixed(first))
    # Two patterns: whether they can meet is hard to say, so they do where one's fixed part lies in the other's.
    return _contains(_fixed(first), _fixed(second)) or _contains(_fixed(second), _fixed(first))


def covers(claim: Claim, path: str) -> bool:
    """Return whether a vault path is part of what is claimed; the paths of a project are not in the vault."""
    if claim.kind == PATH and not is_vault_path(claim.what):
        return False
    return overlap(claim, Claim(PATH, path))


def pattern_of(claim: Claim) -> str:
    """Return the path or the pattern that a claim stands for."""
    if claim.kind == TASK:
        return task_path(claim.what)
    if claim.kind == ENTITY:
        return folder_of(claim.what)
    whole = claim.what in (".", "./", "**")
    return "" if whole else claim.what.removeprefix("./").rstrip("/").removesuffix("/**")


def is_vault_path(path: str) -> bool:
    """Return whether a path is one of the vault rather than of a project."""
    return path.split("/")[0] in ROOMS


def collisions(claims: Sequence[LiveClaim]) -> list[tuple[LiveClaim, LiveClaim]]:
    """Return the pairs of claims of two sessions that overlap, the one that came first in front."""
    ordered = sorted(claims, key=lambda claim: (claim.claim.since, claim.session, claim.claim.words))
    pairs = combinations(ordered, 2)
    return [(claim, two) for claim, two in pairs if claim.session != two.session and overlap(claim.claim, two.claim)]


def _contains(folder: str, path: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _fixed(pattern: str) -> str:
    """Return the folders of a pattern before its first wildcard."""
    return "/".join(takewhile(lambda part: not any(mark in part for mark in _WILD), pattern.split("/")))
