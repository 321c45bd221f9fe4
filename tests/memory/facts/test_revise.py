"""Revise: supersede, retract, merge, link; chains stay sound and nothing is deleted."""

from __future__ import annotations

import random

import pytest

from clawmem.errors import AlreadySuperseded, AmbiguousId, InvalidInput, NotFound, NotPermitted, Refused, SecretFound
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import FactEdit, edit, link, merge, retract, supersede
from clawmem.memory.history.undo import undo
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import HEALTH, PINNED, Fact
from clawmem.model.facts.validity import true_at
from clawmem.model.lifecycle.chain import chain_problems
from clawmem.model.records.caller import Caller
from clawmem.review.review import approve
from clawmem.vault.vault import Vault
from tests.conftest import Command


def _draft(caller: Caller, text: str, **more: object) -> Draft:
    return draft_from_record({"fact": text, **more}, caller.now)


def _keep(vault: Vault, caller: Caller, text: str, **more: object) -> Fact:
    return remember(vault, [_draft(caller, text, **more)], caller).facts[0].fact


def _facts(vault: Vault) -> dict[str, Fact]:
    index = open_index(vault)
    try:
        return {placed.fact.id: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def test_a_supersession_closes_one_interval_where_the_next_begins(vault: Vault, caller: Caller) -> None:
    old = _keep(vault, caller, "Jane lives in Oslo", subject="Jane", predicate="lives_in", object="Oslo")
    result = supersede(vault, old.id, _draft(caller, "Jane lives in Rome", valid_from="2026-11-01"), caller, "moved")
    new, gone = result.facts[0].fact, result.facts[1].fact
    assert result.outcome == ("updated", "updated")
    assert (gone.status, gone.superseded_by, gone.valid_to) == ("superseded", new.id, "2026-11-01")
    assert (new.valid_from, new.subject, new.predicate, new.object) == ("2026-11-01", "Jane", "lives_in", "Rome")
    assert [(link.type, link.to, link.reason) for link in new.links] == [("supersedes", old.id, "moved")]
    for day, truth in (("2026-10-31", gone), ("2026-11-01", new)):
        holding = [fact for fact in (gone, new) if true_at(fact, day)]
        assert holding == [truth]


def test_a_superseded_fact_names_the_one_to_change(vault: Vault, caller: Caller) -> None:
    old = _keep(vault, caller, "Jane lives in Oslo")
    new = supersede(vault, old.id, _draft(caller, "Jane lives in Rome"), caller).facts[0].fact
    before = vault.head()
    with pytest.raises(AlreadySuperseded, match=new.id):
        supersede(vault, old.id, _draft(caller, "Jane lives in Paris"), caller)
    with pytest.raises(Refused, match="has exactly this statement"):
        supersede(vault, new.id, _draft(caller, "jane lives in rome."), caller)
    assert vault.head() == before


def test_a_statement_that_stands_already_becomes_the_successor(vault: Vault, caller: Caller) -> None:
    old = _keep(vault, caller, "Jane lives in Oslo")
    rome = _keep(vault, caller, "Jane lives in Rome")
    result = supersede(vault, old.id, _draft(caller, "Jane lives in Rome"), caller)
    assert result.facts[0].fact.id == rome.id
    assert len(_facts(vault)) == 2


def test_a_retraction_keeps_the_fact_and_its_reason(vault: Vault, caller: Caller) -> None:
    fact = _keep(vault, caller, "Jane likes coffee")
    result = retract(vault, fact.id, caller, "she never did")
    assert result.facts[0].fact.metadata == {"retracted": {"at": "2026-11-21T09:30:00Z", "reason": "she never did"}}
    again = retract(vault, fact.id, caller)
    assert (again.outcome, again.commit) == (("noop",), None)


def test_a_merge_joins_over_entities_in_one_commit(vault: Vault, caller: Caller) -> None:
    fact = _keep(vault, caller, "Jane likes tea", entity="areas/people/jane", tags=["drink"], valid_from="2026-01-01")
    two = _keep(vault, caller, "Green tea is Jane's favourite", valid_from="2025-01-01", importance=0.9)
    before = vault.head().commit
    result = merge(vault, [fact.id, two.id], _draft(caller, "Jane likes tea, green most of all"), caller)
    new = result.facts[0].fact
    assert (result.facts[0].entity, new.tags, new.importance, new.valid_from) == (
        "areas/people/jane",
        ("drink",),
        0.9,
        "2025-01-01",
    )
    assert {link.to for link in new.links} == {fact.id, two.id}
    assert all(_facts(vault)[old.id].superseded_by == new.id for old in (fact, two))
    assert vault.git.run("rev-parse", "HEAD~1").decode().strip() == before
    with pytest.raises(InvalidInput):
        merge(vault, [new.id, new.id], _draft(caller, "Again"), caller)


def test_links_are_kept_once_and_checked(vault: Vault, caller: Caller) -> None:
    fact, two = _keep(vault, caller, "Rent is 900"), _keep(vault, caller, "Rent is 950")
    assert link(vault, fact.id, "contradicts", two.id, caller, "both in May").outcome == ("updated",)
    assert link(vault, fact.id, "contradicts", two.id, caller).commit is None
    for kind, target in (("supersedes", two.id), ("likes", two.id), ("supports", fact.id)):
        with pytest.raises(InvalidInput):
            link(vault, fact.id, kind, target, caller)


def test_a_link_that_replaces_another_leaves_the_rest(vault: Vault, caller: Caller) -> None:
    fact, old, new, kept = (
        _keep(vault, caller, f"The {name} pump stands in hall 7") for name in ("red", "a", "b", "c")
    )
    for kind, target in (("depends_on", old), ("depends_on", kept), ("supports", old), ("supports", new)):
        link(vault, fact.id, kind, target.id, caller)
    with pytest.raises(InvalidInput, match=f"has no 'depends_on' link to {new.id}"):
        link(vault, fact.id, "depends_on", kept.id, caller, None, new.id)
    result = link(vault, fact.id, "depends_on", new.id, caller, "the hose was moved", old.id)
    assert result.outcome == ("updated",)
    links = {(known.type, known.to, known.reason) for known in _facts(vault)[fact.id].links}
    assert links == {
        ("depends_on", kept.id, None),
        ("depends_on", new.id, "the hose was moved"),
        ("supports", old.id, None),
        ("supports", new.id, None),
    }
    text = vault.git.run("log", "-1", "--format=%B").decode()
    assert f"{fact.id} depends_on {new.id}, not {old.id} (because: the hose was moved)" in " ".join(text.split())
    # Where both links are there already, the former one goes.
    assert link(vault, fact.id, "depends_on", new.id, caller, None, kept.id).outcome == ("updated",)
    assert [known.to for known in _facts(vault)[fact.id].links if known.type == "depends_on"] == [new.id]
    assert link(vault, fact.id, "depends_on", new.id, caller, None, new.id).outcome == ("noop",)


def test_unknown_and_ambiguous_ids(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "One")
    _keep(vault, caller, "Two")
    with pytest.raises(NotFound):
        retract(vault, "fact_ffffffff", caller)
    with pytest.raises(AmbiguousId) as found:
        retract(vault, "fact_", caller)
    assert len(found.value.matches) == 2
    with pytest.raises(NotFound, match="the words 'no/id'"):
        retract(vault, "no/id", caller)


def test_words_name_the_only_fact_that_has_them_all(vault: Vault, caller: Caller) -> None:
    mill, shed, bea = (
        "Ylva Storm works at the mill.",
        "The shed has a rent of 310 euros.",
        "Bea lives at 14 Linden Row.",
    )
    for text in (mill, "Ylva Storm sings bass.", shed, bea, "Cy lives at 4 Linden Row.", "Bea Lund keeps bees."):
        _keep(vault, caller, text)
    for words in ("where Ylva works", "Ylva", "the harbour", "Linden Row"):
        with pytest.raises((AmbiguousId, NotFound)):
            retract(vault, words, caller)
    for words, found in (("where Ylva Storm works", mill), ("the rent of the shed", shed), ("14 Linden Row", bea)):
        assert retract(vault, words, caller).facts[0].fact.fact == found


@pytest.mark.parametrize("seed", range(2))
def test_random_revisions_leave_every_chain_sound(vault: Vault, caller: Caller, seed: int) -> None:
    chance = random.Random(seed)
    standing = [_keep(vault, caller, f"Fact {number} of {seed}").id for number in range(4)]
    for number in range(12):
        kind = chance.choice(("add", "supersede", "merge", "retract"))
        if kind == "add" or len(standing) < 2:
            standing.append(_keep(vault, caller, f"Added {number} of {seed}").id)
        elif kind == "supersede":
            old = standing.pop(chance.randrange(len(standing)))
            result = supersede(vault, old, _draft(caller, f"Newer {number} of {seed}"), caller)
            standing.append(result.facts[0].fact.id)
        elif kind == "merge":
            pair = [standing.pop(chance.randrange(len(standing))) for _ in range(2)]
            result = merge(vault, pair, _draft(caller, f"Joined {number} of {seed}"), caller)
            standing.append(result.facts[0].fact.id)
        else:
            retract(vault, standing.pop(chance.randrange(len(standing))), caller)
    facts = _facts(vault)
    assert chain_problems(facts.values()) == ()
    assert {fact.id for fact in facts.values() if fact.is_current} == set(standing)
    assert vault.git.run("status", "--porcelain") == b""


def test_a_merge_is_surer_than_its_parts(vault: Vault, caller: Caller) -> None:
    items = [{"fact": f"The bicycle is {text}", "confidence": 0.7} for text in ("old", "green")]
    parts = [draft_from_record(record, caller.now) for record in items]
    ids = [remembered_fact.fact.id for remembered_fact in remember(vault, parts, caller).facts]
    joint = draft_from_record({"fact": "The bicycle is old and green"}, caller.now)
    assert merge(vault, ids, joint, caller).facts[0].fact.confidence == 0.91


@pytest.mark.parametrize(("start", "begins"), [("2025-03-01", "2024-01-01"), (None, None)])
def test_a_merge_begins_with_its_first_part_if_each_has_a_start(
    vault: Vault, caller: Caller, start: str | None, begins: str | None
) -> None:
    ids = [
        _keep(vault, caller, f"Jane plays {text}", valid_from=at).id
        for text, at in (("go", "2024-01-01"), ("chess", start))
    ]
    joined = merge(vault, ids, _draft(caller, "Jane plays go and chess"), caller).facts[0].fact
    assert joined.valid_from == begins


def test_a_link_between_facts_that_contradict_each_other_asks_a_person_once(vault: Vault, caller: Caller) -> None:
    first, other, ended = (_keep(vault, caller, f"The {name} pump is the main one.") for name in ("red", "blue", "old"))
    retract(vault, ended.id, caller)
    assert link(vault, first.id, "contradicts", ended.id, caller).notices == ()
    result = link(vault, first.id, "contradicts", other.id, caller)
    (asked,) = read_proposals(vault).open
    assert asked.kind == "conflict" and {target.id for target in asked.targets} == {first.id, other.id}
    assert any(f"`clawmem review show {asked.id}`" in notice for notice in result.notices)
    assert vault.git.run("status", "--porcelain") == b"" and result.commit == vault.head().commit
    assert link(vault, other.id, "contradicts", first.id, caller).notices == ()
    assert len(read_proposals(vault).open) == 1
    approve(vault, asked.id, caller, None)
    assert sorted(fact.status for fact in _facts(vault).values()) == ["active", "retracted", "superseded"]


def test_a_fact_is_moved_tagged_and_pinned_in_one_commit(vault: Vault, caller: Caller) -> None:
    fact = _keep(vault, caller, "The launch is in May.", entity="projects/atlas", tags=["old"])
    changes = FactEdit("projects/borealis", (" Launch ", "launch"), ("OLD",), True)
    result = edit(vault, fact.id, changes, caller)
    placed = result.facts[0]
    assert (placed.entity, placed.fact.tags, placed.fact.importance) == ("projects/borealis", ("launch",), PINNED)
    assert result.outcome == ("updated",)
    assert result.did == "moved from projects/atlas, pinned, tagged launch, untagged old"
    subject = f"edit(projects/borealis): {result.did}: The launch is in May."
    assert vault.git.run("log", "-1", "--format=%s", result.commit or "").decode().strip() == subject
    assert vault.read("life/projects/atlas/items.json") == b"[]\n"
    assert _facts(vault)[fact.id] == placed.fact
    again = edit(vault, fact.id, changes, caller)
    assert (again.outcome, again.commit) == (("noop",), None)
    undo(vault, result.commit, caller)
    assert _facts(vault)[fact.id] == fact
    edit(vault, fact.id, FactEdit(pinned=True), caller)
    assert edit(vault, fact.id, FactEdit(pinned=False), caller).facts[0].fact.importance is None


def test_unpinning_keeps_the_importance_of_what_a_fact_says(vault: Vault, caller: Caller) -> None:
    fact = _keep(vault, caller, "Jane is allergic to nuts.")
    edit(vault, fact.id, FactEdit(pinned=True), caller)
    assert edit(vault, fact.id, FactEdit(pinned=False), caller).facts[0].fact.importance == fact.importance == HEALTH
    minor = _keep(vault, caller, "Tom is allergic to dust.", importance=0.3)
    assert edit(vault, minor.id, FactEdit(pinned=False), caller).outcome == ("noop",), "it was not pinned"


def test_an_agent_edits_neither_what_a_person_stated_nor_pins_the_web(vault: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="fin")
    stated = _keep(vault, caller, "The budget is 5000 euros.")
    web = _keep(vault, agent, "The gateway is blue.", source="web:example.org")
    with pytest.raises(NotPermitted, match="A person stated"):
        edit(vault, stated.id, FactEdit(tags=("x",)), agent)
    with pytest.raises(NotPermitted, match="only a person may pin"):
        edit(vault, web.id, FactEdit(pinned=True), agent)
    assert edit(vault, web.id, FactEdit(tags=("x",)), agent).facts[0].fact.tags == ("x",)


def test_a_credential_is_no_tag(vault: Vault, caller: Caller) -> None:
    fact = _keep(vault, caller, "The launch is in May.")
    with pytest.raises(SecretFound):
        edit(vault, fact.id, FactEdit(tags=("ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",)), caller)


def test_what_was_corrected_was_never_true_and_why_it_was_withdrawn_is_said_so(clawmem: Command) -> None:
    clawmem("remember", "Haruto likes sawing.")
    edited = clawmem("edit", "likes sawing", "Haruto likes sewing.").out
    assert "(areas/general, superseded, never true)" in edited, edited
    clawmem("remember", "The sky is green.", "--reason", "so it looked")
    assert "retracted, because junk)" in clawmem("retract", "sky is green", "--reason", "junk").out


def test_new_words_keep_the_reason_for_which_a_fact_replaced_another(clawmem: Command) -> None:
    clawmem("remember", "The fee is 10 euros.")
    clawmem("supersede", "The fee is", "The fee is 12 euros.", "--reason", "the board")
    clawmem("edit", "The fee is 12", "The fee is 12 euros a day.")
    clawmem("edit", "The fee is 12", "The fee is 12 euros each day.")
    assert "The fee is 12 euros each day." in (shown := clawmem("list").out)
    assert "because the board" in shown
    clawmem("edit", "The fee is 12", "The fee is 12 euros for each day.", "--reason", "a typo")
    assert "because the board" in clawmem("list").out
