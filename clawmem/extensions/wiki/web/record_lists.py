"""The lists of all decisions and of all lessons: the newest ones, and one page for each month.

Long lists on several pages: the first part on the page itself, the others beside it with a number in their names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of

NEWEST = 100
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")


class RecordLists:
    """The claims of a category, changed page by page. A file that no page shows keeps them for the next build."""

    def __init__(self, name: str, category: str, earlier: Callable[[str], bytes | None]) -> None:
        self._name = name
        self._category = category
        self._earlier = earlier
        self._file = f"data/{name}.json"
        self._was: dict[str, list[list[str]]] = json.loads(earlier(self._file) or b"{}")
        self._now = dict(self._was)

    def put(self, path: str, facts: Iterable[Fact], title: str = "") -> None:
        """Take in the claims of a page of the site, given with its title."""
        rows = [
            [day_of(fact.timestamp), fact.fact, f"{path}#{fact.id}", title]
            for fact in facts
            if fact.category == self._category
        ]
        self._now.pop(path, None)
        if rows:
            self._now[path] = rows

    def pages(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the path and the values of each page that changes."""
        rows = _newest_first(self._now)
        months = _by_month(rows)
        before = _by_month(_newest_first(self._was))
        base = f"{self._name}.html"
        listed = [(f"{self._name}_{month}.html", month, len(found)) for month, found in months.items()]
        if len(rows) <= NEWEST:
            months, listed = {}, []
        yield base, {"records": rows[:NEWEST], "months": listed, "month": None, "parts": []}
        for month, found in months.items():
            # Below the least number of records there were no pages of months.
            if before.get(month) != found or sum(map(len, before.values())) <= NEWEST:
                yield from self._month(month, found)

    def _month(self, month: str, rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, dict[str, Any]]]:
        for part in parts(f"{self._name}_{month}.html", rows):
            links = [(path, at + 1, at + 1 == part.number) for at, path in enumerate(part.paths)]
            shown = links if len(links) > 1 else []
            yield part.path, {"records": part.items, "months": [], "month": month, "parts": shown}

    def state(self) -> Iterator[tuple[str, bytes | None]]:
        """Yield the file for the next build, and the pages that are gone."""
        now, before = (_by_month(_newest_first(rows)) for rows in (self._now, self._was))
        few = sum(map(len, now.values())) <= NEWEST
        for month, rows in before.items():
            path = f"{self._name}_{month}.html"
            left = 0 if few or month not in now else len(parts(path, now[month]))
            for number in range(left + 1, len(parts(path, rows)) + 1):
                if self._earlier(numbered(path, number)) is not None:
                    yield numbered(path, number), None
        yield self._file, (json.dumps(dict(sorted(self._now.items())), separators=(",", ":")) + "\n").encode("ascii")


def _newest_first(rows: dict[str, list[list[str]]]) -> list[list[str]]:
    return sorted((row for found in rows.values() for row in found), key=lambda row: (row[0], row[2]), reverse=True)


def _by_month(rows: Iterable[list[str]]) -> dict[str, list[list[str]]]:
    months: dict[str, list[list[str]]] = {}
    for row in rows:
        month = row[0][:7]
        months.setdefault(month if _MONTH.fullmatch(month) else "undated", []).append(row)
    return months


PER_PAGE = 300


class Part(NamedTuple):
    """A part of a list: its path in the site, its number from 1 on, the paths of all parts, and its items."""

    path: str
    number: int
    paths: tuple[str, ...]
    items: Sequence[Any]


def parts(path: str, items: Sequence[Any]) -> list[Part]:
    """Return a list as parts; at least one, which has the path itself. Names of entities and topics have no `_`, so the
    paths of the others are free."""
    count = max(1, -(-len(items) // PER_PAGE))
    paths = tuple(numbered(path, number) for number in range(1, count + 1))
    return [
        Part(other_path, at + 1, paths, items[at * PER_PAGE : (at + 1) * PER_PAGE])
        for at, other_path in enumerate(paths)
    ]


def numbered(path: str, number: int) -> str:
    """Return the path of a part of a list."""
    return path if number == 1 else f"{path.removesuffix('.html')}_{number}.html"


def beyond(path: str, count: int, earlier: Callable[[str], bytes | None]) -> Iterator[tuple[str, None]]:
    """Yield the paths of parts that an earlier build had after the first `count` ones, as files to be removed."""
    number = count + 1
    while earlier(numbered(path, number)) is not None:
        yield numbered(path, number), None
        number += 1
