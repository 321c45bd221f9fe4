"""Every promise in docs/promises.md names the tests that hold it, and they exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
ROWS = [row for row in re.findall(r"^\| (.+) \| (.+) \|$", PAGE, re.MULTILINE) if row != ("promise", "held by")]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


@cache
def names_in(path: str) -> frozenset[str]:
    """The names of the tests in a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_there_are_promises() -> None:
    assert len(ROWS) > 15


@pytest.mark.parametrize(("promise", "held_by"), ROWS, ids=lambda cell: cell[:40])
def test_each_promise_is_held_by_tests_that_exist(promise: str, held_by: str) -> None:
    named = NAMED.findall(held_by)
    assert named, promise
    assert NAMED.sub("", held_by).strip(" ,") == ""
    for path, name in named:
        assert name in names_in(path), f"{path} has no {name}"
