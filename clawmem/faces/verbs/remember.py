"""`clawmem remember`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from clawmem.errors import PARTIAL, ClawmemError, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import (
    CATEGORY,
    CONFIDENCE,
    EVIDENCE,
    IMPORTANCE,
    REASON,
    SCOPE,
    SOURCE,
    TAGS,
    TRUST,
    VALID_TO,
    WORKFLOW,
    Parameter,
)
from clawmem.faces.parts.parameters import PROJECT as OF_PROJECT
from clawmem.faces.parts.words import REVISED, changed_data, check_is_text, outcome_lines
from clawmem.memory.facts.remember import remember as act
from clawmem.model.facts.catalog import STRATEGIES
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.reach import PROJECT, SCOPES, TEAM, Reach
from clawmem.model.language.text import counted, one_line

_BULLET = re.compile(r"^[-*•]\s+")
_SENTENCE_END = re.compile(r"""[.!?…。！？]["'”’»)]*$""")


def remember(
    call: Call,
    text: Annotated[
        str | None, Parameter("The fact in one sentence, or - for stdin; of several lines, each is one.", stdin=True)
    ],
    entity: Annotated[
        str | None,
        Parameter("The entity of the fact, such as areas/people/jane.", ("--entity", "-e"), completes="entity"),
    ],
    category: Annotated[str | None, CATEGORY],
    tags: Annotated[list[str] | None, TAGS],
    subject: Annotated[str | None, Parameter("Who or what the fact is about.", ("--subject",))],
    predicate: Annotated[
        str | None, Parameter("The relation, such as lives_in.", ("--predicate",), completes="predicate")
    ],
    object: Annotated[str | None, Parameter("The other end of the relation.", ("--object",))],
    valid_from: Annotated[str | None, Parameter("The day or time from which it is true.", ("--valid-from",))],
    valid_to: Annotated[str | None, VALID_TO],
    reason: Annotated[str | None, REASON._replace(help="Why it is so; it is shown and searched with the fact.")],
    source: Annotated[str | None, SOURCE],
    source_text: Annotated[str | None, EVIDENCE],
    source_event: Annotated[str | None, Parameter("The id of the event that is the evidence.", ("--event",))],
    confidence: Annotated[float | None, CONFIDENCE],
    importance: Annotated[
        float | None, IMPORTANCE._replace(help="Importance, 0 to 1; from 0.8 on the fact is never archived.")
    ],
    trust: Annotated[str | None, TRUST],
    related_entities: Annotated[
        list[str] | None,
        Parameter("A further entity that the fact concerns; may be repeated.", ("--related",), completes="entity"),
    ],
    workflow: Annotated[str | None, WORKFLOW._replace(help="The workflow that the fact is for.")],
    scope: Annotated[
        str | None,
        SCOPE._replace(
            choices=SCOPES,
            help="Who sees it: {choices}; the default is everybody, or for work in a repository its project.",
        ),
    ],
    project: Annotated[
        str | None,
        OF_PROJECT._replace(help="The project that it is for; with --scope project, that of this folder's repository."),
    ],
    jsonl: Annotated[
        str | None, Parameter("Many facts, one JSON object per line: a file or -.", ("--jsonl",), completes="file")
    ],
) -> Answer:
    """A fact that is already known is reinforced instead of repeated. Each fact is one commit. A line that does not end
    a sentence goes on in the next one, if that begins in lower case. In `Since [[premise]],
    ...`, the bracket names a fact by its id or words, and the new fact rests on it; so after `because`, `given`, `as`.
    `--jsonl` names the input here; for the answer as records, write it before the verb: clawmem --jsonl remember."""
    argument = dict(locals())
    del argument["call"], argument["text"], argument["jsonl"], argument["reason"]
    caller = call.runtime.caller()
    argument |= _scope(call, argument)
    if jsonl is not None:
        if text is not None:
            raise InvalidInput("Give either a fact or --jsonl.", "--jsonl reads one fact per line.")
        from clawmem.faces.parts.reading import file_or_stdin  # one fact comes as an argument

        drafts = _drafts(file_or_stdin(call, jsonl), caller.now, argument["entity"])
    else:
        if text is None:
            raise InvalidInput("The fact is missing.", "Example: clawmem remember 'Jane prefers tea.'")
        check_is_text(text, "remember")
        record = _with_reason({name: value for name, value in argument.items() if value is not None}, reason)
        placed = any(argument[name] for name in ("entity", "scope", "project", "workflow"))
        here = None if placed else call.runtime.project()
        drafts = [
            draft_from_record({"fact": statement, **record}, caller.now)._replace(here=here)
            for statement in _statements(text)
        ]
    new: Sequence[str] = ()
    if project is not None:
        from clawmem.serving.answers import unknown_names  # few facts name a project

        new = unknown_names(call.runtime.vault(), caller, Reach(project=argument["project"]), new=True)
    batch = act(call.runtime.vault(), drafts, caller)
    changed = batch.facts, [fact.outcome for fact in batch.facts], batch.commit
    data = changed_data(*changed)
    if batch.conflicts:
        data["conflicts"] = [
            {
                "fact": conflict.fact.id,
                "against": [{"id": rival.id, "fact": rival.fact} for rival in conflict.rivals],
                "strategy": conflict.settlement.strategy,
                "winner": conflict.settlement.winner.id if conflict.settlement.winner else None,
                "why": conflict.settlement.why,
                **({"proposal": conflict.proposal.id} if conflict.proposal else {}),
            }
            for conflict in batch.conflicts
        ]
    if batch.failed is None:
        stored = sum(fact.outcome == "added" for fact in batch.facts)
        of_all = "" if stored == len(drafts) else f"{stored:,} of "
        talk = [f"stored {of_all}{counted(len(drafts), 'fact')}"] if len(drafts) > 1 and text else ()
        return Answer(data, outcome_lines(*changed), (*batch.notices, *new), talk=talk)
    count = f"{len(batch.facts)} of {counted(len(drafts), 'fact')}"
    stopped = f"stopped after {count}: {batch.failed.message} {batch.failed.hint}"
    return Answer(data, outcome_lines(*changed), [*batch.notices, stopped], PARTIAL)


