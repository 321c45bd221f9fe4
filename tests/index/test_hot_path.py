"""What a search may not import: each of these costs more than the search itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import Command

HEAVY = (
    "yaml rich git hashlib tempfile logging random secrets asyncio whoosh tiktoken litellm numpy onnxruntime"
    " clawmem.index.vector_channel clawmem.index.vectors clawmem.index.embed clawmem.vault.spending"
    " clawmem.index.intake clawmem.model.common_words clawmem.model.summary clawmem.model.question_time"
    " clawmem.memory.places"
).split()


def test_a_search_imports_nothing_heavy(clawmem: Command, vault_root: Path, environment: dict[str, str]) -> None:
    clawmem("remember", "Jane likes tea")
    clawmem("recall", "tea")
    code = (
        "import json, sys; from clawmem.faces.cli.app import run;\n"
        "run(['recall', 'what does jane drink', '--quiet']); print(json.dumps(sorted(sys.modules)))"
    )
    del environment["CLAWMEM_SEED"]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=vault_root, env=environment, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "clawmem.index.fts_engine" in loaded
    assert loaded.isdisjoint(HEAVY), sorted(loaded & set(HEAVY))
