"""Alignment: compare the verdicts of the evaluator with the decisions of people, and record both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

from clawmem.errors import Refused
from clawmem.extensions.governance.criterion import (
    EVALUATIONS,
    FAIL,
    LEAST,
    MET,
    PASS,
    REFUTED,
    UNDECIDED,
    VERDICTS,
    Evaluation,
    parse_evaluations,
)
from clawmem.extensions.governance.criterion import KINDS as CRITERION_KINDS
from clawmem.index.search.lookup import PlacedFact
from clawmem.memory.proposals import proposal_writes
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.forms import render_lines
from clawmem.model.kinds import file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import APPROVED, Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.parsing import read_log
from clawmem.model.records.task import PASS as PASSED
from clawmem.model.records.task import REJECT, Task, parse_task, task_path
from clawmem.model.records.task import VERDICTS as RULINGS
from clawmem.model.records.task_moves import CLOSE, Mover
from clawmem.model.records.task_moves import REJECT as REJECT_TASK
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault
from clawmem.work.tasks import A_PERSON, BY_HAND, answered_escalations, list_tasks, with_move

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
    return AlignmentEntry(
        evaluation.id, at, evaluation.task, evaluation.workflow, evaluation.found, evaluation.verdict, ruling, outcome,
        _kind_outcomes(evaluation, ruling), by,
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
        of_kind = [result for result in evaluation.results if result.kind == kind]
        results = {result.result if result.confidence >= LEAST else UNDECIDED for result in of_kind}
        if REFUTED in results:
            found[kind] = FAIL
        elif results == {MET} and (ruling != REJECT or evaluation.found == PASS):
            found[kind] = PASS
    return {kind: _outcome(verdict, ruling) for kind, verdict in found.items()}


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


parse_alignment = partial(read_log, AlignmentEntry)
"""Reads the log, oldest first. Raises Unreadable, naming the line and the key."""


class AlignmentResult(NamedTuple):
    """The report, whether passes count by themselves, and the commit that recorded new decisions (None if there were
    none)."""

    report: AlignmentReport
    passes: bool
    commit: str | None
    notices: tuple[str, ...] = ()


def read_evaluations(work: WriteScope) -> tuple[Evaluation, ...]:
    """Return all evaluations, oldest first. Raise Unreadable."""
    return parse_evaluations(_read(work, EVALUATIONS), EVALUATIONS, parse_yaml)


def read_alignment(work: WriteScope) -> tuple[AlignmentEntry, ...]:
    """Return the alignment log, oldest first. Raise Unreadable."""
    return parse_alignment(_read(work, ALIGNMENT), ALIGNMENT, parse_yaml)


def _read(work: WriteScope, path: str) -> bytes:
    data = work.read(path) or b""
    kind = file_kind(path)
    if kind is not None:
        kind.refuse_large(data, path)
    return data


def report_alignment(vault: Vault, caller: Caller) -> AlignmentResult:
    """Return the report. Decisions made with an editor, or that came with a sync, are recorded first, in one commit."""
    with writing(vault, caller, "evaluate") as work:
        commit = _commit_decisions(work)
        entries = read_alignment(work)
        return AlignmentResult(report_of(entries), may_pass(entries), commit, work.notices)


def alignment_numbers(vault: Vault) -> dict[str, Any]:
    """Return the numbers of the report for the metrics of a memory. Raise Unreadable."""
    entries = parse_alignment(vault.read(ALIGNMENT) or b"", ALIGNMENT, parse_yaml)
    counts, last = report_of(entries)[:2]
    record = {"decided": counts.counted, "agreed": counts.agreed, "agreement": last.rate}
    return {**record, "bar": BAR, "passes": may_pass(entries)}


def record_decisions(vault: Vault, caller: Caller) -> str | None:
    """Record the decisions of people on evaluated tasks. Return the commit, or None if there is nothing new."""
    if not (vault.root / EVALUATIONS).exists():
        return None
    with writing(vault, caller, "evaluate") as work:
        return _commit_decisions(work)


def _commit_decisions(work: WriteScope) -> str | None:
    (entries, writes), caller = new_decisions(work), work.caller
    if not entries:
        return None
    items = trailers("align", agent=caller.agent, session=caller.session)
    named = ", ".join(f"{entry.task} {entry.outcome}" for entry in entries)
    change = Change(subject_line("align", "tasks", named), writes, items, author=agent_author(caller.agent))
    return work.commit([change])[-1]


def may_pass(entries: Iterable[AlignmentEntry]) -> bool:
    """Return whether a task may pass without a person: without a decision of a person, or at the bar or above."""
    rate = last_agreement(entries).rate
    return rate is None or rate >= BAR


def new_decisions(work: WriteScope) -> tuple[list[AlignmentEntry], dict[str, bytes | None]]:
    """Return the decisions of people on evaluated tasks that the log lacks, and the writes that record them; open
    escalations of these tasks get the same."""
    items = read_alignment(work)
    known = {entry.id for entry in items}
    last: dict[str, Evaluation] = {
        other_evaluation.task: other_evaluation
        for other_evaluation in sorted(read_evaluations(work), key=lambda other_evaluation: other_evaluation.at)
    }
    entries, tasks = [], dict[str, Task]()
    for task in list_tasks(work.vault).tasks:
        evaluation = last.get(task.slug)
        # A person decided: a git identity, or nobody is named, as after an edit by hand.
        by_person = task.decided_by in (None, A_PERSON) or "<" in str(task.decided_by)
        if evaluation is None or evaluation.id in known or task.ruling is None or not by_person:
            continue
        at = task.decided or stamp(work.caller.now)
        if at < evaluation.at:
            continue  # decided before it was evaluated
        entries.append(compared(evaluation, task.ruling, at, task.decided_by or BY_HAND))
        tasks[task.slug] = task
    writes = _log_writes(items, entries)
    closed = [proposal for task in tasks.values() for proposal in answered_escalations(work, task)]
    return entries, {**writes, **proposal_writes(closed)}


def decide_escalation(work: WriteScope, proposal: Proposal, facts: Sequence[PlacedFact]) -> Mapping[str, bytes | None]:
    """Return the further writes of a decision on an escalation: its task is closed, and the log gets both verdicts.

    Raise Refused if the task was decided otherwise."""
    del facts
    decided = proposal.decided
    ruling = PASSED if proposal.status == APPROVED else REJECT
    slug = str((proposal.details or {}).get("task"))
    path = task_path(slug)
    data = work.read(path)
    writes: dict[str, bytes | None] = {}
    if data is not None and decided is not None:
        task = parse_task(data, path, parse_yaml)
        if task.ruling not in (None, ruling):
            raise Refused(f"The task {slug} is already {task.state}.", "Change the task, or decide as it was decided.")
        if task.ruling is None:
            move = CLOSE if ruling == PASSED else REJECT_TASK
            writes[path] = with_move(task, move, Mover(decided.by, True, decided.at), decided.reason).page.encode()
    items = read_alignment(work)
    wanted = (proposal.details or {}).get("evaluation")
    evaluation = next((each for each in read_evaluations(work) if each.id == wanted), None)
    if evaluation is not None and decided is not None and evaluation.id not in {each.id for each in items}:
        writes |= _log_writes(items, [compared(evaluation, ruling, decided.at, decided.by)])
    return writes


def _log_writes(items: Sequence[AlignmentEntry], entries: Sequence[AlignmentEntry]) -> dict[str, bytes | None]:
    return {ALIGNMENT: render_lines([*items, *entries])} if entries else {}
