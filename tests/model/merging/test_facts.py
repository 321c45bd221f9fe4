"""Two sides of one fact: which wording stands, and what the sentence about it says."""

from __future__ import annotations

from typing import Any

import pytest

from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.lifecycle import chain
from clawmem.model.merging.facts import DUPLICATE_REASON, MergedFacts, merge_facts
from clawmem.model.merging.fields import MergePolicy
from clawmem.model.records.event import MARK

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


MARKED = {MARK: {"kinds": ["health"], "about": ["jane"]}}


def marks(found: MergedFacts) -> dict[str, object]:
    return {fact.id: (fact.metadata or {}).get(MARK) for fact in found.shelves[PATH]}


def test_what_one_side_put_in_place_of_a_fact_has_the_mark_that_the_other_gave_it() -> None:
    second, third = (BASE._replace(id=f"fact_0000000{n}", fact=f"Jane sails {n} days.") for n in (2, 3))
    marked = (BASE._replace(metadata=MARKED),)
    replaced = (
        BASE._replace(status="superseded", superseded_by=second.id),
        second._replace(status="superseded", superseded_by=third.id, links=(FactLink("supersedes", BASE.id),)),
        third._replace(links=(FactLink("supersedes", second.id),), metadata={"also": "this"}),
    )
    for ours, theirs in ((marked, replaced), (replaced, marked)):
        found = merge_facts({PATH: (BASE,)}, {PATH: ours}, {PATH: theirs})
        assert marks(found) == dict.fromkeys((BASE.id, second.id, third.id), MARKED[MARK])
        again = merge_facts({PATH: ours}, {PATH: found.shelves[PATH]}, {PATH: ours})
        assert again.shelves[PATH] == found.shelves[PATH]


def test_a_mark_that_was_taken_back_from_what_replaced_a_fact_stays_so() -> None:
    second = BASE._replace(id="fact_00000002", fact="Jane rows.", links=(FactLink("supersedes", BASE.id),))
    old = BASE._replace(status="superseded", superseded_by=second.id, metadata=MARKED)
    base, opened = (old, second._replace(metadata=MARKED)), (old, second)
    edited = (old, second._replace(metadata=MARKED, importance=0.9))
    for ours, theirs in ((opened, edited), (edited, opened)):
        found = merge_facts({PATH: base}, {PATH: ours}, {PATH: theirs})
        assert marks(found) == {BASE.id: MARKED[MARK], second.id: None}


def test_the_other_wording_and_a_twin_have_the_mark_of_the_fact() -> None:
    sides = (BASE._replace(fact="Jane sails a dinghy.", metadata=MARKED), BASE._replace(fact="Jane sails a yawl."))
    twins = (BASE._replace(metadata=MARKED), BASE._replace(id="fact_00000002", timestamp="2026-11-20T09:00:00Z"))
    for base, pair in (((BASE,), sides), ((), twins)):
        for left, right in (pair, pair[::-1]):
            found = merge_facts({PATH: base}, {PATH: (left,)}, {PATH: (right,)})
            assert len(found.shelves[PATH]) == 2 and set(map(str, marks(found).values())) == {str(MARKED[MARK])}


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


def test_a_correction_that_one_side_took_back_and_the_other_built_on_stands() -> None:
    second, third = (
        BASE._replace(id=f"fact_0000000{n}", fact=f"Jane sails {n} days.", links=(FactLink("supersedes", old),))
        for n, old in ((2, BASE.id), (3, "fact_00000002"))
    )
    corrected = BASE._replace(status="superseded", superseded_by=second.id)
    built_on = (corrected, second._replace(status="superseded", superseded_by=third.id), third)
    for sides in (((BASE,), built_on), (built_on, (BASE,))):
        merged = merge_facts({PATH: (corrected, second)}, {PATH: sides[0]}, {PATH: sides[1]})
        assert [fact.id for fact in merged.shelves[PATH] if fact.is_current] == [third.id]


