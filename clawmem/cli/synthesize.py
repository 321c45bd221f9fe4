"""`clawmem synthesize`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.errors import DONE, PARTIAL
from clawmem.learning.synthesize import synthesize as act
from clawmem.memory.pages.memory_page import PATH
from clawmem.memory.pages.refresh import refresh_memory
from clawmem.model.language.dates import day_of, parse_moment


def synthesize(
    ctx: typer.Context,
    date: Annotated[str, typer.Option("--date", help="The day.")] = "today",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, write nothing.")] = False,
) -> int:
    """What was learned, corrected and decided that day goes into the generated part of its daily note, what matters
    most into that of MEMORY.md. What people wrote there stays. Exit code 4 where a file it needs does not parse."""
    face = Face.of(ctx)
    vault, caller = face.runtime.vault(), face.runtime.caller()
    day = day_of(parse_moment(date, caller.now, "day"))
    notes = act(vault, caller, [day], dry_run=dry_run)
    memory = refresh_memory(vault, caller, dry_run)
    pages = [*notes.pages, *([PATH] if memory.changed else [])]
    commits = [one for one in (notes.commit, memory.commit) if one]
    did = "would rewrite" if dry_run else "rewrote"
    lines = [f"{did} {page}" for page in pages] or ["nothing changed, so there is no commit"]
    data = {"date": day, "pages": pages, "commits": commits}
    problems = (*notes.problems, *memory.problems)
    left = [f"left alone: {problem.message} {problem.hint}" for problem in dict.fromkeys(problems)]
    notices = list(dict.fromkeys((*notes.notices, *memory.notices, *left)))
    code = PARTIAL if problems else DONE
    return face.done(data, [*lines, *(f"commit {name[:12]}" for name in commits)], notices, code)
