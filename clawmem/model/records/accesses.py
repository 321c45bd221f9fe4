"""How often facts were accessed, when last, and how important that made them: `ledger/accesses.json`.

The counts are beside the facts, so that a fold changes no line of `items.json`. Counts that a line of an older vault
has stay there, and these are added.
"""

import json
import math
from collections.abc import Mapping

from clawmem.errors import Unreadable
from clawmem.model.facts.fact import Fact, importance_of
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.strict_json import read_json

ACCESSES_PATH = "ledger/accesses.json"
_LARGEST = 2**63 - 1
# Recall alone raises an importance to this at most, just below the 0.8 from which a fact is always hot.
RECALL_CEILING = 0.79
RECALL_GAIN = 0.05


class Accesses(NamedTuple):
    """The accesses of a fact since its line was written: their number, and the last one (ISO 8601 UTC).

    `importance` is the one to which they raised the fact's, or None if they did not.
    """

    number: int
    last: str
    importance: float | None = None


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
    if isinstance(value, list) and len(value) in (2, 3):
        number, last, *raised = value
        importance = raised[0] if raised else None
        is_share = importance is None or (type(importance) in (int, float) and 0 <= importance <= 1)
        if type(number) is int and 0 <= number <= _LARGEST and isinstance(last, str) and is_share:
            return Accesses(number, last, importance)
    raise Unreadable(path, None, f"the accesses of {fact_id} are not a number, a time, and perhaps an importance")


def render_accesses(accesses: Mapping[str, Accesses]) -> bytes:
    """The file of counts, one fact a line, sorted by id."""
    rows = ((fact_id, [value for value in counted if value is not None]) for fact_id, counted in accesses.items())
    lines = [f"{json.dumps(fact_id)}: {json.dumps(values)}" for fact_id, values in sorted(rows)]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode() if lines else b"{}\n"


def merged_accesses(
    base: Mapping[str, Accesses], ours: Mapping[str, Accesses], theirs: Mapping[str, Accesses]
) -> dict[str, Accesses]:
    """Add up what each side counted since the base; the time of the last access never goes back."""
    none = Accesses(0, "")
    found = {}
    for fact_id in ours.keys() | theirs.keys():
        before, accesses, other = (side.get(fact_id, none) for side in (base, ours, theirs))
        new = max(0, accesses.number - before.number) + max(0, other.number - before.number)
        raised = max((side for side in (accesses.importance, other.importance) if side is not None), default=None)
        found[fact_id] = Accesses(min(_LARGEST, before.number + new), max(accesses.last, other.last), raised)
    return found


def with_accesses(fact: Fact, accesses: Accesses | None) -> Fact:
    """Return the fact with its accesses added to those in its line."""
    if accesses is None:
        return fact
    last = max(accesses.last, fact.last_accessed or "")
    counted = fact._replace(access_count=fact.access_count + accesses.number, last_accessed=last)
    if accesses.importance is None or accesses.importance <= importance_of(fact):
        return counted
    return counted._replace(importance=accesses.importance)


def raised_importance(importance: float, access_count: int) -> float:
    """Return an importance after so many recalls: it grows with the logarithm of their number and stays below 0.8."""
    raised = importance + RECALL_GAIN * math.log1p(max(access_count, 0))
    return max(importance, min(RECALL_CEILING, raised))
