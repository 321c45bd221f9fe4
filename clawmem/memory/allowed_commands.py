"""Commands from files that agents can write: they run only if a person allowed exactly this command on this machine.

A command is allowed by its words, by the content of the files that it starts, and for one repository or folder. It runs
without a shell, in the environment that was recorded when it was allowed, within limits of time and output.

Start an allowed command from private copies of what was checked: a checkout can change between check and start.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NotFound, Refused, StorageFailed, Unreadable
from clawmem.model.forms import read_record, to_record
from clawmem.model.language.dates import stamp
from clawmem.model.records.allowed_command import (
    AllowedCommand,
    PinnedFile,
    command_id,
    is_interpreter,
    shown_words,
    words_of,
)
from clawmem.model.records.caller import Caller
from clawmem.platform.files import open_file
from clawmem.programs import run_in_folder
from clawmem.vault.disk import writer_lock
from clawmem.vault.git.acceptance import is_accepted
from clawmem.vault.git.git import personal_identity
from clawmem.vault.git.refs import common_dir_of, git_dir_of
from clawmem.vault.vault import Vault

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
        candidates = (str(Path(each, word)) for each in path.split(os.pathsep))
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


FILE = "allowed-commands.json"
NAME = f".git/clawmem/{FILE}"


def read_allowed(vault: Vault) -> tuple[AllowedCommand, ...]:
    """Return the allowed commands, oldest first. Raise Unreadable, and Refused for a link or an unaccepted vault."""
    path = vault.state / FILE
    if path.is_symlink():
        raise Refused(f"{NAME} is a symbolic link.", f"Delete it. {_AGAIN}")
    data = vault.disk.read(path)
    if data is None:
        return ()
    if not is_accepted(vault.git_dir, vault.environment):
        raise Refused(
            "This vault was not accepted on this machine, so the commands allowed in it have no effect.",
            "`clawmem config trust` accepts it. Look at `clawmem evaluate allow --list` afterwards.",
        )
    try:
        return tuple(read_record(AllowedCommand, command) for command in json.loads(data)["commands"])
    except (ValueError, TypeError, KeyError, RecursionError, InvalidInput) as problem:
        unread = Unreadable(NAME, None, f"it is not a list of allowed commands ({problem})")
        unread.hint = f"Delete it. {_AGAIN}"
        raise unread from None


def change_allowed(
    vault: Vault, purpose: str, changed: Callable[[tuple[AllowedCommand, ...]], Sequence[AllowedCommand]]
) -> None:
    """Replace the allowed commands under the writer lock.

    Raise Locked, StorageFailed, and what `read_allowed` raises.
    """
    if not is_accepted(vault.git_dir, vault.environment):
        raise Refused(
            "This vault was not accepted on this machine, so no command can be allowed in it.",
            "`clawmem config trust` shows what it suggests, and accepts it.",
        )
    try:
        vault.prepare_state()
        with writer_lock(vault.state / "lock", vault.settings.number("lock.wait_seconds"), purpose):
            records = [to_record(command, ()) for command in changed(read_allowed(vault))]
            text = json.dumps({"commands": records}, indent=1) + "\n"
            vault.disk.replace(vault.state / FILE, text.encode(), vault.state)
    except OSError as problem:
        raise StorageFailed(f"{NAME} cannot be written: {problem.strerror}.", "Nothing was changed.") from problem


_AGAIN = "A person allows the commands again with `clawmem evaluate allow COMMAND`."


SECONDS = "evaluate.timeout_seconds"
_MOST_BYTES = 1_000_000
# What a command does with clawmem, an agent does: so it cannot allow another command.
AS_AGENT = "command"
_MOST_ERRORS = 20_000
_DEEPEST = 4


class CommandRun(NamedTuple):
    """What an allowed command did: its words, what it wrote, its exit code (None: it was ended), why it was ended
    (empty: it ended by itself), and how long it took."""

    words: tuple[str, ...]
    output: str
    errors: str
    code: int | None
    ended: str
    milliseconds: int


def plan_command(vault: Vault, caller: Caller, text: str, folder: Path, pins: Sequence[str] = ()) -> AllowedCommand:
    """Return exactly what the command would run in a folder now, with `pins` as further files that must not change.

    Raise InvalidInput or NotFound for a command that cannot run, and Refused in the folder of the vault."""
    words = words_of(text)
    place = _place_of(vault, folder)
    path = _search_path(vault)
    program = find_program(words[0], folder, path)
    started = [program, *_scripts(words, folder), *pins]
    named = dict.fromkeys(each for name in started for each in (name, *_interpreters(name, folder, path, 0)))
    files = tuple(_pinned(vault, name, folder) for name in named)
    environment = {"PATH": path, "HOME": vault.environment.get("HOME", os.sep)}
    identity = personal_identity(vault.git)
    by = f"{identity.name} <{identity.email}>" if identity else ""
    return AllowedCommand(words, str(place), files, environment, stamp(caller.now), by)


def checksum_of(command: AllowedCommand) -> str:
    """Return what identifies all of a planned command: its words, place, files and environment."""
    record = {**to_record(command, ()), "at": "", "by": ""}
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16]


def allow_command(vault: Vault, command: AllowedCommand) -> None:
    """Allow a planned command on this machine. It replaces an allowance of the same words in the same place."""
    change_allowed(
        vault,
        "evaluate allow",
        lambda items: [*(each for each in items if each.id != command.id), command],
    )


def remove_command(vault: Vault, reference: str) -> AllowedCommand:
    """Withdraw the allowance of a command, by its id or its words. Agents may do that, too. Raise NotFound."""
    found = [command for command in read_allowed(vault) if reference == command.id]
    found = found or [command for command in read_allowed(vault) if command.words == words_of(reference)]
    if len(found) != 1:
        raise NotFound(
            f"{'More than one' if found else 'No'} allowed command is '{reference}'.",
            "`clawmem evaluate allow --list` shows the ids.",
        )
    change_allowed(vault, "evaluate allow", lambda now: [command for command in now if command.id != found[0].id])
    return found[0]


def find_allowed(vault: Vault, text: str, folder: Path, place: Path | None = None) -> AllowedCommand:
    """Return the allowance under which a command may run in a folder now.

    `place` is the checkout to which the work belongs, if `folder` is a copy of it. Raise Refused if nobody allowed the
    command there, or if a file has changed since."""
    words = words_of(text)
    where = _place_of(vault, folder if place is None else place)
    _place_of(vault, folder)
    found = {command.id: command for command in read_allowed(vault)}.get(command_id(words, str(where)))
    if found is None:
        raise Refused(f"The command {shown_words(words)} is not allowed in this place on this machine.", _hint(words))
    changed = _changed_file(vault, found, folder)
    if changed is not None:
        raise Refused(f"The command {shown_words(words)} is not allowed any more: {changed}", _hint(words))
    return found


def is_allowed_place(vault: Vault, folder: Path) -> bool:
    """Return whether a person allowed a command in the repository of a folder, which has to be the top of a checkout,
    or in the folder itself."""
    if top_of_checkout(folder) != folder.resolve():
        return False
    return str(_place_of(vault, folder)) in {command.place for command in read_allowed(vault)}


def top_of_checkout(folder: Path) -> Path:
    """Return the top of the checkout that a folder is in, or the folder itself."""
    here = folder.resolve()
    return next((parent for parent in (here, *here.parents) if git_dir_of(parent) is not None), here)


def run_command(vault: Vault, text: str, folder: Path, place: Path | None = None, given: bytes = b"") -> CommandRun:
    """Run an allowed command in a folder, as `find_allowed` finds it, with `given` on stdin. Return what it did.

    Raise Refused if it is not allowed, cannot be started, or one of its files changed while it ran."""
    allowed = find_allowed(vault, text, folder, place)
    seconds = vault.settings.number(SECONDS)
    with (
        TemporaryDirectory(prefix="clawmem-", ignore_cleanup_errors=True) as temporary,
        TemporaryDirectory(prefix="clawmem-", ignore_cleanup_errors=True) as private,
    ):
        start = checked_start(allowed, folder, top_of_checkout(folder), Path(private))
        environment = {
            **allowed.environment, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
            "TMPDIR": temporary, "CLAWMEM_AGENT": AS_AGENT, **start.environment,
        }  # fmt: skip
        try:
            run = run_in_folder(
                start.words, start.folder, seconds, environment, _MOST_BYTES, _MOST_ERRORS, given, start.program
            )
        except OSError as problem:
            program = allowed.files[0].path
            raise Refused(f"The program {program} cannot be started: {problem.strerror}.", _START) from None
    changed = _changed_file(vault, allowed, folder)
    if changed is not None:
        raise Refused(f"A file of the command changed while it ran, so its result does not count: {changed}", _START)
    ended = f"it wrote more than {_MOST_BYTES:,} bytes" if run.too_long else ""
    if not ended and run.code is None:
        ended = f"it took more than {seconds:g} seconds"
    output, errors = (part.decode(errors="replace") for part in (run.output, run.errors))
    return CommandRun(allowed.words, output, errors, None if ended else run.code, ended, run.milliseconds)


def _place_of(vault: Vault, folder: Path) -> Path:
    """Return where an allowance for a folder holds: its repository with all linked work trees, else the folder.

    Raise Refused for the folder of the vault, and NotFound if there is no such folder."""
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}.", "Name the folder of a checkout with --work.")
    here = folder.resolve()
    _check_outside(vault, here, "A command does not run in the folder of the vault")
    for root in (here, *here.parents):
        git_dir = git_dir_of(root)
        if git_dir is not None:
            return _repository(root, git_dir)
    return here


def _repository(root: Path, git_dir: Path) -> Path:
    """Return the shared git folder of a work tree. A file `.git` that the repository does not know is not believed,
    because anybody can write one that names another repository."""
    if not (root / ".git").is_symlink() and (root / ".git").is_dir():
        return git_dir.resolve()
    try:
        known = (git_dir / "gitdir").read_text().strip()
    except (OSError, ValueError):
        return root
    return common_dir_of(git_dir) if Path(known).resolve() == (root / ".git").resolve() else root


def _check_outside(vault: Vault, path: Path, what: str) -> None:
    for inside in (vault.root.resolve(), vault.git_dir.resolve()):
        if path.is_relative_to(inside):
            raise Refused(f"{what}: {path}.", "Agents and other machines write there. Use a checkout outside of it.")


def _search_path(vault: Vault) -> str:
    """Return the absolute folders of PATH, without those of the vault."""
    root = vault.root.resolve()
    folders = vault.environment.get("PATH", os.defpath).split(os.pathsep)
    kept = [folder for folder in folders if folder.startswith("/") and not Path(folder).resolve().is_relative_to(root)]
    return os.pathsep.join(dict.fromkeys(kept))


def _interpreters(script: str, folder: Path, path: str, depth: int) -> Iterator[str]:
    """Yield the programs that the first line of a script names, as the kernel and `env` find them, and theirs."""
    try:
        first = first_line(folder / script)
    except OSError:
        return  # `_pinned` names the problem
    if first is None or depth >= _DEEPEST:
        return
    words = [word for word in first.split() if not word.startswith("-") and "=" not in word]
    for word in words[:2] if words and words[0].rpartition("/")[2] == "env" else words[:1]:
        found = find_program(word, folder, path)
        yield found
        yield from _interpreters(found, folder, path, depth + 1)


def _scripts(words: Sequence[str], folder: Path) -> Iterator[str]:
    """Yield the arguments that are code: executable files, files that name an interpreter, and the first file after the
    name of an interpreter."""
    awaited = False
    for place, word in enumerate(words):
        is_file = place > 0 and "\0" not in word and (folder / word).is_file()
        if is_file and (awaited or os.access(folder / word, os.X_OK) or first_line(folder / word) is not None):
            yield word
            awaited = False
        elif is_interpreter(word):
            awaited = True


def _pinned(vault: Vault, named: str, folder: Path) -> PinnedFile:
    """Return a file as it is now. Raise NotFound or InvalidInput if it cannot be read, and Refused in the vault."""
    path = folder / named
    real = path.resolve()
    _check_outside(vault, real, "A command does not start a file of the vault")
    here = folder.resolve()
    inside = not named.startswith("/") and real.is_relative_to(here)
    return PinnedFile(named, real.relative_to(here).as_posix() if inside else str(real), checksum_at(real))


def _changed_file(vault: Vault, allowed: AllowedCommand, folder: Path) -> str | None:
    """Return which file is not what was allowed, or None."""
    for file in allowed.files:
        try:
            now = _pinned(vault, file.path, folder)
        except ClawmemError as problem:
            return problem.message
        if now.real != file.real:
            return f"{file.path} leads to {now.real}, not to {file.real}."
        if now.checksum != file.checksum:
            return f"the content of {file.path} has changed."
    return None


def _hint(words: Sequence[str]) -> str:
    text = shlex.quote(shlex.join(words))
    return f"A person looks at it, and then allows it: `clawmem evaluate allow {text} --work FOLDER`."


_START = "Try it by hand in the folder of the work."
