"""`clawmem remember`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.cli.reading import file_or_stdin, json_lines, text_or_stdin
from clawmem.cli.words import fact_data, outcome_lines
from clawmem.errors import PARTIAL, ClawmemError, InvalidInput
from clawmem.memory.remember import remember as act
from clawmem.model.draft import Draft, draft_from_record
from clawmem.model.text import counted


def remember(
    ctx: typer.Context,
    text: Annotated[str | None, typer.Argument(help="The fact in one sentence, or - for stdin.")] = None,
    entity: Annotated[
        str | None, typer.Option("--entity", "-e", help="Where it belongs, such as areas/people/jane.")
    ] = None,
    category: Annotated[str | None, typer.Option("--category", "-c", help="One word, such as preference.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; may be repeated.")] = None,
    subject: Annotated[str | None, typer.Option(help="Who or what the fact is about.")] = None,
    predicate: Annotated[str | None, typer.Option(help="The relation, such as lives_in.")] = None,
    object_: Annotated[str | None, typer.Option("--object", help="The other end of the relation.")] = None,
    valid_from: Annotated[str | None, typer.Option(help="Since when it is true.")] = None,
    valid_to: Annotated[str | None, typer.Option(help="Until when it was true.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    evidence: Annotated[str | None, typer.Option(help="The words that show it, verbatim.")] = None,
    event: Annotated[str | None, typer.Option(help="The id of the event that shows it.")] = None,
    confidence: Annotated[float | None, typer.Option(help="How sure, 0 to 1.")] = None,
    importance: Annotated[float | None, typer.Option(help="How important, 0 to 1; from 0.8 it never fades.")] = None,
    trust: Annotated[str | None, typer.Option(help="user, agent, tool or external.")] = None,
    related: Annotated[list[str] | None, typer.Option(help="An entity it also concerns; may be repeated.")] = None,
    jsonl: Annotated[
        str | None, typer.Option("--jsonl", help="Many facts, one JSON object a line: a file or -.")
    ] = None,
) -> int:
    """A fact that stands already is reinforced instead of repeated. One fact, one commit."""
    face = Face.of(ctx)
    caller = face.runtime.caller()
    if jsonl is not None:
        if text is not None:
            raise InvalidInput("Give either a fact or --jsonl.", "One fact a line goes with --jsonl.")
        drafts = _drafts(file_or_stdin(jsonl), caller.now, entity)
    else:
        if text is None:
            raise InvalidInput("The fact is missing.", "Say it: clawmem remember 'Jane prefers tea.'")
        given = {
            "fact": text_or_stdin(text),
            "entity": entity,
            "category": category,
            "tags": tag,
            "subject": subject,
            "predicate": predicate,
            "object": object_,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "source": source,
            "source_text": evidence,
            "source_event": event,
            "confidence": confidence,
            "importance": importance,
            "trust": trust,
            "related_entities": related,
        }
        drafts = [draft_from_record({key: value for key, value in given.items() if value is not None}, caller.now)]
    done = act(face.runtime.vault(), drafts, caller)
    data = {
        "facts": [fact_data(one.fact, one.entity) for one in done.kept],
        "outcome": [one.outcome for one in done.kept],
        "commit": done.commit,
    }
    rows = [(one.outcome, one.fact, one.entity) for one in done.kept]
    if done.failed is None:
        return face.done(data, outcome_lines(rows, done.commit), done.notices)
    stopped = (
        f"stopped after {len(done.kept)} of {counted(len(drafts), 'fact')}: {done.failed.message} {done.failed.hint}"
    )
    return face.done(data, outcome_lines(rows, done.commit), [*done.notices, stopped], PARTIAL)


def _drafts(text: str, now: datetime, entity: str | None) -> list[Draft]:
    drafts = []
    for number, record in json_lines(text):
        given: dict[str, Any] = {"entity": entity, **record} if entity else record
        try:
            drafts.append(draft_from_record(given, now))
        except ClawmemError as problem:
            raise InvalidInput(f"Line {number}: {problem.message}", problem.hint or "Nothing was kept.") from None
    return drafts
