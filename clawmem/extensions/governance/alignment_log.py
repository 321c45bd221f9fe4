"""Alignment: how often the verdicts of the evaluator agree with the decisions of people.

Each line of `governance/alignment.jsonl` is one decision of a person with the last evaluation before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from clawmem.extensions.governance.criterion import (
    FAIL,
    LEAST,
    MET,
    PASS,
    REFUTED,
    UNDECIDED,
    VERDICTS,
    CriterionResult,
    Evaluation,
)
from clawmem.extensions.governance.criterion import KINDS as CRITERION_KINDS
from clawmem.model.records.parsing import Yaml, read_log
from clawmem.model.records.task import REJECT
from clawmem.model.records.task import VERDICTS as RULINGS

ALIGNMENT = "governance/alignment.jsonl"
# Below this agreement with people, over so many of their last decisions, nothing passes by itself.
BAR, WINDOW = 0.8, 20
AGREED, FALSE_PASS, FALSE_FAIL, OPEN = OUTCOMES = ("agreed", "false pass", "false fail", "escalated")


class AlignmentEntry(NamedTuple):
    """A decision of a person (`pass` or `reject`) on a task, and what an evaluation had found.

    `id` is that of the evaluation. `outcome` compares the two, and `kinds` does so for each kind of criterion that
    counts. `at` is the time of the decision (ISO 8601 UTC), and `by` who decided."""

    id: str
    at: str
    task: str
    workflow: str | None
    found: Annotated[str, VERDICTS]
    verdict: Annotated[str, VERDICTS]
    ruling: Annotated[str, tuple(RULINGS)]
    outcome: Annotated[str, OUTCOMES]
    kinds: Mapping[str, Annotated[str, OUTCOMES]]
    by: str
    extra: Mapping[str, Any] = {}


class Agreement(NamedTuple):
    """How many decisions agreed, were false passes, were false fails, or had been escalated."""

    agreed: int = 0
    false_passes: int = 0
    false_fails: int = 0
    escalated: int = 0

    @property
    def counted(self) -> int:
        """Return the number of decisions on which the evaluator had a verdict of its own."""
        return self.agreed + self.false_passes + self.false_fails

    @property
    def rate(self) -> float | None:
        """Return the share of agreement, from 0 to 1; None without a decision that counts."""
        return self.agreed / self.counted if self.counted else None


class AlignmentReport(NamedTuple):
    """The agreement over all decisions, over the last ones, for each kind of criterion, and for each workflow."""

    all: Agreement
    last: Agreement
    kinds: Mapping[str, Agreement]
    workflows: Mapping[str, Agreement]


def compared(evaluation: Evaluation, ruling: str, at: str, by: str) -> AlignmentEntry:
    """Return the entry of a person's ruling on a task. Results below LEAST count as undecided."""
    outcome = _outcome(evaluation.found, ruling)
    kinds = _kind_outcomes(evaluation, ruling)
    return AlignmentEntry(
        evaluation.id, at, evaluation.task, evaluation.workflow, evaluation.found, evaluation.verdict, ruling, outcome,
        kinds, by,
    )  # fmt: skip


def _outcome(found: str, ruling: str) -> str:
    if found not in (PASS, FAIL):
        return OPEN
    if found == PASS:
        return FALSE_PASS if ruling == REJECT else AGREED
    return AGREED if ruling == REJECT else FALSE_FAIL


def _kind_outcomes(evaluation: Evaluation, ruling: str) -> dict[str, str]:
    """Compare each kind of criterion. A kind has found `fail` if it refuted one, `pass` if it found all of its own met.

    One unmet criterion is enough to reject. So where the evaluation found `pass`, a rejection counts against every
    kind; where it did not, only kinds that refuted something are compared."""
    found = {}
    for kind in CRITERION_KINDS:
        results = {_sure_result(result) for result in evaluation.results if result.kind == kind}
        if REFUTED in results:
            found[kind] = FAIL
        elif results == {MET} and (ruling != REJECT or evaluation.found == PASS):
            found[kind] = PASS
    return {kind: _outcome(verdict, ruling) for kind, verdict in found.items()}


def _sure_result(result: CriterionResult) -> str:
    return result.result if result.confidence >= LEAST else UNDECIDED


def report_of(entries: Sequence[AlignmentEntry], window: int = WINDOW) -> AlignmentReport:
    """Return the report. `window` is how many of the last decisions that count `last` covers."""
    ordered = _each_once(entries)
    workflows = sorted({entry.workflow or "" for entry in ordered})
    return AlignmentReport(
        agreement_of(entry.outcome for entry in ordered),
        last_agreement(ordered, window),
        {
            kind: agreement_of(entry.kinds[kind] for entry in ordered if kind in entry.kinds)
            for kind in CRITERION_KINDS
            if any(kind in entry.kinds for entry in ordered)
        },
        {
            name: agreement_of(entry.outcome for entry in ordered if (entry.workflow or "") == name)
            for name in workflows
        },
    )


def last_agreement(entries: Iterable[AlignmentEntry], window: int = WINDOW) -> Agreement:
    """Return the agreement over the last decisions on which the evaluator had a verdict of its own."""
    counted = [entry for entry in _each_once(entries) if entry.outcome != OPEN]
    return agreement_of(entry.outcome for entry in counted[-window:])


def _each_once(entries: Iterable[AlignmentEntry]) -> list[AlignmentEntry]:
    """Return the entries by time. Of several that two machines recorded about one evaluation, the first counts."""
    found: dict[str, AlignmentEntry] = {}
    for other_entry in sorted(entries, key=lambda entry: (entry.at, entry.id)):
        found.setdefault(other_entry.id, other_entry)
    return list(found.values())


def agreement_of(outcomes: Iterable[str]) -> Agreement:
    """Count outcomes."""
    items = list(outcomes)
    return Agreement(*(items.count(outcome) for outcome in OUTCOMES))


def parse_alignment(data: bytes, path: str, yaml: Yaml) -> tuple[AlignmentEntry, ...]:
    """Read the log, oldest first. Raise Unreadable, naming the line and the key."""
    return read_log(AlignmentEntry, data, path, yaml)
