"""The tests that `make check` runs: near what changed, and no others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = {
    "clawmem/facts/merge.py": "X = 1\n",
    "clawmem/facts/store.py": "Y = 1\n",
    "clawmem/facts/tables/rows.py": "W = 1\n",
    "docs/page.md": "# Page\n",
    "tests/test_documents.py": "",
    "tests/helper.py": "Z = 1\n",
    "tests/facts/test_merge.py": "from clawmem.facts.merge import X\n",
    "tests/facts/test_rows_kept.py": "import json\n",
    "tests/facts/test_both.py": "from clawmem.facts import (\n    merge,\n    store,\n)\nfrom tests.helper import Z\n",
    "tests/faults/test_kills.py": "import clawmem.facts.store\n",
    "tests/other/test_other.py": "import json\n",
}


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *words], cwd=folder, check=True)


def commit(folder: Path, files: dict[str, str]) -> None:
    """Write files into a new repository, and commit them on `main`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "start")


def near(folder: Path) -> tuple[set[str], str]:
    """Return what the script prints in a folder: the test files, and what it says on stderr."""
    command = [sys.executable, str(ROOT / "scripts" / "near_tests.py")]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return set(process.stdout.split()), process.stderr


def test_the_tests_near_what_changed(tmp_path: Path) -> None:
    commit(tmp_path, FILES)
    assert near(tmp_path) == (set(), "")
    git(tmp_path, "switch", "-qc", "branch")
    (tmp_path / "clawmem/facts/merge.py").write_text("X = 2\n")
    git(tmp_path, "commit", "-qam", "a change of the branch")
    assert near(tmp_path) == ({"tests/facts/test_merge.py", "tests/facts/test_both.py"}, "")
    (tmp_path / "docs/page.md").write_text("# Other\n")
    (tmp_path / "tests/other/test_new.py").write_text("")
    assert near(tmp_path)[0] >= {"tests/test_documents.py", "tests/other/test_new.py"}
    git(tmp_path, "checkout", "-q", "main", "--", ".")
    (tmp_path / "clawmem/facts/store.py").write_text("Y = 2\n")
    (tmp_path / "tests/helper.py").write_text("Z = 2\n")
    assert near(tmp_path)[0] == {"tests/facts/test_both.py", "tests/other/test_new.py"}
    (tmp_path / "clawmem/facts/tables/rows.py").write_text("W = 2\n")
    assert "tests/facts/test_rows_kept.py" in near(tmp_path)[0]


def test_of_many_that_import_a_module_the_most_special_are_near(tmp_path: Path) -> None:
    others = ["".join(f"import clawmem.m{other}\n" for other in range(number)) for number in range(6)]
    files = {f"tests/test_{number}.py": f"import clawmem.used\n{more}" for number, more in enumerate(others)}
    commit(tmp_path, {**files, "clawmem/used.py": "X = 1\n"})
    (tmp_path / "clawmem/used.py").write_text("")
    found, message = near(tmp_path)
    assert found == {"tests/test_0.py", "tests/test_1.py", "tests/test_2.py"}
    assert message == "3 further test files import what changed: `make test` runs them.\n"


def test_of_the_names_that_the_own_test_has_not_the_test_of_a_module_that_uses_them_is_near(tmp_path: Path) -> None:
    files = {
        "clawmem/facts/change.py": "def begin(): ...\n\n\ndef take_back(): ...\n",
        "clawmem/facts/undo.py": "from clawmem.facts.change import begin, take_back\n",
        "clawmem/facts/list.py": "from clawmem.facts.change import begin\n",
        "tests/facts/test_change.py": "from clawmem.facts.change import begin\n",
        "tests/facts/test_change_twice.py": "",
        "tests/facts/test_undo.py": "",
        "tests/facts/test_list.py": "",
    }
    commit(tmp_path, files)
    (tmp_path / "clawmem/facts/change.py").write_text("def begin(): ...\n\n\ndef take_back(): pass\n")
    own = {"tests/facts/test_change.py", "tests/facts/test_change_twice.py"}
    assert near(tmp_path)[0] == {*own, "tests/facts/test_undo.py"}


def test_the_callers_of_each_command_of_a_verbs_module_are_near(tmp_path: Path) -> None:
    verbs = """VERBS = {
    "log": Command(log),
    "event": {
        "show": Command(show),
        "undo": Command(undo),
    },
}
"""
    calls = {
        "one": 'run("log", "--json") run("event", "show")',
        "two": 'run("log")',
        "three": 'run("event", "undo")',
        "four": 'run("event", "show")',
        "five": 'run("history")',
    }
    transcripts = {
        "past": "$ clawmem log\n! note: clawmem event undo\n",
        "other": "$ clawmem logs\n",
        "most": "$ clawmem event undo\n$ echo x | clawmem event show\n",
    }
    commit(
        tmp_path,
        {
            "clawmem/verbs/history.py": verbs,
            **{f"tests/test_{name}.py": calls[name] for name in calls},
            **{f"tests/transcripts/{name}.txt": transcripts[name] for name in transcripts},
        },
    )
    (tmp_path / "clawmem/verbs/history.py").write_text(f"X = 2\n{verbs}")
    assert near(tmp_path)[0] == {
        "tests/test_one.py",
        "tests/test_three.py",
        "tests/transcripts/test_transcripts.py::test_transcript[past]",
        "tests/transcripts/test_transcripts.py::test_transcript[most]",
    }


@pytest.mark.parametrize(
    ("changed", "near_it"),
    [
        ("clawmem/facts/ids.py", {"tests/facts/test_merge.py"}),  # imported in a function of what is tested
        ("clawmem/verbs/list.py", {"tests/test_calls.py"}),  # called, and imported by no test
        ("clawmem/facts/alone.py", {"tests/facts/test_merge.py", "tests/facts/test_other.py"}),  # those of its folder
        ("clawmem/facts/merge.py", {"tests/facts/test_merge.py", "tests/facts/test_merge_twice.py"}),
        ("clawmem/facts/worded.py", {"tests/facts/test_other.py"}),  # of its folder, with the word of its name
        ("clawmem/clock/hands.py", {"tests/test_clock.py"}),  # the test of its package
    ],
)
def test_a_module_that_no_test_imports_has_near_tests(tmp_path: Path, changed: str, near_it: set[str]) -> None:
    files = {
        "clawmem/facts/merge.py": "def merge():\n    from clawmem.facts.ids import new\n",
        "tests/facts/test_merge.py": "from clawmem.facts.merge import merge\n",
        "tests/facts/test_other.py": "worded_facts = 1\n",
        "tests/facts/test_merge_twice.py": "",
        "tests/test_clock.py": "",
        "tests/test_calls.py": 'run("list", "--json")\n',
        "tests/test_prose.py": "the list\n",
    }
    if changed != "clawmem/facts/merge.py":
        del files["tests/facts/test_merge_twice.py"]
    if changed == "clawmem/verbs/list.py":
        files[changed] = ""
    commit(tmp_path, files)
    (tmp_path / changed).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / changed).write_text("X = 1\n")
    assert near(tmp_path)[0] == near_it
