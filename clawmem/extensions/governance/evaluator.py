"""The evaluator: check a task against its acceptance list, criterion by criterion, and record the verdict.

Whether a box of the list is ticked does not count: the worker can tick it. A model judges in the validation loop and
within the budget, and must quote the work: a quote that is not in it word for word decides nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed, NotFound, Refused
from clawmem.extensions.governance.alignment import (
    may_pass,
    new_decisions,
    read_alignment,
    read_evaluations,
)
from clawmem.extensions.governance.criterion import (
    COMMAND,
    ESCALATE,
    EVALUATIONS,
    JUDGED,
    MET,
    NO_WORK,
    PASS,
    PREFIX,
    REFUTED,
    UNDECIDED,
    Criterion,
    CriterionResult,
    Evaluation,
    RuleAnswer,
    Work,
    all_files,
    check_rule,
    criteria_of,
    opened_work,
    parse_rule,
    shortened,
    text_of_file,
    verdict_of,
)
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model, prompt, prompt_version
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.memory.allowed_commands import is_allowed_place, run_command
from clawmem.memory.proposals import ESCALATION, proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import new_id
from clawmem.model.forms import render_lines
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import (
    APPROVED,
    DECIDE,
    REJECTED,
    Proposal,
    ReviewDecision,
    new_proposal_id,
)
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.task import Task
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.state.spending import record_spending, spent_on
from clawmem.vault.vault import Vault
from clawmem.work.tasks import find_task, mover, open_escalations

_BELOW = "All criteria are met, but too few of the last verdicts agreed with people, so a person decides."
_NAMED_BY_AGENT = " This is on a folder that the agent named."
_NO_JUDGE = "It needs a judgement, and no model is set (llm.evaluate_model)."


class EvaluateResult(NamedTuple):
    """The recorded evaluation, the escalation that waits for a person (None unless it escalates), and the commit."""

    evaluation: Evaluation
    proposal: Proposal | None
    commit: str
    notices: tuple[str, ...] = ()


def evaluate(
    vault: Vault, caller: Caller, reference: str, named_work: str | None, folder: Path, model: Model | None = None
) -> EvaluateResult:
    """Check a task against its acceptance list and record the verdict, in one commit.

    `named_work` is a folder, a file or a commit, from the view of `folder`. Decisions of people that are not in the
    alignment log yet are recorded first, so that they count for this verdict. Raise NotFound, Refused, InvalidInput."""
    task = find_task(vault, reference)
    if task.ruling is not None:
        raise Refused(f"The task {task.slug} is already {task.state}.", "Open it again to evaluate it.")
    criteria = criteria_of(item.text for item in task.acceptance)
    with opened_work(vault, named_work, folder) as work:
        results = _results(vault, caller, work, criteria, model)
    with writing(vault, caller, "evaluate") as scope:
        return _record(scope, task, work, results)


def _results(
    vault: Vault, caller: Caller, work: Work, criteria: Sequence[Criterion], model: Model | None
) -> tuple[CriterionResult, ...]:
    judged = [criterion for criterion in criteria if criterion.kind == JUDGED]
    answers: list[CriterionResult] = []
    if judged and model is not None and work.folder is not None:
        answers = judge(vault, model, work, judged, caller.now)
    elif judged:
        why = _NO_JUDGE if model is None else "It needs a judgement, and no work was named (--work)."
        answers = [CriterionResult(criterion.text, JUDGED, UNDECIDED, why, 0.0, "none") for criterion in judged]
    rest = iter(answers)
    found = [
        next(rest) if criterion.kind == JUDGED else _checked(vault, caller, work, criterion) for criterion in criteria
    ]
    # No commit may have a credential.
    return tuple(
        each._replace(evidence="The evidence has a credential.") if find_secret(each.evidence) else each
        for each in found
    )


def _checked(vault: Vault, caller: Caller, work: Work, criterion: Criterion) -> CriterionResult:
    """Return the result of a command or a rule. What cannot be checked is undecided, with the reason as evidence."""
    started = time.monotonic()
    try:
        if criterion.kind == COMMAND:
            found = _command(vault, work, criterion.check)
        else:
            found = check_rule(vault, caller, work, parse_rule(criterion.check))
    except ClawmemError as problem:
        found = RuleAnswer(UNDECIDED, problem.message, 0.0)
    took = round((time.monotonic() - started) * 1000)
    evidence = shortened(found.evidence)
    return CriterionResult(
        criterion.text, criterion.kind, found.result, evidence, found.confidence, criterion.kind, milliseconds=took
    )


def _command(vault: Vault, work: Work, text: str) -> RuleAnswer:
    if work.folder is None or work.place is None:
        raise NotFound("The command needs a checkout.", "Name one with --work FOLDER or --work COMMIT.")
    run = run_command(vault, text, work.folder, work.place)
    message = " / ".join(line.strip() for line in (run.output + "\n" + run.errors).splitlines() if line.strip())
    if run.ended:
        return RuleAnswer(UNDECIDED, f"It was ended, because {run.ended}.", 0.0)
    last = message[-400:]
    return RuleAnswer(REFUTED if run.code else MET, f"exit code {run.code}{f': {last}' if last else ''}")


def _record(scope: WriteScope, task: Task, work: Work, results: tuple[CriterionResult, ...]) -> EvaluateResult:
    caller = scope.caller
    decided, writes = new_decisions(scope)
    entries = (*read_alignment(scope), *decided)
    found, reason = verdict_of(results)
    held_back = found == PASS and not may_pass(entries)
    verdict, reason = (ESCALATE, _BELOW) if held_back else (found, reason)
    reason += _NAMED_BY_AGENT if verdict == PASS and not _is_place_of_person(scope, work) else ""
    evaluations = read_evaluations(scope)
    evaluation = Evaluation(
        new_id(PREFIX, caller.entropy, {other_evaluation.id for other_evaluation in evaluations}),
        stamp(caller.now),
        task.slug,
        task.workflow,
        work.name,
        found,
        verdict,
        reason,
        results,
        mover(scope).signed or mover(scope).name,
    )
    waits = _escalated(scope, task, evaluation) if verdict == ESCALATE else None
    proposals = [waits] if waits else _answered(scope, task, evaluation)
    writes |= {
        EVALUATIONS: render_lines([*evaluations, evaluation]),
        **proposal_writes(proposals),
    }
    items = trailers("evaluate", agent=caller.agent, session=caller.session)
    change = Change(
        subject_line("evaluate", f"tasks/{task.slug}", verdict), writes,
        (*items, ("Evaluation", evaluation.id), *proposal_trailers(proposals)),
        author=agent_author(caller.agent),
    )  # fmt: skip
    commit = scope.commit([change])[-1]
    return EvaluateResult(evaluation, waits, commit, tuple(scope.notices))


def _is_place_of_person(scope: WriteScope, work: Work) -> bool:
    """Return whether a person evaluates, or allowed a command in the checkout, or the memory alone is checked.

    An agent could name a folder that it prepared, so that a rule is met there."""
    if scope.caller.agent is None or work.name == NO_WORK:
        return True
    return work.place is not None and is_allowed_place(scope.vault, work.place)


def _answered(scope: WriteScope, task: Task, evaluation: Evaluation) -> list[Proposal]:
    """Return the escalations of earlier evaluations, which a later one that decides answers without a person."""
    status = APPROVED if evaluation.verdict == PASS else REJECTED
    decision = ReviewDecision(evaluation.id, evaluation.at, f"a later evaluation decided: {evaluation.verdict}")
    return [escalation._replace(status=status, decided=decision) for escalation in open_escalations(scope, task.slug)]


def _escalated(scope: WriteScope, task: Task, evaluation: Evaluation) -> Proposal:
    """Return the question for a person. One that waits already asks about this evaluation from now on."""
    caller, waiting = scope.caller, next(iter(open_escalations(scope, task.slug)), None)
    taken = {other_proposal.id for other_proposal in read_proposals(scope.vault, scope.read).proposals}
    undecided = [
        criterion_result for criterion_result in evaluation.results if criterion_result.result == UNDECIDED
    ] or evaluation.results
    details = {"task": task.slug, "evaluation": evaluation.id, "work": evaluation.work}
    return Proposal(
        waiting.id if waiting else new_proposal_id(caller.entropy, taken),
        ESCALATION,
        f"Does the task '{task.title}' meet its acceptance list?",
        shortened(" ".join([evaluation.reason, *(f"{result.criterion}: {result.evidence}" for result in undecided)])),
        stamp(caller.now),
        DECIDE,
        agent=caller.agent,
        details={**details, "workflow": task.workflow} if task.workflow else details,
    )


# Characters of the work that one question shows, and of one file.
_MOST_SHOWN, _MOST_OF_FILE = 40_000, 12_000
_SHORTEST_QUOTE = 8
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "result": {"enum": [MET, REFUTED, UNDECIDED]},
        "quote": {"type": "string", "maxLength": 2000},
        "why": {"type": "string", "maxLength": 1000},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["result", "quote", "why", "confidence"],
    "additionalProperties": False,
}


def judge(
    vault: Vault, model: Model, work: Work, criteria: Sequence[Criterion], now: datetime
) -> list[CriterionResult]:
    """Return what the model finds for each criterion. A failure or a spent budget leaves the rest undecided.

    What the calls cost is recorded in any case. Raise InvalidInput if the model cannot be used as it is set."""
    day = stamp(now)[:10]
    check_model(model)
    account = Account(model.limits, prices_of(model), Spent(cents=spent_on(vault, day)))
    evaluator = f"{model.name} {prompt_version('evaluate')}"
    found: list[CriterionResult] = []
    problem = ""
    for criterion in criteria:
        before = account.spent
        value: dict[str, Any] = {}
        if not problem:
            try:
                value, problem_of_answer = _ask(model, account, criterion.check, shown_work(work, criterion.check))
            except (ModelFailed, BudgetSpent) as failure:
                problem = problem_of_answer = failure.message
            finally:
                record_spending(vault, day, account.spent.cents - before.cents)
        cost = (account.spent.cents - before.cents, account.spent.milliseconds - before.milliseconds)
        if value:
            found.append(
                _checked_answer(criterion, value, work, evaluator)._replace(cents=cost[0], milliseconds=cost[1])
            )
        else:
            text = shortened(f"The model gave no usable answer: {problem or problem_of_answer}")
            found.append(CriterionResult(criterion.text, JUDGED, UNDECIDED, text, 0.0, evaluator, *cost))
    return found


def shown_work(work: Work, criterion: str) -> str:
    """Return the files of the work for a question: those that the criterion names first, then small ones.

    Each begins with a line that has its path. Of a long file, the beginning is shown."""
    assert work.folder is not None
    words = set(re.findall(r"[\w.-]{2,}\w", criterion.casefold()))  # without the full stop of a sentence
    ranked = []
    for path in all_files(work):
        name = path.relative_to(work.folder).as_posix()
        ranked.append((-sum(word in name.casefold() for word in words), path.stat().st_size, name, path))
    parts, left = [], _MOST_SHOWN
    for _, size, name, path in sorted(ranked):
        if left <= 0 or size == 0:
            continue
        text = text_of_file(path)
        if text is not None:
            shown = text[: min(_MOST_OF_FILE, left)]
            parts.append(f"--- {name}\n{shown}")
            left -= len(shown)
    return "\n".join(parts)


def _ask(model: Model, account: Account, criterion: str, shown: str) -> tuple[dict[str, Any], str]:
    messages = [
        {"role": "system", "content": prompt("evaluate")},
        {"role": "user", "content": f"<criterion>\n{criterion}\n</criterion>\n<work>\n{shown}\n</work>"},
    ]
    answer = ask(model, account, messages, SCHEMA)
    return answer.value or {}, answer.problem


def _checked_answer(criterion: Criterion, value: dict[str, Any], work: Work, evaluator: str) -> CriterionResult:
    """Return the result of an answer: undecided unless its quote is in a file of the work word for word."""
    quote, why = value["quote"].strip(), value["why"].strip()
    if value["result"] == UNDECIDED:
        return CriterionResult(criterion.text, JUDGED, UNDECIDED, shortened(why), 0.0, evaluator)
    place = _place_of(work, quote) if len(quote) >= _SHORTEST_QUOTE else None
    if place is None:
        text = shortened(f"The quoted evidence is not in the work: {quote}")
        return CriterionResult(criterion.text, JUDGED, UNDECIDED, text, 0.0, evaluator)
    evidence = shortened(f"{place}: {quote} ({why})")
    return CriterionResult(criterion.text, JUDGED, value["result"], evidence, value["confidence"], evaluator)


def _place_of(work: Work, quote: str) -> str | None:
    """Return the path of the file that contains the quote, or None."""
    for path in all_files(work):
        text = text_of_file(path)
        if text is not None and quote in text:
            return path.relative_to(work.folder or path).as_posix()
    return None
