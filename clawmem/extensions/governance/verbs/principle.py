"""`clawmem principle check|list|show`: principles are read, and the files of a folder are checked against them."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from clawmem import __version__
from clawmem.errors import (
    DONE,
    REFUSED,
    ClawmemError,
    ConflictMarkers,
    GitFailed,
    IncompleteAnswer,
    InvalidInput,
    NotFound,
    NoVault,
    Refused,
    Unreadable,
)
from clawmem.extensions.governance.principle import (
    PRINCIPLES_PATH,
    Finding,
    PathMatcher,
    Principle,
    parse_principles,
    sarif_log,
)
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import data_of
from clawmem.model.language.text import counted
from clawmem.model.records.strict_json import YAML_BYTES, refuse_unread
from clawmem.vault.git.git import Git
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.runtime import Runtime


MOST_FILES = 50_000
MOST_BYTES = 2_000_000
LONGEST_LINE = 2000
MOST_FINDINGS = 10_000
SECONDS = 30.0
_LEAST_SECONDS = 0.001
_LOOKED_AT = 8192
_LOCATION = re.compile(r"(?P<path>[^:\s][^:]*):(?P<line>[0-9]{1,7}):(?:[0-9]+:)?\s*(?P<text>.*)")


class PrincipleCheck(NamedTuple):
    """What was found, in the order of paths and lines, how many files were checked, and what was left out."""

    findings: tuple[Finding, ...]
    checked: int
    notices: tuple[str, ...] = ()


class _Found(NamedTuple):
    findings: list[Finding]
    notices: list[str]


def read_principles(vault: Vault) -> tuple[Principle, ...]:
    """Return the principles of a vault; none if it has no file of them. Raise Unreadable, with line and key."""
    data = vault.read(PRINCIPLES_PATH)
    refuse_unread(data, PRINCIPLES_PATH)
    return parse_principles(data or b"", PRINCIPLES_PATH, parse_yaml)


def completed_principles(runtime: Runtime, prefix: str, before: Sequence[str]) -> list[tuple[str, str]]:
    """Return the ids of principles that begin with the word at the cursor of a shell, with their rules."""
    principles = read_principles(runtime.vault())
    return [(principle.id, principle.rule) for principle in principles if principle.id.startswith(prefix)]


def read_principles_file(path: Path) -> tuple[Principle, ...]:
    """Return the principles of any file. Raise InvalidInput if it cannot be read, with line and key."""
    try:
        with path.open("rb") as file:
            data = file.read(YAML_BYTES + 1)
    except OSError as problem:
        raise InvalidInput(f"{path} cannot be read: {problem.strerror}.", "Name a file of principles.") from None
    if len(data) > YAML_BYTES:
        raise InvalidInput(f"{path} has more than {YAML_BYTES:,} bytes.", "Divide it.")
    try:
        return parse_principles(data, str(path), parse_yaml)
    except (Unreadable, ConflictMarkers) as problem:
        raise InvalidInput(problem.message, "Repair the file.") from None  # it is no file of a vault


def find_principle(principles: Sequence[Principle], name: str) -> Principle:
    """Return a principle. Raise NotFound, naming the existing ones."""
    found = next((principle for principle in principles if principle.id == name), None)
    if found is None:
        names = ", ".join(principle.id for principle in principles) or "none"
        raise NotFound(f"There is no principle '{name}'.", f"The principles are: {names}.")
    return found


def check_files(
    principles: Sequence[Principle],
    target: Path,
    environment: Mapping[str, str],
    vault: Vault | None = None,
    seconds: float = SECONDS,
) -> PrincipleCheck:
    """Check a file, or every text file below a folder; in a git checkout only files that it does not ignore.

    Paths are relative to the top of the checkout that contains the target, or else to the folder. Binary files, links
    and files above MOST_BYTES are left out. A principle with a command runs it at that top, if a person allowed it
    there on this machine (`clawmem.memory.allowed_commands`); without `vault`, it is left out. Raise Refused if the
    patterns take more than `seconds`; the message names the principle.
    """
    if not target.exists():
        raise NotFound(f"There is no file or folder {target}.", "Name one that exists.")
    target = target.resolve()
    root = _top(target) or (target if target.is_dir() else target.parent)
    paths, notices = _paths(root, target, environment)
    matchers = [(principle, PathMatcher(principle.paths)) for principle in principles if principle.pattern]
    found = _Found([], notices)
    checked, end = 0, time.monotonic() + seconds
    for path in paths:
        wanted = [principle for principle, matcher in matchers if matcher.matches(path)]
        text = _text(root / path, path, notices) if wanted else None
        if text is None:
            continue
        checked += 1
        _check_text(path, text, wanted, found, end)
        if len(found.findings) >= MOST_FINDINGS:
            notices.append(f"there are more than {MOST_FINDINGS:,} findings; the rest was not checked")
            break
    for principle in principles:
        if principle.command is not None:
            _run(principle, principle.command, root, vault, set(paths), found)
    return PrincipleCheck(tuple(found.findings), checked, tuple(notices))


def _run(principle: Principle, command: str, root: Path, vault: Vault | None, paths: Set[str], found: _Found) -> None:
    """Run the command of a principle. Lines `file:line: text` of its output are findings, if the principle is about the
    file and the file is checked; without any, a command that fails is one finding without a line."""
    if vault is None:
        found.notices.append(
            IncompleteAnswer(f"{principle.id} was not checked: its command needs a vault, see --vault")
        )
        return
    from clawmem.memory.allowed_commands import run_command  # few principles run one

    try:
        run = run_command(vault, command, root)
    except ClawmemError as problem:
        found.notices.append(IncompleteAnswer(f"{principle.id} was not checked: {problem.message} {problem.hint}"))
        return
    if run.code is None:
        found.notices.append(IncompleteAnswer(f"{principle.id} was not checked: its command was ended: {run.ended}"))
    if not run.code:
        return
    matcher = PathMatcher(principle.paths)
    named = [match for line in f"{run.output}\n{run.errors}".split("\n") if (match := _LOCATION.match(line.strip()))]
    rows = [
        Finding(path, int(match["line"]), 1, 1, principle.id, principle.rule, match["text"])
        for match in named[:MOST_FINDINGS]
        if (path := match["path"].removeprefix("./")) in paths and matcher.matches(path) and int(match["line"])
    ]
    text = next((line.strip() for line in f"{run.errors}\n{run.output}".split("\n") if line.strip()), "")
    why = f"{principle.rule} ({command}: exit code {run.code}. {text})".rstrip()
    found.findings.extend(rows or [Finding(".", 0, 1, 1, principle.id, principle.rule, why)])


def _check_text(path: str, text: str, wanted: Sequence[Principle], found: _Found, end: float) -> None:
    lines = text.split("\n")
    long = [number for number, line in enumerate(lines, 1) if len(line) > LONGEST_LINE]
    if long:
        found.notices.append(f"{path}:{long[0]} is long: only its first {LONGEST_LINE:,} characters were checked")
    rows = []
    for principle in wanted:
        for number, line in enumerate(lines, 1):
            shown = line[:LONGEST_LINE].rstrip("\r")
            try:
                span = principle.breaks(shown, max(_LEAST_SECONDS, end - time.monotonic()))
            except TimeoutError:
                raise Refused(
                    f"The check took too long; the last was the principle {principle.id} in {path}.",
                    "Make its pattern simpler, or check a smaller folder.",
                ) from None
            if span:
                rows.append(Finding(path, number, span[0] + 1, span[1] + 1, principle.id, principle.rule, shown))
    found.findings.extend(sorted(rows, key=lambda row: (row.line, row.start, row.principle)))


def _top(target: Path) -> Path | None:
    """Return the top folder of the checkout that contains a file or folder, or None."""
    folder = target if target.is_dir() else target.parent
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)


def _paths(root: Path, target: Path, environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the files to check, relative to the root and sorted, and notices."""
    notices: list[str] = []
    if target.is_file():
        return [target.relative_to(root).as_posix()], notices
    found = _files_of_git(root, target, environment, notices) if (root / ".git").exists() else None
    names = sorted(set(found if found is not None else _files_below(root, target)))
    if len(names) > MOST_FILES:
        notices.append(f"there are {len(names):,} files; only the first {MOST_FILES:,} were checked")
    return names[:MOST_FILES], notices


