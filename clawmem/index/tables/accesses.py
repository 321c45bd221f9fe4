"""Accesses of facts in the index: the counts of `ledger/accesses.json` by fact id."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import DEFAULT_IMPORTANCE, Fact
from clawmem.model.records.accesses import Accesses, parse_accesses, with_accesses


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
