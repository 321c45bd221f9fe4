"""Journals below `.git/clawmem/`, to which lines are appended: accesses, and what happens in each session.

Each retrieval appends a line to the access journal, and the heartbeat adds the counts to the facts. A line contains the
time, the ids of the facts shown, and a checksum. So reads never commit, and no access is lost before the heartbeat. A
line with a wrong checksum is ignored. A partial line of a killed reader is cut off by the next one.

An entry of a session (`sessions/`: notes, facts served, signs of life) is one line of JSON, on the disk before the
command returns, so that a note that was acknowledged survives a kill. The next checkpoint, end or heartbeat moves the
journal aside and puts its entries into the session record.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from clawmem.errors import StorageFailed
from clawmem.model.facts.fact import Fact
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.strict_json import checksum
from clawmem.platform.files import sync_to_disk
from clawmem.vault.disk import append_line, complete_lines, move_aside
from clawmem.vault.vault import Vault

JOURNAL = "access.log"
FOLDING = "access.folding"
_SEAL = "#"
_NEVER = (0, "")


class AccessCount(NamedTuple):
    """How often a fact was shown since the last fold into the facts, and when last (ISO 8601 UTC)."""

    count: int  # type: ignore[assignment] # hides tuple.count, which is not used
    last: str


def record_access(vault: Vault, moment: str, fact_ids: Iterable[str]) -> str | None:
    """Record that facts were shown. Return a notice if the vault cannot be written, else None.

    Reads of a past version are not recorded.
    """
    if vault.present is not None:
        return None
    text = " ".join((moment, *fact_ids))
    line = f"{text} {_SEAL}{checksum(text):08x}\n".encode()
    try:
        vault.prepare_state()
        append_line(vault.state / JOURNAL, line)
        return None
    except OSError as problem:
        return f"the access was not recorded: {problem.strerror}"


def take_journal(vault: Vault) -> bytes:
    """Move the journal aside for folding and return its contents, or those of one that an earlier run left. The caller
    holds the writer lock and deletes FOLDING when its commit is reachable."""
    return move_aside(vault.state / JOURNAL, vault.state / FOLDING)


def unfolded_accesses(vault: Vault) -> bytes:
    """Return all accesses that are not committed yet."""
    return b"".join(complete_lines(vault.disk.read(vault.state / name) or b"") for name in (FOLDING, JOURNAL))


def count_accesses(journal: bytes) -> Mapping[str, AccessCount]:
    """Return the accesses in a journal by fact id."""
    counts: dict[str, AccessCount] = {}
    for line in journal.decode(errors="replace").splitlines():
        moment, fact_ids = parse_access(line) or ("", [])
        for fact_id in fact_ids:
            count, last = counts.get(fact_id, _NEVER)
            counts[fact_id] = AccessCount(count + 1, max(last, moment))
    return counts


def parse_access(line: str) -> tuple[str, list[str]] | None:
    """Return the time and the fact ids of a line, or None if its checksum is wrong or missing."""
    text, _, value = line.rpartition(f" {_SEAL}")
    if value != f"{checksum(text):08x}":
        return None
    moment, *fact_ids = text.split(" ")
    return moment, fact_ids


def add_accesses(fact: Fact, counted: Mapping[str, AccessCount]) -> Fact:
    """Return the fact with its uncommitted accesses added."""
    access = counted.get(fact.id)
    if access is None:
        return fact
    last = max(access.last, fact.last_accessed or "")
    return fact._replace(access_count=fact.access_count + access.count, last_accessed=last)


SESSIONS = "sessions"
_ENDING, _FOLDING = ".log", ".folding"
_SEAL_KEY = "seal"


def record_entry(vault: Vault, session: str, entry: Mapping[str, Any], durable: bool = True) -> None:
    """Append an entry. Raise StorageFailed if the disk does not take it."""
    sealed = {**entry, _SEAL_KEY: checksum(json.dumps(entry, sort_keys=True))}
    path = vault.state / SESSIONS / f"{session}{_ENDING}"
    try:
        vault.prepare_state()
        path.parent.mkdir(mode=0o700, exist_ok=True)
        append_line(path, f"{json.dumps(sealed, ensure_ascii=False)}\n".encode())
        if durable:
            sync_to_disk(path)
    except OSError as problem:
        raise StorageFailed(f"The note was not stored: {problem.strerror}.", "Free space or check the disk.") from None


def take_entries(vault: Vault, session: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Move the journal aside; return its entries, and the files for `Change.consumes`.

    If an earlier run moved a journal aside and did not finish, only that one is returned. The caller holds the writer
    lock."""
    path, folding = (vault.state / SESSIONS / f"{session}{ending}" for ending in (_ENDING, _FOLDING))
    entries = _entries(move_aside(path, folding))
    return entries, (f"{SESSIONS}/{session}{_FOLDING}",) if folding.exists() else ()


def read_entries(vault: Vault, session: str) -> list[dict[str, Any]]:
    """Return all entries that are not in the session record yet, oldest first."""
    paths = (vault.state / SESSIONS / f"{session}{ending}" for ending in (_FOLDING, _ENDING))
    return [entry for path in paths for entry in _entries(vault.disk.read(path) or b"")]


def sessions_with_entries(vault: Vault) -> list[str]:
    """Return the ids of the sessions that have a journal."""
    folder = vault.state / SESSIONS
    return sorted({path.stem for path in folder.iterdir()}) if folder.is_dir() else []


def _entries(data: bytes) -> list[dict[str, Any]]:
    found = []
    for line in complete_lines(data).decode(errors="replace").splitlines():
        try:
            entry = json.loads(line)
            seal = entry.pop(_SEAL_KEY)
        except (ValueError, AttributeError, KeyError):
            continue
        if seal == checksum(json.dumps(entry, sort_keys=True)):
            found.append(entry)
    return found
