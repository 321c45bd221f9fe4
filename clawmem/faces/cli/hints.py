"""What a command line that cannot be read may have meant.

It is imported only after a mistake. A command that it names can be read, and what it names is in the vault.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from shlex import join, quote, split
from typing import Any

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.faces.cli.plain import in_current_words, plain_call, verb_at, whole
from clawmem.faces.parts.command import Command, all_parameters
from clawmem.faces.parts.words import LISTED_BY
from clawmem.faces.verbs.table import INSTEAD, OTHER_NAMES, OTHER_OPTIONS, SECOND_NAMES, VERBS, load
from clawmem.model.facts.draft import LINKED_BY_HAND
from clawmem.model.facts.fact import FACT_PREFIX, PROPOSAL_PREFIX
from clawmem.model.language.dates import parse_period, parse_start
from clawmem.model.language.text import near_name, normal
from clawmem.runtime import runtime_of

# How other programs write a tag, a person, a list or a value.
_LABEL = re.compile(r"[+#@]\w[\w-]*|\w+:\S+")
_PLACES = {"person": "areas/people", "company": "areas/companies", "project": "projects", "area": "areas"}
# The verbs that take days, with the option that takes them.
_OF_DAYS = {"clawmem log": (), "clawmem list": ("--since",), "clawmem recall": ("", "--since")}
_MORE = {
    "'setup --remove'": "`clawmem setup HARNESS --remove` takes the memory out of an agent, `clawmem config set"
    " llm.model ''` ends the reader, and `clawmem config set session.ask false` the question after a turn.",
    "'clone'": "On another machine: `clawmem sync setup ADDRESS`.",
}


def unknown_command(words: Sequence[str], known: Iterable[str], other_names: Mapping[str, str]) -> str:
    """Return the message for an unknown command, the first of some words, with what it may have meant: by
    `other_names`, else by spelling; with the other words, where that can be read."""
    name = words[0].lower()
    meant = other_names.get(name) or (None if name in INSTEAD else near_name(name, known))
    message = f"No such command {words[0]!r}."
    if words[1:2] == ["about"]:
        words, meant = words[1:], "show"
    if _is_id(words[0]) and words[1:2] and words[1] in known:
        words, meant = [words[1], words[0], *words[2:]], words[1]
    if meant == "setup --remove":
        words = words[:1]  # what follows is no harness
    if not meant:
        return message
    bare = [word for word in words[1:] if not word.startswith("-")]
    if meant == "remember" and _is_days(words, " ".join(bare)):  # new this week
        meant = "diff"
    named = not bare or any(map(_is_id, bare)) or _is_plural(bare[0]) or _names(words, "fact or entity", " ".join(bare))
    meant = "recall" if meant == "show" and not named else meant
    if meant == "list" and bare and not _is_plural(bare[0]) and _names(words, "entity", " ".join(bare)):
        meant = "list --entity"
    with suppress(IndexError):
        start = split(meant.format(*map(quote, bare), words=quote(" ".join([words[0], *bare]))))
        lines = [start] if "{" in meant else [[*start, *rest] for rest in (words[1:], bare, [" ".join(bare)])]
        line = next(filter(None, map(_fitted, lines)), None)
        if words[1:] and line:
            return f"{message} Did you mean `clawmem {join(line)}`?"
    return f"{message} Did you mean {meant.partition(' {')[0]!r}?"


def message_and_hint(arguments: Sequence[str], problem: Any) -> tuple[str, str]:
    """Return the message of a usage error of click, and what to type instead."""
    context, kind = getattr(problem, "ctx", None), type(problem).__name__
    path = context.command_path if context is not None else "clawmem"
    message = _unknown_option(arguments, problem) if kind == "NoSuchOption" else _plainly(problem)
    if not message.endswith((".", "?", "!", ")")):
        message += "."
    meant = _quoted(arguments, message, context) or _what_fits(arguments, problem, context)
    if kind == "NoSuchOption" and not path.count(" "):
        meant = _after_its_verb(arguments)
    hint = " ".join((*meant, f"See `{path} --help`."))
    if kind == "NoSuchOption" and not problem.option_name.startswith("--"):
        is_text = any(" " in word for word in arguments if word.startswith(problem.option_name))
        hint += " Put a text that begins with a dash after `--`." if is_text and "`" not in message else ""
        message = message if problem.option_name.strip("- ") else "A text that begins with a dash is read as an option."
    return message, hint


def _plainly(problem: Any) -> str:
    """The message of a usage error, without the names of Python's types and ranges."""
    message: str = problem.format_message()
    message = re.sub(r"is not a valid int(?:eger)?(?: range)?", "is not a whole number", message)
    message = re.sub(r"is not a valid float(?: range)?", "is not a number", message)
    message = re.sub(r"is not in the range (\S+?)<=x<=(\S+?)\.$", r"is not between \1 and \2.", message)
    return re.sub(r"is not in the range x>=(\S+?)\.$", r"is less than \1.", message)


