"""Each transcript in this folder matches the output of the real commands. CLAWMEM_UPDATE_TRANSCRIPTS=1 updates them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.answers import check_document, clawmem_calls
from tests.command_server import CommandServer
from tests.needs import HAS_LOCAL_MODEL, NO_LOCAL_MODEL
from tests.transcripts.transcript import Stage, Step, read, render

HERE = Path(__file__).parent
# Read before the fixtures scrub the environment.
UPDATE = os.environ.get("CLAWMEM_UPDATE_TRANSCRIPTS") == "1"
_EMBEDS = re.compile(r'^embedded \d|"embedded": \{', re.MULTILINE)


@pytest.mark.parametrize("path", sorted(HERE.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(
    path: Path, tmp_path: Path, vault_root: Path, environment: dict[str, str], command_server: CommandServer
) -> None:
    text = path.read_text(encoding="utf-8")
    if _EMBEDS.search(text) and not HAS_LOCAL_MODEL:
        pytest.skip(NO_LOCAL_MODEL)
    stage = Stage(tmp_path, vault_root, environment, command_server)
    now = [Step(step.remarks, step.command, stage.run(step.command)) for step in read(text)]
    assert now, f"{path.name} holds no command"
    assert "clawmem has a bug" not in render(now), render(now)
    for step in now:
        documents = [line for line in step.printed if line.startswith('{"schema_version"')]
        if documents:
            calls = [words for words in clawmem_calls(step.command.partition("<<")[0]) if "--json" in words]
            for words, document in zip(calls, documents, strict=True):
                assert check_document(words, document), words
    if UPDATE:
        path.write_text(render(now), encoding="utf-8")
    else:
        assert render(now) == text
