"""What the verbs `lesson` and `decision` share: their parameters, and lists and searches of one category."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from clawmem.errors import AmbiguousId, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import entity_or_page, filter_of, reach_of
from clawmem.faces.parts.parameters import (
    FACT,
    LIMIT,
    OF_ENTITY,
    PROJECT,
    SCOPE,
    SINCE,
    UNTIL,
    WITH_TAG,
    WORKFLOW,
    Parameter,
)
from clawmem.faces.parts.words import changed_data, outcome_lines, plain_value
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import by_ids
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import fact_data, fact_line, helpful_and_harmful
from clawmem.model.facts.reach import FRAMEWORK, ORGANISATION, SCOPES, TEAM, check_scope
from clawmem.serving.answers import unknown_names
from clawmem.serving.browse import list_facts, show_fact
from clawmem.serving.recall.recall import LEAST_SCORE, recall
from clawmem.work.decisions import AddedRecord
from clawmem.work.session_end_records import WorkScope

WORKFLOW_OF_NEW = WORKFLOW._replace(help="The workflow that it is for (CLAWMEM_WORKFLOW).")
SCOPE_OF_NEW = SCOPE._replace(
    choices=SCOPES, help="Who sees it: {choices}; the default is the narrowest that is known."
)
PROJECT_OF_NEW = PROJECT._replace(
    help="The project that it is for (CLAWMEM_PROJECT); the default is that of this folder's repository."
)
ADDED = {
    "facts": ["fact"], "outcome": [{"added", "noop", "updated", "proposed"}], "commit": (str, None),
    "against": [{"id": str, "fact": str, "why": str}],
}  # fmt: skip


def work_scope(call: Call, workflow: str | None, scope: str | None, project: str | None) -> WorkScope:
    """What something new is for: from the options, else from the session in CLAWMEM_SESSION, else from the environment
    and the working folder."""
    check_scope(scope, "a workflow", "a project")
    runtime = call.runtime
    session = runtime.caller().session
    if session is not None and workflow is None and project is None:
        from clawmem.work.sessions.end import scope_of_session
        from clawmem.work.sessions.records import find_session

        try:
            return scope_of_session(find_session(runtime.vault(), session))
        except NotFound:
            pass  # a session of another program
    broad = scope in (TEAM, FRAMEWORK, ORGANISATION) and project is None
    return WorkScope(runtime.workflow(workflow), None if broad else runtime.project(project), session=session)


def added(record: AddedRecord) -> Answer:
    """The answer of a verb that adds a lesson or a decision."""
    fact = record.fact
    changed = [fact], [fact.outcome], record.commit
    against = [{"id": other.fact.id, "fact": other.fact.fact, "why": why} for other, why in record.against]
    return Answer({**changed_data(*changed), "against": against}, outcome_lines(*changed), record.notices)


def record_data(fact: Fact, entity: str, against: Sequence[str] = ()) -> dict[str, Any]:
    """The record of a lesson or a decision; a lesson has the counters `helpful` and `harmful`."""
    record = fact_data(fact, entity, against)
    if fact.category != "lesson":
        return record
    helpful, harmful = helpful_and_harmful(fact)
    return {**record, "helpful": helpful, "harmful": harmful}


def list_command(category: str, plural: str) -> Command:
    """The command that lists the facts of a category."""

    def list_(
        call: Call,
        entity: Annotated[str | None, OF_ENTITY],
        tag: Annotated[str | None, WITH_TAG],
        since: Annotated[str | None, SINCE],
        until: Annotated[str | None, UNTIL],
        limit: Annotated[int | None, LIMIT],
        workflow: Annotated[str | None, WORKFLOW],
        scope: Annotated[str | None, SCOPE],
        project: Annotated[str | None, PROJECT],
    ) -> Answer:
        vault, caller = call.runtime.vault(), call.runtime.caller()
        reach = reach_of(call, workflow, scope, project)
        place = entity_or_page(call, vault, entity, project, reach)
        wanted = filter_of(vault, caller, place, category, tag, since=since, until=until, reach=reach)
        listed = list_facts(vault, caller, wanted, limit)
        facts = [placed for placed, _ in listed.facts]
        nothing = f"There are no {plural}{' here' if listed.hidden else ''}."
        talk = [*([] if facts else [nothing]), *listed.scope_talk()]
        data = {"facts": [record_data(placed.fact, placed.entity) for placed in facts], "total": listed.total}
        named = reach if project and place == entity else None
        unknown = unknown_names(vault, caller, named, tag=None if facts else tag)
        lines = [fact_line(placed.fact, placed.entity) for placed in facts]
        return Answer(data, lines, (*listed.notices, *unknown), talk=talk)

    list_.__doc__ = f"List {plural}, those in use first."
    return Command(list_, {"facts": ["fact"], "total": int}, (f"clawmem {category} list",), ("facts",))


def show_command(category: str) -> Command:
    """The command that shows one fact of a category."""

    def show(call: Call, fact: Annotated[str, FACT]) -> Answer:
        vault, caller = call.runtime.vault(), call.runtime.caller()
        try:
            shown = show_fact(vault, fact, caller)
        except AmbiguousId as problem:
            placed = run_query(vault, partial(by_ids, fact_ids=problem.matches)).values()
            ids = [each.fact.id for each in placed if each.fact.category == category]
            if not ids:
                raise
            if len(ids) > 1:
                raise AmbiguousId(fact, ids, "Name one by its id.") from None
            shown = show_fact(vault, ids[0], caller)
        if shown.fact.category != category:
            raise NotFound(f"{shown.fact.id} is no {category}.", f"`clawmem show {shown.fact.id}` shows it.")
        record = record_data(shown.fact, shown.entity, shown.against)
        known = [*record.items(), *(record.get("details") or {}).items()]
        rows = [(key, value) for key, value in known if key != "details" and value not in (None, "", [], {})]
        return Answer({"fact": record}, [f"{key}: {plain_value(value)}" for key, value in rows], shown.notices)

    show.__doc__ = f"Show all that is known of a {category}."
    return Command(show, {"fact": "fact"}, (f"clawmem {category} show fact_{category}",), ("fact",))


def search_command(category: str, plural: str) -> Command:
    """The command that searches the facts of a category."""

    def search(
        call: Call,
        question: Annotated[str, Parameter("The question, or - for stdin.", stdin=True)],
        limit: Annotated[int | None, LIMIT],
        workflow: Annotated[str | None, WORKFLOW],
        scope: Annotated[str | None, SCOPE],
        project: Annotated[str | None, PROJECT],
    ) -> Answer:
        return found(call, question, category, plural, limit, (workflow, scope, project))

    search.__doc__ = f"Find the {plural} that fit a question or a task."
    return Command(search, FOUND, (f"clawmem {category} search 'uploads'",), ("facts",))


FOUND = {"facts": [{"...": "fact", "score": float}]}


def found(
    call: Call,
    question: str,
    category: str,
    plural: str,
    limit: int | None,
    scope: tuple[str | None, str | None, str | None],
) -> Answer:
    """The facts of a category that fit a question, best first, in the scope of the options."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    wanted = filter_of(vault, caller, category=category, reach=reach_of(call, *scope))
    result = recall(vault, question, caller, wanted, limit or 10, least=LEAST_SCORE)
    data = [{**record_data(hit.fact, hit.entity), "score": hit.score} for hit in result.found]
    talk = () if data else (f"No {plural} fit this.",)
    return Answer({"facts": data}, [fact_line(hit.fact, hit.entity) for hit in result.found], result.notices, talk=talk)
