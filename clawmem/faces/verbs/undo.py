"""`clawmem undo`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.faces.parts.past import SHORT, entry_data, entry_line
from clawmem.memory.history.undo import UndoResult
from clawmem.memory.history.undo import undo as act
from clawmem.model.facts.fact_words import fact_data, fact_line


def undo(
    call: Call,
    target: Annotated[
        str | None,
        Parameter(
            "A commit, or a fact, whose latest change is reverted; default: your own last change.",
            metavar="[FACT_ID|COMMIT]",
            completes="fact",
        ),
    ],
    dry_run: Annotated[bool, DRY_RUN._replace(help="Show what would change; change nothing.")],
) -> Answer:
    """History is not erased: the undo is a new commit and can itself be undone. The command is refused if later changes
    depend on the change."""
    done = act(call.runtime.vault(), target, call.runtime.caller(), dry_run)
    data = {
        "undone": done.undone.commit,
        "undone_entry": entry_data(done.undone),
        "commit": done.commit,
        "facts": [fact_data(one.fact, one.entity) for one in done.facts],
        "outcome": list(done.outcome),
        "paths": list(done.paths),
        "removed": list(done.removed),
        "dry_run": dry_run,
    }
    return Answer(data, _lines(done, dry_run), done.notices)


def _lines(done: UndoResult, dry_run: bool) -> list[str]:
    lines = [f"{'would undo' if dry_run else 'undone'}: {entry_line(done.undone)}"]
    would = "would be " if dry_run else ""
    for outcome, one in zip(done.outcome, done.facts, strict=True):
        lines.append(f"{would}{outcome}: {fact_line(one.fact, one.entity)}")
    if not done.facts:
        lines += [f"{would}{'removed' if path in done.removed else 'restored'}: {path}" for path in done.paths]
    lines.append(f"commit {done.commit[:SHORT]}" if done.commit else "dry run; nothing was changed")
    return lines


VERB = Command(
    undo,
    {
        "undone": str,
        "undone_entry": "entry",
        "commit": (str, None),
        "facts": ["fact"],
        "outcome": [str],
        "paths": [str],
        "removed": [str],
        "dry_run": bool,
    },
    ("clawmem undo", "clawmem undo fact_1a2b", "clawmem undo HEAD --dry-run"),
)
