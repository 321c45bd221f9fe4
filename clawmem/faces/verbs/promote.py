"""`clawmem promote`."""

from __future__ import annotations

from typing import Any

from clawmem.errors import DONE
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DATE, DRY_RUN, EXPLAIN
from clawmem.faces.parts.words import fact_line
from clawmem.learning.promote import Promoted
from clawmem.learning.promote import promote as act
from clawmem.model.dates import day_of, parse_moment
from clawmem.model.promotion import Verdict, para_class
from clawmem.model.text import counted


def promote(call: Call, date: str, dry_run: bool, explain: bool) -> Answer:
    """The facts of a day that are worth thirty days are marked, made more important and put first in summaries and
    MEMORY.md; what a person should decide waits in `review list`. The heartbeat does it every night. Exit code 13: a
    limit on the model was reached; 14: the model could not be used. The rules judged what it did not."""
    caller = call.runtime.caller()
    vault = call.runtime.vault()
    done = act(vault, caller, day_of(parse_moment(date, caller.now, "day")), dry_run, call.runtime.model())
    data = promotion_data(done, explain=True)
    failed = done.problem
    notices = [*done.notices, *([f"{failed.message} {failed.hint}"] if failed else [])]
    return Answer(data, _lines(done, dry_run, explain), notices, failed.exit_code if failed else DONE)


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


PROMOTION = {
    "date": str,
    "promoted": [str],
    "from_notes": [str],
    "candidates": [
        {
            "id": str,
            "fact": str,
            "entity": str,
            "para": str,
            "score": float,
            "promoted": bool,
            "waits": bool,
            "proposal": (str, None),
            "reason": str,
            "reasons": [str],
        }
    ],
    "proposals": ["waiting"],
    "judge": str,
    "model": ("run", None),
    "commit": (str, None),
}

VERB = Command(
    promote,
    (DATE, DRY_RUN, EXPLAIN._replace(help="List every candidate with its score and reason.")),
    PROMOTION,
    ("clawmem promote --date yesterday --dry-run --explain",),
)
