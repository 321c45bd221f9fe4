"""Facts that a person is asked to judge: the open proposals about conflicts, by the facts they would change."""

from __future__ import annotations

import json
from collections.abc import Collection

from clawmem.index.store import Index

_KIND = "conflict"


def take_in_proposal(index: Index, path: str, data: bytes | None) -> None:
    """Make the index say of a proposal's file which facts it puts in question, if it waits."""
    index.database.execute("DELETE FROM dispute WHERE path = ?", (path,))
    if data is None:
        return
    from clawmem.model.proposal import OPEN  # serving asks only for what is known
    from clawmem.model.proposal_file import parse_proposal
    from clawmem.model.quarantine import orders_in

    one = parse_proposal(data, path)
    if one.kind == _KIND and one.status == OPEN:
        # What reads as an order is told to nobody who does not ask for the proposal itself.
        says = "something else, which reads as an order" if one.fact and orders_in(one.fact) else one.says
        rows = [(path, target.id, says) for target in one.targets]
        index.database.executemany("INSERT OR IGNORE INTO dispute VALUES (?, ?, ?)", rows)


def disputes(index: Index, fact_ids: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """The open proposals that put some facts in question: the proposal's id and what it says, by fact."""
    rows = index.database.execute(
        "SELECT target, path, says FROM dispute WHERE target IN (SELECT value FROM json_each(?)) ORDER BY path",
        (json.dumps(sorted(fact_ids)),),
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for target, path, says in rows:
        found.setdefault(target, []).append((path.rpartition("/")[2].removesuffix(".json"), says))
    return found
