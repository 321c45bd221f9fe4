"""`clawmem show`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.words import fact_data
from clawmem.serving.browse import show as act


def show(
    ctx: typer.Context,
    fact: Annotated[str, typer.Argument(help="The id of the fact, or a unique prefix.")],
) -> int:
    """Every key that says something, one a line."""
    face = Face.of(ctx)
    placed, notices = act(face.runtime.vault(), fact, face.runtime.caller())
    record = fact_data(placed.fact, placed.entity)
    width = max(map(len, record))
    lines = [f"{key:<{width}}  {_plain(value)}" for key, value in record.items() if value is not None]
    return face.done({"fact": record}, lines, notices)


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False)
