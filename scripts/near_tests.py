"""Print the test files near what changed: those of `make check`.

    python scripts/near_tests.py [BASE]

What changed is the difference of the work tree to where this branch left BASE (`main`), with files that git does not
know yet. Near a module are the test files of its path and of its package, the few that import little else, those that
use its public names that these do not have and, for a verb, those and the transcripts that call it most; where these
are few, what is near the modules that import it, or else the tests of its folder. Near a page are the tests of the
documentation; near a helper of tests, the tests that import it. How many others import what changed is said on
stderr: `make test` runs them.
"""

from __future__ import annotations

import os.path
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

_MOST_OF_MODULE, _MOST = 3, 12  # test files that import a changed module, and all that do
_MOST_CALLING = 2  # test files that call a verb, or that use the word of a module's name
_MOST_OF_COMMANDS = 4  # test files that call the commands of a verb's module
_LETTERS = 6  # of that word, so that `budgeted` finds `--budget`
_FEWEST, _FEWEST_WITHOUT_OWN = 2, 5  # test files near a module; where there are fewer, its importers' count
_FARTHEST = 3  # steps from a module to an importer
_SLOW = ("tests/faults/", "tests/soak/", "tests/harness/")
_PAGES = ("tests/test_documents.py",)
_MOST_OF_NAMES = 3  # test files for the public names of a module that those have not
_PUBLIC = re.compile(r"^(?:def|class) ([A-Za-z]\w*)|^([A-Z]\w*)(?=:| =)", re.M)
_COMMAND = re.compile(r'^(    |        )"([\w-]+)": (?:Command|\{$)', re.M)
_WORD = re.compile(r"\w+")
_IMPORT = re.compile(
    r"^[ ]*(?:from (?P<package>[\w.]+) import (?P<names>\([^)]*\)|[^\n]*)|import (?P<module>[\w.]+))", re.M
)


def main() -> None:
    """Print the test files, and tests of transcripts, one a line."""
    root = Path.cwd()
    near, further = near_tests(root, changed_files(root, sys.argv[1] if len(sys.argv) > 1 else "main"))
    if further:
        sys.stderr.write(f"{len(further)} further test files import what changed: `make test` runs them.\n")
    sys.stdout.write("".join(f"{name}\n" for name in near))


def changed_files(root: Path, base: str) -> list[str]:
    """Return the paths that differ from where HEAD left a branch, or from HEAD where there is no such branch."""
    fork = _git(root, "merge-base", base, "HEAD") or ["HEAD"]
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted({*_git(root, "diff", "--name-only", "--no-renames", fork[0]), *new})


