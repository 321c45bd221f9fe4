"""The fast parser: a plain call of a verb is read without Typer, whose import takes longer than a search.

Only what cannot be read in two ways is read here: whole names of known options, numbers of digits, no value that
begins with a dash. Everything else, help and every mistake included, is Typer's, from the same table.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from clawmem.faces.cli.terminal import bounded, run_command
from clawmem.faces.parts.command import Command, Group, all_parameters, divided
from clawmem.faces.parts.parameters import COMMON, Parameter
from clawmem.faces.verbs.table import OTHER_WORDS, USUAL_WORDS, VERBS, current_words, load


def run_plain(arguments: Sequence[str]) -> int | None:
    """Run one plain command line and return its exit code, or do nothing and return None if Typer has to read it."""
    if "_CLAWMEM_COMPLETE" in os.environ:
        from clawmem.faces.cli.complete import answer  # only the completion scripts ask

        return bounded(arguments, lambda: answer(" ".join(arguments)))

    def run() -> int | None:
        call = plain_call(arguments)
        return None if call is None else run_command(*call, verb_of(arguments))

    return bounded(arguments, run)


def plain_call(arguments: Sequence[str]) -> tuple[Command, dict[str, Any], dict[str, Any]] | None:
    """The command that a command line means, its values and those of the common options, or None where Typer has to
    read it."""
    arguments = whole(arguments)
    start = verb_at(arguments)
    name = arguments[start] if start < len(arguments) else ""
    if name not in VERBS:
        return None
    command, words = load(name), arguments[start + 1 :]
    if not isinstance(command, Command):
        if not words or words[0] not in command:
            return None
        command, words = command[words[0]], words[1:]
    before = read(COMMON, arguments[:start])
    record = read(all_parameters(command), words)
    if before is None or record is None:
        return None
    return command, *divided(command, before, record)


def in_current_words(arguments: Sequence[str]) -> Sequence[str]:
    """The command line with its verb in place of another word for it, and with the verb's second word, if that is one
    that may be left out."""
    start = verb_at(arguments)
    if start < len(arguments) and (words := current_words(arguments[start])) != [arguments[start]]:
        return [*arguments[:start], *words, *arguments[start + 1 :]]
    verb, following = [*arguments[start : start + 2], "", ""][:2]
    if (two := f"{verb} {following}") in OTHER_WORDS:
        return [*arguments[:start], *OTHER_WORDS[two].split(), *arguments[start + 2 :]]
    if verb not in USUAL_WORDS or following in ("", "--help", "-h") or following in _words_of(verb):
        return arguments
    return [*arguments[: start + 1], USUAL_WORDS[verb], *arguments[start + 1 :]]


def whole(arguments: Sequence[str]) -> Sequence[str]:
    """The command line in current words, where a group of commands by itself means its usual one, or its list."""
    arguments = in_current_words(arguments)
    alone = arguments[verb_at(arguments) :]
    if len(alone) != 1 or alone[0] not in VERBS:
        return arguments
    word = USUAL_WORDS.get(alone[0], "list")
    command = _words_of(alone[0]).get(word)
    needs = command is None or any(parameter.required for parameter in command.parameters)
    return arguments if needs else [*arguments, word]


def _words_of(verb: str) -> Group:
    found = load(verb)
    return {} if isinstance(found, Command) else found


def read(parameters: Sequence[Parameter], words: Sequence[str]) -> dict[str, Any] | None:
    """The values of all parameters by name; None where the words are not plain or not right."""
    options = {flag: parameter for parameter in parameters for flag in parameter.flags}
    arguments = [parameter for parameter in parameters if not parameter.flags]
    record: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        other_parameter, text = (None, word) if _is_value(word) else _option(options, word, rest)
        if other_parameter is None:
            if text is None or not arguments:
                return None
            other_parameter = arguments[0] if arguments[0].repeated else arguments.pop(0)
        value = _value(other_parameter, text)
        if value is None or (other_parameter.name in record and not other_parameter.repeated):
            return None
        record[other_parameter.name] = (
            [*record.get(other_parameter.name, ()), value] if other_parameter.repeated else value
        )
    if any(parameter.required and parameter.name not in record for parameter in parameters):
        return None
    return {parameter.name: record.get(parameter.name, parameter.default) for parameter in parameters}


def verb_of(arguments: Sequence[str]) -> str:
    """The name of the command that a plain command line calls, such as `remember` or `task take`."""
    arguments = whole(arguments)
    start = verb_at(arguments)
    name = arguments[start]
    return name if isinstance(load(name), Command) else " ".join((name, *arguments[start + 1 : start + 2]))


def verb_at(arguments: Sequence[str]) -> int:
    """The position of the verb, after the common options."""
    takes_value = {flag: parameter.kind is not bool for parameter in COMMON for flag in parameter.flags}
    place = 0
    while place < len(arguments) and arguments[place].startswith("-"):
        place += 2 if takes_value.get(arguments[place], False) else 1
    return place


def _option(options: dict[str, Parameter], word: str, rest: Any) -> tuple[Parameter | None, str | None]:
    flag, joined, text = word.partition("=")
    parameter = options.get(flag)
    if parameter is None or (joined and (parameter.kind is bool or not flag.startswith("--"))):
        return None, None
    if joined or parameter.kind is bool:
        return parameter, text
    following = next(rest, "--")
    return (parameter, following) if _is_value(following) else (None, None)


def _is_value(word: str) -> bool:
    return word == "-" or not word.startswith("-")


def _value(parameter: Parameter, text: str | None) -> Any:
    """The text as what the parameter takes, or None where it is not that."""
    if text is None or parameter.kind is str:
        return text
    if parameter.kind is bool:
        return True
    if not (text.isascii() and text.replace(".", "", parameter.kind is float).isdigit()):
        return None
    number = parameter.kind(text)
    return number if (parameter.least or 0) <= number and (parameter.most is None or number <= parameter.most) else None
