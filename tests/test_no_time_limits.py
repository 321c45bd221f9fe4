"""No test of the normal run compares a measured time with a limit: on a loaded machine it would fail without a defect.

Such tests are marked `soak`. Waiting for a condition until a deadline is no measurement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CLOCKS = frozenset(("monotonic", "perf_counter", "process_time", "thread_time", "monotonic_ns", "perf_counter_ns"))
CPU = frozenset(("ru_utime", "ru_stime", "setitimer"))


def measuring_tests(tree: ast.Module) -> Iterator[str]:
    """Yield the tests of a module that measure time, themselves or by its functions, and are not marked `soak`."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    measuring = {name for name, node in functions.items() if _measures(node)}
    while more := {name for name, node in functions.items() if _names(node) & measuring} - measuring:
        measuring |= more
    whole = any("pytestmark" in ast.unparse(node) and "soak" in ast.unparse(node) for node in tree.body)
    for name in sorted(measuring):
        marks = "".join(map(ast.unparse, functions[name].decorator_list))
        if (
            name.startswith("test_")
            and "pytest.mark.soak" not in marks.replace("marks=pytest.mark.soak", "")
            and not whole
        ):
            yield name


def _measures(function: ast.FunctionDef) -> bool:
    """Return whether a function takes the difference of two times, asserts one, or reads or limits CPU time."""
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Assert | ast.BinOp)]
    return any(isinstance(node, ast.Attribute) and node.attr in CPU for node in ast.walk(function)) or any(
        isinstance(part, ast.Attribute | ast.Name) and _word(part) in CLOCKS
        for node in nodes
        if isinstance(node, ast.Assert) or isinstance(node.op, ast.Sub)
        for part in ast.walk(node)
    )


def _names(function: ast.FunctionDef) -> set[str]:
    return {_word(node) for node in ast.walk(function) if isinstance(node, ast.Name | ast.Attribute)}


def _word(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def test_no_test_of_the_normal_run_measures_time() -> None:
    found = {
        f"{path.relative_to(TESTS)}::{name}"
        for path in TESTS.rglob("test_*.py")
        if any(word in (text := path.read_text()) for word in CLOCKS | CPU)
        for name in measuring_tests(ast.parse(text))
    }
    assert found == set(), "mark it with pytest.mark.soak, or count steps"


@pytest.mark.parametrize(
    "body",
    [
        "    began = time.monotonic()\n    act()\n    assert time.monotonic() - began < 5",
        "    began = perf_counter()\n    took = perf_counter() - began\n    assert took < 5",
        "    assert seconds(act) < 5",
        "    assert used.ru_utime < 5",
    ],
)
def test_a_test_that_measures_is_found_unless_it_is_a_soak_test(body: str) -> None:
    helper = "def seconds(act):\n    start = time.process_time()\n    act()\n    return time.process_time() - start\n"
    test = f"def test_it():\n{body}\n"
    assert [*measuring_tests(ast.parse(helper + test))] == ["test_it"]
    assert [*measuring_tests(ast.parse(f"{helper}@pytest.mark.soak\n{test}"))] == []
    once = "@pytest.mark.parametrize('x', [0, pytest.param(1, marks=pytest.mark.soak)])\n"
    assert [*measuring_tests(ast.parse(helper + once + test))] == ["test_it"]


def test_waiting_until_a_deadline_is_no_measurement() -> None:
    waits = "def test_it():\n    end = time.monotonic() + 60\n    while not done() and time.monotonic() < end: pass\n"
    assert [*measuring_tests(ast.parse(waits))] == []
