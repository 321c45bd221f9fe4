"""An entry of the history: one commit and its trailers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from clawmem.errors import DamagedBackup, Refused
from clawmem.model.forms import WrongValue, read_record, to_record
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.strict_json import MANIFEST_BYTES, read_json

ACCESS, RIGHTS = "access", "rights"
UNDO = "undo"
REDACT = "redact"
FORGET = "forget"
NOTE = "note"
SYNC = "sync"
UNDOES = "Undoes"
HOUSEKEEPING = frozenset((ACCESS, RIGHTS, "decay", "premises", "relate"))
"""What the heartbeat does to facts after somebody recorded them, and marks. It takes no part in the undo of a fact."""
OF_PAGES = frozenset(("wiki", "synthesize", "summarise", "curate"))
"""What brings pages up to date with the facts."""
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*): (.*)")
_SPECIAL = re.compile(r"[.\[\]*^$\\]")


class HistoryEntry(NamedTuple):
    """One commit: its full hash, time (ISO 8601 UTC), author, subject, and trailers.

    `op` is None if clawmem did not make the commit; `undoes` is the commit that an undo reverted.
    """

    commit: str
    time: str
    author: str
    author_email: str
    op: str | None
    subject: str
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    agent: str | None = None
    session: str | None = None
    source: str | None = None
    supersedes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    undoes: str | None = None
    parents: tuple[str, ...] = ()


def entry_of(
    commit: str, time: str, author: str, author_email: str, message: str, parents: Iterable[str] = ()
) -> HistoryEntry:
    """Return the entry for a commit's raw parts; several sources are joined by a comma."""
    trailers = trailers_of(message)
    return HistoryEntry(
        commit,
        time,
        author,
        author_email,
        op=_first(trailers, "Clawmem-Op"),
        subject=message.partition("\n")[0].strip(),
        facts=_every(trailers, "Fact"),
        entities=_every(trailers, "Entity"),
        agent=_first(trailers, "Agent"),
        session=_first(trailers, "Session"),
        source=", ".join(_every(trailers, "Source")) or None,
        supersedes=_every(trailers, "Supersedes"),
        events=_every(trailers, "Event"),
        undoes=_first(trailers, UNDOES),
        parents=tuple(parents),
    )


def trailers_of(message: str) -> tuple[tuple[str, str], ...]:
    """Return the `Key: value` lines of a message's last paragraph; none if it has other lines or is the subject."""
    paragraphs = [part for part in message.replace("\r\n", "\n").strip().split("\n\n") if part.strip()]
    if len(paragraphs) < 2:
        return ()
    matches = [_TRAILER.fullmatch(line) for line in paragraphs[-1].strip().split("\n")]
    return tuple((match[1], match[2].strip()) for match in matches if match) if all(matches) else ()


def trailer_pattern(key: str, value: str) -> str:
    """Return the basic regular expression for a trailer with exactly this value."""
    return f"^{key}: {escape_pattern(value)}$"


