"""`clawmem lesson add|list|show|search|accept`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, IMPORTANCE, REASON, Parameter
from clawmem.faces.parts.records_of_work import (
    ADDED,
    PROJECT_OF_NEW,
    SCOPE_OF_NEW,
    WORKFLOW_OF_NEW,
    added,
    list_command,
    search_command,
    show_command,
    work_scope,
)
from clawmem.faces.parts.words import REVISED, revised
from clawmem.work.decisions import accept_lesson, add_record
from clawmem.work.session_end_records import LESSON, lesson_record


def add(
    call: Call,
    text: Annotated[str, Parameter("The lesson in one sentence, or - for stdin.", stdin=True)],
    because: Annotated[str | None, Parameter("What happened that taught it.", ("--because",))],
    entity: Annotated[str | None, Parameter("The entity that it is about.", ("--entity", "-e"), completes="entity")],
    tags: Annotated[list[str] | None, Parameter("A tag; may be repeated.", ("--tag", "-t"))],
    importance: Annotated[float | None, IMPORTANCE],
    workflow: Annotated[str | None, WORKFLOW_OF_NEW],
    scope: Annotated[str | None, SCOPE_OF_NEW],
    project: Annotated[str | None, PROJECT_OF_NEW],
) -> Answer:
    """Store a rule for next time. In a session, it has the session's scope."""
    value = {"text": text, "because": because, "entity": entity, "tags": tags, "importance": importance, "scope": scope}
    caller = call.runtime.caller()
    record = lesson_record(value, work_scope(call, workflow, scope, project), caller.agent)
    return added(add_record(call.runtime.vault(), record, caller))


def accept(call: Call, fact: Annotated[str, FACT], reason: Annotated[str | None, REASON]) -> Answer:
    """Accept a lesson of an agent: it is no longer labelled as not reviewed. Only a person can, who is a reviewer of it
    (`review.routes`)."""
    return revised(accept_lesson(call.runtime.vault(), fact, call.runtime.caller(), reason))


VERB = {
    "add": Command(
        add,
        ADDED,
        ("clawmem lesson add 'Run the migrations before the tests.' --because 'A column was missing.'",),
        ("facts",),
    ),
    "list": list_command(LESSON, "lessons"),
    "show": show_command(LESSON),
    "search": search_command(LESSON, "lessons"),
    "accept": Command(
        accept,
        REVISED,
        ("clawmem lesson accept fact_lesson --reason 'seen it twice'",),
        ("facts",),
        person="says that a person agrees",
    ),
}
