"""`clawmem llm test`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from clawmem.errors import DONE, InvalidInput, Refused
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import MODEL, Parameter
from clawmem.learning.by_model.read import TrialResult, try_model
from clawmem.model.records.event import cost_line
from clawmem.model.settings.local import suggestion_message
from clawmem.model.settings.settings import EXTRACT, TASKS

_MILLION = 1_000_000


def test(
    call: Call,
    task: Annotated[
        str, Parameter("The task whose model is tried: {choices}.", ("--task",), default=EXTRACT, choices=TASKS)
    ],
    model: Annotated[str | None, MODEL],
) -> Answer:
    """Ask the model one short question, and show whether it answers, at which price, and with JSON as asked. No event
    and no fact is sent. The cost counts towards llm.daily_cents. Exit code 13: a limit was reached; 14: the model
    cannot be used."""
    if task not in TASKS:
        raise InvalidInput(f"There is no task '{task}'.", f"The tasks are {', '.join(TASKS)}.")
    vault = call.runtime.vault()
    chosen = call.runtime.model(task, model)
    if chosen is None:
        hints = [*suggestion_message(vault.settings, "llm"), "Name one with `clawmem config set llm.model NAME`."]
        raise Refused("No model is set: rules read the events.", " ".join(hints))
    result = try_model(vault, call.runtime.caller(), chosen)
    notices = [
        *result.notices,
        *([f"{result.problem.message} {result.problem.hint}".strip()] if result.problem else []),
    ]
    data = {
        "model": result.model,
        "task": task,
        "reachable": result.reachable,
        "json": result.json,
        "prices": result.prices and {key: value * _MILLION for key, value in result.prices._asdict().items()},
        "run": result.run,
        "commit": result.commit,
    }
    return Answer(data, _lines(result), notices, result.problem.exit_code if result.problem else DONE)


def _lines(result: TrialResult) -> Iterator[str]:
    took = f" in {result.run['milliseconds'] / 1000:.1f} seconds" if result.run and result.reachable else ""
    yield f"model      {result.model}"
    yield f"reachable  {'yes' if result.reachable else 'no'}{took}"
    if result.prices is None:
        yield "price      not known; calls and tokens of a day are limited (llm.daily_calls, llm.daily_tokens)"
    elif not any(result.prices):
        yield "price      free"
    else:
        prompt, answer = (f"{price * _MILLION:.4g}" for price in result.prices)
        yield f"price      {prompt} cents for a million tokens of prompts, {answer} of answers"
    yield f"json       {'yes' if result.json else 'no' if result.reachable else 'not tried'}"
    if result.run:
        yield cost_line(result.run)


VERB = {
    "test": Command(
        test,
        {
            "model": str,
            "task": set(TASKS),
            "reachable": bool,
            "json": bool,
            "prices": ({"prompt": float, "answer": float}, None),
            "run": ("run", None),
            "commit": (str, None),
        },
        ("clawmem llm test", "clawmem llm test --model command --task judge"),
    ),
}
