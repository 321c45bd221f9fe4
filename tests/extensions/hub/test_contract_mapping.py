"""Mappings of other formats: the examples of the project, conversions, and mistakes that are named."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import InvalidInput, UnreadableKey
from clawmem.extensions.hub.contract import Line
from clawmem.extensions.hub.contract_export import RefusedLine
from clawmem.extensions.hub.contract_mapping import mapped_lines, read_mapping
from clawmem.vault.strict_yaml import parse_yaml
from tests.conftest import Command

EXAMPLES = Path(__file__).parents[3] / "examples" / "contract"
LINE = {"entity": "$.e", "claim": "$.c", "source": "test", "confidence": 0.5, "author": "tester"}
LINE["timestamp"] = "2026-01-02T03:04:05Z"


def mapped(mapping: dict[str, Any], data: str) -> list[Line | RefusedLine]:
    return list(mapped_lines(io.BytesIO(data.encode()), read_mapping(mapping, "m.yaml")))


def values(mapping: dict[str, Any], data: str) -> list[dict[str, Any]]:
    found = mapped(mapping, data)
    assert all(isinstance(other, Line) for other in found), found
    return [dict(line.values) for line in found if isinstance(line, Line)]


@pytest.mark.parametrize("name", ["mem0.json", "graphiti.jsonl", "notes.csv"])
def test_the_examples_are_published(name: str, clawmem: Command) -> None:
    file = EXAMPLES / name
    words = ("publish", str(file), "--mapping", str(file.with_suffix(".yaml")))
    assert "2 stored, 0 refused" in clawmem(*words).err
    assert "0 stored, 2 known, 0 refused" in clawmem(*words).err


def test_the_example_of_mem0_becomes_claims() -> None:
    mapping = parse_yaml((EXAMPLES / "mem0.yaml").read_text(), "mem0.yaml")
    first, second = values(mapping, (EXAMPLES / "mem0.json").read_text())
    assert (
        first["entity"] == "areas/people/maren" and first["confidence"] == 0.95 and first["tags"] == ["health", "food"]
    )
    assert first["timestamp"] == "2026-03-02T09:15:00.120000-08:00" and first["author"] == "kitchen-helper"
    assert second["timestamp"] == "2026-02-20T07:05:00-08:00" and second["author"] == "mem0"
    assert second["confidence"] == 0.7 and "tags" not in second


def test_values_are_paths_texts_and_constants_and_are_converted() -> None:
    line = {
        **LINE,
        "entity": "projects/{$.e}",
        "confidence": {"path": "$.n", "scale": [1, 5]},
        "timestamp": {"path": "$.t", "date": "epoch-ms"},
        "author": {"path": "$.who", "words": {"1": "Ida"}, "default": "somebody"},
        "kind": {"constant": "$5"},
    }
    [record] = values({"line": line}, '{"e": "boat", "c": "It floats.", "n": 4, "t": 1767323045000, "who": 2}')
    assert record["entity"] == "projects/boat" and record["confidence"] == 0.75 and record["author"] == "somebody"
    assert record["timestamp"] == "2026-01-02T03:04:05Z" and record["kind"] == "$5"


def test_each_item_of_a_record_becomes_a_line_and_rules_choose_records() -> None:
    rules = [
        {
            "where": {"$.type": "entity"},
            "each": "$.observations[*]",
            "line": {**LINE, "entity": "$.name", "claim": "@"},
        },
        {"where": {"$.type": "relation"}, "line": {**LINE, "entity": "$.from", "claim": "{$.from} {$.how} {$.to}."}},
    ]
    data = '{"type": "entity", "name": "Sula", "observations": ["Is a ferry.", "Is blue."]}\n{"type": "other"}\n'
    data += '{"type": "relation", "from": "Sula", "to": "Bergen", "how": "sails to"}'
    found = values({"rules": rules}, data)
    assert [record["claim"] for record in found] == ["Is a ferry.", "Is blue.", "Sula sails to Bergen."]
    assert {record["entity"] for record in found} == {"Sula"}


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ('{"c": "x"}', "Record 1: the key 'entity': $.e finds nothing, and has no default."),
        ('{"e": "a", "c": 5}', "Line 1: the key 'claim' must be text."),
        ("{", "Line 1 is not a line of JSON: a key in double quotes is expected"),
    ],
)
def test_a_record_that_does_not_fit_is_named(record: str, text: str) -> None:
    [refused, kept] = mapped({"line": LINE}, f'{record}\n{{"e": "a", "c": "b"}}')
    assert isinstance(refused, RefusedLine) and refused.reason.startswith(text) and isinstance(kept, Line)


@pytest.mark.parametrize(
    ("value", "record", "text"),
    [
        ({"path": "$.n", "scale": [0, 10]}, '{"n": 11}', "the key 'confidence': 11 is not between 0 and 10."),
        ({"path": "$.n", "words": {"a": 1}}, '{"n": "b"}', "the key 'confidence': 'b' is not one of its words."),
        (
            {"path": "$.n", "date": "%Y"},
            '{"n": "b"}',
            "the key 'confidence': 'b' is not a time in the form %Y.",
        ),
        ({"path": "$.n", "date": "iso"}, '{"n": "b"}', "the key 'confidence': 'b' is not a time in the form iso."),
        ({"path": "$.n", "scale": [0, 10]}, '{"n": "abc"}', "the key 'confidence': 'abc' is not a number."),
        ({"path": "$.n", "date": "epoch"}, '{"n": {}}', "the key 'confidence': dict is no number."),
    ],
)
def test_a_value_that_cannot_be_converted_is_named(value: Any, record: str, text: str) -> None:
    line = {**LINE, "entity": "e", "claim": "c", "confidence": value}
    [refused] = mapped({"line": line}, record)
    assert isinstance(refused, RefusedLine) and refused.reason == f"Record 1: {text}"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"line": {**LINE, "claim": "$.a["}}, "the key 'line.claim' '$.a[' is not a JSON path"),
        ({"line": {**LINE, "claim": "$[?match(@.a, 'x')]"}}, "the key 'line.claim' a path cannot contain a pattern"),
        ({"line": {**LINE, "claim": {"path": "c"}}}, "the key 'line.claim.path' must be a path"),
        ({"line": {**LINE, "claim": {"default": 1}}}, "the key 'line.claim' must have one of the keys path, text"),
        ({"line": {**LINE, "claim": {"path": "$.c", "dat": 1}}}, "the key 'line.claim.dat' is unknown"),
        ({"line": {**LINE, "claim": {"path": "$.c", "date": "%Q"}}}, "the key 'line.claim.date' is not codes of"),
        ({"line": {**LINE, "claim": {"path": "$.c", "date": "%d%d"}}}, "the key 'line.claim.date' is not codes of"),
        ({"line": {**LINE, "claim": {"path": "$.c", "date": "soon"}}}, "the key 'line.claim.date' must be"),
        ({"line": {**LINE, "claim": {"path": "$.c", "scale": [1, 1]}}}, "the key 'line.claim.scale' must be"),
        ({"rules": [{"line": {"claim": "$.c"}}]}, "the key 'rules[0].line' lacks the key 'entity'"),
        ({"line": LINE, "rules": []}, "the key 'rules' a mapping has either a line or rules"),
        ({"line": LINE, "format": "xml"}, "the key 'format' must be one of json, jsonl, csv"),
        ({"line": LINE, "records": "$.x"}, "the key 'records' is for the format json only"),
        ({"lines": LINE}, "the key 'lines' is unknown"),
    ],
)
def test_a_wrong_mapping_is_named_by_its_key(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(UnreadableKey) as problem:
        read_mapping(wrong, "m.yaml")
    assert text in problem.value.message


def test_the_line_of_a_wrong_key_is_named(clawmem: Command, tmp_path: Path) -> None:
    mapping = tmp_path / "m.yaml"
    mapping.write_text("format: jsonl\nline:\n  entity: a\n  claim: {path: oops}\n" + "".join(
        f"  {key}: 1\n" for key in ("source", "confidence", "timestamp", "author")
    ))  # fmt: skip
    result = clawmem("publish", "-", "--mapping", str(mapping), given="{}")
    assert result.code == 2 and f"{mapping}:4 cannot be read: the key 'line.claim.path' must be" in result.err
    mapping.write_text("format: jsonl\nline: [\n")
    result = clawmem("publish", "-", "--mapping", str(mapping), given="{}")
    assert result.code == 2 and "is not valid YAML" in result.err and "Correct the mapping" in result.err
    assert "git checkout" not in result.err and "doctor" not in result.err


@pytest.mark.parametrize(
    ("data", "text"),
    [("{", "The file is not JSON: a key in double quotes"), ('{"a": []}', "The mapping finds no record in the file.")],
)
def test_a_document_without_records_is_an_error(data: str, text: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        mapped({"format": "json", "records": "$.results[*]", "line": LINE}, data)
    assert problem.value.message.startswith(text)
