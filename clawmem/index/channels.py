"""The channels of recall over the index: exact predicate, keywords, time. Each is bounded and says what it found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.index.lookup import Placed, placed
from clawmem.index.store import Index
from clawmem.model.catalog import Catalog, predicates_asked
from clawmem.model.fact import ACTIVE, ARCHIVED, RETRACTED
from clawmem.model.question import Span
from clawmem.model.text import normal

CANDIDATES = 200
_WIDEST = 20_000
_LONGEST_NAME = 4
# A keyword hit below this share of the best one is noise once enough better ones are there.
_ROWS_AT_ONCE = 500


class Filter(NamedTuple):
    """What a fact must be to be considered. `owners` are agents whose places count, '' for the global one;
    `as_of` asks for what was true at that time; `superseded` lets replaced facts in."""

    owners: tuple[str, ...] = ("",)
    entity: str | None = None
    category: str | None = None
    tag: str | None = None
    as_of: str | None = None
    superseded: bool = False


class Hits(NamedTuple):
    """What a channel found: scores by row number, higher is better, or why it did not run."""

    scores: Mapping[int, float]
    ran: bool = True
    why_not: str = ""


def keyword_channel(index: Index, words: Sequence[str], wanted: Filter, limit: int = CANDIDATES) -> Hits:
    """Facts that share words with the question, by BM25; the search widens until enough pass the filter."""
    if not words:
        return Hits({}, False, "the question has no words to search for")
    ask = limit
    while True:
        matches = index.engine.search(words, ask)
        passing = passing_rows(index, (match.n for match in matches), wanted)
        if len(passing) >= min(limit, 20) or len(matches) < ask or ask >= _WIDEST:
            return Hits({match.n: match.score for match in matches if match.n in passing})
        ask *= 10


def predicate_channel(index: Index, question: str, catalog: Catalog, wanted: Filter) -> Hits:
    """Facts whose predicate the question asks for and whose subject it names."""
    asked = predicates_asked(catalog, question)
    if not asked:
        return Hits({}, False, "the question asks for no predicate of the catalog")
    subjects = _names_in(question)
    marks = ",".join("?" * len(asked))
    names = ",".join("?" * len(subjects))
    rows = index.database.execute(
        f"SELECT n, subject FROM fact WHERE predicate IN ({marks}) AND subject IN ({names}) LIMIT ?",  # noqa: S608
        (*asked, *subjects, CANDIDATES),
    ).fetchall()
    passing = passing_rows(index, (n for n, _ in rows), wanted)
    return Hits({n: float(len(subject)) for n, subject in rows if n in passing})


def time_channel(index: Index, span: Span | None, wanted: Filter) -> Hits:
    """Facts that began, ended or were recorded in the days the question names; the closer to them the better."""
    if span is None:
        return Hits({}, False, "the question names no time")
    first, after = span.first, span.last + "T23:59:59Z"
    rows = index.database.execute(
        "SELECT n, CASE WHEN valid_from >= ?1 AND valid_from <= ?2 THEN 2.0 ELSE 1.0 END FROM fact"
        " WHERE (valid_from >= ?1 AND valid_from <= ?2) OR (valid_to >= ?1 AND valid_to <= ?2)"
        " OR (valid_from IS NULL AND timestamp >= ?1 AND timestamp <= ?2) ORDER BY 2 DESC, n DESC LIMIT ?3",
        (first, after, CANDIDATES * 10),
    ).fetchall()
    passing = passing_rows(index, (n for n, _ in rows), wanted)
    best = [(n, score) for n, score in rows if n in passing][:CANDIDATES]
    return Hits(dict(best))


def passing_rows(index: Index, numbers: Iterable[int], wanted: Filter) -> set[int]:
    """Those of the rows that pass the filter."""
    condition, values = _condition(wanted)
    every = list(numbers)
    passing: set[int] = set()
    for start in range(0, len(every), _ROWS_AT_ONCE):
        part = every[start : start + _ROWS_AT_ONCE]
        marks = ",".join("?" * len(part))
        query = f"SELECT n FROM fact WHERE n IN ({marks}) AND {condition}"  # noqa: S608 - marks and fixed text only
        passing.update(row[0] for row in index.database.execute(query, (*part, *values)))
    return passing


def all_passing(index: Index, wanted: Filter, limit: int | None = None) -> list[Placed]:
    """Every fact that passes the filter, in the order they were indexed."""
    condition, values = _condition(wanted)
    query = f"SELECT line, entity FROM fact WHERE {condition} ORDER BY n LIMIT ?"  # noqa: S608 - fixed text only
    return [placed(row) for row in index.database.execute(query, (*values, -1 if limit is None else limit))]


def rows(index: Index, numbers: Sequence[int]) -> dict[int, Placed]:
    """The facts of some rows."""
    found: dict[int, Placed] = {}
    for start in range(0, len(numbers), _ROWS_AT_ONCE):
        part = numbers[start : start + _ROWS_AT_ONCE]
        marks = ",".join("?" * len(part))
        query = f"SELECT n, line, entity FROM fact WHERE n IN ({marks})"  # noqa: S608 - marks only
        for n, line, entity in index.database.execute(query, tuple(part)):
            found[n] = placed((line, entity))
    return found


def _condition(wanted: Filter) -> tuple[str, tuple[object, ...]]:
    marks = ",".join("?" * len(wanted.owners))
    parts, values = [f"owner IN ({marks})"], list[object](wanted.owners)
    if wanted.as_of:
        instant = wanted.as_of if len(wanted.as_of) > 10 else f"{wanted.as_of}T23:59:59Z"
        parts.append("status != ? AND (valid_from IS NULL OR valid_from <= ?)")
        # A bare day begins at midnight: as text it sorts before any moment of that day, which is what is meant.
        parts.append("(valid_to IS NULL OR valid_to > ?)")
        values += [RETRACTED, instant, instant]
    elif not wanted.superseded:
        parts.append("status IN (?, ?)")
        values += [ACTIVE, ARCHIVED]
    for column, value in (("entity", wanted.entity), ("category", wanted.category)):
        if value:
            parts.append(f"{column} = ?")
            values.append(value)
    if wanted.tag:
        parts.append("EXISTS (SELECT 1 FROM json_each(line, '$.tags') WHERE value = ?)")
        values.append(wanted.tag.lower())
    return " AND ".join(parts), tuple(values)


def _names_in(question: str) -> list[str]:
    words = [normal(word) for word in question.split()]
    names = {
        normal(" ".join(words[start : start + size])).removesuffix("'s").removesuffix("’s")
        for size in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - size + 1)
    }
    if {"i", "my", "me", "mine"} & set(words):
        names.add("user")
        names.add("the user")
    return sorted(names - {""})
