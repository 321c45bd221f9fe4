"""A second value for a relation that takes one is said at once, asked about, and marked by every reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.index.search.channels import FactFilter
from clawmem.memory.proposals import read_proposals
from clawmem.serving.browse import list_facts
from tests.conftest import Command
from tests.memory.machines import make_machines

HOME = ("--entity", "areas/people/jane")


def test_a_second_value_is_said_and_every_reader_marks_both(clawmem: Command) -> None:
    old = clawmem("remember", "Jane lives in Porto.", *HOME, "--json").data["facts"][0]["id"]
    answer = clawmem("remember", "Jane lives in Lisbon now.", *HOME, "--json")
    new = answer.data["facts"][0]["id"]
    (conflict,) = answer.data["conflicts"]
    assert (conflict["fact"], [other["id"] for other in conflict["against"]]) == (new, [old])
    assert any(f"{new} contradicts {old}" in notice for notice in answer.json["notices"])
    (asked,) = clawmem("review", "list", "--json").data["proposals"]
    assert (asked["id"], asked["kind"]) == (conflict["proposal"], "conflict")
    both = {new: [old], old: [new]}
    for verb in (("recall", "where does Jane live?"), ("list",)):
        facts = clawmem(*verb, "--json").data["facts"]
        assert {fact["id"]: fact.get("conflicts_with") for fact in facts} == both, verb
        assert clawmem(*verb).out.count("not settled") == 2
    for other, others in both.items():
        assert clawmem("show", other, "--json").data["fact"]["conflicts_with"] == others
    context = clawmem("context", "where does Jane live?").out
    assert context.count("! ") == 2
    clawmem("review", "approve", asked["id"])
    (left,) = clawmem("recall", "where does Jane live?", "--json").data["facts"]
    assert (left["id"], left.get("conflicts_with")) == (new, None)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("Jane lives in Porto, Portugal.", ()),
        ("Jane also lives in Rome.", ()),
        ("Ben lives in Rome.", ("--entity", "areas/people/ben")),
        ("Jane lives in Rome.", ("--valid-to", "2019")),
        ("Jane lives in Rome.", ("--valid-from", "2020", "--valid-to", "2021")),
    ],
)
def test_what_stands_against_nothing(clawmem: Command, words: str, options: tuple[str, ...]) -> None:
    clawmem("remember", "Jane lives in Porto.", *HOME, "--valid-from", "2020")
    assert "conflicts" not in clawmem("remember", words, *HOME, *options, "--json").data


def test_an_undo_takes_the_question_back(clawmem: Command) -> None:
    clawmem("remember", "Jane lives in Porto.", *HOME)
    clawmem("remember", "Jane lives in Rome.", *HOME, "--quiet")
    clawmem("undo", "HEAD")
    assert clawmem("review", "list", "--json").data["proposals"] == []
    assert clawmem("doctor").code == 0


def test_a_triple_in_another_entity_counts(clawmem: Command) -> None:
    triple = ("--subject", "Jane", "--predicate", "lives_in", "--object")
    clawmem("remember", "Jane's home: Porto", "--entity", "areas/people/friends", *triple, "Porto")
    assert clawmem("remember", "Jane lives in Rome.", *HOME, "--json").data["conflicts"]


def test_after_a_sync_of_two_clones_both_are_marked(tmp_path: Path, environment: dict[str, str]) -> None:
    machine, other = make_machines(tmp_path, environment)
    home = {"entity": "areas/people/nora"}
    (porto,) = machine.keep("Nora lives in Porto.", **home)
    (lisbon,) = other.keep("Nora lives in Lisbon now.", **home)
    machine.sync()
    other.sync()
    listed = list_facts(other.vault, other.caller, FactFilter(entity="areas/people/nora"))
    assert dict(listed.conflicts) == {porto.id: (lisbon.id,), lisbon.id: (porto.id,)}
    (asked,) = read_proposals(other.vault).open
    assert {target.id for target in asked.targets} == {porto.id, lisbon.id}


@pytest.mark.parametrize(
    ("known", "later"),
    [
        ("The deadline of Heron is 12 March 2027.", "The deadline of Heron has moved to 30 April 2027."),
        ("I am Ottilie and I live in Ghent.", "I live in Antwerp now."),
        ("My manager is Bruno Castellani.", "Bruno is no longer my manager; Annika Lindqvist is."),
        ("Lynx uses Stripe for payments.", "Lynx uses Paytrail for payments, not Stripe, because of a contract."),
        ("In Lynx use pnpm, never npm.", "We use yarn instead of pnpm in Lynx."),
    ],
)
def test_what_reads_as_a_change_names_what_it_may_replace(clawmem: Command, known: str, later: str) -> None:
    clawmem("remember", "I like the sea.")
    old = clawmem("remember", known, "--json").data["facts"][0]["id"]
    shown = clawmem("remember", later)
    assert shown.err.count("may replace") == 1 and f"`clawmem supersede {old} " in shown.err, shown.err
    assert len(clawmem("list", "--json").data["facts"]) == 3
    at_once = clawmem("remember", f"Tom has a boat.\nTom now has no boat.\n{known.replace('is', 'was')}")
    assert at_once.err.count("may replace") == 1


def test_a_change_of_something_else_names_nothing(clawmem: Command) -> None:
    stored = "I like the sea.\nThe deadline of Heron is 12 March 2027.\nWe use tabs.\nHeron uses Postgres on Hetzner."
    clawmem("remember", f"{stored}\nIn Heron use pnpm, never npm.")
    for later in (
        "I now have a dog.",
        "The office moved to Kortrijk.",
        "Tea is good, not bad.",
        "Heron is a river.",
        "Heron uses Paytrail for payments, not Stripe, because of a contract.",
        "Heron now uses Redis for mails.",
        "Actually, Heron is also hosted on Hetzner.",
    ):
        assert "may replace" not in clawmem("remember", later).err, later


def test_what_else_a_replaced_fact_says_stays(clawmem: Command) -> None:
    old = "Jane lives in Porto and bakes bread for a living."
    clawmem("remember", old, *HOME, env={"CLAWMEM_NOW": "2026-11-01T09:00:00Z"})
    answer = clawmem("remember", "Jane lives in Lisbon.", *HOME, env={"CLAWMEM_NOW": "2026-11-02T09:00:00Z"})
    facts = {fact["fact"] for fact in clawmem("list", "--json").data["facts"]}
    assert facts == {"Jane lives in Lisbon.", "Jane bakes bread for a living."}
    assert "keeps what else was stated: Jane bakes bread for a living." in answer.err
