"""Revocation: a fact is current again if the fact that replaced it is withdrawn, and chains stay valid."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import ACTIVE, RETRACTED, SUPERSEDED, Fact, FactLink
from clawmem.model.history.revocation import Revocation, plan_revocation
from clawmem.model.lifecycle.chain import chain_problems, succeed
from tests.conftest import examples

AT = "2026-11-21T09:30:00Z"


def fact(name: str, **more: object) -> Fact:
    return Fact(f"fact_{name}", f"It is {name}.", "fact", "2026-11-01T00:00:00Z", "test")._replace(**more)  # type: ignore[arg-type]


def chain(*names: str) -> dict[str, Fact]:
    """Facts of which each replaced the one before it, a day later."""
    known: dict[str, Fact] = {}
    last: Fact | None = None
    for day, name in enumerate(names, 1):
        new = fact(name, valid_from=f"2026-11-{day:02}")
        if last:
            succession = succeed(new, [last], "supersedes", "newer", AT, AT)
            new = succession.new
            known[last.id] = succession.closed[0]
        known[new.id] = last = new
    return known


def after(known: dict[str, Fact], revocation: Revocation) -> dict[str, Fact]:
    return {**known, **{fact.id: fact for fact in (*revocation.retracted, *revocation.restored, *revocation.relinked)}}


def revoked(known: dict[str, Fact], *names: str) -> tuple[Revocation, dict[str, Fact]]:
    revocation = plan_revocation(known, {f"fact_{name}" for name in names}, {}, AT, "revoked: test")
    return revocation, after(known, revocation)


def test_the_predecessor_stands_again_as_it_was() -> None:
    known = chain("a", "b")
    assert known["fact_a"].valid_to == "2026-11-02"
    revocation, now = revoked(known, "b")
    assert now["fact_a"] == fact("a", valid_from="2026-11-01")
    assert now["fact_b"].status == RETRACTED
    assert (now["fact_b"].metadata or {})["retracted"] == {"at": AT, "reason": "revoked: test", "revoked": True}
    assert (len(revocation.retracted), len(revocation.restored), revocation.relinked) == (1, 1, ())


def test_what_history_tells_of_the_predecessor_is_believed() -> None:
    known = chain("a", "b")
    was = fact("a", valid_from="2026-11-01", valid_to="2027-01-01", status="archived", access_count=1)
    known["fact_a"] = known["fact_a"]._replace(access_count=7)
    revocation = plan_revocation(known, {"fact_b"}, {"fact_a": was}, AT, "why")
    assert revocation.restored == (was._replace(access_count=7),)


def test_out_of_the_middle_the_chain_closes_up() -> None:
    known = chain("a", "b", "c")
    _, now = revoked(known, "b")
    assert (now["fact_a"].status, now["fact_a"].superseded_by) == (SUPERSEDED, "fact_c")
    assert now["fact_a"].valid_to == "2026-11-03"
    assert FactLink("supersedes", "fact_a", "revoked: test", AT) in now["fact_c"].links
    assert chain_problems(now.values()) == ()


def test_the_end_of_a_chain_goes_back_to_the_last_that_stays() -> None:
    _, now = revoked(chain("a", "b", "c", "d"), "c", "d")
    assert [fact.id for fact in now.values() if fact.is_current] == ["fact_b"]
    assert now["fact_a"].superseded_by == "fact_b"


def test_a_merge_that_goes_gives_both_parts_back() -> None:
    parts = [fact("a"), fact("b")]
    succession = succeed(fact("m"), parts, "merges", "one", AT, AT)
    known = {other_fact.id: other_fact for other_fact in (succession.new, *succession.closed)}
    _, now = revoked(known, "m")
    assert {other_fact.id for other_fact in now.values() if other_fact.is_current} == {"fact_a", "fact_b"}


def test_dependents_are_told_and_stay() -> None:
    base = fact("a")
    known = {
        other_fact.id: other_fact
        for other_fact in (
            base,
            fact("b", links=(FactLink("derived_from", base.id),)),
            fact("c", links=(FactLink("relates_to", base.id),)),
            fact("d", details={"used": [base.id]}),
            fact("e", links=(FactLink("supports", base.id),), status=RETRACTED),
        )
    }
    revocation, now = revoked(known, "a")
    assert [(dependent.fact.id, dependent.relation, dependent.of) for dependent in revocation.dependents] == [
        ("fact_b", "derived_from", "fact_a"),
        ("fact_d", "details", "fact_a"),
    ]
    assert now["fact_b"].status == ACTIVE


@examples(25, 100)
@given(st.integers(1, 7), st.data())
def test_whatever_goes_from_a_chain_it_stays_whole(length: int, data: st.DataObject) -> None:
    names = [chr(ord("a") + n) for n in range(length)]
    gone = data.draw(st.sets(st.sampled_from(names)))
    known = chain(*names)
    _, now = revoked(known, *gone)
    assert chain_problems(now.values()) == ()
    stays = [name for name in names if name not in gone]
    assert [fact.id for fact in now.values() if fact.is_current] == ([f"fact_{stays[-1]}"] if stays else [])
    again, _ = revoked(now, *gone)
    assert again.retracted == () and again.restored == () and again.relinked == ()
