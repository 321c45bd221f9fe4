"""Promotion: the best of a day, at most so many, each with its reason, once; and notes that an entity has room for."""

from __future__ import annotations

from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.learning.promotion.promote import promote
from clawmem.memory.facts.remember import remember
from clawmem.memory.history.undo import undo
from clawmem.memory.pages.refresh import refresh_summaries
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.promotion import promotion_of
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

TODAY = "2026-11-21"


def _facts(vault: Vault) -> dict[str, Fact]:
    index = open_index(vault)
    try:
        return {one.fact.fact: one.fact for one in all_facts(index)}
    finally:
        index.close()


def _remember(vault: Vault, caller: Caller, *statements: str, **keys: object) -> None:
    drafts = [draft_from_record({"fact": one, **keys}, caller.now) for one in statements]
    remember(vault, drafts, caller)


def _decisions(vault: Vault, caller: Caller, number: int) -> None:
    words = [f"We decided to use engine {letter} in Oslo." for letter in "ABCDEFGHIJKL"[:number]]
    _remember(vault, caller, *words, category="decision", importance=0.7, entity="projects/billing", trust="user")


def test_the_worthy_are_marked_lifted_and_shown_first(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 1)
    _remember(vault, caller, "It rained a bit.", importance=0.2, entity="projects/billing")
    done = promote(vault, caller, TODAY)
    assert [one.promoted for one in done.verdicts] == [True, False]
    assert done.verdicts[1].reason == "its score is 0.24, and 0.60 is needed"
    fact = _facts(vault)["We decided to use engine A in Oslo."]
    mark = promotion_of(fact)
    assert mark is not None
    assert (mark["on"], mark["importance"]) == (TODAY, 0.7)
    body = vault.git.run("log", "-1", "--format=%s%n%b").decode()
    assert body.startswith(f"promote({TODAY}): 1 fact worth thirty days\n- project projects/billing: We decided")
    refresh_summaries(vault, caller)
    page = vault.read_text("life/projects/billing/summary.md") or ""
    assert page.index("## Promoted facts") < page.index("We decided to use engine A") < page.index("## Hot facts")


def test_at_most_eight_a_day_and_a_second_run_promotes_nothing(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 12)
    first = promote(vault, caller, TODAY)
    assert len(first.kept) == 8
    head = vault.head()
    again = promote(vault, caller, TODAY)
    assert (again.kept, again.commit, vault.head()) == ((), None, head)
    assert {one.reason for one in again.verdicts} == {"its score is high enough, but the limit is 8 a day"}


def test_a_dry_run_writes_nothing_and_another_day_has_no_candidates(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 2)
    head = vault.head()
    assert len(promote(vault, caller, TODAY, dry_run=True).kept) == 2
    assert promote(vault, caller, "2026-11-19").verdicts == ()
    assert vault.head() == head


def test_a_promotion_can_be_undone(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 1)
    before = _facts(vault)
    done = promote(vault, caller, TODAY)
    assert done.commit
    undo(vault, done.commit, caller)
    assert _facts(vault) == before


def test_a_file_that_does_not_parse_stops_only_its_own_facts(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 1)
    words = "Ada decided to move to Oslo."
    _remember(vault, caller, words, category="decision", importance=0.9, entity="areas/people/ada")
    broken = vault.root / "life/projects/billing/items.json"
    broken.write_text("[\noops\n]\n")
    assert [one.candidate.fact.fact for one in promote(vault, caller, TODAY).kept] == [words]
    assert broken.read_text() == "[\noops\n]\n"
