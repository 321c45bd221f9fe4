"""The graph of the vault: facts and entities, connected by links, relations, subjects and the places of facts; and the
further pass of recall along it.

The edge table finds the facts that point to something. What a fact points to is read from its own line, which has a
seal. RowDamaged is raised if the two disagree.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest

from clawmem.index.search.channels import (
    ChannelHits,
    FactFilter,
    condition_of,
    facts_in_rows,
    keyword_channel,
    passing_rows,
    predicate_channel,
)
from clawmem.index.search.lookup import (
    FACT_COLUMNS,
    PlacedFact,
    entities_called,
    entities_known_as,
    fact_from_row,
    newest_rows_about,
    rows_of,
)
from clawmem.index.tables.schema import RowDamaged, check_sealed
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import ACTIVE, FACT_PREFIX, Fact, pointers
from clawmem.model.facts.reach import workflow_of_realm
from clawmem.model.language.text import normal
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import owner_of

IN = "in"
ABOUT = "about"


class GraphEdge(NamedTuple):
    """An edge from one node to another. Nodes are facts by id and entities by name.

    `forward` says that the first node points to the second. `relation` is a link type, superseded_by, related, about
    (subject) or in (place).
    """

    source: str
    relation: str
    target: str
    forward: bool


def is_fact(node: str) -> bool:
    """Return whether a node is a fact."""
    return node.startswith(FACT_PREFIX)


def is_pointed_at(index: Index, name: str) -> bool:
    """Return whether a fact points to exactly this name, even if no entity has it."""
    return index.database.execute("SELECT 1 FROM edge WHERE target = ? LIMIT 1", (name,)).fetchone() is not None


def edges_at(index: Index, node: str, wanted: FactFilter) -> list[GraphEdge]:
    """Return every edge at a node that passes the filter, each once, the node's own pointers first."""
    found = _of_fact(index, node, wanted) if is_fact(node) else _of_entity(index, node, wanted)
    return list(dict.fromkeys(edge for edge in found if edge.target != node))


def _of_fact(index: Index, node: str, wanted: FactFilter) -> Iterator[GraphEdge]:
    row = index.database.execute(f"SELECT {FACT_COLUMNS} FROM fact WHERE id = ?", (node,)).fetchone()
    if row is None:
        return
    fact, entity = fact_from_row(row)
    _check(fact, fact.id == node)
    for kind, target in sorted(set(pointers(fact))):
        if not is_fact(target):
            for name in _entities_named(index, target, wanted):
                yield GraphEdge(node, kind, name, True)
        elif _visible(index, target, wanted):
            yield GraphEdge(node, kind, target, True)
    for name in entities_known_as(index, fact.subject) if fact.subject else ():
        if _may_see(name, wanted) and name != entity:
            yield GraphEdge(node, ABOUT, name, True)
    yield GraphEdge(node, IN, entity, True)
    yield from _pointing(index, node, [node], wanted)


def _of_entity(index: Index, name: str, wanted: FactFilter) -> Iterator[GraphEdge]:
    names = [name, *_other_names(index, name)]
    yield from _pointing(index, name, names, wanted)
    condition, values = condition_of(wanted)
    execute = index.database.execute
    known = _aliases(index, name)
    about = (
        f"SELECT {FACT_COLUMNS} FROM fact WHERE subject IN (SELECT alias FROM alias WHERE name = ?) AND entity != ?"
        f" AND {condition} ORDER BY n"
    )
    for row in execute(about, (name, name, *values)):
        fact, entity = fact_from_row(row)
        _check(fact, normal(fact.subject or "") in known and entity != name)
        yield GraphEdge(name, ABOUT, fact.id, False)
    for row in execute(f"SELECT {FACT_COLUMNS} FROM fact WHERE entity = ? AND {condition} ORDER BY n", (name, *values)):
        fact, entity = fact_from_row(row)
        _check(fact, entity == name)
        yield GraphEdge(name, IN, fact.id, False)


def _pointing(index: Index, node: str, names: list[str], wanted: FactFilter) -> Iterator[GraphEdge]:
    condition, values = condition_of(wanted)
    marks = ", ".join("?" * len(names))
    query = (
        f"SELECT kind, target, {FACT_COLUMNS} FROM edge JOIN fact USING (n) WHERE target IN ({marks}) AND {condition}"
        " ORDER BY kind, fact.n"
    )
    for kind, target, *row in index.database.execute(query, (*names, *values)):
        fact = fact_from_row(row).fact
        _check(fact, (kind, target) in pointers(fact))
        yield GraphEdge(node, kind, fact.id, False)


