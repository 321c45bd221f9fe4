"""The validation loop: ask, check the answer, report what is wrong, and ask again, within limits.

Find the JSON in what a model wrote: after its reasoning, in a code fence, or between sentences.

Sentences of a model that cite what they rest on. One that cites nothing it was shown is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ModelFailed, NotPermitted
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model, prompt
from clawmem.llm.client import Message, ModelTimeout, ModelUnreachable, Reply, RequestRejected, call
from clawmem.model.language.text import counted, one_line, shorten
from clawmem.model.pages.tokens import token_bound
from clawmem.model.safety.secrets.find import find_secret

_LONGEST_ECHO = 2000
_LONGEST_PROBLEM = 300
_MESSAGE_TOKENS = 8


class LateAnswer(ModelFailed):
    """No answer came within the time that one call may take."""


class LateForTheRun(BudgetSpent):
    """No answer came within the time that was left to the run."""


class CheckedAnswer(NamedTuple):
    """The checked answer, or None and in words what was wrong with the last one given; `cut` says that an answer was
    too long to come through whole, so that this one does not say everything."""

    value: Any
    problem: str = ""
    cut: bool = False


def ask(
    model: Model,
    account: Account,
    messages: Sequence[Message],
    schema: Mapping[str, Any],
    divisible: bool = False,
    accepted: Mapping[str, Any] | None = None,
) -> CheckedAnswer:
    """Ask until an answer fits the schema, at most `account.limits.retries` times again. Where the question is
    `divisible`, a cut answer ends it at once: smaller questions lose less than a shorter answer. `accepted` is a wider
    schema that answers may fit.

    Raises LateAnswer or LateForTheRun where none came in time, BudgetSpent before a call that the account does not
    allow, ModelFailed where the model cannot be reached.
    """
    talk = list(messages)
    answer = CheckedAnswer(None, "")
    for attempt in range(account.limits.retries + 1):
        try:
            reply = _once(model, account, talk, schema, retry=attempt > 0)
        except RequestRejected as problem:
            return CheckedAnswer(None, f"The model rejected the request: {problem}")
        was_cut = answer.cut or reply.cut
        answer = check_reply(reply, accepted or schema)._replace(cut=was_cut)
        if answer.value is not None or (answer.cut and divisible):
            return answer
        talk = [*messages, *_correction(reply, answer.problem)]
    return answer


def check_reply(reply: Reply, schema: Mapping[str, Any]) -> CheckedAnswer:
    """Return the reply as plain data, or what is wrong. Reasoning, a code fence and prose around it are left out."""
    import jsonschema  # only needed for answers

    text = without_reasoning(reply.text)
    if not text:
        spent = " All of its tokens went into reasoning (llm.max_tokens, llm.effort)." if reply.cut else ""
        return CheckedAnswer(None, f"The answer is empty.{spent}")
    found = json_documents(text, whole=reply.cut)
    if not found:
        what = "was cut off; give fewer facts" if reply.cut else "is not one JSON document"
        return CheckedAnswer(None, f"The answer {what}.")
    validator = jsonschema.Draft202012Validator(schema)
    # A draft may come before the answer, so the last document that fits is taken.
    for value in reversed(found):
        if validator.is_valid(value):
            return CheckedAnswer(value)
    problem = next(iter(validator.iter_errors(found[0])))
    place = "/".join(str(part) for part in problem.absolute_path) or "the whole answer"
    return CheckedAnswer(
        None, f"The answer has the wrong form at {place}: {shorten(one_line(problem.message), _LONGEST_PROBLEM)}."
    )


def prompt_tokens(messages: Sequence[Message]) -> int:
    """Return the highest number of tokens that the messages can have."""
    return sum(token_bound(message["content"]) + _MESSAGE_TOKENS for message in messages)


def _once(model: Model, account: Account, talk: Sequence[Message], schema: Mapping[str, Any], retry: bool) -> Reply:
    """Ask once, within what the account, this machine's meter and the agent's purse allow. What the call can take at
    most is recorded before it, so that a killed run counts, too, and the difference is given back after it."""
    most, before = prompt_tokens(talk), account.spent
    meter, purse = (model.meter if account.prices is None else None), model.purse
    if meter is not None:
        calls, tokens = meter.used()
        account.earlier_today = Spent(calls - before.calls, prompt_tokens=tokens - before.tokens)
    if refusal := account.refusal(most):
        raise BudgetSpent(refusal, "The rest is read in the next run.")
    cost = account.highest_cost(most)
    if purse is not None and (refusal := purse.refusal(cost)):
        raise NotPermitted(refusal, "A person decides that, under `agents` in clawmem.yaml.")
    if meter is not None:
        meter.add(1, most)
    if purse is not None:
        purse.pay(cost or 0.0)
    try:
        return _charged_call(model, account, talk, schema, retry)
    finally:
        used = account.spent.since(before)
        if meter is not None:
            meter.add(used.calls - 1, used.tokens - most)
        if purse is not None:
            purse.pay(used.cents - (cost or 0.0))


def _charged_call(
    model: Model, account: Account, talk: Sequence[Message], schema: Mapping[str, Any], retry: bool
) -> Reply:
    most, seconds = prompt_tokens(talk), account.seconds(model.timeout_seconds)
    try:
        reply = call(model, talk, schema, seconds)
    except ModelTimeout as slow:
        # The real cost is unknown, so the highest possible one is recorded.
        account.charge(most, model.limits.tokens, slow.milliseconds, retry)
        raise _late(model, account, seconds) from None
    except (RequestRejected, ModelUnreachable) as problem:
        account.charge(0, 0, problem.milliseconds, retry)
        raise
    used = reply.answer_tokens if reply.answer_tokens is not None else token_bound(reply.text)
    account.charge(reply.prompt_tokens or most, used, reply.milliseconds, retry)
    return reply


def _late(model: Model, account: Account, seconds: float) -> BudgetSpent | ModelFailed:
    if seconds < model.timeout_seconds:
        value = account.limits.milliseconds / 1000
        return LateForTheRun(
            f"The model did not answer in what was left of its {value:g} seconds for one run (llm.max_ms).",
            "The rest waits for the next run.",
        )
    return LateAnswer(
        f"The model {model.name} did not answer within {seconds:g} seconds (llm.timeout_seconds).",
        "Nothing was lost: the next heartbeat reads the events again.",
    )


def _correction(reply: Reply, problem: str) -> list[Message]:
    return [
        {"role": "assistant", "content": shorten(one_line(reply.text), _LONGEST_ECHO) or "(nothing)"},
        {"role": "user", "content": prompt("again").format(problem=problem)},
    ]


_TAGS = "think|thinking|thought|reasoning|reflection|seed:think"
_END_OF_REASONING = re.compile(rf"</(?:{_TAGS})>", re.IGNORECASE)
_START_OF_REASONING = re.compile(rf"<(?:{_TAGS})>", re.IGNORECASE)
# Some models write their reasoning and their answer in channels of one text.
_ANSWER_CHANNEL, _MESSAGE = "<|channel|>final", "<|message|>"
_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.MULTILINE)
# What follows a document that cannot be read is often not JSON at all.
_MOST_DOCUMENTS, _MOST_TRIES = 20, 200
_DECODER = json.JSONDecoder()


def without_reasoning(text: str) -> str:
    """Return what a model wrote after its reasoning; nothing if the reasoning has no end. Some servers leave out the
    tag at its start. A text that starts as JSON is returned as it is, because a tag in it is part of a string."""
    bare = text.strip()
    if bare.startswith(("{", "[")):
        return bare
    bare = bare.rpartition(_ANSWER_CHANNEL)[2]
    ends = [match.end() for match in _END_OF_REASONING.finditer(bare)]
    if not ends:
        return "" if _START_OF_REASONING.match(bare) else bare.rpartition(_MESSAGE)[2].strip()
    rest = bare[ends[-1] :]
    return (rest if "{" in rest else bare).strip()


def json_documents(text: str, whole: bool = False) -> list[Any]:
    """Return the JSON documents in a text, in their order: the text itself if it is one, else those in code fences,
    else objects between other words. With `whole`, as for an answer that was cut, no part of the text counts: a part
    of a cut answer can look complete.
    """
    if (value := _read(text)) is not _NOTHING:
        return [value]
    fenced = [value for block in _FENCE.findall(text)[:_MOST_DOCUMENTS] if (value := _read(block)) is not _NOTHING]
    return fenced or ([] if whole else _objects_between(text))


_NOTHING = object()


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _objects_between(text: str) -> list[Any]:
    found: list[Any] = []
    start, tries = text.find("{"), 0
    while start >= 0 and len(found) < _MOST_DOCUMENTS and tries < _MOST_TRIES:
        tries, end = tries + 1, start + 1
        with suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, start)
            found.append(value)
        start = text.find("{", end)
    return found


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


def data_lines(heading: str, shown: Mapping[str, Mapping[str, Any]]) -> str:
    """Return records as data, by id, one a line."""
    lines = [
        _data({"id": key, **{name: other for name, other in record.items() if other}}) for key, record in shown.items()
    ]
    return "\n".join([heading, "<lines>", *lines, "</lines>", "JSON only."])


def grounded(answer: Mapping[str, Any], parts: Sequence[str], shown: Iterable[str]) -> GroundedText:
    """Return the sentences of an answer that cite something shown. Other ids and other sentences are dropped."""
    known, sentences, unknown, dropped = frozenset(shown), list[CitedSentence](), dict[str, None](), 0
    for part in parts:
        for other in answer[part]:
            cites = tuple(name for name in dict.fromkeys(map(str.strip, other["facts"])) if name in known)
            unknown.update(dict.fromkeys(one_line(fact)[:40] for fact in other["facts"] if fact.strip() not in known))
            text = one_line(other["text"])[:_LONGEST].rstrip()
            if cites and text.isprintable() and text and not find_secret(text) and len(sentences) < MOST_SENTENCES:
                sentences.append(CitedSentence(part, text, cites))
            else:
                dropped += 1
    return GroundedText(tuple(sentences), tuple(unknown), dropped)


def _data(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON that cannot close the element around it."""
    return json.dumps(record, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
