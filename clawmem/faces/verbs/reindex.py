"""`clawmem reindex`."""

from __future__ import annotations

from typing import Annotated

from clawmem.errors import DONE
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.index.vectors.embed import EmbeddingRun
from clawmem.memory.health.reindex import check_embedding, rebuild_vectors
from clawmem.memory.health.reindex import reindex as act
from clawmem.model.language.text import counted


def reindex(
    call: Call,
    vectors: Annotated[bool, Parameter("Also compute all vectors again; this can take long.", ("--vectors",))],
) -> Answer:
    """The index is derived from the vault and can be deleted; commands update it automatically. With --vectors, exit
    code 14 means that the model could not be used. Texts without a
    vector wait for the next heartbeat."""
    vault = call.runtime.vault()
    if vectors:
        check_embedding(vault)
    with call.progress() as report:
        result = act(vault, report)
    data = {**result._asdict(), "seconds": round(result.seconds, 3)}
    del data["notices"]
    lines = [
        f"indexed {counted(result.facts, 'fact')}, {counted(result.events, 'event')}"
        f" and {counted(result.entities, 'entity', 'entities')}"
        f" in {result.seconds:.1f} s; the index takes {result.size / 1e6:.1f} MB ({result.engine})"
    ]
    if not vectors:
        return Answer(data, lines, result.notices)
    with call.progress() as report:
        embedded = rebuild_vectors(vault, report)
    problem = embedded.problem
    notices = [
        *result.notices,
        *([f"not embedded: {problem.message} {problem.hint}".strip()] if problem else []),
    ]
    data["vectors"] = {"model": embedded.model, "texts": embedded.embedded, "left": embedded.left}
    return Answer(data, [*lines, _line(embedded)], notices, problem.exit_code if problem else DONE)


def _line(run: EmbeddingRun) -> str:
    rest = f"; {run.left:,} wait for the next heartbeat" if run.left else ""
    return f"embedded {counted(run.embedded, 'text')} with {run.model}{rest}"


VERB = Command(
    reindex,
    {
        "facts": int,
        "events": int,
        "entities": int,
        "engine": str,
        "seconds": float,
        "size": int,
        "vectors?": {"model": str, "texts": int, "left": int},
    },
    ("clawmem reindex", "clawmem reindex --vectors"),
)
