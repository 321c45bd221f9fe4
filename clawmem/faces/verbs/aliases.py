"""`clawmem aliases`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.setup.texts import SHELLS, shell_functions


def aliases(call: Call, shell: Annotated[str, Parameter("{choices}.", metavar="SHELL", choices=SHELLS)]) -> Answer:
    """The functions are remember, recall, note, memory and why. They use the vault in CLAWMEM_VAULT and the agent in
    CLAWMEM_AGENT, and also work in a shell that a program starts. A command of such a name stays what it is."""
    if shell not in SHELLS:
        raise InvalidInput(f"'{shell}' is not a known shell.", f"Choose one of {', '.join(SHELLS)}.")
    script = shell_functions(shell)
    return Answer({"shell": shell, "script": script}, [script.rstrip("\n")])


VERB = Command(
    aliases,
    {"shell": set(SHELLS), "script": str},
    ("clawmem aliases bash",),
)