def facts_linking_to(index: Index, kind: str, ids: Collection[str]) -> list[tuple[str, PlacedFact]]:
    """Return the facts with a link of a type to some facts, each with the id of that fact."""
    rows = index.database.execute(
        f"SELECT edge.target, {FACT_COLUMNS} FROM json_each(?) AS given CROSS JOIN edge INDEXED BY edge_target"
        " ON edge.target = given.value AND edge.kind = ? CROSS JOIN fact USING (n) ORDER BY edge.target, fact.n",
        (json.dumps(sorted(ids)), kind),
    )
    found = [(target, fact_from_row((line, entity, n, seal))) for target, line, entity, n, seal in rows]
    for target, placed in found:
        _check(placed.fact, (kind, target) in pointers(placed.fact))
    return found


def _check(fact: Fact, agrees: bool) -> None:
    if not agrees:
        raise RowDamaged(f"{fact.id} was found in the index by a value that it does not have")


def check_links(index: Index, kind: str, pairs: Collection[tuple[int, int]]) -> None:
    """Raise RowDamaged if a fact in a pair of rows has no such link to the other."""
    found = facts_in_rows(index, sorted({n for pair in pairs for n in pair}))
    for number, other in pairs:
        _check(found[number].fact, (kind, found[other].fact.id) in pointers(found[number].fact))


def check_edges(index: Index) -> None:
    """Raise RowDamaged if the row of a fact is damaged, or the edges differ from those in the facts' lines."""
    lines = index.database.execute(f"SELECT {FACT_COLUMNS} FROM fact ORDER BY n")
    facts = ((row[2], fact_from_row(row).fact) for row in lines)
    expected = ((n, *pointer) for n, fact in facts for pointer in sorted(set(pointers(fact))))
    stored = index.database.execute("SELECT n, kind, target FROM edge ORDER BY n, kind, target")
    for candidate, other in zip_longest(expected, stored):
        if candidate != other:
            raise RowDamaged(f"the edges of row {(candidate or other)[0]} of the index are damaged")


def _visible(index: Index, fact: str, wanted: FactFilter) -> bool:
    condition, values = condition_of(wanted)
    row = index.database.execute(f"SELECT 1 FROM fact WHERE id = ? AND {condition}", (fact, *values)).fetchone()
    return row is not None


def _entities_named(index: Index, name: str, wanted: FactFilter) -> list[str]:
    """Return the entity with a name, or those that had it before they were moved or renamed, or the name itself."""
    known = index.database.execute(
        "SELECT 1 FROM entity WHERE name = ?1 UNION ALL SELECT 1 FROM fact WHERE entity = ?1 LIMIT 1", (name,)
    ).fetchone()
    found = [name] if known else entities_known_as(index, normal(name)) or [name]
    return [text for text in found if _may_see(text, wanted)]


def _other_names(index: Index, name: str) -> list[str]:
    query = "SELECT name, title, kind, aliases, seal FROM entity WHERE name = ?"
    row = index.database.execute(query, (name,)).fetchone()
    if row is None:
        return []
    check_sealed("entity", *row)
    return [str(load) for load in json.loads(row[3])]


def _aliases(index: Index, name: str) -> set[str]:
    """Return the aliases of an entity."""
    found = index.database.execute("SELECT alias, name, seal FROM alias WHERE name = ?", (name,)).fetchall()
    for row in found:
        check_sealed("alias", *row)
    return {alias for alias, _, _ in found}


def _may_see(name: str, wanted: FactFilter) -> bool:
    return (owner_of(name) or "") in wanted.owners


def entities_beside(index: Index, facts: Collection[Fact]) -> set[str]:
    """Return the entities of facts that are linked with some facts, or give a subject the same relation."""
    group = {(normal(fact.subject), fact.predicate) for fact in facts if fact.subject and fact.predicate}
    queries = {
        "SELECT DISTINCT fact.entity FROM json_each(?) AS given CROSS JOIN edge INDEXED BY edge_target"
        " ON edge.target = given.value CROSS JOIN fact ON fact.n = edge.n": sorted({fact.id for fact in facts}),
        "SELECT DISTINCT fact.entity FROM json_each(?) AS given CROSS JOIN fact INDEXED BY fact_id"
        " ON fact.id = given.value": sorted({target for fact in facts for _, target in pointers(fact)}),
        "SELECT DISTINCT fact.entity FROM json_each(?) AS given CROSS JOIN fact INDEXED BY fact_subject"
        " ON fact.subject = json_extract(given.value, '$[0]') AND fact.predicate = json_extract(given.value, '$[1]')": (
            sorted(group)
        ),
    }
    rows = (index.database.execute(query, (json.dumps(value),)) for query, value in queries.items())
    return {name for found in rows for (name,) in found}


