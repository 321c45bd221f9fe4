"""Read session records: the committed part together with the journal of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, NotFound, Refused
from clawmem.model.facts.fact import check_prefix
from clawmem.model.facts.reach import Reach, canonical_project
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.session import (
    COLLISION,
    DEFAULT_AGENT,
    ENDED,
    OPEN,
    PREFIX,
    REVOKED,
    SessionCollision,
    SessionNote,
    SessionRecord,
    parse_session,
    session_path,
    state_at,
)
from clawmem.model.records.strict_json import read_json
from clawmem.vault.state.hook_marks import read_session
from clawmem.vault.state.journal import read_entries
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

ABANDONED_AFTER = "session.abandoned_hours"
NOTE, SERVED, SEEN = "note", "served", "seen"


class SessionList(NamedTuple):
    """The sessions that can be read, newest first, with the current state of each, and a notice for each other file."""

    sessions: tuple[SessionRecord, ...]
    notices: tuple[str, ...] = ()


def list_sessions(vault: Vault, now: datetime, agent: str | None = None) -> SessionList:
    """Return the sessions of one agent, or of all."""
    found, notices = [], []
    for path in sorted((vault.root / "agents").glob(f"{agent or '*'}/sessions/*.json")):
        try:
            found.append(_read(vault, path.relative_to(vault.root).as_posix()))
        except ClawmemError as problem:
            notices.append(IncompleteAnswer(problem.message))
    hours = vault.settings.number(ABANDONED_AFTER)
    shown = [record._replace(state=state_at(record, now, hours)) for record in found]
    shown.sort(key=lambda record: (record.started, record.id), reverse=True)
    return SessionList(tuple(shown), tuple(notices))


def ended_sessions(vault: Vault, reach: Reach) -> Iterator[SessionRecord]:
    """Yield the ended sessions of a scope as their records have them, the last one first, without those that cannot be
    read. Only what is asked for is read whole: a session that begins waits for it."""
    projects = reach.projects() or (None,)
    found: list[tuple[str, str, str, Path]] = []
    for path in (vault.root / "agents").glob("*/sessions/*.json"):
        try:
            record = read_json(vault.disk.read(path) or b"")
            project = record.get("project")
            here = record.get("workflow") == reach.workflow and (project and canonical_project(project)) in projects
            if here and record.get("ended") and record.get("summary"):
                found.append((str(record["ended"]), str(record.get("started")), str(record.get("id")), path))
        except (ClawmemError, OSError, ValueError, TypeError, AttributeError):
            continue
    for *_, path in sorted(found, reverse=True):
        with suppress(ClawmemError):
            yield from seen_by_viewer(vault, [_record(vault, path.relative_to(vault.root).as_posix())])


def seen_by_viewer(vault: Vault, sessions: Sequence[SessionRecord]) -> list[SessionRecord]:
    """Return the sessions that the viewer of a vault may see: all, or where not everything may be seen, an agent's
    own."""
    from clawmem.index.tables.rights import is_restricted  # only where sessions were handed on

    if not sessions or vault.viewer is None or not is_restricted(vault):
        return list(sessions)
    return [each for each in sessions if not vault.viewer.names and each.agent == vault.viewer.agent]


def find_session(vault: Vault, reference: str) -> SessionRecord:
    """Return the session with this id or unique prefix.

    Raise NotFound or AmbiguousId, and InvalidInput for a short prefix."""
    paths = sorted((vault.root / "agents").glob("*/sessions/*.json"))
    names = {path.stem: path for path in paths}
    matches = [reference] if reference in names else [name for name in names if name.startswith(reference)]
    if not reference or not matches:
        raise NotFound(f"There is no session '{reference}'.", "`clawmem session list` shows them.")
    if len(matches) > 1:
        raise AmbiguousId(reference, matches)
    check_prefix(reference, reference, matches[0], PREFIX)
    return _read(vault, names[matches[0]].relative_to(vault.root).as_posix())


def current_session(vault: Vault, caller: Caller, reference: str | None = None) -> SessionRecord:
    """Return the session that a command means: the named one, else that of CLAWMEM_SESSION, else the only open session
    of the calling agent. Raise NotFound if there is none, AmbiguousId if there are several."""
    named = reference or caller.session
    if named:
        return find_session(vault, named)
    opened = open_sessions(vault, caller)
    if len(opened) > 1:
        hint = "Name one of the open sessions by `--session ID` or CLAWMEM_SESSION."
        raise AmbiguousId("", [record.id for record in opened], hint)
    if not opened:
        agent = caller.agent or DEFAULT_AGENT
        raise NotFound(f"The agent {agent} has no open session.", "Start one with `clawmem session start`.")
    return opened[0]


def open_sessions(vault: Vault, caller: Caller) -> list[SessionRecord]:
    """Return the open sessions of the calling agent, newest first."""
    found = list_sessions(vault, caller.now, caller.agent or DEFAULT_AGENT).sessions
    return [session for session in found if session.state == OPEN]


def session_at_work(vault: Vault, caller: Caller, project: str | None) -> str | None:
    """Return the id of the session in which the calling agent works: the only open one, else the one of the project
    that was asked or seen last. None where there is none: a terminal that was closed leaves its session open."""
    opened = open_sessions(vault, caller)
    if len(opened) > 1:
        opened = [session for session in opened if canonical_project(session.project or "") == (project or "")]
    asked = {session.id: known.at for session in opened if (known := read_session(vault, session.id))}
    last = max(opened, key=lambda session: max(session.last_seen, asked.get(session.id, "")), default=None)
    return last.id if last else None


def session_at_hand(vault: Vault, caller: Caller, reference: str | None) -> tuple[SessionRecord, Caller]:
    """Return the open session that a command means, and the caller as its agent in it. Raise as `current_session` and
    `check_open` do."""
    record = current_session(vault, caller, reference)
    check_open(record, caller)
    return record, caller._replace(agent=record.agent, session=record.id)


def check_own(record: SessionRecord, caller: Caller) -> None:
    """Raise Refused if a session was revoked or belongs to another agent."""
    if caller.agent is not None and record.agent != caller.agent:
        raise Refused(
            f"The session {record.id} belongs to the agent {record.agent}.", "Start one with `clawmem session start`."
        )
    if record.state == REVOKED:
        raise Refused(f"The session {record.id} was revoked.", "Start one with `clawmem session start`.")


def check_open(record: SessionRecord, caller: Caller) -> None:
    """Raise Refused if a session has ended, was revoked or belongs to another agent."""
    check_own(record, caller)
    if record.state == ENDED:
        raise Refused(f"The session {record.id} has ended.", f"Continue it with `clawmem session resume {record.id}`.")


def session_change(verb: str, record: SessionRecord, words: str, writes: dict[str, bytes | None]) -> Change:
    """Return the change of a session's own files."""
    items = trailers(verb.replace(" ", "-"), agent=record.agent, session=record.id)
    return Change(subject_line(verb, f"agents/{record.agent}", words), writes, items, author=agent_author(record.agent))


