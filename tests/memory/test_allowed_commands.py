"""Allowed commands: what a person allowed runs, and every attempt to run something else runs nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.errors import ClawmemError, InvalidInput, NotFound, Refused
from clawmem.memory.allowed_commands import (
    FILE,
    CommandRun,
    allow_command,
    checksum_of,
    find_allowed,
    plan_command,
    read_allowed,
    remove_command,
    run_command,
)
from clawmem.model.records.caller import Caller
from clawmem.model.records.task import new_page
from clawmem.vault.vault import Vault
from tests.conftest import Command

Allow = Callable[..., None]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A checkout with a script that says that it ran, and one that must never run."""
    folder = tmp_path / "work tree"
    (folder / "tools").mkdir(parents=True)
    _script(folder / "check.sh", "echo ran; echo ran >> ran.log")
    _script(folder / "evil.sh", "echo EVIL; echo ran >> evil.log")
    return folder


@pytest.fixture
def allow(vault: Vault, caller: Caller, work: Path) -> Allow:
    """Allow a command in the checkout, as a person."""

    def allowed(text: str, *pins: str, folder: Path = work) -> None:
        allow_command(vault, plan_command(vault, caller, text, folder, pins))

    return allowed


def _script(path: Path, body: str, first: str = "#!/bin/sh") -> Path:
    path.write_text(f"{first}\n{body}\n")
    path.chmod(0o755)
    return path


def _set(vault: Vault, key: str, value: float) -> None:
    vault.settings = vault.settings._replace(values={**vault.settings.values, key: value})


def _ran(work: Path) -> bool:
    return (work / "ran.log").exists()


def test_an_allowed_command_runs(vault: Vault, work: Path, allow: Allow) -> None:
    with pytest.raises(Refused, match="is not allowed in this place"):
        run_command(vault, "./check.sh", work)
    assert not _ran(work)
    allow("./check.sh")
    run = run_command(vault, "./check.sh", work)
    assert (run.output, run.code, run.ended) == ("ran\n", 0, "")
    assert run_command(vault, "  './check.sh'", work).code == 0, "the words count, not how they are written"


def test_only_these_words_in_this_place(vault: Vault, work: Path, allow: Allow, tmp_path: Path) -> None:
    allow("./check.sh")
    for other in ("./check.sh more", "./tools/../check.sh", str(work / "check.sh"), "./evil.sh"):
        with pytest.raises(Refused, match="is not allowed in this place"):
            run_command(vault, other, work)
    elsewhere = Path(shutil.copytree(work, tmp_path / "elsewhere"))
    with pytest.raises(Refused, match="is not allowed in this place"):
        run_command(vault, "./check.sh", elsewhere)
    assert run_command(vault, "./check.sh", elsewhere, place=work).code == 0, "a copy of the same checkout"
    assert not _ran(work)


def test_a_new_yes_replaces_the_former_one(vault: Vault, caller: Caller, work: Path, allow: Allow) -> None:
    allow("./check.sh")
    _script(work / "check.sh", "echo newer")
    with pytest.raises(Refused, match="not allowed any more"):
        run_command(vault, "./check.sh", work)
    allow("./check.sh")
    assert run_command(vault, "./check.sh", work).output == "newer\n"
    (command,) = read_allowed(vault)
    remove_command(vault, command.id)
    assert read_allowed(vault) == ()
    with pytest.raises(NotFound, match="No allowed command"):
        remove_command(vault, "./check.sh")


def _changed_program(work: Path) -> None:
    _script(work / "check.sh", "echo EVIL; echo ran >> evil.log")


def _link_to_another(work: Path) -> None:
    (work / "check.sh").unlink()
    (work / "check.sh").symlink_to("evil.sh")


def _link_to_the_same_content(work: Path) -> None:
    (work / "check.sh").rename(work / "moved.sh")
    (work / "check.sh").symlink_to("moved.sh")


def _no_program(work: Path) -> None:
    (work / "check.sh").unlink()


def _a_pipe(work: Path) -> None:
    (work / "check.sh").unlink()
    os.mkfifo(work / "check.sh")


@pytest.mark.parametrize(
    "attack", [_changed_program, _link_to_another, _link_to_the_same_content, _no_program, _a_pipe]
)
def test_a_changed_program_does_not_run(vault: Vault, work: Path, allow: Allow, attack: Callable[[Path], None]) -> None:
    allow("./check.sh")
    attack(work)
    with pytest.raises(Refused, match="not allowed any more"):
        run_command(vault, "./check.sh", work)
    assert not (work / "evil.log").exists()
    assert not _ran(work)


