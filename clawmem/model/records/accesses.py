"""How often facts were accessed, and when last: `ledger/accesses.json`.

The counts are beside the facts, so that a fold changes no line of `items.json`. Counts that a line of an older vault
has stay there, and these are added.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import Unreadable
from clawmem.model.facts.fact import Fact
from clawmem.model.records.strict_json import read_json

ACCESSES_PATH = "ledger/accesses.json"
_LARGEST = 2**63 - 1


class Accesses(NamedTuple):
    """The accesses of a fact since its line was written: their number, and the last one (ISO 8601 UTC)."""

    number: int
    last: str


def parse_accesses(data: bytes | None, path: str = ACCESSES_PATH) -> dict[str, Accesses]:
    """Read the counts by fact id. Raise Unreadable if the file is not one of counts."""
    if not data:
        return {}
    try:
        record = read_json(data)
    except ValueError as problem:
        raise Unreadable(path, getattr(problem, "lineno", None), str(problem)) from None
    if not isinstance(record, dict):
        raise Unreadable(path, None, "it is not an object with the accesses of each fact")
    return {fact_id: _accesses(fact_id, value, path) for fact_id, value in record.items()}


def _accesses(fact_id: str, value: object, path: str) -> Accesses:
    if isinstance(value, list) and len(value) == 2:
        number, last = value
        if type(number) is int and 0 <= number <= _LARGEST and isinstance(last, str):
            return Accesses(number, last)
    raise Unreadable(path, None, f"the accesses of {fact_id} are not a number and a time")


def render_accesses(accesses: Mapping[str, Accesses]) -> bytes:
    """The file of counts, one fact a line, sorted by id."""
    lines = [f"{json.dumps(fact_id)}: {json.dumps(list(accesses[fact_id]))}" for fact_id in sorted(accesses)]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode() if lines else b"{}\n"


def merged_accesses(
    base: Mapping[str, Accesses], ours: Mapping[str, Accesses], theirs: Mapping[str, Accesses]
) -> dict[str, Accesses]:
    """Add up what each side counted since the base; the time of the last access never goes back."""
    none = Accesses(0, "")
    found = {}
    for fact_id in ours.keys() | theirs.keys():
        before, one, other = (side.get(fact_id, none) for side in (base, ours, theirs))
        new = max(0, one.number - before.number) + max(0, other.number - before.number)
        found[fact_id] = Accesses(min(_LARGEST, before.number + new), max(one.last, other.last))
    return found


def with_accesses(fact: Fact, accesses: Accesses | None) -> Fact:
    """Return the fact with its accesses added to those in its line."""
    if accesses is None:
        return fact
    last = max(accesses.last, fact.last_accessed or "")
    return fact._replace(access_count=fact.access_count + accesses.number, last_accessed=last)
