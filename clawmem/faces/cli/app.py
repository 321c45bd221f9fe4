"""The table verb -> module made into one Typer application."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Any, cast

import typer
from typer.core import TyperGroup, TyperOption
from typer.main import get_command

from clawmem import __version__
from clawmem.errors import DONE, USAGE
from clawmem.faces.cli.boundary import bounded, failed
from clawmem.faces.cli.face import document, say, tell
from clawmem.faces.cli.typed import typed
from clawmem.faces.parts.parameters import COMMON, Parameter
from clawmem.faces.verbs.table import ALIASES, VERBS

# typer.BadParameter < UsageError < ClickException: the click that Typer carries has moved between releases.
_UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])


class _Asked(Exception):
    """A question about clawmem itself, with its answer."""

    def __init__(self, name: str, answer: str) -> None:
        super().__init__(name)
        self.name = name
        self.answer = answer


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
    module = import_module(f"clawmem.faces.verbs.{verb.module}")
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
        _complete(one)
    return command


def _more(function: Any) -> str:
    text = cleandoc(function.__doc__ or "")
    return f"\n\n{text}" if text else ""


def _complete(command: Any) -> None:
    """Give a command the options that every command takes."""
    command.add_help_option = False
    command.help = cleandoc(command.help or "")
    command.params.extend([*(_option(one) for one in COMMON), _help_option()])


def _help_option() -> TyperOption:
    def show(ctx: Any, param: Any, value: Any) -> None:
        if value and not ctx.resilient_parsing:
            raise _Asked("help", ctx.get_help())

    return TyperOption(
        param_decls=["--help", "-h"],
        help="Show this message and exit.",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        show_default=False,
    )


def _option(one: Parameter) -> TyperOption:
    def keep(ctx: Any, param: Any, value: Any) -> Any:
        if value != one.default:
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
        raise _Asked("version", __version__)


def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Say the version."),
) -> None:
    """A long-term memory for AI agents that a person can read, diff and undo."""


def application() -> Any:
    """The whole command line as one click command."""
    app = typer.Typer(cls=Verbs, add_completion=False, rich_markup_mode=None, no_args_is_help=True)
    app.callback()(_root)
    command = get_command(app)
    _complete(command)
    return command


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure ends in words or as JSON."""
    return bounded(arguments, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    if "_CLAWMEM_COMPLETE" in os.environ:
        from clawmem.faces.cli.complete import answer  # only the completion scripts ask

        return answer(" ".join(arguments), application, load)
    root = application()
    try:
        # Not `main`: it would end the process itself where a pipe breaks, whoever's pipe that is.
        with root.make_context("clawmem", list(arguments)) as context:
            code = root.invoke(context)
    except _UsageError as problem:
        return _usage(arguments, problem)
    except _Asked as asked:
        return _answered(arguments, asked)
    except typer.Exit as end:
        code = end.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


def _answered(arguments: Sequence[str], asked: _Asked) -> int:
    if "--json" in arguments:
        return document({"ok": True, "data": {asked.name: asked.answer}, "notices": []}, DONE)
    return say(f"clawmem {asked.answer}\n" if asked.name == "version" else f"{asked.answer}\n")


def _usage(arguments: Sequence[str], problem: Any) -> int:
    context: Any = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "clawmem"
    if type(problem).__name__ == "NoArgsIsHelpError":
        if "--json" in arguments:
            return failed(arguments, "usage", USAGE, "The verb is missing.", f"See `{path} --help`.")
        tell(f"{context.get_help()}\n")
        return USAGE
    message = problem.format_message()
    if not message.endswith((".", "?", "!", ")")):
        message += "."
    hint = f"See `{path} --help`."
    if type(problem).__name__ == "NoSuchOption" and not problem.option_name.startswith("--"):
        hint += " A text that begins with a dash comes after `--`."
        message = message if problem.option_name.strip("- ") else "A text that begins with a dash reads as an option."
    return failed(arguments, "usage", USAGE, message, hint)
