"""What a pull decides, without a hub."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from clawmem.extensions.digest.condense import is_condensable
from clawmem.extensions.hub.organisation_pull import PullPlan, plan_pull
from clawmem.extensions.hub.postgres.search import HubFact
from clawmem.index.search.lookup import PlacedFact
from clawmem.model.facts.fact import ARCHIVED, GUARDRAIL, RETRACTED, Fact
from clawmem.model.facts.pulled import holds_copies, origin_of, pulled_entity

MOMENT = "2026-11-21T09:30:00Z"


def offered(fact_id: str = "fact_1", vault: str = "alpha", **more: Any) -> HubFact:
    fact = Fact(fact_id, "The gateway is red.", "fact", MOMENT, "user", trust="user")._replace(**more)
    return HubFact(vault, "areas/people/jane", ("team-a", "organisation"), "Ada <a@b>", "user", "c0", "life/x", 3, fact)


def plan(*found: HubFact, here: PullPlan | None = None, taken: tuple[str, ...] = (), **more: Any) -> PullPlan:
    copies = {placed.fact.id: placed for placed in (*here.kept, *here.retracted)} if here else {}
    others = {text: PlacedFact(found[0].fact, "projects/mine") for text in taken}
    return plan_pull("acme", found, copies, others, MOMENT, **more)


def test_a_copy_keeps_id_origin_and_author_and_little_else() -> None:
    found = offered(category=GUARDRAIL, importance=1.0, source_text="said", agent="scout", tags=("port",))
    ((copy, entity),) = plan(found).kept
    assert (copy.id, copy.trust, copy.source, copy.category) == ("fact_1", "external", "organisation:acme", "fact")
    assert (copy.importance, copy.source_text, copy.agent, copy.tags) == (None, None, None, ("port",))
    origin = origin_of(copy)
    assert origin is not None
    assert (origin.org, origin.vault, origin.entity, origin.line) == ("acme", "alpha", "areas/people/jane", 3)
    assert (origin.scopes, origin.author, origin.commit) == (("team-a", "organisation"), "Ada <a@b>", "c0")
    assert entity == "resources/organisation/areas-people-jane" and holds_copies(entity)
    assert pulled_entity("@scout/projects/x") == "resources/organisation/scout-projects-x"
    assert not is_condensable(copy, datetime(2030, 1, 1, tzinfo=UTC))


def test_an_unchanged_copy_is_left_alone_and_keeps_what_this_vault_knows() -> None:
    first = plan(offered())
    ((copy, entity),) = first.kept
    used = PlacedFact(copy._replace(access_count=3, last_accessed=MOMENT, status=ARCHIVED), entity)
    assert plan(offered(), here=PullPlan(kept=(used,))) == PullPlan()
    ((changed, _),) = plan(offered(fact="The gateway is blue."), here=PullPlan(kept=(used,))).kept
    assert (changed.fact, changed.access_count, changed.status) == ("The gateway is blue.", 3, ARCHIVED)


def test_what_is_not_offered_any_more_is_retracted_once() -> None:
    here = plan(offered())
    gone = plan(here=here)
    ((copy, _),) = gone.retracted
    assert copy.status == RETRACTED and (copy.metadata or {})["retracted"]["reason"] == "withdrawn at the organisation"
    assert plan(here=gone) == PullPlan()
    assert [placed.fact.status for placed in plan(offered(status="superseded"), here=here).retracted] == [RETRACTED]
    ((again, _),) = plan(offered(), here=gone).kept
    assert again.is_current and "retracted" not in (again.metadata or {})


def test_a_redacted_origin_retracts_first_and_the_mark_stays() -> None:
    here = plan(offered())
    result = plan(offered(fact="[redacted]"), here=here, redacted=frozenset(("fact_1",)))
    assert (result.kept, result.redacted) == ((), ("fact_1",)) and len(result.retracted) == 1
    ((copy, entity),) = here.kept
    marked = PlacedFact(copy._replace(metadata={**(copy.metadata or {}), "redacted": {"at": MOMENT}}), entity)
    assert plan(offered(), here=PullPlan(kept=(marked,))) == PullPlan()
    # A redaction of this vault lasts; one of the origin is followed.
    left = plan(offered(fact="The gateway is Peregrin's."), here=PullPlan(kept=(marked,)))
    assert left == PullPlan(refused=(("fact_1", "it was redacted here"),))
    there = offered(fact="[redacted]", metadata={"redacted": {"at": MOMENT}})
    assert [placed.fact.fact for placed in plan(there, here=PullPlan(kept=(marked,))).kept] == ["[redacted]"]


def test_what_cannot_be_taken_is_named() -> None:
    key = "AKIA" + "Q7RZ2LM4XW5TNB3V"
    cases = [
        (plan(offered(), taken=("fact_1",)), "this vault has another fact of that id in projects/mine"),
        (plan(offered(), offered(vault="beta")), "the vault beta has another fact of that id"),
        (plan(offered(vault="beta"), here=plan(offered())), "the vault beta has another fact of that id"),
        (plan(offered(fact=f"The key is {key}.")), "it contains what looks like a credential"),
    ]
    for other_plan, why in cases:
        ((fact, reason),) = other_plan.refused
        assert fact == "fact_1" and reason.startswith(why)
