"""Choose the model and its limits from the settings, with overrides from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.llm.budget import RunLimits
from clawmem.model.settings.settings import Settings, parse_value

# Values of `semantic.model` that call no model.
NOT_CALLED = ("local", "none")
# They run on this machine or on one beside it, and nobody charges for them.
LOCAL_PROVIDERS = ("ollama/", "ollama_chat/", "lm_studio/", "llamafile/")
# Where litellm finds the key of a provider for which the settings name no variable.
_PROVIDER_KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "cohere": "COHERE_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "xai": "XAI_API_KEY",
}
# The second name is older; scripts that set it keep working.
_PREFIXES = ("CLAWMEM_PARA_PROMOTION_", "CLAWPY_PARA_PROMOTION_")
_OVERRIDES = {
    "llm.max_retries": "MAX_RETRIES",
    "llm.budget_cents": "BUDGET_CENTS",
    "llm.max_ms": "MAX_MS",
    "llm.max_facts": "MAX_FACTS",
}


class Model(NamedTuple):
    """A model by its litellm name, its address and key (None: litellm's defaults), and its limits.

    `key_name` is the environment variable for the key. `output` is how JSON is requested (auto, schema, json, plain).
    `fallback` is who extracts facts if the model cannot be reached (none, rules).
    """

    name: str
    api_base: str | None = None
    api_key: str | None = None
    key_name: str | None = None
    timeout_seconds: float = 10.0
    output: str = "auto"
    fallback: str = "none"
    limits: RunLimits = RunLimits()


def is_local(model: Model) -> bool:
    """Whether the model runs on this machine or beside it: by its provider, unless its address says otherwise."""
    if not model.api_base:
        return model.name.startswith(LOCAL_PROVIDERS)
    from ipaddress import ip_address  # searches import this module, and need neither
    from urllib.parse import urlsplit

    host = urlsplit(model.api_base).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))


def choose_model(settings: Settings, environment: Mapping[str, str]) -> Model | None:
    """Return the model from the settings, or None if they name none. Raise InvalidInput if an override is invalid."""
    name = settings.words("llm.model")
    if not name:
        return None
    key_name = settings.words("llm.api_key_env") or None
    return Model(
        name=name,
        api_base=settings.words("llm.api_base") or None,
        api_key=(environment.get(key_name) or None) if key_name else None,
        key_name=key_name,
        timeout_seconds=settings.number("llm.timeout_seconds"),
        output=settings.words("llm.output"),
        fallback=settings.words("llm.fallback"),
        limits=RunLimits(
            retries=int(_limit("llm.max_retries", settings, environment)),
            cents=_limit("llm.budget_cents", settings, environment),
            milliseconds=int(_limit("llm.max_ms", settings, environment)),
            facts=int(_limit("llm.max_facts", settings, environment)),
            tokens=settings.whole("llm.max_tokens"),
            daily_cents=settings.number("llm.daily_cents"),
        ),
    )


def key_variable(model: Model) -> str | None:
    """Return the environment variable that must hold the model's key, or None if it needs none or none is known."""
    if model.key_name or model.api_base:
        return model.key_name
    return _PROVIDER_KEYS.get(model.name.partition("/")[0])


def needed_keys(settings: Settings) -> dict[str, str]:
    """Return the environment variables that must hold keys, by the setting that names the model."""
    chosen = {"llm.model": choose_model(settings, {}), "semantic.model": choose_embedder(settings, {})}
    variables = {key: key_variable(model) for key, model in chosen.items() if model is not None}
    return {key: variable for key, variable in variables.items() if variable}


def missing_keys(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """Return those of `needed_keys` whose variable is not set or empty."""
    return {key: name for key, name in needed_keys(settings).items() if not environment.get(name)}


def choose_embedder(settings: Settings, environment: Mapping[str, str]) -> Model | None:
    """Return the embedding model from the settings, or None if it is the local one or none."""
    name = settings.words("semantic.model")
    if name in NOT_CALLED:
        return None
    key_name = settings.words("semantic.api_key_env") or None
    return Model(
        name=name,
        api_base=settings.words("semantic.api_base") or None,
        api_key=(environment.get(key_name) or None) if key_name else None,
        key_name=key_name,
        timeout_seconds=settings.number("semantic.timeout_seconds"),
        limits=RunLimits(
            cents=settings.number("semantic.budget_cents"),
            milliseconds=int(settings.number("semantic.max_seconds") * 1000),
            tokens=0,
            daily_cents=settings.number("semantic.daily_cents"),
            group="semantic",
        ),
    )


def _limit(key: str, settings: Settings, environment: Mapping[str, str]) -> float:
    for prefix in _PREFIXES:
        variable = prefix + _OVERRIDES[key]
        given = environment.get(variable, "")
        if given.strip():
            try:
                return float(parse_value(key, given))
            except InvalidInput as problem:
                raise InvalidInput(f"{variable}: {problem.message}", problem.hint) from None
    return settings.number(key)
