"""What a model costs: only what runs here is free; a hosted one without a price is one of unknown price."""

from __future__ import annotations

import pytest

from clawmem.llm.budget import FREE, Account, RunLimits
from clawmem.llm.choice import LOCAL_PROVIDERS, Model, is_local
from clawmem.llm.client import prices_of
from tests.needs import needs_litellm


@pytest.mark.parametrize(
    ("name", "address", "local"),
    [
        ("ollama/llama3", None, True),
        ("ollama_chat/llama3", None, True),
        ("ollama/llama3", "https://ollama.example.com", False),
        ("openai/tested", "http://localhost:8000/v1", True),
        ("openai/tested", "http://127.0.0.1:8000/v1", True),
        ("openai/tested", "http://[::1]:8000/v1", True),
        ("openai/tested", "http://192.168.1.5:8000/v1", True),
        ("openai/tested", "https://api.example.com/v1", False),
        ("openai/tested", "https://8.8.8.8/v1", False),
        ("openai/tested", None, False),
    ],
)
@needs_litellm
def test_only_what_runs_here_is_free(name: str, address: str | None, local: bool) -> None:
    model = Model(name, address)
    assert is_local(model) == local
    assert prices_of(model) == (FREE if local else None)


@needs_litellm
def test_a_price_of_nothing_is_none_for_a_hosted_model() -> None:
    import litellm

    name = next(
        key
        for key, other in litellm.model_cost.items()
        if other.get("input_cost_per_token") == 0
        and other.get("output_cost_per_token") == 0
        and not key.startswith(LOCAL_PROVIDERS)
    )
    assert prices_of(Model(name)) is None


def test_calls_are_counted_where_no_money_can_be() -> None:
    account = Account(RunLimits(milliseconds=10_000), None)
    for _ in range(RunLimits().daily_calls):
        assert account.refusal(1) is None
        account.charge(1, 1, 1)
    assert "calls are the most in one day" in (account.refusal(1) or "")
