"""`clawmem synthesize`."""

from __future__ import annotations

from clawmem.errors import DONE, PARTIAL
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DATE, DRY_RUN
from clawmem.learning.synthesize import synthesize as act
from clawmem.memory.pages.memory_page import PATH
from clawmem.memory.pages.refresh import refresh_memory
from clawmem.model.language.dates import day_of, parse_moment


def synthesize(call: Call, date: str, dry_run: bool) -> Answer:
    """What was learned, corrected and decided that day goes into the generated part of its daily note, what matters
    most into that of MEMORY.md. What people wrote there stays. Exit code 4 where a file it needs does not parse."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
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
    return Answer(data, [*lines, *(f"commit {name[:12]}" for name in commits)], notices, code)


VERB = Command(
    synthesize,
    (DATE, DRY_RUN),
    {"date": str, "pages": [str], "commits": [str]},
    ("clawmem synthesize --date yesterday",),
)
