"""Words of one fact changed by hand on two machines: both stay, side by side or as one chain, by every policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.memory.facts.revise import supersede
from clawmem.memory.health.configure import change_setting
from clawmem.memory.health.doctor import doctor
from clawmem.memory.sync.sync import SyncOptions
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.lifecycle import chain
from tests.conftest import NOW
from tests.memory.machines import Machine, make_machines
from tests.memory.test_git_merges import pull

ITEMS = "life/areas/people/jane/items.json"
BLACK, PAST = "Jane has a black cat called Mio.", "Jane had a cat until May."


@pytest.fixture
def reworded(tmp_path: Path, environment: dict[str, str]) -> tuple[Machine, Machine, str]:
    """Two machines that gave one fact other words, each its own; the first has pushed."""
    machine, other = make_machines(tmp_path, environment, build=_reword)
    (cat,) = (fact for fact in machine.facts().values() if "cat" in fact.fact and "Written" not in fact.fact)
    return machine, other, cat.id


def _reword(machines: list[Machine]) -> None:
    first, other = machines
    first.keep("Jane has a cat.", entity="areas/people/jane")
    first.sync()
    other.sync()
    for machine, words in ((first, BLACK), (other, PAST)):
        machine.write(ITEMS, machine.read(ITEMS).replace("Jane has a cat.", words))
        machine.keep(f"Written after that: {words[:12]}", entity="areas/general")
    first.sync()


@pytest.mark.few(3)
@pytest.mark.parametrize("road", ["sync", "pull"])
@pytest.mark.parametrize(
    ("policy", "wins"), [("ours", {PAST}), ("theirs", {BLACK}), ("newest", {BLACK, PAST}), ("review", {BLACK, PAST})]
)
def test_both_wordings_stay_under_every_policy(
    reworded: tuple[Machine, Machine, str], policy: str, wins: set[str], road: str
) -> None:
    machine, other, cat = reworded
    if road == "sync":
        result = other.sync(SyncOptions(conflict=policy))
        assert [conflict.kind for conflict in result.conflicts] == ["wording"]
    else:
        change_setting(other.vault, other.caller, "sync.conflict", policy)
        assert pull(other).returncode == 0
        other.keep("The next command completes it.", entity="areas/general")
        other.sync()
    machine.sync()
    assert machine.facts() == other.facts()
    facts = {fact.fact: fact for fact in other.facts().values() if "cat" in fact.fact and "Written" not in fact.fact}
    assert set(facts) == {BLACK, PAST}
    standing = {words for words, fact in facts.items() if fact.is_current}
    assert chain.chain_problems(other.facts().values()) == ()
    if policy == "review":
        assert standing == wins
    else:
        (winner,) = standing
        assert winner in wins and facts[winner].id == cat
        (loser,) = set(facts) - standing
        assert facts[loser].superseded_by == cat
        assert {fact.id for fact in chain.chain_of(cat, other.facts())} == {cat, facts[loser].id}
    assert doctor(other.vault, other.caller).healthy


@pytest.mark.parametrize("policy", ["ours", "theirs"])
def test_words_changed_here_and_the_fact_replaced_there(
    tmp_path: Path, environment: dict[str, str], policy: str
) -> None:
    machine, other = make_machines(tmp_path, environment)
    (cat,) = machine.keep("Jane has a cat.", entity="areas/people/jane")
    machine.sync()
    other.sync()
    machine.write(ITEMS, machine.read(ITEMS).replace("Jane has a cat.", BLACK))
    machine.keep("Something else.", entity="areas/general")
    machine.sync()
    other.write(ITEMS, other.read(ITEMS).replace("Jane has a cat.", PAST))
    draft = draft_from_record({"fact": "Jane has a dog."}, NOW)
    supersede(other.vault, cat.id, draft, other.caller)
    other.sync(SyncOptions(conflict=policy))
    facts = other.facts()
    assert {BLACK, PAST, "Jane has a dog."} <= {fact.fact for fact in facts.values()}
    assert not {BLACK, PAST} & set(other.standing())
    assert chain.chain_problems(facts.values()) == ()
    assert {fact.fact for fact in chain.chain_of(cat.id, facts)} == {BLACK, PAST, "Jane has a dog."}
