"""`clawmem retract`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, FACT, Parameter
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import retract as act
from clawmem.memory.facts.revoke import RevokeOrigin, RevokeResult, revoke
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.dates import parse_start
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import proposal_to_record

_SHOWN = 20
_HOW = {
    "derived_from": "is derived from", "supports": "supports", "depends_on": "depends on", "merges": "merged",
    "supersedes": "superseded", "details": "names in its details",
}  # fmt: skip


def retract(
    call: Call,
    fact: Annotated[str | None, FACT._replace(help="The id of a fact, or a unique prefix.")],
    reason: Annotated[str | None, Parameter("Why it was not true; it is stored with each fact.", ("--reason",))],
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
    dry_run: Annotated[bool, DRY_RUN._replace(help="Of an origin, show what would change; change nothing.")],
) -> Answer:
    """The fact remains in the vault and in history, but recall and context no longer return it.
    `retract` is for what was never true, `supersede` for what changed, `forget` for what shall not be told, `redact`
    for a secret.

    Without a fact, everything that came from one origin is withdrawn. If several options are given, all of them must
    match. `--agent` is an origin then: everything that this agent stored or imported. Facts that the withdrawn ones had
    replaced become active again. Facts that merged them, or that a program or an agent derived from them, are withdrawn
    too; what else depends on them is listed, and marked as in doubt. The command makes one commit; `undo` reverts
    it."""
    if fact is None:
        start = parse_start(since, call.runtime.now()) if since else None
        return _revoked(call, RevokeOrigin(source, event, session, agent, start), reason, dry_run)
    if source or event or session or since or dry_run:
        raise InvalidInput("A fact cannot be combined with an origin or --dry-run.", "Name a fact, or an origin.")
    runtime = call.runtime
    if agent is not None:
        runtime = runtime.for_agent(agent)
        runtime.check_verb("retract")
    return revised(act(runtime.vault(), fact, runtime.caller(), check_reason(reason)))


def _revoked(call: Call, origin: RevokeOrigin, reason: str | None, dry_run: bool) -> Answer:
    result = revoke(call.runtime.vault(), origin, call.runtime.caller(), check_reason(reason), dry_run)
    data = {
        "origin": {key: value for key, value in origin._asdict().items() if value is not None},
        "facts": [fact_data(placed.fact, placed.entity) for placed in result.facts],
        "outcome": list(result.outcome),
        "dependents": [
            {**fact_data(dependent_fact.fact, entity), "relation": dependent_fact.relation, "of": dependent_fact.of}
            for dependent_fact, entity in result.dependents
        ],
        "proposals": [proposal_to_record(proposal) for proposal in result.proposals],
        "events": list(result.events),
        "sessions": list(result.sessions),
        "commit": result.commit,
        "dry_run": dry_run,
    }
    return Answer(data, _lines(result, dry_run), result.notices)


def _lines(result: RevokeResult, dry_run: bool) -> list[str]:
    record = {"retracted": "withdrawn", "restored": "active again", "updated": "relinked"}
    would = "would be " if dry_run else ""
    lines = [
        f"{would}{record[outcome]}: {fact_line(placed.fact, placed.entity)}"
        for outcome, placed in zip(result.outcome, result.facts, strict=True)
    ]
    for resting, entity in result.dependents:
        lines.append(f"not changed, though it {_HOW[resting.relation]} {resting.of}: {fact_line(resting.fact, entity)}")
    lines += [f"{would}closed: {proposal.id}  {proposal.says}" for proposal in result.proposals]
    if result.events:
        named = ", ".join(result.events[:_SHOWN]) + (", ..." if len(result.events) > _SHOWN else "")
        lines.append(f"{counted(len(result.events), 'event')} {would}excluded: {named}")
    lines += [f"session {would}revoked: {session}" for session in result.sessions]
    lines.append(f"commit {result.commit[:12]}" if result.commit else "dry run; nothing was changed")
    return lines


VERB = Command(
    retract,
    (
        REVISED,
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
    ),
    (
        "clawmem retract fact_1a2b --reason 'It was another Jane.'",
        "clawmem retract --source web:acme.example --dry-run",
        "clawmem retract --agent scout --since 2026-11-20",
    ),
    ("facts",),
    person=lambda record: "" if record["fact"] or record["dry_run"] else "withdraws what others said",
)
