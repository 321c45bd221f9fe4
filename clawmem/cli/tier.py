"""`clawmem tier`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.memory.facts.decay import restore
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.lifecycle.tiers import explain
from clawmem.serving.browse import peek


def tier(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(help="The id of the fact, or a unique prefix.")],
    wake: Annotated[bool, typer.Option("--restore", help="Make an archived fact active again first.")] = False,
) -> int:
    """Each policy's answer, and the one that decides."""
    face = Face.of(ctx)
    vault = face.runtime.vault()
    done = restore(vault, fact, face.runtime.caller()) if wake else None
    placed = peek(vault, fact, face.runtime.caller())
    settings = vault.settings
    data = explain(
        placed.fact,
        face.runtime.now(),
        settings.number("decay.archive_score"),
        settings.whole("decay.archive_days"),
    )
    lines = [fact_line(placed.fact, placed.entity), f"{data['tier']}: {data['reason']}"]
    lines += [f"  {key}: {_plain(value)}" for key, value in data.items() if key not in ("tier", "reason", "archive")]
    lines.append(_archive_line(data["archive"]))
    if done is None:
        return face.done({"id": placed.fact.id, **data}, lines)
    lines.append(f"commit {done.commit[:12]}" if done.commit else "nothing changed, so there is no commit")
    return face.done({"id": placed.fact.id, **data, "commit": done.commit}, lines, done.notices)


def _archive_line(archive: Mapping[str, Any]) -> str:
    rule = f"once its score is below {archive['below']:g} and nobody used it for {archive['days']:g} days"
    return f"  archive: {'due' if archive['due'] else f'not due; {rule}'}"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return str(value)
