"""An allowed command runs the content that was checked, even if the checkout changes before a program reads it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from clawmem.errors import Refused
from clawmem.memory.allowed_commands import allow_command, plan_command, run_command
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

# What a script does in each language: it appends a word to a file in the working folder.
WRITES = {
    "sh": "echo {0} >> {0}.log", "bash": "echo {0} >> {0}.log", "other": "echo {0} >> {0}.log",
    "python3": "open('{0}.log', 'a').write('{0}')", "perl": "open F, '>>{0}.log'; print F '{0}';",
    "node": "require('fs').appendFileSync('{0}.log', '{0}')",
}  # fmt: skip
MODULE = "import fs from 'fs'; fs.appendFileSync('{0}.log', '{0}')"


def _script(path: Path, first: str, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{first}\n{body}\n")
    path.chmod(0o755)
    return path


def _real(language: str) -> str:
    found = shutil.which("sh" if language == "other" else language)
    if found is None:
        pytest.skip(f"there is no {language}")
    return sys.executable if language == "python3" else found


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "it's work"
    folder.mkdir()
    return folder


@pytest.fixture
def run(vault: Vault, caller: Caller, work: Path, tmp_path: Path, environment: dict[str, str]) -> Callable[..., str]:
    """Allow a command with the programs of `bin` first in PATH, run it, and return what it wrote."""
    environment["PATH"] = f"{tmp_path / 'bin'}:{environment['PATH']}"
    own = Vault(vault.root, environment)

    def ran(text: str, folder: Path = work) -> str:
        allow_command(own, plan_command(own, caller, text, folder))
        run = run_command(own, text, folder)
        assert run.code == 0, run.errors
        return run.output

    return ran


@pytest.mark.parametrize("language", WRITES)
@pytest.mark.parametrize(
    "command", ["./check", "./tools/check", "{} check", "env A=1 ./check", "timeout 30 ./check", "env {} tools/check"]
)
@pytest.mark.few(9)
def test_a_script_that_is_replaced_before_it_is_read(
    run: Callable[..., str], work: Path, tmp_path: Path, language: str, command: str
) -> None:
    """The interpreter itself replaces the script before it reads it."""
    real = _real(language)
    if language == "other" and "{}" in command:
        pytest.skip("the first argument of an unknown program is not known to be code")
    command = command.format(language)
    where = work / ("tools/check" if "tools" in command else "check")
    _script(where, f"/usr/bin/env {language}", WRITES[language].format("ran"))
    evil = _script(tmp_path / "evil", f"/usr/bin/env {language}", WRITES[language].format("evil"))
    _script(tmp_path / "bin" / language, "/bin/sh", f'cp "{evil}" "{where}"; exec {real} "$@"')
    with pytest.raises(Refused, match="changed while it ran"):
        run(command)
    assert (work / "ran.log").exists()
    assert not (work / "evil.log").exists()


@pytest.mark.parametrize("command", ["./check.mjs", "node check.mjs"])
def test_a_module_of_node_that_is_replaced(run: Callable[..., str], work: Path, tmp_path: Path, command: str) -> None:
    real = _real("node")
    _script(work / "check.mjs", "/usr/bin/env node", MODULE.format("ran"))
    evil = _script(tmp_path / "evil", "/usr/bin/env node", MODULE.format("evil"))
    _script(tmp_path / "bin/node", "/bin/sh", f'cp "{evil}" "{work}/check.mjs"; exec {real} "$@"')
    with pytest.raises(Refused, match="changed while it ran"):
        run(command)
    assert (work / "ran.log").exists()
    assert not (work / "evil.log").exists()


def test_a_binary_that_is_replaced(run: Callable[..., str], work: Path, tmp_path: Path) -> None:
    shutil.copy("/bin/echo", work / "check")
    _script(tmp_path / "bin/env", "/bin/sh", f'echo "echo evil" > "{work}/check"; exec "$@"')
    with pytest.raises(Refused, match="changed while it ran"):
        run("env ./check ran")
    assert run("env ./check ran") == "evil\n", "a person who allows it again allows what is there now"


def test_a_script_knows_its_own_place(run: Callable[..., str], work: Path) -> None:
    """What a script reads beside itself is found, and nothing says that it is a copy."""
    (work / "tools").mkdir()
    (work / "tools/near.sh").write_text("echo near")
    (work / "tools/near.py").write_text("NEAR = 'near'")
    (work / "tools/near.js").write_text("module.exports = 'near'")
    shell = 'pwd; echo "$0"; . "$(dirname "$0")/near.sh"; echo "$@"; echo "${OLDPWD:-none}"'
    for first in ("/bin/sh", "/usr/bin/env bash", "/bin/dash", "/bin/bash -eu"):
        _script(work / "tools/check", first, shell)
        expected = f"{work}\n./tools/check\nnear\na b  c\nnone\n"
        assert run("./tools/check a 'b  c'") == expected
        assert run("sh tools/check a 'b  c'") == expected
        assert run(f"{shlex.quote(str(work / 'tools/check'))} a 'b  c'") == expected
        assert run("../tools/check a 'b  c'", _inner(work)).startswith(f"{work}/inner\n../tools/check\nnear\n")
    body = '[ "$0" = "${BASH_SOURCE[0]}" ] && echo main; (return 0 2>/dev/null) || echo started'
    _script(work / "check", "/usr/bin/env bash", body)
    assert run("./check") == "main\nstarted\n"
    python = "import sys, near; print(sys.argv, __file__, __name__, near.NEAR, sys.path[0])"
    _script(work / "tools/check", "/usr/bin/env python3", python)
    expected = f"['./tools/check', 'a'] {work}/tools/check __main__ near {work}/tools\n"
    assert run("./tools/check a") == expected
    assert run("python3 -u ./tools/check a") == expected


def _inner(work: Path) -> Path:
    subprocess.run(("git", "init", "-q", str(work)), check=True)
    (work / "inner").mkdir(exist_ok=True)
    return work / "inner"


def test_scripts_of_node_and_perl_know_their_own_place(run: Callable[..., str], work: Path) -> None:
    _real("node"), _real("perl")
    (work / "lib").mkdir()
    (work / "lib/near.js").write_text("module.exports = 'near'")
    _script(
        work / "lib/tool.js", "/usr/bin/env node", "console.log(process.argv.slice(2), __filename, require('./near'))"
    )
    (work / "bin").mkdir()
    (work / "bin/check").symlink_to("../lib/tool.js")
    assert run("./bin/check a") == f"[ 'a' ] {work}/lib/tool.js near\n"
    _script(
        work / "lib/tool.mjs", "/usr/bin/env node", "import near from './near.js'; console.log(near, import.meta.url)"
    )
    assert run("node lib/tool.mjs").startswith("near file:///")
    _script(
        work / "check.pl", "/usr/bin/perl -w", 'use FindBin; print "$FindBin::Bin $0 $^W @ARGV\\n"; print __LINE__;'
    )
    assert run("./check.pl a") == f"{work} ./check.pl 1 a\n2"
    assert run("perl check.pl a") == f"{work} ./check.pl 1 a\n2"


def test_what_is_only_read_keeps_its_name(run: Callable[..., str], work: Path) -> None:
    _script(work / "check.sh", "/bin/sh", "exit 1")
    _script(work / "test_it.py", "/usr/bin/env python3", "raise SystemExit(1)")
    assert run("ls ./check.sh") == "./check.sh\n"
    assert run("python3 -m py_compile test_it.py") == ""
    assert run("python3 -c 'import sys; print(sys.argv)' test_it.py") == "['-c', 'test_it.py']\n"
    assert run("sh -n check.sh") == "", "a shell that only reads a script"
    assert run("sh -c 'echo \"$0\"' check.sh") == "check.sh\n"


def test_a_binary_and_a_link_of_the_checkout_keep_their_name(run: Callable[..., str], work: Path) -> None:
    shutil.copy("/bin/cat", work / "own")
    (work / "own.txt").write_text("text")
    assert run("./own own.txt") == "text"
    (work / "linked").symlink_to(shutil.which("bash") or "")
    assert run("./linked -c 'echo $0'") == f"{work}/linked\n"


SWAPS = """
import os, sys
good, evil, place = sys.argv[1:]
texts = open(good, "rb").read(), open(evil, "rb").read()
print("swaps", flush=True)
while True:
    for text in texts:
        with open(place + ".new", "wb") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o755)
        os.replace(place + ".new", place)
        with open(place, "wb") as file:
            file.write(text)
