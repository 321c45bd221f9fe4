"""Forgetting on request: hidden at once from what is served, decided by a person, and brought back."""

from __future__ import annotations

import json

import pytest

from clawmem.memory.facts.forget import means, telling_words
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")


def say(clawmem: Command, text: str, **keys: str) -> list[str]:
    """Store a message of the user, and return the notices."""
    record = {"role": "user", "content": text, **keys}
    done = clawmem("ingest", "-", "--format", "jsonl", "--json", given=json.dumps(record))
    assert done.code == 0, done.err
    return [one for one in json.loads(done.out)["notices"] if "Forget" in one]


def served(clawmem: Command, question: str) -> str:
    return clawmem("recall", question).out + clawmem("context", question).out


@pytest.mark.parametrize(
    ("request_", "fact", "meant"),
    [
        ("alice@acme.io", "The mail of Alice is alice@acme.io.", True),
        ("alice@acme.io", "Alice Smith has alice.smith@acme.io.", False),
        ("Alice", "Alice Smith lives in Bern.", False),
        ("Alice Smith", "Alice Smith lives in Bern.", True),
        ("that I live in Oslo", "The user lives in Oslo.", True),
        ("that I live in Oslo", "The user works in Oslo.", False),
        ("port 80", "The server listens on port 8080.", False),
        ("staging", "Deploys go to staging-2.", False),
        ("York", "The office is in New York.", False),
        ("dass ich in Bergen wohne", "Der Nutzer wohnt in Bergen.", True),
        ("que vivo en Oslo", "El usuario vive en Oslo.", True),
        ("que j'habite à Lyon", "L'utilisateur habite à Lyon.", True),
    ],
)
def test_what_words_mean(request_: str, fact: str, meant: bool) -> None:
    assert means(telling_words(request_), fact) is meant


@pytest.mark.parametrize(
    ("statement", "request_", "question"),
    [
        ("The user lives in Oslo.", "Forget that I live in Oslo.", "where does the user live"),
        (
            "The old callback line is +41 44 123.",
            "Please delete the old callback line from shared memory",
            "callback line",
        ),
        ("Der Nutzer wohnt in Bergen.", "Vergiss bitte, dass ich in Bergen wohne.", "Bergen"),
        ("El usuario vive en Sevilla.", "Olvida que vivo en Sevilla.", "Sevilla"),
        ("L'utilisateur habite à Lyon.", "Oublie que j'habite à Lyon.", "Lyon"),
    ],
)
def test_a_request_hides_at_once_and_a_person_decides(
    clawmem: Command, statement: str, request_: str, question: str
) -> None:
    fact = clawmem("remember", statement, "--json").data["facts"][0]["id"]
    clawmem("remember", "The user has a dog.")
    say(clawmem, f"As I said: {statement}")
    assert fact in served(clawmem, question)
    [notice] = say(clawmem, request_)
    assert statement in notice
    assert statement.rstrip(".") not in served(clawmem, question), "hidden before any heartbeat"
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert (waiting["kind"], [one["id"] for one in waiting["targets"]]) == ("forget", [fact])
    clawmem("heartbeat")
    assert statement.rstrip(".") not in served(clawmem, question)
    assert "has a dog" in served(clawmem, "dog")
    assert clawmem("review", "reject", waiting["id"], "--reason", "it stays").code == 0
    assert statement in served(clawmem, question), "rejected, it is shown again"
    assert clawmem("show", fact, "--json").data["fact"]["status"] == "active"
    assert clawmem("doctor").code == 0


def test_undo_brings_back_and_approval_keeps_it_hidden(clawmem: Command) -> None:
    clawmem("remember", "The user lives in Oslo.")
    say(clawmem, "forget that I live in Oslo")
    commit = clawmem("log", "--json", "--limit", "1").data["history"][-1]["commit"]
    assert clawmem("undo", commit).code == 0
    assert "lives in Oslo" in served(clawmem, "Oslo")
    assert clawmem("review", "list", "--json").data["proposals"] == []
    say(clawmem, "Please forget that I live in Oslo!")
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert clawmem("review", "approve", waiting["id"]).code == 0
    assert "lives in Oslo" not in served(clawmem, "Oslo")


