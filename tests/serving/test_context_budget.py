"""For every vault and budget, a context never exceeds the budget and never contains a withdrawn fact."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from clawmem.index.tables.background import count_exactly, exact_counter
from clawmem.model.records.caller import Caller
from clawmem.serving.context.context import context_in
from clawmem.serving.context.hits import ContextRequest
from clawmem.vault.vault import Vault
from tests.conftest import examples
from tests.serving.budgets import Count, check_one
from tests.serving.invented import NOW, indexed, talkative


@pytest.fixture(scope="module")
def count() -> Count:
    """The exact count."""
    return exact_counter()


@examples(10, 200, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 10**9), budget=st.integers(20, 3000))
@example(seed=110, budget=91)  # less room than the remarks may take
def test_no_budget_is_exceeded(vault: Vault, count: Count, seed: int, budget: int) -> None:
    check_one(vault, seed, budget, count)


def test_what_is_checked_happens(vault: Vault, count: Count) -> None:
    items = [check_one(vault, seed, 150 + 15 * seed, count) for seed in range(0, 60, 2)]
    assert {result.counted_by for result in items if result} == {"exact", "mixed", "upper bound"}
    text = "\n".join(result.text for result in items if result)
    for part in ("## Always", "## Facts for this question", "## Said before", "## Known",
                 "## Written by people", "## How you work", "! In conflict", "> ", "(left out of"):  # fmt: skip
        assert part in text, part
    assert Counter(title for result in items if result for title, _ in result.left_out)["Always"] > 2


_REMARK = 10


@examples(5, 25, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 10**9), budget=st.integers(500, 6000), question=st.sampled_from([None, "which boiler?"]))
def test_a_budget_is_used_where_there_is_more_to_say(
    vault: Vault, count: Count, seed: int, budget: int, question: str | None
) -> None:
    index = indexed(vault, talkative(seed))
    count_exactly(index, count)
    result, _ = context_in(vault, index, ContextRequest(Caller(NOW, random.randbytes), budget, question))
    index.close()
    # The words of a question in the remark are counted by their upper bound.
    assert result.counted_by == ("mixed" if question else "exact")
    exact = count(result.text + "\n")
    assert exact <= result.tokens <= min(budget, exact + (_REMARK if question else 0))
    assert not result.left_out or result.tokens >= 0.95 * budget
    assert result.left_out, "there is more than any of these budgets holds"
