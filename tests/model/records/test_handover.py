"""The document that ends a session: the schema, the example, and errors that name the field."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.model.records.handover import CHECKPOINT_SCHEMA, EXAMPLE, SCHEMA, check_handover
from tests.conftest import examples

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
