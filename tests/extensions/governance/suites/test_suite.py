"""Suites: every mistake in a file is named with its line and its key."""

from __future__ import annotations

import pytest

from clawmem.errors import Unreadable, UnreadableKey
from clawmem.extensions.governance.suites.store import read_suite
from clawmem.extensions.governance.suites.suite import COPY, MEMORY, Step, filled

PATH = "governance/evals/boats.yaml"
WHOLE = """\
description: Boats
metadata:
  kind: regression
  now: '2026-03-01T09:00:00Z'
  seed: 3
  vault: empty
  budget: 200
  arms: [memory, files]
  fixtures:
    - remember 'The boat is blue.'
    - run: supersede {{old}} 'The boat is red.'
      now: '2026-03-02T09:00:00Z'
      facts: {old: The boat is blue.}
prompts: ['{{question}}{{command}}']
providers: ['exec: clawmem eval answer']
tests:
  - description: colour
    vars: {question: 'Which colour has {{what}}?', what: the boat, right: red}
    assert:
      - {type: icontains, value: '{{right}}', weight: 2}
      - {type: not-regex, value: blu+e}
    threshold: 0.5
    metadata: {category: boats}
  - description: as JSON
    vars: {command: recall boat --json}
    assert:
      - type: is-json
        value: {type: object}
    metadata:
      assert:
        - {type: json-path, value: {path: '$.data.facts[0].fact', contains: red}}
        - {type: recall-at-k, value: {k: 1, expected: [red]}, threshold: 1}
"""
TEST = "    vars: {question: Q}\n    assert: [{type: contains, value: blue}]\n"
BASE = f"description: Boats\ntests:\n  - description: one\n{TEST}"

# A file, the line and the key that the message names, and a part of what it says.
BAD = (
    ("tests: []\n", 1, "tests", "missing or empty"),
    ("description: Boats\n", 1, "tests", "is missing; it must be a list"),
    ("- a list\n", 1, "", "must be an object, but is a list"),
    (f"{BASE}speed: fast\n", 6, "speed", "is unknown; the keys are tests, description"),
    ("tests:\n  - description: one\n" + TEST, 1, "description", "is missing; it must be text"),
    (f"{BASE}metadata: {{kind: hard}}\n", 6, "metadata.kind", "one of capability, regression"),
    (f"{BASE}metadata:\n  now: 2026-03-01\n", 7, "metadata.now", "text, but is 2026-03-01 without quotes"),
    (f"{BASE}metadata:\n  seed: -1\n", 7, "metadata.seed", "whole number between 0 and"),
    (f"{BASE}metadata:\n  budget: true\n", 7, "metadata.budget", "whole number between 1 and"),
    (f"{BASE}metadata:\n  arms:\n    - memory\n    - magic\n", 9, "metadata.arms[1]", "is 'magic'"),
    (f"{BASE}metadata:\n  fixtures:\n    - walk: x\n", 8, "metadata.fixtures[0].walk", "is unknown"),
    (f"{BASE}metadata:\n  fixtures:\n    - run: retract {{{{x}}}}\n", 8, "metadata.fixtures[0].run", "not defined"),
    (f"{BASE}metadata:\n  fixtures: {{generate: memory, size: 0}}\n", 7, "metadata.fixtures.size", "between 1 and 400"),
    (f"{BASE}metadata:\n  fixtures: {{generate: memory, size: 401}}\n", 7, "metadata.fixtures.size", "and 400"),
    (f"{BASE}  - description: one\n{TEST}", 6, "tests[1].description", "same as that of an earlier"),
    (f"{BASE}    question: Q\n", 6, "tests[0].question", "write it as vars.question"),
    (f"{BASE}    threshold: 2\n", 6, "tests[0].threshold", "between 0 and 1"),
    (f"{BASE}    metadata: {{kind: hard}}\n", 6, "tests[0].metadata.kind", "suite's own metadata"),
    (BASE.replace("question: Q", "who: Q"), 4, "tests[0].vars", "one of question and command"),
    (BASE.replace("question: Q", "question: [Q, R]"), 4, "tests[0].vars.question", "must be text or"),
    (BASE.replace("question: Q", "question: '{{who}}?'"), 4, "tests[0].vars.question", "{{who}}, which is not"),
    (BASE.replace("question: Q", "question: '{% if a %}'"), 4, "tests[0].vars.question", "a template other than"),
    (BASE.replace("[{type: contains, value: blue}]", "[]"), 5, "tests[0].assert", "cannot fail"),
    (BASE.replace("contains,", "recall-at-k,"), 5, "tests[0].assert[0].type", "metadata.assert"),
    (BASE.replace("contains,", "smells,"), 5, "tests[0].assert[0].type", "the types are equals"),
    (BASE.replace("value: blue", "value: 3"), 5, "tests[0].assert[0].value", "write numbers in quotes"),
    (BASE.replace(", value: blue", ""), 5, "tests[0].assert[0].value", "is missing"),
    (BASE.replace("contains, value: blue", "regex, value: '('"), 5, "tests[0].assert[0].value", "regular expression"),
    (BASE.replace("value: blue", "value: blue, weight: -1"), 5, "tests[0].assert[0].weight", "0 or more"),
    (BASE.replace("contains,", "contains-all,"), 5, "tests[0].assert[0].value", "list of texts"),
)


def test_a_suite_is_read() -> None:
    suite = read_suite(WHOLE.encode(), PATH)
    assert (suite.id, suite.kind, suite.budget) == ("boats", "regression", 200)
    assert suite.fixtures[0] == Step("remember 'The boat is blue.'")
    assert [assertion.type for assertion in suite.tests[1].assertions] == ["is-json", "json-path", "recall-at-k"]
    assert [assertion.is_own for assertion in suite.tests[1].assertions] == [False, True, True]


def test_what_is_left_out_has_a_default() -> None:
    suite = read_suite(BASE.encode(), PATH)
    assert (suite.kind, suite.arms, suite.vault, suite.seed) == ("capability", (MEMORY,), "empty", 1)
    assert read_suite(f"{BASE}metadata: {{vault: copy}}\n".encode(), PATH).vault == COPY


@pytest.mark.parametrize(("text", "line", "key", "message"), BAD)
def test_each_mistake_is_named_with_line_and_key(text: str, line: int, key: str, message: str) -> None:
    with pytest.raises(UnreadableKey) as caught:
        read_suite(text.encode(), PATH)
    assert caught.value.line == line, caught.value.message
    assert f"{PATH}:{line} cannot be read" in caught.value.message
    assert key in caught.value.message
    assert message in caught.value.message


def test_yaml_that_does_not_parse_names_its_line() -> None:
    with pytest.raises(Unreadable, match=r"boats\.yaml:4"):
        read_suite(b"description: Boats\ntests:\n  - [\n", PATH)


def test_variables_are_written_as_promptfoo_writes_them() -> None:
    assert filled("a {{ one }} {{two}}{{three}}", {"one": 1, "two": "x", "three": True}) == "a 1 xtrue"
    assert filled(["{{one}}", 3], {"one": "y"}) == ["y", 3]
