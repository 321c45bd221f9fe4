"""What the index knows of facts beside their records: accesses, disputes, and what came from outside."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from clawmem.index.tables.schema import check_sealed
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import DEFAULT_IMPORTANCE, Fact
from clawmem.model.proposals.quarantine import as_served
from clawmem.model.records.accesses import Accesses, parse_accesses, with_accesses
from clawmem.model.records.strict_json import checksum

# Accesses of facts in the index: the counts of `ledger/accesses.json` by fact id.


def take_in_accesses(index: Index, path: str, data: bytes | None) -> list[str]:
    """Update the index with the file of counts, and return the ids of the facts whose counts changed."""
    known = {fact_id: tuple(rest) for fact_id, *rest in index.database.execute("SELECT * FROM access")}
    counts = parse_accesses(data, path)
    changed = [fact_id for fact_id, count in counts.items() if known.get(fact_id) != tuple(count)]
    gone = [fact_id for fact_id in known if fact_id not in counts]
    index.database.executemany("DELETE FROM access WHERE id = ?", [(fact_id,) for fact_id in gone])
    rows = [(fact_id, *counts[fact_id]) for fact_id in changed]
    index.database.executemany("INSERT OR REPLACE INTO access VALUES (?, ?, ?, ?)", rows)
    return [*changed, *gone]


def has_accesses(index: Index) -> bool:
    """Return whether any fact has counts beside its line."""
    return index.database.execute("SELECT 1 FROM access LIMIT 1").fetchone() is not None


def accesses_of(index: Index, fact_id: str) -> Accesses | None:
    """Return the accesses of a fact beside those in its line, or None."""
    row = index.database.execute("SELECT number, last, importance FROM access WHERE id = ?", (fact_id,)).fetchone()
    return Accesses(*row) if row else None


def plain_importances(index: Index) -> dict[str, float]:
    """Return the importance in the line of each fact that accesses raised, by id."""
    rows = index.database.execute(
        "SELECT access.id, json_extract(line, '$.importance') FROM access JOIN fact ON fact.id = access.id"
        " WHERE access.importance IS NOT NULL"
    )
    return {fact_id: DEFAULT_IMPORTANCE if plain is None else plain for fact_id, plain in rows}


def counted_fact(index: Index, fact: Fact) -> Fact:
    """Return a fact with all its committed accesses. What is written to `items.json` must not come from here."""
    return with_accesses(fact, accesses_of(index, fact.id))


def counted_facts(index: Index, facts: Iterable[Fact]) -> list[Fact]:
    """Return facts with all their committed accesses."""
    return [counted_fact(index, fact) for fact in facts] if has_accesses(index) else list(facts)


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
        check_sealed("dispute", path, target, says, other)
        found.setdefault(target, []).append((path.rpartition("/")[2].removesuffix(".json"), says))
    return found


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


# Facts with something at stake that came from outside, as stored in the index: see `index.refresh`.


def stakes(index: Index) -> dict[str, str]:
    """Return what is at stake in facts from outside, by fact id; empty in most vaults."""
    found = {}
    for fact_id, stake, other in index.database.execute("SELECT id, stake, seal FROM outside"):
        check_sealed("outside", fact_id, stake, other)
        found[fact_id] = stake
    return found


def served_fact(index: Index, fact: Fact) -> Fact:
    """Return a fact as it is served: marked if something at stake came from outside."""
    return as_served(fact, stakes(index).get(fact.id))