def test_a_folder_of_the_path_that_becomes_a_link(vault: Vault, work: Path, allow: Allow, tmp_path: Path) -> None:
    shutil.copy(work / "check.sh", work / "tools/check.sh")
    allow("./tools/check.sh")
    shutil.copytree(work / "tools", tmp_path / "tools")
    shutil.rmtree(work / "tools")
    (work / "tools").symlink_to(tmp_path / "tools")
    with pytest.raises(Refused, match="leads to"):
        run_command(vault, "./tools/check.sh", work)
    assert not _ran(work)


@pytest.mark.parametrize("command", ["sh script", "sh -e script", "env sh script", f"{sys.executable} script"])
def test_the_script_of_an_interpreter_is_pinned(vault: Vault, work: Path, allow: Allow, command: str) -> None:
    (work / "script").write_text("exit()\n" if "python" in command else "exit 0\n")
    allow(command)
    assert run_command(vault, command, work).code == 0
    (work / "script").write_text("echo EVIL >> evil.log\n")
    with pytest.raises(Refused, match="the content of script has changed"):
        run_command(vault, command, work)
    assert not (work / "evil.log").exists()


def test_code_among_the_arguments_and_pinned_files(vault: Vault, work: Path, allow: Allow) -> None:
    (work / "rules.mk").write_text("all:\n")
    (work / "data.txt").write_text("x\n")
    allow("env ./check.sh data.txt", "rules.mk")
    (work / "data.txt").write_text("changed: it is the work, not code\n")
    assert run_command(vault, "env ./check.sh data.txt", work).code == 0
    (work / "rules.mk").write_text("all:\n\ttouch evil.log\n")
    with pytest.raises(Refused, match=r"rules\.mk has changed"):
        run_command(vault, "env ./check.sh data.txt", work)
    (work / "rules.mk").write_text("all:\n")
    _changed_program(work)
    with pytest.raises(Refused, match=r"check\.sh has changed"):
        run_command(vault, "env ./check.sh data.txt", work)


def test_the_interpreter_of_a_script_is_pinned(
    vault: Vault, caller: Caller, work: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    own = tmp_path / "bin"
    own.mkdir()
    _script(own / "myshell", 'exec /bin/sh "$@"')
    environment["PATH"] = f"{own}:{environment['PATH']}"
    vault = Vault(vault.root, environment)
    _script(work / "check.sh", "echo fine", "#!/usr/bin/env myshell")
    plan = plan_command(vault, caller, "./check.sh", work)
    assert {"./check.sh", "/usr/bin/env", str(own / "myshell"), "/bin/sh"} <= {file.path for file in plan.files}
    allow_command(vault, plan)
    assert run_command(vault, "./check.sh", work).output == "fine\n"
    _script(own / "myshell", "echo EVIL")
    with pytest.raises(Refused, match="myshell has changed"):
        run_command(vault, "./check.sh", work)


def test_another_path_finds_no_other_program(
    vault: Vault, caller: Caller, work: Path, allow: Allow, tmp_path: Path, environment: dict[str, str]
) -> None:
    _script(work / "check.sh", "ls evil.sh")
    allow("./check.sh")
    allow("ls check.sh")
    evil = tmp_path / "evil"
    evil.mkdir()
    _script(evil / "ls", f"touch '{tmp_path}/evil.log'")
    for path in (f"{evil}:{environment['PATH']}", str(evil), "", ".:"):
        changed = Vault(vault.root, {**environment, "PATH": path})
        assert run_command(changed, "ls check.sh", work).output == "check.sh\n"
        assert run_command(changed, "./check.sh", work).output == "evil.sh\n", "what the script starts, too"
    assert not (tmp_path / "evil.log").exists()
    with pytest.raises(NotFound, match="no program"):
        plan_command(Vault(vault.root, {**environment, "PATH": ".::relative"}), caller, "check.sh", work)


def test_the_environment_is_fixed(
    vault: Vault, work: Path, allow: Allow, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'evil.log')!r}, 'w')\n")
    command = f"{sys.executable} -c 'import os; print(sorted(os.environ))'"
    allow(command)
    bad = {
        "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "sitecustomize.py"), "LD_PRELOAD": "/tmp/evil.so",
        "GIT_DIR": str(tmp_path), "GIT_SSH_COMMAND": "evil", "BASH_ENV": "evil.sh", "ENV": "evil.sh", "MY_KEY": "hush",
        "CLAWMEM_VAULT": "x", "NODE_OPTIONS": "--require evil", "HOME": str(tmp_path), "MAKEFLAGS": "-f evil",
    }  # fmt: skip
    for name, value in bad.items():
        monkeypatch.setenv(name, value)
    run = run_command(Vault(vault.root, {**environment, **bad, "HOME": environment["HOME"]}), command, work)
    assert (run.code, run.output) == (
        0,
        "['CLAWMEM_AGENT', 'HOME', 'LANG', 'LC_ALL', 'NO_COLOR', 'PATH', 'TERM', 'TMPDIR']\n",
    )
    assert not (tmp_path / "evil.log").exists()


