"""`clawmem list`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of, point_in_time, reach_of
from clawmem.faces.parts.parameters import (
    AS_OF,
    AT,
    LIMIT,
    OF_CATEGORY,
    OF_ENTITY,
    PROJECT,
    SCOPE,
    SINCE,
    SUPERSEDED,
    UNTIL,
    WITH_TAG,
    WORKFLOW,
    Parameter,
)
from clawmem.index.search.channels import FactFilter
from clawmem.model.facts.fact import STATUSES
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.lifecycle.tiers import TIERS
from clawmem.model.records.caller import Caller
from clawmem.serving.answers import unknown_names
from clawmem.serving.browse import list_facts, list_stale
from clawmem.vault.vault import Vault

# How many facts a person sees where no number is given.
_SHOWN = 50


def list_(
    call: Call,
    entity: Annotated[str | None, OF_ENTITY],
    category: Annotated[str | None, OF_CATEGORY],
    tag: Annotated[str | None, WITH_TAG],
    tier: Annotated[str | None, Parameter("{choices}.", ("--tier",), choices=TIERS)],
    status: Annotated[str | None, Parameter("{choices}.", ("--status",), choices=STATUSES)],
    as_of: Annotated[str | None, AS_OF],
    at: Annotated[str | None, AT],
    include_superseded: Annotated[bool, SUPERSEDED],
    limit: Annotated[int | None, LIMIT._replace(help="The maximum number of facts. A person sees 50 by default.")],
    every: Annotated[bool, Parameter("List all facts.", ("--all",))],
    workflow: Annotated[str | None, WORKFLOW],
    scope: Annotated[str | None, SCOPE],
    project: Annotated[str | None, PROJECT],
    since: Annotated[str | None, SINCE],
    until: Annotated[str | None, UNTIL],
    stale: Annotated[bool, Parameter("Only facts that somebody should check, each with the reason.", ("--stale",))],
) -> Answer:
    """A person sees the newest facts first, and those of a named project before everybody's; a program gets hot facts
    first, then warm, then cold. A fact is stale if its day for review has passed, its source
    was revoked, redacted or changed, what it rests on was replaced or withdrawn, or nobody has used it for 180
    days; with --stale, the most important are first."""
    _check("tier", tier, TIERS)
    _check("status", status, STATUSES)
    here = point_in_time(call, at)
    replaced = include_superseded or status in STATUSES[1:3]
    reach = reach_of(call, workflow, scope, project)
    wanted = filter_of(here.vault, here.caller, entity, category, tag, as_of, replaced, since, until, reach)
    if stale:
        if tier or status or at or as_of or include_superseded:
            raise InvalidInput("--stale takes no tier, status or time.", "It lists current facts.")
        return _stale(here.vault, here.caller, wanted, limit or (None if every else _SHOWN))
    if limit is None and not every and not call.wants_data():
        limit = _SHOWN
    listed = list_facts(here.vault, here.caller, wanted, limit, tier, status, newest=not call.wants_data())
    data = {
        "facts": [
            {**fact_data(hit.fact, hit.entity, listed.conflicts.get(hit.fact.id, ())), "tier": heat}
            for hit, heat in listed.facts
        ],
        "total": listed.total,
        **here.data,
    }
    # A tier that all facts share says nothing.
    tiers = len({heat for _, heat in listed.facts}) > 1
    lines = [
        f"{f'{heat:<4}  ' if tiers else ''}{fact_line(hit.fact, hit.entity, listed.conflicts.get(hit.fact.id, ()))}"
        for hit, heat in listed.facts
    ]
    own = sum(hit.fact.project is not None for hit, _ in listed.facts)
    rest = (
        [f"{own:,} of the project, then {len(lines) - own:,} of everybody"] if project and 0 < own < len(lines) else []
    )
    talk = [*_talk(listed.total, len(lines), "No fact matches."), *rest, *listed.scope_talk()]
    unfound = (None, None) if lines else (category, tag)
    unknown = unknown_names(here.vault, here.caller, reach if project else None, *unfound)
    return Answer(data, lines, (*here.notices, *listed.notices, *unknown), talk=talk)


def _stale(vault: Vault, caller: Caller, wanted: FactFilter, limit: int | None) -> Answer:
    listed = list_stale(vault, caller, wanted, limit)
    facts = [{**fact_data(placed.fact, placed.entity), "why": why} for placed, why in listed.facts]
    lines = [f"{fact_line(placed.fact, placed.entity)}  {why}" for placed, why in listed.facts]
    return Answer(
        {"facts": facts, "total": listed.total}, lines, talk=_talk(listed.total, len(lines), "No fact is stale.")
    )


def _talk(total: int, shown: int, nothing: str) -> list[str]:
    if not shown:
        return [nothing]
    return [f"... and {total - shown:,} more; `--limit N` or `--all`"] if total > shown else []


def _check(what: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise InvalidInput(f"'{value}' is not a {what}.", f"Choose one of {', '.join(allowed)}.")


VERB = Command(
    list_,
    (
        {"facts": [{"...": "fact", "tier": set(TIERS)}], "total": int, "at?": "point"},
        {"facts": [{"...": "fact", "why": str}], "total": int},
    ),
    (
        "clawmem list --entity areas/people/jane",
        "clawmem list --since 'last week'",
        "clawmem list --stale --category lesson",
    ),
    ("facts",),
)
