"""A command that a person allowed on this machine: its words, the content of its files, and its environment."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.language.text import check_visible

MOST_LETTERS = 4_000
# What a shell would act on outside quotes, and inside double quotes.
_SHELL = re.compile(r"[;&|<>()$`*?\[\n\r]|(?:^|\s)[~#]")
_SHELL_IN_DOUBLE = re.compile(r"[$`]")
_PLAIN = re.compile(r"\\.|'[^']*'", re.DOTALL)
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_HINT = "No shell reads a command: put such a character in single quotes if it is plain text, or write a script."
_INTERPRETER = re.compile(
    r"(?:python|pypy|node|nodejs|deno|bun|ruby|perl|php|lua|luajit|Rscript|sh|bash|dash|zsh|ksh|fish|pwsh|awk|tclsh)"
    r"[0-9.]*"
)


class PinnedFile(NamedTuple):
    """A file that a command starts or reads as code: its path, absolute or relative to the folder in which the command
    runs; where the path leads without links; and the SHA-256 of its content."""

    path: str
    real: str
    checksum: str


def _filled(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("is empty")
    return values


class AllowedCommand(NamedTuple):
    """A command that may run: its words, the repository or folder in which it may run, the files that must be
    unchanged (the first one is the program), its environment, when it was allowed (ISO 8601 UTC), and by whom."""

    words: Annotated[tuple[str, ...], _filled]
    place: str
    files: Annotated[tuple[PinnedFile, ...], _filled]
    environment: Mapping[str, str]
    at: str
    by: str

    @property
    def id(self) -> str:
        """The id of these words in this place."""
        return command_id(self.words, self.place)


def command_id(words: Sequence[str], place: str) -> str:
    """Return the id of a command in a place: `cmd_` and the beginning of a SHA-256."""
    return f"cmd_{hashlib.sha256(json.dumps([list(words), place]).encode()).hexdigest()[:12]}"


def words_of(text: str) -> tuple[str, ...]:
    """Split a command into words as a shell does, without anything else that a shell does.

    Raise InvalidInput if it is empty, too long, has a control or hidden character, or has a character outside quotes on
    which a shell would act."""
    check_visible(text, "command")
    if any(name in text for name in "\n\r\t"):
        raise InvalidInput("The command has a line break or a tab.", "Write it on one line, with blanks.")
    if len(text) > MOST_LETTERS:
        raise InvalidInput(f"The command has more than {MOST_LETTERS:,} letters.", "Put it into a script.")
    try:
        words = tuple(shlex.split(text))
    except ValueError as problem:
        raise InvalidInput(f"The command cannot be split into words: {problem}.", "Close each quote.") from None
    if not words or not words[0]:
        raise InvalidInput("The command is empty.", "Write a program and its arguments, such as `make test`.")
    rest = _PLAIN.sub("", text)
    found = next((hit for part in _DOUBLE.findall(rest) if (hit := _SHELL_IN_DOUBLE.search(part))), None)
    found = found or _SHELL.search(_DOUBLE.sub("", rest))
    if found:
        raise InvalidInput(f"The command has '{found[0].strip()}', on which only a shell would act.", _HINT)
    if "=" in words[0]:
        raise InvalidInput(f"The command begins with '{words[0]}', which is no program.", "Write `env NAME=value ...`.")
    return words


def is_interpreter(word: str) -> bool:
    """Return whether a word names a program that runs the script in its next argument."""
    return _INTERPRETER.fullmatch(word.rpartition("/")[2]) is not None


def shown_words(words: Sequence[str]) -> str:
    """Return the words so that each is seen exactly: as a JSON list in ASCII."""
    return json.dumps(list(words))
