"""What a search may not import: each of these costs more than the search itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import Command

HEAVY = (
    "yaml rich git hashlib tempfile logging random secrets asyncio whoosh tiktoken litellm numpy ctypes"
    " clawmem.index.vectors.store clawmem.index.vectors.embed"
    " clawmem.vault.state.spending clawmem.index.tables.intake"
    " clawmem.model.pages.summary clawmem.model.language.date_words clawmem.memory.entities.places"
    " clawmem.model.records.parsing clawmem.model.merging.files clawmem.memory.health.checks.reading"
).split()


def test_a_search_imports_nothing_heavy(clawmem: Command, vault_root: Path, environment: dict[str, str]) -> None:
    clawmem("remember", "Jane likes tea")
    clawmem("recall", "tea")
    code = (
        "import json, sys; from clawmem.faces.cli.app import run;\n"
        "run(['recall', 'what does jane drink', '--quiet']); print(json.dumps(sorted(sys.modules)))"
    )
    del environment["CLAWMEM_SEED"]
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=vault_root, env=environment, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(process.stdout.splitlines()[-1]))
    assert "clawmem.index.tables.keyword" in loaded
    assert loaded.isdisjoint(HEAVY), sorted(loaded & set(HEAVY))


def test_a_search_with_its_text_for_a_prompt_opens_the_index_once(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    clawmem("remember", "Jane likes tea")
    clawmem("note", "Jane drank tea in the garden.")
    clawmem("recall", "tea")
    code = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, given: opened.append(given) if event == 'sqlite3.connect' else None)\n"
        "from clawmem.faces.cli.plain import run_plain\n"
        "run_plain(['recall', 'tea', '--json']); print(len(opened))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=vault_root, env=environment, capture_output=True, text=True, check=True
    )
    answer, opened = process.stdout.splitlines()
    data = json.loads(answer)["data"]
    assert data["notes"] and "the garden" in data["context"]["text"]
    assert opened == "1"
