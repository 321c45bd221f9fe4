"""Alignment: compare the verdicts of the evaluator with the decisions of people, and record both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import Refused
from clawmem.extensions.governance.alignment_log import (
    ALIGNMENT,
    BAR,
    AlignmentEntry,
    AlignmentReport,
    compared,
    last_agreement,
    parse_alignment,
    report_of,
)
from clawmem.extensions.governance.criterion import EVALUATIONS, Evaluation, parse_evaluations
from clawmem.index.search.lookup import PlacedFact
from clawmem.memory.review.proposals import proposal_writes
from clawmem.memory.scope import WriteScope
from clawmem.memory.tasks import A_PERSON, BY_HAND, answered_escalations, list_tasks, with_move
from clawmem.memory.writing import writing
from clawmem.model.forms import render_lines
from clawmem.model.kinds import file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import APPROVED, Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.task import PASS, REJECT, Task, parse_task, task_path
from clawmem.model.records.task_moves import CLOSE, Mover
from clawmem.model.records.task_moves import REJECT as REJECT_TASK
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

# Below this number of decisions of people, no task closes by itself.
LEAST_DECISIONS = 5


class NewDecisions(NamedTuple):
    """Decisions of people that the log does not have yet, and the writes that record them."""

    entries: tuple[AlignmentEntry, ...]
    writes: Mapping[str, bytes | None]


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
    """Return the report. Decisions that were made with an editor, or came with a sync, are recorded first, in one
    commit."""
    with writing(vault, caller, "evaluate") as work:
        commit = _commit_decisions(work)
        entries = read_alignment(work)
        return AlignmentResult(report_of(entries), may_pass(entries), commit, work.notices)


def recorded_alignment(vault: Vault) -> AlignmentResult:
    """Return the report of what the log has now, and write nothing. Raise Unreadable."""
    entries = parse_alignment(vault.read(ALIGNMENT) or b"", ALIGNMENT, parse_yaml)
    return AlignmentResult(report_of(entries), may_pass(entries), None)


def alignment_numbers(vault: Vault) -> dict[str, Any]:
    """Return the numbers of the report for the metrics of a memory. Raise Unreadable."""
    aligned = recorded_alignment(vault)
    counts, last = aligned.report.all, aligned.report.last
    record = {"decided": counts.counted, "agreed": counts.agreed, "agreement": last.rate}
    return {**record, "bar": BAR, "passes": aligned.passes}


def record_decisions(vault: Vault, caller: Caller) -> str | None:
    """Record the decisions of people on evaluated tasks. Return the commit, or None if there is nothing new."""
    if not (vault.root / EVALUATIONS).exists():
        return None
    with writing(vault, caller, "evaluate") as work:
        return _commit_decisions(work)


def _commit_decisions(work: WriteScope) -> str | None:
    new, caller = new_decisions(work), work.caller
    if not new.entries:
        return None
    items = trailers("align", agent=caller.agent, session=caller.session)
    named = ", ".join(f"{entry.task} {entry.outcome}" for entry in new.entries)
    change = Change(subject_line("align", "tasks", named), new.writes, items, author=agent_author(caller.agent))
    return work.commit([change])[-1]


def may_pass(entries: Iterable[AlignmentEntry]) -> bool:
    """Return whether a task may pass without a person: without a decision of a person, or at the bar or above."""
    rate = last_agreement(entries).rate
    return rate is None or rate >= BAR


def why_not_close(entries: Iterable[AlignmentEntry]) -> str | None:
    """Return why no task may close by itself yet, or None: too few verdicts were compared with people's decisions."""
    last = last_agreement(entries)
    count, least = last.agreed + last.false_passes + last.false_fails, LEAST_DECISIONS
    return None if count >= least else f"people decided {count} of the {least} tasks that are needed first"


def new_decisions(work: WriteScope) -> NewDecisions:
    """Return the decisions on evaluated tasks that the log does not have yet. Open escalations of these tasks get the
    same decision."""
    items = read_alignment(work)
    known = {entry.id for entry in items}
    last: dict[str, Evaluation] = {
        other_evaluation.task: other_evaluation
        for other_evaluation in sorted(read_evaluations(work), key=lambda other_evaluation: other_evaluation.at)
    }
    entries, tasks = [], dict[str, Task]()
    for task in list_tasks(work.vault).tasks:
        evaluation = last.get(task.slug)
        if evaluation is None or evaluation.id in known or task.ruling is None or not _is_person(task.decided_by):
            continue
        at = task.decided or stamp(work.caller.now)
        if at < evaluation.at:
            continue  # decided before it was evaluated
        entries.append(compared(evaluation, task.ruling, at, task.decided_by or BY_HAND))
        tasks[task.slug] = task
    writes = _log_writes(items, entries)
    closed = [proposal for task in tasks.values() for proposal in answered_escalations(work, task)]
    return NewDecisions(tuple(entries), {**writes, **proposal_writes(closed)})


def decide_escalation(work: WriteScope, proposal: Proposal, facts: Sequence[PlacedFact]) -> Mapping[str, bytes | None]:
    """Return the further writes of a decision on an escalation: its task is closed, and the log gets both verdicts.

    Raise Refused if the task was decided otherwise."""
    del facts
    decided = proposal.decided
    ruling = PASS if proposal.status == APPROVED else REJECT
    slug = _task_of(proposal)
    path = task_path(slug)
    data = work.read(path)
    writes: dict[str, bytes | None] = {}
    if data is not None and decided is not None:
        task = parse_task(data, path, parse_yaml)
        if task.ruling not in (None, ruling):
            raise Refused(f"The task {slug} is already {task.state}.", "Change the task, or decide as it was decided.")
        if task.ruling is None:
            move = CLOSE if ruling == PASS else REJECT_TASK
            writes[path] = with_move(task, move, Mover(decided.by, True, decided.at), decided.reason).page.encode()
    items = read_alignment(work)
    wanted = (proposal.details or {}).get("evaluation")
    evaluation = next(
        (other_evaluation for other_evaluation in read_evaluations(work) if other_evaluation.id == wanted), None
    )
    if (
        evaluation is not None
        and decided is not None
        and evaluation.id not in {other_entry.id for other_entry in items}
    ):
        entry = compared(evaluation, ruling, decided.at, decided.by)
        writes |= _log_writes(items, [entry])
    return writes


def _task_of(proposal: Proposal) -> str:
    return str((proposal.details or {}).get("task"))


def _log_writes(items: Sequence[AlignmentEntry], entries: Sequence[AlignmentEntry]) -> dict[str, bytes | None]:
    return {ALIGNMENT: render_lines([*items, *entries])} if entries else {}


def _is_person(decided_by: str | None) -> bool:
    """Return whether a person decided: a git identity, or nobody is named, as after an edit by hand."""
    return decided_by in (None, A_PERSON) or "<" in str(decided_by)
