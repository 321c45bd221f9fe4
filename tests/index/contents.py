"""All that an index says, in a form that two indexes can be compared by."""

from __future__ import annotations

import json
import re
from typing import Any

from clawmem.index.refresh import rebuild
from clawmem.index.search.lookup import all_facts
from clawmem.index.tables.intake import search_text
from clawmem.index.tables.schema import check_total
from clawmem.index.tables.store import Index
from clawmem.model.search.passage import row_of
from clawmem.vault.vault import Vault

PROBES = 60


def contents(index: Index) -> dict[str, Any]:
    """Rows of every table without their numbers, an entity's facts in their order, and what words find."""
    execute = index.database.execute
    columns = [row[1] for row in execute("PRAGMA table_info(fact)") if row[1] not in ("n", "exact", "tokens", "seal")]
    check_total(index)
    facts: dict[str, list[Any]] = {}
    for row in execute(f"SELECT {', '.join(columns)} FROM fact ORDER BY n"):
        facts.setdefault(row[columns.index("entity")], []).append(row)
    rest: dict[str, Any] = {
        name: execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in ("entity", "alias", "sitting")
    }
    rest["ledger"] = execute("SELECT day, size, crc, events, learned_from, spoken FROM ledger ORDER BY day").fetchall()
    rest["event"] = execute(
        "SELECT id, day, sitting, place, speaker, size, asks, recalled, line FROM event ORDER BY day, n"
    ).fetchall()
    rest["note"] = execute("SELECT path, place, day, owner, text FROM note ORDER BY path, place").fetchall()
    rest["edge"] = execute(
        "SELECT fact.id, fact.entity, kind, target FROM edge LEFT JOIN fact USING (n) ORDER BY 1, 2, 3, 4"
    ).fetchall()
    rest["spoken"] = spoken(index)
    broken = execute("SELECT path FROM broken ORDER BY path").fetchall()
    return {"head": index.head(), "facts": facts, **rest, "broken": broken, "found": found(index)}


def found(index: Index) -> dict[str, list[str]]:
    """Return the ids of the facts found by each of many words of the facts."""
    ids = dict(index.database.execute("SELECT n, id FROM fact"))
    words = {
        word for placed in all_facts(index) for word in re.findall(r"\w+", search_text(placed.entity, placed.fact))
    }
    probes = [*sorted(words)[:PROBES], "jane", "project", "absentia"]
    return {
        word: sorted(ids[match.n] for match in index.engine.search([word], 10_000, thorough=True)) for word in probes
    }


def spoken(index: Index) -> dict[str, list[str]]:
    """For words of the events and notes, what each finds."""
    execute = index.database.execute
    names: dict[int, str] = dict(execute("SELECT n, line FROM event"))
    names |= {-n: f"{path} {place}" for n, path, place in execute("SELECT n, path, place FROM note")}
    words = {word for line in names.values() for word in re.findall(r"[a-z]{3,}", line.lower())}
    return {
        word: sorted(names[row_of(match.n)] for match in index.passage_engine.search([word], 10_000, thorough=True))
        for word in [*sorted(words)[:PROBES], "meeting", "summary"]
    }


def assert_equal_to_a_rebuild(vault: Vault, index: Index) -> None:
    """The index says what a new one says, and SQLite finds nothing wrong with it."""
    assert index.database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    if index.engine.name == "fts5":
        (words,) = index.database.execute("SELECT count(*) FROM words_docsize").fetchone()
        (facts,) = index.database.execute("SELECT count(*) FROM fact").fetchone()
        assert words == facts
    old = contents(index)
    index.close()
    fresh = rebuild(vault)
    new = contents(fresh)
    fresh.close()
    assert json.loads(json.dumps(old)) == json.loads(json.dumps(new))