@pytest.mark.parametrize("text", ["forget it", "Don't forget that I live in Oslo.", "Delete the tests of Oslo, please.",
                                  'Translate: "forget that I live in Oslo"'])  # fmt: skip
def test_what_is_no_request_hides_nothing(clawmem: Command, text: str) -> None:
    clawmem("remember", "The user lives in Oslo.")
    assert say(clawmem, text) == []
    assert "lives in Oslo" in served(clawmem, "Oslo")


def test_nobody_else_asks(clawmem: Command) -> None:
    clawmem("remember", "The user lives in Oslo.")
    for role in ("assistant", "tool", "system"):
        record = json.dumps({"role": role, "content": "Forget that I live in Oslo."})
        clawmem("ingest", "-", "--format", "jsonl", given=record)
    clawmem("heartbeat")
    assert "lives in Oslo" in served(clawmem, "Oslo")


def test_a_reader_says_what_is_meant(clawmem: Command) -> None:
    fact = clawmem("remember", "The user lives in Oslo.", "--json").data["facts"][0]["id"]
    clawmem("remember", "The user works in Oslo.")
    say(clawmem, "The thing about where I am at home in Oslo, please don't keep it any longer.")
    task = clawmem("learn", "pending", "--json").data
    label = next(line.split()[0] for line in task["task"].splitlines() if "lives in Oslo" in line)
    answer = json.dumps({"task": task["id"], "facts": [], "forget": {"1": [label]}})
    done = clawmem("learn", "apply", "-", given=answer)
    assert done.code == 0, done.err
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert [one["id"] for one in waiting["targets"]] == [fact]
    found = served(clawmem, "Oslo")
    assert "lives in Oslo" not in found
    assert "at home in Oslo" not in found
    assert "works in Oslo" in found


def test_a_reader_names_a_message_of_which_nothing_was_stored(clawmem: Command) -> None:
    texts = (
        "The interview with Fjord Bank is on Thursday.",
        "The cat is asleep.",
        "What I told you of Thursday: drop it.",
    )
    records = [json.dumps({"role": "user", "content": text, "session": "s"}) for text in texts]
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(records))
    task = clawmem("learn", "pending", "--json").data
    answer = json.dumps({"task": task["id"], "facts": [], "forget": {"3": ["1"]}})
    done = clawmem("learn", "apply", "-", given=answer)
    assert done.code == 0, done.err
    assert "Fjord" not in served(clawmem, "interview Fjord Bank") and "cat" in served(clawmem, "cat asleep")
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    decided = clawmem("review", "reject", waiting["id"], "--reason", "it stays")
    assert decided.code == 0, decided.err
    assert "Fjord" in served(clawmem, "interview Fjord Bank"), decided.out


def test_the_verb_shows_first(clawmem: Command) -> None:
    clawmem("remember", "The mail of Alice is alice@acme.io.")
    clawmem("remember", "Alice Smith has alice.smith@acme.io.")
    shown = clawmem("forget", "alice@acme.io")
    assert (shown.out.count("fact_"), "Nothing is hidden yet" in shown.err) == (1, True)
    assert "alice@acme.io" in served(clawmem, "mail of Alice")
    assert clawmem("forget", "alice@acme.io", "--yes").code == 0
    found = served(clawmem, "mail of Alice")
    assert "is alice@acme.io" not in found
    assert "alice.smith@acme.io" in found
    assert clawmem("forget", "Kestrel").code == 1


def test_the_words_in_which_it_was_said_count(clawmem: Command) -> None:
    say(clawmem, "Ich esse kein Fleisch.", session="s1")
    task = clawmem("learn", "pending", "--json").data
    fact = {"e": 1, "q": "Ich esse kein Fleisch", "s": "The user isst kein Fleisch.", "c": "preference"}
    clawmem("learn", "apply", "-", given=json.dumps({"task": task["id"], "facts": [fact]}))
    assert "isst kein Fleisch" in served(clawmem, "Fleisch")
    assert len(say(clawmem, "Vergiss bitte, dass ich kein Fleisch esse.")) == 1
    assert "Fleisch" not in served(clawmem, "Fleisch")
