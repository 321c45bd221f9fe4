"""The same suite in promptfoo itself, through its `exec:` provider: `make harness`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.harness
PROGRAM = Path(__file__).parent.parent.parent / ".harness" / "node_modules" / ".bin" / "promptfoo"
OWN = """\
description: What promptfoo does not know is graded by the provider
metadata:
  fixtures: [remember 'The boat is red.' --entity=projects/boat]
tests:
  - description: holds
    vars: {command: recall boat --json, colour: red}
    assert: [{type: is-json}, {type: not-icontains, value: blue}, {type: regex, value: 'boat is {{colour}}'}]
    metadata: {assert: [{type: json-path, value: {path: '$.data.facts[0].fact', contains: red}}]}
  - description: does not hold
    vars: {command: recall boat --json}
    assert: [{type: is-json}]
    metadata: {assert: [{type: json-path, value: {path: '$.data.facts[0].fact', contains: blue}}]}
  - description: a threshold
    vars: {question: Which colour is the boat?}
    threshold: 0.6
    assert: [{type: icontains, value: red, weight: 2}, {type: contains, value: RED}]
"""


def passed_in_promptfoo(path: Path, environment: dict[str, str]) -> dict[str, bool]:
    """Run a suite with promptfoo. Its exit code is 100 where a test fails."""
    out = path.with_suffix(".json")
    words = ["eval", "-c", str(path), "--no-cache", "--no-table", "--no-progress-bar", "-o", str(out)]
    process = subprocess.run([str(PROGRAM), *words], env=environment, cwd=path.parent, capture_output=True, timeout=300)
    assert process.returncode in (0, 100), process.stderr.decode()[-2000:]
    rows = json.loads(out.read_text())["results"]["results"]
    return {row["testCase"]["description"]: row["success"] for row in rows}


def test_promptfoo_and_clawmem_agree(tmp_path: Path, vault_root: Path, environment: dict[str, str]) -> None:
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "CLAWMEM_VAULT": str(vault_root)}
    environment |= {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    environment["PROMPTFOO_CONFIG_DIR"] = str(tmp_path / "promptfoo")

    def clawmem(*words: str) -> str:
        process = subprocess.run(["clawmem", *words], env=environment, capture_output=True, text=True, timeout=120)
        assert process.stdout, process.stderr
        return process.stdout

    folder = vault_root / "governance" / "evals"
    folder.mkdir(parents=True)
    (folder / "plain.yaml").write_text(OWN)
    (folder / "own.yaml").write_text(clawmem("eval", "show", "plain"))
    (folder / "world.yaml").write_text(clawmem("eval", "show", "memory", "--size", "4"))
    for name in ("own", "world"):
        run = json.loads(clawmem("eval", "run", name, "--arm", "memory", "--json"))["data"]["runs"][0]
        ours = {score["test"]: score["outcome"] == "passed" for score in run["scores"]}
        assert passed_in_promptfoo(folder / f"{name}.yaml", environment) == ours
        assert len(set(ours.values())) == 2, "some pass and some fail"
