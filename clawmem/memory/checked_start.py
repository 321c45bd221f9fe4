"""Start an allowed command from private copies of what was checked: a checkout can change between check and start.

A script finds its neighbours by its own name, so each family of interpreters gets its copy in a way that keeps the
name. Files outside of the checkout run by their own path.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shlex
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.model.records.allowed_command import AllowedCommand, PinnedFile, is_interpreter, shown_words
from clawmem.platform.files import open_file

_LARGEST = 1_000_000_000
# Programs that start the command in their arguments.
_STARTERS = frozenset(("env", "ionice", "nice", "nohup", "setsid", "stdbuf", "time", "timeout"))
_SHELL, _PERL, _PYTHON, _NODE = "shell", "perl", "python", "node"
# The family of an interpreter, its names, and the options before a script. After others, such as `-c`, `-m` and
# `--test`, the file is an argument that the interpreter or its module reads.
_FAMILIES = tuple(
    (family, re.compile(rf"(?:{names})[0-9.]*"), re.compile(rf"(?: (?:{options}))*"))
    for family, names, options in (
        (_SHELL, "(?:ba|da|z|k)?sh", "[-+][abefhkmnptuvxBCEHP]*o?|errexit|nounset|pipefail|xtrace|--[a-z]+"),
        (_PERL, "perl", r"-[tTuUwWX]+|-[IMm]\S+"),
        (_PYTHON, "python|pypy", r"-[bBdEIOPqsSuvx]+|-[WX] ?\S+"),
        (_NODE, "node|nodejs", r"--(?:enable|no|trace|experimental|max)-\S+"),
        ("", ".*", r"-\S+"),
    )
)
_START_OF = {
    _SHELL: lambda folder: f"cd -- {shlex.quote(folder)} || exit 126; unset OLDPWD; ".encode(errors="surrogateescape"),
    _PERL: lambda folder: f'BEGIN {{ chdir pack("H*", "{os.fsencode(folder).hex()}") or exit 126 }} '.encode(),
}
_RUN_PYTHON = """\
import os, sys
del sys.argv[0]
sys.path[:1] = [os.path.dirname(os.path.realpath(sys.argv[0]))] if sys.path[:1] == [""] else sys.path[:1]
__file__ = os.path.abspath(sys.argv[0])
exec(compile(open({copy!r}, "rb").read(), sys.argv[0], "exec", dont_inherit=True))
"""
# Node reads modules in two ways. Its child processes inherit the option with this file, but not the variable.
_RUN_NODE = """\
const M = require("module"), {pathToFileURL} = require("url"), script = process.env.CLAWMEM_SCRIPT;
delete process.env.CLAWMEM_SCRIPT;
if (script) {
  const text = require("fs").readFileSync(COPY, "utf8"), compile = M.prototype._compile;
  M.prototype._compile = function (read, file, ...rest) {
    return compile.call(this, file === script ? text : read, file, ...rest);
  };
  M.register("data:text/javascript," + encodeURIComponent(`
    const script = ${JSON.stringify(pathToFileURL(script).href)}, text = ${JSON.stringify(text)};
    export async function load(url, context, next) {
      const found = await next(url, context);
      return url === script && found.source != null ? {...found, source: text} : found;
    }`));
}
"""


class CheckedStart(NamedTuple):
    """How to start a command: the file to execute, its words (the first is the name by which it is called), the folder
    in which it starts, and variables that its environment gets."""

    program: str
    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]


def checked_start(command: AllowedCommand, folder: Path, top: Path, private: Path) -> CheckedStart:
    """Return how to start an allowed command in a folder, so that it runs what was allowed whatever the checkout `top`
    has by then. The copies are written to `private`, an empty folder that only this run uses.

    Raise Refused if a copied file is not what was allowed, and NotFound if an interpreter is gone."""
    copies = _Copies(command, folder, top, private)
    first, *rest = copies.expanded([command.files[0].path, *command.words[1:]])
    return CheckedStart(copies.executable(first), (copies.absolute(first), *rest), copies.start, copies.environment)


class _Copies:
    """The private copies of one run, and what the words of the command become with them."""

    def __init__(self, command: AllowedCommand, folder: Path, top: Path, private: Path) -> None:
        self.folder, self.top, self.private = folder.resolve(), top.resolve(), private.resolve()
        self.files = {file.path: file for file in command.files}
        self.path = command.environment["PATH"]
        self.start, self.environment = self.folder, dict[str, str]()

    def expanded(self, words: list[str]) -> list[str]:
        """Return the words that start the program named by the first word. No script is left to the kernel."""
        file = self.inside(words[0])
        line = None if file is None else first_line(self.copied(file))
        if line is not None:
            interpreter = self._interpreter(line)
            return self._with_script([*interpreter, *words], len(interpreter), starts=True)
        name = words[0].rpartition("/")[2]
        if name in _STARTERS:
            at = next((place for place, word in enumerate(words) if place and self._is_code(word)), len(words))
            if at == len(words):
                return words
            found = words[at] if words[at] in self.files else find_program(words[at], self.folder, self.path)
            program, *rest = self.expanded([found, *words[at + 1 :]])
            own = self.inside(program)
            return [*words[:at], str(self.copied(own)) if own else self.absolute(program), *rest]
        at = next((place for place, word in enumerate(words) if place and self.inside(word)), 0)
        return self._with_script(words, at) if at and is_interpreter(name) else words

    def inside(self, word: str) -> PinnedFile | None:
        """Return the file of the command that a word names, if it is in the checkout."""
        file = self.files.get(word)
        return file if file is not None and (self.folder / file.real).is_relative_to(self.top) else None

    def executable(self, word: str) -> str:
        """Return the file to execute for the name of a program: a copy, or where a link of the checkout has led."""
        file = self.inside(word)
        if file is not None:
            return str(self.copied(file))
        is_link = word in self.files and self._place(word).is_relative_to(self.top)
        return self.files[word].real if is_link else self.absolute(word)

    def absolute(self, word: str) -> str:
        return word if word.startswith("/") else str(self.folder / word)

    def copied(self, file: PinnedFile) -> Path:
        """Return the private copy of a file. Raise Refused if it has not the content that was allowed."""
        copy = self.private / "top" / self._named(file).relative_to(self.top)
        if copy.exists():
            return copy
        copy.parent.mkdir(parents=True, exist_ok=True)
        with opened(self.folder / file.real) as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        if checksum_at(copy) != file.checksum:
            raise Refused(f"The content of {file.path} changes, so the command was not started.", "Try it again.")
        copy.chmod(0o700)
        return copy

    def _place(self, word: str) -> Path:
        return Path(os.path.normpath(self.folder / word))

    def _named(self, file: PinnedFile) -> Path:
        """Return the path in the checkout by which a script knows itself."""
        place = self._place(file.path)
        return place if place.is_relative_to(self.top) else self.folder / file.real

    def _is_code(self, word: str) -> bool:
        file = self.inside(word)
        return is_interpreter(word) or (file is not None and _is_code(self.copied(file), self.folder / file.real))

    def _interpreter(self, line: str) -> list[str]:
        """Return the words of a first line as the kernel passes them, without an `env` that only looks in PATH."""
        program, _, option = line.strip().partition(" ")
        words = [option.strip()] if option.strip() else []
        if program.rpartition("/")[2] == "env" and words:
            words = shlex.split(words[0].removeprefix("-S"))
            if words and not words[0].startswith("-") and "=" not in words[0]:
                program, *words = words
        return [find_program(program, self.folder, self.path), *words]

    def _with_script(self, words: list[str], at: int, starts: bool = False) -> list[str]:
        """Return the words of an interpreter with the copy of its script, the word at `at`. If the script is not what
        starts, and only options before it say that it is code, other options leave it as it is."""
        file = self.inside(words[at])
        assert file is not None
        options = "".join(f" {word}" for word in words[1:at])
        name = words[0].rpartition("/")[2]
        family, _, known = next(row for row in _FAMILIES if row[1].fullmatch(name))
        if not starts and not known.fullmatch(options):
            return words
        begin, *before = self.expanded(words[:1]) if starts else words[:1]
        return [begin, *before, *words[1:at], *self._given(family, file, words[at]), *words[at + 1 :]]

    def _given(self, family: str, file: PinnedFile, word: str) -> list[str]:
        """Return the words by which an interpreter reads a copy, and the script has its own name."""
        copy = self.copied(file)
        if family == _PYTHON:
            return ["-c", _RUN_PYTHON.format(copy=str(copy)), word]
        if family == _NODE:
            hook = self.private / "clawmem.cjs"
            hook.write_text(_RUN_NODE.replace("COPY", json.dumps(str(copy))))
            self.environment["CLAWMEM_SCRIPT"] = script = str(self.folder / file.real)
            return ["--require", str(hook), "--preserve-symlinks-main", script]
        if family not in _START_OF:
            return [str(copy)]
        # The interpreter starts in the folder of the copies, and the copy's first line goes to the real one.
        self.start = self.private / "top" / self.folder.relative_to(self.top)
        self.start.mkdir(parents=True, exist_ok=True)
        first, line, rest = copy.read_bytes().partition(b"\n")
        switches = re.findall(rb" (-\w+)", first) if family == _PERL and first.startswith(b"#!") else []
        begin = _START_OF[family](str(self.folder)) + (b"" if first.startswith(b"#!") else first)
        copy.write_bytes(begin + line + rest)
        name = os.path.relpath(self._named(file), self.folder)
        return [*map(os.fsdecode, switches), name if name.startswith("../") else f"./{name}"]


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a plain file without waiting and without following a last link. Raise InvalidInput for anything else, and
    NotFound if it cannot be read."""
    try:
        descriptor = open_file(path, os.O_RDONLY, follow=False)
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode) or state.st_size > _LARGEST:
                raise InvalidInput(f"{path} is no plain file, or too large.", "Name a file.")
            yield file
    except OSError as problem:
        raise NotFound(f"{path} cannot be read: {problem.strerror}.", "Name an existing file.") from None


def checksum_at(path: Path) -> str:
    """Return the SHA-256 of a plain file, in hexadecimal digits. Raise as `opened` does."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_program(word: str, folder: Path, path: str) -> str:
    """Return the path of the program that a word names: absolute, or relative to the folder. Raise NotFound."""
    if "/" in word:
        found = word
    else:
        candidates = (str(Path(other_word, word)) for other_word in path.split(os.pathsep))
        found = next((candidate for candidate in candidates if _is_executable(Path(candidate))), "")
        if not found:
            raise NotFound(
                f"There is no program {shown_words([word])} in PATH.",
                "Write its path, such as ./check.sh, or install it.",
            )
    if not _is_executable(folder / found):
        raise NotFound(f"{folder / found} is not an executable file.", "`chmod +x` makes a script executable.")
    return found


def first_line(path: Path) -> str | None:
    """Return what follows `#!` in a file, or None if it does not begin so."""
    with path.open("rb") as file:
        start = file.read(256)
    return start[2:].partition(b"\n")[0].decode(errors="replace") if start.startswith(b"#!") else None


def _is_code(content: Path, named: Path) -> bool:
    return os.access(named, os.X_OK) or first_line(content) is not None


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
