"""What can stand at the cursor of a command line: asked by the shells' completion scripts, answered line by line.

The words are walked through the same commands that run them. Typer's own answer imports every verb and Rich,
and its scripts change between releases; this one imports one verb at most and needs only what a command says of
its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from clawmem.cli.face import say
from clawmem.cli.verbs import ALIASES, VERBS
from clawmem.errors import ClawmemError
from clawmem.model.language.text import visible
from clawmem.runtime import from_process

_LONGEST_HELP = 70


class Offer(NamedTuple):
    """A word that may stand at the cursor, and what it means."""

    word: str
    help: str = ""


class Place(NamedTuple):
    """Where the cursor is: the command reached and its path, the option that waits for a value or None, the
    positional words that came before, whether options are over (`--`), and the values of --vault and --agent so far."""

    command: Any
    path: tuple[str, ...]
    waiting: Any
    positionals: tuple[str, ...]
    no_options: bool
    shared: dict[str, str]


def answer(line: str, application: Callable[[], Any], load: Callable[[str], Any]) -> int:
    """Print the offers for a command line that ends at the cursor; `:files` asks the shell for file names."""
    words, incomplete = split_line(line)
    place = _placed(application(), words, load)
    lines = []
    for offer in offers(place, incomplete):
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


def _placed(root: Any, words: Sequence[str], load: Callable[[str], Any]) -> Place:
    place = Place(root, (), None, (), False, {})
    for word in words:
        if place.waiting is not None:
            if place.waiting.name in ("vault", "agent"):
                place.shared[place.waiting.name] = word
            place = place._replace(waiting=None)
        elif word == "--":
            place = place._replace(no_options=True)
        elif word.startswith("-") and len(word) > 1 and not place.no_options:
            name, joined, value = word.partition("=")
            option = _options(place.command).get(name)
            if option is not None and _takes_value(option):
                place = place._replace(waiting=None if joined else option)
                if joined and option.name in ("vault", "agent"):
                    place.shared[option.name] = value
        elif is_group(place.command):
            command = _below(place, word, load)
            if command is None:
                return place._replace(command=None)
            place = place._replace(command=command, path=(*place.path, ALIASES.get(word, word)))
        else:
            place = place._replace(positionals=(*place.positionals, word))
    return place


def _below(place: Place, word: str, load: Callable[[str], Any]) -> Any:
    if not place.path:
        name = ALIASES.get(word, word)
        return load(name) if name in VERBS else None
    return place.command.commands.get(word)


def is_group(command: Any) -> bool:
    """Whether words after the command name further commands."""
    return hasattr(command, "list_commands")


def _options(command: Any) -> dict[str, Any]:
    options = [param for param in command.params if param.param_type_name == "option"]
    return {name: option for option in options for name in (*option.opts, *option.secondary_opts)}


def _takes_value(option: Any) -> bool:
    return not option.is_flag and not option.count


def offers(place: Place, incomplete: str) -> Iterator[Offer]:
    """Everything that can stand at the cursor and begins with what stands there already."""
    if place.command is None:
        return
    if place.waiting is not None:
        yield from _values(place, place.waiting.name, incomplete)
    elif incomplete.startswith("-") and not place.no_options:
        name, joined, value = incomplete.partition("=")
        option = _options(place.command).get(name)
        if joined and option is not None and _takes_value(option):
            yield from (Offer(f"{name}={one.word}", one.help) for one in _values(place, option.name, value))
        else:
            yield from _beginning(incomplete, _option_offers(place.command))
    elif is_group(place.command):
        yield from _beginning(incomplete, _command_offers(place))
    else:
        arguments = [param for param in place.command.params if param.param_type_name == "argument"]
        done = len(place.positionals)
        reached = arguments[done : done + 1] or [one for one in arguments if one.nargs == -1]
        for argument in reached[-1:]:
            yield from _values(place, argument.name, incomplete)


def _option_offers(command: Any) -> Iterator[Offer]:
    for option in command.params:
        if option.param_type_name == "option" and not option.hidden:
            yield Offer(max(option.opts, key=len), option.help or "")


def _command_offers(place: Place) -> Iterator[Offer]:
    if not place.path:
        yield from (Offer(name, verb.help) for name, verb in VERBS.items())
        return
    for name, command in place.command.commands.items():
        yield Offer(name, (command.help or "").partition("\n")[0])


def _beginning(incomplete: str, some: Iterable[Offer]) -> Iterator[Offer]:
    return (one for one in some if one.word.startswith(incomplete))


def _values(place: Place, name: str, incomplete: str) -> Iterator[Offer]:
    from clawmem.cli import complete_values  # only where a value is asked for

    runtime = from_process(place.shared.get("vault"), place.shared.get("agent"))
    try:
        path = " ".join((*place.path, name))
        some = complete_values.values(runtime, path, name, incomplete, place.positionals)
        yield from _beginning(incomplete, (Offer(word, text) for word, text in some if word != complete_values.FILES))
        yield from (Offer(word) for word, _ in some if word == complete_values.FILES)
    except ClawmemError:
        return  # no vault, or one that cannot be read: there is nothing to offer, and the command itself will say why
