"""`clawmem completions`."""

from __future__ import annotations

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.completion_scripts import FILES, SCRIPTS
from clawmem.faces.parts.parameters import Parameter


def completions(call: Call, shell: str) -> Answer:
    """The first lines of the script explain how to load it. It completes verbs, options, entities, fact ids and
    settings."""
    script = SCRIPTS.get(shell)
    if script is None:
        raise InvalidInput(f"There is no completion script for '{shell}'.", f"Choose one of {', '.join(SCRIPTS)}.")
    return Answer({"shell": shell, "file": FILES[shell], "script": script}, [script.rstrip("\n")])


VERB = Command(
    completions,
    (Parameter("shell", "{choices}.", required=True, metavar="SHELL", choices=tuple(SCRIPTS)),),
    {"shell": set(SCRIPTS), "file": str, "script": str},
    ("clawmem completions bash > ~/.local/share/bash-completion/completions/clawmem",),
)
