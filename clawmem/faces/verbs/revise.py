"""`clawmem supersede`, `edit`, `merge`, `link` and `retract`."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

from clawmem.errors import InvalidInput, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import (
    CATEGORY,
    CONFIDENCE,
    DRY_RUN,
    EVIDENCE,
    FACT,
    IMPORTANCE,
    REASON,
    SOURCE,
    TRUST,
    VALID_TO,
    Parameter,
)
from clawmem.faces.parts.words import REVISED, revised
from clawmem.memory.facts import revise as acts
from clawmem.memory.facts.revise import FactEdit, check_reason
from clawmem.memory.facts.revise import retract as act
from clawmem.memory.facts.revoke import RevokeOrigin
from clawmem.model.facts.draft import LINKED_BY_HAND, draft_from_record
from clawmem.model.facts.fact import FACT_PREFIX
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.dates import parse_start
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import proposal_to_record

if TYPE_CHECKING:
    from clawmem.memory.facts.revoke import RevokeResult

_CHANGED = "clawmem supersede fact_1a2b 'Jane lives in Bergen.' --reason 'She moved.' --valid-from 2026-11-01"
_ANNOUNCED = "clawmem supersede fact_1a2b --for fact_5e6f --until 2026-12-31"


def supersede(
    call: Call,
    fact: Annotated[str, FACT._replace(help="The id of the fact to replace, or words that name it.")],
    text: Annotated[str | None, Parameter("What is true now, or - for stdin.", stdin=True)],
    reason: Annotated[str | None, Parameter("Why it changed.", ("--reason", "--why"))],
    valid_from: Annotated[
        str | None, Parameter("The day or time from which the new fact is true (default: now).", ("--valid-from",))
    ],
    object: Annotated[str | None, Parameter("The new other end of the relation.", ("--object",))],
    category: Annotated[str | None, CATEGORY],
    tags: Annotated[list[str] | None, Parameter("A further tag; may be repeated.", ("--tag", "-t"))],
    confidence: Annotated[float | None, CONFIDENCE],
    importance: Annotated[float | None, IMPORTANCE],
    source: Annotated[str | None, SOURCE],
    trust: Annotated[str | None, TRUST],
    source_text: Annotated[str | None, EVIDENCE],
    instead: Annotated[
        str | None, Parameter("A stored fact that takes its place after --until.", ("--for",), completes="fact")
    ],
    until: Annotated[str | None, Parameter("The last day of the fact, with --for.", ("--until",), metavar="DATE")],
) -> Answer:
    """The old fact remains in the vault, marked, with a pointer to the new one. Its validity ends when that of the
    new fact begins. Words name a fact that has all of them, else by what it says ("her job"); if several fit, they
    are listed. Of a sentence that says several things, what was not named stays. A statement of a tool or the web
    that contradicts a person or an agent waits for review instead. `retract` is for what was never true,
    `supersede` for what changed, `forget` for what shall not be told, `redact` for a secret.

    With --for and --until, the change is announced: up to and with the day, the fact is served with a warning that
    names the new one. After it, the heartbeat archives the fact and marks what rests on it. `undo` takes that back. An
    agent that announces the end of what a person stated files a proposal."""
    argument = dict(locals())
    for name in ("call", "fact", "text", "reason", "instead", "until"):
        del argument[name]
    caller = call.runtime.caller()
    values = {key: value for key, value in argument.items() if value is not None}
    if instead is not None or until is not None:
        from clawmem.memory.facts.claims import deprecate  # few changes are announced

        if instead is None or until is None or text is not None or values:
            raise InvalidInput(
                "An announced change takes a fact, --for, --until and --reason.", f"Example: {_ANNOUNCED}."
            )
        return revised(deprecate(call.runtime.vault(), fact, instead, until, caller, check_reason(reason)))
    if text is None:
        raise InvalidInput("What is true now is missing.", f"Example: {_CHANGED}.")
    draft = draft_from_record({"fact": text, **values}, caller.now)
    try:
        return revised(acts.supersede(call.runtime.vault(), fact, draft, caller, check_reason(reason)))
    except NotFound as problem:
        if text.startswith(FACT_PREFIX):
            problem.hint = f"The fact comes first: `clawmem supersede {text} {quote(fact)}`."
        raise


def edit(
    call: Call,
    fact: Annotated[str, FACT],
    text: Annotated[str | None, Parameter("Its new words, or - for stdin.", stdin=True)],
    entity: Annotated[
        str | None, Parameter("Move it to this entity, known or new.", ("--entity", "-e"), completes="entity")
    ],
    tag: Annotated[list[str] | None, Parameter("Add a tag; may be repeated.", ("--tag", "-t"))],
    untag: Annotated[list[str] | None, Parameter("Remove a tag; may be repeated.", ("--untag",))],
    pin: Annotated[bool, Parameter("Let it never fade, and be in each context.", ("--pin",))],
    unpin: Annotated[bool, Parameter("Take that back.", ("--unpin",))],
    valid_to: Annotated[str | None, VALID_TO],
    reason: Annotated[str | None, REASON._replace(help="Why it is so; or, with new words, why they replace the old.")],
) -> Answer:
    """New words correct the fact: its source, evidence, dates and reason stay, and the former words remain in the
    vault, marked as never true. `supersede` is for what changed in the world. Without words and options, the fact
    opens in `$VISUAL` or `$EDITOR`. With options, the words stay, and the fact is moved, tagged, pinned, ended or
    explained. Each is one commit, which `undo` reverts."""
    from clawmem.serving.browse import peek

    vault, caller = call.runtime.vault(), call.runtime.caller()
    if pin and unpin:
        raise InvalidInput("A fact cannot be pinned and unpinned at once.", "Leave out one of the two.")
    why = check_reason(reason)
    if entity or tag or untag or pin or unpin or valid_to or (why and text is None):
        if text is not None:
            raise InvalidInput("Options leave the words as they are.", "Give either new words or options.")
        pinned = True if pin else False if unpin else None
        changes = FactEdit(entity, tuple(tag or ()), tuple(untag or ()), pinned, valid_to, why)
        return revised(acts.edit(vault, fact, changes, caller))
    placed = peek(vault, fact, caller)
    words = " ".join(text.split()) if text is not None else call.edited(placed.fact.fact)
    if words is None:
        raise InvalidInput("What to change is missing.", f"Example: {_EDITS[1]}. At a terminal, an editor opens.")
    if words in ("", placed.fact.fact):
        return Answer({"facts": [], "outcome": [], "commit": None}, ["nothing changed; no commit was made"])
    draft, by_person = draft_from_record({"fact": words}, caller.now), caller.agent is None
    return revised(acts.supersede(vault, placed.fact.id, draft, caller, why, corrects=by_person))


_EDITS = ("clawmem edit fact_1a2b --entity projects/atlas --pin", "clawmem edit fact_1a2b 'Jane lives in Bergen.'")


def merge(
    call: Call,
    facts: Annotated[list[str], FACT._replace(help="The ids of two or more facts to merge.")],
    into: Annotated[str, Parameter("The statement of the new fact, or - for stdin.", ("--into",), stdin=True)],
    reason: Annotated[str | None, Parameter("Why the facts are merged.", ("--reason",))],
    category: Annotated[str | None, CATEGORY],
    importance: Annotated[float | None, IMPORTANCE],
) -> Answer:
    """The merged facts remain in the vault, marked as superseded, with a pointer to the new one."""
    caller = call.runtime.caller()
    record = {"fact": into, "category": category, "importance": importance}
    draft = draft_from_record({key: value for key, value in record.items() if value is not None}, caller.now)
    return revised(acts.merge(call.runtime.vault(), facts, draft, caller, check_reason(reason)))


def link(
    call: Call,
    fact: Annotated[str, FACT._replace(help="The fact that the link starts from.")],
    target: Annotated[str, FACT._replace(help="The fact that the link points to.")],
    kind: Annotated[str, Parameter("{choices}.", ("--type", "-t"), default="relates_to", choices=LINKED_BY_HAND)],
    reason: Annotated[str | None, Parameter("Why the facts are linked.", ("--reason",))],
    instead: Annotated[
        str | None, FACT._replace(help="Replace the link of this type to this fact.", flags=("--instead",))
    ],
) -> Answer:
    """The link is stored in the first fact, with its reason and date. A `depends_on` link makes the target a premise of
    the fact: if it changes, the fact is in doubt until somebody confirms it or links it to another premise. A
    `contradicts` link between two current facts asks a person which of them is true (`review`)."""
    caller = call.runtime.caller()
    return revised(acts.link(call.runtime.vault(), fact, kind, target, caller, check_reason(reason), instead))


_SHOWN = 20
_HOW = {
    "derived_from": "is derived from", "supports": "supports", "depends_on": "depends on", "merges": "merged",
    "supersedes": "superseded", "details": "names in its details",
}  # fmt: skip


def retract(
    call: Call,
    fact: Annotated[str | None, FACT._replace(help="The id of a fact, or words that name it.")],
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
    from clawmem.memory.facts.revoke import revoke

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
    return lines if result.commit else [*lines, "dry run; nothing was changed"]


VERBS = {
    "supersede": Command(
        supersede,
        REVISED,
        (_ANNOUNCED, _CHANGED),
        ("facts",),
    ),
    "edit": Command(edit, REVISED, _EDITS, ("facts",)),
    "merge": Command(
        merge,
        REVISED,
        ("clawmem merge fact_1a2b fact_5e6f --into 'Jane lives in Oslo, in Grünerløkka.'",),
        ("facts",),
    ),
    "link": Command(
        link,
        REVISED,
        ("clawmem link fact_1a2b fact_5e6f --type supports --reason 'The letter says so.'",),
        ("facts",),
    ),
    "retract": Command(
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
    ),
}
