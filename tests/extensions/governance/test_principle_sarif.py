"""SARIF: every log fits the schema of version 2.1.0. `sarif-2.1.0.json` is described in NOTICE."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.extensions.governance.principle import Finding, Principle, parse_principles, sarif_log
from clawmem.vault.strict_yaml import parse_yaml

SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0.json").read_text())
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
RULES = (
    b"no-tar:\n  rule: No tar.\n  reason: It sticks.\n  check: {regex: tar}\n  good: paint\n  bad: tar\n"
    b"sails:\n  rule: It sails.\n  reason: It is a boat.\n  check: {command: make sail}\n"
)


@pytest.fixture(scope="module")
def principles() -> tuple[Principle, ...]:
    return parse_principles(RULES, "principles.yaml", parse_yaml)


def test_the_schema_refuses_what_is_not_sarif(principles: tuple[Principle, ...]) -> None:
    log = sarif_log([], principles, "0.1.0")
    VALIDATOR.validate(log)
    log["runs"][0]["results"] = [{"ruleId": "no-tar"}]
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(log)


def test_a_check_that_did_not_run_is_in_the_invocation(principles: tuple[Principle, ...]) -> None:
    log = sarif_log([], principles, "0.1.0", ["sails was not checked: not allowed"])
    VALIDATOR.validate(log)
    (found,) = log["runs"][0]["invocations"]
    assert not found["executionSuccessful"]
    assert found["toolExecutionNotifications"][0]["message"]["text"] == "sails was not checked: not allowed"
    assert sarif_log([], principles, "0.1.0")["runs"][0]["invocations"][0]["executionSuccessful"]


PATHS = st.lists(st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=9), min_size=1)


@given(PATHS.map("/".join), st.integers(0, 9), st.integers(1, 9), st.sampled_from([0, 1]), st.text(max_size=9))
def test_every_finding_fits_the_schema(path: str, line: int, start: int, at: int, text: str) -> None:
    rules = parse_principles(RULES, "principles.yaml", parse_yaml)
    found = Finding(path, line, start, start + len(text), rules[at].id, rules[at].rule, text)
    log = sarif_log([found], rules, "0.1.0")
    VALIDATOR.validate(log)
    (result,) = log["runs"][0]["results"]
    assert log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_path_is_a_relative_uri(principles: tuple[Principle, ...]) -> None:
    found = Finding("a b/é#?.py", 3, 1, 4, "no-tar", "No tar.", "tar")
    (result,) = sarif_log([found], principles, "0.1.0")["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b/%C3%A9%23%3F.py"
    region = {key: place["region"][key] for key in ("startLine", "startColumn", "endColumn")}
    assert region == {"startLine": 3, "startColumn": 1, "endColumn": 4}
