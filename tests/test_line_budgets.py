"""`make lint` stops a package that grows without a word, and a row that no longer says what a package weighs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECK = ROOT / "scripts" / "line_budgets.py"
ROWS = """\
memory = 300
vault = 2
"top-level modules" = 1
"all of clawmem" = 303
modules = 3
"words of docs" = 4
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two packages whose rows fit to the line."""
    for name, lines in (("memory/facts/remember.py", 300), ("vault/git.py", 2), ("errors.py", 1)):
        module = tmp_path / "clawmem" / name
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text("x = 1\n" * lines)
    for folder in ("scripts", "docs/decisions"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/decisions/files.md").write_text("# Files\n\nOne registry.\n")
    (tmp_path / "scripts" / "line_budgets.toml").write_text(ROWS)
    return tmp_path


def check(project: Path) -> tuple[int, str]:
    result = subprocess.run([sys.executable, CHECK, project], capture_output=True, text=True, timeout=60)
    assert result.stdout == ""
    return result.returncode, result.stderr


def change_row(project: Path, name: str, value: int) -> None:
    rows = project / "scripts" / "line_budgets.toml"
    rows.write_text(re.sub(rf'^("?{name}"?) = \d+$', rf"\1 = {value}", rows.read_text(), flags=re.MULTILINE))


def test_nothing_is_said_where_every_row_fits(project: Path) -> None:
    """Text that is no Python does not count."""
    (project / "clawmem" / "vault" / "page.html").write_text("<p>\n" * 50)
    assert check(project) == (0, "")


def test_each_extension_has_a_row_of_its_own(project: Path) -> None:
    for path in ("extensions/__init__.py", "extensions/wiki/__init__.py", "extensions/wiki/web/site.py"):
        module = project / "clawmem" / path
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text("x = 1\n")
    code, text = check(project)
    assert code == 1
    assert "clawmem/extensions/wiki has no row in scripts/line_budgets.toml. Add one of 2" in text
    assert "clawmem/extensions has no row in scripts/line_budgets.toml. Add one of 1" in text


def test_a_package_that_grows_fails_with_its_name_and_its_lines(project: Path) -> None:
    with (project / "clawmem" / "memory" / "facts" / "remember.py").open("a") as module:
        module.write("y = 2\n" * 7)
    code, text = check(project)
    assert code == 1
    # The sum is above its row, too: lines that are paid for in another package leave it alone.
    assert text.splitlines() == [
        "all of clawmem: 7 lines more than the row of 303 in scripts/line_budgets.toml allows."
        " Pay for them by deleting, or raise the row to 310 in a commit of its own that says why.",
        "clawmem/memory: 7 lines more than the row of 300 in scripts/line_budgets.toml allows."
        " Pay for them by deleting, or raise the row to 307 in a commit of its own that says why.",
    ]
    change_row(project, "memory", 307)
    change_row(project, "all of clawmem", 310)
    assert check(project) == (0, "")


def test_a_new_module_and_a_line_in_a_loose_module_count(project: Path) -> None:
    (project / "clawmem" / "vault" / "empty.py").touch()
    with (project / "clawmem" / "errors.py").open("a") as module:
        module.write("z = 3\n")
    change_row(project, "all of clawmem", 304)
    code, text = check(project)
    assert code == 1
    assert [line.partition(" than")[0] for line in text.splitlines()] == [
        "modules: 1 modules more",
        "top-level modules: 1 lines more",
    ]


def test_a_page_that_grows_fails_and_generated_reference_does_not_count(project: Path) -> None:
    page = project / "docs" / "commands.md"
    page.write_text("<!-- begin: recall -->\nFind what is known.\n<!-- end -->\n")
    assert check(project) == (0, "")
    page.write_text(page.read_text() + "Words by hand.\n<!-- begin: show -->\nShow a fact.\n<!-- end -->\n")
    assert check(project) == (
        1,
        "words of docs: 3 words more than the row of 4 in scripts/line_budgets.toml allows."
        " Pay for them by deleting, or raise the row to 7 in a commit of its own that says why.\n",
    )


@pytest.mark.parametrize(
    ("name", "fits", "too_high"),
    [
        ("words of docs", 2004, 2005),
        ("memory", 500, 501),
        ("modules", 23, 24),
    ],
)
def test_a_row_far_above_the_truth_fails(project: Path, name: str, fits: int, too_high: int) -> None:
    change_row(project, name, fits)
    assert check(project) == (0, "")
    change_row(project, name, too_high)
    code, text = check(project)
    assert code == 1
    assert "fewer than the row of" in text
    assert "Lower the row to" in text
    assert len(text.splitlines()) == 1


def test_a_package_without_a_row_and_a_row_without_a_package_fail(project: Path) -> None:
    (project / "clawmem" / "vault").rename(project / "clawmem" / "store")
    assert check(project) == (
        1,
        "clawmem/store has no row in scripts/line_budgets.toml. Add one of 2 in a commit of its own that says why.\n"
        "clawmem/vault: no such package. Delete its row from scripts/line_budgets.toml.\n",
    )


def test_each_package_of_clawmem_has_a_row(tmp_path: Path) -> None:
    """`make lint` runs the check on the project itself: an empty list of rows is told every package."""
    shutil.copytree(ROOT / "clawmem", tmp_path / "clawmem", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "line_budgets.toml").touch()
    _, text = check(tmp_path)
    packages = {folder.name for folder in (ROOT / "clawmem").iterdir() if any(folder.rglob("*.py"))}
    group = {line.removeprefix("clawmem/").partition(" has no row")[0] for line in text.splitlines()}
    packages |= {f"extensions/{path.parent.name}" for path in (ROOT / "clawmem/extensions").glob("*/__init__.py")}
    assert group == packages | {"top-level modules", "all of clawmem", "modules", "words of docs"}
    assert "scripts/line_budgets.py" in (ROOT / "Makefile").read_text("utf-8")
