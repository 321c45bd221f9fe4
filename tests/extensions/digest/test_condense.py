"""Condensation: cold facts of one topic become one, by rules, by a model, or after a person's approval."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta

from clawmem.extensions.digest.condense import MOST, condensation, condense, find_clusters
from clawmem.heartbeat.loop import run_heartbeat
from clawmem.heartbeat.queue import answer_tasks
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import all_facts
from clawmem.llm.choice import Model
from clawmem.memory.facts.access import fold_accesses, restore
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.memory.health.doctor import doctor
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.review.review import approve
from clawmem.serving.browse import list_stale
from clawmem.vault.state.journal import record_access
from clawmem.vault.vault import Vault
from tests.loopback import says, serving
from tests.needs import needs_litellm

DRINKS = [f"Ada drinks {text}." for text in ("tea", "coffee", "milk", "water", "cocoa")]
PUMPS = [
    "The pump Delta was painted in 2019.",
    "Its filter comes from Norco.",
    "Delta stands in hall 7.",
    "Bo repaired the pump.",
    "The pump is loud at night.",
]


def _store(vault: Vault, caller: Caller, words: Sequence[str], **keys: object) -> list[str]:
    drafts = [draft_from_record({"entity": "projects/plant", "fact": word, **keys}, caller.now) for word in words]
    return [remembered_fact.fact.id for remembered_fact in remember(vault, drafts, caller._replace(agent="cli")).facts]


def _values(vault: Vault, caller: Caller, words: Sequence[str], **keys: object) -> list[str]:
    named = [
        {"subject": "Ada", "predicate": "drinks", "relation_phrase": "drinks", "object": word.split()[-1].strip(".")}
        for word in words
    ]
    return [_store(vault, caller, [word], **triple, **keys)[0] for word, triple in zip(words, named, strict=True)]


def _facts(vault: Vault) -> dict[str, Fact]:
    return {placed.fact.id: placed.fact for placed in run_query(vault, lambda index: list(all_facts(index)))}


def _later(caller: Caller, days: int = 31) -> Caller:
    return caller._replace(now=caller.now + timedelta(days=days))


def test_five_values_of_one_predicate_become_one_fact(vault: Vault, caller: Caller) -> None:
    olds = _values(vault, caller, DRINKS, confidence=0.8)
    assert condense(vault, caller).commit is None
    late = _later(caller)
    commits = int(vault.git.run("rev-list", "--count", "HEAD"))
    result = condense(vault, late)
    (new,) = (placed.fact for placed in result.facts)
    assert new.fact == "Ada drinks tea, coffee, milk, water and cocoa."
    assert (new.object, new.confidence, new.trust, new.agent) == (
        "tea, coffee, milk, water and cocoa",
        0.8,
        "agent",
        "cli",
    )
    assert [(link.type, link.to) for link in new.links] == [("merges", old) for old in olds]
    assert {_facts(vault)[old].status for old in olds} == {ARCHIVED}
    assert int(vault.git.run("rev-list", "--count", "HEAD")) == commits + 1
    assert condense(vault, late).commit is None
    assert condense(vault, _later(caller, 100)).commit is None
    assert [problem.message for problem in doctor(vault, late).problems if problem.severity != "info"] == []
    assert new.links[0].at == stamp(late.now)
    assert list_stale(vault, late, FactFilter(), 10).facts == ()
    retract(vault, olds[1], late)
    ((stale, why),) = list_stale(vault, late, FactFilter(), 10).facts
    assert (stale.fact.id, why) == (new.id, f"it rests on {olds[1]}, which was retracted")
    restore(vault, olds[0], late)
    assert [problem.message for problem in doctor(vault, late).problems if problem.severity != "info"] == []


def test_four_or_hot_or_ended_or_typed_facts_stay(vault: Vault, caller: Caller) -> None:
    _values(vault, caller, DRINKS[:4])
    assert condense(vault, _later(caller)).commit is None
    # The fifth is typed by a person.
    triple = {"subject": "Ada", "predicate": "drinks", "object": "cocoa", "entity": "projects/plant"}
    remember(vault, [draft_from_record({"fact": DRINKS[4], **triple}, caller.now)], caller)
    assert find_clusters(vault, _later(caller).now) == []
    _values(vault, _later(caller, 20), ["Ada drinks mead."])
    assert find_clusters(vault, _later(caller).now) == []
    assert len(find_clusters(vault, _later(caller, 60).now)) == 1


def test_numbers_are_no_list(vault: Vault, caller: Caller) -> None:
    _values(vault, caller, [f"Ada drinks {number} litres." for number in range(5)])
    for at in range(5):
        triple = {"subject": "Bo", "predicate": "owes", "object": f"{at} euros"}
        _store(vault, caller, [f"Bo owes {at} euros."], **triple)
    result = condense(vault, _later(caller))
    assert (result.facts, len(result.proposals)) == ((), 2)


def test_without_a_model_a_person_is_asked_once(vault: Vault, caller: Caller) -> None:
    olds = _store(vault, caller, PUMPS, tags=["pump"])
    late = _later(caller)
    result = condense(vault, late)
    (waiting,) = result.proposals
    assert (waiting.does, [target.id for target in waiting.targets]) == ("merge", olds)
    assert {_facts(vault)[old].status for old in olds} == {ACTIVE}
    assert condense(vault, late).commit is None
    approve(vault, waiting.id, late)
    new = next(fact for fact in _facts(vault).values() if fact.id not in olds)
    assert all(words in new.fact for words in PUMPS)
    assert condense(vault, late).commit is None


@needs_litellm
def test_a_model_joins_and_must_keep_names_and_numbers(vault: Vault, caller: Caller) -> None:
    olds = _store(vault, caller, PUMPS, tags=["pump"])
    lossy = "The pump Delta in hall 7 was painted in 2019 and is loud at night."
    whole = "The pump Delta in hall 7, painted in 2019 with a Norco filter and repaired by Bo, is loud at night."
    late = _later(caller)
    with serving(says(json.dumps({"claim": lossy}))) as server:
        model = Model("openai/tested", server.address, "a key", timeout_seconds=20.0)
        assert not answer_tasks(vault, late, model, [condensation()]).of("condense")[0].facts
        assert not answer_tasks(vault, late, model, [condensation()]).results
        assert len(server.asked) == 1  # a declined group is not asked about again
    _store(vault, caller, ["The pump Delta weighs 80 kg."], tags=["pump"])
    whole = whole.replace("is loud", "weighs 80 kg and is loud")
    with serving(says(json.dumps({"claim": whole}))) as server:
        model = Model("openai/tested", server.address, "a key", timeout_seconds=20.0)
        (result,) = answer_tasks(vault, late, model, [condensation()]).of("condense")
    assert [fact.fact.fact for fact in result.facts] == [whole]
    assert set(olds) < set(result.archived)
    assert read_proposals(vault).open == ()


def test_what_is_asked_for_comes_first(vault: Vault, caller: Caller) -> None:
    _store(vault, caller, [f"The rope number {text} is red." for text in "abcde"], tags=["rope"])
    used = _store(vault, caller, [f"The sail number {text} is blue." for text in "abcde"], tags=["sail"])
    assert record_access(vault, stamp(caller.now), used) is None
    fold_accesses(vault, caller)
    assert [cluster.topic for cluster in find_clusters(vault, _later(caller, 60).now)] == ["sail", "rope"]


def test_at_most_twenty_facts_become_one_and_the_others_wait(vault: Vault, caller: Caller) -> None:
    ids = _store(vault, caller, [f"The rope number {n} is red." for n in range(MOST + 4)], tags=["rope"])
    (group,) = find_clusters(vault, _later(caller).now)
    assert MOST == 20 == len({fact.id for fact in group.facts}) and {fact.id for fact in group.facts} < set(ids)
    assert _store(vault, caller, ["The rope number 24 is red."], tags=["rope"])
    assert sorted(len(cluster.facts) for cluster in find_clusters(vault, _later(caller, 62).now)) == [MOST]


def test_scopes_do_not_mix(vault: Vault, caller: Caller) -> None:
    _values(vault, caller, DRINKS[:3], workflow="software", scope="team")
    _values(vault, caller, DRINKS[3:])
    assert find_clusters(vault, _later(caller).now) == []


def test_the_heartbeat_condenses(vault: Vault, caller: Caller) -> None:
    _store(
        vault,
        caller,
        [f"Ada speaks {text}." for text in ("Finnish", "German", "Dutch", "Welsh", "Greek")],
        entity="areas/people/ada",
    )
    result = run_heartbeat(vault, _later(caller), only=("relate", "condense"))
    assert len(result.results["condense"].facts) == 1
