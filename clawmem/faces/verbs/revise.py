"""`clawmem supersede`, `edit`, `merge` and `link`: a fact changes, or is tied to another."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

from clawmem.errors import InvalidInput, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import (
    CATEGORY,
    CONFIDENCE,
    EVIDENCE,
    FACT,
    IMPORTANCE,
    REASON,
    SOURCE,
    TRUST,
    VALID_TO,
    Parameter,
)
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts import revise as acts
from clawmem.memory.facts.claims import deprecate
from clawmem.memory.facts.revise import FactEdit, check_reason
from clawmem.model.facts.draft import LINKED_BY_HAND, draft_from_record
from clawmem.model.facts.fact import FACT_PREFIX
from clawmem.serving.browse import peek

_CHANGED = "clawmem supersede fact_1a2b 'Jane lives in Bergen.' --reason 'She moved.' --valid-from 2026-11-01"
_ANNOUNCED = "clawmem supersede fact_1a2b --for fact_5e6f --until 2026-12-31"


def supersede(
    call: Call,
    fact: Annotated[str, FACT._replace(help="The id of the fact to replace, or a unique prefix.")],
    text: Annotated[str | None, Parameter("What is true now, or - for stdin.", stdin=True)],
    reason: Annotated[str | None, Parameter("Why it changed.", ("--reason", "--why"))],
    valid_from: Annotated[
        str | None, Parameter("The day or time from which the new fact is true (default: now).", ("--valid-from",))
    ],
    object: Annotated[str | None, Parameter("The new other end of the relation.", ("--object",))],
    category: Annotated[str | None, CATEGORY],
    tags: Annotated[list[str] | None, Parameter("A further tag; may be repeated.", ("--tag", "-t"))],
    confidence: Annotated[float | None, CONFIDENCE],
    importance: Annotated[float | None, IMPORTANCE],
    source: Annotated[str | None, SOURCE],
    trust: Annotated[str | None, TRUST],
    source_text: Annotated[str | None, EVIDENCE],
    instead: Annotated[
        str | None, Parameter("A stored fact that takes its place after --until.", ("--for",), completes="fact")
    ],
    until: Annotated[str | None, Parameter("The last day of the fact, with --for.", ("--until",), metavar="DATE")],
) -> Answer:
    """The old fact remains in the vault, marked, with a pointer to the new one. Its validity ends when that of the new
    fact begins. A statement of a tool or the web that contradicts a person or an agent waits for review instead.
    `retract` is for what was never true, `supersede` for what changed, `forget` for what shall not be told, `redact`
    for a secret.

    With --for and --until, the change is announced: up to and with the day, the fact is served with a warning that
    names the new one. After it, the heartbeat archives the fact and marks what rests on it. `undo` takes that back. An
    agent that announces the end of what a person stated files a proposal."""
    argument = dict(locals())
    for name in ("call", "fact", "text", "reason", "instead", "until"):
        del argument[name]
    caller = call.runtime.caller()
    values = {key: value for key, value in argument.items() if value is not None}
    if instead is not None or until is not None:
        if instead is None or until is None or text is not None or values:
            raise InvalidInput(
                "An announced change takes a fact, --for, --until and --reason.", f"Example: {_ANNOUNCED}."
            )
        return revised(deprecate(call.runtime.vault(), fact, instead, until, caller, check_reason(reason)))
    if text is None:
        raise InvalidInput("What is true now is missing.", f"Example: {_CHANGED}.")
    record = {"fact": text, **values}
    draft = draft_from_record(record, caller.now)
    try:
        return revised(acts.supersede(call.runtime.vault(), fact, draft, caller, check_reason(reason)))
    except NotFound as problem:
        if text.startswith(FACT_PREFIX):
            problem.hint = f"The fact comes first: `clawmem supersede {text} {quote(fact)}`."
        raise


def edit(
    call: Call,
    fact: Annotated[str, FACT],
    text: Annotated[str | None, Parameter("Its new words, or - for stdin.", stdin=True)],
    entity: Annotated[
        str | None, Parameter("Move it to this entity, known or new.", ("--entity", "-e"), completes="entity")
    ],
    tag: Annotated[list[str] | None, Parameter("Add a tag; may be repeated.", ("--tag", "-t"))],
    untag: Annotated[list[str] | None, Parameter("Remove a tag; may be repeated.", ("--untag",))],
    pin: Annotated[bool, Parameter("Let it never fade, and be in each context.", ("--pin",))],
    unpin: Annotated[bool, Parameter("Take that back.", ("--unpin",))],
    valid_to: Annotated[str | None, VALID_TO],
    reason: Annotated[str | None, REASON._replace(help="Why it is so; or, with new words, why they replace the old.")],
) -> Answer:
    """New words replace the fact as `supersede` does: the former words remain in the vault, marked. Without words and
    options, the fact opens in `$VISUAL` or `$EDITOR`. With options, the words stay, and the fact is moved, tagged,
    pinned, ended or explained. Each is one commit, which `undo` reverts."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    if pin and unpin:
        raise InvalidInput("A fact cannot be pinned and unpinned at once.", "Leave out one of the two.")
    why = check_reason(reason)
    if entity or tag or untag or pin or unpin or valid_to or (why and text is None):
        if text is not None:
            raise InvalidInput("Options leave the words as they are.", "Give either new words or options.")
        pinned = True if pin else False if unpin else None
        changes = FactEdit(entity, tuple(tag or ()), tuple(untag or ()), pinned, valid_to, why)
        return revised(acts.edit(vault, fact, changes, caller))
    placed = peek(vault, fact, caller)
    words = " ".join(text.split()) if text is not None else call.edited(placed.fact.fact)
    if words is None:
        raise InvalidInput("What to change is missing.", f"Example: {_EDITS[1]}. At a terminal, an editor opens.")
    if words in ("", placed.fact.fact):
        return Answer({"facts": [], "outcome": [], "commit": None}, ["nothing changed; no commit was made"])
    return revised(acts.supersede(vault, placed.fact.id, draft_from_record({"fact": words}, caller.now), caller, why))


