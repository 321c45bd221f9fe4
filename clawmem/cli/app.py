"""The table verb -> module made into one Typer application, and the one error boundary around it."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup, TyperOption
from typer.main import get_command

from clawmem import __version__
from clawmem.cli.face import Face
from clawmem.cli.verbs import ALIASES, VERBS
from clawmem.errors import BUG, INTERRUPTED, REFUSED, USAGE, ClawmemError, StorageFailed

# typer.BadParameter < UsageError < ClickException: the click that Typer carries has moved between releases.
_UsageError = typer.BadParameter.__mro__[1]


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
        app.command(name, help=verb.help + _more(part))(part)
        command = get_command(app)
    command.name = name
    for one in [command, *getattr(command, "commands", {}).values()]:
        one.params.extend(_common_options())
    return command


def _more(function: Any) -> str:
    text = (function.__doc__ or "").strip()
    return f"\n\n{text}" if text else ""


def _common_options() -> list[TyperOption]:
    return [
        _option("--vault", str, "The vault's folder.", metavar="PATH"),
        _option("--agent", str, "The agent on whose behalf this runs.", metavar="ID"),
        _option("--json", bool, "One JSON document on stdout."),
        _option("--quiet", bool, "Nothing but the payload."),
    ]


def _option(name: str, kind: type, text: str, metavar: str | None = None) -> TyperOption:
    def keep(ctx: Any, param: Any, value: Any) -> Any:
        if value:
            ctx.meta[f"clawmem.{name[2:]}"] = value
        return value

    given: dict[str, Any] = {"is_flag": True, "default": False} if kind is bool else {"type": str, "default": None}
    return TyperOption(
        param_decls=[name], help=text, expose_value=False, callback=keep, metavar=metavar, show_default=False, **given
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
    """Run one command line and return its exit code; every failure ends here, in words or as JSON."""
    try:
        if "_CLAWMEM_COMPLETE" in os.environ:
            return _complete(arguments)
        code = application().main(list(arguments), prog_name="clawmem", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # The reader of our output has gone: what was done is done, and there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _fail(arguments, "interrupted", INTERRUPTED, "Interrupted.", "")
    except ClawmemError as problem:
        return _fail(arguments, problem.code, problem.exit_code, problem.message, problem.hint)
    except OSError as problem:
        failed = _storage(problem)
        return _fail(arguments, failed.code, failed.exit_code, failed.message, failed.hint)
    except Exception as problem:  # noqa: BLE001 - the boundary: whatever else happens is a bug of ours
        if isinstance(problem, _UsageError):
            return _usage(arguments, problem)
        if type(problem).__name__ == "Abort":
            return _fail(arguments, "interrupted", INTERRUPTED, "Interrupted.", "")
        if any(kind.__module__ == "sqlite3" for kind in type(problem).__mro__):
            words = f"The search index cannot be used: {problem}."
            return _fail(arguments, "storage", REFUSED, words, "Run `clawmem reindex`, then the command again.")
        return _bug(arguments, problem)


def _complete(arguments: Sequence[str]) -> int:
    from clawmem.cli.complete import answer  # only the completion scripts ask

    return answer(" ".join(arguments), application, load)


def _usage(arguments: Sequence[str], problem: Any) -> int:
    if type(problem).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(problem.ctx.get_help() + "\n")
        return USAGE
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "clawmem"
    message = problem.format_message()
    if not message.endswith((".", "?", "!", ")")):
        message += "."
    return _fail(arguments, "usage", USAGE, message, f"See `{path} --help`.")


def _storage(problem: OSError) -> StorageFailed:
    where = f" ({problem.filename})" if problem.filename else ""
    if problem.errno == errno.ENOSPC:
        return StorageFailed(
            f"The disk is full{where}.", "Free some space and run the command again; nothing was lost."
        )
    if problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StorageFailed(
            f"The vault cannot be written{where}: {problem.strerror}.",
            "Reads still work; a change needs a writable disk and the right to write.",
        )
    return StorageFailed(f"The system refused{where}: {problem.strerror or problem}.", "Run `clawmem doctor`.")


def _bug(arguments: Sequence[str], problem: Exception) -> int:
    import traceback

    place = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
    if "CLAWMEM_TRACEBACK" in os.environ:
        traceback.print_exception(problem)
    return _fail(
        arguments,
        "bug",
        BUG,
        f"clawmem has a bug: {type(problem).__name__}: {problem} (at {where}).",
        "Set CLAWMEM_TRACEBACK=1 to see all of it, and please report it.",
    )


def _fail(arguments: Sequence[str], code: str, exit_code: int, message: str, hint: str) -> int:
    Face.plain("--json" in arguments).failed(code, message, hint)
    return exit_code or REFUSED