def _what_fits(arguments: Sequence[str], problem: Any, context: Any) -> list[str]:
    """What to type instead: an example where something is missing, the commands of a group where one is unknown."""
    if context is None:
        return []
    if type(problem).__name__ == "MissingParameter":
        names = context.params.get("facts") or ()
        if len(names) == 2 and all(_names(arguments, "entity", name) for name in names):
            return [f"Two entities: `{' '.join(['clawmem entity merge', *map(quote, names)])}`."]
        example = (context.command.epilog or "").partition("Examples:\n")[2].partition("\n")[0].strip()
        return [f"Example: `{example}`."] if example else []
    if type(problem).__name__ == "BadParameter" and getattr(problem.param, "help", None):
        return [problem.param.help]
    known = getattr(context.command, "commands", {})
    if type(problem).__name__ != "UsageError" or not known:
        return []
    if context.parent is not None:
        commands = f"Its commands are {', '.join(known)}."
        verb = context.command_path.split()[1:]
        rest = arguments[verb_at(arguments) + len(verb) :]
        if instead := INSTEAD.get(" ".join([*verb, *rest[:1]])):
            return [instead]
        word = SECOND_NAMES.get(rest[0].lower(), "") if rest else ""
        line = [*verb, word, *rest[1:]] if word in known else [*verb, "add", *rest]
        is_meant = (word in known or " " in "".join(rest[:1])) and plain_call(line)
        return [f"Did you mean `clawmem {join(line)}`?" if is_meant else commands]
    words = [word.lower() for word in arguments[verb_at(arguments) :] if word != "help"]
    instead = INSTEAD.get("".join(words[:1]))
    return [instead] if instead else [more for words, more in _MORE.items() if words in problem.message]


def _after_its_verb(arguments: Sequence[str]) -> list[str]:
    """The command line with the options before its verb behind it, where that can be read."""
    for place, word in enumerate(arguments):
        if word in VERBS and plain_call(line := [*arguments[place:], *arguments[:place]]):
            return [f"Options of a verb follow it: `{' '.join(['clawmem', *map(quote, line)])}`."]
    return []


def _is_id(word: str) -> bool:
    return word.startswith((FACT_PREFIX, PROPOSAL_PREFIX))


