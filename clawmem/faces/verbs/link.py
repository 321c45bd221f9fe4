"""`clawmem link`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import link as act
from clawmem.model.facts.draft import LINKED_BY_HAND


def link(call: Call, fact: str, target: str, kind: str, reason: str | None, instead: str | None) -> Answer:
    """The link is stored in the first fact, with its reason and date. A `depends_on` link makes the target a premise of
    the fact: if it changes, the fact is in doubt until somebody confirms it or links it to another premise. A
    `contradicts` link between two current facts asks a person which of them is true (`review`)."""
    caller = call.runtime.caller()
    return revised(act(call.runtime.vault(), fact, kind, target, caller, check_reason(reason), instead))


VERB = Command(
    link,
    (
        FACT._replace(help="The fact that the link starts from."),
        FACT._replace(name="target", help="The fact that the link points to."),
        Parameter("kind", "{choices}.", ("--type", "-t"), default="relates_to", choices=LINKED_BY_HAND),
        Parameter("reason", "Why the facts are linked.", ("--reason",)),
        FACT._replace(
            name="instead", help="Replace the link of this type to this fact.", flags=("--instead",), required=False
        ),
    ),
    REVISED,
    ("clawmem link fact_1a2b fact_5e6f --type supports --reason 'The letter says so.'",),
    ("facts",),
)
