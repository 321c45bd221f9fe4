"""Call a command-line model: the prompt on stdin or as a word, the answer on stdout, within a time limit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.llm.presets import PROMPT_PLACE, ModelCommand
from clawmem.programs import run_within_limits

# Answers are a few kilobytes. A program that writes more than this is ended.
MAX_ANSWER_BYTES = 1_000_000
MAX_ERROR_BYTES = 20_000
_TITLES = {"system": "", "assistant": "Your last answer:\n"}


class CommandResult(NamedTuple):
    """What a program wrote, its exit code (None: it was ended after the time limit), whether it wrote too much, and
    how long it took."""

    output: str
    errors: str
    code: int | None
    too_long: bool
    milliseconds: int


def render_prompt(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str:
    """Return the messages as one text, with the schema of the answer at the end."""
    parts = [f"{_TITLES.get(message['role'], '')}{message['content']}" for message in messages]
    form = f"The answer is one JSON document that is valid under this JSON Schema:\n{json.dumps(schema)}"
    return "\n\n".join([*parts, form]) + "\n"


def run_command(command: ModelCommand, prompt: str, seconds: float) -> CommandResult:
    """Run the program once, as `run_within_limits` does. Raise OSError if it cannot be started."""
    words = tuple(prompt if word == PROMPT_PLACE else word for word in command.words)
    stdin = b"" if PROMPT_PLACE in command.words else prompt.encode()
    run = run_within_limits(words, stdin, seconds, dict(command.environment), MAX_ANSWER_BYTES, MAX_ERROR_BYTES)
    output, errors = (part.decode(errors="replace") for part in (run.output, run.errors))
    return CommandResult(output, errors, run.code, run.too_long, run.milliseconds)
