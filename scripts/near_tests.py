"""Print the test files near what changed: those of `make check`.

    python scripts/near_tests.py [BASE]

What changed is the difference of the work tree to where this branch left BASE (`main`), with files that git does not
know yet. Near a module are the test file of its path and the few test files that import little else; near a page, the
tests of the documentation; near a helper of tests, the tests that import it. How many others import what changed is
said on stderr: `make test` runs them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_MOST_OF_MODULE, _MOST = 3, 12  # test files that import a changed module, and all that do
_SLOW = ("tests/faults/", "tests/soak/", "tests/harness/")
_PAGES = ("tests/test_documents.py",)
_IMPORT = re.compile(
    r"^(?:from (?P<package>[\w.]+) import (?P<names>\([^)]*\)|[^\n]*)|import (?P<module>[\w.]+))", re.M
)


def main() -> None:
    """Print the test files, one a line."""
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
    """Return the test files near changed files, and further ones that import them."""
    tests = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.glob("tests/**/test_*.py")}
    imported = {name: modules_in(text) for name, text in tests.items() if not name.startswith(_SLOW)}
    near: list[str] = []
    importing: list[str] = []
    further: list[str] = []
    for path in changed:
        near += [name for name in _own_tests(path) if name in tests]
        if path.endswith(".py") and path not in tests:
            module = ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
            users = sorted((len(modules), name) for name, modules in imported.items() if module in modules)
            importing += [name for _, name in users[:_MOST_OF_MODULE]]
            further += [name for _, name in users[_MOST_OF_MODULE:]]
    near += importing[:_MOST]
    return list(dict.fromkeys(near)), sorted({*further, *importing[_MOST:]} - {*near})


def modules_in(text: str) -> set[str]:
    """Return the modules that a source file imports, with each name that it takes from a package."""
    found = set()
    for statement in _IMPORT.finditer(text):
        package = statement["package"] or statement["module"]
        found.add(package)
        found |= {f"{package}.{name}" for name in re.findall(r"[\w]+", statement["names"] or "")}
    return {name for name in found if name.startswith(("clawmem", "tests", "benchmarks"))}


def _own_tests(path: str) -> Iterator[str]:
    """Yield where the tests of one file are by the rules of CONTRIBUTING.md."""
    place = Path(path)
    if path.endswith(".md"):
        yield from _PAGES
    elif path.startswith("tests/"):
        yield path
    elif path.startswith("vault-template/"):
        yield "tests/model/settings/test_settings.py"
    elif place.suffix == ".py":
        yield str(Path("tests", *place.parts[1:-1], f"test_{place.name}"))


def _git(root: Path, *words: str) -> Sequence[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


if __name__ == "__main__":
    main()
