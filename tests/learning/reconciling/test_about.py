"""A fact goes to what its sentence is about: typed or learned, it is the same place."""

from __future__ import annotations

import json

import pytest

from clawmem.learning.reconciling.entities import EntityTitles, place
from clawmem.model.proposals.para import EntityHint, Proposition
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")

TITLES = {"areas/people/priya": ["Priya"], "areas/people/user": ["User"], "projects/kestrel": ["Kestrel"]}


@pytest.mark.parametrize(
    ("subject", "statement", "entity"),
    [
        ("Priya", "Priya owns the parser of Kestrel.", "areas/people/priya"),
        ("Kestrel", "Kestrel needs Python 3.12.", "projects/kestrel"),
        ("the user", "The user prefers short answers.", "areas/people/user"),
        ("PostgreSQL", "PostgreSQL listens on port 5433.", "projects/pelican"),
        ("the user's sister", "The user's sister lives in Bonn.", "areas/people/user"),
    ],
)
def test_learned_in_talk_about_a_project(subject: str, statement: str, entity: str) -> None:
    hints = (EntityHint("person", "User", "speaker"), EntityHint("project", "Pelican", "here"))
    proposition = Proposition(statement, "evt_1", (0, 4), "said", subject, entity_hints=hints)
    assert place(proposition, EntityTitles(TITLES)).entity == entity


def test_typed_without_an_entity(clawmem: Command) -> None:
    for name in ("areas/people/priya", "projects/kestrel", "areas/people/user"):
        assert clawmem("entity", "create", name).code == 0

    def home(statement: str) -> str:
        entity: str = clawmem("remember", statement, "--json").data["facts"][0]["entity"]
        return entity

    assert home("Priya owns the parser of Kestrel.") == "areas/people/priya"
    assert home("The parser of Kestrel is written in Rust.") == "projects/kestrel"
    assert home("The user prefers tabs.") == "areas/people/user"
    assert home("User accounts live in LDAP.") == "areas/general"
    assert home("Anna met Priya about Kestrel.") == "areas/general", "two are named, and it is about neither"
    assert home("The office has a new door.") == "areas/general"


def test_a_reader_without_a_place(clawmem: Command) -> None:
    clawmem("entity", "create", "areas/people/priya")
    message = {"role": "user", "content": "Priya owns the parser. Redis runs on port 6380.", "project": "acme/kestrel"}
    clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(message))
    task = clawmem("learn", "pending", "--json").data
    facts = [
        {"e": 1, "q": "Priya owns the parser", "s": "Priya owns the parser of Kestrel.", "of": "Priya"},
        {"e": 1, "q": "Redis runs on port 6380", "s": "Redis of Kestrel runs on port 6380.", "of": "Redis"},
    ]
    result = clawmem("learn", "apply", "-", "--json", given=json.dumps({"task": task["id"], "facts": facts}))
    assert [candidate["entity"] for candidate in result.data["candidates"]] == [
        "areas/people/priya",
        "projects/kestrel",
    ]


def test_a_reader_names_the_thing_and_its_class(clawmem: Command) -> None:
    text = (
        "Staging is on db-2. RabbitMQ is off. No ORM in the code. I want short functions. "
        "The cutover is on 13 November. Piet cannot stand Go."
    )
    clawmem(
        "ingest", "-", "--format", "jsonl", given=json.dumps({"role": "user", "content": text, "project": "a/cargo"})
    )
    task = clawmem("learn", "pending", "--json").data
    rows = [
        ("Staging is on db-2", "The staging database of Cargo is on db-2.", "staging database", "resource:staging"),
        ("RabbitMQ is off", "RabbitMQ is off in Cargo.", "RabbitMQ", "archive:RabbitMQ"),
        ("No ORM in the code", "No ORM is in the code of Cargo.", "Cargo", "area:code style"),
        ("I want short functions", "Functions are short.", "functions", "area:code style"),
        (
            "The cutover is on 13 November",
            "The cutover of Cargo is on 13 November.",
            "Cargo's cutover",
            "project:cutover",
        ),
        ("Piet cannot stand Go", "Piet cannot stand Go.", "Piet", "person:Piet"),
    ]
    facts = [{"e": 1, "q": q, "s": s, "of": of, "at": at, "c": "decision"} for q, s, of, at in rows]
    result = clawmem("learn", "apply", "-", "--json", given=json.dumps({"task": task["id"], "facts": facts}))
    assert [candidate["entity"] for candidate in result.data["candidates"]] == [
        "resources/staging", "archives/rabbitmq", "projects/cargo", "areas/code-style", "projects/cutover",
        "areas/people/piet",
    ]  # fmt: skip
    shown = clawmem("list", "--entity", "areas/code-style", "--json").data["facts"]
    assert [other["project"] for other in shown] == ["a/cargo"]


