"""Choose the model and its limits from the settings, with overrides from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol

from clawmem.errors import InvalidInput
from clawmem.llm.budget import RunLimits
from clawmem.llm.presets import EFFORT_PLACE, MODEL_PLACE, PRESETS, ModelCommand, program_path, scrubbed_environment
from clawmem.model.harness import HARNESSES
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.settings.settings import (
    BY_KEY,
    COMMAND,
    EXTRACT,
    JUDGE,
    Settings,
    is_command,
    model_names,
    parse_text,
)
from clawmem.model.settings.values import Setting
from clawmem.programs import install_command

_PROMPTS = Path(__file__).with_name("prompts")
# How long a model may judge the facts of one day.
JUDGING_MS = 12_000
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
PACKAGE = ("llm", "litellm>=1.80")
"""The extra that calls models, and its package."""
_PREFIXES = ("CLAWMEM_PARA_PROMOTION_", "CLAWPY_PARA_PROMOTION_")
_OVERRIDES = {
    "llm.budget_cents": "BUDGET_CENTS",
    "llm.max_ms": "MAX_MS",
    "llm.max_facts": "MAX_FACTS",
}
# How often a model may try again after an unusable answer, unless MAX_RETRIES in the environment says otherwise.
_RETRIES = Setting("retries", "int", 2, "", 0, 10)


DEFAULT_EFFORT = "default"


class Purse(Protocol):
    """What the agent of a run may still spend on this day."""

    def refusal(self, cents: float | None) -> str | None:
        """Return why a call that can cost this much (None: unknown) is not allowed, as a sentence, or None."""

    def pay(self, cents: float) -> None:
        """Record what was spent, or less than nothing for what was given back."""


class Meter(Protocol):
    """Counts the calls and tokens of this machine on this day, of models whose price is not known."""

    def used(self) -> tuple[int, int]:
        """Return the calls and tokens so far."""

    def add(self, calls: int, tokens: int) -> None:
        """Count calls and tokens."""


class Model(NamedTuple):
    """A model by its litellm name, its address and key (None: litellm's defaults), and its limits.

    `key_name` is the environment variable for the key. `output` is how JSON is requested (auto, schema, json, plain).
    A model with a `command` is called by it, and its name is only for messages. `effort` is how much it should think
    (empty: its own default). `purse` limits what the calling agent may spend. `meter` counts towards the limits of a
    day. With a `harness`, the model reads no session that was held with another one.
    """

    name: str
    api_base: str | None = None
    api_key: str | None = None
    key_name: str | None = None
    timeout_seconds: float = 10.0
    output: str = "auto"
    limits: RunLimits = RunLimits()
    command: ModelCommand | None = None
    effort: str = ""
    purse: Purse | None = None
    harness: str = ""
    meter: Meter | None = None


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


def choose_model(
    settings: Settings, environment: Mapping[str, str], task: str = EXTRACT, name: str | None = None
) -> Model | None:
    """Return the model of a task, or None if the settings name none. A `name` replaces that of the settings.

    Raise InvalidInput if an override in the environment or the command of the settings is invalid.
    """
    name = name or settings.words(f"llm.{task}_model") or settings.words("llm.model")
    if not name:
        return None
    key_name = settings.words("llm.api_key_env") or None
    effort = settings.words("llm.effort")
    model = Model(
        name=name,
        api_base=settings.words("llm.api_base") or None,
        api_key=(environment.get(key_name) or None) if key_name else None,
        key_name=key_name,
        timeout_seconds=settings.number("llm.timeout_seconds"),
        output=settings.words("llm.output"),
        limits=_limits(settings, environment, task),
        effort="" if effort == DEFAULT_EFFORT else effort,
    )
    return _with_command(model, settings, environment) if is_command(name) else model


def _limits(settings: Settings, environment: Mapping[str, str], task: str) -> RunLimits:
    judges = task == JUDGE
    most = settings.whole("promotion.max_facts") if judges else None
    return RunLimits(
        retries=int(_overridden("MAX_RETRIES", _RETRIES, environment, 2)),
        cents=_limit("llm.budget_cents", settings, environment),
        milliseconds=int(_limit("llm.max_ms", settings, environment, JUDGING_MS if judges else None)),
        facts=int(_limit("llm.max_facts", settings, environment, most)),
        tokens=settings.whole("llm.max_tokens"),
        daily_cents=settings.number("llm.daily_cents"),
        daily_calls=settings.whole("llm.daily_calls"),
        daily_tokens=settings.whole("llm.daily_tokens"),
    )


def _with_command(model: Model, settings: Settings, environment: Mapping[str, str]) -> Model:
    """Return the model with the program of `llm.command`, or else of `llm.preset`."""
    import shlex  # searches import this module, and need no command

    chosen = model.name.partition("/")[2]
    variables: tuple[str, ...] = ()
    harness = ""
    words, preset = shlex.split(settings.words("llm.command")), settings.words("llm.preset")
    if words:
        if chosen and not any(MODEL_PLACE in word for word in words):
            raise InvalidInput(
                f"The model is {model.name}, but llm.command has no place for {chosen}.",
                f"Write {MODEL_PLACE} in llm.command where the model's name belongs.",
            )
        program = words[0].rsplit("/", 1)[-1]
        words = [word.replace(MODEL_PLACE, chosen).replace(EFFORT_PLACE, model.effort) for word in words]
    elif preset in PRESETS:
        known = PRESETS[preset]
        if known.needs_model and not chosen:
            raise InvalidInput(
                f"The program {preset} needs the name of a model.",
                f"Set it with `clawmem config set llm.model {COMMAND}/NAME`.",
            )
        program, variables, words = preset, known.variables, list(known.command(chosen, model.effort))
        harness = known.harness
    else:
        raise InvalidInput(
            f"The model is {model.name}, but no program is set.",
            f"Choose one with `clawmem config set llm.preset NAME` ({', '.join(PRESETS)}), or set llm.command.",
        )
    record = scrubbed_environment(environment, [*variables, *([model.key_name] if model.key_name else [])])
    record.update(PRESETS[program].settings if harness else {})
    name = f"{program}/{chosen}" if chosen else program
    return model._replace(name=name, api_base=None, command=ModelCommand(tuple(words), record), harness=harness)


def more_presets(settings: Settings) -> tuple[str, ...]:
    """Return the presets of harnesses that read beside that of `llm.preset`, each once."""
    names = dict.fromkeys(settings.words("llm.more_presets").replace(",", " ").split())
    main = settings.words("llm.preset")
    return tuple(name for name in names if name in PRESETS and PRESETS[name].harness and name != main)


def reads_sessions_of(settings: Settings, harness: str | None) -> bool:
    """Return whether a model of the settings reads the sessions that were held with a harness, or with none (None)."""
    name = settings.words("llm.extract_model") or settings.words("llm.model")
    if not name or not is_command(name) or settings.words("llm.command"):
        return bool(name)
    readers = {PRESETS[text].harness for text in (settings.words("llm.preset"), *more_presets(settings))
               if text in PRESETS}  # fmt: skip
    return "" in readers or harness in readers or harness not in HARNESSES


def further_readers(model: Model, settings: Settings, environment: Mapping[str, str]) -> list[Model]:
    """Return the programs that read the sessions held with them, where a model reads those of its harness only."""
    if not model.harness:
        return []
    own = model._replace(name=COMMAND)
    found = ({**settings.values, "llm.command": "", "llm.preset": name} for name in more_presets(settings))
    return [_with_command(own, settings._replace(values=values), environment) for values in found]


def key_variable(model: Model) -> str | None:
    """Return the environment variable that must hold the model's key, or None if it needs none or none is known."""
    if model.key_name or model.api_base or model.command:
        return model.key_name
    return _PROVIDER_KEYS.get(model.name.partition("/")[0])


def needed_keys(settings: Settings) -> dict[str, str]:
    """Return the environment variables that must hold keys, by the setting that names the model."""
    variable = None
    with suppress(InvalidInput):  # an incomplete command needs no key and is reported by itself
        model = choose_model(settings, {})
        variable = key_variable(model) if model else None
    return {"llm.model": variable} if variable else {}


def model_programs(settings: Settings) -> tuple[str, ...]:
    """Return the programs that the set models need, each once. A command that is not complete is left out."""
    found: dict[str, None] = {}
    for name in filter(is_command, model_names(settings)):
        with suppress(InvalidInput):
            model = choose_model(settings, {}, name=name)
            models = [model, *further_readers(model, settings, {})] if model else []
            found.update({other.command.words[0]: None for other in models if other.command})
    return tuple(found)


def missing_model_part(settings: Settings, environment: Mapping[str, str]) -> str | None:
    """Return the sentence about what the set models need and this machine does not have: a program, or litellm. None
    if nothing is missing. Nothing is imported and nothing is run."""
    from importlib.util import find_spec

    for name in filter(is_command, model_names(settings)):
        try:
            model = choose_model(settings, environment, name=name)
        except InvalidInput as problem:
            return f"{problem.message} {problem.hint}"
        if model and model.command and program_path(model.command) is None:
            return f"The program {model.command.words[0]}, which calls the model, was not found on the PATH."
    if all(map(is_command, model_names(settings))) or find_spec("litellm") is not None:
        return None
    return (
        f"The package litellm, which calls the model, is not installed. Install it with `{install_command(*PACKAGE)}`."
    )


def missing_keys(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """Return those of `needed_keys` whose variable is not set or empty."""
    return {key: name for key, name in needed_keys(settings).items() if not environment.get(name)}


def _limit(key: str, settings: Settings, environment: Mapping[str, str], own: float | None = None) -> float:
    """Return a limit: from the environment, else `own`, that of one task, else from the setting `key`."""
    return _overridden(_OVERRIDES[key], BY_KEY[key], environment, settings.number(key) if own is None else own)


def _overridden(name: str, setting: Setting, environment: Mapping[str, str], value: float) -> float:
    """Return the limit that the environment states, else `value`. Raise InvalidInput if it does not fit the setting."""
    for prefix in _PREFIXES:
        text = environment.get(prefix + name, "")
        if text.strip():
            try:
                return float(parse_text(setting, text))
            except InvalidInput as problem:
                raise InvalidInput(f"{prefix}{name}: {problem.message}", problem.hint) from None
    return value


@cache
def prompt(name: str) -> str:
    """Return the text of a prompt; each is a file in `prompts/`."""
    return (_PROMPTS / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


def prompt_version(name: str) -> str:
    """Return the version of a prompt: its name and the start of its SHA-256 checksum."""
    from hashlib import sha256  # searches import this module, and ask nobody

    return f"{name}@{sha256(prompt(name).encode()).hexdigest()[:12]}"