_EDITS = ("clawmem edit fact_1a2b --entity projects/atlas --pin", "clawmem edit fact_1a2b 'Jane lives in Bergen.'")


def merge(
    call: Call,
    facts: Annotated[list[str], FACT._replace(help="The ids of two or more facts to merge.")],
    into: Annotated[str, Parameter("The statement of the new fact, or - for stdin.", ("--into",), stdin=True)],
    reason: Annotated[str | None, Parameter("Why the facts are merged.", ("--reason",))],
    category: Annotated[str | None, CATEGORY],
    importance: Annotated[float | None, IMPORTANCE],
) -> Answer:
    """The merged facts remain in the vault, marked as superseded, with a pointer to the new one."""
    caller = call.runtime.caller()
    record = {"fact": into, "category": category, "importance": importance}
    draft = draft_from_record({key: value for key, value in record.items() if value is not None}, caller.now)
    return revised(acts.merge(call.runtime.vault(), facts, draft, caller, check_reason(reason)))


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
    return revised(acts.link(call.runtime.vault(), fact, kind, target, caller, check_reason(reason), instead))


VERBS = {
    "supersede": Command(
        supersede,
        REVISED,
        (_ANNOUNCED, _CHANGED),
        ("facts",),
    ),
    "edit": Command(edit, REVISED, _EDITS, ("facts",)),
    "merge": Command(
        merge,
        REVISED,
        ("clawmem merge fact_1a2b fact_5e6f --into 'Jane lives in Oslo, in Grünerløkka.'",),
        ("facts",),
    ),
    "link": Command(
        link,
        REVISED,
        ("clawmem link fact_1a2b fact_5e6f --type supports --reason 'The letter says so.'",),
        ("facts",),
    ),
}
