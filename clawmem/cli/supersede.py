"""`clawmem supersede`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.reading import text_or_stdin
from clawmem.cli.words import done_revising
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.facts.revise import supersede as act
from clawmem.model.facts.draft import draft_from_record


def supersede(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(help="The id of the fact to replace, or a unique prefix.")],
    text: Annotated[str, typer.Argument(help="What is true now, or - for stdin.")],
    reason: Annotated[str | None, typer.Option(help="Why it changed.")] = None,
    valid_from: Annotated[str | None, typer.Option(help="Since when the new fact is true (default: now).")] = None,
    object_: Annotated[str | None, typer.Option("--object", help="The new other end of the relation.")] = None,
    category: Annotated[str | None, typer.Option("--category", "-c", help="One word, such as preference.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="A further tag; may be repeated.")] = None,
    confidence: Annotated[float | None, typer.Option(help="How sure, 0 to 1.")] = None,
    importance: Annotated[float | None, typer.Option(help="How important, 0 to 1.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    trust: Annotated[str | None, typer.Option(help="user, agent, tool or external.")] = None,
    evidence: Annotated[str | None, typer.Option(help="The words that show it, verbatim.")] = None,
) -> int:
    """The old fact stays, marked and pointing to the new one; its validity ends where the new one's begins. What a
    tool or the web says against a person or an agent waits for review instead."""
    face = Face.of(ctx)
    caller = face.runtime.caller()
    given = {
        "fact": text_or_stdin(text),
        "valid_from": valid_from,
        "object": object_,
        "category": category,
        "tags": tag,
        "confidence": confidence,
        "importance": importance,
        "source": source,
        "trust": trust,
        "source_text": evidence,
    }
    draft = draft_from_record({key: value for key, value in given.items() if value is not None}, caller.now)
    return done_revising(face, act(face.runtime.vault(), fact, draft, caller, check_reason(reason)))
