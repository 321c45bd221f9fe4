"""Things that statements name, and the facts about them: what a further pass of a search follows."""

from __future__ import annotations

import json
from collections.abc import Collection

from clawmem.index.search.channels import FactFilter, condition_of, keyword_channel
from clawmem.index.search.lookup import entities_called
from clawmem.index.tables.store import Index


def things_named(index: Index, names: Collection[str]) -> dict[str, str | None]:
    """Return those of some names that are known: titles or aliases, with their entity, and subjects of facts.

    The names are in normal form.
    """
    query = "SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM fact WHERE subject = value)"
    known: dict[str, str | None] = {name: None for (name,) in index.database.execute(query, (json.dumps([*names]),))}
    known.update({name: entity for entity, name in entities_called(index, [*names]).items()})
    return known


def rows_about_thing(index: Index, name: str, entity: str | None, wanted: FactFilter, most: int) -> list[int]:
    """Return facts about a thing that pass the filter: the most important ones of its entity and with it as their
    subject, and those that mention all words of its name. Each kind has at most `most`."""
    condition, values = condition_of(wanted)
    found: dict[int, None] = {}
    for column, value in (("subject", name), ("entity", entity)):
        if value is not None:
            query = f"SELECT n FROM fact WHERE {column} = ? AND {condition} ORDER BY weight DESC, n DESC LIMIT ?"
            found |= dict.fromkeys(n for (n,) in index.database.execute(query, (value, *values, most)))
    words = name.split()
    mentions = set(keyword_channel(index, words, wanted, most).scores)
    for word in words:
        mentions = index.engine.having(mentions, (word,))
    return [*found, *sorted(mentions - found.keys())]


def number_of_facts(index: Index) -> int:
    """Return how many facts the index has."""
    (number,) = index.database.execute("SELECT facts FROM total").fetchone()
    return int(number)
