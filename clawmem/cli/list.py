"""`clawmem list`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.filters import filter_of
from clawmem.cli.standpoint import AS_OF_HELP, AT_HELP, standpoint
from clawmem.errors import InvalidInput
from clawmem.model.facts.fact import STATUSES
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.lifecycle.tiers import TIERS
from clawmem.serving.browse import list_facts


def list_command(
    ctx: typer.Context,
    entity: Annotated[str | None, typer.Option("--entity", "-e", help="Only facts of this entity.")] = None,
    category: Annotated[str | None, typer.Option("--category", "-c", help="Only facts of this category.")] = None,
    tag: Annotated[str | None, typer.Option("--tag", "-t", help="Only facts with this tag.")] = None,
    tier: Annotated[str | None, typer.Option(help="hot, warm or cold.")] = None,
    status: Annotated[str | None, typer.Option(help="active, superseded, retracted or archived.")] = None,
    as_of: Annotated[str | None, typer.Option(help=AS_OF_HELP)] = None,
    at: Annotated[str | None, typer.Option(help=AT_HELP)] = None,
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Replaced and withdrawn facts too, labelled.")
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="How many facts.", min=1)] = None,
) -> int:
    """Hot facts come first, then warm, then cold."""
    face = Face.of(ctx)
    _check("tier", tier, TIERS)
    _check("status", status, STATUSES)
    here = standpoint(face, at)
    replaced = include_superseded or status in STATUSES[1:3]
    wanted = filter_of(here.vault, here.caller, entity, category, tag, as_of, replaced)
    listed = list_facts(here.vault, here.caller, wanted, limit, tier, status)
    data = {
        "facts": [{**fact_data(one.fact, one.entity), "tier": heat} for one, heat in listed.facts],
        "total": listed.total,
        **here.data,
    }
    lines = [f"{heat:<4}  {fact_line(one.fact, one.entity)}" for one, heat in listed.facts]
    more = listed.total - len(listed.facts)
    talk = [f"{more:,} more; show them with a higher --limit"] if more else []
    if not lines:
        talk.append("There are no such facts.")
    return face.done(data, lines, (*here.notices, *listed.notices), talk=talk)


def _check(what: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise InvalidInput(f"'{value}' is not a {what}.", f"Choose one of {', '.join(allowed)}.")
