"""Facts in dispute: the targets of open proposals about conflicts.

Every row that is returned is checked against its seal. RowDamaged is raised if it does not match.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from clawmem.index.tables.schema import check_dispute
from clawmem.index.tables.store import Index
from clawmem.model.records.strict_json import checksum

_KIND = "conflict"


def take_in_proposal(index: Index, path: str, data: bytes | None) -> None:
    """Update the index with a proposal file: which facts it puts in dispute, if it is open."""
    index.database.execute("DELETE FROM dispute WHERE path = ?", (path,))
    if data is None:
        return
    from clawmem.model.facts.fact import EXTERNAL, OUTSIDE_WARNING
    from clawmem.model.proposals.proposal import (
        OPEN,  # not needed by a search
        parse_proposal,
    )
    from clawmem.model.proposals.quarantine import orders_in

    proposal = parse_proposal(data, path)
    if proposal.kind == _KIND and proposal.status == OPEN:
        # Text that reads as an order is shown only with the proposal itself.
        remark = f" ({OUTSIDE_WARNING})" if proposal.fact and proposal.fact.trust == EXTERNAL else ""
        says = (
            "something else, which reads as an order"
            if proposal.fact and orders_in(proposal.fact)
            else proposal.says + remark
        )
        rows = [(path, target.id, says, checksum(path, target.id, says)) for target in proposal.targets]
        index.database.executemany("INSERT OR IGNORE INTO dispute VALUES (?, ?, ?, ?)", rows)


def open_disputes(index: Index, fact_ids: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the open proposals that concern some facts: proposal id and statement, by fact id.

    A proposal between several facts is left out where none of the others is active any more.
    """
    rows = index.database.execute(
        "SELECT target, path, says, seal FROM dispute WHERE target IN (SELECT value FROM json_each(?))"
        " AND (NOT EXISTS (SELECT 1 FROM dispute AS other WHERE other.path = dispute.path"
        " AND other.target != dispute.target) OR EXISTS (SELECT 1 FROM dispute AS other JOIN fact"
        " ON fact.id = other.target AND fact.status = 'active' WHERE other.path = dispute.path"
        " AND other.target != dispute.target)) ORDER BY path",
        (json.dumps(sorted(fact_ids)),),
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for target, path, says, other in rows:
        check_dispute(path, target, says, other)
        found.setdefault(target, []).append((path.rpartition("/")[2].removesuffix(".json"), says))
    return found


def disputing(index: Index, fact_ids: Collection[str]) -> list[str]:
    """Return the paths of the open proposals that put one of the facts in dispute."""
    rows = index.database.execute(
        "SELECT DISTINCT path FROM dispute WHERE target IN (SELECT value FROM json_each(?)) ORDER BY path",
        (json.dumps(sorted(fact_ids)),),
    )
    return [path for (path,) in rows]


def disputed_with(index: Index, fact_ids: Collection[str]) -> list[tuple[str, str]]:
    """Return the pairs of a given fact and another active fact that an open proposal puts in dispute together."""
    rows = index.database.execute(
        "SELECT one.target, other.target FROM dispute AS one JOIN dispute AS other"
        " ON other.path = one.path AND other.target != one.target"
        " JOIN fact ON fact.id = other.target AND fact.status = 'active'"
        " WHERE one.target IN (SELECT value FROM json_each(?)) ORDER BY fact.timestamp, fact.id",
        (json.dumps(sorted(fact_ids)),),
    )
    return rows.fetchall()
