"""Completion: the scripts that ship are the ones printed, and real shells complete with them."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.extension import extensions
from clawmem.faces.cli.complete import SOURCES, split_line
from clawmem.faces.parts.command import all_parameters
from clawmem.faces.verbs.scripts import FILES
from clawmem.faces.verbs.table import VERBS
from tests.command_server import CommandServer
from tests.conftest import Command, Once
from tests.manual import commands

HERE = Path(__file__).parents[3] / "completions"
SHELLS = tuple(FILES)
FACT = "fact_11aa22bb"

Answers = Callable[[str], list[str]]


def need(shell: str) -> str:
    """The shell's path, or the test is skipped: shells are not installed by tests."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed here: apt-get install {shell}")
    return found


@pytest.fixture
def at_work(
    once: Once, environment: dict[str, str], clawmem: Command, command_server: CommandServer, tmp_path: Path
) -> dict[str, str]:
    """The environment of a shell with `clawmem` on its path, in a vault with an agent's and a person's entity."""

    def build() -> None:
        clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane", "--category", "preference")
        clawmem("remember", "The budget is tight.", "--entity", "@finance/projects/budget")

    once(build)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    program = bin_folder / "clawmem"
    program.write_text(command_server.program())
    program.chmod(0o755)
    return {**environment, "PATH": f"{bin_folder}:{environment['PATH']}", "TERM": "dumb"}


@pytest.fixture
def answers(vault_root: Path, clawmem: Command, at_work: dict[str, str]) -> Answers:
    """The words offered for a line, as the scripts get them."""

    def ask(line: str) -> list[str]:
        result = clawmem(line, env={"_CLAWMEM_COMPLETE": "line"})
        assert result.err == ""
        return [answer.partition("\t")[0] for answer in result.out.splitlines()]

    return ask


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shipped_script_is_the_printed_one(shell: str, clawmem: Command) -> None:
    result = clawmem("completions", shell)
    assert (result.code, result.err) == (0, "")
    assert (HERE / FILES[shell]).read_text() == result.out


def test_an_unknown_shell(clawmem: Command) -> None:
    result = clawmem("completions", "powershell")
    assert result.code == 2
    assert "bash, zsh, fish" in result.err


@pytest.mark.parametrize(
    ("line", "words", "incomplete"),
    [
        ("clawmem ", [], ""),
        ("clawmem", [], ""),
        ("clawmem re", [], "re"),
        ("clawmem recall 'where does", ["recall"], "where does"),
        ('clawmem recall "a b" --ent', ["recall", "a b"], "--ent"),
        ("CLAWMEM_VAULT=/x ./clawmem show f", ["show"], "f"),
        ("clawmem recall x\\", ["recall"], "x"),
    ],
)
def test_a_line_is_split_as_a_shell_would(line: str, words: list[str], incomplete: str) -> None:
    assert split_line(line) == (words, incomplete)


def test_verbs_come_with_their_help_and_without_their_modules(clawmem: Command) -> None:
    result = clawmem("clawmem ", env={"_CLAWMEM_COMPLETE": "line"})
    assert [line.split("\t") for line in result.out.splitlines()] == [list(item) for item in VERBS.items()]


