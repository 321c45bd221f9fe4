"""Forgetting on request: hidden at once from what is served, decided by a person, and brought back."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from clawmem.errors import NotFound
from clawmem.learning.ingest import ingest
from clawmem.memory.facts.forget import forget, plan_forgetting
from clawmem.memory.facts.remember import remember
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event
from clawmem.model.search.meant import means, telling_words
from clawmem.model.transcripts.message import Message
from clawmem.vault.vault import Vault
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")


def say(clawmem: Command, text: str, **keys: str) -> list[str]:
    """Store a message of the user, and return the notices."""
    record = {"role": "user", "content": text, **keys}
    result = clawmem("ingest", "-", "--format", "jsonl", "--json", given=json.dumps(record))
    assert result.code == 0, result.err
    return [notice for notice in json.loads(result.out)["notices"] if "Forget" in notice]


def say_all(clawmem: Command, texts: list[str], **keys: str) -> None:
    """Store messages of the user, one after the other."""
    lines = (json.dumps({"role": "user", "content": text, **keys}) for text in texts)
    assert clawmem("ingest", "-", "--format", "jsonl", given="\n".join(lines)).code == 0


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
        ("NORD-LYS 4", "Some write nord lys 4 for it.", True),
        ("moss_heron.88", "The account is MossHeron88.", True),
        ("MOSS-HERON", "The account is moss heron 88.", True),
        ("moss_heron.88", "The account is MossHeron881.", False),
        ("ann.lee@x.org", "Her mail is annlee@x.org.", False),
        ("4 Linden Row", "Ann lives at 4 Linden Row.", True),
        ("4 Linden Row", "Bea lives at 14 Linden Row.", False),
        ("4 Linden Row", "Linden Row has cobbles.", False),
        ("port 80", "The server listens on port 8080.", False),
        ("staging", "Deploys go to staging-2.", False),
        ("York", "The office is in New York.", False),
        ("dass ich in Bergen wohne", "Der Nutzer wohnt in Bergen.", True),
        ("que vivo en Oslo", "El usuario vive en Oslo.", True),
        ("que j'habite à Lyon", "L'utilisateur habite à Lyon.", True),
        ("walking", "The user walks.", True),
        ("cats", "The user has a cat.", False),
        ("Oslo and Bergen", "The user lives in Oslo.", False),
        ("Oslo and Bergen", "From Bergen to Oslo.", True),
        ("PORT 8080", "The port is 8080.", True),
        ("mail ops@acme.io", "Write a mail to OPS@acme.io!", True),
        ("York", "The user lives in York, England.", True),
        ("York", "The York office is small.", True),
        ("York", "York University is small.", False),
        ("York University", "York University is small.", True),
        ("york", "The user lives in york.", True),
        ("Alice", "It was Alice Smith, and Alice knew.", True),
        ("my everything", "The user has everything.", False),
        ("a", "a", False),
        ("Ann", "Anna likes tea.", False),
        ("Ann", "Ann likes tea.", True),
        ("user alex", "User alexa may read.", False),
        ("Anns", "Ann likes tea.", True),
        ("Robert", "The Roberts family moved.", False),
        ("Hunde", "Sie füttert den Hunden.", True),
        ("491701234567", "Bob's phone is +49 170 1234567.", True),
        ("+49 170 123 45 67", "Bob's phone is (+49170)1234567.", True),
        ("+49 170 1234567", "Bob's number is +49 170 12345678.", False),
        ("2026-11-01", "The lease ends on 2026-11-01 10:00.", True),
        ("0170-1234567", "Bob's phone is +49 170 123 45 67.", True),
        ("0049 170 1234567", "Bob's phone is 0170 1234567.", True),
        ("+44 170 1234567", "Bob's phone is +49 170 1234567.", False),
        ("0170 1234567", "Bob's phone is +49 1170 1234567.", False),
        ("KV42", "The code is ＫＶ４２.", True),
        ("1472", "The number is one four seven two.", True),
        ("147", "The number is one four seven two.", False),
        ("ann@x.org", "Write to ann at x dot org.", True),
        ("ann@x.org", "Write to ann.lee (at) x.org.", False),
    ],
)
def test_what_words_mean(request_: str, fact: str, meant: bool) -> None:
    assert means(telling_words(request_), fact) is meant


@pytest.mark.parametrize(
    ("statement", "request_", "question"),
    [
        ("Der Nutzer wohnt in Bergen.", "Vergiss bitte, dass ich in Bergen wohne.", "Bergen"),
        ("El usuario vive en Sevilla.", "Olvida que vivo en Sevilla.", "Sevilla"),
        ("L'utilisateur habite à Lyon.", "Oublie que j'habite à Lyon.", "Lyon"),
    ],
)
def test_a_request_in_any_language_hides_a_fact(clawmem: Command, statement: str, request_: str, question: str) -> None:
    clawmem("remember", statement)
    assert statement in clawmem("recall", question).out
    [notice] = say(clawmem, request_)
    assert statement in notice
    assert statement.rstrip(".") not in served(clawmem, question)


@pytest.mark.parametrize(
    ("statement", "request_", "question"),
    [
        ("The user lives in Oslo.", "Forget that I live in Oslo.", "where does the user live"),
        ("Priya owns the parser.", "delete the memory that Priya owns the parser", "who owns the parser"),
        ("Nadia's private number is 555 0199.", "Wait, she hates that. Please forget Nadia's private number.", "Nadia"),
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
    assert (waiting["kind"], [target["id"] for target in waiting["targets"]]) == ("forget", [fact])
    assert clawmem("doctor").code == 0, "a fact that waits for its decision is no problem"
    clawmem("heartbeat")
    assert statement.rstrip(".") not in served(clawmem, question)
    assert "has a dog" in served(clawmem, "dog")
    assert clawmem("review", "reject", waiting["id"], "--reason", "it stays").code == 0
    assert statement in served(clawmem, question), "rejected, it is shown again"
    assert clawmem("show", fact, "--json").data["fact"]["status"] == "active"
    assert clawmem("doctor").code == 0


def test_a_fact_quotes_what_is_hidden_and_the_rest_of_a_short_message_stays(clawmem: Command) -> None:
    say_all(clawmem, ["Hi, I'm Mirela Kovac, platform engineer. I live in Oslo.", "We use Redis here. I live in Oslo."])
    fact = {"e": 1, "q": "I live in Oslo", "s": "The user lives in Oslo.", "p": "lives_in", "o": "Oslo"}
    task = clawmem("learn", "pending", "--json").data["id"]
    assert clawmem("learn", "apply", "-", given=json.dumps({"task": task, "facts": [fact]})).code == 0
    assert say(clawmem, "Forget that I live in Oslo")
    assert clawmem("doctor").code == 0, clawmem("doctor").out
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert clawmem("review", "approve", waiting["id"]).code == 0
    for options in ((), ("--full",)):
        checked = clawmem("doctor", *options)
        assert checked.code == 0, checked.out
    assert "We use Redis here." in clawmem("recall", "do we use Redis").out
    assert "Oslo" not in served(clawmem, "Redis Oslo Mirela")


def test_a_prompt_that_asks_is_not_answered_with_what_it_asks_about(clawmem: Command) -> None:
    clawmem("remember", "The user lives in Oslo.")

    def prompted(words: str) -> str:
        call = json.dumps({"session_id": "s1", "prompt": words})
        return clawmem("hook", "UserPromptSubmit", "--harness", "claude-code", given=call).out

    shown = prompted("Forget that I live in Oslo")
    assert "asks to forget" in shown and "lives in Oslo" not in shown
    assert clawmem("review", "list", "--json").data["proposals"] == [], "the conversation itself is taken in later"
    assert "asks to forget" not in prompted("I always forget the memory limit of the build.")
    said = {"role": "user", "content": "Forget that I live in Oslo", "session": "s1", "id": "u1"}
    clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(said))
    assert "lives in Oslo" not in served(clawmem, "where does the user live")


@pytest.mark.parametrize("by_hand", [False, True])
def test_what_an_agent_notes_of_a_request_is_only_proposed(clawmem: Command, vault_root: Path, by_hand: bool) -> None:
    rule, asked = "Never push to the main branch.", "The user asked to forget that Priya owns the parser."
    clawmem("remember", "Priya owns the parser of Kestrel.")
    clawmem("guardrail", "add", rule, "--why", "It broke once.")
    wishes = (asked, f"The user asked to forget the fact that {rule.lower()}")
    if by_hand:
        day = clawmem("note", "Started.", "--agent", "claude-code", "--json").data["path"]
        with (vault_root / day).open("a") as page:
            page.writelines(f"- 10:0{number} {wish}\n" for number, wish in enumerate(wishes))
        clawmem("heartbeat")
    else:
        noted = [
            clawmem("note", wish, "--agent", "claude-code", env={"CLAWMEM_SEED": str(number)})
            for number, wish in enumerate(wishes)
        ]
        assert [result.code for result in noted] == [0, 0]
        assert "stays for now" in noted[0].err
    assert "Priya" in served(clawmem, "who owns the parser") and rule in clawmem("guardrail", "list").out
    waiting = clawmem("review", "list", "--json").data["proposals"]
    assert {(each["kind"], each["agent"]) for each in waiting} == {("forget", "claude-code")}
    mine = next(each for each in waiting if "Priya" in str(each))
    assert clawmem("review", "approve", mine["id"]).code == 0
    assert "Priya" not in served(clawmem, "who owns the parser")
    assert clawmem("note", "The user asked to delete the build folder.", "--agent", "claude-code").err == ""


def test_a_request_that_is_refused_does_not_hold_up_the_next(
    clawmem: Command, vault_root: Path, tmp_path: Path
) -> None:
    clawmem("guardrail", "add", "Never push to the main branch.", "--why", "It broke once.")
    clawmem("remember", "Tom likes tea.")
    wishes = ("Forget that you never push to the main branch.", "Please forget that Tom likes tea.")
    lines = [
        {"type": "user", "uuid": f"u{n}", "sessionId": "s1", "timestamp": f"2026-03-02T10:0{n}:00Z",
         "message": {"role": "user", "content": wish}}
        for n, wish in enumerate(wishes)
    ]  # fmt: skip
    (tmp_path / "s1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    call = {"session_id": "s1", "cwd": str(tmp_path), "transcript_path": str(tmp_path / "s1.jsonl")}
    env = {"CLAWMEM_VAULT": str(vault_root)}
    clawmem("hook", "SessionEnd", "--harness", "claude-code", given=json.dumps(call), env=env)
    for _ in range(300):
        if any(mark["event"] == "transcript" for mark in clawmem("status", "--json", env=env).data["hooks"]):
            break
        time.sleep(0.1)
    assert "tea" not in served(clawmem, "what does Tom like")
    assert "Never push" in clawmem("guardrail", "list").out


def test_a_reader_finds_a_request_in_the_note_of_an_agent(clawmem: Command) -> None:
    fact = clawmem("remember", "Priya owns the parser of Kestrel.", "--json").data["facts"][0]["id"]
    clawmem("note", "Request of the user: who owns the parser should not stay in here.", "--agent", "claude-code")
    clawmem("heartbeat", "--only", "notes")
    task = clawmem("learn", "pending", "--json").data
    assert "should not stay" in task["task"]
    label = next(line.split()[0] for line in task["task"].splitlines() if "Priya owns" in line)
    answer = json.dumps({"task": task["id"], "facts": [], "forget": {"1": [label]}})
    assert clawmem("learn", "apply", "-", given=answer).code == 0
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert [target["id"] for target in waiting["targets"]] == [fact]
    assert "Priya" in served(clawmem, "who owns the parser"), "an agent that says so is not the person"


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


def test_what_was_forgotten_is_on_no_page_and_the_next_undo_brings_it_back(clawmem: Command) -> None:
    clawmem("remember", "Mallory drives a Volvo.", "--entity", "people/mallory")
    clawmem("heartbeat")  # pages of the wiki
    assert clawmem("forget", "Mallory", "--yes").code == 0
    for words in (("show", "mallory"), ("entity", "show", "mallory"), ("list", "--entity", "mallory")):
        assert "Volvo" not in clawmem(*words).out and "former" not in clawmem(*words).out
    assert "Volvo" in clawmem("undo").out
    assert "Volvo" in clawmem("show", "mallory").out


def test_what_is_no_request_hides_nothing(clawmem: Command) -> None:
    """Jokes, quotations, and orders about files."""
    clawmem("remember", "The user lives in Oslo.")
    say(clawmem, "I live in Oslo, and the Oslo tests are slow.")
    for text in (
        "forget it", "Don't forget that I live in Oslo.", "Delete the tests of Oslo, please.",
        'Translate: "forget that I live in Oslo"', "Forget that I live in Oslo, just kidding!",
        'Anna wrote: "forget that I live in Oslo"', "If the tests fail, forget it.", "Forget it, that is too slow.",
        "Forget Anna's number.", "Forget the Oslo tests for now.", "remove all of the Oslo tests",
    ):  # fmt: skip
        assert say(clawmem, text) == [], text
    assert "lives in Oslo" in served(clawmem, "Oslo")


_LONG = (
    "Kestrel's release is planned for the ninth of March. My salary is 95,000 francs. "
    "The build runs on the big machine in Basel, and the tests take an hour."
)


@pytest.mark.parametrize(
    ("items", "request_", "gone", "stays"),
    [
        ([_LONG], "Don't keep what I said about my salary.", "95,000", "ninth of March"),
        (["The old callback line is +41 44 123."], "delete the old callback line from shared memory", "123", ""),
        (["Ich überlege zu kündigen."], "Streich das mit dem Kündigen.", "kündigen", ""),
        (["The dog is called Rex.", "The merger is with Ostrava Steel."],
         "forget what I just told you", "Ostrava", "Rex"),
        (["The dog is called Rex.", "My PIN hint is plum."], "never mind, don't remember that", "plum", "Rex"),
        (["My salary is 95,000.", "I live in Oslo.", "I work in Oslo."], "Forget my salary and that I live in Oslo.",
         "95,000", "work in Oslo"),
        (["El martes voy a la clínica de Lugo."], "Olvida lo que te dije de la clínica.", "Lugo", ""),
        (["Le rachat se fait avec Dupont."], "Oublie ce que je t'ai dit sur le rachat, merci.", "Dupont", ""),
        (["We talk with Plum Barn.", "The barn door is red."],
         "Forget what I told you about Plum Barn please, it is quiet.",
         "Plum", "barn door"),
        (["My interview is at Fjord Bank."], "The interview I told you about, please forget that.", "Fjord", ""),
        (["Der Kunde ist Rheinwerk."], "Den Kunden hätte ich nicht nennen sollen. Bitte vergiss den.", "Rheinwerk", ""),
        (["I have watched an otter den near Hebden."],
         "I told you where that otter den is. Forget the place.", "Hebden", ""),
        (["Mail alice@acme.io for it.", "Mail alice.smith@acme.io for that."], "Forget everything about alice@acme.io",
         "alice@acme.io", "alice.smith@acme.io"),
        (["Die Wohnung ist in der Aarstrasse."], "Bitte merk dir das nicht.", "Aarstrasse", ""),
        (["Jo sings in the choir.", "She is pregnant."], "Please forget that Jo is pregnant.", "pregnant", "choir"),
        (["Ask Mia about the berth.", "Her number is 555 0187."], "She hates that. Forget Mia's number.",
         "0187", "berth"),
        (["The choir is large.", "Her pay is 70,000."], "Forget it, that was told to me in private.",
         "70,000", "choir"),
        (["The choir is large.", "Her pay is 70,000."], "I shouldn't have told you that. Forget it please.",
         "70,000", "choir"),
        (["My interview at Fjord Bank is on Friday."], "No, strike that bit about the interview.", "Fjord", ""),
        (["Mia came back.", "Mia was drunk on Monday."], "Strike that about Mia.", "drunk", "came back"),
        (["Mia came back.", "Mia was drunk on Monday."], "Strike that about Mia, it was told to me in private.",
         "drunk", "came back"),
        (["Mias Adresse ist Seeweg 4."], "Vergiss Mias Adresse bitte wieder.", "Seeweg", ""),
        (["Ask me before every force push."],
         "The thing about asking before force pushes, forget that rule.", "force", ""),
    ],
)  # fmt: skip
@pytest.mark.few(8)
def test_forms_of_a_request(clawmem: Command, items: list[str], request_: str, gone: str, stays: str) -> None:
    say_all(clawmem, items, session="s1")
    assert gone in clawmem("recall", gone).out
    assert say(clawmem, request_, session="s1")
    assert gone not in served(clawmem, gone).replace("alice.smith@acme.io", "")
    assert not stays or stays in served(clawmem, stays)


def test_what_two_requests_took_from_a_message_comes_back_with_each(clawmem: Command) -> None:
    parts = ["Mia was drunk on Monday.", "The choir of Aurora sings in the large hall by the sea.", "Bob lost his job."]
    say(clawmem, " ".join(parts), session="s1")
    for asked in ("Forget that Mia was drunk.", "Forget that Bob lost his job."):
        assert say(clawmem, asked, session="s1")
    assert not any(word in served(clawmem, "Mia Bob choir") for word in ("drunk", "lost"))
    for proposal in clawmem("review", "list", "--json").data["proposals"]:
        clawmem("review", "reject", proposal["id"], "--reason", "it stays")
    assert " ".join(parts) in clawmem("recall", "choir", "--in", "events").out


def test_what_is_said_after_the_request_stays(clawmem: Command) -> None:
    texts = ("Mia was drunk on Monday.", "Forget that about Mia, please.", "Mia stands in for Bo.")
    rows = [{"role": "user", "content": text, "session": "s1", "timestamp": f"2026-11-20T10:0{number}:00Z"}
            for number, text in enumerate(texts)]  # fmt: skip
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, rows)))
    assert "stands in" in served(clawmem, "Mia")
    assert "drunk" not in served(clawmem, "Mia")


def test_another_speaker_does_not_make_the_users_words_forgotten(clawmem: Command) -> None:
    say(clawmem, "I live in Oslo.")
    say(clawmem, "I live in Oslo, too.", speaker="Ben")
    assert say(clawmem, "Forget that I live in Oslo.", speaker="Ben")
    found = served(clawmem, "Oslo")
    assert "live in Oslo." in found and "too" not in found


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
    result = clawmem("learn", "apply", "-", given=answer)
    assert result.code == 0, result.err
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert [target["id"] for target in waiting["targets"]] == [fact]
    found = served(clawmem, "Oslo")
    assert "lives in Oslo" not in found
    assert "at home in Oslo" not in found
    assert "works in Oslo" in found


@pytest.mark.parametrize("names", ["1", "interview Fjord Bank"])
def test_a_reader_names_a_message_of_which_nothing_was_stored(clawmem: Command, names: str) -> None:
    texts = (
        "The interview with Fjord Bank is on Thursday.",
        "The cat is asleep.",
        "What I told you of Thursday: drop it.",
    )
    records = [json.dumps({"role": "user", "content": text, "session": "s"}) for text in texts]
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(records))
    task = clawmem("learn", "pending", "--json").data
    answer = json.dumps({"task": task["id"], "facts": [], "forget": {"3": [names]}})
    result = clawmem("learn", "apply", "-", given=answer)
    assert result.code == 0, result.err
    assert "Fjord" not in served(clawmem, "interview Fjord Bank") and "cat" in served(clawmem, "cat asleep")
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    decided = clawmem("review", "reject", waiting["id"], "--reason", "it stays")
    assert decided.code == 0, decided.err
    assert "Fjord" in served(clawmem, "interview Fjord Bank"), decided.out


def test_what_is_forgotten_leaves_the_generated_pages_at_once(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane's boat is the Albatross.", "--entity", "areas/people/jane")
    clawmem("heartbeat", "--only", "summaries")
    page = vault_root / "life/areas/people/jane/summary.md"
    assert "Albatross" in page.read_text()
    assert clawmem("forget", "Albatross", "--yes").code == 0
    assert "Albatross" not in page.read_text()


def test_what_was_just_said_is_the_persons_own_message_and_not_the_reply(clawmem: Command) -> None:
    rows = [
        {"role": role, "content": text, "session": "s1", "timestamp": f"2026-11-20T10:0{number}:00Z"}
        for number, (role, text) in enumerate(
            (
                ("user", "The merger is with Ostrava."),
                ("assistant", "The lawyer is Plum."),
                ("user", "Forget what I just told you."),
            )
        )
    ]
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, rows)))
    assert "Ostrava" not in served(clawmem, "Ostrava merger")
    assert "Plum" in served(clawmem, "Plum lawyer")


def test_a_fact_that_is_shown_again_is_as_it_was(clawmem: Command) -> None:
    fact = clawmem("remember", "The user lives in Oslo.", "--json").data["facts"][0]["id"]
    before = clawmem("why", fact, "--json").data["fact"]
    say(clawmem, "Forget that I live in Oslo.")
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert clawmem("review", "reject", waiting["id"], "--reason", "it stays").code == 0
    assert clawmem("why", fact, "--json").data["fact"] == before


def test_the_words_in_which_it_was_said_count(clawmem: Command) -> None:
    say(clawmem, "Ich esse kein Fleisch.", session="s1")
    task = clawmem("learn", "pending", "--json").data
    fact = {"e": 1, "q": "Ich esse kein Fleisch", "s": "The user isst kein Fleisch.", "c": "preference"}
    clawmem("learn", "apply", "-", given=json.dumps({"task": task["id"], "facts": [fact]}))
    assert "isst kein Fleisch" in served(clawmem, "Fleisch")
    assert len(say(clawmem, "Vergiss bitte, dass ich kein Fleisch esse.")) == 1
    assert "Fleisch" not in served(clawmem, "Fleisch")


def test_the_words_of_a_request_that_say_what_is_meant() -> None:
    assert telling_words("Please forget Alice’s mail, Alice's port and x.") == ("Alice", "mail", "port")


def _told(vault: Vault, caller: Caller, *texts: str, day: int = 20) -> None:
    messages = [
        Message(number, "user", text, f"2026-11-{day}T10:0{number}:00Z", session="s")
        for number, text in enumerate(texts)
    ]
    assert ingest(vault, messages, caller, "chat").added == len(texts)


def test_what_a_person_names_is_hidden_in_one_commit_and_nothing_else_is_touched(vault: Vault, caller: Caller) -> None:
    draft = draft_from_record(
        {"fact": "The user lives in Oslo.", "predicate": "lives_in", "object": "Oslo"}, caller.now
    )
    kept = draft_from_record({"fact": "The user drinks tea."}, caller.now)
    first, second = (remember(vault, [each], caller).facts[0] for each in (draft, kept))
    _told(vault, caller, "The user lives in Oslo.", "I drink tea.")
    _told(vault, caller, "As said, the user lives in Oslo now.", "I drink tea.", day=19)
    before = {path.name: path.read_bytes() for path in (vault.root / "ledger").glob("*.jsonl")}
    _, commit = forget(vault, "that I live in Oslo", caller, dry_run=True)
    assert commit is None
    assert {path.name: path.read_bytes() for path in (vault.root / "ledger").glob("*.jsonl")} == before
    found, commit = forget(vault, "that I live in Oslo", caller)
    assert commit == vault.head().commit
    assert [placed.fact.id for placed in found.facts] == [first.fact.id]
    assert found.change.subject == "forget(vault): 1 fact and 2 messages hidden"
    assert found.proposal is None
    (hidden,) = found.facts
    assert (hidden.fact.status, (hidden.fact.metadata or {})["retracted"]) == (
        "retracted",
        {"at": "2026-11-21T09:30:00Z", "reason": "forgotten by a person", "revoked": True},
    )
    for path in (vault.root / "ledger").glob("*.jsonl"):
        old, new = before[path.name].splitlines(), path.read_bytes().splitlines()
        assert old[1:] == new[1:] and len(old) == len(new)
        event = json.loads(new[0])
        assert (event["recalled"], event["metadata"]["hidden"]) == (True, "2026-11-21")
    assert vault.read("life/areas/people/user/items.json") is not None
    for words in ("that I live in Oslo", "the"):
        with pytest.raises(NotFound):
            forget(vault, words, caller)  # hidden already, and no word
    assert second.fact.is_current
    assert forget(vault, "tea", caller)[1]


def test_a_request_shows_the_messages_to_the_person_who_decides(vault: Vault, caller: Caller) -> None:
    long = "The boat is called Albatross, and " + "it is very long " * 10
    _told(vault, caller, *(f"{long}{number}" for number in range(9)))
    _told(vault, caller, *(f"{long}again {number}" for number in range(2)), day=19)
    with writing(vault, caller, "forget") as work:
        request = Event("evt_9", "2026-11-20T11:00:00Z", "user", "forget the boat Albatross", session="s")
        assert plan_forgetting(work, [("boat",)], request) is None, (
            "one common word names nothing if many messages have it"
        )
        assert plan_forgetting(work, [("Albatross",)], request) is not None
        found = plan_forgetting(work, [("the boat Albatross",)], request)
    assert found is not None and found.proposal is not None
    assert len(found.events) == 11
    assert found.proposal.says == "Forget: 11 messages"
    why = found.proposal.why
    assert why.count('"The boat is called Albatross') == 10 and why.endswith(", and 1 more.")
    assert max(map(len, why.split('"')[1::2])) == 120
    assert found.proposal.details == {"events": [event.id for event in found.events], "words": ["boat Albatross"]}
    assert found.change.subject == "forget(vault): 0 facts and 11 messages hidden until a person decides"


def test_a_clause_of_a_sentence_that_goes_is_named_once(vault: Vault, caller: Caller) -> None:
    gone = "My number is 5550187, and I live in Oslo."
    _told(vault, caller, f"{gone} The choir is large, and it sings very well.")
    with writing(vault, caller, "forget") as work:
        request = Event("evt_9", "2026-11-20T11:00:00Z", "user", "forget both", session="s")
        found = plan_forgetting(work, [("5550187",), ("that I live in Oslo",)], request)
    assert found is not None and [event.text for event in found.events] == [gone]


def _history(vault: Path) -> list[str]:
    words = ["git", "-C", str(vault), "log", "--all", "--patch", "--format=%B"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


def test_everywhere_removes_exactly_what_is_shown_from_the_history(clawmem: Command, vault_root: Path) -> None:
    text = "Hi, I'm Mirela, an engineer at Fjord. We deploy with Argo CD from the release branch."
    say(clawmem, text, session="s1")
    task = clawmem("learn", "pending", "--json").data
    rows: list[dict[str, object]] = [
        {"e": 1, "q": "an engineer at Fjord", "s": "The user works at Fjord.", "p": "works_at", "o": "Fjord"},
        {"e": 1, "q": "I'm Mirela, an engineer", "s": "The user is Mirela.", "p": "name", "o": "Mirela"},
    ]
    assert clawmem("learn", "apply", "-", given=json.dumps({"task": task["id"], "facts": rows})).code == 0
    clawmem("remember", "Ana moved to Fjord.", "-e", "areas/people/ana")
    say(clawmem, "Forget that I work at Fjord.")
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert "engineer at Fjord" in waiting["why"] and "Argo" not in waiting["why"], waiting["why"]
    shown = clawmem("forget", "work at Fjord", "--everywhere")
    assert (shown.code, "for good" in shown.err, "Argo" in shown.out) == (0, True, False), shown.out
    result = clawmem("forget", "work at Fjord", "--everywhere", "--yes")
    assert result.code == 0, result.err
    assert not [line for line in _history(vault_root) if "engineer at" in line or "I work at" in line]
    assert not [line for line in _history(vault_root) if '"Fjord"' in line and '"id"' in line]
    assert not [line for line in _history(vault_root) if '"words"' in line and "Fjord" in line]
    assert "Ana moved to Fjord" in served(clawmem, "Ana Fjord")
    assert "Argo" in served(clawmem, "Argo CD") and "The user is Mirela" in served(clawmem, "Mirela")
    assert clawmem("doctor").code == 0
    assert clawmem("forget", "work at Fjord", "--everywhere").code == 1


def test_of_a_number_only_the_clause_is_hidden(clawmem: Command) -> None:
    say(clawmem, "the old jump host is 10.4.0.12, and 10.4.0.128 is the gate scanner controller, keep them apart")
    notices = say(clawmem, "please forget the 10.4.0.12 address, that host is gone")
    assert len(notices) == 1
    shown = served(clawmem, "gate scanner controller jump host 10.4.0.12")
    assert "10.4.0.128 is the gate scanner controller, keep them apart" in shown
    assert "old jump host" not in shown
    identity = notices[0].partition("prop_")[2].split()[0]
    assert clawmem("review", "reject", f"prop_{identity}", "--reason", "it stays").code == 0
    assert "the old jump host is 10.4.0.12, and 10.4.0.128" in served(clawmem, "jump host 10.4.0.12")


_BUOY = [
    {"role": "user", "content": "remember that the staging buoy has id B-17", "session": "s1"},
    {"role": "assistant", "content": "I will remember that: staging buoy B-17.", "session": "s1"},
    {"role": "user", "content": "which id has it?", "session": "s2"},
    {"role": "assistant", "content": "B-17.", "session": "s2"},
    {"role": "assistant", "content": "The canteen is in house B-17, and its soup is good.", "session": "s3"},
    {"role": "user", "content": "Our lead for deploys is Olga Brandt.", "session": "s4"},
    {"role": "assistant", "content": "Noted: Olga Brandt. Shall I write the plan of the week for all of you now?",
     "session": "s4"},
    {"role": "assistant", "content": "Olga Brandt likes sailing.", "session": "s5"},
]  # fmt: skip


def _ingest(clawmem: Command, *rows: dict[str, str]) -> None:
    result = clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, rows)))
    assert result.code == 0, result.err


def test_copies_of_what_is_forgotten_go_with_it_and_come_back(clawmem: Command, vault_root: Path) -> None:
    _ingest(clawmem, *_BUOY)
    clawmem("note", "the staging buoy B-17 needs paint")
    clawmem("note", "the canteen is closed")
    clawmem("heartbeat")
    [page] = (vault_root / "daily").glob("*.md")
    mentioned = "\nMentioned, and kept as notes only:\n\n- The buoy of staging is B-17.\n<!-- clawmem:end -->"
    page.write_text(page.read_text(encoding="utf-8").replace("<!-- clawmem:end -->", mentioned), encoding="utf-8")
    _ingest(clawmem, {"role": "user", "content": "forget the staging buoy id", "session": "s6"})
    _ingest(clawmem, {"role": "assistant", "content": "All right, B-17 it was.", "session": "s6"})
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    for decide in (("review", "list"), ("review", "approve", waiting["id"])):
        assert clawmem(*decide).code == 0
        found = served(clawmem, "staging buoy id B-17 canteen")
        assert "in house B-17, and its soup" in found and "canteen is closed" in found
        for gone in ("staging buoy B-17", "assistant: B-17.", "B-17 it was", "needs paint"):
            assert gone not in found
        shown = [line for line in page.read_text(encoding="utf-8").splitlines() if not line.startswith("<!-- hidden")]
        assert not any("B-17" in line for line in shown) and any("closed" in line for line in shown)
    assert clawmem("undo", clawmem("log", "--json", "--limit", "1").data["history"][-1]["commit"]).code == 0
    assert clawmem("review", "reject", waiting["id"], "--reason", "it stays").code == 0
    found = served(clawmem, "staging buoy id B-17")
    assert all(back in found for back in ("I will remember that: staging buoy B-17", "B-17 it was", "needs paint"))


def test_an_echo_of_a_name_goes_and_the_rest_of_the_message_stays(clawmem: Command) -> None:
    _ingest(clawmem, *_BUOY)
    _ingest(clawmem, {"role": "user", "content": "Please forget what I said about the lead for deploys.",
                      "session": "s4"})  # fmt: skip
    found = served(clawmem, "Olga Brandt lead for deploys plan of the week")
    assert "Noted: Olga" not in found and "Shall I write the plan of the week" in found
    assert "Olga Brandt likes sailing" in found, "it says something else"


def test_what_is_known_anew_is_not_taken_for_a_copy(clawmem: Command) -> None:
    _ingest(clawmem, *_BUOY)
    clawmem("heartbeat")
    _ingest(clawmem, {"role": "user", "content": "forget the staging buoy id", "session": "s6"})
    clawmem("remember", "The harbour buoy has id B-17.")
    _ingest(clawmem, {"role": "assistant", "content": "The buoy is B-17 again.", "session": "s7"})
    assert "B-17 again" in served(clawmem, "buoy B-17")


def test_a_message_that_is_shown_again_is_learned_from(clawmem: Command) -> None:
    texts = ["I had soup.", "From now on use tabs, not spaces.", "Forget what I just told you."]
    for text in texts:
        say(clawmem, text, session="s1")
    clawmem("heartbeat")
    assert "tabs" not in clawmem("list").out
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert clawmem("review", "reject", waiting["id"], "--reason", "it stays").code == 0
    clawmem("heartbeat")
    assert "tabs" in clawmem("list").out
    assert clawmem("review", "list", "--json").data["proposals"] == []


def test_what_is_filed_under_a_name_goes_and_what_stays_is_counted(clawmem: Command) -> None:
    clawmem("entity", "create", "areas/people/bob", "--title", "Bob")
    clawmem("remember", "Bob likes tea.", "-e", "areas/people/bob")
    clawmem("remember", "Bob Meyer was born in 1980.", "-e", "areas/people/bob")
    clawmem("remember", "Ann met Bob Meyer in Bergen.", "-e", "areas/people/ann")
    clawmem("remember", "Bob Dylan plays on Friday.", "-e", "projects/gig")
    clawmem("note", "lunch with Bob, he is ill")
    preview = clawmem("forget", "Bob")
    assert preview.code == 0, preview.err
    assert "born in 1980" in preview.out and "he is ill" in preview.out and "retracted" not in preview.out
    assert "2 more name it and stay: `clawmem recall Bob`" in preview.err
    result = clawmem("forget", "Bob", "--yes", "--json")
    assert (len(result.data["facts"]), result.data["notes"], result.data["stay"]) == (
        2,
        ["lunch with Bob, he is ill"],
        2,
    )
    found = served(clawmem, "Bob")
    assert not any(gone in found for gone in ("likes tea", "1980", "ill"))
    assert "Ann met Bob Meyer" in found and "Bob Dylan" in found
    assert "more name" not in clawmem("forget", "born Bergen").err


def test_the_name_of_what_belongs_to_nothing_takes_nothing_with_it(clawmem: Command) -> None:
    clawmem("remember", "The general store opens at nine.")
    clawmem("remember", "The printer is old.")
    assert len(clawmem("forget", "general", "--json").data["facts"]) == 1


def test_everywhere_removes_each_sentence_of_a_message_and_a_note(clawmem: Command, vault_root: Path) -> None:
    say(clawmem, "The buoy is B-17. The weather is fine and we all like it here. As said, B-17 it is.", session="s1")
    clawmem("note", "paint the buoy B-17")
    result = clawmem("forget", "B-17", "--everywhere", "--yes")
    assert result.code == 0, result.err
    assert not [line for line in _history(vault_root) if "B-17" in line]
    assert "we all like it here" in served(clawmem, "weather")


def test_a_note_that_is_no_event_yet_is_forgotten(clawmem: Command) -> None:
    clawmem("note", "the dentist is at noon")
    assert "dentist" in served(clawmem, "dentist")
    assert clawmem("forget", "dentist", "--yes", "--json").data["notes"] == ["the dentist is at noon"]
    assert "dentist" not in served(clawmem, "dentist")
    assert clawmem("forget", "dentist").code == 1


_PHONE = "My new phone number is +49 170 5550123, put it in the contact page."


def _with_a_candidate(clawmem: Command) -> None:
    rows = [
        {"role": "user", "content": text, "timestamp": f"2026-11-20T09:0{number}:00Z", "session": "s1"}
        for number, text in enumerate(("Jane is on holiday until 4 December.", _PHONE))
    ]
    _ingest(clawmem, *rows)
    assert clawmem("heartbeat").code == 0
    assert "5550123" in clawmem("review", "list").out


def test_what_is_forgotten_waits_for_nobody(clawmem: Command) -> None:
    _with_a_candidate(clawmem)
    clawmem("forget", "phone number", "--yes")
    queue = clawmem("review", "list").out
    assert "5550123" not in queue and "Jane" in queue
    clawmem("undo")
    assert "5550123" in clawmem("review", "list").out


@pytest.mark.parametrize("by_event", [False, True])
def test_what_is_erased_is_in_no_proposal(clawmem: Command, vault_root: Path, by_event: bool) -> None:
    _with_a_candidate(clawmem)
    clawmem("remember", "Otto owes me 50 euros.")
    clawmem("forget", "owes", "--yes")
    event = clawmem("forget", "phone number", "--json").data["events"][0]
    verb = ("redact", "--event", event) if by_event else ("forget", "phone number", "--everywhere")
    assert clawmem(*verb, "--yes").code == 0
    queue = clawmem("review", "list").out
    assert "redacted" not in queue and "Jane" in queue
    history = subprocess.run(["git", "log", "--all", "-p"], cwd=vault_root, capture_output=True, text=True, check=True)
    assert "5550123" not in history.stdout
    # What was hidden before the erasure stays hidden.
    refused = clawmem("undo")
    assert refused.code != 0 and "cannot be undone" in refused.err
    assert "Otto" not in clawmem("recall", "Who owes me money?").out


def test_a_person_is_forgotten_by_the_name_the_page_or_the_first_name(clawmem: Command) -> None:
    clawmem("entity", "create", "areas/people/jane", "--title", "Jane Doe")
    clawmem("remember", "Jane Doe works at Norwind.", "-e", "areas/people/jane")
    clawmem("remember", "Jane is on holiday.")
    clawmem("remember", "Jane Smith sings.")
    clawmem("note", "Call Jane about the crane")
    for words, texts, stay in (
        ("jane", {"Jane Doe works at Norwind.", "Jane is on holiday."}, 1),
        ("Jane Doe", {"Jane Doe works at Norwind.", "Jane is on holiday."}, 1),
        ("areas/people/jane", {"Jane Doe works at Norwind.", "Jane is on holiday."}, 1),
    ):
        found = clawmem("forget", words, "--json").data
        shown = clawmem("forget", words).out
        assert {text for text in texts if text in shown} == texts and "Smith" not in shown
        assert (len(found["facts"]), found["stay"]) == (len(texts), stay), words
    assert clawmem("forget", "jane", "--json").data["notes"] == ["Call Jane about the crane"]


def test_a_fact_and_a_message_are_forgotten_by_their_ids(clawmem: Command) -> None:
    fact = clawmem("remember", "Otto rows.", "--json").data["facts"][0]["id"]
    assert clawmem("forget", fact, "--json").data["facts"] == [fact]
    _ingest(clawmem, {"role": "user", "content": _PHONE, "timestamp": "2026-11-20T09:00:00Z", "session": "s1"})
    event = clawmem("forget", "phone number", "--json").data["events"][0]
    assert clawmem("forget", event, "--json").data["events"] == [event]


def test_the_verb_says_what_else_goes_and_what_is_left_that_is_spelled_nearly_so(clawmem: Command) -> None:
    """Of several things, what was not named stays where the sentence can be parted; whoever asks sees all before."""
    clawmem("remember", "Xavier has a MacBook, a Dell monitor and a Keychron keyboard.")
    rest = "Yara plays chess, sells a Kestrel lamp and a boat."
    (several,) = clawmem("remember", rest, "--json").data["facts"]
    clawmem("remember", "Mail for orders goes to alice@acme.io.")
    clawmem("remember", "Mail goes to alice.smith@acme.io, or to bob@acme.io.")
    clawmem("remember", "On Monday, Jane swims in the lake.")
    for options in ((), ("--everywhere",)):
        shown = clawmem("forget", "Keychron keyboard", *options).out
        assert "  Xavier has a MacBook and a Dell monitor." in shown.partition("stays: ")[2]
        warning = clawmem("forget", "Kestrel lamp", *options).err
        assert f"{several['id']} says more, and all of it goes: `clawmem supersede" in warning
        assert "and left: alice.smith@acme.io\n" in clawmem("forget", "alice@acme.io", *options).err
        assert "says more" not in clawmem("forget", "swims in the lake", *options).err


def test_a_name_in_a_reason_goes_with_it_and_the_fact_stays(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Petra approves bills.", "--entity", "areas/people/petra")
    clawmem("remember", "The budget of Zebra is 10 euros.", "--reason", "Petra said so")
    clawmem("remember", "The office is in Ghent.", "--tag", "petra,ghent")
    clawmem("supersede", "office is in Ghent", "The office is in Kortrijk.", "--reason", "Petra found it")
    wanted = ("--why", "It is fast.", "--alternative", "a disk: slow", "--alternative", "a queue: Petra wanted it")
    clawmem("decision", "add", "Stream the uploads.", *wanted)
    clawmem("heartbeat", "--only", "summaries", "--only", "wiki", "--only", "daily")
    shown = clawmem("forget", "Petra")
    for text in ("Petra said so", "Petra found it", "Petra wanted it", "petra"):
        assert f", which stays: {text}\n" in shown.out, shown.out
    assert clawmem("forget", "Petra", "--yes").code == 0
    for question in ("Petra", "budget of Zebra", "office in Kortrijk", "stream the uploads"):
        assert "petra" not in served(clawmem, question).lower()
    assert "Kortrijk" in served(clawmem, "office in Kortrijk")
    pages = [*vault_root.glob("life/areas/general/*"), *vault_root.glob("*/*.md"), *vault_root.glob("wiki/areas/*.md")]
    assert not [page for page in pages if "petra" in page.read_text().lower()]
    assert "areas/people" not in clawmem("show", "Petra").out
    assert clawmem("doctor").code == 0
    assert clawmem("undo").code == 0
    assert "because Petra said so" in served(clawmem, "budget of Zebra")
    assert clawmem("forget", "Petra", "--everywhere", "--yes").code == 0
    assert not [line for line in _history(vault_root) if "Petra said" in line or "Petra wanted" in line]
    assert not [line for line in _history(vault_root) if '"petra"' in line]
    assert '"tags": ["ghent"]' in (vault_root / "life/areas/general/items.json").read_text()


def test_a_rejected_request_brings_the_reason_back(clawmem: Command) -> None:
    fact = clawmem("remember", "The budget is 10 euros.", "--reason", "Petra said so", "--json").data["facts"][0]["id"]
    clawmem("remember", "Petra approves bills.")
    say(clawmem, "Forget everything about Petra.")
    assert "Petra" not in served(clawmem, "budget euros")
    [waiting] = clawmem("review", "list", "--json").data["proposals"]
    assert clawmem("edit", fact, "--tag", "urgent").code == 0
    assert clawmem("review", "reject", waiting["id"], "--reason", "it stays").code == 0
    shown = clawmem("why", fact, "--json").data["fact"]
    assert (shown["details"], shown["tags"]) == ({"because": "Petra said so"}, ["urgent"])


LIND, FALK = "Petra Lind's phone number is +358 40 555 0111.", "Petra Falk's phone number is +358 40 555 0222."


@pytest.mark.parametrize(
    ("facts", "asked", "hidden", "proposed"),
    [
        ([LIND], "Please forget Petra's phone number.", [LIND], [LIND]),
        ([LIND, "Petra Falk lives in Turku."], "Forget Petra's phone number.", [LIND], [LIND]),
        ([LIND, FALK], "Please forget Petra's phone number.", [], [LIND, FALK]),
        ([LIND, "Petra's phone number is 040 7771."], "Forget Petra's phone number.", [1], [1]),
        (["Petra Lind lives at Rauhankatu 4."], "Please forget Petra's address.", [], [0]),
        ([LIND], "Forget what I told you about Petra.", [], None),
        ([LIND], "Please forget Lind's phone number.", [], None),
        (["The Berlin Marathon's start is at nine."], "Please forget Berlin's mayor.", [], None),
    ],
)
def test_a_first_name_means_the_only_person_of_that_name_who_has_what_is_named(
    clawmem: Command, facts: list[str], asked: str, hidden: list[str | int], proposed: list[str | int] | None
) -> None:
    for fact in facts:
        assert clawmem("remember", fact).code == 0
    say(clawmem, asked)
    left = {fact["fact"] for fact in clawmem("list", "--all", "--json").data["facts"]}
    gone = [fact if isinstance(fact, str) else facts[fact] for fact in hidden]
    assert left == set(facts) - set(gone)
    waiting = [each["says"] for each in clawmem("review", "list", "--json").data["proposals"]]
    named = [fact if isinstance(fact, str) else facts[fact] for fact in proposed or ()]
    assert len(waiting) == (proposed is not None) and all(fact in waiting[0] for fact in named), waiting


def test_what_was_meant_by_a_first_name_is_served_nowhere_after_the_approval(clawmem: Command) -> None:
    say_all(clawmem, [LIND, "Nice.", "And the van is repaired."])
    assert clawmem("remember", LIND).code == 0
    say(clawmem, "Please forget Petra's phone number.")
    (waiting,) = clawmem("review", "list", "--json").data["proposals"]
    approved = clawmem("review", "approve", waiting["id"])
    assert "1 fact and 2 messages" in approved.out, approved.out
    for words in (("recall", "Petra's phone number", "--all"), ("context", "call Petra Lind"), ("show", "Petra Lind")):
        assert "0111" not in clawmem(*words).out, words


@pytest.mark.parametrize("way", ["reject", "undo", "approve"])
def test_what_an_agent_wrote_of_it_at_the_end_of_a_session_goes_and_comes_back(clawmem: Command, way: str) -> None:
    agent = {"CLAWMEM_AGENT": "bot"}
    assert clawmem("session", "start", env=agent).code == 0
    report = {"summary": f"{LIND} The build is green.", "reflection": {"learned": [LIND], "watch_for": []}}
    assert clawmem("session", "end", "--from", "-", given=json.dumps(report), env=agent).code == 0
    assert clawmem("remember", LIND).code == 0
    (session,) = clawmem("session", "list", "--json").data["sessions"]

    def told() -> str:
        shown = clawmem("session", "show", session["id"]).out + clawmem("log").out
        return shown + clawmem("recall", "phone number of Petra Lind", "--all").out

    assert told().count("0111") > 3
    if way == "undo":
        assert clawmem("forget", "Petra Lind's phone number", "--yes").code == 0
    else:
        say(clawmem, "Please forget Petra Lind's phone number.")
    assert "0111" not in told() and "The build is green." in told()
    if way != "undo":
        (waiting,) = clawmem("review", "list", "--json").data["proposals"]
        assert clawmem("review", way, waiting["id"], *(["--reason", "kept"] if way == "reject" else [])).code == 0
    else:
        assert clawmem("undo").code == 0
    assert ("0111" in clawmem("session", "show", session["id"]).out) is (way != "approve")
