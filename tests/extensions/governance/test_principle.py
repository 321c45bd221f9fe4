"""Principles: the file, the examples that prove each rule, and the globs."""

from __future__ import annotations

import json
import time

import pytest

from clawmem.errors import Unreadable
from clawmem.extensions.governance.principle import (
    PRINCIPLES_PATH,
    PathMatcher,
    Principle,
    parse_principles,
)
from clawmem.vault.strict_yaml import parse_yaml

HEAD = "no-tar:\n  rule: No tar.\n  reason: It sticks.\n"


def principles(text: str) -> tuple[Principle, ...]:
    return parse_principles(text.encode(), PRINCIPLES_PATH, parse_yaml)


def test_a_principle_is_read_with_its_defaults() -> None:
    (principle,) = principles(HEAD + "  check: {regex: '\\btar\\b'}\n  good: paint\n  bad: [tar, more tar]\n")
    assert (principle.id, principle.paths, principle.good, principle.bad) == (
        "no-tar",
        ("**",),
        ("paint",),
        ("tar", "more tar"),
    )
    assert principle.breaks("use tar here") == (4, 7)
    assert principle.breaks("target") is None


def test_a_command_needs_no_examples() -> None:
    (principle,) = principles(HEAD + "  check: {command: make check}\n")
    assert (principle.pattern, principle.command, principle.good) == (None, "make check", ())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- a\n", None, "does not map each principle to its keys"),
        ("No Tar: {}\n", 1, "the key 'No Tar' is no id"),
        ("no-tar: yes please\n", 1, "the key 'no-tar' must be an object, but is 'yes please'"),
        (HEAD + "  color: red\n", 4, "the key 'no-tar.color' is unknown"),
        ("no-tar:\n  rule: No tar.\n", 1, "the key 'no-tar.reason' is missing"),
        (HEAD, 1, "the key 'no-tar.check' is missing; it must be {regex: PATTERN} or"),
        (
            HEAD + "  check: {regex: a, command: b}\n",
            4,
            "the key 'no-tar.check' must be {regex: PATTERN} or",
        ),
        (HEAD + "  check: {regex: '('}\n  good: a\n  bad: b\n", 4, "is not a regular expression"),
        (HEAD + "  check: {regex: '[[a'}\n  good: a\n  bad: b\n", 4, "is not a regular expression"),
        (HEAD + "  check: {regex: 'x|(?R)y'}\n  good: a\n  bad: x\n", 4, "is not a regular expression"),
        (HEAD + "  check: {regex: '[[a-z]--[b]]'}\n  good: b\n  bad: a\n", 4, "Possible nested set"),
        (HEAD + f"  check: {{regex: {'a' * 1001}}}\n  good: a\n  bad: b\n", 4, "has 1,001 characters"),
        (HEAD + f"  check: {{regex: '(?:a|aa)+$'}}\n  good: {'a' * 190}b\n  bad: a\n", 5, "takes the check very long"),
        (HEAD + "  check: {command: 'make | sh'}\n", 4, "the key 'no-tar.check' cannot be used"),
        (HEAD + "  check: {regex: tar}\n  bad: tar\n", 1, "the key 'no-tar.good' is missing"),
        (HEAD + "  check: {regex: tar}\n  good: []\n  bad: tar\n", 5, "the key 'no-tar.good' is missing"),
        (HEAD + "  check: {regex: tar}\n  good: a tar\n  bad: tar\n", 5, "fails the check, but it should pass: a tar"),
        (HEAD + "  check: {regex: tar}\n  good: a\n  bad: b\n", 6, "passes the check, but it should fail: b"),
        (HEAD + f"  check: {{regex: tar}}\n  good: {'a' * 201}\n  bad: tar\n", 5, "longer than 200"),
        (HEAD + "  check: {regex: tar}\n  paths: a/**/b/**/c/**/**\n  good: a\n  bad: tar\n", 5, "more than 3 of **"),
        (HEAD + "  check: {regex: tar}\n  paths: 3\n  good: a\n  bad: tar\n", 5, "the key 'no-tar.paths'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_key(text: str, line: int | None, words: str) -> None:
    with pytest.raises(Unreadable) as problem:
        principles(text)
    assert (problem.value.line, words in problem.value.message) == (line, True), problem.value.message


@pytest.mark.parametrize(
    ("globs", "named", "others"),
    [
        (("**",), ["a", "a/b.py"], []),
        (("*.py",), ["a.py", "a/b.py"], ["a.pyc", "a.py/b"]),
        (("src/**/*.py",), ["src/a.py", "src/a/b.py"], ["a.py", "lib/src/a.py"]),
        (("**/*.py", "!tests/**"), ["a.py", "a/tests/b.py"], ["tests/b.py", "a.md"]),
        (("!tests/**",), ["a.py"], ["tests/a.py"]),
        (("src/*.py",), ["src/a.py"], ["src/a/b.py"]),
        (("**/tests/*.py",), ["tests/a.py", "a/tests/b.py"], ["tests/a/b.py", "a/b.py"]),
        (("**/tests/**",), ["a/tests/b/c.py", "tests/a"], ["a/b.py", "tests"]),
        (("a*b*c*d",), ["abcd", "x/a1b2bc3cd"], ["abd", "acbd"]),
        (("src/**",), ["src/a", "src/a/b"], ["src"]),
        (("src/?.py",), ["src/a.py"], ["src/ab.py"]),
        (("src/",), ["src"], ["src/a"]),
        (("a+b/*.(c)",), ["a+b/x.(c)"], ["aab/x.(c)"]),
        (("app/[id]/*", "[...all].tsx"), ["app/[id]/page.tsx", "x/[...all].tsx"], ["app/i/page.tsx", "x/a.tsx"]),
    ],
)
def test_globs(globs: tuple[str, ...], named: list[str], others: list[str]) -> None:
    matcher = PathMatcher(globs)
    assert [other for other in (*named, *others) if matcher.matches(other)] == named


@pytest.mark.parametrize(
    ("source", "named", "others"),
    [
        (r'print\(f"{e}"\)', ['print(f"{e}")'], ['print(f"hello")']),
        (r"\{{s<=1}|[{d}]x{2,3}y{,2}", ["{{s<=1}", "dxxyy"], ["x", "dx"]),
        (r"\N{DIGIT ONE}{i}", ["1{i}"], ["1", "2"]),
    ],
)
def test_a_pattern_means_what_it_means_to_python(source: str, named: list[str], others: list[str]) -> None:
    lines = "".join(f"  {key}: {json.dumps(value)}\n" for key, value in (("good", others), ("bad", named)))
    (principle,) = principles(f"{HEAD}  check: {{regex: {json.dumps(source)}}}\n{lines}")
    assert [line for line in (*named, *others) if principle.breaks(line)] == named


@pytest.mark.soak
def test_a_glob_with_many_stars_ends_soon() -> None:
    began = time.process_time()
    assert not PathMatcher(("*a" * 30 + "b",)).matches("a" * 250)
    assert not PathMatcher(("**/a/**/a/**/a/b",)).matches("a/" * 2000 + "c")
    assert time.process_time() - began < 2
