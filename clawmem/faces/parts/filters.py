"""The options that filter facts, and the point in time for which a question is asked."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from clawmem.errors import ClawmemError, InvalidInput, NotFound
from clawmem.faces.parts.command import Call
from clawmem.index.search.channels import FactFilter
from clawmem.model.facts.fact import FACT_PREFIX
from clawmem.model.facts.reach import (
    EVERY_SCOPE,
    FRAMEWORK,
    ORGANISATION,
    PROJECT,
    SCOPES,
    TEAM,
    Reach,
    check_scope,
)
from clawmem.model.language.dates import day_of, parse_end, parse_start, parse_state
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import slug, visible_owners
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import may_be_edited


def filter_of(
    vault: Vault,
    caller: Caller,
    entity: str | None = None,
    category: str | None = None,
    tag: str | None = None,
    as_of: str | None = None,
    superseded: bool = False,
    since: str | None = None,
    until: str | None = None,
    reach: Reach | None = None,
) -> FactFilter:
    """The filter for some options; an agent sees the global facts and its own.

    Raises InvalidInput where one is empty, and what `entity_asked` does where the entity is not one of this vault.
    """
    if caller.agent is not None:
        from clawmem.memory.permission import check_reads

        check_reads(vault, caller)
    for name, value in (("entity", entity), ("category", category), ("tag", tag), ("as-of", as_of)):
        if value is not None and not value.strip():
            raise InvalidInput(f"--{name} is empty.", "Give it a value or leave it out.")
    if entity is not None:
        from clawmem.memory.entities.places import find_readable_entity  # most calls ask for no entity

        entity = find_readable_entity(vault, entity, caller)
    first, last = _days(since, until, caller)
    return FactFilter(
        owners=visible_owners(caller.agent, entity),
        entity=entity,
        category=category.lower() if category is not None else None,
        tag=tag,
        as_of=parse_state(as_of, caller.now) if as_of is not None else None,
        superseded=superseded,
        since=first,
        until=last,
        reach=reach,
    )


def since_of(call: Call, since: str | None) -> str:
    """The first moment that is asked for, to be compared with written times; an empty text if none is."""
    return parse_start(since, call.runtime.now()) if since else ""


def _days(since: str | None, until: str | None, caller: Caller) -> tuple[str | None, str | None]:
    """The first and the last day that are asked for. Raise InvalidInput where the last is before the first."""
    first = day_of(parse_start(since, caller.now)) if since is not None else None
    last = day_of(parse_end(until, caller.now)) if until is not None else None
    if first and last and last < first:
        raise InvalidInput(f"--until ({last}) is before --since ({first}).", "Swap the two dates, or drop one.")
    return first, last


def reach_of(call: Call, workflow: str | None, scope: str | None, project: str | None) -> Reach | None:
    """The scope of a query: from its options, else from CLAWMEM_WORKFLOW and CLAWMEM_PROJECT, else from the session in
    CLAWMEM_SESSION. Where none of them names one, the facts of other projects are hidden in a repository. None, which
    sees every scope, outside a repository and with the scope `all`.

    Raises InvalidInput for a scope that lacks its workflow or its project."""
    runtime = call.runtime
    if scope == EVERY_SCOPE:
        if workflow is not None or project is not None:
            raise InvalidInput("'--scope all' sees every workflow and project.", "Leave --workflow and --project out.")
        return None
    if workflow is None and scope is None and project is None and not runtime.names_scope():
        session = runtime.caller().session
        if session is not None:
            from clawmem.work.sessions.records import reach_of_session  # only in a session

            of_session = reach_of_session(runtime.vault(), session)
            if of_session is not None:
                return of_session
        here = runtime.repository_project()
        joined = runtime.joined_projects(here)
        return None if here is None else Reach(project=here, others_hidden=True, joined=joined)
    named = runtime.workflow(workflow)
    where = None if scope in (FRAMEWORK, ORGANISATION, TEAM) and project is None else runtime.project(project)
    check_scope(scope, named, where, (*SCOPES, EVERY_SCOPE))
    return Reach(named, where, scope or PROJECT, joined=runtime.joined_projects(where))


def entity_or_page(
    call: Call, vault: Vault, entity: str | None, project: str | None, reach: Reach | None
) -> str | None:
    """The entity that is asked for, else the page of a project that a person names and no fact has.

    Raises NotFound where there is no such page. A repository, and the project of the environment, may have nothing
    yet."""
    name, caller = (project or "").removeprefix("projects/"), call.runtime.caller()
    if not name or "/" in name or reach is None or caller.agent or reach.project == call.runtime.project():
        return entity
    from clawmem.memory.entities.places import find_readable_entity  # few calls name a project
    from clawmem.serving.answers import unknown_names

    unknown = unknown_names(vault, caller, reach)
    try:
        return entity or find_readable_entity(vault, f"projects/{slug(name)}", caller) if unknown else entity
    except NotFound:
        hint = unknown[0].partition(f"'{reach.project}'. ")[2] or "`clawmem list` lists all facts."
        raise NotFound(f"No fact and no entity has the project '{reach.project}'.", hint) from None


def named_entity(vault: Vault, text: str | None, caller: Caller) -> str | None:
    """The entity that a text names, where a fact or an entity may be named; None for an id and for other words."""
    from clawmem.memory.entities.places import find_readable_entity  # facts are named by their ids

    with suppress(ClawmemError):
        return find_readable_entity(vault, text, caller) if text and not text.startswith(FACT_PREFIX) else None
    return None


class PointInTime(NamedTuple):
    """The vault to read and who asks it, with the clock of that time; what the result has to say of it."""

    vault: Vault
    caller: Caller
    data: Mapping[str, Any] = MappingProxyType({})
    notices: tuple[str, ...] = ()


def point_in_time(call: Call, at: str | None) -> PointInTime:
    """Today's vault and caller, or those of the point that `at` names; raises where there is no such point."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    if at is None:
        return PointInTime(vault, caller, notices=_edits_by_hand(vault, caller))
    from clawmem.memory.history.compare import open_past

    then = open_past(vault, caller, at)
    return PointInTime(then.vault, then.caller, {"at": then.point._asdict()}, then.notices)


def _edits_by_hand(vault: Vault, caller: Caller) -> tuple[str, ...]:
    """Commit what a person edited since the last commit, so that the question finds it. What an agent finds is left
    to the next write of a person."""
    if caller.agent is not None or not may_be_edited(vault):
        return ()
    from clawmem.memory.writing import adopt_edits  # most reads find no edit

    return adopt_edits(vault, caller)


def mark_session(here: PointInTime, fact_ids: Sequence[str]) -> None:
    """Record in the session of CLAWMEM_SESSION, if it is one of this vault, that facts were shown."""
    if here.caller.session is None or here.data:
        return
    from clawmem.work.sessions.notes import mark_served  # only in a session

    mark_served(here.vault, here.caller, fact_ids)
