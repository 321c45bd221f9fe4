"""Turn vault files into rows of the index, by comparing what a file held with what it holds now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from clawmem.errors import ClawmemError
from clawmem.index.search.by_tier import columns
from clawmem.index.tables.fact_marks import counted_fact, has_accesses, stakes, take_in_accesses
from clawmem.index.tables.keyword import Document
from clawmem.index.tables.schema import tags_column
from clawmem.index.tables.store import Index
from clawmem.model.facts.claim_check import may_claim
from clawmem.model.facts.codec import fact_from_record, fact_to_line, parse_items
from clawmem.model.facts.fact import Fact, pointers
from clawmem.model.facts.fact_words import searched_reasons
from clawmem.model.facts.reach import realm_of
from clawmem.model.facts.validity import validity
from clawmem.model.kinds import ACCESSES, EVENTS, FACTS, NONE, PAGE, PROPOSAL, SUMMARY, file_kind
from clawmem.model.language.text import normal
from clawmem.model.pages.tokens import line_tokens
from clawmem.model.proposals.quarantine import as_served
from clawmem.model.records.entity import kind_of, name_of_path, owner_of, title_of
from clawmem.model.records.event import MARK
from clawmem.model.records.strict_json import checksum, read_json, refuse_unread
from clawmem.vault.strict_yaml import parse_yaml

_COLUMNS = (
    "n, id, entity, owner, status, category, subject, predicate, valid_from, valid_to, timestamp, event,"
    " access_count, last_accessed, importance, trust, tags, realm, mark, used, weight, pace, tokens, exact, line, seal"
)
_INSERT = f"INSERT OR REPLACE INTO fact ({_COLUMNS}) VALUES ({', '.join('?' * 26)})"


def is_indexed(path: str) -> bool:
    """Whether the index holds anything of this vault file."""
    kind = file_kind(path)
    return kind is not None and kind.indexed_as != NONE


def take_in(index: Index, contents: Mapping[str, bytes | None]) -> None:
    """Bring the index to what these files hold now (None: the file is gone).

    A file that cannot be read counts as empty and is recorded as broken with the reason. So the result depends on the
    files alone, not on what they held before.
    """
    for path, data in contents.items():
        kind = file_kind(path)
        if kind is None or kind.indexed_as == NONE:
            continue
        take_in_file = INTAKES[kind.indexed_as]
        index.database.execute("DELETE FROM broken WHERE path = ?", (path,))
        try:
            refuse_unread(data, path)
            take_in_file(index, path, data)
        except ClawmemError as problem:
            take_in_file(index, path, None)
            values = (path, problem.message)
            index.database.execute("INSERT INTO broken VALUES (?, ?, ?)", (*values, checksum(*values)))


def _facts(index: Index, path: str, data: bytes | None) -> None:
    name = name_of_path(path) or path
    added = _only_added(index, name, data)
    if added is not None:
        _put(index, name, added, {})
    else:
        _items(index, name, parse_items(data, path) if data is not None else ())


def _events(index: Index, path: str, data: bytes | None) -> None:
    from clawmem.index.tables.passages import take_in_ledger  # most changes are of facts alone

    take_in_ledger(index, path, data)


def _page(index: Index, path: str, data: bytes | None) -> None:
    from clawmem.index.tables.passages import page_lines, take_in_page  # most changes are of facts alone

    take_in_page(index, path, page_lines(path, data))


def _accesses(index: Index, path: str, data: bytes | None) -> None:
    take_in_again(index, take_in_accesses(index, path, data))


def _proposal(index: Index, path: str, data: bytes | None) -> None:
    from clawmem.index.tables.fact_marks import take_in_proposal  # most changes are of facts alone

    take_in_proposal(index, path, data)


def _only_added(index: Index, entity: str, data: bytes | None) -> list[Fact] | None:
    """The new facts of a file, where it is what the index holds with lines added at its end; None otherwise.

    Most changes are of this kind. Reading only the new lines makes a large batch fast.
    """
    lines = (data or b"").decode(errors="replace").split("\n")
    if lines[0] != "[" or lines[-2:] != ["]", ""]:
        return None
    body = [line.removesuffix(",") for line in lines[1:-2]]
    rows = index.database.execute("SELECT id, line FROM fact WHERE entity = ? ORDER BY n", (entity,)).fetchall()
    if not rows or body[: len(rows)] != [line for _, line in rows]:
        return None
    try:
        added = [fact_from_record(read_json(line)) for line in body[len(rows) :]]
    except (ValueError, AttributeError, ClawmemError):
        return None
    ids = [fact_id for fact_id, _ in rows] + [fact.id for fact in added]
    plain = [fact_to_line(fact) for fact in added] == body[len(rows) :] and "\n".join(lines).count("},\n{") >= len(
        body
    ) - 1
    return added if plain and len(set(ids)) == len(ids) else None


def _items(index: Index, entity: str, facts: Sequence[Fact]) -> None:
    rows = index.database.execute("SELECT id, n, line FROM fact WHERE entity = ? ORDER BY n", (entity,)).fetchall()
    standing = {fact_id: (n, line) for fact_id, n, line in rows}
    known = [fact.id for fact in facts if fact.id in standing]
    if known != [fact_id for fact_id in standing if fact_id in set(known)] or not _appended(facts, known):
        # Rows keep the order of the file, and a row's number never changes: start again.
        _remove(index, entity, standing.values())
        standing = {}
    wanted = {fact.id for fact in facts}
    _remove(index, entity, [row for fact_id, row in standing.items() if fact_id not in wanted])
    _put(index, entity, facts, standing)


def _appended(facts: Sequence[Fact], known: Sequence[str]) -> bool:
    """Whether all new facts come after all known ones."""
    return [fact.id for fact in facts[: len(known)]] == known


def _remove(index: Index, entity: str, rows: Iterable[tuple[int, str]]) -> None:
    gone = list(rows)
    if gone:
        index.engine.remove(Document(n, text_of_line(entity, line)) for n, line in gone)
        index.database.executemany("DELETE FROM claim WHERE entity = ? AND n = ?", ((entity, n) for n, _ in gone))
        for table in ("fact", "edge"):
            index.database.executemany(f"DELETE FROM {table} WHERE n = ?", ((n,) for n, _ in gone))
        _add_up(index, -len(gone), -sum(checksum(n, entity, line) for n, line in gone))


def _put(index: Index, entity: str, facts: Sequence[Fact], standing: Mapping[str, tuple[int, str]]) -> None:
    owner = owner_of(entity) or ""
    fresh = index.database.execute("SELECT coalesce(max(n), 0) FROM fact").fetchone()[0]
    rows, old, new, edges, claims, changed, left = [], [], [], [], [], [], 0
    staked, used = stakes(index), has_accesses(index)
    for fact in facts:
        n, before = standing.get(fact.id, (0, None))
        line = fact_to_line(fact)
        if line == before:
            continue
        if before is None:
            fresh += 1
            n = fresh
        text = search_text(entity, fact)
        earlier = None if before is None else text_of_line(entity, before)
        if earlier != text:
            new.append(Document(n, text))
            if earlier is not None:
                old.append(Document(n, earlier))
        if before is not None:
            changed.append((n,))
            left += checksum(n, entity, before)
        edges += [(n, kind, target) for kind, target in pointers(fact)]
        claims += [(entity, about, n) for about in _claimed(entity, fact)]
        shown = counted_fact(index, fact) if used else fact
        rows.append(_row(n, entity, owner, as_served(shown, staked.get(fact.id)), line))
    if old:
        index.engine.remove(old)
    if new:
        index.engine.add(new)
    index.database.executemany(_INSERT, rows)
    if rows:
        _add_up(index, len(rows) - len(changed), sum(row[-1] for row in rows) - left)
    if changed:
        index.database.executemany("DELETE FROM edge WHERE n = ?", changed)
        index.database.executemany("DELETE FROM claim WHERE entity = ? AND n = ?", [(entity, n) for (n,) in changed])
    if edges:
        index.database.executemany("INSERT OR IGNORE INTO edge VALUES (?, ?, ?)", edges)
    if claims:
        index.database.executemany("INSERT INTO claim VALUES (?, ?, ?)", claims)


def _claimed(entity: str, fact: Fact) -> set[str]:
    """Return of what a statement may claim something, as the table `claim` has it."""
    if not may_claim(fact.fact):
        return set()
    from clawmem.model.facts.claims import claims_of  # most facts claim nothing

    claims = claims_of(fact.fact, title_of(entity), fact.timestamp)
    values = {"\t".join(claim.about) for claim in claims if claim.about[0] == "value"}
    return {"", *values, *("-" for claim in claims if claim.denies)}


def take_in_again(index: Index, fact_ids: Iterable[str]) -> None:
    """Compute the columns of some facts again; their lines have not changed."""
    staked = stakes(index)
    for fact_id in fact_ids:
        query = "SELECT n, entity, owner, line FROM fact WHERE id = ?"
        for n, entity, owner, line in index.database.execute(query, (fact_id,)).fetchall():
            fact = as_served(counted_fact(index, fact_from_record(json.loads(line))), staked.get(fact_id))
            index.database.execute(_INSERT, _row(n, entity, owner, fact, line))


def _add_up(index: Index, facts: int, seals: int) -> None:
    index.database.execute("UPDATE total SET facts = facts + ?, seals = seals + ?", (facts, seals))


def _row(n: int, entity: str, owner: str, fact: Fact, line: str) -> tuple[Any, ...]:
    subject = normal(fact.subject) if fact.subject else None
    begin, end = validity(fact)
    return (
        *(n, fact.id, entity, owner, fact.status, fact.category, subject, fact.predicate, begin, end),
        *(fact.timestamp, fact.source_event, fact.access_count, fact.last_accessed, fact.importance),
        *(
            fact.trust,
            tags_column(fact.tags),
            realm_of(fact),
            _mark(fact),
            *columns(fact),
            line_tokens(fact),
            0,
            line,
            checksum(n, entity, line),
        ),
    )


def _mark(fact: Fact) -> str | None:
    if not fact.metadata or MARK not in fact.metadata:
        return None
    from clawmem.model.records.access import mark_from, mark_text  # few facts are marked

    return mark_text(mark_from(fact.metadata[MARK])) or None


def search_text(entity: str, fact: Fact) -> str:
    """The words that find a fact: its statement, its triple, its tags, its entity, the words that it quotes, its
    reasons, and for a lesson or a decision its task."""
    task = (fact.details or {}).get("task")
    details = [*([task] if isinstance(task, str) else []), *searched_reasons(fact)]
    parts = [fact.fact, fact.subject, fact.object, fact.relation_phrase, *fact.tags, *details, title_of(entity)]
    parts.append(fact.source_text)
    return " ".join(part for part in dict.fromkeys(parts) if part)


def text_of_line(entity: str, line: str) -> str:
    """Return the words that find the fact of a line."""
    return search_text(entity, fact_from_record(json.loads(line)))


def _summary(index: Index, path: str, data: bytes | None) -> None:
    name = name_of_path(path) or path
    index.database.execute("DELETE FROM entity WHERE name = ?", (name,))
    index.database.execute("DELETE FROM alias WHERE name = ?", (name,))
    from clawmem.index.tables.passages import take_in_page  # most changes are of facts alone
    from clawmem.model.pages.summary import prose, split_front_matter

    text = (data or b"").decode(errors="replace")
    words = prose(text)
    take_in_page(index, path, [words] if words else [])
    if data is None:
        return
    front, _ = split_front_matter(text)
    described = parse_yaml(front, path) if front else {}
    described = described if isinstance(described, dict) else {}
    title = str(described.get("title") or title_of(name))
    aliases = _texts(described.get("aliases"))
    kind = str(described.get("kind") or kind_of(name))
    values = (name, title, kind, json.dumps(aliases))
    index.database.execute("INSERT INTO entity VALUES (?, ?, ?, ?, ?)", (*values, checksum(*values)))
    known_as = {normal(title), *(normal(alias) for alias in aliases)} - {""}
    rows = ((alias, name, checksum(alias, name)) for alias in known_as)
    index.database.executemany("INSERT INTO alias VALUES (?, ?, ?)", rows)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(other) for other in value] if isinstance(value, list | tuple) else []


# For each value of a kind's `indexed_as` but NONE, the function that takes a file in (None: it is gone).
INTAKES: Mapping[str, Callable[[Index, str, bytes | None], None]] = {
    FACTS: _facts,
    SUMMARY: _summary,
    EVENTS: _events,
    PROPOSAL: _proposal,
    ACCESSES: _accesses,
    PAGE: _page,
}
