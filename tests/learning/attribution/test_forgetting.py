"""What a speaker asks to forget, by its words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawmem.learning.attribution.forgetting import asked_to_forget
from clawmem.memory.facts.targets import ITSELF, JUST_SAID, Named
from tests.conftest import Command

# Of each language: sentences of everyday life with the verbs, and requests with the words that name what is meant.
SENTENCES = json.loads(Path(__file__).with_name("forgetting.json").read_text())


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("Don't remember this: my salary is 5000", (ITSELF, ("my salary is 5000",))),
        ("Don't remember this:\nmy salary is 5000", (ITSELF,)),
        ("Please forget the following - B-17 and the rest", (ITSELF, ("B-17 and the rest",))),
        ("Don't store this: my salary is 5000", (ITSELF, ("my salary is 5000",))),
        ("Merk dir das nicht: mein Gehalt ist 5000", (ITSELF, ("mein Gehalt ist 5000",))),
        ("no recuerdes esto: mi sueldo es 5000", (ITSELF, ("mi sueldo es 5000",))),
        ("Don't store this: the build output", ()),
        ("Don't remember this, it was wrong", (JUST_SAID,)),
        ("never mind, don't remember that", (JUST_SAID,)),
    ],
)
def test_what_follows_is_meant_and_not_what_was_said_before(text: str, targets: tuple[Named, ...]) -> None:
    assert asked_to_forget(text) == targets


@pytest.mark.usefixtures("without_vectors")
def test_a_text_that_is_not_to_be_remembered_leaves_the_message_before_it(clawmem: Command) -> None:
    rows = [
        {"role": "user", "content": "From now on use tabs, not spaces, in this project.", "session": "s1"},
        {"role": "user", "content": "Don't remember this: my salary is 5000.", "session": "s1"},
        {"role": "assistant", "content": "Fine, your salary of 5000 stays with me.", "session": "s1"},
    ]
    for row in rows:
        assert clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(row)).code == 0
    clawmem("heartbeat")
    assert "tabs" in clawmem("list").out, "the standing order is learned"
    assert "5000" not in clawmem("recall", "salary 5000").out
    assert [row["kind"] for row in clawmem("review", "list", "--json").data["proposals"]] == ["forget"]


@pytest.mark.parametrize("code", SENTENCES["everyday"])
def test_everyday_sentences_with_the_verbs_ask_for_nothing(code: str) -> None:
    sentences = SENTENCES["everyday"][code]
    assert len(set(sentences)) == 40
    assert [text for text in sentences if asked_to_forget(text)] == []


@pytest.mark.parametrize("code", SENTENCES["requests"])
def test_requests_in_other_languages(code: str) -> None:
    for text, words in SENTENCES["requests"][code].items():
        assert any(words in wording for target in asked_to_forget(text) for wording in target), text


@pytest.mark.usefixtures("without_vectors")
def test_what_is_asked_in_another_language_is_hidden(clawmem: Command) -> None:
    requests = [
        ("Abito a Torino.", "Dimentica che abito a Torino."),
        ("O meu salário é de 3000 euros.", "Esquece o que te disse sobre o meu salário."),
        ("Ik heb astma.", "Onthoud niet dat ik astma heb."),
        ("Mieszkam w Gdańsku.", "Zapomnij, że mieszkam w Gdańsku."),
        ("Моя зарплата 90000 рублей.", "Забудь, что я говорила о моей зарплате."),
        ("福岡に住んでいる。", "私が福岡に住んでいることを忘れて。"),
        ("我住在成都。", "忘记我住在成都。今天天气很好。"),
    ]
    facts = [*(fact for fact, _ in requests), "The bakery opens at six."]
    clawmem("remember", "--jsonl", "-", given="".join(json.dumps({"fact": fact}) + "\n" for fact in facts))
    assert len(clawmem("list", "--json").data["facts"]) == len(facts)
    for fact, request_to_forget in requests:
        clawmem("ingest", "-", "--format", "jsonl", given=json.dumps({"role": "user", "content": request_to_forget}))
        facts.remove(fact)
        assert {other["fact"] for other in clawmem("list", "--json").data["facts"]} == set(facts), request_to_forget