SINGLE = frozenset({"lives_in"})


def home(number: int, place: str, minute: int, **more: Any) -> Fact:
    """A fact about where Jane lives."""
    fact = Fact(f"fact_{number:08x}", f"Jane lives in {place}.", "fact", f"2026-11-21T09:{minute:02}:00Z", "user")
    values: dict[str, Any] = {"subject": "Jane", "predicate": "lives_in", "object": place, "trust": "user", **more}
    return fact._replace(**values)


OSLO, ROME = home(1, "Oslo", 1), home(2, "Rome", 2)


def met(ours: list[Fact], theirs: list[Fact], base: tuple[Fact, ...] = (), policy: str = "review") -> MergedFacts:
    """The merge of two sides that both go on from a base."""
    rule = MergePolicy(policy, "theirs", SINGLE)
    merged = merge_facts({PATH: base}, {PATH: (*base, *ours)}, {PATH: (*base, *theirs)}, rule)
    assert chain.chain_problems(merged.shelves[PATH]) == ()
    return merged


def standing(merged: MergedFacts) -> list[str]:
    return sorted(fact.object or "" for fact in merged.shelves[PATH] if fact.is_current)


def test_both_stay_and_a_person_is_asked() -> None:
    merged, mirrored = met([OSLO], [ROME]), met([ROME], [OSLO])
    assert merged == mirrored
    assert standing(merged) == ["Oslo", "Rome"]
    assert [(conflict.kind, conflict.fact) for conflict in merged.conflicts] == [("values", ROME.id)]
    ((_, asked),) = merged.questions
    assert (asked.kind, asked.does, [target.id for target in asked.targets]) == (
        "conflict",
        "supersede",
        [OSLO.id, ROME.id],
    )
    assert asked.says == "Jane lives in Rome. (instead of: Jane lives in Oslo.)"


@pytest.mark.parametrize(("policy", "kept"), [("newest", ROME), ("ours", OSLO), ("theirs", ROME)])
def test_a_policy_makes_one_chain(policy: str, kept: Fact) -> None:
    merged = met([OSLO], [ROME], policy=policy)
    assert standing(merged) == [kept.object]
    by_id = {fact.id: fact for fact in merged.shelves[PATH]}
    (gone,) = by_id.keys() - {kept.id}
    assert (by_id[gone].status, by_id[gone].superseded_by) == ("superseded", kept.id)
    assert [(link.type, link.to) for link in by_id[kept.id].links] == [("supersedes", gone)]
    assert merged.questions == () and len(merged.conflicts) == 1


def test_the_web_replaces_nobody_by_policy() -> None:
    merged = met([OSLO], [ROME._replace(trust="external")], policy="newest")
    assert standing(merged) == ["Oslo", "Rome"]
    assert len(merged.questions) == 1


@pytest.mark.parametrize(
    "other",
    [
        home(2, "oslo", 2)._replace(fact="Jane's home is Oslo."),
        home(2, "Rome", 2, subject="John"),
        home(2, "Rome", 2, predicate="likes"),
        home(2, "Rome", 2, valid_to="2019-12-31"),
        home(2, "Rome", 2, status="retracted"),
        home(2, "Rome", 2, object=None),
    ],
)
def test_what_is_no_contradiction(other: Fact) -> None:
    merged = met([OSLO._replace(valid_from="2020-01-01")], [other], policy="newest")
    assert merged.conflicts == () and merged.questions == ()
    assert [fact for fact in merged.shelves[PATH] if fact.status == "superseded"] == []


def test_what_stood_on_one_side_alone_is_its_own_matter() -> None:
    assert met([OSLO, ROME], []).conflicts == ()
    assert met([ROME], [], base=(OSLO,)).conflicts == ()
    merged = met([OSLO, ROME], [home(3, "Paris", 3)], policy="newest")
    assert standing(merged) == ["Paris"]
    merged = met([OSLO, ROME], [home(3, "Paris", 3)], policy="ours")
    assert standing(merged) == ["Oslo", "Rome"]


