"""`clawmem note`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.memory.pages.notes import note as act


def note(call: Call, text: str) -> Answer:
    """The next heartbeat reads the line and learns facts from it."""
    done = act(call.runtime.vault(), text, call.runtime.caller())
    data = {"line": done.line, "path": done.path, "commit": done.commit}
    return Answer(data, [f"noted in {done.path}: {done.line}", f"commit {done.commit[:12]}"], done.notices)


VERB = Command(
    note,
    (Parameter("text", "What happened, or - for stdin.", required=True, stdin=True),),
    {"line": str, "path": str, "commit": str},
    ("clawmem note 'Met Jane in Oslo.'",),
)