def test_what_a_person_is_and_wants_holds_in_every_project(clawmem: Command) -> None:
    text = "Keep answers short for me. Never push to main. Bo is away until June."
    message = {"role": "user", "speaker": "Piet", "content": text, "project": "a/cargo"}
    clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(message))
    task = clawmem("learn", "pending", "--json").data
    rows = [
        {"q": "Keep answers short for me", "s": "Keep answers to Piet short.", "c": "instruction"},
        {"q": "Never push to main", "s": "Never push to main.", "c": "instruction"},
        {"q": "Bo is away until June", "s": "Bo is away until June.", "of": "Bo", "c": "status", "at": "person:Bo"},
    ]
    answer = {"task": task["id"], "facts": [{"e": 1, **row} for row in rows]}
    clawmem("learn", "apply", "-", given=json.dumps(answer))
    projects = {fact["fact"]: fact.get("project") for fact in clawmem("list", "--json").data["facts"]}
    assert projects == {
        "Keep answers to Piet short.": None, "Never push to main.": "a/cargo", "Bo is away until June.": None,
    }  # fmt: skip


def test_a_fact_of_another_project_holds_there(clawmem: Command) -> None:
    def tell(project: str, text: str, at: str) -> None:
        message = {"role": "user", "content": text, "project": project}
        clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(message))
        task = clawmem("learn", "pending", "--json").data
        answer = {"task": task["id"], "facts": [{"e": 1, "q": text, "s": text, "of": "x", "at": at}]}
        clawmem("learn", "apply", "-", given=json.dumps(answer))

    tell("a/cargo", "Cargo stores in Postgres.", "project:cargo")
    tell("a/quay", "Cargo is deployed on Tuesdays.", "project:cargo")
    tell("a/quay", "The move of Quay is in May.", "project:move")
    projects = {fact["fact"]: fact.get("project") for fact in clawmem("list", "--scope", "all", "--json").data["facts"]}
    assert projects == {
        "Cargo stores in Postgres.": "a/cargo", "Cargo is deployed on Tuesdays.": "a/cargo",
        "The move of Quay is in May.": "a/quay",
    }  # fmt: skip


def test_a_project_that_nobody_named_is_not_the_one_of_the_talk(clawmem: Command) -> None:
    at = "git.example.org"

    def tell(project: str, text: str, at: str) -> None:
        message = {"role": "user", "content": text, "project": project}
        clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(message))
        task = clawmem("learn", "pending", "--json").data
        answer = {"task": task["id"], "facts": [{"e": 1, "q": text, "s": text, "of": "the rate", "at": at}]}
        clawmem("learn", "apply", "-", given=json.dumps(answer))

    tell(f"{at}/fjord/pelican", "Pelican needs Python 3.12.", "project:pelican")
    tell(f"{at}/x/heron", "Heron sells flowers.", "project:heron")
    tell(f"{at}/x/heron", "Fjord pays 95 euros an hour.", "project:pelican")
    tell(f"{at}/x/heron", "The other client pays 70 euros an hour.", "project:Wren")
    facts = clawmem("list", "--scope", "all", "--json").data["facts"]
    found = {
        fact["fact"].split()[-4]: (fact["entity"], fact.get("project")) for fact in facts if "hour" in fact["fact"]
    }
    assert found == {"95": ("projects/pelican", f"{at}/fjord/pelican"), "70": ("areas/people/user", None)}


def test_a_change_of_another_thing_in_the_same_project(clawmem: Command) -> None:
    def tell(text: str, **fact: object) -> str:
        message = {"role": "user", "content": text, "project": "a/cargo"}
        clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(message))
        task = clawmem("learn", "pending", "--json").data
        answer = {"task": task["id"], "facts": [{"e": 1, "q": text, "s": text, **fact}]}
        result = clawmem("learn", "apply", "-", "--json", given=json.dumps(answer)).data
        outcome: str = result["candidates"][0]["outcome"]
        return outcome

    assert tell("Releases are cut by hand in Cargo.", of="releases", at="area:releases") == "added"
    assert (
        tell("Goreleaser cuts them in Cargo.", of="goreleaser", at="resource:goreleaser", x={"k1": "replace"})
        == "updated"
    )


