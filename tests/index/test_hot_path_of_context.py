"""What a context may not import: nothing is tokenised while somebody waits for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.index.test_hot_path import HEAVY


@pytest.mark.parametrize("items", [["context"], ["context", "what does jane drink"]])
def test_a_context_imports_nothing_heavy(
    clawmem: Command, vault_root: Path, environment: dict[str, str], items: list[str]
) -> None:
    clawmem("remember", "Jane likes tea")
    clawmem("recall", "tea")
    code = (
        "import json, sys; from clawmem.faces.cli.app import run;\n"
        f"run({[*items, '--quiet']!r}); print(json.dumps(sorted(sys.modules)))"
    )
    del environment["CLAWMEM_SEED"]
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=vault_root, env=environment, capture_output=True, text=True, check=True
    )
    assert "- Jane likes tea (2026-11-21)" in process.stdout
    loaded = set(json.loads(process.stdout.splitlines()[-1]))
    assert "clawmem.serving.context.context" in loaded
    assert loaded.isdisjoint(HEAVY), sorted(loaded & set(HEAVY))
