"""`clawmem reindex`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.errors import DONE
from clawmem.index.vectors.embed import EmbeddingRun
from clawmem.memory.health.reindex import check_embedding, embed_anew
from clawmem.memory.health.reindex import reindex as act
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.settings.local import suggestion_message


def reindex(
    ctx: typer.Context,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Make every vector again too; this can take long.")
    ] = False,
) -> int:
    """The index is derived from the vault and disposable; commands keep it up to date by themselves. With --vectors,
    exit code 13 where a limit on money or time was reached, 14 where the model could not be used: what has no vector
    yet waits for the next heartbeat."""
    face = Face.of(ctx)
    vault = face.runtime.vault()
    if vectors:
        check_embedding(vault)
    with face.progress() as told:
        if told:
            told("reading the vault")
        done = act(vault)
    data = {**done._asdict(), "seconds": round(done.seconds, 3)}
    del data["notices"]
    lines = [
        f"indexed {counted(done.facts, 'fact')}, {counted(done.events, 'event')}"
        f" and {counted(done.entities, 'entity', 'entities')}"
        f" in {done.seconds:.1f} s; the index takes {done.size / 1e6:.1f} MB ({done.engine})"
    ]
    if not vectors:
        return face.done(data, lines, done.notices)
    with face.progress() as told:
        embedded = embed_anew(vault, stamp(face.runtime.now())[:10], told and _counting(told))
    problem = embedded.problem
    notices = [
        *done.notices,
        *suggestion_message(vault.settings, "semantic"),
        *([f"not embedded: {problem.message} {problem.hint}".strip()] if problem else []),
    ]
    data["vectors"] = _vectors_data(embedded)
    return face.done(data, [*lines, _line(embedded)], notices, problem.exit_code if problem else DONE)


def _vectors_data(done: EmbeddingRun) -> dict[str, Any]:
    return {"model": done.model, "texts": done.embedded, "left": done.left, "cents": round(done.cents, 6)}


def _line(done: EmbeddingRun) -> str:
    cost = f" for {done.cents:.4g} cents" if done.cents else ""
    rest = f"; {done.left:,} wait for the next heartbeat" if done.left else ""
    return f"embedded {counted(done.embedded, 'text')} with {done.model}{cost}{rest}"


def _counting(told: Callable[[str], None]) -> Callable[[int, int], None]:
    return lambda done, total: told(f"embedding: {done:,} of {total:,}")
