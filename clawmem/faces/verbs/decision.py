"""`clawmem decision add|list|show|search|outcome`."""

from __future__ import annotations

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.faces.parts.records_of_work import (
    ADDED,
    SCOPE_OF_NEW,
    added,
    list_command,
    search_command,
    show_command,
    work_scope,
)
from clawmem.model.facts.fact_words import fact_data
from clawmem.model.facts.precedents import DECISION, DECISION_OUTCOMES
from clawmem.work.decisions import add_record, record_outcome
from clawmem.work.handed_in import decision_record


def add(
    call: Call,
    decided: str,
    why: str,
    alternatives: list[str] | None,
    used: list[str] | None,
    against: str | None,
    entity: str | None,
    tags: list[str] | None,
    workflow: str | None,
    scope: str | None,
    project: str | None,
) -> Answer:
    """Store a decision. It is never edited: add its outcome later, or supersede it. One that goes against an earlier
    decision in its scope is linked to it."""
    options = [
        dict(zip(("option", "why"), map(str.strip, one.split(": ", 1)), strict=False)) for one in alternatives or ()
    ]
    held = {"decided": decided, "why": why, "alternatives": options, "used": used, "against": against, "entity": entity}
    record = decision_record({**held, "tags": tags, "scope": scope}, work_scope(call, workflow, scope, project))
    return added(add_record(call.runtime.vault(), record, call.runtime.caller()))


def outcome(call: Call, fact: str, result: str, note: str | None) -> Answer:
    """Append what became of a decision. The decision itself stays as it is."""
    if result not in DECISION_OUTCOMES:
        raise InvalidInput(f"'{result}' is not an outcome.", f"Choose one of {', '.join(DECISION_OUTCOMES)}.")
    done = record_outcome(call.runtime.vault(), fact, result, call.runtime.caller(), note)
    data = {"fact": fact_data(done.fact, done.entity), "commit": done.commit}
    return Answer(data, [f"{result}: {done.fact.id}  {done.fact.fact}", f"commit {done.commit[:12]}"], done.notices)


VERB = {
    "add": Command(
        add,
        (
            Parameter("decided", "What was decided, in one sentence, or - for stdin.", required=True, stdin=True),
            Parameter("why", "The reason.", ("--why",), required=True),
            Parameter(
                "alternatives",
                "An option that was rejected, and `: ` and why; may be repeated.",
                ("--alternative",),
                repeated=True,
            ),
            Parameter(
                "used",
                "A fact that the decision rests on; may be repeated.",
                ("--used",),
                repeated=True,
                completes="fact",
            ),
            Parameter("against", "An earlier decision that it goes against.", ("--against",), completes="fact"),
            Parameter("entity", "The entity that it is about.", ("--entity", "-e"), completes="entity"),
            Parameter("tags", "A tag; may be repeated.", ("--tag", "-t"), repeated=True),
            *SCOPE_OF_NEW,
        ),
        ADDED,
        (
            "clawmem decision add 'Stream the uploads.' --why 'Memory grew with the file.'"
            " --alternative 'a larger buffer: it only moves the limit'",
        ),
        ("facts",),
    ),
    "list": list_command(DECISION, "decisions"),
    "show": show_command(DECISION),
    "search": search_command(DECISION, "decisions"),
    "outcome": Command(
        outcome,
        (
            FACT,
            Parameter("result", "{choices}.", required=True, choices=DECISION_OUTCOMES),
            Parameter("note", "What happened.", ("--note",)),
        ),
        {"fact": "fact", "commit": str},
        ("clawmem decision outcome fact_decision worked --note 'Memory is flat.'",),
        ("fact",),
    ),
}
