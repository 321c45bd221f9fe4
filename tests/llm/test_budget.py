"""The account of a run: every limit is asked before a call, and every call is entered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.llm.budget import Account, Prices, RunLimits, Spent, cents

PRICES = Prices(0.001, 0.002)


def test_a_call_is_refused_before_it_could_pass_the_limit() -> None:
    account = Account(RunLimits(cents=3.0, tokens=1000), PRICES)
    assert account.highest_cost(1000) == 3.0
    assert account.refusal(1000) is None
    refused = account.refusal(1001)
    assert refused is not None
    assert refused.startswith(
        "The next call can cost 3.001 cents, 0 cents were spent in this run, and the limit for one run is 3 cents"
    )
    assert refused.endswith("(llm.budget_cents).")
    account.charge(1000, 500, 200)
    assert account.spent == Spent(1, 0, 1000, 500, 2.0, 200, 0)
    assert "2 cents were spent in this run" in (account.refusal(1000) or "")


def test_what_the_day_cost_already_counts() -> None:
    account = Account(RunLimits(cents=50, daily_cents=10, tokens=1000), PRICES, earlier_today=Spent(cents=8.0))
    assert account.refusal(0) is None
    assert "8 cents were spent today, and the limit for one day is 10 cents (llm.daily_cents)" in (
        account.refusal(1) or ""
    )


def test_time_and_facts_are_limits_too() -> None:
    account = Account(RunLimits(milliseconds=1000, facts=2), PRICES)
    account.charge(1, 1, 999)
    assert account.refusal(1) is None
    assert account.seconds(10) == 0.001
    assert account.seconds(0.0001) == 0.0001
    account.add_facts(2)
    assert account.refusal(1) == "2 facts were found; the limit for one run is 2 (llm.max_facts)."
    account.charge(1, 1, 1, retry=True)
    assert account.spent.retries == 1
    account.add_facts(-2)
    assert account.refusal(1) == "The model used the 1 seconds of one run (llm.max_ms)."


def test_an_unknown_price_is_held_by_calls_and_tokens() -> None:
    account = Account(
        RunLimits(tokens=100, daily_calls=3, daily_tokens=1100), None, Spent(1, prompt_tokens=60, answer_tokens=40)
    )
    assert account.highest_cost(10**9) is None
    assert account.refusal(1000) is None
    assert "1,100 tokens are the most in one day (llm.daily_tokens)" in (account.refusal(1001) or "")
    account.charge(500, 100, 5)
    assert (account.spent.cents, account.spent.prompt_tokens) == (0.0, 500)
    assert account.refusal(400) is None
    assert "llm.daily_tokens" in (account.refusal(401) or "")
    account.charge(1, 1, 1)
    assert "3 calls are the most in one day (llm.daily_calls)" in (account.refusal(1) or "")


@pytest.mark.parametrize("limits", [RunLimits(cents=0), RunLimits(daily_cents=0)])
def test_where_nothing_may_be_spent_only_what_is_free_is_called(limits: RunLimits) -> None:
    assert Account(limits, Prices(0, 0)).refusal(1000) is None
    assert "price of this model is not known" in (Account(limits, None).refusal(1) or "")
    assert "can cost" in (Account(limits, PRICES).refusal(1) or "")


@given(
    st.floats(0, 100),
    st.floats(0, 100),
    st.lists(st.tuples(st.integers(0, 5000), st.floats(0, 1)), max_size=20),
)
def test_no_run_of_allowed_calls_costs_more_than_its_limits(
    most: float, daily: float, calls: list[tuple[int, float]]
) -> None:
    account = Account(RunLimits(cents=most, daily_cents=daily, tokens=1000), PRICES)
    for prompt, share in calls:
        if account.refusal(prompt) is None:
            account.charge(prompt, int(1000 * share), 0)
    assert account.spent.cents <= min(most, daily) + 1e-9
    assert account.spent.cents == pytest.approx(cents(PRICES, account.spent.prompt_tokens, account.spent.answer_tokens))
