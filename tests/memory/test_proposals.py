"""Proposals in the vault: found by prefix, listed by kind, and a file that does not parse hides no other."""

from __future__ import annotations

import pytest

from clawmem.errors import AmbiguousId, InvalidInput, NotFound
from clawmem.memory.health.status import status
from clawmem.memory.proposals import (
    FiledProposals,
    find_proposal,
    proposal_trailers,
    proposal_writes,
    read_proposals,
    select_proposals,
)
from clawmem.memory.writing import writing
from clawmem.model.proposals.proposal import LINE, REJECTED, PageLine, Proposal, ReviewDecision
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.vault.vault import Vault


def waiting(name: str, kind: str = "tacit", created: str = "2026-11-20T09:00:00Z") -> Proposal:
    return Proposal(
        f"prop_{name}", kind, "Be brief.", "Said 3 times.", created, LINE, line=PageLine("MEMORY.md", "- x")
    )


FIRST, SECOND = waiting("aa000001", created="2026-11-21T09:00:00Z"), waiting("aa000002", "guardrail")
GONE = waiting("bb000001")._replace(status=REJECTED, decided=ReviewDecision("a person", "2026-11-21T09:30:00Z", "no"))
ALL = (FIRST, SECOND, GONE)


@pytest.fixture
def filed(vault: Vault, caller: Caller) -> FiledProposals:
    """Three proposals, committed."""
    with writing(vault, caller, "test") as work:
        work.commit([Change("propose(test): three", proposal_writes(ALL), proposal_trailers(ALL))])
    return read_proposals(vault)


def test_they_are_read_oldest_first(filed: FiledProposals) -> None:
    assert filed.proposals == (SECOND, GONE, FIRST)
    assert filed.open == (SECOND, FIRST)
    assert filed.unreadable == ()


def test_they_are_chosen_by_state_and_kind(filed: FiledProposals) -> None:
    assert select_proposals(filed) == [SECOND, FIRST]
    assert select_proposals(filed, include_closed=True) == [SECOND, GONE, FIRST]
    assert select_proposals(filed, include_closed=True, kind="tacit") == [GONE, FIRST]
    with pytest.raises(InvalidInput, match="whim"):
        select_proposals(filed, kind="whim")


def test_a_unique_prefix_is_enough(filed: FiledProposals) -> None:
    assert find_proposal(filed, "prop_aa000001") == FIRST
    assert find_proposal(filed, "bb00") == GONE
    assert find_proposal(filed, "prop_bb00") == GONE
    with pytest.raises(AmbiguousId, match="prop_aa000001"):
        find_proposal(filed, "aa")
    with pytest.raises(NotFound):
        find_proposal(filed, "cc")


def test_a_file_that_does_not_parse_hides_no_other(filed: FiledProposals, vault: Vault) -> None:
    (vault.root / "review" / "prop_dd.json").write_text("{oops\n")
    found = read_proposals(vault)
    assert found.proposals == filed.proposals
    (text,) = found.unreadable
    assert "review/prop_dd.json:1" in text
    assert text in status(vault).notices


def test_the_commit_names_them_and_status_counts_those_that_wait(filed: FiledProposals, vault: Vault) -> None:
    items = vault.git.run("log", "-1", "--format=%(trailers:key=Proposal,valueonly)").decode().split()
    assert items == [proposal.id for proposal in ALL]
    assert status(vault).proposals == 2


@pytest.mark.parametrize("short", ["p", "prop_", "prop_b", "b", "bb0"])
def test_a_prefix_of_few_digits_names_no_proposal(filed: FiledProposals, short: str) -> None:
    """A vault with one proposal would otherwise decide it for `review approve p`."""
    with pytest.raises(InvalidInput, match="too short") as raised:
        find_proposal(FiledProposals((GONE,)), short)
    assert "prop_bb000001" in raised.value.hint


def test_what_is_no_id_is_said_to_be_no_proposal_id(filed: FiledProposals) -> None:
    with pytest.raises(InvalidInput, match="'' is not a proposal id"):
        find_proposal(filed, "")
