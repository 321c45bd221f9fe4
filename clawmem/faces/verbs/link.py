"""`clawmem link`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import link as act
from clawmem.model.facts.draft import LINKED_BY_HAND


def link(
    call: Call,
    fact: Annotated[str, FACT._replace(help="The fact that the link starts from.")],
    target: Annotated[str, FACT._replace(help="The fact that the link points to.")],
    kind: Annotated[str, Parameter("{choices}.", ("--type", "-t"), default="relates_to", choices=LINKED_BY_HAND)],
    reason: Annotated[str | None, Parameter("Why the facts are linked.", ("--reason",))],
    instead: Annotated[
        str | None, FACT._replace(help="Replace the link of this type to this fact.", flags=("--instead",))
    ],
) -> Answer:
    """The link is stored in the first fact, with its reason and date. A `depends_on` link makes the target a premise of
    the fact: if it changes, the fact is in doubt until somebody confirms it or links it to another premise. A
    `contradicts` link between two current facts asks a person which of them is true (`review`)."""
    caller = call.runtime.caller()
    return revised(act(call.runtime.vault(), fact, kind, target, caller, check_reason(reason), instead))


VERB = Command(
    link,
    REVISED,
    ("clawmem link fact_1a2b fact_5e6f --type supports --reason 'The letter says so.'",),
    ("facts",),
)
