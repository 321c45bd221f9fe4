"""`clawmem schema`: the schemas are JSON Schema, name every command, and do not fit what has another shape."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from clawmem.errors import REFUSED
from clawmem.faces.parts.shapes import document_schema
from tests.conftest import Command
from tests.manual import commands

COMMANDS = commands()


def test_every_schema_is_json_schema() -> None:
    schemas = [document_schema(command.shape) for command in COMMANDS.values()]
    # Commands share most definitions, and checking one takes long.
    parts = [part for schema in schemas for part in ({**schema, "$defs": {}}, *schema["$defs"].values())]
    for part in {json.dumps(part): part for part in parts}.values():
        jsonschema.Draft202012Validator.check_schema(part)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_schema_declares_all_that_it_names(name: str) -> None:
    schema = document_schema(COMMANDS[name].shape)
    assert set(references(schema)) == {f"#/$defs/{other}" for other in schema["$defs"]}


def references(schema: Any) -> list[str]:
    """Every `$ref` in a schema."""
    if isinstance(schema, list):
        return [reference for part in schema for reference in references(part)]
    if not isinstance(schema, dict):
        return []
    return (
        [schema["$ref"]]
        if "$ref" in schema
        else [reference for part in schema.values() for reference in references(part)]
    )


def test_the_verb_prints_what_is_checked(clawmem: Command) -> None:
    assert clawmem("schema", "--json").data["commands"] == list(COMMANDS)
    assert clawmem("schema").out.splitlines() == list(COMMANDS)
    for words in (["recall"], ["search"], ["agent", "create"]):
        printed = clawmem("schema", *words)
        assert printed.json == clawmem("schema", *words, "--json").data["schema"]
        name = " ".join(words).replace("search", "recall")
        assert printed.json == document_schema(COMMANDS[name].shape)


def test_what_is_no_command_has_no_schema(clawmem: Command) -> None:
    for words in (["nonsense"], ["agent"], ["agent", "nonsense"], ["recall", "create"]):
        result = clawmem("schema", *words, "--json")
        assert (result.code, result.json["error"]["code"]) == (REFUSED, "not_found")
        assert f"'{' '.join(words)}'" in result.json["error"]["message"]


def test_a_failure_fits_too(clawmem: Command) -> None:
    schema = clawmem("schema", "show").json
    failed = clawmem("show", "fact_00000000", "--json").json
    jsonschema.Draft202012Validator(schema).validate(failed)


def test_a_key_too_many_or_too_few_does_not_fit(clawmem: Command) -> None:
    clawmem("remember", "Jane lives in Oslo.")
    schema = clawmem("schema", "recall").json
    document = clawmem("recall", "Jane", "--json").json
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(document)
    data = document["data"]
    fact, channel = data["facts"][0], data["channels"]["keyword"]
    for broken in (
        {**document, "more": 1},
        {**document, "schema_version": 2},
        {**document, "data": {key: value for key, value in data.items() if key != "events"}},
        {**document, "data": {**data, "more": []}},
        {**document, "data": {**data, "facts": [{**fact, "rank": "first"}]}},
        {**document, "data": {**data, "facts": [{**fact, "score": "high"}]}},
        {**document, "data": {**data, "facts": [{**fact, "tier": "lukewarm"}]}},
        {**document, "data": {**data, "facts": [{key: fact[key] for key in fact if key != "entity"}]}},
        {**document, "data": {**data, "channels": {"keyword": {**channel, "ran": None}}}},
        {**document, "notices": None},
    ):
        assert not validator.is_valid(broken)
