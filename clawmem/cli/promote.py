"""`clawmem promote`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.cli.words import fact_line
from clawmem.learning.promote import Promoted
from clawmem.learning.promote import promote as act
from clawmem.model.dates import day_of, parse_moment
from clawmem.model.promotion import Verdict, para_class


def promote(
    ctx: typer.Context,
    date: Annotated[str, typer.Option("--date", help="The day.")] = "today",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, write nothing.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="List every candidate with its score and reason.")] = False,
) -> int:
    """The facts of a day that are worth thirty days are marked, made more important and put first in summaries and
    MEMORY.md. The heartbeat does it every night."""
    face = Face.of(ctx)
    caller = face.runtime.caller()
    done = act(face.runtime.vault(), caller, day_of(parse_moment(date, caller.now)), dry_run)
    data = promotion_data(done, explain=True)
    return face.done(data, _lines(done, dry_run, explain), done.notices)


def promotion_data(done: Promoted, explain: bool) -> dict[str, Any]:
    """A run of promotion as JSON: what was promoted, and with `explain` every candidate."""
    shown = done.verdicts if explain else done.kept
    return {
        "date": done.on,
        "promoted": [one.candidate.fact.id for one in done.kept],
        "from_notes": list(done.noted),
        "candidates": [_verdict(one) for one in shown],
        "commit": done.commit,
    }


def verdict_line(one: Verdict) -> str:
    """A candidate on one line: what became of it, and why."""
    word = "promoted" if one.promoted else "left"
    return f"{word:<8}  {fact_line(one.candidate.fact, one.candidate.entity)}  [{one.reason}]"


def _verdict(one: Verdict) -> dict[str, Any]:
    fact, entity, judgement = one.candidate
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": entity,
        "para": para_class(entity),
        "score": judgement.score,
        "promoted": one.promoted,
        "reason": one.reason,
        "reasons": list(judgement.reasons),
    }


def _lines(done: Promoted, dry_run: bool, explain: bool) -> list[str]:
    lines = [verdict_line(one) for one in (done.verdicts if explain else done.kept)]
    if not done.kept:
        words = f"none of {len(done.verdicts)} candidates of {done.on} was promoted, so there is no commit"
        return [*lines, words if done.verdicts else f"there is no candidate of {done.on}, so there is no commit"]
    return [*lines, f"commit {done.commit[:12]}" if done.commit else "nothing was written"] if not dry_run else lines
