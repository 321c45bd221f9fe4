"""Criteria: what one item of an acceptance list asks for, how it is checked, and what a check found.

A criterion is `command: ...` or `rule: ...`, as the whole item or as code in it. Every other item needs a judgement.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.language.text import one_line
from clawmem.model.proposals.proposal import BY_EVALUATION
from clawmem.model.records.parsing import Yaml, read_log

COMMAND, RULE, JUDGED = KINDS = ("command", "rule", "judged")
MET, REFUTED, UNDECIDED = RESULTS = ("met", "refuted", "undecided")
PASS, FAIL, ESCALATE = VERDICTS = ("pass", "fail", "escalate")
_LONGEST_EVIDENCE = 500
# Below this confidence, a criterion is undecided.
LEAST = 0.7

RULES: Mapping[str, tuple[str, ...]] = {
    "exists": ("PATTERN",),
    "missing": ("PATTERN",),
    "contains": ("PATTERN", "REGEX"),
    "lacks": ("PATTERN", "REGEX"),
    "fact": ("ENTITY", "REGEX"),
}
"""The rules with their arguments. The last one reads the memory, the others the work."""

_CODE = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)")
_CHECK = re.compile(r"\s*(?P<kind>command|rule):\s*(?P<check>.*\S)\s*", re.IGNORECASE | re.DOTALL)


class Criterion(NamedTuple):
    """One thing that a task must fulfil: the text of its item, its kind, and what is checked (of a judged one, the
    text)."""

    text: str
    kind: str
    check: str


class CriterionResult(NamedTuple):
    """What became of a criterion: `met`, `refuted` or `undecided`, the evidence in words, a confidence from 0 to 1, who
    or what evaluated it, the cost in cents, and the time in milliseconds."""

    criterion: str
    kind: Annotated[str, KINDS]
    result: Annotated[str, RESULTS]
    evidence: str
    confidence: Annotated[float, (0, 1)]
    evaluator: str
    cents: Annotated[float, (0, 1e12)] = 0.0
    milliseconds: Annotated[int, (0, 1e12)] = 0


class Rule(NamedTuple):
    """A parsed rule: its name and its arguments."""

    name: str
    arguments: tuple[str, ...]


def criteria_of(texts: Iterable[str]) -> tuple[Criterion, ...]:
    """Return the single criteria of the items of an acceptance list. Each check that is code in an item is one."""
    return tuple(criterion for text in texts for criterion in _criteria(one_line(text)))


def _criteria(text: str) -> list[Criterion]:
    whole = _CHECK.fullmatch(text)
    if whole:
        inside = _CODE.fullmatch(whole["check"])
        return [Criterion(text, whole["kind"].lower(), (inside["code"] if inside else whole["check"]).strip())]
    found = [check for code in _CODE.finditer(text) if (check := _CHECK.fullmatch(code["code"]))]
    return [Criterion(text, match["kind"].lower(), match["check"]) for match in found] or [
        Criterion(text, JUDGED, text)
    ]


def parse_rule(text: str) -> Rule:
    """Read a rule: its name and its arguments, split as a shell splits words. Raise InvalidInput."""
    try:
        name, *arguments = shlex.split(text)
    except ValueError as problem:
        raise InvalidInput(f"The rule '{text}' cannot be split into words: {problem}.", "Close each quote.") from None
    if name not in RULES:
        raise InvalidInput(f"'{name}' is not a rule.", f"The rules are: {', '.join(RULES)}.")
    wanted = RULES[name]
    if len(arguments) != len(wanted):
        raise InvalidInput(
            f"The rule '{name}' takes {' '.join(wanted)}, and {len(arguments)} words are given.",
            "Put a value with blanks in single quotes.",
        )
    return Rule(name, tuple(arguments))


def verdict_of(results: Sequence[CriterionResult]) -> tuple[str, str]:
    """Return the verdict and its reason. A result below LEAST decides nothing."""
    sure = [
        criterion_result
        for criterion_result in results
        if criterion_result.result != UNDECIDED and criterion_result.confidence >= LEAST
    ]
    refuted = [criterion_result for criterion_result in sure if criterion_result.result == REFUTED]
    if refuted:
        return FAIL, f"{len(refuted)} of {len(results)} criteria are refuted."
    if not results:
        return ESCALATE, "The task has no acceptance list."
    if len(sure) < len(results):
        return ESCALATE, f"{len(results) - len(sure)} of {len(results)} criteria are undecided."
    return PASS, f"{len(results)} of {len(results)} criteria are met."


def shortened(evidence: str) -> str:
    """Return evidence on one line, of at most 500 characters."""
    line = one_line(evidence)
    return line if len(line) <= _LONGEST_EVIDENCE else line[: _LONGEST_EVIDENCE - 1].rstrip() + "…"


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
