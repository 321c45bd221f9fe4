"""The curator on a real vault: its report, what it mends, what it proposes, and what an approval does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clawmem.errors import NotPermitted, Refused
from clawmem.extensions.wiki.compile import build_wiki
from clawmem.extensions.wiki.curator import FILED, LEFT, Curation, check_pages, curate, is_due
from clawmem.heartbeat.loop import due_steps
from clawmem.memory.entities.entities import create_entity, merge_entities, rename_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, retract, supersede
from clawmem.memory.facts.revoke import RevokeOrigin, revoke
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.proposals.proposal import OPEN, Proposal, action_words, render_proposal
from clawmem.model.records.caller import Caller
from clawmem.review.review import approve, list_proposals, reject
from clawmem.vault.vault import Vault

JANE, BOAT = "areas/people/jane", "projects/boat"
REPORT = "wiki/reports/2026-W47.md"


def add(vault: Vault, caller: Caller, text: str, entity: str = JANE, **keys: object) -> str:
    draft = draft_from_record({"entity": entity, "fact": text, **keys}, caller.now)
    return remember(vault, [draft], caller).facts[0].fact.id


def write(vault: Vault, path: str, text: str) -> None:
    place = vault.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def read(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text(encoding="utf-8")


def later(caller: Caller, days: int = 7) -> Caller:
    return caller._replace(now=caller.now + timedelta(days=days))


def filed(curation: Curation, rule: str) -> list[str]:
    return [
        curated_finding.proposal or ""
        for curated_finding in curation.findings
        if curated_finding.finding.rule == rule and curated_finding.outcome == FILED
    ]


def only(vault: Vault, curation: Curation, rule: str) -> Proposal:
    (found,) = filed(curation, rule)
    return next(proposal for proposal in list_proposals(vault).proposals if proposal.id == found)


def test_the_report_tells_the_week_and_its_links_resolve(vault: Vault, caller: Caller) -> None:
    oslo = add(vault, caller, "Jane lives in Oslo.", subject="Jane", predicate="lives_in", object="Oslo")
    wrong = add(vault, caller, "The boat is green.", BOAT)
    add(vault, caller, "The boat is 9 m long.", BOAT)
    add(vault, caller, "Jane was born in Bergen.", subject="Jane", predicate="born_in", object="Bergen")
    rival = {"subject": "Jane", "predicate": "born_in", "object": "Hamar"}
    add(vault, caller, "Jane was born in Hamar.", **rival)
    next_day = later(caller, 1)
    supersede(vault, oslo, draft_from_record({"fact": "Jane lives in Rome."}, next_day.now), next_day, "she moved")
    retract(vault, wrong, next_day, "it was the dinghy")
    curation = curate(vault, later(caller))
    assert curation.report == REPORT and curation.commit is not None
    text = read(vault, REPORT)
    assert "# Week 2026-W47\n\n16 November 2026 to 22 November 2026." in text
    assert "## Learned" in text and "- [Boat](../projects/boat.md): The boat is 9 m long." in text
    assert (
        "## Forgotten\n\n- [Boat](../projects/boat.md): withdrawn, because: it was the dinghy: The boat is green."
        in text
    )
    assert "Jane lives in Rome." in text
    assert "- [2026-W47](reports/2026-W47.md)" in read(vault, "wiki/index.md")
    assert check_pages(vault) == ((), ())


def test_a_run_with_nothing_new_commits_nothing(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    week = later(caller)
    assert curate(vault, week).commit is not None
    before, text = vault.head().commit, read(vault, REPORT)
    again = curate(vault, later(week, 1))
    assert (again.report, again.pages, again.commit) == (None, (), None)
    quiet = curate(vault, later(week))
    assert (quiet.week, quiet.report, quiet.commit) == ("2026-W48", None, None)
    assert vault.head().commit == before and read(vault, REPORT) == text


def test_the_same_history_gives_the_same_report(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "The boat is red.", BOAT)
    curate(vault, later(caller))
    before = read(vault, REPORT)
    (vault.root / REPORT).unlink()
    assert curate(vault, later(caller)).report == REPORT
    assert read(vault, REPORT) == before
    write(vault, REPORT, "My note.\n\n" + before)
    assert curate(vault, later(caller)).report is None
    assert read(vault, REPORT) == "My note.\n\n" + before


def test_a_dry_run_writes_nothing(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "Jane prefers the tea!")
    before = vault.head().commit
    curation = curate(vault, later(caller), dry_run=True)
    assert curation.report == REPORT and filed(curation, "duplicate-claim")
    assert vault.head().commit == before and not (vault.root / REPORT).exists() and is_due(vault, later(caller))


def test_the_step_is_due_once_a_week(vault: Vault, caller: Caller) -> None:
    def due(at: Caller) -> bool:
        return next(is_now for step, is_now in due_steps(vault, at) if step.name == "curate")

    assert due(caller)
    curate(vault, caller)
    assert not due(caller) and not due(later(caller, 1)) and due(later(caller, 2))


def test_what_was_revoked_or_orders_is_not_repeated(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane keeps bees.", source="web:bees.example", trust="external")
    add(vault, caller, "Jane sails.")
    revoke(vault, RevokeOrigin(source="web:bees.example"), caller, "it was spam")
    curate(vault, later(caller))
    assert "bees" not in read(vault, REPORT) and "Jane sails." in read(vault, REPORT)


def test_links_to_a_renamed_or_merged_entity_are_mended(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "The boat is red.", BOAT)
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "Janet sails.", "areas/people/janet")
    curate(vault, later(caller))
    text = "[[boat|old boat]] and [her](areas/people/janet.md), [[Boat#Facts]], `[[boat]]`, [[jane]]\n"
    write(vault, "wiki/trip.md", text)
    build_wiki(vault, later(caller))
    rename_entity(vault, BOAT, "ship", later(caller))
    merge_entities(vault, "areas/people/janet", JANE, later(caller))
    build_wiki(vault, later(caller, 8))
    assert {link.page for link in check_pages(vault).dead} == {"wiki/trip.md"}
    curation = curate(vault, later(caller, 8))
    assert read(vault, "wiki/trip.md") == (
        "[[ship|old boat]] and [her](areas/people/jane.md), [[ship#Facts|Boat]], `[[boat]]`, [[jane]]\n"
    )
    assert curation.mended[0] == ("wiki/trip.md", "boat", "wiki/projects/ship.md") and len(curation.mended) == 3
    assert check_pages(vault).dead == ()
    assert build_wiki(vault, later(caller, 8)).written == ()


def test_a_finding_is_filed_once_and_never_after_a_rejection(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    write(vault, "wiki/trip.md", "See [[jane]] and [[Nowhere]].\n")
    first = curate(vault, caller)
    proposal = only(vault, first, "dead-link")
    assert "Nowhere" in proposal.says and "no page, entity or topic" in proposal.why
    assert filed(curate(vault, caller), "dead-link") == []
    reject(vault, proposal.id, caller, "I will write that page")
    again = curate(vault, later(caller, 30))
    assert filed(again, "dead-link") == []
    assert [
        curated_finding.outcome for curated_finding in again.findings if curated_finding.finding.rule == "dead-link"
    ] == ["rejected"]


def test_a_link_that_can_mean_two_pages_is_a_proposal(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "areas/people/kim", caller, "Kim Ray", ("the captain",))
    create_entity(vault, "areas/people/lee", caller, "Lee", ("the captain",))
    write(vault, "wiki/trip.md", "[[the captain]] [[kim]] [[lee]]\n")
    curation = curate(vault, caller)
    proposal = only(vault, curation, "dead-link")
    assert "wiki/areas/people/kim.md or wiki/areas/people/lee.md" in proposal.why
    assert action_words(proposal) == "records the decision; no page changes"
    approve(vault, proposal.id, caller)
    assert read(vault, "wiki/trip.md").startswith("[[the captain]]")


def test_an_action_of_an_earlier_version_is_only_rejected(vault: Vault, caller: Caller) -> None:
    write(vault, "wiki/trip.md", "[[Nowhere]]\n")
    proposal = only(vault, curate(vault, caller), "dead-link")
    details = {**(proposal.details or {}), "action": "set-link", "page": "wiki/trip.md", "target": "Nowhere"}
    asked = proposal._replace(details=details)
    assert action_words(asked) == "is refused: this clawmem has no action 'set-link'"
    write(vault, f"review/{proposal.id}.json", render_proposal(asked).decode())
    with pytest.raises(Refused, match="has no action 'set-link'"):
        approve(vault, proposal.id, caller)
    reject(vault, proposal.id, caller, "I edit the page.")


def test_duplicate_claims_are_joined(vault: Vault, caller: Caller) -> None:
    text = add(vault, caller, "Jane prefers tea.", tags=["drink"])
    other = add(vault, caller, "Jane prefers the tea!", tags=["tea"])
    add(vault, caller, "Jane prefers green tea.")
    proposal = only(vault, curate(vault, caller), "duplicate-claim")
    assert {target.id for target in proposal.targets} == {text, other}
    outcome = approve(vault, proposal.id, caller)
    joined = outcome.facts[0].fact
    assert set(joined.tags) == {"drink", "tea"} and {each.to for each in joined.links} == {text, other}
    assert filed(curate(vault, caller), "duplicate-claim") == []


def test_duplicate_entities_are_merged(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "areas/people/zoe", caller, "Zoë")
    add(vault, caller, "Zoe sails.", "areas/people/zoe-2", tags=["sea"])
    create_entity(vault, "projects/zoe", caller, "Zoe")  # of another kind
    entity = "areas/people/zoe-2"
    write(vault, f"life/{entity}/summary.md", read(vault, f"life/{entity}/summary.md").replace("Zoe 2", "ZOE"))
    proposal = only(vault, curate(vault, caller), "duplicate-entity")
    assert proposal.says == "Merge the entity areas/people/zoe into areas/people/zoe-2" and proposal.entity == entity
    approve(vault, proposal.id, caller)
    assert not (vault.root / "life/areas/people/zoe").exists()
    assert curate(vault, caller).findings == ()


def test_a_stale_fact_is_confirmed_or_withdrawn(vault: Vault, caller: Caller) -> None:
    fact = add(vault, caller, "The boat needs paint.", BOAT, details={"review_by": "2026-11-30"})
    premise = add(vault, caller, "The boat is wooden.", BOAT)
    resting = add(vault, caller, "The boat rots.", BOAT)
    link(vault, resting, "depends_on", premise, caller)
    retract(vault, premise, caller)
    at = later(caller, 20)
    curation = curate(vault, at)
    by_fact = {proposal.targets[0].id: proposal for proposal in list_proposals(vault).proposals}
    assert set(by_fact) == {fact, resting} and len(filed(curation, "stale")) == 2
    assert "stale after 2026-11-30" in by_fact[fact].why
    with pytest.raises(NotPermitted):
        approve(vault, by_fact[fact].id, at._replace(agent="cli"))
    for proposal in by_fact.values():
        approve(vault, proposal.id, at)
    assert curate(vault, at).findings == ()
    assert "The boat needs paint." in read(vault, f"wiki/{BOAT}.md")


def test_pages_that_are_too_long(vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clawmem.extensions.wiki.curator.PAGE_WORDS", 100)
    for number in range(12):
        add(vault, caller, f"The boat has part number {number} of the list.", BOAT)
    write(vault, "wiki/notes/long.md", f"# Notes\n\n{'word ' * 120}\n\n[[index]]\n")
    curation = curate(vault, caller)
    assert len(filed(curation, "long-page")) == 2
    first, second = sorted(list_proposals(vault, kind="wiki").proposals, key=lambda proposal: proposal.says)
    assert first.says == f"Archive old claims of wiki/{BOAT}.md" and "at most 100 are allowed" in first.why
    assert second.says == "Move a part of wiki/notes/long.md to a page of its own"
    for proposal in (first, second):
        approve(vault, proposal.id, caller)
    assert filed(curate(vault, caller), "long-page") == []


def test_a_run_files_no_more_than_its_limit(vault: Vault, caller: Caller) -> None:
    write(vault, "wiki/trip.md", " ".join(f"[[Place {number}]]" for number in range(50)))
    outcomes = [
        curated_finding.outcome
        for curated_finding in curate(vault, caller).findings
        if curated_finding.finding.rule == "dead-link"
    ]
    assert outcomes.count(FILED) == 20 and outcomes.count(LEFT) == 30
    outcomes = [
        curated_finding.outcome
        for curated_finding in curate(vault, caller).findings
        if curated_finding.finding.rule == "dead-link"
    ]
    assert outcomes.count(FILED) == 20 and outcomes.count("waits") == 20
    assert len([proposal for proposal in list_proposals(vault).proposals if proposal.status == OPEN]) == 40


def test_a_page_that_cannot_be_read_stays_as_it_is(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "The boat is red.", BOAT)
    build_wiki(vault, caller)
    rename_entity(vault, BOAT, "ship", caller)
    bad = b"[[boat]] \xff\n"
    (vault.root / "wiki/bad.md").write_bytes(bad)
    write(vault, "wiki/good.md", "[[boat]]\n")
    curation = curate(vault, caller)
    assert (vault.root / "wiki/bad.md").read_bytes() == bad and any("bad.md" in notice for notice in curation.notices)
    assert read(vault, "wiki/good.md") == "[[ship|boat]]\n"
