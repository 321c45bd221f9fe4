"""`clawmem promote`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from clawmem.errors import DONE
from clawmem.faces.cli.face import Face
from clawmem.faces.parts.words import fact_line
from clawmem.learning.promote import Promoted
from clawmem.learning.promote import promote as act
from clawmem.model.dates import day_of, parse_moment
from clawmem.model.promotion import Verdict, para_class
from clawmem.model.text import counted


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
    notices = [*done.notices, *([f"{failed.message} {failed.hint}"] if failed else [])]
    return face.done(data, _lines(done, dry_run, explain), notices, failed.exit_code if failed else DONE)


def promotion_data(done: Promoted, explain: bool) -> dict[str, Any]:
    """A run of promotion as JSON: what was promoted, and with `explain` every candidate."""
    shown = done.verdicts if explain else [*done.kept, *done.waiting]
    return {
        "date": done.on,
        "promoted": [one.candidate.fact.id for one in done.kept],
        "from_notes": list(done.noted),
        "candidates": [_verdict(one) for one in shown],
        "proposals": [{"id": one.id, "kind": one.kind, "says": one.says, "why": one.why} for one in done.proposals],
        "judge": done.judge,
        "model": done.run,
        "commit": done.commit,
    }


def verdict_line(one: Verdict) -> str:
    """A candidate on one line: what became of it, and why."""
    word = "promoted" if one.promoted else "waits" if one.waits else "left"
    proposal = f"{one.proposal}: " if one.waits and one.proposal else ""
    return f"{word:<8}  {fact_line(one.candidate.fact, one.candidate.entity)}  [{proposal}{one.reason}]"


def _verdict(one: Verdict) -> dict[str, Any]:
    fact, entity, judgement = one.candidate[:3]
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": entity,
        "para": para_class(entity),
        "score": judgement.score,
        "promoted": one.promoted,
        "waits": one.waits,
        "proposal": one.proposal,
        "reason": one.reason,
        "reasons": list(judgement.reasons),
    }


def _lines(done: Promoted, dry_run: bool, explain: bool) -> list[str]:
    lines = [verdict_line(one) for one in (done.verdicts if explain else [*done.kept, *done.waiting])]
    if done.kept or done.waiting:
        return lines if dry_run else [*lines, f"commit {done.commit[:12]}" if done.commit else "nothing was written"]
    words = f"none of {counted(len(done.verdicts), 'candidate')} of {done.on} was promoted"
    lines.append(words if done.verdicts else f"there is no candidate of {done.on}")
    if done.commit:
        return [*lines, f"commit {done.commit[:12]}"]
    return [*lines[:-1], f"{lines[-1]}, so there is no commit"]
