"""The local model: one vector for a text whatever it holds, and a reason where it cannot be loaded."""

from __future__ import annotations

import subprocess
import sys
from operator import mul
from pathlib import Path

import pytest

from clawmem.errors import ModelFailed
from clawmem.index.vectors import local_model
from clawmem.index.vectors.local_model import NUMBERS, LocalModel, question_vector
from tests.conftest import Command
from tests.needs import needs_local_model


@needs_local_model
def test_every_text_has_a_vector_of_length_one() -> None:
    model = LocalModel(whole=False)
    for text in ("", "\0", "a\0b", "\ud83d", "한국어 👍", "x" * 300, "word " * 600):
        vector = model.embed(text)
        assert len(vector) == NUMBERS
        assert sum(map(mul, vector, vector)) == pytest.approx(1, abs=0.001)
    assert model.embed("a\0b") == model.embed("a\0b")


@needs_local_model
def test_of_a_long_question_the_beginning_counts_and_a_question_is_no_text() -> None:
    long = "Where does she live now? " * 100
    assert question_vector(long) == question_vector(long + "Or not?")
    assert question_vector("Where does she live?") != LocalModel(whole=False).embed("Where does she live?")


def test_a_model_that_cannot_run_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_model, "PACKAGES", ("no_such_package",))
    with pytest.raises(ModelFailed, match="no_such_package is not installed"):
        LocalModel()
    with pytest.raises(ModelFailed, match="is not the supported version"):
        local_model._check(tmp_path / "none.bin", whole=False)
    with pytest.raises(ModelFailed, match="engine of the local embedding model cannot be loaded"):
        local_model._load(tmp_path)
    monkeypatch.setattr(local_model, "_can_run", lambda: False)
    with pytest.raises(ModelFailed, match="AVX2"):
        local_model._load(tmp_path)


@needs_local_model
def test_without_the_package_a_vault_with_vectors_is_searched_by_words(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    assert clawmem("remember", "Jane moved to a flat in Leeds.").code == 0
    assert clawmem("heartbeat").code == 0
    code = (
        "import sys; from clawmem.index.vectors import local_model; local_model.PACKAGES = ('no_such_package',)\n"
        "from clawmem.faces.cli.app import run; run(['recall', sys.argv[1]])"
    )
    unpinned = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
    process = subprocess.run(
        [sys.executable, "-c", code, "Where did Jane move?"],
        cwd=vault_root, env=unpinned, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Leeds" in process.stdout
