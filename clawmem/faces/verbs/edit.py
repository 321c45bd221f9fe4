"""`clawmem edit`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import FactEdit, supersede
from clawmem.memory.facts.revise import edit as act
from clawmem.model.facts.draft import draft_from_record
from clawmem.serving.browse import peek


def edit(
    call: Call,
    fact: Annotated[str, FACT],
    entity: Annotated[
        str | None, Parameter("Move it to this entity, known or new.", ("--entity", "-e"), completes="entity")
    ],
    tag: Annotated[list[str] | None, Parameter("Add a tag; may be repeated.", ("--tag", "-t"))],
    untag: Annotated[list[str] | None, Parameter("Remove a tag; may be repeated.", ("--untag",))],
    pin: Annotated[bool, Parameter("Let it never fade, and be in each context.", ("--pin",))],
    unpin: Annotated[bool, Parameter("Take that back.", ("--unpin",))],
) -> Answer:
    """Without options, the words of the fact open in `$VISUAL` or `$EDITOR`. Saved words replace the fact as
    `supersede` does: the former words remain in the vault, marked. With options, the words stay, and the fact is moved,
    tagged or pinned. Each is one commit, which `undo` reverts."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    if pin and unpin:
        raise InvalidInput("A fact cannot be pinned and unpinned at once.", "Leave out one of the two.")
    if entity or tag or untag or pin or unpin:
        changes = FactEdit(entity, tuple(tag or ()), tuple(untag or ()), True if pin else False if unpin else None)
        return revised(act(vault, fact, changes, caller))
    placed = peek(vault, fact, caller)
    words = call.edited(placed.fact.fact)
    if words is None:
        raise InvalidInput("What to change is missing.", f"Example: {_EXAMPLES[0]}. At a terminal, an editor opens.")
    if words in ("", placed.fact.fact):
        return Answer({"facts": [], "outcome": [], "commit": None}, ["nothing changed; no commit was made"])
    return revised(supersede(vault, placed.fact.id, draft_from_record({"fact": words}, caller.now), caller))


_EXAMPLES = ("clawmem edit fact_1a2b --entity projects/atlas --tag launch", "clawmem edit fact_1a2b --pin")

VERB = Command(edit, REVISED, _EXAMPLES, ("facts",))
