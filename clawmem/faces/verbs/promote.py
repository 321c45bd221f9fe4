"""`clawmem promote`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import DONE
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DATE, DRY_RUN, EXPLAIN, MODEL
from clawmem.heartbeat.queue import PROMOTE, QueueRun, answer_tasks, promotion
from clawmem.learning.promotion.promote import PromoteResult, joined_results
from clawmem.learning.promotion.promote import promote as act
from clawmem.learning.report import PROMOTION, promotion_data, promotion_line
from clawmem.model.language.dates import day_of, parse_moment
from clawmem.model.language.text import counted
from clawmem.model.records.event import cost_line
from clawmem.model.settings.local import suggestion_message
from clawmem.model.settings.settings import JUDGE


def promote(
    call: Call,
    date: Annotated[str, DATE],
    dry_run: Annotated[bool, DRY_RUN],
    explain: Annotated[bool, EXPLAIN._replace(help="List every candidate with its score and reason.")],
    model: Annotated[str | None, MODEL],
) -> Answer:
    """Facts that are likely to be useful for at least thirty days are marked, get a higher importance and are listed
    first in summaries and MEMORY.md. Facts that need a decision by a person wait in `review list`. The heartbeat runs
    this step every night. Exit code 13: a limit on the model was reached; 14: the model could not be used. In both
    cases the rules scored the remaining facts."""
    caller = call.runtime.caller()
    vault = call.runtime.vault()
    day = day_of(parse_moment(date, caller.now, "day"))
    judge = call.runtime.model(JUDGE, model)
    asked = answer_tasks(vault, caller, judge, [promotion(day)]) if judge and not dry_run else QueueRun()
    result = joined_results([*asked.of(PROMOTE), act(vault, caller, day, dry_run)])
    run = asked.records[0] if asked.records else None
    data = promotion_data(result, explain=True, run=run)
    failed = asked.problem
    notices = [
        *dict.fromkeys((*result.notices, *asked.notices)),
        *(["A dry run calls no model: the rules judged all candidates."] if judge and dry_run else []),
        *suggestion_message(vault.settings, "llm"),
        *([f"{failed.message} The rules judged the rest. {failed.hint}"] if failed else []),
    ]
    lines = [*([cost_line(run)] if run else []), *_lines(result, dry_run, explain)]
    return Answer(data, lines, notices, failed.exit_code if failed else DONE)


def _lines(result: PromoteResult, dry_run: bool, explain: bool) -> list[str]:
    lines = [promotion_line(verdict) for verdict in (result.verdicts if explain else [*result.kept, *result.waiting])]
    if result.kept or result.waiting:
        return (
            lines if dry_run else [*lines, f"commit {result.commit[:12]}" if result.commit else "nothing was written"]
        )
    words = f"none of {counted(len(result.verdicts), 'candidate')} of {result.on} was promoted"
    lines.append(words if result.verdicts else f"there is no candidate for {result.on}")
    if result.commit:
        return [*lines, f"commit {result.commit[:12]}"]
    return [*lines[:-1], f"{lines[-1]}; no commit was made"]


VERB = Command(
    promote,
    PROMOTION,
    ("clawmem promote --date yesterday --dry-run --explain",),
    ("candidates",),
)
