"""Long lists on several pages: the first part on the page itself, the others beside it with a number in their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

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
    return [Part(one, at + 1, paths, items[at * PER_PAGE : (at + 1) * PER_PAGE]) for at, one in enumerate(paths)]


def numbered(path: str, number: int) -> str:
    """Return the path of a part of a list."""
    return path if number == 1 else f"{path.removesuffix('.html')}_{number}.html"


def beyond(path: str, count: int, earlier: Callable[[str], bytes | None]) -> Iterator[tuple[str, None]]:
    """Yield the paths of parts that an earlier build had after the first `count` ones, as files to be removed."""
    number = count + 1
    while earlier(numbered(path, number)) is not None:
        yield numbered(path, number), None
        number += 1
