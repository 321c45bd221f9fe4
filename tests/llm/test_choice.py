"""Which model is called: the settings say it, the environment may override the limits."""

from __future__ import annotations

import pytest

from clawmem.errors import InvalidInput
from clawmem.llm.budget import RunLimits
from clawmem.llm.choice import Model, choose_model
from clawmem.model.settings.settings import DEFAULTS, Settings, parse_value


def settings(**llm: str | int) -> Settings:
    return DEFAULTS._replace(values={**DEFAULTS.values, **{f"llm.{key}": value for key, value in llm.items()}})


def test_no_model_is_the_default() -> None:
    assert choose_model(DEFAULTS, {"OPENAI_API_KEY": "x"}) is None


def test_the_settings_as_they_are() -> None:
    model = choose_model(
        settings(model="openai/x", api_base="http://localhost:1/v1", api_key_env="MY_KEY"), {"MY_KEY": "k"}
    )
    assert model is not None
    assert model._replace(limits=RunLimits()) == Model("openai/x", "http://localhost:1/v1", "k", "MY_KEY", 60.0)
    assert model.limits == RunLimits(retries=2, cents=12, milliseconds=600_000, facts=200, tokens=2000, daily_cents=100)


@pytest.mark.parametrize("prefix", ["CLAWMEM_PARA_PROMOTION_", "CLAWPY_PARA_PROMOTION_"])
def test_the_environment_overrides_the_limits(prefix: str) -> None:
    environment = {
        f"{prefix}MAX_RETRIES": "0",
        f"{prefix}BUDGET_CENTS": "1.5",
        f"{prefix}MAX_MS": "500",
        f"{prefix}MAX_FACTS": "3",
    }
    model = choose_model(settings(model="m"), environment)
    assert model is not None
    assert model.limits == RunLimits(0, 1.5, 500, 3)


def test_the_newer_name_wins_and_an_empty_value_is_none() -> None:
    environment = {
        "CLAWMEM_PARA_PROMOTION_MAX_FACTS": "3",
        "CLAWPY_PARA_PROMOTION_MAX_FACTS": "4",
        "CLAWMEM_PARA_PROMOTION_MAX_MS": " ",
    }
    model = choose_model(settings(model="m", max_ms=77), environment)
    assert model is not None
    assert (model.limits.facts, model.limits.milliseconds) == (3, 77)


def test_an_override_that_makes_no_sense_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"CLAWPY_PARA_PROMOTION_MAX_FACTS: .*llm\.max_facts is 'many'"):
        choose_model(settings(model="m"), {"CLAWPY_PARA_PROMOTION_MAX_FACTS": "many"})


@pytest.mark.parametrize("pasted", ["sk-proj-abc123", "AIzaSyAbc123", "two words", "1KEY"])
def test_a_key_in_place_of_its_variables_name_is_refused_and_not_repeated(pasted: str) -> None:
    with pytest.raises(InvalidInput, match="the name of an environment variable") as refused:
        parse_value("llm.api_key_env", pasted)
    assert pasted not in refused.value.message + refused.value.hint
    assert parse_value("llm.api_key_env", "MY_KEY_2") == "MY_KEY_2"
