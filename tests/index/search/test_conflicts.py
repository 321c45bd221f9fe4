"""Words of a question that differ in one letter from a word of the memory."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Command, Once

TEXTS = (
    "Jonathan Whitfield plays the accordion.",
    "The greenhouse needs new panes.",
    "A planet is on the poster.",
    "Priya's birthday is on 4 May.",
)


SLIPS = (
    ("acordion", TEXTS[0], "no text has 'acordion', read as 'accordion'"),
    ("Who is Whitfeild?", TEXTS[0], "no text has 'whitfeild', read as 'whitfield'"),
    ("greenhuose", TEXTS[1], "no text has 'greenhuose', read as 'greenhouse'"),
    ("When was pirya born?", TEXTS[3], "no text has 'pirya', read as 'priya'"),
    ("the birthdy", TEXTS[3], "no text has 'birthdy', read as 'birthday'"),
    ("accord", TEXTS[0], "no text has 'accord', read as 'accordion'"),
)


@pytest.fixture
def stored(once: Once, clawmem: Command) -> Command:
    def build() -> None:
        for text in TEXTS:
            clawmem("remember", text)

    once(build)
    return clawmem


@pytest.mark.parametrize("engine", ["fts5", "whoosh"])
def test_a_slip_of_one_letter_finds(stored: Command, engine: str) -> None:
    stored("config", "set", "index.keyword", engine)
    for question, text, read_as in SLIPS:
        answer = stored("recall", question, "--json")
        assert [fact["fact"] for fact in answer.data["facts"]][:1] == [text], question
        assert read_as in answer.json["notices"]
        context = stored("context", question, "--budget", "200").out
        assert text in context, question
        assert read_as in context


@pytest.mark.parametrize("question", ["Where is the plane?", "Who is Whetfold?", "What about the accordion?"])
def test_other_words_are_read_as_they_are(stored: Command, question: str) -> None:
    assert not [notice for notice in stored("recall", question, "--json").json["notices"] if "read as" in notice]


pytestmark = pytest.mark.usefixtures("without_vectors")

# Of each language: facts, and for each a question with other forms of its words.
ASKED = {
    "de": {
        "Tante Elsa hat drei Schafe im Garten.": "Welches Schaf gehört der Tante?",
        "Die Heizung wird jeden Herbst gewartet.": "Wann ist die Heizungswartung, wann warten wir die Heizungen?",
        "Karl arbeitet in der Bäckerei am Markt.": "Wo hat Karl früher gearbeitet?",
    },
    "fr": {
        "Le voisin répare des bateaux en bois.": "Qui a réparé le bateau ?",
        "Les travaux de la cuisine commencent en juin.": "Quand est le travail dans la cuisine ?",
    },
    "es": {
        "Las llaves de repuesto están en el cajón azul.": "¿Dónde está la llave de repuesto?",
        "El abuelo cultiva tomates en la terraza.": "¿Qué cultivaba el abuelo, un tomate?",
    },
    "it": {
        "Le chiavi di riserva sono nel cassetto blu.": "Dov'è la chiave di riserva?",
        "Il nonno coltiva pomodori sul terrazzo.": "Che cosa coltivava il nonno?",
    },
    "pt": {
        "As chaves de reserva estão na gaveta azul.": "Onde está a chave de reserva?",
        "O avô cultiva tomates no terraço.": "O que é que o avô cultivava?",
    },
    "nl": {
        "De reservesleutels liggen in de blauwe lade.": "Waar ligt de reservesleutel?",
        "Opa kweekt tomaten op het terras.": "Welke tomaat heeft opa gekweekt?",
    },
    "pl": {
        "Zapasowe klucze są w niebieskiej szufladzie.": "Gdzie jest zapasowy klucz?",
        "Dziadek hoduje pomidory na tarasie.": "Jakiego pomidora hodował dziadek?",
    },
    "ru": {
        "Запасные ключи лежат в синем ящике.": "Где лежит запасной ключ?",
        "Дедушка выращивает помидоры на балконе.": "Что выращивал дедушка, какой помидор?",
    },
    "ja": {
        "予備の鍵は青い引き出しにある。": "予備の鍵はどこですか？",
        "祖父はベランダでトマトを育てている。": "祖父は何を育てましたか？",
    },
    "zh": {
        "备用钥匙在蓝色的抽屉里。": "备用钥匙放在哪里？",
        "爷爷在阳台上种西红柿。": "爷爷种了什么？",
    },
}


@pytest.mark.parametrize("engine", ["fts5", "whoosh"])
def test_a_question_finds_what_says_the_same_in_other_forms(clawmem: Command, engine: str) -> None:
    clawmem("config", "set", "index.keyword", engine)
    facts = [json.dumps({"fact": fact}) for asked in ASKED.values() for fact in asked]
    assert clawmem("remember", "--jsonl", "-", given="\n".join(facts)).code == 0
    for code, asked in ASKED.items():
        for fact, question in asked.items():
            found = json.loads(clawmem("--json", "recall", question).out)["data"]["facts"]
            assert [each["fact"] for each in found[:1]] == [fact], (code, question)


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("Was haben wir letzten Dienstag gemacht?", "2026-11-17"),
        ("Qu'avons-nous fait il y a trois jours ?", "2026-11-18"),
    ],
)
def test_days_in_words(clawmem: Command, question: str, day: str) -> None:
    clawmem("note", "--date", day, "Schwimmbad")
    assert "Schwimmbad" in clawmem("recall", question).out
