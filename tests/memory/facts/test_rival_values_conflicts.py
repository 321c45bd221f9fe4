"""A person's own change answers the open question about a conflict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command

TRIPLE = ("--subject", "Dana", "--predicate", "born_in", "-e", "areas/people/dana")


@pytest.fixture
def sides(clawmem: Command) -> tuple[str, str]:
    """The ids of two facts in an open conflict."""
    found = []
    for city in ("Oslo", "Bergen"):
        result = clawmem("remember", f"Dana was born in {city}.", *TRIPLE, "--object", city, "--json").data
        found.append(result["facts"][0]["id"])
    assert shown(clawmem) == {"Oslo": [found[1]], "Bergen": [found[0]]}
    return found[0], found[1]


def shown(clawmem: Command) -> dict[str, list[str]]:
    """The facts that stand in `list` and `recall`, by their city, and what they are in conflict with."""
    listed = clawmem("list", "--json").data["facts"]
    found = {other["object"]: other.get("conflicts_with", []) for other in listed}
    recalled = clawmem("recall", "where was Dana born?", "--json").data["facts"]
    assert {other["object"]: other.get("conflicts_with", []) for other in recalled} == found
    return found


def question(clawmem: Command) -> tuple[str, list[str]]:
    (other,) = clawmem("review", "list", "--all", "--json").data["proposals"]
    return other["status"], [target["id"] for target in other["targets"]]


def test_facts_kept_beside_each_other_are_no_conflict_any_more(clawmem: Command, sides: tuple[str, str]) -> None:
    (waiting,) = clawmem("review", "list", "--json").data["proposals"]
    result = clawmem("review", "approve", waiting["id"], "--beside", "--reason", "two registers", "--json").data
    assert [link["type"] for fact in result["facts"] for link in fact.get("links", [])] == ["beside"]
    assert shown(clawmem) == {"Oslo": [], "Bergen": []}
    assert "conflict" not in clawmem("context", "where was Dana born?").out
    assert clawmem("doctor").code == 0
    # A third value contradicts both.
    rome = clawmem("remember", "Dana was born in Rome.", *TRIPLE, "--object", "Rome", "--json").data["facts"][0]["id"]
    assert shown(clawmem) == {"Oslo": [rome], "Bergen": [rome], "Rome": sorted(sides)}
    clawmem("retract", rome)
    assert clawmem("undo", result["commit"]).code == 0
    assert shown(clawmem) == {"Oslo": [sides[1]], "Bergen": [sides[0]]}
    assert clawmem("link", sides[0], sides[1], "--type", "beside").code == 2


@pytest.mark.parametrize("change", [("supersede", "Dana was born in Bergen."), ("retract",)])
def test_a_change_of_one_side_by_a_person_answers_the_question(
    change: tuple[str, ...], clawmem: Command, sides: tuple[str, str], vault_root: Path
) -> None:
    verb, *words = change
    commit = clawmem(verb, sides[0], *words, "--json").data["commit"]
    assert question(clawmem) == ("rejected", list(sides))
    (other,) = clawmem("review", "list", "--all", "--json").data["proposals"]
    assert other["decided"]["winner"] == sides[1]
    assert other["decided"]["reason"] == f"decided by {verb}"
    assert other["decided"]["by"] == "Ada Person <ada@example.org>"
    assert shown(clawmem) == {"Bergen": []}
    assert clawmem("undo", commit).code == 0
    assert question(clawmem)[0] == "open"


def test_a_new_word_that_contradicts_too_keeps_the_question_open(clawmem: Command, sides: tuple[str, str]) -> None:
    words = ("Dana was born in Rome.", "--object", "Rome")
    new = clawmem("supersede", sides[1], *words, "--json").data["facts"][0]["id"]
    assert question(clawmem) == ("open", [sides[0], new])
    (other,) = clawmem("review", "list", "--json").data["proposals"]
    assert other["says"] == "Dana was born in Rome. (instead of: Dana was born in Oslo.)"
    assert clawmem("review", "approve", other["id"]).code == 0
    assert shown(clawmem) == {"Rome": []}


def test_who_may_not_decide_does_not_answer_it(clawmem: Command, sides: tuple[str, str]) -> None:
    clawmem("config", "set", "review.routes", "kind:conflict ben@example.org")
    assert clawmem("supersede", sides[0], "Dana was born in Bergen.").code == 0
    assert question(clawmem)[0] == "open"


def test_an_approval_without_a_reason_leaves_the_reason_of_the_person(clawmem: Command) -> None:
    where = ("-e", "areas/office")
    clawmem("remember", "The office is in Lisbon.", *where)
    change = ("The office is in Lisbon.", "The office is in Porto.", "--reason", "cheaper")
    porto = clawmem("supersede", *change, "--json").data["facts"][0]["id"]
    other = clawmem("remember", "The office is in Madrid.", *where, "--json").data["facts"][0]["id"]
    assert clawmem("link", porto, other, "--type", "contradicts").code == 0
    (waiting,) = clawmem("review", "list", "--json").data["proposals"]
    assert clawmem("review", "approve", waiting["id"], "--keep", porto).code == 0
    (line,) = clawmem("recall", "where is the office?").out.splitlines()
    assert "Porto" in line and "because cheaper" in line
    assert "contradict" not in clawmem("context", "where is the office?").out


def test_a_decision_closes_what_it_leaves_without_effect(clawmem: Command, sides: tuple[str, str]) -> None:
    rome = clawmem("remember", "Dana was born in Rome.", *TRIPLE, "--object", "Rome", "--json").data["facts"][0]["id"]
    oslo, bergen = sides
    waiting = clawmem("review", "list", "--json").data["proposals"]
    two, three = sorted((each["id"] for each in waiting), key=lambda name: len(targets(clawmem, name)))
    assert targets(clawmem, three) == {oslo, bergen, rome}
    assert clawmem("review", "approve", two, "--keep", oslo).code == 0
    assert targets(clawmem, three) == {oslo, rome}
    assert clawmem("review", "approve", three, "--keep", rome).code == 0
    assert clawmem("review", "list", "--json").data["proposals"] == []
    assert shown(clawmem) == {"Rome": []}


def targets(clawmem: Command, proposal: str) -> set[str]:
    return {target["id"] for target in clawmem("review", "show", proposal, "--json").data["proposal"]["targets"]}


def test_a_promotion_closes_with_its_fact(clawmem: Command, vault_root: Path) -> None:
    words = ("Ann pays 5 euros.", "Bo pays 6 euros.", "Cy pays 7 euros.")
    ids = [clawmem("remember", text, "--json").data["facts"][0]["id"] for text in words]
    for number, (text, fact) in enumerate(zip(words, ids, strict=True)):
        proposal = {
            "id": f"prop_0000000{number}", "kind": "promotion", "status": "open", "does": "promote",
            "says": f"Keep for thirty days: {text}", "why": "It is doubtful.", "created": "2026-11-20T10:00:00Z",
            "targets": [{"id": fact, "fact": text}], "worth": {"on": "2026-11-20", "score": 0.5, "reasons": ["new"]},
        }  # fmt: skip
        (vault_root / "review").mkdir(exist_ok=True)
        (vault_root / "review" / f"prop_0000000{number}.json").write_text(json.dumps(proposal), encoding="utf-8")
    assert len(clawmem("review", "list", "--json").data["proposals"]) == 3
    clawmem("supersede", ids[0], "Ann pays 8 euros.")
    clawmem("forget", "Bo pays", "--yes")
    clawmem("retract", ids[2])
    assert clawmem("review", "list", "--json").data["proposals"] == []
    assert clawmem("doctor").code == 0


def test_a_denial_of_what_is_said_of_somebody_who_has_no_page_is_asked_about(clawmem: Command) -> None:
    first = clawmem("remember", "Ines is allergic to nuts.", "--json").data["facts"][0]["id"]
    assert f"contradicts {first}" in clawmem("remember", "Ines is not allergic to nuts.").err
    assert clawmem("recall", "is Ines allergic to nuts").out.count("in conflict with fact_") == 2
    assert "Ines is not allergic" in clawmem("review", "list").out


def test_what_is_kept_is_what_the_proposal_says_from_then_on(clawmem: Command, sides: tuple[str, str]) -> None:
    (waiting,) = clawmem("review", "list", "--json").data["proposals"]
    assert waiting["says"].startswith("Dana was born in Bergen.")
    shown = clawmem("review", "approve", waiting["id"], "--keep", sides[0], "--reason", "her passport says so")
    assert shown.out.splitlines()[0].endswith("Dana was born in Oslo. (instead of: Dana was born in Bergen.)")
    listed = clawmem("review", "list", "--all", "--json").data["proposals"]
    assert [proposal["says"] for proposal in listed] == [
        "Dana was born in Oslo. (instead of: Dana was born in Bergen.)"
    ]
    assert "by: Dana was born in Oslo." in clawmem("review", "show", waiting["id"]).out
    assert clawmem("undo").code == 0
    assert clawmem("review", "list", "--json").data["proposals"] == [waiting]
