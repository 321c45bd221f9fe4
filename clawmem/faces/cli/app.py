"""One Typer application made from the table of verbs. It reads every command line that is not a plain call.

A command as Typer takes it: a function whose signature is made from the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import Parameter as Formal
from inspect import Signature
from textwrap import fill
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup, TyperOption
from typer.main import get_command

from clawmem import __version__
from clawmem.errors import DONE, USAGE
from clawmem.faces.cli.boundary import failed
from clawmem.faces.cli.plain import in_current_words, verb_at, whole
from clawmem.faces.cli.terminal import bounded, document, run_command, say, tell
from clawmem.faces.parts.command import Command, divided
from clawmem.faces.parts.parameters import COMMON, Parameter
from clawmem.faces.verbs.table import (
    ALIASES,
    EXAMPLES,
    EXPLAINED,
    FIRST_TOPICS,
    OTHER_NAMES,
    TOPICS,
    all_verbs,
    help_of,
    load,
    other_topics,
    verbs_of,
)

# typer.BadParameter < UsageError < ClickException: the click that Typer carries has moved between releases.
_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[1])


class _InfoRequest(Exception):
    """A request for the help text or the version, with the answer."""

    def __init__(self, name: str, answer: str) -> None:
        super().__init__(name)
        self.name = name
        self.answer = answer


class Group(TyperGroup):
    """Commands by their first word; for an unknown word, the message names the command that is meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            from clawmem.faces.cli.hints import unknown_command  # only after a mistake

            ctx.fail(unknown_command(args, self.commands, OTHER_NAMES if ctx.parent is None else {}))
        return super().resolve_command(ctx, args)