def entities_naming(index: Index, words: Collection[str]) -> set[str]:
    """Return the entities with facts whose related entities or whose subject are one of some names."""
    queries = {
        "SELECT DISTINCT fact.entity FROM json_each(?) AS given CROSS JOIN edge INDEXED BY edge_target"
        " ON edge.target = given.value AND edge.kind = 'related' CROSS JOIN fact ON fact.n = edge.n": sorted(words),
        "SELECT DISTINCT fact.entity FROM json_each(?) AS given CROSS JOIN fact INDEXED BY fact_subject"
        " ON fact.subject = given.value": sorted(map(normal, words)),
    }
    rows = (index.database.execute(query, (json.dumps(items),)) for query, items in queries.items())
    return {name for found in rows for (name,) in found}


def entities_citing(index: Index, days: Collection[str]) -> set[str]:
    """Return the entities with facts that cite events of some days."""
    rows = index.database.execute(
        "SELECT DISTINCT fact.entity FROM json_each(?) AS given CROSS JOIN event INDEXED BY event_day"
        " ON event.day = given.value CROSS JOIN fact INDEXED BY fact_event ON fact.event = event.id",
        (json.dumps(sorted(days)),),
    )
    return {name for (name,) in rows}


def entities_disputed(index: Index) -> set[str]:
    """Return the entities with facts that an open proposal would replace or end."""
    rows = index.database.execute(
        "SELECT DISTINCT fact.entity FROM dispute CROSS JOIN fact INDEXED BY fact_id ON fact.id = dispute.target"
    )
    return {name for (name,) in rows}


def fact_owners(index: Index) -> tuple[str, ...]:
    """Return the agents that have facts of their own; '' is the global memory, which is always there."""
    rows = index.database.execute("SELECT DISTINCT owner FROM fact")
    return tuple(sorted({"", *(owner for (owner,) in rows)}))


def active_by_workflow(index: Index) -> dict[str, int]:
    """Return the number of active facts of each workflow; '' stands for those of none."""
    found: dict[str, int] = {}
    for realm, number in index.database.execute(
        f"SELECT realm, COUNT(*) FROM fact WHERE status = '{ACTIVE}' GROUP BY realm ORDER BY realm"
    ):
        name = workflow_of_realm(realm) or ""
        found[name] = found.get(name, 0) + number
    return found


def active_rows(index: Index) -> dict[int, str]:
    """Return the ids of the active facts by row."""
    return dict(index.database.execute(f"SELECT n, id FROM fact WHERE status = '{ACTIVE}'").fetchall())


def things_named(index: Index, names: Collection[str]) -> dict[str, str | None]:
    """Return the known ones of some names in normal form: titles and aliases with their entity, and subjects."""
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


# How many of the best facts a pass starts from, and how many facts it may add.
BEST_FACTS = 5
MOST_LINKED = 200
# The score of a fact that answers the question about a thing mentioned in a best fact, that is linked to a best fact,
# or that is about the same thing. Each place further down among the best facts reduces it by a fifth.
ANSWERS, LINKED, BESIDE = 1.0, 0.6, 0.3
STEP = 0.2


def links_channel(
    index: Index, question: str, catalog: Catalog, best: Sequence[int], wanted: FactFilter
) -> ChannelHits:
    """Return facts connected with better ones: by a link, by a shared thing, or because they answer the question
    about a thing that a best fact mentions."""
    scores: dict[int, float] = {}
    placed = facts_in_rows(index, best[:BEST_FACTS])
    for place, n in enumerate(best[:BEST_FACTS]):
        near, better = 1.0 - STEP * place, set(best[: place + 1])
        fact = placed[n].fact
        for name in filter(None, (fact.object, fact.subject)):
            asked = predicate_channel(index, f"{question} {normal(name)}", catalog, wanted)
            _raise(scores, asked.scores.keys() - better, ANSWERS * near)
            beside = passing_rows(index, newest_rows_about(index, name, MOST_LINKED), wanted)
            _raise(scores, beside - better, BESIDE * near)
        _raise(scores, _joined(index, fact.id, wanted) - better, LINKED * near)
    if not scores:
        return ChannelHits({}, True)
    kept = sorted(scores, key=lambda n: (-scores[n], n))[:MOST_LINKED]
    return ChannelHits({n: scores[n] for n in kept})


def _raise(scores: dict[int, float], found: Iterable[int], worth: float) -> None:
    for n in found:
        scores[n] = max(scores.get(n, 0.0), worth)


def _joined(index: Index, fact_id: str, wanted: FactFilter) -> set[int]:
    others = [edge.target for edge in edges_at(index, fact_id, wanted) if is_fact(edge.target)][:MOST_LINKED]
    return rows_of(index, others)
