"""Review: approving does what was proposed, refuses where the world moved on, and undo brings everything back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts, entity_names
from clawmem.learning.ingest import ingest
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.health.doctor import doctor
from clawmem.memory.history.undo import undo
from clawmem.memory.proposals import proposal_writes, read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import UNSET_ID, Fact
from clawmem.model.proposals.proposal import (
    ADD,
    END,
    LINE,
    MERGE,
    PREDICATE,
    RETRACT,
    SUPERSEDE,
    PageLine,
    Proposal,
    ProposalTarget,
)
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.transcripts.message import Message
from clawmem.review.review import approve, list_proposals, reject, show_open, show_proposal
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.plain_reader import learn_plainly as learn

AT = "2026-11-21T09:30:00Z"
ADA = "Ada Person <ada@example.org>"


@pytest.fixture
def talk(vault: Vault, caller: Caller) -> Callable[..., None]:
    """Lets Dana say things, and learns from them."""

    def told(*texts: str) -> None:
        messages = [
            Message(1, "user", text, f"2026-11-{day:02}T10:00:00Z", "Dana") for day, text in enumerate(texts, 1)
        ]
        ingest(vault, messages, caller, "chat")
        learn(vault, caller)

    return told


def facts_of(vault: Vault) -> dict[str, Fact]:
    """Every fact by its statement."""
    index = open_index(vault)
    try:
        return {placed.fact.fact: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def only(vault: Vault) -> Proposal:
    (proposal,) = read_proposals(vault).proposals
    return proposal


def fact(words: str, **more: object) -> Fact:
    return Fact(UNSET_ID, words, "fact", AT, "chat")._replace(**more)  # type: ignore[arg-type]


def keep(vault: Vault, caller: Caller, words: str, **more: object) -> Fact:
    """Add a current fact to the vault."""
    return remember(vault, [Draft(fact(words, **more), "areas/people/dana")], caller).facts[0].fact


def file(vault: Vault, caller: Caller, **more: object) -> Proposal:
    """One proposal, committed: to add a fact, where nothing else is said."""
    record: dict[str, object] = {"fact": fact("Dana sails on Sundays."), "entity": "areas/people/dana", **more}
    made = Proposal("prop_00000001", "fact", "Dana sails on Sundays.", "Not trusted.", AT, ADD)._replace(**record)  # type: ignore[arg-type]
    with writing(vault, caller, "test") as work:
        work.commit([Change("propose(test): one", proposal_writes([made]))])
    return made


def targets(*facts: Fact) -> tuple[ProposalTarget, ...]:
    return tuple(ProposalTarget(fact.id, fact.fact) for fact in facts)


def log(vault: Vault, form: str) -> list[str]:
    return vault.git.run("log", "-1", f"--format={form}").decode().split("\n")


def sound(vault: Vault, caller: Caller) -> bool:
    return not [problem for problem in doctor(vault, caller).problems if problem.severity == "error"]


def test_approving_a_conflict_replaces_what_was_never_true(
    vault: Vault, caller: Caller, talk: Callable[..., None]
) -> None:
    talk("I was born in Oslo.", "I was born in Bergen.")
    proposal, before = only(vault), facts_of(vault)
    outcome = approve(vault, proposal.id[:9], caller, "her passport says so")
    old, new = facts_of(vault)["Dana was born in Oslo."], facts_of(vault)["Dana was born in Bergen."]
    assert [placed.fact for placed in outcome.facts] == [new, old]
    assert outcome.outcome == ("updated", "updated")
    assert (old.status, old.superseded_by) == ("superseded", new.id)
    assert old.valid_from == old.valid_to, "it held at no time"
    assert (new.status, new.valid_from, new.source_text) == ("active", None, "I was born in Bergen")
    assert [(link.type, link.to, link.reason, link.at) for link in new.links] == [
        ("supersedes", old.id, "her passport says so", AT),
        ("contradicts", old.id, "her passport says so", AT),
    ]
    ruling = only(vault).decided
    assert (only(vault).status, ruling and ruling.by, ruling and ruling.at) == ("approved", ADA, AT)
    assert ruling and ruling.winner == new.id
    assert log(vault, "%an") == ["Ada Person", ""]
    text = "%(trailers:key=Decision,valueonly)%(trailers:key=Reviewed-by,valueonly)%(trailers:key=Reason,valueonly)"
    assert log(vault, text)[:3] == ["approved", ADA, "her passport says so"]
    assert log(vault, "%(trailers:key=Clawmem-Op,valueonly)%(trailers:key=Fact,valueonly)")[:3] == [
        "review",
        new.id,
        old.id,
    ]
    assert log(vault, "%(trailers:key=Supersedes,valueonly)%(trailers:key=Proposal,valueonly)")[:2] == [
        old.id,
        proposal.id,
    ]
    assert log(vault, "%s")[0].startswith("review(areas/people/dana): approved: Dana was born in Bergen.")
    assert sound(vault, caller)
    undo(vault, outcome.commit or "", caller)
    assert facts_of(vault) == before
    assert only(vault) == proposal
    assert sound(vault, caller)


def test_undoing_the_approved_fact_opens_the_proposal(vault: Vault, caller: Caller, talk: Callable[..., None]) -> None:
    talk("I was born in Oslo.", "I was born in Bergen.")
    proposal, before = only(vault), facts_of(vault)
    outcome = approve(vault, proposal.id, caller)
    undo(vault, outcome.facts[0].fact.id, caller)
    assert (facts_of(vault), only(vault)) == (before, proposal)
    again = approve(vault, proposal.id, caller)
    assert again.facts[0].fact.fact == "Dana was born in Bergen."
    assert sound(vault, caller)


def test_both_may_stand_side_by_side(vault: Vault, caller: Caller, talk: Callable[..., None]) -> None:
    talk("I was born in Oslo.", "I was born in Bergen.")
    outcome = approve(vault, only(vault).id, caller, "two registers differ", beside=True)
    assert outcome.outcome == ("added",)
    facts = facts_of(vault)
    assert {fact.status for fact in facts.values()} == {"active"}
    (link,) = facts["Dana was born in Bergen."].links
    assert (link.type, link.to, link.reason) == (
        "beside",
        facts["Dana was born in Oslo."].id,
        "two registers differ",
    )
    assert sound(vault, caller)
    undo(vault, outcome.commit or "", caller)
    assert list(facts_of(vault)) == ["Dana was born in Oslo."]


def test_rejecting_keeps_the_reason_and_the_same_event_never_asks_again(
    vault: Vault, caller: Caller, talk: Callable[..., None]
) -> None:
    talk("I was born in Oslo.", "I was born in Bergen.")
    before = facts_of(vault)
    outcome = reject(vault, only(vault).id, caller, "she was joking")
    assert (outcome.proposal.status, outcome.proposal.decided and outcome.proposal.decided.reason) == (
        "rejected",
        "she was joking",
    )
    assert log(vault, "%s")[0].endswith("(because: she was joking)")
    assert facts_of(vault) == before
    assert list_proposals(vault).proposals == ()
    assert list_proposals(vault, include_decided=True).proposals == (outcome.proposal,)
    (vault.root / "ledger" / "learned.json").write_text('{"days": {}, "mentions": {}}\n')
    (again,) = [candidate for candidate in learn(vault, caller).candidates if candidate.outcome == "refused"]
    assert (again.gate, again.proposal) == ("review", outcome.proposal.id)
    assert "she was joking" in again.reason
    assert only(vault) == outcome.proposal
    undo(vault, outcome.commit or "", caller)
    assert only(vault).status == "open"


def test_a_decision_is_made_once(vault: Vault, caller: Caller) -> None:
    proposal = file(vault, caller)
    approve(vault, proposal.id, caller)
    again = approve(vault, proposal.id, caller)
    assert (again.commit, again.facts) == (None, ())
    assert "is already approved, by Ada Person <ada@example.org> at 2026" in again.notices[-1]
    with pytest.raises(Refused, match="is already approved") as raised:
        reject(vault, proposal.id, caller, "no")
    assert proposal.id in raised.value.hint


def test_an_untrusted_fact_is_added_where_its_subject_lives(vault: Vault, caller: Caller) -> None:
    made = fact("Dana sails on Sundays.", subject="Dana", trust="external", valid_from="2026-05-01")
    file(vault, caller, fact=made, entity="areas/people/dana", title="Dana Moe")
    outcome = approve(vault, "prop_0000", caller)
    (placed,) = outcome.facts
    assert (placed.entity, placed.fact.trust, placed.fact.valid_from) == ("areas/people/dana", "external", "2026-05-01")
    assert "Dana Moe" in (vault.read_text("life/areas/people/dana/summary.md") or "")
    undo(vault, outcome.commit or "", caller)
    assert not (vault.root / "life/areas/people/dana").exists()
    file_without_place = file(vault, caller, fact=made, entity=None)
    assert approve(vault, file_without_place.id, caller).facts[0].entity == "areas/general"


def test_update_merge_and_end_close_what_they_replace(vault: Vault, caller: Caller) -> None:
    home = keep(vault, caller, "Dana lives in Leeds.", subject="Dana", predicate="lives_in", object="Leeds")
    record = {"said_at": "2026-11-10T08:00:00Z"}
    porto = fact("Dana lives in Porto.", subject="Dana", predicate="lives_in", object="Porto", metadata=record)
    file(vault, caller, kind="conflict", does=SUPERSEDE, fact=porto, targets=targets(home))
    outcome = approve(vault, "prop_0000", caller)
    new, old = (placed.fact for placed in outcome.facts)
    assert (old.valid_to, new.valid_from) == ("2026-11-10", "2026-11-10")
    assert [link.type for link in new.links] == ["supersedes"]
    tea, milk = keep(vault, caller, "Dana likes tea."), keep(vault, caller, "Dana takes milk.")
    file(vault, caller, does=MERGE, fact=fact("Dana likes tea with milk."), targets=targets(tea, milk))
    outcome = approve(vault, "prop_0000", caller)
    assert outcome.outcome == ("merged", "merged", "merged")
    assert [(link.type, link.to) for link in outcome.facts[0].fact.links] == [("merges", tea.id), ("merges", milk.id)]
    file(vault, caller, does=END, fact=fact("Dana left Porto."), targets=targets(new))
    outcome = approve(vault, "prop_0000", caller)
    assert outcome.outcome == ("added", "updated")
    assert (outcome.facts[1].fact.status, outcome.facts[1].fact.valid_to) == ("superseded", "2026-11-21")
    assert sound(vault, caller)
    undo(vault, outcome.commit or "", caller)
    assert facts_of(vault)["Dana lives in Porto."] == new


def test_retract_withdraws_with_the_reason(vault: Vault, caller: Caller) -> None:
    known = keep(vault, caller, "Dana sails.")
    file(vault, caller, kind="guardrail", does=RETRACT, fact=None, targets=targets(known), says="Withdraw it.")
    outcome = approve(vault, "prop_0000", caller)
    assert outcome.outcome == ("retracted",)
    gone = facts_of(vault)["Dana sails."]
    assert (gone.status, (gone.metadata or {})["retracted"]["reason"]) == ("retracted", "Not trusted.")
    undo(vault, outcome.commit or "", caller)
    assert facts_of(vault)["Dana sails."] == known


def test_what_waits_about_the_same_fact_goes_on_about_its_successor(
    vault: Vault, caller: Caller, talk: Callable[..., None]
) -> None:
    talk("I was born in Oslo.", "I was born in Bergen.", "I was born in Rome.")
    first, second = (proposal.id for proposal in list_proposals(vault).proposals)
    approve(vault, first, caller)
    (left,) = list_proposals(vault).proposals
    assert (left.id, left.says) == (second, "Dana was born in Rome. (instead of: Dana was born in Bergen.)")
    approve(vault, second, caller)
    statuses = {fact.fact: fact.status for fact in facts_of(vault).values()}
    assert statuses["Dana was born in Rome."] == "active" and list(statuses.values()).count("active") == 1


def test_a_line_goes_to_the_end_of_its_page(vault: Vault, caller: Caller) -> None:
    before = vault.read_text("MEMORY.md") or ""
    file(vault, caller, kind="tacit", does=LINE, fact=None, entity=None, line=PageLine("MEMORY.md", "- Be brief."))
    outcome = approve(vault, "prop_0000", caller)
    assert vault.read_text("MEMORY.md") == f"{before}- Be brief.\n"
    undo(vault, outcome.commit or "", caller)
    assert vault.read_text("MEMORY.md") == before
    assert only(vault).status == "open"


def test_a_relation_that_an_earlier_version_proposed_is_only_rejected(vault: Vault, caller: Caller) -> None:
    entry = {"name": "mentors", "description": "As in an example.", "questions": ["* mentors"]}
    more = {"kind": "predicate", "does": PREDICATE, "fact": None, "entity": None, "extra": {"entry": entry}}
    proposal = file(vault, caller, **more)
    with pytest.raises(Refused, match="write no relations"):
        approve(vault, proposal.id, caller)
    reject(vault, proposal.id, caller, "I edit the file.")
    assert (only(vault).status, only(vault).extra["entry"]) == ("rejected", entry)


MOVED: dict[str, tuple[Callable[[Vault, Caller, Fact], object], str]] = {
    "superseded": (
        lambda vault, caller, other_fact: supersede(
            vault, other_fact.id, draft_from_record({"fact": "Dana lives in Rome."}, caller.now), caller
        ),
        "is now superseded by",
    ),
    "retracted": (lambda vault, caller, other_fact: retract(vault, other_fact.id, caller), "is now retracted"),
    "gone": (lambda vault, caller, other_fact: undo(vault, other_fact.id, caller), "no longer exists"),
    "reworded": (
        lambda vault, caller, other_fact: reworded(vault, other_fact),
        "whose text is now: Dana lives near Leeds.",
    ),
}


def reworded(vault: Vault, fact: Fact) -> None:
    path = vault.root / "life/areas/people/dana/items.json"
    path.write_text(path.read_text().replace(fact.fact, "Dana lives near Leeds."))


@pytest.mark.parametrize("how", MOVED)
def test_refused_where_the_world_has_moved_on(vault: Vault, caller: Caller, how: str) -> None:
    act, text = MOVED[how]
    home = keep(vault, caller, "Dana lives in Leeds.", subject="Dana", predicate="lives_in", object="Leeds")
    proposal = file(vault, caller, kind="conflict", does=SUPERSEDE, targets=targets(home))
    act(vault, caller, home)
    before = facts_of(vault)
    with pytest.raises(Refused, match=text) as raised:
        approve(vault, proposal.id, caller)
    assert f"review reject {proposal.id}" in raised.value.hint
    assert only(vault).status == "open"
    assert {key: fact.status for key, fact in facts_of(vault).items()} == (
        {key: fact.status for key, fact in before.items()}
        if how != "reworded"
        else {"Dana lives near Leeds.": "active"}
    )


def test_refused_where_it_is_known_or_another_value_came_since(vault: Vault, caller: Caller) -> None:
    porto = fact("Dana lives in Porto.", subject="Dana", predicate="lives_in", object="Porto")
    proposal = file(vault, caller, fact=porto)
    rome = keep(vault, caller, "Dana lives in Rome.", subject="Dana", predicate="lives_in", object="Rome")
    with pytest.raises(Refused, match=f"{rome.id}, which is newer, contradicts it"):
        approve(vault, proposal.id, caller)
    retract(vault, rome.id, caller)
    known = keep(vault, caller, "Dana lives in Porto.", subject="Dana")
    with pytest.raises(Refused, match=f"already known as {known.id}"):
        approve(vault, proposal.id, caller)


def test_refused_where_its_event_is_gone(vault: Vault, caller: Caller, talk: Callable[..., None]) -> None:
    talk("I was born in Oslo.", "I was born in Bergen.")
    ledger = vault.root / "ledger" / "2026-11-02.jsonl"
    ledger.unlink()
    with pytest.raises(Refused, match="no longer in the ledger"):
        approve(vault, only(vault).id, caller)


def test_beside_is_for_contradictions_only(vault: Vault, caller: Caller) -> None:
    proposal = file(vault, caller)
    with pytest.raises(Refused, match="be kept beside"):
        approve(vault, proposal.id, caller, beside=True)


def test_one_fact_and_all_facts_of_a_conflict_cannot_be_kept_together(
    vault: Vault, caller: Caller, talk: Callable[..., None]
) -> None:
    talk("I was born in Oslo.", "I was born in Bergen.")
    proposal = only(vault)
    with pytest.raises(Refused, match="cannot be combined") as raised:
        approve(vault, proposal.id, caller, beside=True, keep=proposal.targets[0].id)
    assert raised.value.hint == "Choose one of the two."


def test_show_gives_the_facts_as_they_stand(vault: Vault, caller: Caller) -> None:
    home = keep(vault, caller, "Dana lives in Leeds.")
    proposal = file(vault, caller, does=SUPERSEDE, targets=(*targets(home), ProposalTarget("fact_gone", "Dana lived.")))
    shown = show_proposal(vault, proposal.id)
    assert (shown.proposal, [each.fact for each in shown.targets]) == (proposal, [home])
    with pytest.raises(NotFound):
        show_proposal(vault, "prop_ff")


@pytest.mark.parametrize("reason", ["", "  ", "a\x1b[2Jb"])
def test_a_reason_is_one_printable_line(vault: Vault, caller: Caller, reason: str) -> None:
    proposal = file(vault, caller)
    with pytest.raises(InvalidInput):
        reject(vault, proposal.id, caller, reason)
    assert only(vault).status == "open"


def test_a_new_entity_is_made_on_approval_only(vault: Vault, caller: Caller) -> None:
    file(vault, caller, entity="projects/boat", title="The boat")
    index = open_index(vault)
    assert "projects/boat" not in entity_names(index)
    index.close()
    approve(vault, "prop_0000", caller)
    assert "The boat" in (vault.read_text("life/projects/boat/summary.md") or "")


@pytest.mark.parametrize(
    "waits",
    [
        {"kind": "guardrail", "fact": fact("Never delete the backups.", trust="agent", category="guardrail")},
        {"kind": "fact", "fact": fact("Never delete the backups.", trust="agent", category="guardrail")},
        {"kind": "fact", "fact": fact("The boiler is from 2011.", trust="external")},
    ],
)
def test_an_agent_approves_nothing_that_a_person_accepts(
    vault: Vault, caller: Caller, waits: dict[str, object], clawmem: Command
) -> None:
    proposal = file(vault, caller, **waits)
    refused = clawmem("review", "approve", proposal.id, env={"CLAWMEM_AGENT": "bot"})
    assert (refused.code, "bot is an agent" in refused.err) == (1, True), refused
    assert only(vault).status == "open" and not facts_of(vault)
    assert clawmem("review", "approve", proposal.id).code == 0


def test_a_conflict_is_decided_for_the_older_fact(vault: Vault, caller: Caller) -> None:
    old = keep(vault, caller, "Dana lives in Porto.")
    remember(vault, [Draft(fact("Dana lives in Lisbon now."), "areas/people/dana")], caller)
    asked = only(vault)
    with pytest.raises(Refused, match="is no fact of this conflict"):
        approve(vault, asked.id, caller, keep="fact_ffffffff")
    with pytest.raises(Refused, match="Only in a conflict"):
        approve(vault, file(vault, caller).id, caller, keep=old.id)
    outcome = approve(vault, asked.id, caller, "she told me", keep=old.id[:9])
    assert outcome.proposal.decided and outcome.proposal.decided.winner == old.id
    now = facts_of(vault)
    assert now["Dana lives in Porto."].status == "active"
    assert now["Dana lives in Lisbon now."].superseded_by == old.id
    assert sound(vault, caller)


def test_rejecting_a_conflict_of_stored_facts_withdraws_what_was_rejected(vault: Vault, caller: Caller) -> None:
    home = keep(vault, caller, "Jane lives in Oslo.", subject="Jane", predicate="lives_in", object="Oslo")
    outside = {"trust": "external", "source": "web:example.org"}
    keep(vault, caller, "Jane lives in Rome.", subject="Jane", predicate="lives_in", object="Rome", **outside)
    proposal = only(vault)
    reject(vault, proposal.id, caller, "The page is about another Jane.")
    found = {fact.fact: fact.status for fact in facts_of(vault).values()}
    assert found == {"Jane lives in Oslo.": "active", "Jane lives in Rome.": "superseded"}
    assert facts_of(vault)["Jane lives in Oslo."].id == home.id and sound(vault, caller)


def test_what_was_seen_must_be_what_is_decided(vault: Vault, caller: Caller) -> None:
    """A page gives the version that it showed: of the proposal and of the facts that it is about."""
    about = {"entity": "areas/people/jane", "subject": "Jane", "predicate": "limit"}
    record = {**about, "fact": "Jane's limit is 6.", "object": "6"}
    first = remember(vault, [draft_from_record(record, caller.now)], caller).facts[0].fact.id
    record = {**about, "fact": "Jane's limit is 8.", "object": "8"}
    remember(vault, [draft_from_record(record, caller.now)], caller._replace(agent="scout"))
    shown = show_proposal(vault, only(vault).id)
    (listed,) = show_open(vault, 0, 10).details
    assert listed.version == shown.version and show_open(vault, 1, 10).details == ()
    supersede(vault, first, draft_from_record({"fact": "Jane's limit is 7."}, caller.now), caller)
    for decide in (approve, reject):
        with pytest.raises(Refused, match="has changed since it was shown"):
            decide(vault, shown.proposal.id, caller, reason="It is 8.", seen=shown.version)
    now = show_proposal(vault, shown.proposal.id).version
    reject(vault, shown.proposal.id, caller, "Both are old.", seen=now)
    for decide in (approve, reject):
        with pytest.raises(Refused, match="already rejected, by Ada Person"):
            decide(vault, shown.proposal.id, caller, reason="It is 8.", seen=now)
    assert reject(vault, shown.proposal.id, caller, "Again.").commit is None
