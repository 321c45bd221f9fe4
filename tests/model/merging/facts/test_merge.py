"""Two sides of one fact: which wording stands, and what the sentence about it says."""

from __future__ import annotations

import pytest

from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.merging.facts.merge import MergedFacts, merge_facts
from clawmem.model.merging.policy import MergePolicy

PATH = "life/areas/people/jane/items.json"
BASE = Fact("fact_00000001", "Jane sails.", "fact", "2026-11-21T09:00:00Z", "user")


def merged(policy: str) -> MergedFacts:
    sides = (BASE._replace(fact="Jane sails a dinghy."), BASE._replace(fact="Jane sails a yawl."))
    ours, theirs = ({PATH: (side,)} for side in sides)
    return merge_facts({PATH: (BASE,)}, ours, theirs, MergePolicy(policy, "theirs"))


def test_both_wordings_stay_where_a_person_decides() -> None:
    found = merged("review")
    kept, other = sorted(found.shelves[PATH], key=lambda fact: fact.id != BASE.id)
    assert kept.id == BASE.id and kept.is_current and other.is_current
    (conflict,) = found.conflicts
    assert conflict.says == (f"both sides changed the wording of {BASE.id}; {other.id} has the other wording")


@pytest.mark.parametrize(("policy", "words"), [("ours", "a dinghy"), ("theirs", "a yawl"), ("newest", "a yawl")])
def test_a_policy_closes_the_other_wording(policy: str, words: str) -> None:
    found = merged(policy)
    kept, other = sorted(found.shelves[PATH], key=lambda fact: fact.id != BASE.id)
    assert kept.fact == f"Jane sails {words}."
    assert (other.status, other.superseded_by) == ("superseded", BASE.id)
    (conflict,) = found.conflicts
    assert conflict.says == (
        f"both sides changed the wording of {BASE.id}; {BASE.id} has the winning wording and replaced {other.id},"
        " which has the other one"
    )


def test_a_fact_that_both_sides_moved_is_at_one_place_for_both() -> None:
    here, there = ("life/projects/boat/items.json", "life/projects/yawl/items.json")
    for left, right in ((here, there), (there, here)):
        found = merge_facts({PATH: (BASE,)}, {left: (BASE,)}, {right: (BASE,)})
        assert {path: facts for path, facts in found.shelves.items() if facts} == {there: (BASE,)}


def test_a_removed_fact_comes_back_with_all_that_it_rests_on() -> None:
    rope = BASE._replace(id="fact_00000002", fact="The rope is new.")
    mast = BASE._replace(id="fact_00000003", fact="The mast holds.", links=(FactLink("depends_on", rope.id),))
    sails = BASE._replace(id="fact_00000004", fact="Jane may sail.", links=(FactLink("depends_on", mast.id),))
    found = merge_facts({PATH: (BASE, rope, mast)}, {PATH: (BASE, rope, mast, sails)}, {PATH: (BASE,)})
    assert {fact.id for fact in found.shelves[PATH]} == {BASE.id, rope.id, mast.id, sails.id}


@pytest.mark.parametrize("changes", [{"importance": 0.9}, {"category": "plan"}, {"valid_to": "2027-01-01"}])
def test_what_one_side_changed_is_kept_whichever_side_it_is(changes: dict[str, object]) -> None:
    base = BASE._replace(importance=0.4, valid_to="2026-12-01")
    changed = base._replace(**changes)  # type: ignore[arg-type]
    for ours, theirs in ((changed, base), (base, changed)):
        found = merge_facts({PATH: (base,)}, {PATH: (ours,)}, {PATH: (theirs,)})
        assert found.shelves[PATH] == (changed,)
        assert (found.conflicts, found.questions) == ((), ())


def test_what_one_side_removed_is_gone_unless_the_other_changed_it() -> None:
    rope = BASE._replace(id="fact_00000002", fact="The rope is new.")
    longer = rope._replace(fact="The rope is new and long.")
    for left, kept in ((rope, ()), (longer, (longer,))):
        for ours, theirs in (((BASE, left), (BASE,)), ((BASE,), (BASE, left))):
            found = merge_facts({PATH: (BASE, rope)}, {PATH: ours}, {PATH: theirs})
            assert found.shelves[PATH] == (BASE, *kept)


def test_a_fact_that_both_sides_learned_is_kept_once() -> None:
    learned = [
        BASE._replace(id=f"fact_0000000{n}", fact="Jane owns a yawl.", timestamp=f"2026-11-21T1{n}:00:00Z")
        for n in (2, 3)
    ]
    for mine, yours in (learned, learned[::-1]):
        found = merge_facts({PATH: (BASE,)}, {PATH: (BASE, mine)}, {PATH: (BASE, yours)})
        assert [fact.id for fact in found.shelves[PATH] if fact.is_current] == [BASE.id, learned[0].id]
        assert len(found.twins) == 1
    alone = merge_facts({PATH: (BASE,)}, {PATH: (BASE, *learned)}, {PATH: (BASE,)})
    assert alone.twins == (), "one side may say it twice"


def test_two_successors_ask_nobody_if_one_was_withdrawn() -> None:
    def replaced(by: str, **more: object) -> tuple[Fact, Fact]:
        new = BASE._replace(id=by, fact=f"Jane sails {by}.", links=(FactLink("supersedes", BASE.id),))
        return BASE._replace(status="superseded", superseded_by=by), new._replace(**more)  # type: ignore[arg-type]

    both = merge_facts({PATH: (BASE,)}, {PATH: replaced("fact_0000000a")}, {PATH: replaced("fact_0000000b")})
    assert [conflict.kind for conflict in both.conflicts] == ["successors"]
    assert len(both.questions) == 1
    withdrawn = replaced("fact_0000000b", status="retracted")
    alone = merge_facts({PATH: (BASE,)}, {PATH: replaced("fact_0000000a")}, {PATH: withdrawn})
    assert (alone.conflicts, alone.questions) == ((), ())
    assert [fact.id for fact in alone.shelves[PATH] if fact.is_current] == ["fact_0000000a"]
