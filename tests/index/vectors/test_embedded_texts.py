"""Which texts are embedded: sentences that people say, and not the data that they paste."""

from __future__ import annotations

import json

from clawmem.index.refresh.refresh import run_query
from clawmem.index.vectors.embedded_texts import event_texts
from clawmem.vault.vault import Vault
from tests.conftest import Command

SENTENCE = "We moved the harbour office to the second floor of the old customs house. "


def _embedded(clawmem: Command, vault: Vault, text: str) -> list[str]:
    line = json.dumps({"role": "user", "content": text})
    assert clawmem("ingest", "-", given=line).code == 0
    return [found.words for found in run_query(vault, lambda index: list(event_texts(index)))]


def test_pasted_data_is_found_by_words_and_costs_no_vector(clawmem: Command, vault: Vault) -> None:
    rows = json.dumps([{"id": number, "name": "mast", "tags": ["a", "b"]} for number in range(2000)])
    embedded = _embedded(clawmem, vault, f"{SENTENCE * 12}{rows}")
    assert 1 <= len(embedded) <= 2 and SENTENCE.strip() in embedded[0]
    assert "customs house" in clawmem("recall", "mast").out


def test_of_a_very_long_text_the_beginning_is_embedded(clawmem: Command, vault: Vault) -> None:
    assert len(_embedded(clawmem, vault, SENTENCE * 1000)) == 32


def test_a_question_with_code_in_it_is_embedded(clawmem: Command, vault: Vault) -> None:
    text = "Why does `rows[0]` fail here: def first(rows): return rows[0] if rows else None?"
    assert _embedded(clawmem, vault, text) == [text]
