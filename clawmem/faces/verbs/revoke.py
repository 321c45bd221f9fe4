"""`clawmem revoke`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
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
    call: Call,
    source: Annotated[
        str | None, Parameter("Facts from this source; web also matches web:example.org.", ("--source",))
    ],
    event: Annotated[str | None, Parameter("Facts learned from this event.", ("--event",))],
    session: Annotated[str | None, Parameter("Facts and events of this session.", ("--session",))],
    agent: Annotated[
        str | None,
        Parameter(
            "Facts and events that this agent stored or imported.", ("--agent",), metavar="ID", completes="agent"
        ),
    ],
    since: Annotated[str | None, Parameter("Facts and events recorded from this day or time on.", ("--since",))],
    reason: Annotated[str | None, Parameter("The reason; it is stored with each fact.", ("--reason",))],
    dry_run: Annotated[bool, DRY_RUN._replace(help="Show what would change; change nothing.")],
) -> Answer:
    """If several options are given, all of them must match. `--agent` is an origin here: everything that this agent
    stored or imported. Facts that the withdrawn ones had replaced become active again. Facts that merged them, or
    that a program or an agent derived from them, are withdrawn too; what else depends on them is listed, and marked as
    in doubt. The command makes one commit; `undo` reverts it."""
    caller = call.runtime.caller()
    origin = RevokeOrigin(source, event, session, agent, parse_start(since, caller.now) if since else None)
    done = act(call.runtime.vault(), origin, caller, check_reason(reason), dry_run)
    data = {
        "origin": {key: value for key, value in origin._asdict().items() if value is not None},
        "facts": [fact_data(one.fact, one.entity) for one in done.facts],
        "outcome": list(done.outcome),
        "dependents": [
            {**fact_data(one.fact, entity), "relation": one.relation, "of": one.of} for one, entity in done.dependents
        ],
        "proposals": [proposal_to_record(one) for one in done.proposals],
        "events": list(done.events),
        "sessions": list(done.sessions),
        "commit": done.commit,
        "dry_run": dry_run,
    }
    return Answer(data, _lines(done, dry_run), done.notices)


def _lines(done: RevokeResult, dry_run: bool) -> list[str]:
    said = {"retracted": "withdrawn", "restored": "active again", "updated": "relinked"}
    would = "would be " if dry_run else ""
    lines = [
        f"{would}{said[outcome]}: {fact_line(one.fact, one.entity)}"
        for outcome, one in zip(done.outcome, done.facts, strict=True)
    ]
    for one, entity in done.dependents:
        lines.append(f"not changed, though it {_HOW[one.relation]} {one.of}: {fact_line(one.fact, entity)}")
    lines += [f"{would}closed: {one.id}  {one.says}" for one in done.proposals]
    if done.events:
        named = ", ".join(done.events[:_SHOWN]) + (", ..." if len(done.events) > _SHOWN else "")
        lines.append(f"{counted(len(done.events), 'event')} {would}excluded: {named}")
    lines += [f"session {would}revoked: {one}" for one in done.sessions]
    lines.append(f"commit {done.commit[:12]}" if done.commit else "dry run; nothing was changed")
    return lines


VERB = Command(
    revoke,
    {
        "origin": {name + "?": str for name in RevokeOrigin._fields},
        "facts": ["fact"],
        "outcome": [{"retracted", "restored", "updated"}],
        "dependents": [{"...": "fact", "relation": set(_HOW), "of": str}],
        "proposals": ["proposal"],
        "events": [str],
        "sessions": [str],
        "commit": (str, None),
        "dry_run": bool,
    },
    (
        "clawmem revoke --source web:acme.example --dry-run",
        "clawmem revoke --session s-1182 --reason 'the page was poisoned'",
        "clawmem revoke --agent scout --since 2026-11-20",
    ),
    ("facts",),
    person=lambda given: "" if given["dry_run"] else "withdraws what others said",
)