def _quoted(arguments: Sequence[str], message: str, context: Any) -> list[str]:
    """The command line that may be meant, where more words came than a command takes."""
    if context is None or not message.startswith("Got unexpected extra argument"):
        return []
    places = [param for param in context.command.params if param.param_type_name == "argument"]
    arguments = in_current_words(arguments)
    start = verb_at(arguments) + len(context.command_path.split()) - 1
    words = list(takewhile(lambda word: not word.startswith("-"), arguments[start:]))
    before, after = ["clawmem", *arguments[:start]], arguments[start + len(words) :]
    if context.command.name == "list" and words and _is_plural(words[0]):
        return [f"Did you mean `clawmem {OTHER_NAMES[words[0]]}`?"]
    name = " ".join(words)
    if context.command_path == "clawmem list" and _names(arguments, "entity", name):
        return [f"Did you mean `{join([*before, '--entity', name, *after])}`?"]
    if context.command_path in _OF_DAYS and _is_days(arguments, name):
        return [f"Quote days of several words: `{join([*before, *_OF_DAYS[context.command_path], name, *after])}`."]
    if not places or len(words) <= len(places):
        return []
    if context.command.name == "link" and words[1] in LINKED_BY_HAND:
        line = ["clawmem", *arguments[:start], words[0], words[2], "--type", words[1]]
        return [f"The type is an option: `{join(line)}`."]
    if any(map(_is_id, words[len(places) :])):
        return [f"One at a time: `{' '.join([*before, *words[: len(places)]])}`."] if all(map(_is_id, words)) else []
    verb = " ".join(context.command_path.split()[1:])
    if verb in LISTED_BY and words[0] in ("list", "show"):
        return [LISTED_BY[verb]]
    if verb == "entity create" and words[0] in _PLACES:
        place = f"{_PLACES[words[0]]}/{'-'.join(words[1:]).lower()}"
        return [f"Write its place: `{' '.join([*before, *map(quote, [place, *after])])}`."]
    if verb == "why":
        return [f"Ask: `{' '.join(['clawmem recall', quote(' '.join(['why', *words]))])}`."]
    bare = [word for word in words if not _LABEL.fullmatch(word)]
    if len(places) <= len(bare) < len(words) and plain_call(line := [*arguments[:start], *bare, *after]):
        left_out = ", ".join(word for word in words if word not in bare)
        return [f"There is no place for {left_out}: `{join(['clawmem', *line])}`."]
    if verb in ("edit", "supersede") and not _is_id(words[0]):
        return [_fact_and_words(arguments, before, words, after)]
    own = words[: len(places) - 1]
    for text in (" ".join(words[len(places) - 1 :]), words[-1]):
        line = [*arguments[:start], *own, text, *after]
        if _resolves(arguments, line, text):
            what = "Quote a text of several words" if " " in text else "By its name alone"
            return [f"{what}: `{' '.join(['clawmem', *arguments[:start], *map(quote, line[start:])])}`."]
    return []


def _fact_and_words(arguments: Sequence[str], before: Sequence[str], words: Sequence[str], after: Sequence[str]) -> str:
    """What quotes the fact that the words begin with, and its new words behind it, as far as these are known: a guess
    would replace a fact by a part of a sentence."""
    texts = [(" ".join(words[:end]), " ".join(words[end:])) for end in range(len(words), 0, -1)]
    fact, text = next((pair for pair in texts if _states(arguments, pair[0])), ("FACT", "NEW WORDS"))
    line = join([*before, fact, *filter(None, [text]), *after])
    return f"Quote the fact, and what it says from now on{': ' if text else ' behind it: '}`{line}`."


def _states(arguments: Sequence[str], text: str) -> bool:
    """Whether a text is the whole text of a fact."""
    fact = _named(arguments, "fact", text)
    return fact is not None and normal(fact.fact.fact) == normal(text)


def _is_days(arguments: Sequence[str], text: str) -> bool:
    """Whether a text means a day, a week, a month or a year."""
    return bool(text) and parse_period(text, runtime_of(arguments).now()) is not None


def _resolves(arguments: Sequence[str], line: Sequence[str], text: str) -> bool:
    """Whether a command line can be read, and its last argument, where that names a fact or an entity, is one."""
    call = plain_call(line)
    if call is None:
        return False
    *_, last = (parameter for parameter in call[0].parameters if not parameter.flags)
    if last.completes == "file":
        return Path(text).exists()
    if last.completes not in ("fact", "entity", "fact or entity"):
        return True
    return _names(arguments, last.completes, text)


def _names(arguments: Sequence[str], kinds: str, text: str) -> bool:
    """Whether a text names what is asked for: a fact, an entity, or either."""
    return bool(_named(arguments, kinds, text))


