"""Completions for the cursor position of a command line, requested by the completion scripts of the shells.

The words are walked through the same tables that run them. Typer's own answer imports every verb and Rich, and its
scripts change between releases; this one imports one verb at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.extension import extensions, named
from clawmem.faces.cli.plain import in_current_words
from clawmem.faces.cli.terminal import say
from clawmem.faces.parts.command import Command, Group, all_parameters
from clawmem.faces.parts.parameters import COMMON, Parameter
from clawmem.faces.verbs.table import all_verbs, help_of, load
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import entity_names
from clawmem.index.tables.contents import categories, facts_with_prefix
from clawmem.index.tables.rights import is_restricted
from clawmem.memory.proposals import read_proposals
from clawmem.model.language.text import visible
from clawmem.model.settings.settings import SETTINGS, setting_named
from clawmem.model.settings.values import PLACES
from clawmem.runtime import Runtime, from_process

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
    try:
        runtime = from_process(*(place.shared.get(name) for name in ("vault", "agent", "viewer")))
        some = values_of(parameter.completes, runtime, incomplete, place.arguments)
    except ClawmemError:
        return  # no vault, or one that cannot be read: there are no completions, and the command itself will report why
    yield from (Offer(*pair) for pair in some if pair[0] == FILES or pair[0].startswith(incomplete))


FILES = ":files"
"""Asks the shell for the names of files."""

_MAX_FACTS = 100
# What is read from files and not from the index: nothing of it is for a viewer who may not see everything.
_OF_FILES = frozenset(("proposal", "session", "task"))

Pairs = list[tuple[str, str]]
_Source = Callable[[Runtime, str, Sequence[str]], Pairs]


def _facts(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    """Active facts come first, newest first."""
    return run_query(runtime.vault(), lambda index: facts_with_prefix(index, prefix, _MAX_FACTS))


def _entities(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    agent = runtime.caller().agent
    own = prefix.startswith("@/") and agent is not None
    start = f"@{agent}{prefix[1:]}" if own else prefix
    names = [name for name in run_query(runtime.vault(), entity_names) if name.startswith(start)]
    return [(f"@{name.removeprefix(f'@{agent}')}" if own else name, "") for name in names]


def _setting_values(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    setting = setting_named(before[0])
    words = {"choice": setting.choices, "bool": ("true", "false"), "places": PLACES}.get(setting.kind, ())
    return [(word, "") for word in words]


def _words_of_verb(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    verb = load(before[0]) if before[0] in all_verbs() else {}
    return [] if isinstance(verb, Command) else [(word, "") for word in verb]


def _tasks(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    from clawmem.work.tasks import list_tasks

    return [(task.slug, task.title) for task in list_tasks(runtime.vault()).tasks]


def _failure_modes(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    from clawmem.work.tasks import read_modes

    return [(mode.id, mode.about or "") for mode in read_modes(runtime.vault()).modes.values()]


def values_of(kind: str, runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    """The values of a kind, at least those that begin with the word at the cursor; none where the extension of the
    kind is not here."""
    if kind in _OF_FILES and is_restricted(runtime.vault()):
        return []
    for extension in () if kind in SOURCES else extensions():
        if kind in extension.completions:
            source: _Source = named(extension.completions[kind])
            return source(runtime, prefix, before)
    return SOURCES[kind](runtime, prefix, before) if kind in SOURCES else []


SOURCES: dict[str, _Source] = {
    "agent": lambda runtime, prefix, before: [
        (path.name, "") for path in sorted((runtime.vault().root / "agents").glob("*")) if path.is_dir()
    ],
    # One with white space cannot be completed in every shell.
    "category": lambda runtime, prefix, before: [
        (name, "") for name in run_query(runtime.vault(), categories) if not any(map(str.isspace, name))
    ],
    "entity": _entities,
    "fact": _facts,
    "failure mode": _failure_modes,
    "fact or entity": lambda *asked: [*_facts(*asked), *_entities(*asked)],
    "file": lambda runtime, prefix, before: [(FILES, "")],
    "predicate": lambda runtime, prefix, before: [
        (name, ", ".join(predicate.phrases)) for name, predicate in runtime.vault().catalog.predicates.items()
    ],
    "proposal": lambda runtime, prefix, before: [
        (proposal.id, proposal.says) for proposal in read_proposals(runtime.vault()).open
    ],
    "setting": lambda runtime, prefix, before: [(setting.key, setting.about) for setting in SETTINGS],
    "value of a setting": _setting_values,
    "session": lambda runtime, prefix, before: [
        (path.stem, path.parts[-3]) for path in sorted((runtime.vault().root / "agents").glob("*/sessions/*.json"))
    ],
    "task": _tasks,
    "word of a verb": _words_of_verb,
    "workflow": lambda runtime, prefix, before: [
        (name, "") for name in sorted(path.stem for path in (runtime.vault().root / "workflows").glob("*.yaml"))
    ],
}
