"""Sentences of a model that cite what they rest on. One that cites nothing it was shown is dropped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import ModelFailed
from clawmem.llm.budget import Account
from clawmem.llm.choice import Model
from clawmem.llm.loop import ask
from clawmem.llm.prompts import prompt
from clawmem.model.language.text import counted, one_line
from clawmem.model.safety.secrets.find import find_secret

MOST_SENTENCES = 12
_LONGEST = 400


class CitedSentence(NamedTuple):
    """A sentence, the part of the answer that it is in, and the ids of the lines that it rests on."""

    part: str
    text: str
    cites: tuple[str, ...]


class GroundedText(NamedTuple):
    """The sentences of an answer, the ids in it that were not shown, and how many sentences were dropped."""

    sentences: tuple[CitedSentence, ...] = ()
    unknown: tuple[str, ...] = ()
    dropped: int = 0

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what was dropped, in words."""
        found = [f"dropped from the answer of the model, because nothing shown has it: {', '.join(self.unknown[:5])}"]
        gone = f"{counted(self.dropped, 'sentence')} of the model cited nothing that it was shown, or could not be kept"
        return (*(found if self.unknown else ()), *([gone] if self.dropped else ()))


def answer_schema(parts: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of an answer with these parts, each a list of sentences with the ids that they cite."""
    sentence = {
        "type": "object",
        "additionalProperties": False,
        "required": ["text", "facts"],
        "properties": {"text": {"type": "string"}, "facts": {"type": "array", "items": {"type": "string"}}},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(parts),
        "properties": {part: {"type": "array", "items": sentence} for part in parts},
    }


def ask_grounded(
    model: Model,
    account: Account,
    task: str,
    parts: Sequence[str],
    heading: str,
    shown: Mapping[str, Mapping[str, Any]],
) -> GroundedText:
    """Ask a model for sentences about some records, by id. `task` is the name of the prompt.

    Raise ModelFailed if it gives no usable answer, and what `ask` raises.
    """
    messages = [
        {"role": "system", "content": prompt(task)}, {"role": "user", "content": data_lines(heading, shown)}
    ]  # fmt: skip
    answer = ask(model, account, messages, answer_schema(parts))
    if answer.value is None:
        raise ModelFailed(f"The model {model.name} gave no usable answer. {answer.problem}")
    return grounded(answer.value, parts, shown)


def data_lines(heading: str, shown: Mapping[str, Mapping[str, Any]]) -> str:
    """Return records as data, by id, one a line."""
    lines = [_data({"id": key, **{name: one for name, one in record.items() if one}}) for key, record in shown.items()]
    return "\n".join([heading, "<lines>", *lines, "</lines>", "JSON only."])


def grounded(answer: Mapping[str, Any], parts: Sequence[str], shown: Iterable[str]) -> GroundedText:
    """Return the sentences of an answer that cite something shown. Other ids and other sentences are dropped."""
    known, sentences, unknown, dropped = frozenset(shown), list[CitedSentence](), dict[str, None](), 0
    for part in parts:
        for given in answer[part]:
            cites = tuple(one for one in dict.fromkeys(map(str.strip, given["facts"])) if one in known)
            unknown.update(dict.fromkeys(one_line(one)[:40] for one in given["facts"] if one.strip() not in known))
            text = one_line(given["text"])[:_LONGEST].rstrip()
            if cites and text.isprintable() and text and not find_secret(text) and len(sentences) < MOST_SENTENCES:
                sentences.append(CitedSentence(part, text, cites))
            else:
                dropped += 1
    return GroundedText(tuple(sentences), tuple(unknown), dropped)


def _data(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON that cannot close the element around it."""
    return json.dumps(record, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
