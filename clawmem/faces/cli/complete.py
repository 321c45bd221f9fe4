"""Completions for the cursor position of a command line, requested by the completion scripts of the shells.

The words are walked through the same tables that run them. Typer's own answer imports every verb and Rich, and its
scripts change between releases; this one imports one verb at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.faces.cli.plain import in_current_words
from clawmem.faces.cli.terminal import say
from clawmem.faces.parts.command import Command, Group, all_parameters
from clawmem.faces.parts.parameters import COMMON, Parameter
from clawmem.faces.verbs.table import all_verbs, help_of, load
from clawmem.model.language.text import visible
from clawmem.runtime import from_process

_LONGEST_HELP = 70


class Offer(NamedTuple):
    """A completion for the word at the cursor, and its meaning."""

    word: str
    help: str = ""


class Place(NamedTuple):
    """Where the cursor is: the command or group that was reached, None before the verb; the option that waits for a
    value; the arguments that came before; whether options are over (`--`); the values of --vault and --agent."""

    reached: Command | Group | None
    waiting: Parameter | None
    arguments: tuple[str, ...]
    no_options: bool
    shared: dict[str, str]

    @property
    def parameters(self) -> Sequence[Parameter]:
        """What can be given here."""
        return all_parameters(self.reached) if isinstance(self.reached, Command) else COMMON


def answer(line: str) -> int:
    """Print the offers for a command line that ends at the cursor; `:files` asks the shell for file names."""
    words, incomplete = split_line(line)
    place = _placed(in_current_words(words))
    lines = []
    for offer in offers(place, incomplete) if place else ():
        text = " ".join(offer.help.split())
        short = text if len(text) <= _LONGEST_HELP else text[: _LONGEST_HELP - 1] + "…"
        lines.append(f"{visible(offer.word)}\t{visible(short)}\n")
    return say("".join(lines))


def split_line(line: str) -> tuple[list[str], str]:
    """The words after the program's name, and the one under the cursor; a quote may still be open."""
    import shlex

    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    ended = True
    try:
        words.extend(lexer)
    except ValueError:
        # An open quote or a lone backslash: what was read of the word so far is the word.
        words.append(lexer.token)
        ended = False
    if ended and (not line or line[-1].isspace()):
        words.append("")
    while words and "=" in words[0] and words[0].partition("=")[0].isidentifier():
        words.pop(0)
    return (words[1:-1], words[-1]) if len(words) > 1 else ([], "")


def _placed(words: Sequence[str]) -> Place | None:
    """Where the words lead, or None where one of them names no command."""
    place = Place(None, None, (), False, {})
    for word in words:
        if place.waiting is not None:
            place.shared[place.waiting.name] = word
            place = place._replace(waiting=None)
        elif word == "--":
            place = place._replace(no_options=True)
        elif word.startswith("-") and len(word) > 1 and not place.no_options:
            name, joined, value = word.partition("=")
            option = _option_with_value(place, name)
            if option is not None and joined:
                place.shared[option.name] = value
            elif option is not None:
                place = place._replace(waiting=option)
        elif isinstance(place.reached, Command):
            place = place._replace(arguments=(*place.arguments, word))
        else:
            reached = _below(place.reached, word)
            if reached is None:
                return None
            place = place._replace(reached=reached)
    return place


def _below(group: Group | None, word: str) -> Command | Group | None:
    if group is not None:
        return group.get(word)
    return load(word) if word in all_verbs() else None


def _option_with_value(place: Place, flag: str) -> Parameter | None:
    return next(
        (parameter for parameter in place.parameters if flag in parameter.flags and parameter.kind is not bool), None
    )


def offers(place: Place, incomplete: str) -> Iterator[Offer]:
    """All completions that begin with the incomplete word at the cursor."""
    if place.waiting is not None:
        yield from _values(place, place.waiting, incomplete)
    elif incomplete.startswith("-") and not place.no_options:
        name, joined, value = incomplete.partition("=")
        option = _option_with_value(place, name)
        if joined and option is not None:
            yield from (Offer(f"{name}={offer.word}", offer.help) for offer in _values(place, option, value))
        else:
            flags = (
                Offer(max(parameter.flags, key=len), parameter.about)
                for parameter in place.parameters
                if parameter.flags
            )
            yield from _beginning(incomplete, [*flags, Offer("--help", "Show this message and exit.")])
    elif isinstance(place.reached, Command):
        arguments = [parameter for parameter in place.reached.parameters if not parameter.flags]
        number = len(place.arguments)
        for argument in arguments[number : number + 1] or [
            parameter for parameter in arguments[-1:] if parameter.repeated
        ]:
            yield from _values(place, argument, incomplete)
    elif place.reached is not None:
        some = (Offer(name, help_of(command).partition("\n")[0]) for name, command in place.reached.items())
        yield from _beginning(incomplete, some)
    else:
        yield from _beginning(incomplete, (Offer(name, text) for name, text in all_verbs().items()))


def _beginning(incomplete: str, some: Iterable[Offer]) -> Iterator[Offer]:
    return (offer for offer in some if offer.word.startswith(incomplete))


def _values(place: Place, parameter: Parameter, incomplete: str) -> Iterator[Offer]:
    if parameter.choices:
        meanings = parameter.choices if isinstance(parameter.choices, Mapping) else {}
        yield from _beginning(incomplete, (Offer(word, meanings.get(word, "")) for word in parameter.choices))
        return
    if not parameter.completes:
        return
    from clawmem.faces.cli.complete_values import FILES, values_of  # only where such a value is asked for

    try:
        runtime = from_process(place.shared.get("vault"), place.shared.get("agent"))
        some = values_of(parameter.completes, runtime, incomplete, place.arguments)
    except ClawmemError:
        return  # no vault, or one that cannot be read: there are no completions, and the command itself will report why
    yield from (Offer(*pair) for pair in some if pair[0] == FILES or pair[0].startswith(incomplete))
