"""A task for a model: what it is for, the data, and the form of the answer, as one text or as messages."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import InvalidInput, ModelFailed
from clawmem.llm.budget import Account, Spent
from clawmem.model.safety.recalled_text import wrap_task

if TYPE_CHECKING:
    from clawmem.llm.choice import Model


class ModelTask(NamedTuple):
    """A task: its kind, how to do it, the data, and the JSON Schema of the answer. The same data gives the same key, so
    a task is asked once, whoever answers it."""

    kind: str
    how: str
    data: str
    schema: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Return the id of the task."""
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
