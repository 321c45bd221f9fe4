"""Highlighted words are those that the search itself finds: other forms, and with or without accents."""

from __future__ import annotations

import pytest

from clawmem.index.search.events import matched_spans
from clawmem.model.language.text import forms_of


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