class Verbs(Group):
    """All verbs, each imported only when it is called."""

    def __init__(self, **record: Any) -> None:
        super().__init__(**record)
        # An unknown verb is compared with these names, so that the message can suggest one.
        self.commands: Any = dict.fromkeys((*all_verbs(), *ALIASES))

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of the table."""
        return list(all_verbs())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the verb's module and make its command."""
        return click_command(cmd_name) if cmd_name in all_verbs() else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs of the first topics, from the table, so that help imports none of them."""
        write_topics(formatter, FIRST_TOPICS)
        with formatter.section("More"):
            formatter.write_dl(
                [
                    *((f"help {topic}", ", ".join(verbs_of(topic))) for topic in other_topics()),
                    ("help VERB", "The help of a verb, with all its options."),
                    *((f"help {word}", text.partition(":")[0]) for word, text in EXPLAINED.items()),
                ]
            )


def write_topics(formatter: Any, topics: Iterable[str]) -> None:
    """Write the verbs of each topic below its name."""
    for topic in topics:
        with formatter.section(topic.capitalize()):
            formatter.write_dl([*verbs_of(topic).items()])


def click_command(name: str) -> Any:
    """One verb as a command of the click that Typer carries, or as a group of them."""
    verb = load(name)
    if isinstance(verb, Command):
        return _click(name, verb, help_of(verb, name), name)
    examples = _epilog([other_command.examples[0] for other_command in verb.values()][:3], COMMON)
    group = Group(name=name, help=all_verbs()[name], epilog=examples, no_args_is_help=True, rich_markup_mode=None)
    for word, command in verb.items():
        group.add_command(_click(word, command, help_of(command), f"{name} {word}"), word)
    return _with_common(group)


def _click(name: str, command: Command, text: str, verb: str) -> Any:
    def act(ctx: typer.Context, record: dict[str, Any]) -> int:
        return run_command(command, *divided(command, ctx.meta.get("clawmem", {}), record), verb)

    own = [parameter.name for parameter in command.parameters]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, help=text, epilog=_epilog(command.examples, _shared(own)))(typed(act, command.parameters))
    made = get_command(app)
    made.name = name
    return _with_common(made, own)


def _epilog(examples: Iterable[str], shared: Sequence[Parameter] = ()) -> str:
    """The end of help: examples, and the shared options in a line. `\\b` tells click to leave lines as they are."""
    text = "\n  ".join(("\b\nExamples:", *examples))
    if not shared:
        return text
    names = ", ".join(parameter.flags[0] for parameter in shared)
    return f"All verbs also take {names}: see `clawmem --help`.\n\n{text}"


def _shared(own: Collection[str]) -> list[Parameter]:
    return [parameter for parameter in COMMON if parameter.name not in own]


def _with_common(command: Any, own: Collection[str] = (), hidden: bool = True) -> Any:
    """The command with the common options, except those that it defines itself."""
    command.add_help_option = False
    command.params.extend([*(_option(parameter, hidden) for parameter in _shared(own)), _help_option()])
    return command


def _help_option() -> TyperOption:
    def show(ctx: Any, param: Any, value: Any) -> None:
        if value and not ctx.resilient_parsing:
            raise _InfoRequest("help", ctx.get_help())

    return TyperOption(
        param_decls=["--help", "-h"],
        help="Show this message and exit.",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        show_default=False,
    )


def _option(parameter: Parameter, hidden: bool) -> TyperOption:
    def keep(ctx: Any, param: Any, value: Any) -> Any:
        if value != parameter.default:
            ctx.meta.setdefault("clawmem", {})[parameter.name] = value
        return value

    record: dict[str, Any] = {"is_flag": True} if parameter.kind is bool else {"type": str}
    return TyperOption(
        param_decls=list(parameter.flags),
        help=parameter.help,
        default=parameter.default,
        expose_value=False,
        callback=keep,
        metavar=parameter.metavar,
        show_default=False,
        hidden=hidden,
        **record,
    )


def _version(value: bool) -> None:
    if value:
        raise _InfoRequest("version", __version__)


def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """A long-term memory for AI agents that a person can read, diff and undo."""


def application() -> Any:
    """The whole command line as one click command."""
    app = typer.Typer(cls=Verbs, add_completion=False, rich_markup_mode=None, no_args_is_help=True)
    app.callback(epilog=_epilog(EXAMPLES))(_root)
    return _with_common(get_command(app), hidden=False)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure is reported as text or JSON."""
    return bounded(arguments, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    if not arguments:
        return _run(["status"])
    root = application()
    try:
        # Not `main`: it would end the process itself on any broken pipe.
        with root.make_context("clawmem", _as_help(whole(arguments))) as context:
            code = root.invoke(context)
    except _UsageError as problem:
        return _usage(arguments, problem)
    except _InfoRequest as asked:
        return _answered(arguments, asked)
    return code if isinstance(code, int) else 0


def _as_help(arguments: Sequence[str]) -> list[str]:
    """The command line, with `help VERB` as `VERB --help`. Raise the answer of `help TOPIC`."""
    start = verb_at(arguments)
    if list(arguments[start : start + 1]) != ["help"]:
        return list(arguments)
    before, words = arguments[:start], [word for word in arguments[start + 1 :] if word not in ("--help", "-h")]
    if words and words[0] in EXPLAINED:
        raise _InfoRequest("help", fill(EXPLAINED[words[0]], 78))
    if words and words[0] in (*TOPICS, "extensions", "all"):
        formatter = typer.Context.formatter_class()
        write_topics(formatter, words[:1])
        raise _InfoRequest("help", formatter.getvalue().strip("\n"))
    return [*before, *in_current_words(words), "--help"]


def _answered(arguments: Sequence[str], asked: _InfoRequest) -> int:
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
    from clawmem.faces.cli.hints import message_and_hint  # only after a mistake

    message, hint = message_and_hint(arguments, problem)
    return failed(arguments, "usage", USAGE, message, hint)


def typed(act: Callable[[typer.Context, dict[str, Any]], int], parameters: Sequence[Parameter]) -> Callable[..., int]:
    """A function with the signature that Typer reads; it calls `act` with the context and the values by name."""

    def call(ctx: typer.Context, **record: Any) -> int:
        return act(ctx, record)

    context = Formal("ctx", Formal.KEYWORD_ONLY, annotation=typer.Context)
    call.__signature__ = Signature([context, *map(_formal, parameters)])  # type: ignore[attr-defined]
    return call


def _formal(parameter: Parameter) -> Formal:
    kind: Any = list[parameter.kind] if parameter.repeated else parameter.kind  # type: ignore[name-defined]
    if not parameter.required and parameter.default is None:
        kind = kind | None
    default = Formal.empty if parameter.required else parameter.default
    return Formal(parameter.name, Formal.KEYWORD_ONLY, default=default, annotation=Annotated[kind, _info(parameter)])


def _info(parameter: Parameter) -> Any:
    if parameter.flags:
        return typer.Option(
            *parameter.flags, help=parameter.about, metavar=parameter.metavar, min=parameter.least, max=parameter.most
        )
    return typer.Argument(help=parameter.about, metavar=parameter.metavar, min=parameter.least, max=parameter.most)
