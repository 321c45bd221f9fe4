"""The table of the kinds of proposals: each row is complete, and what it names exists."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from clawmem.model.proposals.kinds import BY_KIND, PROPOSAL_KINDS, ProposalKind


def test_names_are_unique() -> None:
    assert len(BY_KIND) == len(PROPOSAL_KINDS)


@pytest.mark.parametrize("kind", PROPOSAL_KINDS, ids=lambda other: other.name)
def test_what_a_row_calls_takes_the_write_the_proposal_and_the_facts(kind: ProposalKind) -> None:
    assert kind.name.isalpha() and kind.name.islower() and kind.about
    if kind.on_decision:
        module, _, function = kind.on_decision.partition(":")
        called = getattr(import_module(module), function)
        assert len(inspect.signature(called).parameters) == 3
