"""Session records as people and other programs write them: what is read, what is refused, and when one is abandoned."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.records.session import (
    ABANDONED,
    CHECKPOINT_SCHEMA,
    ENDED,
    EXAMPLE,
    OPEN,
    SCHEMA,
    SessionRecord,
    check_handover,
    check_session_id,
    parse_session,
    render_session,
    state_at,
)
from clawmem.vault.strict_yaml import parse_yaml
from tests.conftest import examples

PATH = "agents/scout/sessions/ses_1.json"
SEEN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def parsed(**values: Any) -> SessionRecord:
    return parse_session(json.dumps({"id": "ses_1", **values}).encode(), PATH, parse_yaml)


def test_a_project_has_one_name_however_its_address_is_written() -> None:
    for address in ("git@GitHub.com:Ada/Boat.git", "https://ada:pw@github.com/ada/boat", "github.com/ada/boat"):
        assert parsed(project=address).project == "github.com/ada/boat"


def test_a_record_is_written_as_it_was_read() -> None:
    record = parsed(
        agent="scout", served=["fact_1"], warnings=["mind the boom"], outcomes={"fact_1": "useful"}, mood="calm",
        notes=[{"id": "n1", "at": "2026-11-21T09:00:00Z", "text": "The mast is up."}],
    )  # fmt: skip
    assert record.extra == {"mood": "calm"}
    assert parse_session(render_session(record), PATH, parse_yaml) == record


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, ["fact_1", 2]) for key in ("served", "learned", "proposals", "warnings")),
        *((key, "a text") for key in ("served", "warnings", "notes", "collisions", "checkpoints")),
        ("notes", [{"id": "n1", "text": "no time"}]),
        ("outcomes", ["useful"]),
        ("reflection", "good"),
        ("checkpoints", ["first"]),
        ("state", "asleep"),
        ("project", 7),
        ("summary", ["a list"]),
    ],
)
def test_a_value_of_a_wrong_type_is_named(key: str, value: object) -> None:
    with pytest.raises(Unreadable, match=rf"the key '{key}[^']*' (must|is missing)"):
        parsed(**{key: value})


@pytest.mark.parametrize("text", ["a..b", "..", ".hidden", "a/b", "a b", "a-", "", "x" * 129])
def test_an_id_that_is_no_file_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a session id"):
        check_session_id(text)


def test_a_session_is_abandoned_after_its_hours_and_not_at_them() -> None:
    record = parsed(started="2026-11-20T09:30:00Z", last_seen="2026-11-21T09:30:00Z")
    assert state_at(record, SEEN + timedelta(hours=6), 6) == OPEN
    assert state_at(record, SEEN + timedelta(hours=6, seconds=1), 6) == ABANDONED
    assert state_at(parsed(started="2026-11-20T09:30:00Z"), SEEN, 6) == ABANDONED, "it was never seen since its start"
    assert state_at(parsed(started="long ago"), SEEN, 6) == OPEN
    assert state_at(parsed(state=ENDED), SEEN, 6) == ENDED


_WORDS = st.sampled_from(["", "x", "project", "useful"])
_ANY = st.recursive(
    st.none() | st.booleans() | st.floats(-2, 2) | _WORDS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                "text entity scope importance decided why used alternatives option learned watch_for".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
_DOCUMENTS = st.dictionaries(st.sampled_from(list(SCHEMA["properties"])), _ANY, max_size=5)


def test_the_schemas_are_schemas_and_the_example_fits() -> None:
    for schema in (SCHEMA, CHECKPOINT_SCHEMA):
        jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(EXAMPLE, SCHEMA)
    assert check_handover(EXAMPLE).notices == ()


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_null(other) for key, other in value.items() if other is not None}
    return [_without_null(other) for other in value] if isinstance(value, list) else value


@examples(25, 100)
@given(_DOCUMENTS)
def test_what_the_schema_refuses_is_refused(document: dict[str, Any]) -> None:
    """Null counts as missing, and a misspelt key is refused although the schema allows other keys."""
    document = {**EXAMPLE, **_without_null(document)}
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid(document)
    if not fits:
        with pytest.raises(InvalidInput):
            check_handover(document)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"summary": None}, "summary: is missing"),
        ({"summary": "  "}, "summary: is empty"),
        ({"reflection": {"learned": []}}, "reflection.watch_for: is missing"),
        ({"lessons": [{"text": "a"}, {"because": "b"}]}, r"lessons\[1\].text: is missing"),
        ({"lessons": "a"}, "lessons: must be a list, not text"),
        ({"lessons": [{"text": "a", "scope": "planet"}]}, r"lessons\[0\].scope: 'planet' is not one of project, team"),
        ({"decisions": [{"decided": "a"}]}, r"decisions\[0\].why: is missing"),
        ({"knowledge": [{"entity": "a", "claim": "b", "confidence": 2}]}, r"knowledge\[0\].confidence: 2 is not betw"),
        ({"outcomes": {"fact_1": "good"}}, "outcomes.fact_1: 'good' is not one of useful, useless, harmful"),
        ({"lesson": []}, None),
        ({"decision": [{}], "decisions": None}, "decision: is unknown; did you mean 'decisions'"),
    ],
)
def test_an_error_names_the_field(change: dict[str, Any], text: str | None) -> None:
    document = {key: value for key, value in {**EXAMPLE, **change}.items() if value is not None}
    if text is None:
        assert check_handover(document).notices == ("lesson was ignored: the schema has no such key",)
        return
    with pytest.raises(InvalidInput, match=text):
        check_handover(document)


def test_every_wrong_field_is_named_at_once() -> None:
    with pytest.raises(InvalidInput) as problem:
        check_handover({"lessons": [{}], "decisions": [{}]})
    for path in ("summary", "reflection", "lessons[0].text", "decisions[0].decided", "decisions[0].why"):
        assert f"{path}: is missing" in problem.value.message


def test_no_object_is_no_document() -> None:
    with pytest.raises(InvalidInput, match="the document: must be an object, not a list"):
        check_handover([])
