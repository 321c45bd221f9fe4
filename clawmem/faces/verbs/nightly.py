"""`clawmem promote` and `clawmem synthesize`: steps of the heartbeat for one day."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import DONE, PARTIAL
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DATE, DRY_RUN, EXPLAIN, MODEL
from clawmem.faces.parts.words import commits_made
from clawmem.heartbeat.queue import PROMOTE, QueueRun, answer_tasks, narration, promotion
from clawmem.learning import promote as promotions
from clawmem.learning.promote import PromoteResult, joined_results
from clawmem.learning.report import PROMOTION, promotion_data, promotion_line
from clawmem.learning.synthesize import synthesize as synthesize_act
from clawmem.memory.pages.memory_page import PATH
from clawmem.memory.pages.refresh import refresh_memory
from clawmem.model.language.dates import day_of, parse_moment
from clawmem.model.language.text import counted
from clawmem.model.records.event import cost_line
from clawmem.model.settings.local import suggestion_message
from clawmem.model.settings.settings import JUDGE, SYNTHESIZE


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
    result = joined_results([*asked.of(PROMOTE), promotions.promote(vault, caller, day, dry_run)])
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


def synthesize(call: Call, date: Annotated[str, DATE], dry_run: Annotated[bool, DRY_RUN]) -> Answer:
    """The generated part of the daily note lists what was learned, corrected and decided that day. The generated part
    of MEMORY.md lists the most important facts. Text by people is not changed. With a model (`llm.model`), the note
    begins with a narrative whose sentences cite facts. Exit code 4: a needed file cannot be parsed, or the model could
    not be used."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    day = day_of(parse_moment(date, caller.now, "day"))
    model = None if dry_run else call.runtime.model(SYNTHESIZE)
    asked = answer_tasks(vault, caller, model, [narration(day)]) if model else QueueRun()
    notes = synthesize_act(vault, caller, [day], dry_run=dry_run)
    memory = refresh_memory(vault, caller, dry_run)
    generator = (page for other in asked.of("narrate") for page in other.pages)
    pages = list(dict.fromkeys((*generator, *notes.pages, *([PATH] if memory.changed else []))))
    commits = [*asked.commits, *(text for text in (notes.commit, memory.commit) if text)]
    did = "would rewrite" if dry_run else "rewrote"
    lines = [f"{did} {page}" for page in pages] or ["nothing changed; no commit was made"]
    data = {"date": day, "pages": pages, "commits": commits}
    problems = (*notes.problems, *memory.problems, *([asked.problem] if asked.problem else []))
    left = [f"not changed: {problem.message} {problem.hint}" for problem in dict.fromkeys(problems)]
    notices = list(dict.fromkeys((*asked.notices, *notes.notices, *memory.notices, *left)))
    code = PARTIAL if problems else DONE
    return Answer(data, [*lines, *commits_made(commits)], notices, code)


VERBS = {
    "promote": Command(
        promote,
        PROMOTION,
        ("clawmem promote --date yesterday --dry-run --explain",),
        ("candidates",),
    ),
    "synthesize": Command(
        synthesize,
        {"date": str, "pages": [str], "commits": [str]},
        ("clawmem synthesize --date yesterday",),
    ),
}
