"""Call a model through litellm or a program, with a strict time limit."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from clawmem.errors import ModelFailed
from clawmem.llm.budget import FREE, Prices
from clawmem.llm.choice import LOCAL_PROVIDERS, PACKAGE, Model, is_local
from clawmem.llm.presets import PROMPT_PLACE, ModelCommand, program_path
from clawmem.model.language.text import one_line, shorten
from clawmem.model.safety.secrets.find import redact
from clawmem.programs import ProgramRun, install_command, run_within_limits

Message = Mapping[str, str]

NO_KEY = "none"
_LONGEST_REASON = 300
# litellm imports these on the first request, which can take seconds that must not count as the model's time.
_LATE = ("openai.resources.chat", "httpcore")
# The model rejected the request; another model may accept it.
_REJECTIONS = (400, 413, 422)
_HINTS = {
    401: "Check the key: `llm.api_key_env` names the environment variable that holds it.",
    402: "The provider requires a payment.",
    403: "The key may not use this model.",
    404: "Check `llm.model` and `llm.api_base`.",
    429: "The provider limits the rate or requires a payment; the next heartbeat tries again.",
}
_CLASSES = re.compile(r"^(?:\w*(?:Error|Exception)\w*\s*[:-]\s*)+")
_HINT = "Nothing was lost: the next heartbeat reads the events again."
_COMMAND_HINT = "Nothing was lost: the events wait. `clawmem llm test` tries the program with one short question."


class Reply(NamedTuple):
    """The answer of a model, its token counts (None if not given), and whether the answer was cut off."""

    text: str
    prompt_tokens: int | None
    answer_tokens: int | None
    cut: bool
    milliseconds: int


class RequestRejected(Exception):
    """The model was reached and rejected this request."""

    def __init__(self, reason: str, milliseconds: int) -> None:
        super().__init__(reason)
        self.milliseconds = milliseconds


class ModelTimeout(Exception):
    """The model did not answer in time; `milliseconds` is how long the call waited."""

    def __init__(self, milliseconds: int) -> None:
        super().__init__("no answer in time")
        self.milliseconds = milliseconds


class ModelUnreachable(ModelFailed):
    """The model could not be reached or denied access; `milliseconds` is how long that took."""

    def __init__(self, message: str, hint: str, milliseconds: int = 0) -> None:
        super().__init__(message, hint)
        self.milliseconds = milliseconds


def prices_of(model: Model) -> Prices | None:
    """What the model costs by litellm's own table; nothing where it runs on this machine or beside it and the table
    has no price; None where the price of a hosted model is not known: a price of 0 in the table says no more. Nobody
    is called. What a program costs is never known."""
    if model.command:
        return None
    local = is_local(model)
    if model.name.startswith(LOCAL_PROVIDERS):
        return FREE if local else None  # litellm would ask an ollama server on localhost
    litellm = _litellm()
    try:
        known = litellm.get_model_info(model.name)
    except Exception:  # noqa: BLE001 - litellm raises plain Exception for a model that is not in its table
        known = {}
    prompt, answer = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    if not isinstance(prompt, int | float) or not isinstance(answer, int | float) or prompt + answer <= 0:
        return FREE if local else None
    return Prices(prompt * 100, answer * 100)


def check_model(model: Model) -> None:
    """Raise ModelFailed if no call can work: no program or litellm, an unknown provider, or no key."""
    if model.command and program_path(model.command) is None:
        raise ModelFailed(
            f"The program {model.command.words[0]}, which calls the model, was not found.",
            "Install it, or name it with its whole path in `llm.command`; a schedule has another PATH than a terminal.",
        )
    litellm = None if model.command else _litellm()
    if model.key_name and not model.api_key:
        raise ModelFailed(
            f"The environment variable {model.key_name}, which should hold the model's key, is not set.",
            "Set it, or name another one with `clawmem config set llm.api_key_env NAME`.",
        )
    if litellm is None:
        return
    try:
        litellm.get_llm_provider(model.name, api_base=model.api_base)
    except Exception:  # noqa: BLE001 - litellm has several ways to say that it does not know a provider
        raise ModelFailed(
            f"No provider is known for the model '{model.name}'.",
            "Write it as provider/model, such as openai/gpt-4o-mini or ollama/llama3.",
        ) from None


def call(model: Model, messages: Sequence[Message], schema: Mapping[str, Any], seconds: float) -> Reply:
    """Ask once and wait at most `seconds`. Raise ModelTimeout, RequestRejected or ModelUnreachable."""
    if model.command:
        return _call_command(model, messages, schema, seconds)
    litellm = _litellm()
    request: dict[str, Any] = {
        "model": model.name,
        "messages": [dict(message) for message in messages],
        "api_base": model.api_base,
        # A server at a custom address never gets another provider's key.
        "api_key": model.api_key or (NO_KEY if model.api_base else None),
        "timeout": seconds,
        "max_tokens": model.limits.tokens,
        "temperature": 0,
        "num_retries": 0,
        "max_retries": 0,
        "drop_params": True,
        **_output(litellm, model, schema),
        **_effort(model),
    }
    return _reply(*_request(litellm, litellm.completion, model, request))


def _effort(model: Model) -> dict[str, Any]:
    """Return how to request a reasoning effort. What stands behind an address of one's own litellm cannot know."""
    if not model.effort:
        return {}
    known = {"allowed_openai_params": ["reasoning_effort"]} if model.api_base else {}
    return {"reasoning_effort": model.effort, **known}


