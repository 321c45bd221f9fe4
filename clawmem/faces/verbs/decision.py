"""`clawmem decision add|list|show|search|precedent|outcome|export` and `clawmem lesson add|list|show|search|accept`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of, reach_of
from clawmem.faces.parts.parameters import (
    FACT,
    IMPORTANCE,
    LIMIT,
    OF_ENTITY,
    PROJECT,
    REASON,
    SCOPE,
    TAGS,
    WORKFLOW,
    Parameter,
)
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
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import fact_data, origin_warnings, outcomes_of, project_words
from clawmem.model.facts.gates import DECISION, DECISION_OUTCOMES
from clawmem.model.language.text import check_choice, counted
from clawmem.work.decisions import LESSON, accept_lesson, add_record, record_outcome
from clawmem.work.session_end_records import decision_record, lesson_record

_MOST_PRECEDENTS = 5


def add(
    call: Call,
    decided: Annotated[str | None, Parameter("What was decided, in one sentence, or - for stdin.", stdin=True)],
    why: Annotated[str | None, REASON._replace(flags=("--why", "--reason"))],
    alternatives: Annotated[
        list[str] | None,
        Parameter("An option that was rejected, and `: ` and why; may be repeated.", ("--alternative",)),
    ],
    used: Annotated[
        list[str] | None,
        Parameter("A fact that the decision rests on; may be repeated.", ("--used",), completes="fact"),
    ],
    against: Annotated[
        str | None, Parameter("An earlier decision that it goes against.", ("--against",), completes="fact")
    ],
    entity: Annotated[str | None, Parameter("The entity that it is about.", ("--entity", "-e"), completes="entity")],
    tags: Annotated[list[str] | None, TAGS],
    workflow: Annotated[str | None, WORKFLOW_OF_NEW],
    scope: Annotated[str | None, SCOPE_OF_NEW],
    project: Annotated[str | None, PROJECT_OF_NEW],
) -> Answer:
    """Store a decision. It is never edited: add its outcome later, or supersede it. One that goes against an earlier
    decision in its scope is linked to it."""
    place = work_scope(call, workflow, scope, project)
    if not decided or not why:
        missing = "The decision" if not decided else "The reason, --why,"
        raise InvalidInput(f"{missing} is missing.", "Example: clawmem decision add 'Stream.' --why 'Memory grew.'")
    options = [
        dict(zip(("option", "why"), map(str.strip, alternative.split(": ", 1)), strict=False))
        for alternative in alternatives or ()
    ]
    value = {
        "decided": decided,
        "why": why,
        "alternatives": options,
        "used": used,
        "against": against,
        "entity": entity,
    }
    caller = call.runtime.caller()
    record = decision_record({**value, "tags": tags, "scope": scope}, place, caller.agent)
    return added(add_record(call.runtime.vault(), record, caller))


def export(
    call: Call,
    target: Annotated[str, Parameter("The folder to write.", completes="file")],
    entity: Annotated[str | None, OF_ENTITY],
    force: Annotated[bool, Parameter("Replace files that exist.", ("--force",))],
) -> Answer:
    """Write the decisions as MADR 4 pages: a folder of numbered Markdown files, oldest first. Superseded decisions are
    written with the number of their successor. The same decisions give the same bytes."""
    from clawmem.faces.parts.reading import write_folder
    from clawmem.model.pages.madr import madr_pages
    from clawmem.serving.browse import export_memory

    memory = export_memory(call.runtime.vault(), call.runtime.caller(), entity, DECISION)
    placed = list(memory.facts())
    decisions = [(each.fact, each.entity) for each in placed if each.fact.category == DECISION]
    pages = madr_pages(decisions, {other_placed.fact.id: other_placed.fact for other_placed in placed})
    place = (call.runtime.working_folder / Path(target).expanduser()).resolve()
    write_folder(place, {page.name: page.text for page in pages}, force)
    data = {"target": str(place), "files": [page.name for page in pages]}
    return Answer(data, [f"{counted(len(pages), 'decision')} written to {place}"], memory.notices)


def outcome(
    call: Call,
    fact: Annotated[str, FACT],
    result: Annotated[str, Parameter("{choices}.", choices=DECISION_OUTCOMES)],
    note: Annotated[str | None, Parameter("What happened.", ("--note",))],
) -> Answer:
    """Append what became of a decision. The decision itself stays as it is."""
    check_choice(result, "outcome", DECISION_OUTCOMES)
    other_outcome = record_outcome(call.runtime.vault(), fact, result, call.runtime.caller(), note)
    return Answer(
        {"fact": fact_data(other_outcome.fact, other_outcome.entity), "commit": other_outcome.commit},
        [f"{result}: {other_outcome.fact.id}  {other_outcome.fact.fact}"],
        other_outcome.notices,
    )


def precedent(
    call: Call,
    task: Annotated[str, Parameter("The task, or - for stdin.", stdin=True)],
    limit: Annotated[int | None, LIMIT],
    workflow: Annotated[str | None, WORKFLOW],
    scope: Annotated[str | None, SCOPE],
    project: Annotated[str | None, PROJECT],
) -> Answer:
    """Find earlier decisions for a task, the most similar first, each with its reason, what was rejected, and what
    became of it."""
    from clawmem.serving.recall.recall import LEAST_SCORE, recall

    vault, caller = call.runtime.vault(), call.runtime.caller()
    wanted = filter_of(vault, caller, category=DECISION, reach=reach_of(call, workflow, scope, project))
    result = recall(vault, task, caller, wanted, limit or _MOST_PRECEDENTS, least=LEAST_SCORE)
    data = [
        {
            **fact_data(hit.fact, hit.entity),
            "score": hit.score,
            "outcomes": [dict(each) for each in outcomes_of(hit.fact)],
        }
        for hit in result.found
    ]
    lines = [line for hit in result.found for line in _precedent_lines(hit.fact)]
    talk = () if data else ("No earlier decision fits this task.",)
    return Answer({"facts": data}, lines, result.notices, talk=talk)


def _precedent_lines(fact: Fact) -> list[str]:
    details: Any = fact.details or {}
    about = "".join(f"  ({words})" for words in (*origin_warnings(fact), *project_words(fact)))
    lines = [f"{fact.id}  {fact.timestamp[:10]}  {fact.fact}{about}"]
    lines += [f"    why: {details['why']}"] if details.get("why") else []
    for alternative in details.get("alternatives", ()):
        lines.append(
            f"    not: {alternative.get('option', '')}{f' ({why})' if (why := alternative.get('why')) else ''}"
        )
    for each in outcomes_of(fact):
        note = each.get("note")
        lines.append(f"    {each.get('outcome')} {str(each.get('at', ''))[:10]}{f': {note}' if note else ''}")
    return lines


def add_lesson(
    call: Call,
    text: Annotated[str, Parameter("The lesson in one sentence, or - for stdin.", stdin=True)],
    because: Annotated[str | None, Parameter("What happened that taught it.", ("--because", "--reason"))],
    entity: Annotated[str | None, Parameter("The entity that it is about.", ("--entity", "-e"), completes="entity")],
    tags: Annotated[list[str] | None, TAGS],
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


VERBS = {
    "decision": {
        "add": Command(
            add,
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
        "precedent": Command(
            precedent,
            {"facts": [{"...": "fact", "score": float, "outcomes": [{str: object}]}]},
            ("clawmem decision precedent 'uploads of large files'",),
            ("facts",),
        ),
        "outcome": Command(
            outcome,
            {"fact": "fact", "commit": str},
            ("clawmem decision outcome fact_decision worked --note 'Memory is flat.'",),
            ("fact",),
        ),
        "export": Command(
            export,
            {"target": str, "files": [str]},
            ("clawmem decision export ./decisions",),
        ),
    },
    "lesson": {
        "add": Command(
            add_lesson,
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
    },
}