def test_all_that_stands_is_in_the_question() -> None:
    """A proposal with another contradicting value could not be approved."""
    ((_, asked),) = met([ROME], [home(3, "Paris", 3)], base=(OSLO,)).questions
    assert [target.fact for target in asked.targets] == [
        "Jane lives in Oslo.",
        "Jane lives in Rome.",
        "Jane lives in Paris.",
    ]


def test_two_successors_are_asked_about_once() -> None:
    closed = OSLO._replace(status="superseded")
    other_fact, other = (
        fact._replace(links=(FactLink("supersedes", OSLO.id, "moved", fact.timestamp),))
        for fact in (ROME, home(3, "Paris", 3))
    )
    merged = merge_facts(
        {PATH: (OSLO,)},
        {PATH: (closed._replace(superseded_by=other_fact.id), other_fact)},
        {PATH: (closed._replace(superseded_by=other.id), other)},
        MergePolicy(single=SINGLE),
    )
    assert [conflict.kind for conflict in merged.conflicts] == ["successors"]
    assert len(merged.questions) == 1


def test_agents_keep_to_themselves() -> None:
    """What two agents have each for itself is no contradiction."""
    places = [f"agents/{name}/workspace/areas/jane/items.json" for name in ("ada", "bob")]
    empty: dict[str, tuple[Fact, ...]] = dict.fromkeys(places, ())
    merged = merge_facts(
        empty, {**empty, places[0]: (OSLO,)}, {**empty, places[1]: (ROME,)}, MergePolicy("newest", "ours", SINGLE)
    )
    assert merged.conflicts == ()


def test_a_value_beside_two_successors_is_asked_about_too() -> None:
    """The question about two successors does not cover a third value, on either side."""
    before = OSLO._replace(status="superseded")

    def moved(number: int, place: str) -> list[Fact]:
        new = home(number, place, number, links=(FactLink("supersedes", OSLO.id),))
        return [before._replace(superseded_by=new.id), new]

    rule = MergePolicy("review", "theirs", SINGLE)
    third = home(9, "Lima", 9)
    for ours, theirs, kinds in (
        (moved(3, "Rome"), moved(4, "Paris"), ["successors"]),
        ([*moved(3, "Rome"), third], moved(4, "Paris"), ["successors", "values"]),
        (moved(3, "Rome"), [*moved(4, "Paris"), third], ["successors", "values"]),
    ):
        merged = merge_facts({PATH: (OSLO,)}, {PATH: tuple(ours)}, {PATH: tuple(theirs)}, rule)
        assert [conflict.kind for conflict in merged.conflicts] == kinds


@pytest.mark.parametrize(
    ("policy", "trusts", "kept"),
    [
        ("newest", ("user", "agent"), ["Oslo", "Rome"]),
        ("newest", ("agent", "user"), ["Rome"]),
        ("ours", ("agent", "user"), ["Oslo"]),
        ("theirs", ("user", "agent"), ["Rome"]),
        ("theirs", ("user", "external"), ["Oslo", "Rome"]),
        ("theirs", ("external", "external"), ["Rome"]),
    ],
)
def test_what_less_trusted_sources_may_replace(policy: str, trusts: tuple[str, str], kept: list[str]) -> None:
    mine, yours = (fact._replace(trust=trust) for fact, trust in zip((OSLO, ROME), trusts, strict=True))
    merged = met([mine], [yours], policy=policy)
    assert standing(merged) == kept
    assert merged.conflicts[0].says.startswith("Jane has several values of lives_in")


