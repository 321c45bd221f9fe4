"""Known command-line models: the words that run each one once, without tools, sessions or the user's own additions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clawmem.errors import InvalidInput, ModelFailed
from clawmem.llm.budget import Account, Spent
from clawmem.model.harness import READER
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.safety.recalled_text import wrap_task

if TYPE_CHECKING:
    from clawmem.llm.choice import Model


MODEL_PLACE, EFFORT_PLACE, PROMPT_PLACE = "{model}", "{effort}", "{prompt}"
# What a program needs to find its own configuration and the network; no keys of others and nothing of clawmem.
KEPT_VARIABLES = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME"
    " XDG_STATE_HOME XDG_RUNTIME_DIR SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE"
    " HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy".split()
)


class ModelCommand(NamedTuple):
    """The words of a program, which no shell reads, and its whole environment.

    A word PROMPT_PLACE stands for the prompt, which is on stdin otherwise."""

    words: tuple[str, ...]
    environment: Mapping[str, str]


class CommandPreset(NamedTuple):
    """The words of a program, with the words that choose a model and a reasoning effort (empty: it has no such option).

    `efforts` maps the efforts of `llm.effort` to those of the program. `variables` are the environment variables
    with which people move its configuration and log in with its vendor. `needs_model` says that it has no default
    model. A preset of a `harness` reads the sessions that were held with it, and those of none. `settings` are
    environment variables that the program gets in any case.
    """

    words: tuple[str, ...]
    model: tuple[str, ...] = ()
    effort: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    efforts: Mapping[str, str] = {}
    variables: tuple[str, ...] = ()
    needs_model: bool = False
    harness: str = ""
    settings: Mapping[str, str] = {}

    def command(self, model: str, effort: str) -> tuple[str, ...]:
        """Return the words that run this model with this effort; empty: the program's own default."""
        chosen = self.efforts.get(effort, "")
        return (
            *self.words,
            *(word.replace(MODEL_PLACE, model) for word in self.model if model),
            *(word.replace(EFFORT_PLACE, chosen) for word in self.effort if chosen),
            *self.last,
        )


_JSON_ONLY = "Answer with the JSON document only."
_LOW_TO_HIGH = {"low": "low", "medium": "medium", "high": "high"}
# The options are those of Claude Code 2.1.330, Codex CLI 0.169.0, Gemini CLI 0.61.0, llm 0.36 and
# Ollama. The events are text of strangers, so a program that could act gets no tools and no right to write.
PRESETS: Mapping[str, CommandPreset] = {
    "claude": CommandPreset(
        (
            *("claude", "-p", "--output-format", "json", "--safe-mode", "--no-session-persistence", "--tools", ""),
            *("--system-prompt", _JSON_ONLY),
        ),
        ("--model", MODEL_PLACE),
        ("--effort", EFFORT_PLACE),
        efforts={"none": "low", "minimal": "low", **_LOW_TO_HIGH},
        variables=(
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
        ),
        harness="claude-code",
    ),
    "codex": CommandPreset(
        ("codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--ephemeral", "--color", "never"),
        ("--model", MODEL_PLACE),
        ("-c", f"model_reasoning_effort={EFFORT_PLACE}"),
        ("-",),
        {"none": "none", "minimal": "minimal", **_LOW_TO_HIGH},
        ("CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY"),
        harness="codex",
    ),
    "gemini": CommandPreset(
        ("gemini", "--skip-trust", "--approval-mode", "default", "--output-format", "text"),
        ("--model", MODEL_PLACE),
        last=("--prompt", _JSON_ONLY),
        variables=(
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ),
        harness="gemini",
    ),
    "opencode": CommandPreset(
        ("opencode", "run", "--agent", "clawmem-reader", "--title", "clawmem"),
        ("--model", MODEL_PLACE),
        variables=(
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_DIR",
            "OPENCODE_API_KEY",
            "OPENCODE_AUTH_CONTENT",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "OPENROUTER_API_KEY",
            "GEMINI_API_KEY",
        ),
        harness="opencode",
        settings={
            "OPENCODE_DB": ":memory:",
            "OPENCODE_PURE": "1",
            "OPENCODE_CONFIG_CONTENT": '{"agent": {"clawmem-reader": {"mode": "primary", "permission": {"*": "deny"},'
            ' "prompt": "Answer with the JSON document only."}}}',
        },
    ),
    # It answers once, without an agent, tools and a session, and takes its prompt as a word only.
    "openclaw": CommandPreset(
        ("openclaw", "infer", "model", "run", "--local"),
        ("--model", MODEL_PLACE),
        ("--thinking", EFFORT_PLACE),
        ("--prompt", PROMPT_PLACE),
        {"none": "off", "minimal": "minimal", **_LOW_TO_HIGH},
        (
            "OPENCLAW_HOME",
            "OPENCLAW_STATE_DIR",
            "OPENCLAW_CONFIG_PATH",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "OPENROUTER_API_KEY",
            "GEMINI_API_KEY",
        ),
        harness="openclaw",
    ),
    "llm": CommandPreset(
        ("llm", "prompt", "--no-stream", "--no-log"), ("--model", MODEL_PLACE), variables=("LLM_USER_PATH",)
    ),
    "ollama": CommandPreset(
        ("ollama", "run"),
        (MODEL_PLACE, "--hidethinking", "--nowordwrap", "--format", "json"),
        (f"--think={EFFORT_PLACE}",),
        efforts={"none": "false", "minimal": "low", **_LOW_TO_HIGH},
        variables=("OLLAMA_HOST", "OLLAMA_MODELS"),
        needs_model=True,
    ),
}


