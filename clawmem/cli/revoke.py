"""`clawmem revoke`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revoke import RevokeOrigin, RevokeResult
from clawmem.memory.facts.revoke import revoke as act
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.dates import parse_start
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal_file import proposal_to_record

_SHOWN = 20
_HOW = {
    "derived_from": "is derived from", "supports": "supports", "depends_on": "depends on", "merges": "merged",
    "supersedes": "superseded", "details": "names in its details",
}  # fmt: skip


def revoke(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Option(help="What came from this source; web is also web:example.org.")] = None,
    event: Annotated[str | None, typer.Option(help="What was learned from this event.")] = None,
    session: Annotated[str | None, typer.Option(help="What was said or kept in this session.")] = None,
    since: Annotated[str | None, typer.Option(help="What was recorded from this day or time on.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with each fact.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> int:
    """All that is named must hold; `--agent` names an origin here: what that agent kept or took in. What the withdrawn
    facts had replaced stands again; what had built on them is listed and stays. One commit; `undo` takes it back."""
    by = ctx.meta.pop("clawmem.agent", None)
    face = Face.of(ctx)
    caller = face.runtime.caller()
    origin = RevokeOrigin(source, event, session, by, parse_start(since, caller.now) if since else None)
    done = act(face.runtime.vault(), origin, caller, check_reason(reason), dry_run)
    data = {
        "origin": {key: value for key, value in origin._asdict().items() if value is not None},
        "facts": [fact_data(one.fact, one.entity) for one in done.facts],
        "outcome": list(done.outcome),
        "dependents": [
            {**fact_data(one.fact, entity), "relation": one.relation, "of": one.of} for one, entity in done.dependents
        ],
        "proposals": [proposal_to_record(one) for one in done.proposals],
        "events": list(done.events),
        "commit": done.commit,
        "dry_run": dry_run,
    }
    return face.done(data, _lines(done, dry_run), done.notices)


def _lines(done: RevokeResult, dry_run: bool) -> list[str]:
    said = {"retracted": "withdrawn", "restored": "stands again", "updated": "relinked"}
    lines = [
        f"{said[outcome]}: {fact_line(one.fact, one.entity)}"
        for outcome, one in zip(done.outcome, done.facts, strict=True)
    ]
    for one, entity in done.dependents:
        lines.append(f"stays, though it {_HOW[one.relation]} {one.of}: {fact_line(one.fact, entity)}")
    lines += [f"closed: {one.id}  {one.says}" for one in done.proposals]
    if done.events:
        named = ", ".join(done.events[:_SHOWN]) + (", ..." if len(done.events) > _SHOWN else "")
        lines.append(f"{counted(len(done.events), 'event')} set aside: {named}")
    lines.append(f"commit {done.commit[:12]}" if done.commit else "nothing was changed: this was a dry run")
    return lines