def test_a_third_machine_that_learned_the_same_joins_the_fact_that_stays() -> None:
    words = {"fact": "Jane owns a yawl."}
    first, second, third = (
        BASE._replace(id=f"fact_0000000{n}", timestamp=f"2026-11-21T1{n}:00:00Z", **words)  # type: ignore[arg-type]
        for n in (2, 3, 4)
    )
    others = (
        FactLink("merges", third.id, DUPLICATE_REASON, third.timestamp),
        FactLink("supports", BASE.id, DUPLICATE_REASON),
    )
    yours = (second._replace(links=others), third._replace(status="superseded", superseded_by=second.id))
    found = merge_facts({PATH: (BASE,)}, {PATH: (BASE, first)}, {PATH: (BASE, *yours)})
    facts = {fact.id: fact for fact in found.shelves[PATH]}
    assert {facts[name].superseded_by for name in (second.id, third.id)} == {first.id}
    assert [(link.type, link.to) for link in facts[first.id].links] == [("merges", second.id), ("merges", third.id)]
    assert [(link.type, link.to) for link in facts[second.id].links] == [("supports", BASE.id)]
    assert chain.chain_problems(found.shelves[PATH]) == ()


def test_of_equal_facts_the_more_trusted_stays_though_it_is_later() -> None:
    sides = [
        BASE._replace(id=f"fact_0000000{n}", fact="Jane owns a yawl.", timestamp=f"2026-11-21T1{n}:00:00Z", trust=trust)
        for n, trust in ((2, "agent"), (3, "user"))
    ]
    for mine, yours in (sides, sides[::-1]):
        found = merge_facts({PATH: (BASE,)}, {PATH: (BASE, mine)}, {PATH: (BASE, yours)})
        assert [twin.kept for twin in found.twins] == ["fact_00000003"]


def test_an_outsider_replaces_nothing_where_one_of_the_others_is_trusted() -> None:
    web, page = (home(n, place, n, trust="external") for n, place in ((2, "Rome"), (3, "Paris")))
    assert standing(met([OSLO, web], [page], policy="theirs")) == ["Oslo", "Paris", "Rome"]


def test_an_equal_fact_that_was_replaced_since_keeps_its_successor() -> None:
    first, second, third = (
        BASE._replace(id=f"fact_0000000{n}", fact="Jane owns a yawl.", timestamp=f"2026-11-21T1{n}:00:00Z")
        for n in (2, 3, 4)
    )
    ketch = BASE._replace(id="fact_00000005", fact="Jane owns a ketch.", links=(FactLink("supersedes", third.id),))
    joined = second._replace(links=(FactLink("merges", third.id, DUPLICATE_REASON, third.timestamp),))
    yours = (joined, third._replace(status="superseded", superseded_by=ketch.id), ketch)
    found = merge_facts({PATH: (BASE,)}, {PATH: (BASE, first)}, {PATH: (BASE, *yours)})
    successors = {fact.id: fact.superseded_by for fact in found.shelves[PATH] if fact.superseded_by}
    assert successors == {second.id: first.id, third.id: ketch.id}


def test_decisions_of_two_machines_that_go_against_each_other_are_linked() -> None:
    tekla = Fact("fact_00000001", "Use Tekla for charts.", "decision", "2026-11-21T09:01:00Z", "user", trust="user")
    navika = tekla._replace(id="fact_00000002", fact="Use Navika for charts.", timestamp="2026-11-21T09:02:00Z")
    merged = met([tekla], [navika])
    assert merged == met([navika], [tekla])
    assert [fact.links for fact in merged.shelves[PATH] if fact.id == tekla.id] == [()]
    ((link,),) = [fact.links for fact in merged.shelves[PATH] if fact.id == navika.id]
    assert (link.type, link.to, link.at) == ("contradicts", tekla.id, navika.timestamp)
    assert "goes against the earlier decision fact_00000001" in merged.conflicts[0].says
    for other in (
        navika._replace(workflow="sailing", scope="team"), navika._replace(category="fact"),
        navika._replace(links=(FactLink("beside", tekla.id),)),
    ):  # fmt: skip
        assert met([tekla], [other]).conflicts == ()
    assert met([], [tekla, navika]).conflicts == ()
