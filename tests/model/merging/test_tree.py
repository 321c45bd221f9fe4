"""The merge of whole vaults: the same from either side, in any order, twice as once; nothing lost, chains valid."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import PROPOSAL_FILE, file_kind
from clawmem.model.merging.fields import POLICIES, MergePolicy
from clawmem.model.merging.tree import Files
from clawmem.model.proposals.proposal import ReviewDecision, parse_proposal, proposal_path, render_proposal
from tests.conftest import examples
from tests.model.merging import laws

SEEDS = st.integers(0, 2**32)


@examples(25, 300)
@given(SEEDS, st.booleans())
def test_either_side_may_be_named_first(seed: int, few_ids: bool) -> None:
    laws.either_side_may_be_named_first(seed, few_ids)


@examples(15, 150)
@given(SEEDS)
def test_once_is_enough(seed: int) -> None:
    laws.once_is_enough(seed)


@examples(20, 250)
@given(SEEDS, st.integers(3, 4))
def test_any_order_will_do(seed: int, clones: int) -> None:
    laws.any_order_will_do(seed, clones)


@examples(20, 200)
@given(SEEDS, st.integers(2, 4))
def test_machines_that_meet_in_turn_end_alike(seed: int, clones: int) -> None:
    laws.machines_that_meet_in_turn_end_alike(seed, clones)


@examples(25, 100)
@given(SEEDS, st.sampled_from(POLICIES), st.sampled_from(("ours", "theirs")))
def test_every_policy_is_safe(seed: int, name: str, newer: str) -> None:
    laws.every_policy_is_safe(seed, name, newer)


def test_an_order_that_one_side_changed_counts() -> None:
    """A life of the long run: one machine put facts in another order while it moved their entity."""
    laws.machines_that_meet_in_turn_end_alike(3_492_962_422, 4)


JANE = "life/areas/people/jane/items.json"
LIVES_IN = MergePolicy(single=frozenset({"lives_in"}))


def home(number: int, place: str) -> Fact:
    """A value of a relation that takes one at a time."""
    words = f"Jane lives in {place}."
    fact = Fact(f"fact_{number:08x}", words, "fact", f"2026-11-21T09:0{number}:00Z", "user")
    return fact._replace(subject="Jane", predicate="lives_in", object=place, trust="user")


OSLO, ROME, BERN = home(1, "Oslo"), home(2, "Rome"), home(3, "Bern")


def asked(files: Files) -> list[tuple[str, set[str]]]:
    """The questions in a vault: their status, and the facts that they are about."""
    found = [(path, data) for path, data in laws.there(files).items() if file_kind(path) is PROPOSAL_FILE]
    proposals = [parse_proposal(data, path) for path, data in found]
    return [(proposal.status, {target.id for target in proposal.targets}) for proposal in proposals]


def test_a_question_about_three_values_takes_the_place_of_the_one_about_two() -> None:
    two = laws.merged({}, {JANE: render_items([OSLO])}, {JANE: render_items([ROME])}, LIVES_IN)
    assert asked(two.files) == [("open", {OSLO.id, ROME.id})]
    three = laws.merged({}, two.files, {JANE: render_items([BERN])}, LIVES_IN)
    assert asked(three.files) == [("open", {OSLO.id, ROME.id, BERN.id})]


def test_a_question_that_was_decided_is_not_asked_again() -> None:
    sides = {JANE: render_items([OSLO])}, {JANE: render_items([ROME])}
    first = laws.merged({}, *sides, LIVES_IN)
    path = proposal_path(first.proposals[0])
    question = parse_proposal(first.files[path] or b"", path)
    decided = question._replace(status="rejected", decided=ReviewDecision("Ada", "2026-11-21T10:00:00Z"))
    again = laws.merged({}, {**sides[0], path: render_proposal(decided)}, sides[1], LIVES_IN)
    assert again.proposals == ()
    assert asked(again.files) == [("rejected", {OSLO.id, ROME.id})]


def test_the_bytes_of_the_side_that_changed_a_file_stay() -> None:
    """The same facts in another layout: a person laid them out, and the merge does not undo it."""
    base = render_items([OSLO])
    for ours in (base.replace(b'": ', b'":'), base.replace(b'": ', b'":  ')):
        assert ours != base
        for sides in ((ours, base), (base, ours)):
            record, other = ({JANE: side} for side in sides)
            assert laws.merged({JANE: base}, record, other).files[JANE] == ours
