"""What a verb takes, as a table that two read: Typer, for any command line, and `clawmem.faces.cli.plain`, for a
plain call of a verb that agents wait for."""

from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """An argument, or with `flags` an option; its values reach the verb's function under `name`.

    `kind` is str, int, float or bool, `least` and `most` bound a number, and a `repeated` one gives a list."""

    name: str
    help: str
    flags: tuple[str, ...] = ()
    kind: type = str
    default: Any = None
    required: bool = False
    repeated: bool = False
    least: int | None = None
    most: int | None = None
    metavar: str | None = None


COMMON = (
    Parameter("vault", "The vault's folder.", ("--vault",), metavar="PATH"),
    Parameter("agent", "The agent on whose behalf this runs.", ("--agent",), metavar="ID"),
    Parameter("json", "One JSON document on stdout.", ("--json",), bool, False),
    Parameter("quiet", "Nothing but the payload, and what failed.", ("--quiet",), bool, False),
)