@pytest.mark.parametrize(
    "text",
    [
        "./check.sh; ./evil.sh", "./check.sh && ./evil.sh", "./check.sh | ./evil.sh", "./check.sh & ./evil.sh",
        "./check.sh > evil.log", "./check.sh < evil.sh", "./check.sh $(./evil.sh)", "./check.sh `./evil.sh`",
        './check.sh "$(./evil.sh)"', './check.sh "`./evil.sh`"', "./check.sh $HOME", "./check.sh *.sh", "./check.sh ?",
        "./check.sh ~", "./check.sh # comment", "./check.sh\n./evil.sh", "./check.sh\r./evil.sh", "'./check\n.sh'",
        "./check.sh \x1b[2K./evil.sh", "./check.sh \u202ehs.live", "FOO=1 ./check.sh", "", "   ", "''",
        "./check.sh 'open", "x" * 5000, "./check.sh \0",
    ],
)  # fmt: skip
def test_what_a_shell_would_do_is_refused(vault: Vault, caller: Caller, work: Path, text: str) -> None:
    for act in (lambda: plan_command(vault, caller, text, work), lambda: run_command(vault, text, work)):
        with pytest.raises(InvalidInput):
            act()
    assert not (work / "evil.log").exists()


def test_quoted_characters_are_plain_text(vault: Vault, work: Path, allow: Allow) -> None:
    _script(work / "check.sh", 'for one in "$@"; do echo "<$one>"; done')
    text = r"""./check.sh 'a; ./evil.sh' "b | c" \$HOME '$(./evil.sh)' '*'"""
    allow(text)
    run = run_command(vault, text, work)
    assert run.output == "<a; ./evil.sh>\n<b | c>\n<$HOME>\n<$(./evil.sh)>\n<*>\n"
    assert not (work / "evil.log").exists()


def test_a_program_with_a_blank_or_a_newline_in_its_name(
    vault: Vault, caller: Caller, work: Path, allow: Allow
) -> None:
    _script(work / "my check.sh", "echo blank")
    _script(work / "my", "echo EVIL >> evil.log")
    _script(work / "check.sh\nevil", "echo EVIL >> evil.log")
    allow("'./my check.sh'")
    assert run_command(vault, r"./my\ check.sh", work).output == "blank\n"
    with pytest.raises(Refused, match="is not allowed in this place"):
        run_command(vault, "./my check.sh", work)
    with pytest.raises(InvalidInput, match="line break"):
        plan_command(vault, caller, "'./check.sh\nevil'", work)
    assert not (work / "evil.log").exists()


def test_a_command_that_takes_too_long_is_ended_with_its_children(vault: Vault, work: Path, allow: Allow) -> None:
    _script(work / "check.sh", "(sleep 1.5; echo late >> late.log) & sleep 30")
    allow("./check.sh")
    _set(vault, "evaluate.timeout_seconds", 0.5)
    run = run_command(vault, "./check.sh", work)
    assert (run.code, run.ended) == (None, "it took more than 0.5 seconds")
    time.sleep(1.6)
    assert not (work / "late.log").exists()


