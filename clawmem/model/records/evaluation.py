"""Evaluations of tasks: the lines of `governance/evaluations.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.records.criterion import KINDS, RESULTS, VERDICTS, CriterionResult
from clawmem.model.records.parsing import Yaml
from clawmem.model.records.strict_json import read_json

EVALUATIONS = "governance/evaluations.jsonl"
PREFIX = "eval_"
_Record = TypeVar("_Record")


class Evaluation(NamedTuple):
    """One evaluation of a task. `found` is the verdict of its criteria, `verdict` the one that counts: `escalate` in
    place of `pass` while too few verdicts agree with those of people. `work` is what was evaluated, `by` the agent or
    the person who asked, `at` the time (ISO 8601 UTC). `extra` holds keys of other versions."""

    id: str
    at: str
    task: str
    workflow: str | None
    work: str
    found: str
    verdict: str
    reason: str
    results: tuple[CriterionResult, ...]
    by: str
    extra: Mapping[str, Any] = {}


def parse_evaluations(data: bytes, path: str, yaml: Yaml) -> tuple[Evaluation, ...]:
    """Read the evaluations, oldest first. Raise Unreadable, naming the line and the key."""
    del yaml
    return parse_lines(data, path, _evaluation)


def render_evaluations(evaluations: Iterable[Evaluation]) -> bytes:
    """The file of these evaluations."""
    return render_lines(_record(one) for one in evaluations)


def parse_lines(data: bytes, path: str, read: Callable[[Mapping[str, Any]], _Record]) -> tuple[_Record, ...]:
    """Read a log of JSON objects, one on each line.

    `read` makes a value of an object, or raises InvalidInput. Raise Unreadable, naming the line."""
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = read_json(line)
            if not isinstance(record, dict):
                raise InvalidInput("it is not a JSON object")
            found.append(read(record))
        except InvalidInput as problem:
            raise Unreadable(path, number, problem.message) from None
        except ValueError as problem:
            raise Unreadable(path, number, f"it is not JSON ({problem})") from None
    return tuple(found)


def render_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return a log of JSON objects."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()


def text_of(record: Mapping[str, Any], key: str, choices: tuple[str, ...] = (), required: bool = True) -> Any:
    """Return a text of a record; None if it is not required and absent. Raise InvalidInput."""
    value = record.get(key)
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"the key '{key}' is missing or not text")
    if choices and value not in choices:
        raise InvalidInput(f"the key '{key}' is '{value}'; it is one of {', '.join(choices)}")
    return value


def number_of(record: Mapping[str, Any], key: str, most: float) -> float:
    """Return a number of a record from 0 to `most`; 0 if it is absent. Raise InvalidInput."""
    value = record.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise InvalidInput(f"the key '{key}' is not a number from 0 to {most:g}")
    return value


def _evaluation(record: Mapping[str, Any]) -> Evaluation:
    results = record.get("results")
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise InvalidInput("the key 'results' is not a list of objects")
    texts = {key: text_of(record, key) for key in ("id", "at", "task", "work", "reason", "by")}
    return Evaluation(
        **texts,
        workflow=text_of(record, "workflow", required=False),
        found=text_of(record, "found", VERDICTS),
        verdict=text_of(record, "verdict", VERDICTS),
        results=tuple(map(_result, results)),
        extra={key: value for key, value in record.items() if key not in Evaluation._fields},
    )


def _result(record: Mapping[str, Any]) -> CriterionResult:
    return CriterionResult(
        text_of(record, "criterion"),
        text_of(record, "kind", KINDS),
        text_of(record, "result", RESULTS),
        text_of(record, "evidence"),
        number_of(record, "confidence", 1),
        text_of(record, "evaluator"),
        number_of(record, "cents", 1e12),
        int(number_of(record, "milliseconds", 1e12)),
    )


def _record(one: Evaluation) -> dict[str, Any]:
    record = {**one._asdict(), "results": [each._asdict() for each in one.results]}
    extra = record.pop("extra")
    return {key: value for key, value in {**record, **extra}.items() if value is not None}