@pytest.mark.few(12)
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("clawmem rem", ["remember"]),
        ("clawmem config ", ["get", "set", "list", "trust", "extension"]),
        ("clawmem config set lock.", ["lock.wait_seconds"]),
        ("clawmem config set index.keyword ", ["fts5", "whoosh"]),
        ("clawmem config set git.sign t", ["true"]),
        ("clawmem config set agents.finance.write s", ["settings"]),
        ("clawmem config set defaults.limit ", []),
        ("clawmem config set no.such ", []),
        ("clawmem link fact_1 fact_2 -t ", ["contradicts", "supports", "depends_on", "derived_from", "relates_to"]),
        ("clawmem sync --conflict ", ["newest", "ours", "theirs", "review", "fail"]),
        ("clawmem recall tea --in ", ["facts", "events", "notes", "summaries", "all"]),
        ("clawmem graph neighbors areas", ["areas/people/jane"]),
        ("clawmem graph neighbors @f", ["@finance/projects/budget"]),
        ("clawmem backup ", [":files"]),
        ("clawmem restore x ", [":files"]),
        ("clawmem ingest x --role t", ["tool"]),
        ("clawmem remember x --predicate lives_i", ["lives_in"]),
        ("clawmem recall --as", ["--as-of"]),
        ("clawmem search --as", ["--as-of"]),
        ("clawmem doctor --f", ["--fix", "--full", "--fields"]),
        ("clawmem recall tea --entity ", ["@finance/projects/budget", "areas/people/jane"]),
        ("clawmem recall tea -e areas", ["areas/people/jane"]),
        ("clawmem recall tea --entity=are", ["--entity=areas/people/jane"]),
        ("clawmem recall tea --agent finance --entity @/", ["@/projects/budget"]),
        ("clawmem recall tea --category p", ["preference"]),
        ("clawmem remember x --trust ", ["user", "agent", "tool", "external"]),
        ("clawmem remember -- --ent", []),
        ("clawmem recall ", []),
        ("clawmem nonsense ", []),
        ("clawmem completions ", ["bash", "zsh", "fish"]),
        ("clawmem init ", [":files"]),
        ("clawmem --vault ", [":files"]),
        ("clawmem --vault /nowhere recall x --entity ", []),
    ],
)
def test_what_is_offered(line: str, offered: list[str], answers: Answers) -> None:
    assert answers(line) == offered


def test_ids_of_facts_come_with_their_statements(clawmem: Command, at_work: dict[str, str]) -> None:
    fact = clawmem("recall", "tea", "--json").data["facts"][0]
    result = clawmem(f"clawmem show {fact['id'][:8]}", env={"_CLAWMEM_COMPLETE": "line"})
    assert result.out == f"{fact['id']}\tJane likes tea.\n"


def test_outside_a_vault_nothing_is_offered_and_nothing_said(clawmem: Command, tmp_path: Path) -> None:
    result = clawmem("clawmem show f", env={"_CLAWMEM_COMPLETE": "line"}, cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, "", "")


def test_every_kind_of_value_that_a_parameter_names_is_known_and_none_is_unused() -> None:
    known = {"", *SOURCES, *(kind for extension in extensions() for kind in extension.completions)}
    assert {parameter.completes for command in commands().values() for parameter in all_parameters(command)} == known


def script(shell: str) -> str:
    """The shipped script's path."""
    return str(HERE / FILES[shell])


def run(shell: str, text: str, at_work: dict[str, str], cwd: Path) -> list[str]:
    """The lines a shell prints for a piece of its language."""
    flags = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    process = subprocess.run(
        [need(shell), *flags, "-c", text], env=at_work, cwd=cwd, capture_output=True, text=True, timeout=300
    )
    assert process.stderr == ""
    return process.stdout.splitlines()


