"""`clawmem eval`: runs in vaults of their own, kept scores, JUnit XML, regressions, and tests from what went wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from junitparser import JUnitXml

from clawmem.errors import REFUSED, USAGE
from clawmem.memory.allowed_commands import allow_command, plan_command
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.conftest import Command

SUITE = """\
description: Boats
metadata:
  now: '2026-03-02T09:00:00Z'
  fixtures:
    - run: remember 'The boat Bucket is blue.' --entity=projects/bucket
      now: '2026-03-01T09:00:00Z'
    - run: remember --jsonl -
      stdin: |
        {"fact": "The sail of Bucket is white.", "entity": "projects/bucket"}
    - run: supersede {{old}} 'The boat Bucket is {{{colour}}}.'
      facts: {old: The boat Bucket is blue.}
tests:
  - description: colour
    vars: {question: Which colour is the boat Bucket?}
    assert:
      - {type: icontains, value: red}
      - {type: not-icontains, value: blue}
  - description: a change stays in its test
    vars: {command: 'remember "The boat Bucket sank." --entity=projects/bucket --json'}
    assert: [{type: is-json}]
    metadata:
      assert: [{type: json-path, value: {path: '$.data.outcome[0]', equals: added}}]
  - description: the change of another test is not seen
    vars: {command: recall 'What happened to Bucket?' --json}
    assert: [{type: not-icontains, value: sank}]
  - description: politeness
    vars: {question: Which colour is the boat Bucket?}
    assert: [{type: llm-rubric, value: is polite}]
