"""Which texts are embedded: sentences that people say, and not the data that they paste."""

from __future__ import annotations

import json

from clawmem.index.refresh import run_query
from clawmem.index.vectors.embed import event_texts, fact_texts, note_texts
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
    short = 'Is {"a": 1}; right?'
    assert _embedded(clawmem, vault, text) == [text]
    assert _embedded(clawmem, vault, short) == [text, short]


def test_a_fact_has_the_title_of_its_entity_unless_it_names_it(clawmem: Command, vault: Vault) -> None:
    clawmem("remember", "The boat JANE is red.", "--entity", "areas/people/jane")
    clawmem("remember", "She plays the cello.", "--entity", "areas/people/jane")
    embedded = run_query(vault, lambda index: {text.words for text in fact_texts(index)})
    assert embedded == {"The boat JANE is red.", "Jane: She plays the cello."}


def test_notes_are_embedded_and_what_every_agent_reads_is_not(clawmem: Command, vault: Vault) -> None:
    with (vault.root / "MEMORY.md").open("a") as page:
        page.write("\nThe user lives in Oslo.\n")
    clawmem("note", "The harbour office moved.")
    stored = "SELECT count(*) FROM note WHERE text LIKE '%Oslo%'"
    assert run_query(vault, lambda index: index.database.execute(stored).fetchone()) == (1,)
    embedded = run_query(vault, lambda index: [text.words for text in note_texts(index)])
    assert any("harbour office" in words for words in embedded)
    assert not any("Oslo" in words for words in embedded)


def test_what_was_recalled_is_not_embedded_again(clawmem: Command, vault: Vault) -> None:
    clawmem("remember", "The user lives in Oslo.")
    recalled = clawmem("context", "Where do I live?").out
    assert "Oslo" in recalled
    assert _embedded(clawmem, vault, recalled) == []
