"""The access journal: each retrieval appends a line below `.git/clawmem/`; the heartbeat folds it into the facts.

A line is the time, the ids that were shown, and their checksum. Reads therefore never commit, and counts survive until
folded. A line that does not have its checksum counts for nothing, nor does the half line of a reader that was killed,
which the next one cuts off.
"""

import fcntl
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.records.seal import checksum
from clawmem.vault.disk import append_line, whole_lines
from clawmem.vault.vault import Vault

JOURNAL = "access.log"
FOLDING = "access.folding"
_SEAL = "#"


class AccessCount(NamedTuple):
    """How often a fact was shown since the last fold, and when last (ISO 8601 UTC)."""

    count: int  # type: ignore[assignment] # nobody counts in this tuple
    last: str


def record_access(vault: Vault, moment: str, fact_ids: Iterable[str]) -> str | None:
    """Note that facts were shown; returns a sentence where the vault cannot be written, else None.

    A look at the past is no use of what is shown: nothing is noted then.
    """
    if vault.present is not None:
        return None
    said = " ".join((moment, *fact_ids))
    line = f"{said} {_SEAL}{checksum(said):08x}\n".encode()
    try:
        vault.prepare_state()
        append_line(vault.state / JOURNAL, line)
        return None
    except OSError as problem:
        return f"the access was not recorded: {problem.strerror}"


def set_aside(vault: Vault) -> bytes:
    """Move the journal aside for folding and return it.

    What an earlier run set aside and never folded comes alone, so that nothing can be counted twice. The
    caller holds the writer lock and removes FOLDING once its commit is reachable.
    """
    path, folding = vault.state / JOURNAL, vault.state / FOLDING
    earlier = vault.disk.read(folding)
    if earlier is not None:
        return whole_lines(earlier)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        path.rename(folding)
    finally:
        os.close(descriptor)
    return whole_lines(vault.disk.read(folding) or b"")


def unfolded(vault: Vault) -> bytes:
    """All accesses that no commit holds yet."""
    return b"".join(whole_lines(vault.disk.read(vault.state / name) or b"") for name in (FOLDING, JOURNAL))


def accesses(journal: bytes) -> dict[str, AccessCount]:
    """The journal as counts per fact id."""
    counts: dict[str, AccessCount] = {}
    for line in journal.decode(errors="replace").splitlines():
        moment, fact_ids = parse_access(line) or ("", [])
        for fact_id in fact_ids:
            earlier = counts.get(fact_id)
            counts[fact_id] = (
                AccessCount(1, moment) if earlier is None else AccessCount(earlier.count + 1, max(earlier.last, moment))
            )
    return counts


def parse_access(line: str) -> tuple[str, list[str]] | None:
    """The time and the ids of a line; None where its checksum is another or missing."""
    text, _, given = line.rpartition(f" {_SEAL}")
    if given != f"{checksum(text):08x}":
        return None
    moment, *fact_ids = text.split(" ")
    return moment, fact_ids


def with_access(fact: Fact, counted: Mapping[str, AccessCount]) -> Fact:
    """The fact with accesses counted that no commit holds yet."""
    access = counted.get(fact.id)
    if access is None:
        return fact
    last = max(access.last, fact.last_accessed or "")
    return fact._replace(access_count=fact.access_count + access.count, last_accessed=last)
