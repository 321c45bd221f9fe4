"""Decisions about conflicts propose the strategy that gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.review.review import approve, reject
from clawmem.review.reviewers import agreement
from clawmem.vault.vault import Vault


@pytest.mark.parametrize(
    ("newest", "older", "rejected", "proposed"), [(9, 1, 0, "newest"), (8, 1, 1, None), (9, 0, 0, None)]
)
def test_nine_of_ten_for_the_newest_propose_it(
    vault: Vault, caller: Caller, newest: int, older: int, rejected: int, proposed: str | None
) -> None:
    for number in range(newest + older + rejected):
        name = f"Jane{number}"
        (entity, sure) = (f"areas/people/jane-{number}", {"confidence": 0.9})
        draft, other = (
            draft_from_record({"fact": f"{name} lives in {place}.", "entity": entity, **sure}, caller.now)
            for place in ("Porto", "Lisbon now")
        )
        old = remember(vault, [draft], caller).facts[0].fact
        (conflict,) = remember(vault, [other], caller).conflicts
        assert conflict.proposal
        if number < newest:
            approve(vault, conflict.proposal.id, caller)
        elif number < newest + older:
            approve(vault, conflict.proposal.id, caller, keep=old.id)
        else:
            reject(vault, conflict.proposal.id, caller, "both are true")
    (found,) = agreement(vault).conflicts
    assert (found.of, found.decided, found.newest) == ("relation:lives_in", newest + older + rejected, newest)
    assert (found.comparable, found.proposed) == (0, proposed), "all are equally sure"
    path = Path(vault.root) / "predicates.yaml"
    path.write_text(path.read_text().replace("\nlives_in:\n", "\nlives_in:\n  conflict: newest\n"))
    (found,) = agreement(Vault(vault.root, vault.git.environment)).conflicts
    assert (found.strategy, found.proposed) == ("newest", None)
