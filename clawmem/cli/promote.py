"""`clawmem promote`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.errors import DONE
from clawmem.learning.promotion.promote import PromoteResult
from clawmem.learning.promotion.promote import promote as act
from clawmem.learning.report import promotion_data, promotion_line
from clawmem.model.language.dates import day_of, parse_moment
from clawmem.model.language.text import counted
from clawmem.model.settings.local import suggestion_message


def promote(
    ctx: typer.Context,
    date: Annotated[str, typer.Option("--date", help="The day.")] = "today",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, write nothing.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="List every candidate with its score and reason.")] = False,
) -> int:
    """The facts of a day that are worth thirty days are marked, made more important and put first in summaries and
    MEMORY.md; what a person should decide waits in `review list`. The heartbeat does it every night. Exit code 13: a
    limit on the model was reached; 14: the model could not be used. The rules judged what it did not."""
    face = Face.of(ctx)
    caller = face.runtime.caller()
    vault = face.runtime.vault()
    done = act(vault, caller, day_of(parse_moment(date, caller.now, "day")), dry_run, face.runtime.model())
    data = promotion_data(done, explain=True)
    failed = done.problem
    suggested = suggestion_message(vault.settings, "llm")
    notices = [*done.notices, *suggested, *([f"{failed.message} {failed.hint}"] if failed else [])]
    return face.done(data, _lines(done, dry_run, explain), notices, failed.exit_code if failed else DONE)


def _lines(done: PromoteResult, dry_run: bool, explain: bool) -> list[str]:
    lines = [promotion_line(one) for one in (done.verdicts if explain else [*done.kept, *done.waiting])]
    if done.kept or done.waiting:
        return lines if dry_run else [*lines, f"commit {done.commit[:12]}" if done.commit else "nothing was written"]
    words = f"none of {counted(len(done.verdicts), 'candidate')} of {done.on} was promoted"
    lines.append(words if done.verdicts else f"there is no candidate of {done.on}")
    if done.commit:
        return [*lines, f"commit {done.commit[:12]}"]
    return [*lines[:-1], f"{lines[-1]}, so there is no commit"]
