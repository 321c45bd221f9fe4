"""Data beyond a limit is refused with a sentence; data within the limits survives a round trip."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.records import strict_json as bounds
from clawmem.model.records.caller import Caller
from clawmem.model.records.strict_json import read_json
from clawmem.model.transcripts.formats import by_line, documents
from clawmem.serving.context.context import context
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

DEEP = bounds.JSON_DEPTH


@pytest.mark.parametrize("text", ["{}", "[1, -2.5, 1e300, true, null]", '"\\ud83d\\ude00"', '["[[[[", "\\\\ud83d"]'])
def test_what_is_within_the_bounds(text: str) -> None:
    assert read_json(text) == read_json(text.encode()) == json.loads(text)
    assert read_json("[" * DEEP + "]" * DEEP) == json.loads("[" * DEEP + "]" * DEEP)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * (DEEP + 1) + "]" * (DEEP + 1), "nested deeper"),
        ("[" * 100_000, "nested deeper"),
        ('{"a":' * (DEEP + 1) + "1" + "}" * (DEEP + 1), "nested deeper"),
        ('["\\ud83d"]', "half of a character"),
        ('{"\\udc00": 1}', "half of a character"),
        ("1e999", "too large"),
        ("-1e999", "too large"),
        ("9" * 301, "too large"),
        ("9" * 5000, "too large"),
        ("NaN", "not a number"),
        ("[-Infinity]", "not a number"),
        (b"\xff", "utf-8"),
        (b'"\xed\xa0\xbd"', "utf-8"),
        ("[1", "delimiter"),
    ],
)
def test_json_beyond_a_bound(text: str | bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_json(text)


def test_json_that_is_too_long() -> None:
    with pytest.raises(ValueError, match="it has 12 bytes; the limit is 10"):
        read_json(b'"' + b"x" * 10 + b'"', 10)
    with pytest.raises(ValueError, match="brackets and commas"):
        read_json("[" + "[]," * bounds.JSON_VALUES + "[]]")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: " + "[" * 50_000, "nested deeper"),
        ("".join(" " * n + "a:\n" for n in range(100)), "nested deeper"),
        ("a: &a [1]\nb: [" + "*a, " * 9 + "]", "aliases"),
        ("a: &a [*a]", "a value that contains it"),
        ("a: .inf", "not a finite number"),
        ("a: .nan", "not a finite number"),
        ("a: 2020-13-45", "not valid YAML"),
        ("a: " + "9" * 5000, "too long"),
        ("a: 1" + ":1" * 100_000, "too long"),
        ("? 2020-01-01\n: 1", "neither text nor a number"),
        ("? [a]\n: 1", "not valid YAML"),
        ('a: "\\ud83d"', "valid|half"),
        ("# " + "x" * bounds.YAML_BYTES, "characters; the limit is 1,048,576"),
    ],
)
def test_yaml_beyond_a_bound(text: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        parse_yaml(text, "clawmem.yaml")


def test_yaml_within_the_bounds() -> None:
    text = "a: &a {b: 1.5}\nc: *a\nd: 2026-11-21\ne: [yes, null, 'x']\n5: 6\n"
    assert parse_yaml(text, "x")["c"] == {"b": 1.5}


@pytest.mark.parametrize("read", [lambda data: by_line([data]), lambda data: documents([data])])
@pytest.mark.parametrize("data", [b'{"a":' * 900 + b"1" + b"}" * 900, b'{"a": 1e999}', b'{"a": NaN}'])
def test_records_of_transcripts(read: Callable[[bytes], Any], data: bytes) -> None:
    (skipped,) = read(data)
    assert "JSON" in skipped.reason


def test_a_record_that_is_too_long() -> None:
    (skipped,) = by_line([b"[" + b" " * bounds.RECORD_BYTES + b"]"])
    assert "longer than" in skipped.reason  # type: ignore[union-attr]


def test_a_question_that_is_too_long(vault: Vault, caller: Caller) -> None:
    with pytest.raises(InvalidInput, match="100,001 characters; the limit is 100,000"):
        context(vault, caller, 4000, "x" * 100_001)