def test_what_is_named_as_such_is_made(clawmem: Command) -> None:
    def home(statement: str) -> str:
        entity: str = clawmem("remember", statement, "--json").data["facts"][0]["entity"]
        return entity

    assert home("Corvid Labs pays on the 25th.") == "areas/companies/corvid-labs"
    assert home("Project Atlas is due in March.") == "projects/atlas"
    assert home("The Larder app uses SQLite.") == "projects/larder"
    assert home("My sister Ana lives in Bonn.") == "areas/people/ana"
    assert home("Bo Lund is our colleague.") == "areas/people/bo-lund"
    assert home("My laptop Heron is slow.") == "areas/people/user"
    assert home("The new app is slow.") == "areas/general"


def test_a_decision_goes_to_what_it_is_about_and_not_to_the_folder(clawmem: Command) -> None:
    for name in ("areas/people/priya", "projects/kestrel"):
        assert clawmem("entity", "create", name).code == 0

    def decided(words: str) -> tuple[str, object]:
        result = clawmem(
            "decision", "add", words, "--why", "so", "--project", "acme/shop", "--workflow", "software", "--json"
        )
        fact = result.data["facts"][0]
        return fact["entity"], fact.get("related_entities")

    assert decided("Priya owns the parser of Kestrel.") == ("areas/people/priya", ["projects/kestrel"])
    assert decided("Brandt GmbH delivers the paper.") == ("areas/companies/brandt-gmbh", None)
    assert decided("Tests run on two cores.") == ("projects/shop", None)


def test_what_the_user_says_of_an_agents_fact_gives_it_evidence_trust_and_place(clawmem: Command) -> None:
    here = "git.example.org/fjord/pelican"
    for text in ("Pelican takes payments through Paytrail.", "Pelican runs on UpCloud, paid by Fjord in May."):
        assert clawmem("--agent", "scout", "remember", text, "-e", "areas/general").code == 0
    known = {fact["fact"][:13]: fact["id"] for fact in clawmem("list", "--json").data["facts"]}
    said = ("Pelican takes payments through Paytrail now.", "Right, Pelican runs on UpCloud.")
    messages = [{"role": "user", "content": text, "project": here} for text in said]
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, messages)))
    task = clawmem("learn", "pending", "--json").data
    rows = [
        {"e": 1, "q": said[0], "s": "Pelican takes payments through Paytrail.", "x": {known["Pelican takes"]: "same"}},
        {"e": 2, "q": said[1], "s": "Pelican runs on UpCloud.", "x": {known["Pelican runs "]: "same"}},
    ]
    answer = {"task": task["id"], "facts": [{"of": "Pelican", "at": "project:Pelican", **row} for row in rows]}
    result = clawmem("learn", "apply", "-", "--json", given=json.dumps(answer))
    assert result.code == 0, result.err
    facts = {fact["id"]: fact for fact in clawmem("list", "--scope", "all", "--json").data["facts"]}
    takes = facts[known["Pelican takes"]]
    assert (takes["trust"], takes["source_text"], takes["entity"], takes["project"]) == (
        "user", said[0], "projects/pelican", here,
    )  # fmt: skip
    # What the agent said beyond that is still the agent's.
    runs = facts[known["Pelican runs "]]
    assert (runs["trust"], runs["entity"]) == ("agent", "areas/general") and "source_event" not in runs
    assert clawmem("doctor").code == 0 and len(facts) == 2


def test_a_refinement_that_leaves_a_detail_out_stands_beside_what_has_it(clawmem: Command) -> None:
    stored = ("Ida turns 40 in November; she is not Ida Berg of Wren.", "The pilot is due on Friday.")
    for text in stored:
        assert clawmem("--agent", "scout", "remember", text, "-e", "areas/general").code == 0
    ids = {fact["fact"]: fact["id"] for fact in clawmem("list", "--json").data["facts"]}
    ida, pilot = (ids[text] for text in stored)
    said = "Ida turns 40 on 21 November, and the pilot is due on 4 December 2026."
    clawmem("ingest", "-", "--format", "jsonl", given=json.dumps({"role": "user", "content": said}))
    task = clawmem("learn", "pending", "--json").data
    rows = [
        {"q": "Ida turns 40 on 21 November", "s": "Ida turns 40 on 21 November.", "of": "Ida",
         "x": {ida: "refine"}},
        {"q": "the pilot is due on 4 December 2026", "s": "The pilot is due on 4 December 2026.", "of": "the pilot",
         "x": {pilot: "refine"}},
    ]  # fmt: skip
    answer = {"task": task["id"], "facts": [{"e": 1, **row} for row in rows]}
    result = clawmem("learn", "apply", "-", given=json.dumps(answer))
    assert "merged     The pilot is due on 4 December 2026." in result.out, result.out
    assert "added      Ida turns 40 on 21 November." in result.out
    facts = {fact["fact"] for fact in clawmem("list", "--json").data["facts"]}
    assert facts == {stored[0], "Ida turns 40 on 21 November.", "The pilot is due on 4 December 2026."}