"""


def write(root: Path, colour: str, kind: str = "capability", name: str = "boats", only: str = "") -> Path:
    """Write the suite, or its first lines and one test of it: each test of a run has a vault of its own."""
    path = root / "governance" / "evals" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    head, *tests = SUITE.split("  - description: ")
    text = "  - description: ".join([head, *(test for test in tests if test.startswith(only))])
    text = text.replace("{{{colour}}}", colour).replace("metadata:\n  now", f"metadata:\n  kind: {kind}\n  now")
    path.write_text(text)
    return path


def outcomes(clawmem: Command, *words: str) -> dict[str, str]:
    result = clawmem("eval", "run", "boats", "--json", *words)
    return {score["test"]: score["outcome"] for score in result.data["runs"][0]["scores"]}


def test_a_suite_runs_in_a_vault_of_its_own_and_scores_are_kept(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "The boat Bucket is green.", "--entity", "projects/bucket")
    write(vault_root, "red")
    first = outcomes(clawmem)
    assert first == {
        "colour": "passed",
        "a change stays in its test": "passed",
        "the change of another test is not seen": "passed",
        "politeness": "not judged",
    }
    assert outcomes(clawmem) == first
    assert "sank" not in clawmem("list").out
    runs = [json.loads(line) for line in (vault_root / "governance" / "eval-runs.jsonl").read_text().splitlines()]
    assert [run["suite"] for run in runs] == ["boats", "boats"]
    assert len(runs[0]["commit"]) == 40 and runs[0]["version"]
    assert [run["scores"] for run in runs[:1]] == [runs[1]["scores"]]
    listed = {suite["id"]: suite for suite in clawmem("eval", "list", "--json").data["suites"]}
    assert (listed["boats"]["passed"], listed["boats"]["of"]) == (3, 4)
    assert listed["memory"]["run"] is None
    assert clawmem("doctor").code == 0


def test_what_passed_before_and_fails_now_ends_with_1(clawmem: Command, vault_root: Path) -> None:
    write(vault_root, "pink", only="colour")
    assert clawmem("eval", "run", "boats").code == 0, "it never passed"
    write(vault_root, "red", only="colour")
    before = clawmem("eval", "run", "boats", "--json").data["runs"][0]["id"]
    write(vault_root, "pink", only="colour")
    after = clawmem("eval", "run", "boats", "--json")
    assert after.code == REFUSED
    assert [regression["test"] for regression in after.data["regressions"]] == ["colour"]
    assert "passed before and fails now: colour" not in after.err
    compared = clawmem("eval", "compare", before, "boats", "--json")
    assert compared.code == REFUSED
    assert [(change["before"], change["after"]) for change in compared.data["changes"]] == [("passed", "failed")]
    assert "different versions" in compared.json["notices"][0]
    assert clawmem("eval", "compare", "boats", "boats").code == 0
    assert clawmem("eval", "compare", "run_none", "boats").code == REFUSED
    write(vault_root, "red", only="politeness")
    clawmem("eval", "run", "boats")
    assert clawmem("eval", "compare", before, "boats").code == 0, "a test that is gone is none that fails"


def test_a_regression_suite_must_pass(clawmem: Command, vault_root: Path) -> None:
    write(vault_root, "pink", "regression", only="colour")
    result = clawmem("eval", "run", "boats")
    assert result.code == REFUSED
    assert "a regression suite fails: 1 test" in result.err
    assert "boats: colour (memory): " in result.err and "does not contain 'red'" in result.err


def test_the_junit_xml_is_read_by_a_parser(clawmem: Command, vault_root: Path, tmp_path: Path) -> None:
    write(vault_root, "pink")
    path = tmp_path / "junit.xml"
    assert clawmem("eval", "run", "boats", "--junit", str(path)).code == 0
    suite = next(iter(JUnitXml.fromfile(str(path))))
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (4, 1, 1, 0)
    cases = {case.name: case for case in suite}
    assert "does not contain 'red'" in cases["colour"].result[0].message
    write(vault_root, "pink", only="colour")
    printed = clawmem("eval", "run", "boats", "--junit", "-")
    assert JUnitXml.fromstring(printed.out.encode()).tests == 1
    assert clawmem("eval", "run", "boats", "--junit", str(tmp_path)).code == REFUSED


def test_a_bad_suite_is_named_and_the_others_run(clawmem: Command, vault_root: Path) -> None:
    write(vault_root, "red")
    bad = write(vault_root, "red", name="bad")
    bad.write_text(bad.read_text().replace("type: icontains", "type: smells"))
    result = clawmem("eval", "run", "bad")
    assert result.code == USAGE
    assert "governance/evals/bad.yaml:17 cannot be read: the key 'tests[0].assert[0].type' is 'smells'" in result.err
    listed = clawmem("eval", "list", "--json")
    assert "boats" in [suite["id"] for suite in listed.data["suites"]]
    assert "bad.yaml:17" in listed.json["notices"][0]
    assert "bad.yaml" in clawmem("doctor").out
    assert "smells" in bad.read_text(), "it is left as it is"


def test_a_step_that_fails_is_named(clawmem: Command, vault_root: Path) -> None:
    path = write(vault_root, "red")
    path.write_text(path.read_text().replace("old: The boat Bucket is blue.", "old: Nobody said this."))
    result = clawmem("eval", "run", "boats")
    assert result.code == USAGE
    assert "metadata.fixtures[2]: 0 active facts say 'Nobody said this.'" in result.err
    path.write_text(path.read_text().replace("remember --jsonl -", "ingest /etc/passwd"))
    assert "metadata.fixtures[1]: 'ingest /etc/passwd' reads the file" in clawmem("eval", "run", "boats").err
    assert not (vault_root / "governance" / "eval-runs.jsonl").exists()


def test_only_a_generated_suite_by_its_own_name_has_a_size(clawmem: Command, vault_root: Path) -> None:
    path = write(vault_root, "red", name="mine")
    assert "The suite mine has its own tests" in clawmem("eval", "run", "mine", "--size", "1").err
    head, _, rest = path.read_text().partition("  fixtures:\n")
    tests = rest[rest.index("tests:\n") :]
    path.write_text(f"{head}  fixtures: {{generate: memory, seed: 1, size: 1}}\n{tests}")
    result = clawmem("eval", "run", "mine", "--size", "1")
    assert (result.code, "The suite mine has its own tests" in result.err) == (USAGE, True), result.err


def test_the_shipped_suite_prints_a_table(clawmem: Command, vault_root: Path) -> None:
    result = clawmem("eval", "run", "memory", "--size", "1")
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert [row[1:3] for row in rows[:3]] == [["discovery", "memory"], ["discovery", "files"], ["discovery", "without"]]
    totals = {row[2]: (int(row[3]), int(row[4])) for row in rows[-3:]}
    assert totals["without"] == (0, 4)
    assert totals["memory"][0] >= 3


def test_a_rejected_proposal_becomes_a_test(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Norvik Labs is based in Oslo.", "--entity", "areas/companies/norvik")
    (fact,) = clawmem("list", "--json").data["facts"]
    lie = "Norvik Labs is based in Moss."
    clawmem("supersede", fact["id"], lie, "--source", "web:example.org")
    proposals = clawmem("review", "list", "--json").data["proposals"]
    waiting = proposals[0]["id"]
    assert clawmem("eval", "add", "--from", waiting).code == REFUSED, "it is not rejected"
    clawmem("review", "reject", waiting, "--reason", "a joke")
    question = ("--question", "Where is Norvik Labs based?", "--contains", "Oslo")
    result = clawmem("eval", "add", "--from", waiting, *question, "--json")
    assert result.data["path"] == "governance/evals/regressions.yaml"
    assert clawmem("eval", "add", "--from", waiting, *question, "--json").data["commit"] is None
    assert clawmem("eval", "run", "regressions").code == 0
    log = subprocess.run(["git", "log", "--format=%s"], cwd=vault_root, capture_output=True, text=True, check=True)
    assert f"eval(regressions): add a test: {waiting} was rejected" in log.stdout


def test_a_failure_becomes_a_test_that_fails_until_it_is_mended(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "The port is 8443.", "--entity", "projects/boat")
    path = vault_root / "governance" / "failures.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"id": "fail_0a", "timestamp": "2026-03-01T09:00:00Z", "mode": "stale-memory", "note": "Which port?"}
    path.write_text(json.dumps(record) + "\n")
    missing = clawmem("eval", "add", "--from", "fail_0a")
    assert (missing.code, "--contains and --not-contains" in missing.err) == (USAGE, True)
    assert clawmem("eval", "add", "--from", "fail_9").code == REFUSED
    words = ("--contains", "9555", "--not-contains", "8443")
    assert clawmem("eval", "add", "--from", "fail_0a", *words).code == 0
    failed = clawmem("eval", "run", "regressions")
    run = (vault_root / "governance/eval-runs.jsonl").read_text().split('"id": "')[1].split('"')[0]
    assert (failed.code, f"kept as {run}" in failed.err) == (REFUSED, True)
    (fact,) = clawmem("list", "--json").data["facts"]
    clawmem("supersede", fact["id"], "The port is 9555.")
    assert clawmem("eval", "run", "regressions").code == 0
    compared = clawmem("eval", "compare", run, "regressions")
    assert (compared.code, compared.out.split("\t")[2:]) == (0, ["failed", "passed\n"])
    head, test = (
        "description: Mine\nmetadata:\ntests:\n- description: a\n",
        "  vars: {question: b}\n  assert: [{type: is-json}]\n",
    )
    (vault_root / "governance/evals/own.yaml").write_text(head + test)
    assert clawmem("eval", "add", "--suite", "own", "--from", "fail_0a", *words).code == 0, "its metadata are empty"


def test_a_command_grades_only_after_a_person_allowed_it(
    clawmem: Command, vault_root: Path, tmp_path: Path, environment: dict[str, str], caller: Caller
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "short.sh").write_text("#!/bin/sh\nread line && test ${#line} -lt 20\n")
    (work / "short.sh").chmod(0o755)
    path = write(vault_root, "red", only="politeness")
    own = "metadata: {assert: [{type: command, value: ./short.sh}]}"
    path.write_text(path.read_text().replace("[{type: llm-rubric, value: is polite}]", "[]\n    " + own))

    def graded() -> tuple[str, str]:
        result = clawmem("eval", "run", "boats", "--json", cwd=work, env={"CLAWMEM_VAULT": str(vault_root)})
        (score,) = result.data["runs"][0]["scores"]
        return score["outcome"], " ".join(score["reasons"])

    assert graded()[0] == "not judged" and "is not allowed" in graded()[1]
    own_vault = Vault(vault_root, environment)
    allow_command(own_vault, plan_command(own_vault, caller, "./short.sh", work))
    assert graded() == ("passed", "")
    (work / "short.sh").write_text("#!/bin/sh\nexit 0\n")
    assert graded()[0] == "not judged", "the file has changed"


def test_a_rubric_is_judged_by_the_model_which_must_quote(
    clawmem: Command, vault_root: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    path = {"PATH": f"{tools}:{environment['PATH']}"}

    def judged(answer: dict[str, object]) -> tuple[str, str]:
        program = tools / "claude"
        program.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(answer)}'\n")
        program.chmod(0o755)
        result = clawmem("eval", "run", "boats", "--json", env=path)
        (score,) = result.data["runs"][0]["scores"]
        return score["outcome"], " ".join(score["reasons"])

    write(vault_root, "red", only="politeness")
    for key, value in (("llm.preset", "claude"), ("llm.model", "command")):
        assert clawmem("config", "set", "--user", key, value, env=path).code == 0
    good = {"pass": True, "score": 0.8, "quote": "The boat Bucket is red.", "reason": "It is polite."}
    assert judged(good) == ("passed", "")
    assert judged({**good, "quote": "The boat is made of gold."})[0] == "not judged"
    assert judged({**good, "pass": False, "score": 0, "reason": "It is rude."}) == ("failed", "llm-rubric: It is rude.")