def _files_of_git(
    root: Path, target: Path, environment: Mapping[str, str], notices: list[str]
) -> list[str] | None:  # fmt: skip
    below = [] if target == root else [f":(top,literal){target.relative_to(root).as_posix()}"]
    try:
        printed = Git(root, environment).run(
            "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *below
        )
    except (GitFailed, Refused) as problem:
        notices.append(f"git cannot list the files, so ignored files are checked, too: {problem.message}")
        return None
    return [os.fsdecode(word) for word in printed.split(b"\0") if word]


def _files_below(root: Path, target: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(target):
        folders[:] = sorted(other_folder for other_folder in folders if other_folder != ".git")
        for name in names:
            yield (Path(folder) / name).relative_to(root).as_posix()


def _text(path: Path, name: str, notices: list[str]) -> str | None:
    """Return the text of a file, or None if it is no text file."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as problem:
        notices.append(f"{name} was not checked: {problem.strerror}")
        return None
    if b"\0" in data[:_LOOKED_AT]:
        return None
    if len(data) > MOST_BYTES:
        notices.append(f"{name} was not checked: it has more than {MOST_BYTES:,} bytes")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def check(
    call: Call,
    path: Annotated[
        str | None, Parameter("The folder, repository or file; the default is this folder.", completes="file")
    ],
    file: Annotated[str | None, _FILE],
    sarif: Annotated[bool, Parameter("Print the findings as SARIF 2.1.0.", ("--sarif",))],
) -> Answer:
    """Check a folder, a repository or one file against the principles. Each line that breaks one is printed as
    `file:line: id: rule`, and the exit code is 1. In a git checkout, ignored files are left out, and globs and printed
    paths are relative to its top. Binary files are left out. A command of a principle runs only if a person allowed it
    there: `clawmem evaluate allow COMMAND --work FOLDER`."""
    principles = _principles(call, file)
    runtime = call.runtime
    vault = None
    with suppress(NoVault):  # the principles of a file need none
        vault = runtime.vault() if any(principle.command for principle in principles) else None
    result = check_files(principles, runtime.working_folder / (path or "."), runtime.environment, vault)
    not_run = [notice for notice in result.notices if isinstance(notice, IncompleteAnswer)]
    if sarif:
        lines = json.dumps(sarif_log(result.findings, principles, __version__, not_run), indent=1).split("\n")
    else:
        lines = [
            f"{each.path}:{each.line}: {each.principle}: {each.rule if each.line else each.text}"
            for each in result.findings
        ]
    broken = counted(len(result.findings), "line") + (" breaks" if len(result.findings) == 1 else " break")
    text = (
        f"{broken} a principle; {counted(result.checked, 'file')} checked against {counted(len(principles), 'rule')}."
    )
    return Answer(data_of(result), lines, result.notices, REFUSED if result.findings else DONE, (text,))


def list_(call: Call, file: Annotated[str | None, _FILE]) -> Answer:
    """List the principles."""
    found = _principles(call, file)
    rows = [(principle.id, principle.rule, " ".join(principle.paths)) for principle in found]
    talk = () if rows else (f"There are no principles; they are in {PRINCIPLES_PATH}.",)
    return Answer(
        {"principles": [_data(principle) for principle in found]},
        Table(("principle", "rule", "paths"), rows),
        talk=talk,
    )


def show(
    call: Call,
    principle: Annotated[str, Parameter("The principle's id.", completes="principle")],
    file: Annotated[str | None, _FILE],
) -> Answer:
    """Show a principle: its rule and reason, the files it is about, its check, and its examples."""
    found = find_principle(_principles(call, file), principle)
    lines = [f"{found.id}: {found.rule}", f"reason: {found.reason}", f"paths: {' '.join(found.paths)}"]
    lines.append(f"no line may match: {found.pattern.pattern}" if found.pattern else f"command: {found.command}")
    lines += [f"good: {line}" for example in found.good for line in example.splitlines()]
    lines += [f"bad: {line}" for example in found.bad for line in example.splitlines()]
    return Answer({"principle": _data(found)}, lines)


def _principles(call: Call, file: str | None) -> tuple[Principle, ...]:
    return read_principles_file(call.runtime.working_folder / file) if file else read_principles(call.runtime.vault())


def _data(principle: Principle) -> dict[str, Any]:
    check = {"regex": principle.pattern.pattern} if principle.pattern else {"command": principle.command}
    return {
        **{key: getattr(principle, key) for key in ("id", "rule", "reason")},
        "paths": list(principle.paths),
        "check": check,
        "good": list(principle.good),
        "bad": list(principle.bad),
    }


_PRINCIPLE = {
    "id": str, "rule": str, "reason": str, "paths": [str], "check": {"regex?": str, "command?": str}, "good": [str],
    "bad": [str],
}  # fmt: skip
_FILE = Parameter("The file of principles; the default is the vault's.", ("--file",), metavar="PATH", completes="file")

VERB = {
    "check": Command(
        check,
        {"findings": [Finding], "checked": int},
        ("clawmem principle check", "clawmem principle check copies --sarif"),
        ("findings",),
    ),
    "list": Command(list_, {"principles": [_PRINCIPLE]}, ("clawmem principle list",), ("principles",)),
    "show": Command(
        show,
        {"principle": _PRINCIPLE},
        ("clawmem principle show no-breakpoints",),
        ("principle",),
    ),
}