def _statements(text: str) -> list[str]:
    """The facts of a text: each line is one, without its bullet, unless it goes on in the next."""
    found: list[str] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        if found and line[0].islower() and not _SENTENCE_END.search(found[-1]):
            found[-1] += f" {line}"
        else:
            found.append(_BULLET.sub("", line))
    return found or [text]


def _scope(call: Call, record: dict[str, Any]) -> dict[str, Any]:
    """The workflow and the project of a fact whose scope needs them and whose options do not name them."""
    if record["workflow"] is not None or record["scope"] in (TEAM, PROJECT):
        record = {**record, "workflow": call.runtime.workflow(record["workflow"])}
    if record["scope"] == PROJECT or record["project"] is not None:
        record = {**record, "project": call.runtime.project(record["project"])}
    return record


def _drafts(text: str, now: datetime, entity: str | None) -> list[Draft]:
    from clawmem.faces.parts.reading import json_lines

    drafts = []
    for number, record in json_lines(text):
        value: dict[str, Any] = {"entity": entity, **record} if entity else {**record}
        try:
            value = _with_reason(value, value.pop("reason", None))
            drafts.append(draft_from_record(value, now)._replace(line=number))
        except ClawmemError as problem:
            raise InvalidInput(f"Line {number}: {problem.message}", problem.hint or "Nothing was stored.") from None
    return drafts


def _with_reason(record: dict[str, Any], reason: Any) -> dict[str, Any]:
    """The record with a reason among its details; a blank one is none."""
    if not isinstance(reason, str | None):
        raise InvalidInput("The key 'reason' must be text.")
    words, details = one_line(reason or ""), record.get("details") or {}
    if not words or not isinstance(details, Mapping):
        return record
    if one_line(str(details.get("because") or words)) != words:
        raise InvalidInput("The fact has two reasons: 'reason', and 'because' in its details.", "Leave one out.")
    return {**record, "details": {**details, "because": words}}


_CONFLICT = {
    "fact": str,
    "against": [{"id": str, "fact": str}],
    "strategy": set(STRATEGIES),
    "winner": (str, None),
    "why": str,
    "proposal?": str,
}

VERB = Command(
    remember,
    {**REVISED, "conflicts?": [_CONFLICT]},
    (
        "clawmem remember 'Jane lives in Oslo.' --entity areas/people/jane --valid-from 2024-03-01",
        "cat facts.jsonl | clawmem remember --jsonl -",
    ),
    ("facts",),
)