def typed(shell: str, begin: list[str], lines: dict[str, str], at_work: dict[str, str], cwd: Path) -> None:
    """An interactive shell shows what is wanted once the keys of a line were typed into its terminal."""
    flags = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}[shell]
    master, slave = os.openpty()
    process = subprocess.Popen(
        [need(shell), *flags], env=at_work, cwd=cwd, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    try:
        for line in [*begin, "echo rea''dy"]:
            os.write(master, line.encode() + b"\n")
        _until(master, "ready")
        for keys, wanted in lines.items():
            os.write(master, keys.encode())
            _until(master, wanted)
            os.write(master, b"\x15")  # takes the line back
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _until(master: int, wanted: str) -> None:
    seen = ""
    deadline = time.monotonic() + 120
    while wanted not in _visible_text(seen) and time.monotonic() < deadline:
        if select.select([master], [], [], 0.2)[0]:
            seen += os.read(master, 65536).decode(errors="replace")
    assert wanted in _visible_text(seen), seen


def _visible_text(output: str) -> str:
    """What a terminal shows of the output: a shell goes back over a blank to write on."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output)
    while (erased := re.sub("[^\b\n]\b", "", plain)) != plain:
        plain = erased
    return plain


def test_bash_function(at_work: dict[str, str], vault_root: Path) -> None:
    lines = {
        ("clawmem rem", "rem"): "remember",
        ("clawmem recall tea --entity areas/", "areas/"): "areas/people/jane",
        # bash ends a word at @ and at =, and wants back only what comes after.
        ("clawmem recall tea --entity @fin", "fin"): "finance/projects/budget",
        ("clawmem recall tea --entity=are", "are"): "areas/people/jane",
    }
    calls = (
        f"COMP_LINE='{line}' COMP_POINT={len(line)}; _clawmem clawmem '{current}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        for line, current in lines
    )
    text = "\n".join((f"source {script('bash')}", *calls))
    assert run("bash", text, at_work, vault_root) == [*lines.values()]


AT_A_TERMINAL = {
    "clawmem rememb\t'x'": "clawmem remember 'x'",
    "clawmem recall tea --entity @fin\t.": "--entity @finance/projects/budget .",
    "clawmem ingest READ\t.": "clawmem ingest README.md .",
}


def test_bash_at_a_terminal(at_work: dict[str, str], vault_root: Path) -> None:
    (vault_root / "README.md").touch()
    lines = {**AT_A_TERMINAL, "clawmem recall tea --entity=are\t.": "--entity=areas/people/jane ."}
    typed("bash", [f"source {script('bash')}"], lines, at_work, vault_root)


def test_zsh_at_a_terminal(at_work: dict[str, str], vault_root: Path, tmp_path: Path) -> None:
    (vault_root / "README.md").touch()
    listed = "--fix     -- Repair what is safe to repair, one commit for each repair."
    folder = tmp_path / "functions"
    folder.mkdir()
    shutil.copy(script("zsh"), folder)
    begin = [f"fpath=({folder} $fpath)", f"autoload -Uz compinit; compinit -u -d {tmp_path}/dump"]
    typed("zsh", begin, {**AT_A_TERMINAL, "clawmem doctor --f\t": listed}, at_work, vault_root)


def test_zsh_sourced(at_work: dict[str, str], vault_root: Path, tmp_path: Path) -> None:
    text = f"autoload -Uz compinit; compinit -u -d {tmp_path}/dump; source {script('zsh')}; print $_comps[clawmem]"
    assert run("zsh", text, at_work, vault_root) == ["_clawmem"]


def test_fish(at_work: dict[str, str], vault_root: Path) -> None:
    (vault_root / "README.md").touch()
    lines = {
        "clawmem rem": "remember\tStore a fact (also: add).",
        "clawmem recall tea --entity @f": "@finance/projects/budget",
        "clawmem recall tea --entity=are": "--entity=areas/people/jane",
        "clawmem recall 'where does": None,
        "clawmem doctor --fix": "--fix\tRepair what is safe to repair, one commit for each repair.",
        "clawmem ingest READ": "README.md",
    }
    text = "\n".join((f"source {script('fish')}", *(f'complete -C "{line}"' for line in lines)))
    offered = [name.rstrip("\t") for name in run("fish", text, at_work, vault_root)]
    assert offered == [name for name in lines.values() if name]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_new_shell_completes_after_the_install(
    shell: str, clawmem: Command, at_work: dict[str, str], vault_root: Path
) -> None:
    need(shell)
    rc = Path(at_work["HOME"]) / f".{shell}rc"
    rc.write_bytes(b"export KEPT='\xe9'")  # Latin-1, without an end of line
    for _ in range(2):
        assert clawmem("completions", shell, "--install").code == 0
    assert rc.read_bytes().startswith(b"export KEPT='\xe9'\n") and rc.read_bytes().count(b"\n") == 2
    typed(shell, [f"source {rc}"], {"clawmem entity sh\t": "clawmem entity show"}, at_work, vault_root)


def test_a_new_fish_completes_after_the_install(clawmem: Command, at_work: dict[str, str], vault_root: Path) -> None:
    assert clawmem("completions", "fish", "--install").code == 0
    process = subprocess.run(
        [need("fish"), "-c", "complete -C 'clawmem entity sh'"],
        env=at_work, cwd=vault_root, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert process.stdout.splitlines()[0].split("\t")[0] == "show"
    refused = clawmem("completions", "fish", "--install", env={"CLAWMEM_AGENT": "scout"})
    assert refused.code != 0 and "Only a person" in refused.err