"""


def _race(
    vault: Vault, caller: Caller, work: Path, tmp_path: Path, command: str, first: str, body: str, runs: int
) -> tuple[int, int]:
    """Swap a script all the time while a command runs again and again. Return how often the other one ran, and how
    often a run was started."""
    good = _script(tmp_path / "good", first, body.format("ran"))
    evil = _script(tmp_path / "evil", first, body.format("evil"))
    shutil.copy(good, work / "check")
    allow_command(vault, plan_command(vault, caller, command, work))
    swapping = subprocess.Popen([sys.executable, "-c", SWAPS, good, evil, work / "check"], stdout=subprocess.PIPE)
    assert swapping.stdout is not None
    started = 0
    try:
        swapping.stdout.readline()
        ends = time.monotonic() + 60 * runs
        while started < runs and time.monotonic() < ends:
            with suppress(Refused):
                run_command(vault, command, work)
            started += (work / "ran.log").exists() or (work / "evil.log").exists()
            if (work / "evil.log").exists():
                return 1, started
            (work / "ran.log").unlink(missing_ok=True)
    finally:
        swapping.kill()
        swapping.wait()
        swapping.stdout.close()
    return 0, started


def test_a_program_that_swaps_a_script_wins_no_race(vault: Vault, caller: Caller, work: Path, tmp_path: Path) -> None:
    won = _race(vault, caller, work, tmp_path, "./check", "/bin/sh", WRITES["sh"], 5)
    assert won == (0, 5)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("command", "language"),
    [("./check", "sh"), ("./check", "bash"), ("./check", "python3"), ("env ./check", "sh"), ("sh check", "sh"),
     ("python3 check", "python3"), ("./check", "perl"), ("./check", "node")],
)  # fmt: skip
def test_a_program_that_swaps_a_script_wins_no_race_of_many(
    vault: Vault, caller: Caller, work: Path, tmp_path: Path, command: str, language: str
) -> None:
    _real(language)
    first = f"/usr/bin/env {language}"
    assert _race(vault, caller, work, tmp_path, command, first, WRITES[language], 100) == (0, 100)
