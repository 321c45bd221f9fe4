"""Words and stems of other languages, and text without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.language.languages import CHINESE, CODES, JAPANESE, languages_of, root, rows, spaced, words_of
from clawmem.model.language.question import search_words


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Where does Jürgen live?", ()),
        ("Oslo", ()),
        ("When did the cat die in Bremen?", ()),
        ("Wo wohnt Lena?", ("de",)),
        ("Où habite ma sœur ?", ("fr",)),
        ("¿Dónde vive Lucía?", ("es",)),
        ("Dove abita mia sorella?", ("it",)),
        ("Onde está o cavalo da minha irmã?", ("pt",)),
        ("Waar werkt Sanne?", ("nl",)),
        ("Gdzie pracuje Kasia?", ("pl",)),
        ("Где работает Маша?", ("ru",)),
        ("grüße", ("de",)),
        ("Mia's number", ()),
        ("son school", ()),
        ("come home", ()),
        ("Dove lavora Giulia?", ("it",)),
        ("姉の馬はどこ？", ("ja",)),
        ("姐姐的马在哪里？", ("zh",)),
    ],
)
def test_a_text_shows_its_language(text: str, codes: tuple[str, ...]) -> None:
    assert languages_of(text) == codes


@pytest.mark.parametrize(
    ("code", "forms"),
    [
        ("de", "Haus Häuser Hauses"),
        ("de", "arbeiten arbeitet gearbeitet"),
        ("fr", "cheval chevaux"),
        ("es", "trabaja trabajado"),
        ("it", "lavora lavorato"),
        ("pt", "trabalha trabalhou"),
        ("nl", "paard paarden"),
        ("pl", "drukarka drukarki drukarkę"),
        ("ru", "работает работала работаю"),
    ],
)
def test_forms_of_a_word_have_one_root(code: str, forms: str) -> None:
    assert len({root(code, form.lower()) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Wo hat Lena gearbeitet?", ("lena", "gearbeitet")),
        ("De quelle couleur est le vélo d'Hugo ?", ("couleur", "vélo", "hugo")),
        ("Где лошадь моей сестры?", ("лошадь", "сестры")),
        ("我们的牙医叫什么？", ("牙医",)),
        ("Dove abita mia zia Mia?", ("abita", "mia", "zia")),
        ("子供がきのこを食べますか？", ("子供", "きの", "のこ", "食")),
        ("サーバーはDebianですか", ("サー", "ーバ", "バー", "debian")),
        ("什么", ("什么",)),
    ],
)
def test_search_words_leave_out_the_words_of_most_sentences(question: str, words: tuple[str, ...]) -> None:
    assert search_words(question) == words


@given(st.text())
def test_every_text_has_its_words_and_its_characters(text: str) -> None:
    assert spaced(text).replace(" ", "") == text.replace(" ", "")
    assert all(search_words(text)) and (search_words(text) or not any(map(str.isalnum, text)))
    assert len(languages_of(text)) <= len(CODES)


@pytest.mark.parametrize("code", [*CODES, JAPANESE, CHINESE])
def test_each_language_has_its_rows(code: str) -> None:
    assert {"days", "units", "months", "numbers", "ago", "last", "why", "former"} <= rows(code).keys()
    assert [len(rows(code)[row]) for row in ("days", "months")][1] == 12
    assert words_of(code, "stop")