def near_tests(root: Path, changed: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the test files near changed files, with tests of transcripts, and further files that import them."""
    sources = {
        path.relative_to(root).as_posix(): path.read_text("utf-8") for path in sorted(root.glob("clawmem/**/*.py"))
    }
    tests = {
        path.relative_to(root).as_posix(): path.read_text("utf-8") for path in sorted(root.glob("tests/**/test_*.py"))
    }
    imported = {name: modules_in(text) for name, text in tests.items() if not name.startswith(_SLOW)}
    importers = {name: modules_in(text) for name, text in sources.items()}
    near: list[str] = []
    importing: list[str] = []
    further: list[str] = []
    for path in changed:
        own = [name for name in sorted(tests) if any(fnmatch(name, pattern) for pattern in _own_tests(path))]
        users = _users(path, imported) if path.endswith(".py") and path not in tests else []
        calls = _callers(path, sources, tests)
        own += [] if own or path not in sources else _of_folder(path, tests)
        level, seen, fewest = [path], {path}, _FEWEST if own else _FEWEST_WITHOUT_OWN
        for _ in range(_FARTHEST if path in sources else 0):
            if len({*own, *users[:_MOST_OF_MODULE], *calls}) >= fewest:
                break
            level = [name for module in level for name in _users(module, importers) if name not in seen]
            level.sort(key=lambda name: -_shared(path, name))
            seen |= {*level}
            found = [
                name for module in level for name in (*_own_tests(module), *_users(module, imported)) if name in tests
            ]
            found += [name for module in level for name in _callers(module, sources, tests)]
            own += list(dict.fromkeys(found))[:_MOST_OF_MODULE]
        if path in sources and not {*own, *users, *calls}:
            folder = Path("tests", *Path(path).parts[1:-1]).as_posix()
            own = [name for name in sorted(tests) if Path(name).parent.as_posix() == folder][:_MOST_OF_MODULE]
        own += _of_other_names(path, sources, tests, imported, importers, {*own, *calls, *users[:_MOST_OF_MODULE]})
        near += [*own, *calls, *_transcripts(root, path, sources)]
        importing += users[:_MOST_OF_MODULE]
        further += users[_MOST_OF_MODULE:]
    near += importing[:_MOST]
    return list(dict.fromkeys(near)), sorted({*further, *importing[_MOST:]} - {*near})


def _of_folder(path: str, tests: Mapping[str, str]) -> list[str]:
    """Return the two test files in a module's folder that use the word of its name most often."""
    place = Path(path)
    folder, word = Path("tests", *place.parts[1:-1]).as_posix(), place.stem[:_LETTERS]
    counts = {name: text.count(word) for name, text in tests.items() if Path(name).parent.as_posix() == folder}
    return sorted((name for name in counts if counts[name]), key=lambda name: (-counts[name], name))[:_MOST_CALLING]


def _of_other_names(
    path: str,
    sources: Mapping[str, str],
    tests: Mapping[str, str],
    imported: Mapping[str, set[str]],
    importers: Mapping[str, set[str]],
    near: Collection[str],
) -> list[str]:
    """Return the test files that use most of a module's public names that no near test has.

    They import the module, or are those of a module that uses the name.
    """
    names = {a or b for a, b in _PUBLIC.findall(sources.get(path, ""))}
    names -= {name for test in near for name in _WORD.findall(tests[test])}
    users = {test: names.intersection(_WORD.findall(tests[test])) for test in _users(path, imported)}
    for module in _users(path, importers) if names else ():
        used = names.intersection(_WORD.findall(sources[module]))
        for test in tests:
            if not test.startswith(_SLOW) and any(fnmatch(test, pattern) for pattern in _own_tests(module)):
                users[test] = users.get(test, set()) | used
    found: list[str] = []
    while names and len(found) < _MOST_OF_NAMES:
        best = max(users, key=lambda test: len(names & users[test]), default="")
        if not best or not names & users[best]:
            break
        found.append(best)
        names -= users[best]
    return found


def _users(path: str, imported: Mapping[str, set[str]]) -> list[str]:
    """Return the files that import the module at a path, those that import little else first."""
    module = ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
    return [name for _, name in sorted((len(modules), name) for name, modules in imported.items() if module in modules)]


def _callers(path: str, sources: Mapping[str, str], tests: Mapping[str, str]) -> list[str]:
    """Return the two test files that call most commands of a verb's module, those of its name or folder first, and
    further ones for commands that these do not call."""
    place = Path(path)
    words = [", ".join(f'"{word}"' for word in command) for command in _commands(path, sources)]
    calls = [re.compile(rf"[(\[]{each}[,)\]]") for each in words]
    counts = {
        name: {call: len(found) for call in calls if (found := call.findall(text))}
        for name, text in tests.items()
        if not name.startswith(_SLOW)
    }
    folder = "" if place.parent.name == "verbs" else Path("tests", *place.parts[1:-1]).as_posix()
    left, chosen = set(calls), list[str]()

    def rank(name: str) -> tuple[bool, bool, bool, int]:
        own = Path(name)
        is_new, in_folder = bool(left & counts[name].keys()), own.parent.as_posix() == folder
        return is_new, place.stem in own.name, in_folder, sum(counts[name].values())

    while len(chosen) < (_MOST_OF_COMMANDS if left else _MOST_CALLING):
        best = max((name for name in counts if counts[name] and name not in chosen), key=rank, default=None)
        if best is None or (len(chosen) >= _MOST_CALLING and not left & counts[best].keys()):
            break
        chosen.append(best)
        left -= counts[best].keys()
    return chosen


def _transcripts(root: Path, path: str, sources: Mapping[str, str]) -> list[str]:
    """Return the tests of the two transcripts with most commands of a verb's module."""
    lines = {
        text.stem: re.findall(r"^\$ .*", text.read_text("utf-8"), re.M) for text in root.glob("tests/transcripts/*.txt")
    }
    commands = [re.compile(rf"\bclawmem {' '.join(words)}\b") for words in _commands(path, sources)]
    counts = {
        name: sum(any(command.search(line) for command in commands) for line in lines[name]) for name in sorted(lines)
    }
    chosen = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])[:_MOST_CALLING]
    return [f"tests/transcripts/test_transcripts.py::test_transcript[{name}]" for name in chosen]


def _commands(path: str, sources: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the words of each command of a verb's module: those of its table, or its name; none of other modules."""
    place = Path(path)
    if not any(name.endswith(f"/verbs/{place.name}") for name in sources):
        return []
    found: list[tuple[str, ...]] = []
    for indent, word in _COMMAND.findall(sources.get(path, "").partition("\nVERBS = {\n")[2]):
        if len(indent) == 4:
            verb = word
            found.append((verb,))
        else:
            found = [words for words in found if words != (verb,)] + [(verb, word)]
    return found or [(place.stem,)]


def _shared(path: str, other: str) -> int:
    """Return how many folders two paths share from the top."""
    return len(Path(os.path.commonpath([path, other])).parts)


def modules_in(text: str) -> set[str]:
    """Return the modules that a source file imports, with each name that it takes from a package."""
    found = set()
    for statement in _IMPORT.finditer(text):
        package = statement["package"] or statement["module"]
        found.add(package)
        found |= {f"{package}.{name}" for name in re.findall(r"[\w]+", statement["names"] or "")}
    return {name for name in found if name.startswith(("clawmem", "tests", "benchmarks"))}


def _own_tests(path: str) -> Iterator[str]:
    """Yield where the tests of one file are by the rules of CONTRIBUTING.md, as patterns."""
    place = Path(path)
    if path.endswith(".md"):
        yield from _PAGES
    elif path.startswith("tests/"):
        yield path
    elif path.startswith("vault-template/"):
        yield "tests/model/settings/test_settings.py"
    elif place.suffix == ".py":
        yield str(Path("tests", *place.parts[1:-1], f"test_{place.name}"))
        yield str(Path("tests", *place.parts[1:-1], f"test_{place.stem}_*.py"))
        if len(place.parts) > 2:
            yield str(Path("tests", *place.parts[1:-2], f"test_{place.parts[-2]}.py"))
        if len(place.parts) > 3:  # tests of a package that has one folder of tests
            yield str(Path("tests", *place.parts[1:-2], f"test_{place.stem}.py"))
            yield str(Path("tests", *place.parts[1:-2], f"test_{place.stem}_*.py"))


def _git(root: Path, *words: str) -> Sequence[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


if __name__ == "__main__":
    main()
