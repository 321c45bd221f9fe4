"""The table verb -> module made into one Typer application."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperGroup, TyperOption
from typer.main import get_command

from clawmem import __version__
from clawmem.cli.boundary import bounded, failed
from clawmem.cli.parameters import COMMON, Parameter
from clawmem.cli.typed import typed
from clawmem.cli.verbs import ALIASES, VERBS
from clawmem.errors import USAGE

# typer.BadParameter < UsageError < ClickException: the click that Typer carries has moved between releases.
_UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])


class Verbs(TyperGroup):
    """All verbs, each imported only when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the verb's module and make its command, with the options every verb takes."""
        name = ALIASES.get(cmd_name, cmd_name)
        verb = VERBS.get(name)
        return None if verb is None else load(name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs from the table, so that help imports none of them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])


def load(name: str) -> Any:
    """One verb as a command; its module holds a function or a Typer of that name."""
    verb = VERBS[name]
    module = import_module(f"clawmem.cli.{verb.module}")
    part: Any = getattr(module, name, None) or getattr(module, f"{name}_command")
    if isinstance(part, typer.Typer):
        command = get_command(part)
        command.help = verb.help
    else:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name, help=verb.help + _more(part))(typed(part, module.PARAMETERS) if verb.plain else part)
        command = get_command(app)
    command.name = name
    for one in [command, *getattr(command, "commands", {}).values()]:
        one.params.extend(_common_options())
    return command


def _more(function: Any) -> str:
    text = (function.__doc__ or "").strip()
    return f"\n\n{text}" if text else ""


def _common_options() -> list[TyperOption]:
    return [_option(one) for one in COMMON]


def _option(one: Parameter) -> TyperOption:
    def keep(ctx: Any, param: Any, value: Any) -> Any:
        if value:
            ctx.meta[f"clawmem.{one.name}"] = value
        return value

    given: dict[str, Any] = {"is_flag": True} if one.kind is bool else {"type": str}
    return TyperOption(
        param_decls=list(one.flags),
        help=one.help,
        default=one.default,
        expose_value=False,
        callback=keep,
        metavar=one.metavar,
        show_default=False,
        **given,
    )


def _version(value: bool) -> None:
    if value:
        sys.stdout.write(f"clawmem {__version__}\n")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Say the version."),
) -> None:
    """A long-term memory for AI agents that a person can read, diff and undo."""


def application() -> Any:
    """The whole command line as one click command."""
    app = typer.Typer(cls=Verbs, add_completion=False, rich_markup_mode=None, no_args_is_help=True)
    app.callback()(_root)
    command = get_command(app)
    command.params.extend(_common_options())
    return command


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure ends in words or as JSON."""
    return bounded(arguments, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    if "_CLAWMEM_COMPLETE" in os.environ:
        from clawmem.cli.complete import answer  # only the completion scripts ask

        return answer(" ".join(arguments), application, load)
    try:
        code = application().main(list(arguments), prog_name="clawmem", standalone_mode=False)
    except _UsageError as problem:
        return _usage(arguments, problem)
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


def _usage(arguments: Sequence[str], problem: Any) -> int:
    if type(problem).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(problem.ctx.get_help() + "\n")
        return USAGE
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "clawmem"
    message = problem.format_message()
    if not message.endswith((".", "?", "!", ")")):
        message += "."
    return failed(arguments, "usage", USAGE, message, f"See `{path} --help`.")