def _call_command(model: Model, messages: Sequence[Message], schema: Mapping[str, Any], seconds: float) -> Reply:
    assert model.command
    try:
        result = run_command(model.command, render_prompt(messages, schema), seconds)
    except OSError as problem:
        reason = f"the program {model.command.words[0]} cannot be started: {problem.strerror}."
        raise ModelUnreachable(f"The model {model.name} did not answer: {reason}", _COMMAND_HINT) from None
    if result.too_long:
        reason = f"its program wrote more than {MAX_ANSWER_BYTES:,} bytes."
        raise ModelUnreachable(f"The model {model.name} did not answer: {reason}", _COMMAND_HINT, result.milliseconds)
    if result.code is None:
        raise ModelTimeout(result.milliseconds)
    output, errors = (part.decode(errors="replace") for part in (result.output, result.errors))
    report = _report_in(output)
    text = str(report.get("result") or "") if report else output
    if result.code != 0 or report.get("is_error"):
        other_text = next((words for words in (errors, text) if words.strip()), "it said nothing").strip()
        reason = _shortened_reason(other_text.splitlines()[-1], model)
        message = f"The model {model.name} did not answer: its program ended with exit code {result.code}: {reason}"
        raise ModelUnreachable(message, _COMMAND_HINT, result.milliseconds)
    usage = report.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    # Tokens that the vendor had cached cost a tenth, and are not counted.
    used = [
        number
        for name in ("input_tokens", "cache_creation_input_tokens", "output_tokens")
        if isinstance(number := counts.get(name), int)
    ]
    prompt, answered = (sum(used[:2]), used[2]) if len(used) == 3 else (None, None)
    return Reply(text, prompt, answered, False, result.milliseconds)


def _report_in(output: str) -> Mapping[str, Any]:
    """Return the report in which a program such as Claude Code wraps its answer; empty where there is none."""
    with suppress(ValueError, RecursionError):
        report = json.loads(output)
        # Claude Code 2.1.330 writes the keys in another order than 2.1.197.
        return report if isinstance(report, Mapping) and report.get("type") == "result" and "is_error" in report else {}
    return {}


def _request(litellm: Any, function: Callable[..., Any], model: Model, request: Mapping[str, Any]) -> tuple[Any, int]:
    """Return the answer to a request and its milliseconds. Raise ModelTimeout, or what `_failure` makes of an error."""
    started = time.monotonic()
    outcome = _within(lambda: function(**request), request["timeout"] + 0.5)
    took = round((time.monotonic() - started) * 1000)
    if outcome is None:
        raise ModelTimeout(took)
    if isinstance(outcome.problem, Exception):
        raise _failure(litellm, model, outcome.problem, took) from None
    return outcome.value, took


class _Outcome(NamedTuple):
    value: Any
    problem: Exception | None


