"""The access journal below `.git/clawmem/`: each retrieval appends a line, and the heartbeat adds the counts to the
facts.

A line contains the time, the ids of the facts shown, and a checksum. So reads never commit, and no access is lost
before the heartbeat. A line with a wrong checksum is ignored. A partial line of a killed reader is cut off by the next
one.
"""

from collections.abc import Iterable, Mapping

from clawmem.model.facts.fact import Fact
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.strict_json import checksum
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


# The journal that was counted last, and its counts.
_counted: tuple[bytes, dict[str, AccessCount]] = (b"", {})


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
    """Return the accesses in a journal by fact id.

    Journals only grow between two folds, so what was counted last in this process is not counted again."""
    global _counted
    before, known = _counted
    start = len(before) if journal.startswith(before) else 0
    counts = dict(known) if start else {}
    for line in journal[start:].decode(errors="replace").splitlines():
        moment, fact_ids = parse_access(line) or ("", [])
        for fact_id in fact_ids:
            count, last = counts.get(fact_id, _NEVER)
            counts[fact_id] = AccessCount(count + 1, max(last, moment))
    if journal.endswith(b"\n"):
        _counted = journal, counts
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