def test_a_command_that_writes_too_much_is_ended(vault: Vault, work: Path, allow: Allow) -> None:
    _script(work / "check.sh", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxx; done")
    allow("./check.sh")
    run = run_command(vault, "./check.sh", work)
    assert (run.code, run.ended, len(run.output)) == (None, "it wrote more than 1,000,000 bytes", 1_000_000)


def test_a_file_that_changes_while_the_command_runs(vault: Vault, work: Path, allow: Allow) -> None:
    _script(work / "check.sh", "echo 'echo EVIL' >> check.sh; exit 0")
    allow("./check.sh")
    with pytest.raises(Refused, match="changed while it ran"):
        run_command(vault, "./check.sh", work)


def test_nothing_runs_in_the_vault_or_from_it(vault: Vault, caller: Caller, work: Path, tmp_path: Path) -> None:
    script = _script(vault.root / "check.sh", "echo EVIL > evil.log")
    (work / "tools/link.sh").symlink_to(script)
    (tmp_path / "link").symlink_to(vault.root)
    for folder in (vault.root, vault.root / "daily", vault.root / ".git", tmp_path / "link"):
        for text in ("./check.sh", "ls"):
            for act in (lambda: plan_command(vault, caller, text, folder), lambda: run_command(vault, text, folder)):  # noqa: B023
                with pytest.raises(Refused, match="of the vault"):
                    act()
    for text in (str(script), "./tools/link.sh", f"sh {script}"):
        with pytest.raises(Refused, match="a file of the vault"):
            plan_command(vault, caller, text, work)
    with pytest.raises(NotFound, match="no folder"):
        plan_command(vault, caller, "ls", tmp_path / "missing")


def test_the_store_counts_only_where_the_vault_was_accepted(
    vault: Vault, caller: Caller, work: Path, allow: Allow, tmp_path: Path, environment: dict[str, str]
) -> None:
    allow("./check.sh")
    assert "check.sh" not in subprocess.run(
        ["git", "ls-files", "-co"], cwd=vault.root, env=environment, capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    copy = Vault(Path(shutil.copytree(vault.root, tmp_path / "copy", symlinks=True)), environment)
    with pytest.raises(Refused, match="not accepted on this machine"):
        run_command(copy, "./check.sh", work)
    with pytest.raises(Refused, match="not accepted on this machine"):
        allow_command(copy, plan_command(copy, caller, "./check.sh", work))
    assert not _ran(work)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"commands": [{"words": ["ls"]}]}', '{"commands": 3}'])
def test_a_damaged_store_allows_nothing(vault: Vault, work: Path, allow: Allow, text: str) -> None:
    allow("./check.sh")
    (vault.state / FILE).write_text(text)
    with pytest.raises(ClawmemError, match="allowed-commands"):
        run_command(vault, "./check.sh", work)
    (vault.state / FILE).unlink()
    (vault.state / FILE).symlink_to(work / "forged.json")
    with pytest.raises(Refused, match="symbolic link"):
        run_command(vault, "./check.sh", work)


def _git(folder: Path, environment: dict[str, str], *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)


def test_work_trees_of_one_repository(
    vault: Vault, work: Path, allow: Allow, tmp_path: Path, environment: dict[str, str]
) -> None:
    _git(work, environment, "init", "--quiet")
    _git(work, environment, "add", ".")
    _git(work, environment, "commit", "--quiet", "-m", "first")
    _git(work, environment, "worktree", "add", "--quiet", str(tmp_path / "second"))
    allow("./check.sh")
    assert run_command(vault, "./check.sh", tmp_path / "second").code == 0
    forged = Path(shutil.copytree(work, tmp_path / "forged", ignore=shutil.ignore_patterns(".git")))
    for pointer in (work / ".git", work / ".git/worktrees/second"):
        (forged / ".git").write_text(f"gitdir: {pointer}\n")
        with pytest.raises(Refused, match="is not allowed in this place"):
            run_command(vault, "./check.sh", forged)
    (forged / ".git").unlink()
    (forged / ".git").symlink_to(work / ".git")
    with pytest.raises(Refused, match="is not allowed in this place"):
        run_command(vault, "./check.sh", forged)


def _at_terminal(vault: Vault, environment: dict[str, str], *words: str, typed: bytes = b"n\n") -> tuple[int, str]:
    """Run `evaluate allow` with a terminal as stdin; return its exit code and what it wrote to stderr."""
    terminal, stdin = os.openpty()
    os.write(terminal, typed)
    call = [sys.executable, "-m", "clawmem", "evaluate", "allow", *words]
    process = subprocess.run(call, cwd=vault.root, env=environment, stdin=stdin, capture_output=True, timeout=60)
    os.close(stdin)
    os.close(terminal)
    return process.returncode, process.stderr.decode()


def test_the_verb_shows_asks_and_refuses(
    clawmem: Command, vault: Vault, work: Path, environment: dict[str, str]
) -> None:
    asked = clawmem("evaluate", "allow", "./check.sh --all", cwd=work, env={"CLAWMEM_VAULT": str(vault.root)})
    assert asked.code == 1
    for words in ('["./check.sh", "--all"]', str(work), "SHA-256", "PATH: ", "Nothing was allowed", "Not checked"):
        assert words in asked.err
    call = ("evaluate", "allow", "./check.sh --all", "--work", str(work), "--yes")
    guessed = clawmem(*call, "0123456789abcdef")
    code, shown = _at_terminal(vault, environment, "./check.sh --all", "--work", str(work))
    checksum = shown.partition("--yes ")[2].partition(" ")[0]
    assert (guessed.code, code, len(checksum)) == (1, 130, 16)
    assert checksum not in asked.err + guessed.err, "who has not seen the command at a terminal gets no checksum"
    for refused in (clawmem(*call, checksum, "--agent", "cli"), clawmem(*call, checksum, env={"CLAUDECODE": "1"})):
        assert (refused.code, "only a person may run it" in refused.err) == (1, True)
    _script(work / "check.sh", "echo EVIL")
    assert clawmem(*call, checksum).code == 1, "what was shown is not what would run now"
    _script(work / "check.sh", "echo ran; echo ran >> ran.log")
    assert clawmem(*call, checksum).code == 0
    (value,) = clawmem("evaluate", "allow", "--list", "--json").data["commands"]
    assert (value["words"], value["by"]) == (["./check.sh", "--all"], "Ada Person <ada@example.org>")
    assert clawmem("evaluate", "allow", "--remove", value["id"]).code == 0
    assert clawmem("evaluate", "allow", "--list", "--json").data["commands"] == []
    assert clawmem("evaluate", "allow").code == 2
    assert clawmem("log").out.count("\n") == 1, "nothing of this is in the vault"


def test_a_person_at_a_terminal_is_asked(vault: Vault, work: Path, environment: dict[str, str]) -> None:
    page = new_page("Check", {}, acceptance=(("`command: ./check.sh`", False), ("command: ./check.sh twice", False)))
    (vault.root / "tasks/check.md").write_text(page)
    for typed, code, other_number in ((b"n\n", 130, 0), (b"y\nn\n", 130, 1), (b"y\n", 0, 2)):
        number, shown = _at_terminal(vault, environment, "--task", "check", "--work", str(work), typed=typed)
        assert number == code, shown
        assert "Allow this command on this machine?" in shown
        assert len(read_allowed(vault)) == other_number


def test_a_command_cannot_allow_another_one(vault: Vault, work: Path, allow: Allow) -> None:
    call = f"'{sys.executable}' -m clawmem --vault '{vault.root}' evaluate allow ./evil.sh --work '{work}'"
    _script(work / "check.sh", f"cd /; {call} --yes 0123456789abcdef")
    allow("./check.sh")
    run = run_command(vault, "./check.sh", work)
    assert (run.code, "command is an agent" in run.errors) == (1, True), run.errors


def test_what_is_found_is_what_runs(vault: Vault, work: Path, allow: Allow) -> None:
    allow("./check.sh")
    assert len(checksum_of(find_allowed(vault, "./check.sh", work))) == 16
    run = run_command(vault, "./check.sh", work)
    assert isinstance(run, CommandRun)
    assert run.words == ("./check.sh",)


def test_the_name_of_a_folder_cannot_look_like_another_line(
    clawmem: Command, vault: Vault, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "boat\nProgram: /bin/true."
    folder.mkdir(parents=True)
    _script(folder / "check.sh", "echo ran")
    _, text = _at_terminal(vault, environment, "./check.sh", "--work", str(folder))
    checksum = text.partition("--yes ")[2].split()[0]
    allowed = clawmem("evaluate", "allow", "./check.sh", "--work", str(folder), "--yes", checksum)
    for out in (text, allowed.out, clawmem("evaluate", "allow", "--list").out):
        assert not any(line.startswith("Program: /bin/true") for line in out.splitlines()), out
        assert "boat\\nProgram" in out


def test_the_place_is_the_repository_with_its_work_trees(
    clawmem: Command, vault: Vault, caller: Caller, work: Path
) -> None:
    subprocess.run(("git", "init", "-q", str(work)), check=True)
    allow_command(vault, plan_command(vault, caller, "./check.sh", work))
    out = clawmem("evaluate", "allow", "--list").out
    assert f'the repository ["{work}"] and its work trees' in out
    assert ".git" not in out