def _within(act: Callable[[], Any], seconds: float) -> _Outcome | None:
    """Return what the function returns or raises, or None if it takes longer than `seconds`.

    The HTTP client's own timeout restarts with every byte, so a slow server could block the call forever.
    """
    import warnings  # litellm's dependencies warn about each other

    items: list[_Outcome] = []

    def run() -> None:
        try:
            items.append(_Outcome(act(), None))
        except Exception as problem:  # noqa: BLE001 - passed to the caller's thread
            items.append(_Outcome(None, problem))

    worker = threading.Thread(target=run, daemon=True)
    with ExitStack() as after:
        # Warning filters apply to all threads, so the worker must not restore them itself.
        after.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        worker.start()
        worker.join(seconds)
        if not items:
            after.pop_all()  # the worker still runs and may warn
    return items[0] if items else None


def _reply(response: Any, took: int) -> Reply:
    try:
        choice = response.choices[0]
        text = choice.message.content or ""
        usage = getattr(response, "usage", None)
        counted = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
        prompt, answer = (number if isinstance(number, int) and number > 0 else None for number in counted)
        return Reply(str(text), prompt, answer, choice.finish_reason == "length", took)
    except (AttributeError, IndexError, TypeError):
        return Reply("", None, None, False, took)


def _failure(litellm: Any, model: Model, problem: Exception, took: int) -> Exception:
    if isinstance(problem, litellm.Timeout):
        return ModelTimeout(took)
    status = getattr(problem, "status_code", None)
    reason = _shortened_reason(str(getattr(problem, "message", "") or problem), model)
    if status in _REJECTIONS:
        return RequestRejected(reason, took)
    verb = "refused to answer" if status in _HINTS else "did not answer"
    where = f" at {model.api_base}" if model.api_base else ""
    hint = _HINTS.get(status or 0, _HINT)
    return ModelUnreachable(f"The model {model.name}{where} {verb}: {reason}", hint, took)


def _shortened_reason(message: str, model: Model) -> str:
    """Return an error on one line, without any key."""
    if model.api_key:
        message = message.replace(model.api_key, "[key]")
    text = shorten(_CLASSES.sub("", one_line(redact(message)).replace("litellm.", "")), _LONGEST_REASON)
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def _output(litellm: Any, model: Model, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return how to request JSON: by schema if the model supports it, else only in the prompt."""
    wanted = model.output
    if wanted == "auto":
        # Of an ollama model litellm asks a server on localhost, wherever the model really is.
        unasked = model.name.startswith(LOCAL_PROVIDERS)
        wanted = "schema" if not unasked and litellm.supports_response_schema(model=model.name) else "plain"
    if wanted == "schema":
        strict = set(schema.get("required", ())) == set(schema.get("properties", ()))
        described = {"name": "answer", "strict": strict, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": described}}
    return {"response_format": {"type": "json_object"}} if wanted == "json" else {}


def _litellm() -> Any:
    """Return litellm, imported on first use because that takes seconds."""
    import importlib
    import logging
    import os
    import sys
    import warnings

    if "litellm" not in sys.modules:
        # By default, its import fetches a price list from the network and reads a .env file in the working folder.
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import litellm

            for name in _LATE:
                with suppress(ImportError):
                    importlib.import_module(name)
    except ImportError as problem:
        raise ModelFailed(
            f"litellm, which calls models, cannot be imported ({problem}).",
            f"Install it with `{install_command(*PACKAGE)}`, or use the rules: `clawmem config set llm.model ''`.",
        ) from None
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return litellm


# Answers are a few kilobytes. A program that writes more than this is ended.
MAX_ANSWER_BYTES = 1_000_000
MAX_ERROR_BYTES = 20_000
_TITLES = {"system": "", "assistant": "Your last answer:\n"}


def render_prompt(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str:
    """Return the messages as one text, with the schema of the answer at the end."""
    parts = [f"{_TITLES.get(message['role'], '')}{message['content']}" for message in messages]
    form = f"The answer is one JSON document that is valid under this JSON Schema:\n{json.dumps(schema)}"
    return "\n\n".join([*parts, form]) + "\n"


def run_command(command: ModelCommand, prompt: str, seconds: float) -> ProgramRun:
    """Run the program once, as `run_within_limits` does. Raise OSError if it cannot be started."""
    words = tuple(prompt if word == PROMPT_PLACE else word for word in command.words)
    stdin = b"" if PROMPT_PLACE in command.words else prompt.encode()
    return run_within_limits(words, stdin, seconds, dict(command.environment), MAX_ANSWER_BYTES, MAX_ERROR_BYTES)
