"""Highlighted words are those that the search itself finds: other forms, and with or without accents."""

from __future__ import annotations

import json

import pytest

from clawmem.index.refresh import open_index
from clawmem.index.search.events import events_of_sessions, matched_spans
from clawmem.model.language.text import forms_of
from clawmem.vault.vault import Vault
from tests.conftest import Command


def matched(text: str, *words: str) -> list[str]:
    forms = [form for word in words for form in forms_of(word)]
    return [text[start:end] for start, end in matched_spans([text], forms)[0]]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("Jane lives in Oslo.", ["live", "jane"], ["Jane", "lives"]),
        ("Müller trinkt im Café.", ["cafe", "muller"], ["Müller", "Café"]),
        ("Cafe\u0301s of Jose\u0301", ["café", "josé"], ["Cafe\u0301s", "Jose\u0301"]),
        ("She went there and is going again.", ["go"], ["went", "going"]),
        ("I don't know.", ["don't"], ["don't"]),
        ("It is e-mail, not mail.", ["e-mail"], ["e-mail"]),
        ("a living in a liver", ["live"], ["living"]),
        ("東京 and Oslo", ["東京"], ["東京"]),
        ("nothing here", ["zebra"], []),
        ("OR AND NOT NEAR", ["or"], ["OR"]),
        ('a "quoted" word* ^x', ['"quoted"'], ["quoted"]),
        ("marks \x02in\x03 the text", ["text"], ["text"]),
        ("no words", ["!?"], []),
    ],
)
def test_matched_words(text: str, words: list[str], found: list[str]) -> None:
    assert matched(text, *words) == found


def test_several_texts_keep_their_order() -> None:
    texts = ["tea", "", "coffee", "teas and tea"]
    assert matched_spans(texts, ["tea"]) == [[(0, 3)], [], [], [(0, 4), (9, 12)]]
    assert matched_spans(texts, []) == [[], [], [], []]
    assert matched_spans([], ["tea"]) == []


def test_the_messages_of_many_sessions_are_found_by_one_query_that_reads_no_other(
    clawmem: Command, vault: Vault
) -> None:
    rows = [{"role": "user", "content": f"Tea {at}.", "session": f"s{at % 4}"} for at in range(8)]
    assert clawmem("ingest", "-", given="".join(json.dumps(row) + "\n" for row in rows)).code == 0
    index = open_index(vault)
    asked: list[str] = []
    index.database.set_trace_callback(asked.append)
    found = events_of_sessions(index, ["s1", "s2", "none"])
    index.database.set_trace_callback(None)
    assert sorted(event.text for event in found) == ["Tea 1.", "Tea 2.", "Tea 5.", "Tea 6."]
    plans = [str(index.database.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()) for query in asked]
    index.close()
    assert 0 < len(plans) < 3 and not any("SCAN event" in plan for plan in plans)
