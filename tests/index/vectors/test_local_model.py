"""How a question gets its vector in a process that answers one, and in one that answers many."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.index.vectors.local_model import missing_packages
from tests.conftest import Command

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(bool(missing_packages()), reason="the extra `semantic` is not installed")

# Ask until the model is there; it is loaded beside the questions.
_MANY = """
from clawmem.index.vectors import local_model as module

question = "Where does she live now?"
assert module.vector_by_model(question) is None
module.expect_many_questions()
assert module.vector_by_model(question) in (None, module.LocalModel().embed(question))
module._Kept.loading.join()
assert module.vector_by_model(question) == module.LocalModel().embed(question)
"""


def test_a_process_that_answers_many_questions_loads_the_model(environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", _MANY]
    process = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    # onnxruntime keeps a device id and a queue for its telemetry there, unless it is switched off before its import.
    assert not (Path(environment["HOME"]) / ".cache").exists()


def test_a_command_loads_none(clawmem: Command, vault_root: Path, environment: dict[str, str]) -> None:
    assert clawmem("remember", "Jane moved to a flat in Leeds.").code == 0
    assert clawmem("heartbeat").code == 0
    command = [sys.executable, "-X", "importtime", "-m", "clawmem", "recall", "Where did Jane move?"]
    process = subprocess.run(command, cwd=vault_root, env=environment, capture_output=True, text=True, check=True)
    assert "Leeds" in process.stdout
    assert "clawmem.index.vectors.priors" in process.stderr
    assert "onnxruntime" not in process.stderr
