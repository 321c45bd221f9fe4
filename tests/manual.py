"""The commands as the manual must show them: each command's usage line and its table of arguments and options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clawmem.faces.cli.app import load
from clawmem.faces.verbs.table import VERBS

COMMON = ("--vault", "--agent", "--json", "--quiet", "--help")
_BLOCK = re.compile(r"<!-- begin: (?P<name>[a-z ]+) -->\n(?P<body>.*?)<!-- end -->\n", re.DOTALL)


def commands() -> dict[str, Any]:
    """Every command by its words, such as `recall` and `entity move`, in the order of the table of verbs."""
    found: dict[str, Any] = {}
    for verb in VERBS:
        command = load(verb)
        subcommands = getattr(command, "commands", {})
        found.update({f"{verb} {name}": part for name, part in subcommands.items()} or {verb: command})
    return found


def reference(name: str, command: Any) -> str:
    """A command's part of the manual, made from what the command line really takes."""
    sentence, _, more = (command.help or "").partition("\n")
    words = " ".join((*sentence.split(), *more.split()))
    rows = [f"| {_shown(one)} | {' '.join(one.help.split())} |\n" for one in command.params if not _is_common(one)]
    table = "\n| | |\n|---|---|\n" + "".join(rows) if rows else ""
    return f"{words}\n\n    {_usage(name, command)}\n{table}"


def blocks(page: str) -> dict[str, str]:
    """The generated parts of the manual by command."""
    return {found["name"]: found["body"] for found in _BLOCK.finditer(page)}


def with_blocks(page: str) -> str:
    """The manual with each generated part written anew."""
    known = commands()

    def written(found: re.Match[str]) -> str:
        name = found["name"]
        return f"<!-- begin: {name} -->\n{reference(name, known[name])}<!-- end -->\n"

    return _BLOCK.sub(written, page)


def _usage(name: str, command: Any) -> str:
    words = [f"clawmem {name}", *_arguments(command)]
    if any(not _is_common(one) and one.param_type_name == "option" for one in command.params):
        words.append("[OPTIONS]")
    return " ".join(words)


def _arguments(command: Any) -> Iterator[str]:
    for one in command.params:
        if one.param_type_name == "argument":
            word = _argument(one) + ("..." if one.nargs == -1 else "")
            yield word if one.required else f"[{word}]"


def _shown(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_argument(parameter)}`"
    value = "" if parameter.is_flag else f" {parameter.metavar or _kind(parameter)}"
    names = sorted(parameter.opts, key=len)
    return ", ".join(f"`{name}`" for name in names[:-1]) + (", " if names[1:] else "") + f"`{names[-1]}{value}`"


def _argument(parameter: Any) -> str:
    words = str(parameter.metavar or parameter.name.rstrip("_").upper())
    return words.strip("{}[]").replace("|", " or ")


def _kind(parameter: Any) -> str:
    name = str(parameter.type.name)
    return "N" if name.startswith("int") else "X" if name.startswith("float") else "TEXT"


def _is_common(parameter: Any) -> bool:
    return parameter.param_type_name == "option" and bool(set(parameter.opts) & set(COMMON))
