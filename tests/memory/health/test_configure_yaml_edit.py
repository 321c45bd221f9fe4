"""One value changed, and nothing else: not a comment, not a blank line, not the order."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import Refused, Unreadable
from clawmem.memory.health.configure import with_value

FILE = "clawmem.yaml"
PLAIN = """# top
format: 1   # the layout

lock:
  # how long
  wait_seconds: 10.0  # seconds
vault:
    name: "my: memory"
"""


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        (PLAIN, "lock.wait_seconds", 60.0, PLAIN.replace("10.0 ", "60 ")),
        (PLAIN, "vault.name", "other", PLAIN.replace('"my: memory"', "other")),
        (PLAIN, "vault.name", "a: b # c", PLAIN.replace('"my: memory"', '"a: b # c"')),
        (PLAIN, "vault.name", "true", PLAIN.replace('"my: memory"', '"true"')),
        (PLAIN, "git.sign", True, PLAIN + "git:\n  sign: true\n"),
        (PLAIN, "lock.other", 3, PLAIN.replace("# seconds\n", "# seconds\n  other: 3\n")),
        (PLAIN, "vault.other", 3, PLAIN + "    other: 3\n"),
        (PLAIN.rstrip("\n"), "vault.other", 3, PLAIN + "    other: 3\n"),
        ("", "lock.wait_seconds", 5, "lock:\n  wait_seconds: 5\n"),
        ("# only a comment", "format", 1, "# only a comment\nformat: 1\n"),
        ("lock:\n# later\nformat: 1\n", "lock.wait_seconds", 5, "lock:\n  wait_seconds: 5\n# later\nformat: 1\n"),
        ("lock:\n  wait_seconds:\nformat: 1\n", "lock.wait_seconds", 5, "lock:\n  wait_seconds: 5\nformat: 1\n"),
        ("lock: {wait_seconds: 1}\n", "lock.wait_seconds", 5, "lock: {wait_seconds: 5}\n"),
        ("lock: {wait_seconds: 1}\n", "lock.other", 5, "lock: {wait_seconds: 1, other: 5}\n"),
        ("lock: {}\n", "lock.other", 5, "lock: {other: 5}\n"),
        ("{format: 1}\n", "lock.other", 5, "{format: 1, lock: {other: 5}}\n"),
        ("vault:\n  name: |\n    long\nformat: 1\n", "vault.name", "short", "vault:\n  name: short\nformat: 1\n"),
        ("vault:\n  name: >-\n    long\n", "vault.other", "x", "vault:\n  name: >-\n    long\n  other: x\n"),
        ("decay:\n  score: 1\n", "decay.score", 0.00001, "decay:\n  score: 0.00001\n"),
        ("größe: 'ä'\nformat: 1\n", "format", 2, "größe: 'ä'\nformat: 2\n"),
        ("a: 1\r\nformat: 1\r\n", "format", 2, "a: 1\r\nformat: 2\r\n"),
    ],
)
def test_only_the_value_changes(before: str, key: str, value: Any, after: str) -> None:
    assert with_value(before, key, value, FILE) == after


def test_a_value_that_another_key_shares_is_refused() -> None:
    shared = "a: &x 1\nlock:\n  wait_seconds: *x\n"
    with pytest.raises(Refused, match="cannot be changed safely"):
        with_value(shared, "lock.wait_seconds", 5, FILE)


def test_text_that_is_no_yaml_is_left_to_a_person() -> None:
    with pytest.raises(Unreadable, match=r"clawmem\.yaml:2"):
        with_value("a: [\n", "format", 1, FILE)


_WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
_VALUES = st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | _WORDS
_NAMES = st.sampled_from(["lock", "vault", "git"])
_FILES = st.dictionaries(_NAMES, st.dictionaries(st.sampled_from(["a", "b"]), _VALUES, max_size=2) | st.none())


@given(_FILES, _NAMES, st.sampled_from(["a", "b"]), _VALUES, st.booleans())
def test_any_file_reads_back_with_just_this_change(
    content: dict[str, Any], section: str, name: str, value: Any, flow: bool
) -> None:
    before = yaml.safe_dump(content, default_flow_style=flow, allow_unicode=True)
    after = yaml.safe_load(with_value(before, f"{section}.{name}", value, FILE))
    expected = {**content, section: {**(content.get(section) or {}), name: value}}
    assert after == expected