def _named(arguments: Sequence[str], kinds: str, text: str) -> Any:
    """The entity or the fact that a text names, or None."""
    from clawmem.memory.entities.places import find_readable_entity  # only where something may be named
    from clawmem.serving.browse import peek

    runtime = runtime_of(arguments)
    for kind, find in (("entity", find_readable_entity), ("fact", peek)):
        with suppress(ClawmemError):
            if kind in kinds:
                return find(runtime.vault(), text, runtime.caller())
    return None


def _unknown_option(arguments: Sequence[str], problem: Any) -> str:
    """The message for an unknown option, with the line or the known option that is meant."""
    message, name = f"No such option: {problem.option_name}.", problem.option_name
    known = [flag for param in problem.ctx.command.params for flag in param.opts] if problem.ctx else []
    by_word = {flag.lstrip("-"): flag for flag in known}
    near = by_word.get(near_name(name.lstrip("-"), by_word) or "")
    meant = [*_options_for(name, known), *([near, f"{near} {{0}}"] if near else [])]
    for text in meant:
        line = _of_plural(_with_option(in_current_words(arguments), name, text))
        if line and plain_call(line):
            return f"{message} Did you mean `clawmem {join(line)}`?"
    verb = problem.ctx.command_path.split()[1:] if problem.ctx else []
    if instead := INSTEAD.get(" ".join([*verb, name])):
        return f"{message} {instead}"
    first = next((text.split()[0] for text in meant if text), "")
    return message + (f" Did you mean {first!r}?" if first.startswith("-") else "")


def _options_for(name: str, known: Collection[str]) -> list[str]:
    """What an option of other programs may stand for, as far as its flags are known."""
    texts = [text.strip() for text in OTHER_OPTIONS[name].split("|")] if name in OTHER_OPTIONS else []
    texts += [f"--limit {name[1:]}"] if name[1:].isdigit() else []
    return [text for text in texts if all(flag in known for flag in text.split() if flag.startswith("-"))]


def _fitted(words: Sequence[str]) -> list[str]:
    """A command line whose options that its verb lacks are translated or left out; empty where it cannot be read."""
    if plain_call(line := [*_of_plural(words)]):
        return line
    line = [*_of_plural(whole(words))]
    found = load(line[0]) if line[0] in VERBS else {}
    command = found if isinstance(found, Command) else found.get("".join(line[1:2]))
    known = [flag for parameter in all_parameters(command) for flag in parameter.flags] if command else []
    for name in [word.partition("=")[0] for word in line if word.startswith("-") and word != "-"]:
        if name not in known:
            line = next(filter(None, (_with_option(line, name, text) for text in (*_options_for(name, known), ""))))
    return line if plain_call(line) else []


def _is_plural(word: str) -> bool:
    return word in OTHER_NAMES and word.endswith(("s", "people"))


def _of_plural(line: Sequence[str]) -> Sequence[str]:
    """The command line that lists what a word behind `list`, `show` or `status` names, such as tasks."""
    verb, word = [*line[:2], "", ""][:2]
    if not _is_plural(word) or verb not in ("list", "show", "status"):
        return line
    return [*(split(OTHER_NAMES[word]) if verb != "status" else [verb]), *line[2:]]


def _with_option(arguments: Sequence[str], name: str, text: str) -> list[str]:
    """A command line with other words in place of an option and of its value, if they contain that; empty where that
    is missing, or is no day for an option that takes one."""
    for place, word in enumerate(arguments):
        flag, joined, value = word.partition("=")
        if flag == name:
            takes = "{0" in text
            rest = arguments[place + 1 :]
            if takes and not joined:
                value, rest = next(iter(rest), ""), rest[1:]
            if takes and not (value and _fits(arguments, text.split()[0], value)):
                return []
            return [*arguments[:place], *split(text.format(quote(value)) if takes else text), *rest]
    return []


def _fits(arguments: Sequence[str], flag: str, value: str) -> bool:
    """Whether a value can be that of an option: a day, where the option takes one."""
    if flag not in ("--since", "--until", "--valid-from", "--valid-to"):
        return True
    with suppress(InvalidInput):
        return bool(parse_start(value, runtime_of(arguments).now()))
    return False
