"""Patterns of users: those that could take very long are refused, and what is accepted ends soon."""

from __future__ import annotations

import time

import pytest

from clawmem.errors import InvalidInput
from clawmem.model.safety.user_patterns import bounded_pattern

ACCEPTED = (
    *(r"\bprint\(", r"^\s*import \w+", r"(?i)todo", r"(?:foo|bar)+", r"[1-9](?:\.\d+)?", r"a{2,5}", r"(?:ab){3}"),
    *(r"\w+\.\w+\(.*\)", r"(?<!\w)x", r"(?=a+)b", r"^(?:\d{3}-?){3}$", r"[^\"']*", r"(a+)?b", "é+"),
)
REFUSED = (
    *(r"(a+)+b", r"(a*)*b", r"(a|a)*b", r"(a|ab)*c", r"(?i)(?:ab|AC)*d", r"(.)\1", r"(?:a?){30}a{30}", r"(\w+\s?)+$"),
    *(
        r"a*a*a*a*b",
        r"(?:a{1,9}){2,9}",
        r"(|a)*b",
        r"(?:[ab]x|\wy)*c",
        r"(?i)(?:sa|ſa)*b",
        r"(?:x+x+)+y",
        r"(?P<n>a)(?P=n)",
    ),
    *(r"(?P<n>a)(?P=n)", "(", "[a", "a**", "(?z)", "a{9999999999999}", "[[a]"),
)


@pytest.mark.parametrize("source", ACCEPTED)
def test_usual_patterns_are_accepted(source: str) -> None:
    assert bounded_pattern(source).pattern == source


@pytest.mark.parametrize("source", REFUSED)
def test_patterns_that_could_take_very_long_and_wrong_ones_are_refused(source: str) -> None:
    with pytest.raises(InvalidInput):
        bounded_pattern(source)


def test_a_long_pattern_is_refused() -> None:
    with pytest.raises(InvalidInput, match="1,001 characters"):
        bounded_pattern("a" * 1001)


@pytest.mark.soak
@pytest.mark.parametrize("letter", ["a", "x", " ", "1.", "foo", "ab", '"'])
def test_what_is_accepted_ends_soon_on_an_example(letter: str) -> None:
    text = (letter * 200)[:200]
    began = time.process_time()
    for source in (*ACCEPTED, r"a*a*a*b", r"\w*\w*\w*!"):
        bounded_pattern(source).search(text)
    assert time.process_time() - began < 5