def scrubbed_environment(environment: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """Return the variables that a program gets: those it needs to run, and `more`."""
    kept = {key: value for key, value in environment.items() if key in KEPT_VARIABLES or key in more}
    return {**kept, "NO_COLOR": "1", "TERM": "dumb", READER: "1"}


def program_path(command: ModelCommand) -> str | None:
    """Return the path of the program, or None if it is not found."""
    import os  # searches import this module, and need neither
    import shutil

    return shutil.which(command.words[0], path=command.environment.get("PATH", os.defpath))


class ModelTask(NamedTuple):
    """A task: its kind, how to do it, the data, and the JSON Schema of the answer. The same data gives the same key, so
    a task is asked once, whoever answers it. No other vendor gets what a session `held_with` a harness handed over."""

    kind: str
    how: str
    data: str
    schema: Mapping[str, Any]
    held_with: str = ""

    @property
    def key(self) -> str:
        """Return the id of the task."""
        from hashlib import sha256  # hooks name presets, and open no task

        return f"{self.kind}-{sha256(f'{self.how}{self.data}'.encode()).hexdigest()[:8]}"

    @property
    def text(self) -> str:
        """Return the task as one self-contained text."""
        message = f'{self.how}\nGive also "task": "{self.key}".\n\n{self.data}'
        return wrap_task(self.key, message)


class UnusableAnswer(ModelFailed):
    """The model answered, but not in the form that was asked for: another task may go better."""


def open_account(model: Model, earlier_today: Spent) -> Account:
    """Return the account of a run. Raise ModelFailed if the model cannot be called."""
    from clawmem.llm.client import check_model, prices_of  # only where a model is set

    check_model(model)
    return Account(model.limits, prices_of(model), earlier_today)


def answer_by_model(model: Model, account: Account, task: ModelTask) -> Mapping[str, Any]:
    """Let a model answer a task. Raise UnusableAnswer if it gives none that can be used, and what `ask` raises."""
    from clawmem.llm.loop import ask  # only where a model is set

    messages = [{"role": "system", "content": task.how}, {"role": "user", "content": task.data}]
    answer = ask(model, account, messages, task.schema)
    if answer.value is None:
        text = f"The model {model.name} gave no usable answer. {answer.problem}"
        raise UnusableAnswer(text, "It is tried again later.")
    value: Mapping[str, Any] = answer.value
    return value


def checked_answer(task: ModelTask, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an agent's answer to a task, without its id. Raise InvalidInput if it has the wrong form."""
    import jsonschema  # only needed for answers

    value = {name: other for name, other in answer.items() if name != "task"}
    wrong = next(iter(jsonschema.Draft202012Validator(task.schema).iter_errors(value)), None)
    if wrong is not None:
        place = "/".join(str(part) for part in wrong.absolute_path) or "the whole answer"
        raise InvalidInput(
            f"The answer has the wrong form at {place}: {wrong.message[:200]}",
            "`clawmem learn pending` prints the task again.",
        )
    return value
