"""A strategy settles rival values: the answer names the winner and why, and the loser is closed in the same commit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command

HOME = ("--entity", "areas/people/jane")


def with_strategy(root: Path, strategy: str, relation: str = "lives_in") -> None:
    path = root / "predicates.yaml"
    text = path.read_text()
    assert text.count(f"\n{relation}:\n") == 1
    path.write_text(text.replace(f"\n{relation}:\n", f"\n{relation}:\n  conflict: {strategy}\n"))


def said(clawmem: Command, *words: str) -> dict[str, object]:
    (conflict,) = clawmem("remember", *words, *HOME, "--json").data["conflicts"]
    return dict(conflict)


def states(clawmem: Command) -> dict[str, str]:
    facts = clawmem("list", "--include-superseded", "--json").data["facts"]
    return {fact["fact"]: fact["status"] for fact in facts}


def test_the_newest_wins_in_one_commit(clawmem: Command, vault_root: Path) -> None:
    with_strategy(vault_root, "newest")
    old = clawmem("remember", "Jane lives in Porto.", *HOME, "--json").data["facts"][0]["id"]
    answer = clawmem("remember", "Jane lives in Lisbon now.", *HOME, "--json")
    new = answer.data["facts"][0]
    (conflict,) = answer.data["conflicts"]
    assert (conflict["winner"], conflict["strategy"]) == (new["id"], "newest")
    assert conflict["why"] == "it is the newest, and the relation lives_in settles conflicts by `newest`"
    assert [(link["type"], link["to"]) for link in new["links"]] == [("supersedes", old)]
    assert states(clawmem) == {"Jane lives in Porto.": "superseded", "Jane lives in Lisbon now.": "active"}
    assert clawmem("review", "list", "--json").data["proposals"] == []
    assert clawmem("doctor").code == 0
    clawmem("undo", "HEAD")
    assert states(clawmem) == {"Jane lives in Porto.": "active"}


def test_news_about_the_past_do_not_win(clawmem: Command, vault_root: Path) -> None:
    with_strategy(vault_root, "newest")
    old = clawmem("remember", "Jane lives in Porto.", *HOME, "--valid-from", "2024", "--json").data["facts"][0]["id"]
    answer = clawmem("remember", "Jane lives in Rome.", "--valid-from", "2020", *HOME, "--json").data
    assert [(fact["fact"], fact["status"]) for fact in answer["facts"]] == [("Jane lives in Rome.", "superseded")]
    assert [conflict["winner"] for conflict in answer["conflicts"]] == [old]
    assert states(clawmem) == {"Jane lives in Rome.": "superseded", "Jane lives in Porto.": "active"}
    subject = clawmem("log", "--json", "--limit", "1").data["history"][-1]["subject"]
    assert subject == "remember(areas/people/jane): Jane lives in Rome. (not: Jane lives in Porto. stays)"


def test_a_value_that_lost_and_comes_back_in_one_batch_is_a_new_fact(clawmem: Command, vault_root: Path) -> None:
    with_strategy(vault_root, "confidence")
    values = (("Porto", 0.5), ("Rome", 0.7), ("Porto", 0.9))
    lines = [{"fact": f"Jane lives in {city}.", "entity": HOME[1], "confidence": sure} for city, sure in values]
    result = clawmem("remember", "--jsonl", "-", "--json", given="\n".join(map(json.dumps, lines)))
    assert result.code == 0, result
    facts = clawmem("list", "--include-superseded", "--json").data["facts"]
    assert sorted((fact["fact"], fact["confidence"], fact["status"]) for fact in facts) == [
        ("Jane lives in Porto.", 0.5, "superseded"),
        ("Jane lives in Porto.", 0.9, "active"),
        ("Jane lives in Rome.", 0.7, "superseded"),
    ]


@pytest.mark.parametrize(("old", "new", "winner"), [("0.5", "0.9", "new"), ("0.9", "0.5", "old"), (None, "0.9", None)])
def test_the_most_confident_wins(
    clawmem: Command, vault_root: Path, old: str | None, new: str, winner: str | None
) -> None:
    with_strategy(vault_root, "confidence")
    sure = ("--confidence", old) if old else ()
    first = clawmem("remember", "Jane lives in Porto.", *HOME, *sure, "--json").data["facts"][0]["id"]
    conflict = said(clawmem, "Jane lives in Rome.", "--confidence", new)
    assert conflict["winner"] == {"new": conflict["fact"], "old": first, None: None}[winner]
    assert ("proposal" in conflict) is (winner is None)
    if winner is None:
        assert "no single fact has the highest confidence" in str(conflict["why"])
        assert clawmem("recall", "where does Jane live?").out.count("not settled") == 2


def test_a_batch_is_settled_value_by_value(clawmem: Command, vault_root: Path) -> None:
    with_strategy(vault_root, "newest")
    lines = "".join(f'{{"fact": "Jane lives in {place}."}}\n' for place in ("Porto", "Rome", "Oslo", "Porto"))
    answer = clawmem("remember", "--jsonl", "-", *HOME, "--json", given=lines)
    assert len(answer.data["conflicts"]) == 3, answer.data["conflicts"]
    facts = clawmem("list", "--include-superseded", "--json").data["facts"]
    assert sorted((fact["fact"], fact["status"]) for fact in facts if fact["status"] == "active") == [
        ("Jane lives in Porto.", "active")
    ]
    assert len(facts) == 4 and clawmem("doctor").code == 0


def test_a_workflow_has_a_strategy_of_its_own(clawmem: Command, vault_root: Path) -> None:
    path = vault_root / "workflows" / "software.yaml"
    path.write_text(path.read_text() + "conflicts: newest\n")
    pair = (*HOME, "--workflow", "software", "--scope", "team")
    clawmem("remember", "Jane lives in Porto.", *pair)
    (conflict,) = clawmem("remember", "Jane lives in Rome.", *pair, "--json").data["conflicts"]
    assert conflict["winner"] == conflict["fact"] and "the workflow software" in conflict["why"]
    with_strategy(vault_root, "ask")
    (conflict,) = clawmem("remember", "Jane lives in Oslo.", *pair, "--json").data["conflicts"]
    assert conflict["winner"] is None, "the relation says more than the workflow"


def test_a_wrong_strategy_is_named(clawmem: Command, vault_root: Path) -> None:
    with_strategy(vault_root, "oldest")
    wrong = clawmem("remember", "Jane lives in Porto.", *HOME)
    assert "'lives_in' has the conflict 'oldest'; it must be one of newest, confidence, ask" in clawmem("doctor").out
    assert wrong.code in (0, 2, 3)
    path = vault_root / "workflows" / "software.yaml"
    path.write_text(path.read_text() + "conflicts: oldest\n")
    assert (
        "the key 'conflicts' must be one of newest, confidence, ask, but is 'oldest'"
        in clawmem("workflow", "check").out
    )


def test_a_later_value_from_the_same_person_replaces_without_a_strategy(clawmem: Command) -> None:
    clawmem("remember", "Jane lives in Oslo.", *HOME, "--valid-from", "2024")
    conflict = said(clawmem, "Jane lives in Bergen.")
    assert conflict["why"] == "it is the newest, and the relation lives_in settles conflicts by `newest`"
    assert states(clawmem) == {"Jane lives in Oslo.": "superseded", "Jane lives in Bergen.": "active"}


@pytest.mark.parametrize("options", [("--agent", "bot"), ("--trust", "external"), ("--valid-from", "2020")])
def test_an_agent_an_outsider_and_news_of_the_past_replace_nothing(clawmem: Command, options: tuple[str, ...]) -> None:
    clawmem("remember", "Jane lives in Oslo.", *HOME, "--valid-from", "2024")
    assert said(clawmem, "Jane lives in Bergen.", *options)["winner"] is None
    assert states(clawmem)["Jane lives in Oslo."] == "active"


def test_the_newest_of_an_agent_does_not_win_against_a_person(clawmem: Command, vault_root: Path) -> None:
    with_strategy(vault_root, "newest")
    clawmem("remember", "Jane lives in Porto.", *HOME)
    conflict = said(clawmem, "Jane lives in Rome.", "--agent", "ann")
    assert conflict["winner"] is None and "has the trust agent" in str(conflict["why"])
    assert set(states(clawmem).values()) == {"active"}
    asked = conflict["proposal"]
    newest = said(clawmem, "Jane lives in Oslo.")
    assert newest["winner"] == newest["fact"]
    (closed,) = clawmem("review", "list", "--all", "--json").data["proposals"]
    assert (closed["id"], closed["status"]) == (asked, "rejected")
    assert (closed["decided"]["by"], closed["decided"]["winner"]) == ("strategy newest", newest["fact"])
    assert clawmem("doctor").code == 0


def test_an_agent_does_not_settle_a_conflict_that_waits_for_a_person(clawmem: Command) -> None:
    other = clawmem("remember", "Jane lives in Porto.", *HOME, "--json").data["facts"][0]["id"]
    two = clawmem("remember", "Jane lives in Rome.", *HOME, "--json").data["facts"][0]["id"]
    by = ("--agent", "ann", "--json")
    assert clawmem("retract", other, *by).data["outcome"] == ["proposed"]
    assert clawmem("supersede", other, "Jane lives in Oslo.", *by).data["outcome"] == ["proposed"]
    assert clawmem("merge", other, two, "--into", "Jane lives in Porto and Rome.", *by).data["outcome"] == ["proposed"]
    assert set(states(clawmem).values()) == {"active"}
    assert len(clawmem("review", "list", "--json").data["proposals"]) == 4
    assert clawmem("doctor").code == 0
    assert clawmem("retract", other, "--json").data["outcome"] == ["retracted"]


def test_an_agent_only_proposes_to_retract_what_a_person_stated(clawmem: Command) -> None:
    fact = clawmem("remember", "Jane likes tea.", *HOME, "--json").data["facts"][0]["id"]
    asked = clawmem("retract", fact, "--reason", "She does not.", "--agent", "ann", "--json").data["facts"][0]["id"]
    assert states(clawmem) == {"Jane likes tea.": "active"}
    assert clawmem("review", "approve", asked).code == 0
    assert states(clawmem) == {"Jane likes tea.": "retracted"}
    own = clawmem("remember", "Jane likes rum.", *HOME, "--agent", "ann", "--json").data["facts"][0]["id"]
    assert clawmem("retract", own, "--agent", "ann", "--json").data["outcome"] == ["retracted"]


def test_where_the_routes_name_a_reviewer_an_agent_proposes_to_supersede(clawmem: Command) -> None:
    fact = clawmem("remember", "Jane likes tea.", *HOME, "--json").data["facts"][0]["id"]
    clawmem("config", "set", "review.routes", "areas/people/** ada@example.org")
    by = ("--agent", "ann", "--json")
    assert clawmem("supersede", fact, "Jane likes rum.", *by).data["outcome"] == ["proposed"]


def test_what_a_batch_closed_in_another_entity_is_no_rival_any_more(clawmem: Command, vault_root: Path) -> None:
    """The first line replaced the fact that was there, so the second one does not stand against that."""
    with_strategy(vault_root, "newest")
    triple = {"subject": "Jane", "predicate": "lives_in"}
    clawmem("remember", "Jane's home: Porto", "--entity", "areas/people/friends", "--subject", "Jane", "--predicate",
            "lives_in", "--object", "Porto")  # fmt: skip
    clawmem("remember", "Jane paints.", "--entity", "areas/people/friends")
    lines = [
        {"fact": "Jane's home: Rome", "entity": "areas/people/friends", **triple, "object": "Rome"},
        {"fact": "Jane's home: Oslo", "entity": "areas/people/jane", **triple, "object": "Oslo"},
    ]
    value = "".join(f"{json.dumps(line)}\n" for line in lines)
    answer = clawmem("remember", "--jsonl", "-", "--json", given=value)
    rome, oslo = (fact["id"] for fact in answer.data["facts"])
    rivals = {
        conflict["fact"]: {rival["fact"] for rival in conflict["against"]} for conflict in answer.data["conflicts"]
    }
    assert rivals[rome] == {"Jane's home: Porto"}
    assert rivals.get(oslo, set()) <= {"Jane's home: Rome"}
    assert states(clawmem)["Jane's home: Porto"] == "superseded"
    assert clawmem("doctor").code == 0
