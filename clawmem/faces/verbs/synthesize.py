"""`clawmem synthesize`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import DONE, PARTIAL
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DATE, DRY_RUN
from clawmem.faces.parts.words import commits_made
from clawmem.heartbeat.queue import QueueRun, answer_tasks, narration
from clawmem.learning.synthesize import synthesize as act
from clawmem.memory.pages.memory_page import PATH
from clawmem.memory.pages.refresh import refresh_memory
from clawmem.model.language.dates import day_of, parse_moment
from clawmem.model.settings.settings import SYNTHESIZE


def synthesize(call: Call, date: Annotated[str, DATE], dry_run: Annotated[bool, DRY_RUN]) -> Answer:
    """The generated part of the daily note lists what was learned, corrected and decided that day. The generated part
    of MEMORY.md lists the most important facts. Text by people is not changed. With a model (`llm.model`), the note
    begins with a narrative whose sentences cite facts. Exit code 4: a needed file cannot be parsed, or the model could
    not be used."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    day = day_of(parse_moment(date, caller.now, "day"))
    model = None if dry_run else call.runtime.model(SYNTHESIZE)
    asked = answer_tasks(vault, caller, model, [narration(day)]) if model else QueueRun()
    notes = act(vault, caller, [day], dry_run=dry_run)
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


VERB = Command(
    synthesize,
    {"date": str, "pages": [str], "commits": [str]},
    ("clawmem synthesize --date yesterday",),
)