def escape_pattern(text: str) -> str:
    """Return the text as a basic regular expression that matches only itself."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], text)


def _every(trailers: Iterable[tuple[str, str]], key: str) -> tuple[str, ...]:
    return tuple(value for name, value in trailers if name == key)


def _first(trailers: Iterable[tuple[str, str]], key: str) -> str | None:
    return next((value for name, value in trailers if name == key), None)


class CommitInfo(NamedTuple):
    """One commit: its hash, its parents, its author as `Name <address>`, its time in seconds, and its subject."""

    commit: str
    parents: tuple[str, ...]
    author: str
    at: int
    subject: str


class HistoryStep(NamedTuple):
    """One step to the next state: `commit` is compared with `before` (None: nothing).

    `merged` are the other commits that come in with it, parents before children: those of the other side of a merge.
    """

    commit: CommitInfo
    before: str | None
    merged: tuple[CommitInfo, ...]


def steps_between(old: str | None, commits: Sequence[CommitInfo]) -> tuple[HistoryStep, ...]:
    """Return the steps from `old` (None: from nothing) to the last of some commits.

    `commits` are all that the last one has and `old` has not, parents before children, and `old` is an ancestor of the
    last one. Each commit is in one step. The line follows first parents, except where only another parent leads to
    `old`: after a merge on another machine, what was known here is the other side of the merge.
    """
    if not commits:
        return ()
    known = {commit_info.commit: commit_info for commit_info in commits}
    after = _descendants(old, commits)
    line = [commits[-1]]
    while True:
        parent = next((other_parent for other_parent in line[-1].parents if other_parent in after), None)
        if parent is None or parent == old:
            break
        line.append(known[parent])
    line.reverse()
    place = {commit_info.commit: number for number, commit_info in enumerate(commits)}
    taken: set[str] = set()
    steps, before = [], old
    for info in line:
        new = _not_taken(info, known, taken)
        merged = sorted((known[name] for name in new if name != info.commit), key=lambda each: place[each.commit])
        steps.append(HistoryStep(info, before, tuple(merged)))
        before = info.commit
    return tuple(steps)


def _descendants(old: str | None, commits: Sequence[CommitInfo]) -> set[str]:
    """Return `old` and the commits that have it as an ancestor; all commits if there is no `old`."""
    if old is None:
        return {commit_info.commit for commit_info in commits}
    after = {old}
    for commit_info in commits:
        if not after.isdisjoint(commit_info.parents):
            after.add(commit_info.commit)
    return after


def _not_taken(last: CommitInfo, known: dict[str, CommitInfo], taken: set[str]) -> list[str]:
    """Return a commit and its ancestors among the known ones that were not taken; they are from now on."""
    found, waiting = [], [last.commit]
    while waiting:
        name = waiting.pop()
        if name in known and name not in taken:
            taken.add(name)
            found.append(name)
            waiting += known[name].parents
    return found


KIND = "clawmem-backup"
FORMAT = 1


class ManifestMember(NamedTuple):
    """The size in bytes and the SHA-256 (hex) of one part of the backup."""

    size: Annotated[int, (0, None)]
    sha256: str


class Manifest(NamedTuple):
    """A description of a backup.

    `made` and `made_by` are the time and the clawmem version. `branch` is the branch of HEAD, or None if HEAD was
    detached; `commit` and `tree` belong to HEAD. `refs` holds every ref by name. `counts` holds the numbers of facts,
    events, entities, files and commits. `left_out` names what the backup omits, with the reasons.
    """

    made: str
    made_by: str
    vault: str
    object_format: str
    branch: str | None
    commit: str
    tree: str
    refs: Mapping[str, str]
    counts: Mapping[str, Annotated[int, (0, None)]]
    members: Mapping[str, ManifestMember]
    left_out: Mapping[str, str] = {}


def manifest_record(manifest: Manifest) -> dict[str, Any]:
    """Return the manifest as plain values, in file order."""
    return {"kind": KIND, "format": FORMAT, **to_record(manifest, ())}


def render_manifest(manifest: Manifest) -> bytes:
    """Return the manifest as file content."""
    return (json.dumps(manifest_record(manifest), ensure_ascii=False, indent=1) + "\n").encode()


def parse_manifest(data: bytes) -> Manifest:
    """Read a manifest. Raise DamagedBackup if it is invalid, and Refused if a newer clawmem made it."""
    try:
        record = read_json(data, MANIFEST_BYTES)
        kind, form = record["kind"], record["format"]
    except (ValueError, TypeError, KeyError):
        raise DamagedBackup("its manifest cannot be read") from None
    if kind != KIND or type(form) is not int or form < 1:
        raise DamagedBackup("its manifest does not describe a backup")
    if form > FORMAT:
        raise Refused(
            f"This backup has format {form}; this clawmem reads formats up to {FORMAT}.",
            "Install a newer one: pip install --upgrade clawmem-vault",
        )
    if not record.keys() >= set(Manifest._fields):
        raise DamagedBackup("its manifest is incomplete")
    try:
        return read_record(Manifest, record)
    except WrongValue as problem:
        raise DamagedBackup(f"its manifest is wrong: {problem.message}") from None
