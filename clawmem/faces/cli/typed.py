"""A command as Typer takes it: a function whose signature is made from the table of parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter as Formal
from inspect import Signature
from typing import Annotated, Any

import typer

from clawmem.faces.parts.parameters import Parameter


def typed(act: Callable[[typer.Context, dict[str, Any]], int], parameters: Sequence[Parameter]) -> Callable[..., int]:
    """A function with the signature that Typer reads; it calls `act` with the context and the values by name."""

    def call(ctx: typer.Context, **given: Any) -> int:
        return act(ctx, given)

    context = Formal("ctx", Formal.KEYWORD_ONLY, annotation=typer.Context)
    call.__signature__ = Signature([context, *map(_formal, parameters)])  # type: ignore[attr-defined]
    return call


def _formal(one: Parameter) -> Formal:
    kind: Any = list[one.kind] if one.repeated else one.kind  # type: ignore[name-defined]
    if not one.required and one.default is None:
        kind = kind | None
    default = Formal.empty if one.required else one.default
    return Formal(one.name, Formal.KEYWORD_ONLY, default=default, annotation=Annotated[kind, _info(one)])


def _info(one: Parameter) -> Any:
    if one.flags:
        return typer.Option(*one.flags, help=one.about, metavar=one.metavar, min=one.least, max=one.most)
    return typer.Argument(help=one.about, metavar=one.metavar, min=one.least, max=one.most)
