"""`clawmem undo`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.faces.parts.words import SHORT, entry_data, entry_line
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
    result = act(call.runtime.vault(), target, call.runtime.caller(), dry_run)
    data = {
        "undone": result.undone.commit,
        "undone_entry": entry_data(result.undone),
        "commit": result.commit,
        "facts": [fact_data(placed.fact, placed.entity) for placed in result.facts],
        "outcome": list(result.outcome),
        "paths": list(result.paths),
        "removed": list(result.removed),
        "dry_run": dry_run,
    }
    return Answer(data, _lines(result, dry_run), result.notices)


def _lines(result: UndoResult, dry_run: bool) -> list[str]:
    lines = [f"{'would undo' if dry_run else 'undone'}: {entry_line(result.undone)}"]
    would = "would be " if dry_run else ""
    for outcome, placed in zip(result.outcome, result.facts, strict=True):
        lines.append(f"{would}{outcome}: {fact_line(placed.fact, placed.entity)}")
    if not result.facts:
        lines += [f"{would}{'removed' if path in result.removed else 'restored'}: {path}" for path in result.paths]
    lines.append(f"commit {result.commit[:SHORT]}" if result.commit else "dry run; nothing was changed")
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
