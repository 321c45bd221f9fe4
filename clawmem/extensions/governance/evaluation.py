"""Evaluations of tasks: the lines of `governance/evaluations.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from clawmem.extensions.governance.criterion import VERDICTS, CriterionResult
from clawmem.model.proposals.proposal import BY_EVALUATION
from clawmem.model.records.parsing import Yaml, read_log

EVALUATIONS = "governance/evaluations.jsonl"
PREFIX = BY_EVALUATION


class Evaluation(NamedTuple):
    """One evaluation of a task. `found` is the verdict of its criteria, `verdict` the one that counts: `escalate` in
    place of `pass` while too few verdicts agree with those of people. `work` is what was evaluated, `by` the agent or
    the person who asked, `at` the time (ISO 8601 UTC). `extra` holds keys of other versions."""

    id: str
    at: str
    task: str
    workflow: str | None
    work: str
    found: Annotated[str, VERDICTS]
    verdict: Annotated[str, VERDICTS]
    reason: str
    results: tuple[CriterionResult, ...]
    by: str
    extra: Mapping[str, Any] = {}


def parse_evaluations(data: bytes, path: str, yaml: Yaml) -> tuple[Evaluation, ...]:
    """Read the evaluations, oldest first. Raise Unreadable, naming the line and the key."""
    return read_log(Evaluation, data, path, yaml)
