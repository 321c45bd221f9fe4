"""The contract: its schema, what is refused and why, and what identifies a claim."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.extensions.hub.contract import (
    LINE_BYTES,
    REQUIRED,
    SCHEMA,
    fact_of,
    line_of,
    line_problem,
    numbered_lines,
    read_line,
)
from tests.conftest import NOW

PAGE = Path(__file__).parents[3] / "docs" / "contract.schema.json"
CLAIM: dict[str, Any] = {
    "entity": "areas/people/jane",
    "claim": "Jane lives in Oslo.",
    "source": "crm",
    "confidence": 0.9,
    "timestamp": "2026-01-02T03:04:05Z",
    "author": "Tom",
}


def line(**values: Any) -> bytes:
    return json.dumps({**CLAIM, **values}).encode()


def test_the_published_schema_is_the_one_of_the_package() -> None:
    assert json.loads(PAGE.read_text()) == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


_VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.floats(-1, 2), st.text(max_size=5), st.lists(st.text(max_size=3)),
    st.sampled_from(["active", "superseded", "revoked", "2026-01-02T03:04:05Z", "2026-01-02", "team", " ", "x"]),
)  # fmt: skip


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), _VALUE), st.sets(st.sampled_from(REQUIRED)))
def test_a_line_is_accepted_if_the_schema_accepts_it(values: dict[str, Any], left_out: set[str]) -> None:
    given_line = {key: value for key, value in {**CLAIM, **values}.items() if key not in left_out or key in values}
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid(given_line)
    assert (line_problem(given_line) is None) == fits, (given_line, line_problem(given_line))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"nonsense", "Line 7 is not a line of JSON: a value is expected"),
        (b'{"entity": "x"', "Line 7 is not a line of JSON: a comma or a closing bracket is expected at column 15"),
        (b"[]", "Line 7: it must be a JSON object."),
        (b'"\xff"', "Line 7 is not a line of JSON: it is not UTF-8 text at byte 1"),
        (line()[:-1] + b', "claim": "x"}', "Line 7 is not a line of JSON: the key 'claim' occurs twice in one object."),
        (line()[:-1] + b', "x": {"a": 1, "a": 1}}', "Line 7 is not a line of JSON: the key 'a' occurs twice in one"),
        (line(confidence=2), "Line 7: the key 'confidence' must be a number from 0 to 1."),
        (line(confidence=True), "Line 7: the key 'confidence' must be a number from 0 to 1."),
        (line(author=None), "Line 7: the key 'author' is missing."),
        (line(claim="  "), "Line 7: the key 'claim' is empty."),
        (line(timestamp="yesterday"), "Line 7: the key 'timestamp' is not a time such as 2026-11-21T09:30:00Z."),
        (line(timestamp="2026-02-30T00:00:00Z"), "Line 7: the key 'timestamp' is not a time: day is out of range"),
        (line(status="gone"), "Line 7: the key 'status' must be one of active, superseded, revoked."),
        (line(superseded_by="2"), "Line 7: the key 'superseded_by' needs the key 'status'."),
        (line(x="y" * LINE_BYTES), "Line 7 is longer than 256 KB."),
    ],
)
def test_a_refused_line_is_named_with_its_number_and_the_reason(data: bytes, text: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        read_line(7, data)
    assert problem.value.message.startswith(text)


def test_the_longest_line_is_read() -> None:
    data = line(x="y" * (LINE_BYTES - len(line(x=""))))
    assert len(data) == LINE_BYTES
    assert read_line(7, data).claim == CLAIM["claim"]


def test_an_id_identifies_a_claim_with_its_source_and_author() -> None:
    first = read_line(1, line(id="1"))
    assert read_line(2, line(id="1", confidence=0.1, timestamp="2026-03-02T03:04:05Z")).fact_id == first.fact_id
    reworded = read_line(2, line(id="1", claim="Jane lives in Bergen."))
    assert reworded.fact_id != first.fact_id and reworded.fact_id.startswith(first.id_prefix)
    others = [line(id="1", source="x"), line(id="1", author="x"), line(id="2"), line()]
    assert not any(read_line(1, other).fact_id.startswith(first.id_prefix) for other in others)


def test_a_claim_without_an_id_is_identified_by_what_it_says() -> None:
    first = read_line(1, line())
    assert read_line(2, line(confidence=0.1, timestamp="2026-03-02T03:04:05Z", x=1)).fact_id == first.fact_id
    assert read_line(2, line(claim="Jane  lives in Oslo.\n")).fact_id == first.fact_id
    others = [line(source="x"), line(author="x"), line(entity="areas/people/joan"), line(claim="Jane is in Oslo.")]
    assert len({first.fact_id, *(read_line(1, other).fact_id for other in others)}) == 5


def test_lines_are_numbered_and_one_that_is_too_long_takes_no_other_with_it() -> None:
    data = b"\xef\xbb\xbfone\n\n" + b"x" * (3 * LINE_BYTES) + b"\r\nthree\r\nlast"
    found = [(number, len(text)) for number, text in numbered_lines(io.BytesIO(data))]
    assert found == [(1, 6), (3, LINE_BYTES + 2), (4, 5), (5, 4)]


def test_a_current_claim_is_exported_without_a_successor() -> None:
    fact = fact_of(read_line(1, line(id="1", status="active", superseded_by="2")), None, NOW)
    values = line_of(fact, CLAIM["entity"], "Tom")
    assert "superseded_by" not in values and line_problem(values) is None