def reach_of_session(vault: Vault, session: str) -> Reach | None:
    """Return the scope of a session's queries; None if there is no such session, or it has neither workflow nor
    project."""
    try:
        record = find_session(vault, session)
    except ClawmemError:
        return None  # CLAWMEM_SESSION may name a session of another program
    return session_reach(record)


def session_reach(record: SessionRecord) -> Reach | None:
    """Return the scope of a session's queries, or None if it has neither workflow nor project."""
    return Reach(record.workflow, record.project) if record.workflow or record.project else None


def with_entries(record: SessionRecord, entries: Iterable[Mapping[str, Any]]) -> SessionRecord:
    """Return the record with the entries of its journal; an entry that it holds already is not added again."""
    notes, served = {note.id: note for note in record.notes}, dict.fromkeys(record.served)
    met = dict.fromkeys(record.collisions)
    last = record.last_seen
    for entry in entries:
        last = max(last, str(entry.get("at", "")))
        if entry.get("kind") == NOTE:
            notes.setdefault(str(entry["id"]), SessionNote(str(entry["id"]), str(entry["at"]), str(entry["text"])))
        elif entry.get("kind") == SERVED:
            served.update(dict.fromkeys(map(str, entry.get("facts", ()))))
        elif entry.get("kind") == COLLISION:
            met[SessionCollision(*(str(entry.get(key, "")) for key in SessionCollision._fields))] = None
    return record._replace(notes=tuple(notes.values()), served=tuple(served), last_seen=last, collisions=tuple(met))


def visible_to(record: SessionRecord, caller: Caller) -> SessionRecord:
    """Return the record without its notes if another agent asks while the session is open: they are unfinished."""
    is_mine = caller.agent in (None, record.agent)
    return record if is_mine or record.state == ENDED else record._replace(notes=())


def notes_since_checkpoint(record: SessionRecord) -> int:
    """Return how many notes were made since the last checkpoint."""
    last = str(record.checkpoints[-1].get("at", "")) if record.checkpoints else ""
    counted = int(record.checkpoints[-1].get("notes", 0)) if record.checkpoints else 0
    return len(record.notes) - counted if last else len(record.notes)


def stored_record(read: Callable[[str], bytes | None], record: SessionRecord) -> SessionRecord:
    """Return a record as its file has it now, without its journal."""
    path = record_path(record)
    return parse_session(read(path) or b"", path, parse_yaml)._replace(agent=record.agent)


def record_path(record: SessionRecord) -> str:
    """Return the vault path of a record."""
    return session_path(record.agent or DEFAULT_AGENT, record.id)


def _read(vault: Vault, path: str) -> SessionRecord:
    record = _record(vault, path)
    return with_entries(record, read_entries(vault, record.id))


def _record(vault: Vault, path: str) -> SessionRecord:
    record = parse_session(vault.read(path) or b"", path, parse_yaml)
    return record._replace(agent=record.agent or path.split("/")[1])
