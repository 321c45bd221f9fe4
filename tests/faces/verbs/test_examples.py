"""Every example of every command is run, in a vault where what it names is there; its document fits its schema."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clawmem.errors import DONE, PARTIAL, REFUSED, USAGE
from clawmem.faces.cli.app import run
from clawmem.faces.cli.plain import run_plain, whole
from clawmem.faces.verbs.table import EXAMPLES
from clawmem.index.vectors import local_model
from clawmem.model.records.session import EXAMPLE
from clawmem.vault.git.acceptance import accept
from tests.answers import check_document, clawmem_calls
from tests.command_server import CommandServer
from tests.conftest import PINNED_NOW
from tests.extensions.hub.postgres.hubs import add, make_worker, member, work
from tests.extensions.hub.postgres.server import OWNER, Database, database, server
from tests.manual import commands
from tests.setup.test_cron import CRONTAB
from tests.transcripts.transcript import tools
from tests.trees import Tree

__all__ = ["database", "server"]
COMMANDS = commands()
# Where an example ends otherwise here: this vault wants no vectors and has no model, bytes on stdout leave no room for
# JSON, and there is no client on stdin.
OTHERWISE = {
    "clawmem reindex --vectors": REFUSED,
    "clawmem llm test": REFUSED,
    "clawmem backup - | ssh host 'cat > memory.clawmem'": USAGE,
    "clawmem mcp --agent claude-code": REFUSED,
    "clawmem mcp --http --public-url https://memory.example.org": USAGE,
    "clawmem mcp clients allow K7QX2M --as phone": REFUSED,
    "clawmem mcp clients revoke phone": REFUSED,
    "clawmem evaluate paint-the-boat --work boat": PARTIAL,
    "clawmem evaluate task paint-the-boat": PARTIAL,
    "clawmem evaluate allow 'make test' --work boat --pin Makefile": REFUSED,
    "clawmem review delegate promotion night-clerk --entity 'projects/*'": REFUSED,
    "clawmem org connect postgresql://ana@hub.example/clawmem": REFUSED,
    "clawmem org review approve 12": REFUSED,
}
POLICY = """\
people: {rina: {role: family}, lucia: {role: patient}, clara: {role: desk}}
kinds: {health: Illness., schedule: Visits.}
"""
# What prints one record a line when it comes, also with --json.
LINE_BY_LINE = {"session watch", "publish"}
# What asks a person at a terminal, and is refused here.
AT_A_TERMINAL = {"review decide"}
# What stands before the pipe of an example, and behind it.
PROGRAMS = {"crontab": CRONTAB, "pbpaste": "#!/bin/sh\necho 'We chose Postgres.'\n"}
PROGRAMS["claude"] = "#!/bin/sh\ncat > /dev/null\necho '{\"works\": true}'\n"
# An adapter of the workflow `software`.
PROGRAMS["tickets"] = """#!/bin/sh\necho '{"tasks": [{"id": "T1", "title": "Paint the boat"}]}'\n"""
CHAT = json.dumps({"role": "user", "content": "I live in Oslo.", "speaker": "Mia"})

# In place of the suite `memory` while the home is made: the run of one test, which `eval compare` finds by its name.
SUITE = """\
description: Tea
tests: [{description: tea, vars: {question: Tea?}, assert: [{type: not-icontains, value: milk}]}]
"""

Run = Callable[[str], tuple[int, str]]


class Home(NamedTuple):
    """A home without its vault, the vault, and the ids by which the examples call what is there."""

    folder: Path
    vault: Tree
    ids: Mapping[str, str]

    def write(self, folder: Path) -> Path:
        """Write the home into a new folder and return it."""
        shutil.copytree(self.folder, folder, symlinks=True)
        self.vault.write(folder / ".clawmem")
        return folder


@pytest.fixture(scope="module")
def prepared(newborn: Tree, tmp_path_factory: pytest.TempPathFactory, command_server: CommandServer) -> Home:
    """A home with a vault in it."""
    home = tmp_path_factory.mktemp("examples") / "home"
    newborn.write(home / ".clawmem")
    for name, text in {
        "chat.jsonl": CHAT,
        "facts.jsonl": '{"fact": "Jane likes tea."}',
        "answer.json": '{"facts": [], "read": []}',
        "report.md": "# Boats\n\nThe boat Bucket weighs 900 kilograms and needs a winch of 2 tons.",
        "claims.jsonl": json.dumps(
            {
                "entity": "areas/people/tom",
                "claim": "Tom rows.",
                "source": "crm",
                "confidence": 0.5,
                "author": "Ida",
                "timestamp": "2026-01-02T03:04:05Z",
            }
        ),
        "boat/Makefile": "test:\n\ttrue",
        "todo.md": "- [ ] Buy paint.\n  - [ ] It is blue.\n- [x] Buy a brush.",
        "end.json": json.dumps(EXAMPLE),
        "the-secret": "100 euros",
        "requests.jsonl": '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        ".claude/projects/-home-ada-site/4f1c.jsonl": CHAT,
        ".claude/projects/-home-ada-site/memory/port.md": "---\ndescription: Port 8123.\ntype: project\n---\n",
        "mem0.json": '{"results": [{"id": "m1", "memory": "Jane rows.", "user_id": "jane"}]}',
        "CLAUDE.md": "- Name commits in the imperative.\n",
        "bundle/tea.md": "---\ntype: Note\ndescription: Tea is a drink.\n---\n",
        "copies/keep": "",
        ".local/share/bash-completion/completions/keep": "",
        ".gitconfig": "[user]\n\tname = Ada Person\n\temail = ada@example.org\n",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text + "\n")
    with (home / ".clawmem/workflows/software.yaml").open("a") as workflow:
        workflow.write("adapters: {tickets: tickets}\n")
    settings = home / ".clawmem/clawmem.yaml"
    settings.write_text(settings.read_text().replace("\n  model: local\n", "\n  model: none\n"))
    place = tools(home, command_server)
    for name, text in PROGRAMS.items():
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    environment = surroundings(home)
    hub = ["git", "init", "--quiet", "--bare", "-b", "main", str(home / "hub.git")]
    subprocess.run(hub, env=environment, check=True)
    remote = ["git", "-C", str(home / ".clawmem"), "remote", "add", "origin", str(home / "hub.git")]
    subprocess.run(remote, env=environment, check=True)

    def call(line: str, **more: str) -> Any:
        variables = {**environment, **more}
        process = command_server.run([*shlex.split(line)[1:], "--json"], b"", home, variables, seconds=300)
        document = json.loads(process.stdout)
        assert document["ok"], document
        return document["data"]

    call("clawmem config set --user llm.preset claude")
    call("clawmem config set --user llm.model ''")
    triple = "--subject 'Jane Berg' --predicate lives_in --object Trondheim"
    other = call(f"clawmem remember 'Jane Berg lives in Trondheim.' -e areas/people/jane {triple}")["facts"][0]["id"]
    two = call("clawmem remember 'Jane has a dog.' -e areas/people/jane")["facts"][0]["id"]
    call("clawmem remember 'Jane has a boat.' -e areas/people/jane-known-to-tom")
    call("clawmem remember 'Jane makes the website.' -e projects/website --related areas/people/jane")
    call("clawmem remember 'Acme sells boats.' -e projects/acme --source web:acme.example")
    call("clawmem remember 'Boats cost 100 euros.' -e projects/acme", CLAWMEM_SESSION="s-1182")
    call("clawmem agent create finance")
    call("clawmem agent create scout")
    call("clawmem remember 'There is a map.' -e projects/acme --agent scout")
    call(f"clawmem supersede {other} 'Jane lives in Rome.' --trust external --source web:acme.example")
    waiting = call("clawmem review list")["proposals"][0]["id"]
    call(f"clawmem supersede {two} 'Jane has a cat.' --trust external --source web:acme.example")
    (rejected,) = [proposal["id"] for proposal in call("clawmem review list")["proposals"] if proposal["id"] != waiting]
    call(f"clawmem review reject {rejected} --reason 'It is a dog.'")
    suite = home / ".clawmem/governance/evals/memory.yaml"
    suite.parent.mkdir(parents=True)
    suite.write_text(SUITE)
    run = call("clawmem eval run memory --arm memory")["runs"][0]["id"]
    suite.unlink()
    lesson = call("clawmem lesson add 'Check the tide.'")["facts"][0]["id"]
    decision = call("clawmem decision add 'Stream uploads.' --why 'Memory.'")["facts"][0]["id"]
    guardrail = call("clawmem guardrail add 'Ask first.' --why 'A loss.'")["guardrail"]["id"]
    session = call("clawmem session start --task boats")["session"]["id"]
    call("clawmem task add 'Paint the boat'")
    checksum = hashlib.sha256(PROGRAMS["tickets"].encode()).hexdigest()
    call(f"clawmem config set adapters.allowed {checksum} --user")
    call("clawmem backup copies/laptop.clawmem")
    # A copy of one file in place of hundreds.
    subprocess.run(["git", "repack", "-adq"], cwd=home / ".clawmem", env=environment, check=True)
    vault = Tree.of(home / ".clawmem")
    shutil.rmtree(home / ".clawmem")
    ids = {
        "fact_1a2b": other,
        "fact_5e6f": two,
        "prop_1a2b": waiting,
        "prop_3c4d": rejected,
        "run_1a2b3c4d": run,
        "ses_1a2b": session,
        "fact_lesson": lesson,
        "fact_decision": decision,
        "fact_guardrail": guardrail,
    }
    return Home(home, vault, ids)


def surroundings(home: Path) -> dict[str, str]:
    """The environment of a command in that home."""
    path = f"{home / 'tools'}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "CLAWMEM_NOW": PINNED_NOW, "CLAWMEM_TRACEBACK": "1"}


@pytest.fixture
def run_line(
    prepared: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs one line in a copy of the home: in this process, or by a shell where it is more than a call of clawmem.

    Nothing is embedded: the vaults that `init` and `eval run` make find no local model here."""
    mine, ids = prepared.write(tmp_path / "home"), prepared.ids
    for key, value in surroundings(mine).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(local_model, "PACKAGES", ("no_such_package",))
    monkeypatch.chdir(mine)

    def go(line: str) -> tuple[int, str]:
        line = re.sub("|".join(ids), lambda found: ids[found[0]], line)
        if line.startswith("clawmem access"):
            (mine / ".clawmem/governance/access.yaml").write_text(POLICY)
        if line.removesuffix(" --json") == "clawmem init":
            shutil.rmtree(mine / ".clawmem")
        if re.search("[|<>]", line):
            process = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
            return process.returncode, process.stdout
        words = [os.path.expanduser(word) for word in shlex.split(line)[1:]]  # noqa: PTH111 - as a shell does
        code = run_plain(words)
        return run(words) if code is None else code, capsys.readouterr().out

    return go


def with_json(example: str) -> str:
    """Return the example with --json and with its output redirected to the test."""
    return re.sub(r"(clawmem [^|<>]*?)( [|<>].*)?$", r"\1 --json\2", re.sub(r" (> \S+|\| ssh .*)$", "", example))


@pytest.fixture
def hub(database: Database, run_line: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub with a vault and a user, named by the variables of libpq."""
    add(database, tmp_path / "home" / ".clawmem")
    make_worker(database)
    member(database, "ann", "team-a")
    for key, value in {"PGHOST": str(database.server.socket), "PGDATABASE": database.name, "PGUSER": OWNER}.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def organisation(
    hub: None, database: Database, tmp_path: Path, newborn: Tree, run_line: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same hub after its worker took the vault in, which is connected as a member and promoted a fact. Beside it
    is a folder with the vault of another organisation."""
    member(database, "ann", "organisation", "promote", "review")
    work(database, tmp_path)
    monkeypatch.setenv("PGUSER", "ann")
    home = tmp_path / "home"
    accept(home / ".clawmem" / ".git", surroundings(home))  # a copy is not what was accepted when it was made
    newborn.write(home / "acme")
    for line in ("clawmem org connect - --json", "clawmem org promote fact_1a2b --json"):
        code, printed = run_line(line)
        assert code == DONE, printed


@pytest.fixture
def weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The distribution of an extension, as it is installed."""
    about = tmp_path / "site" / "clawmem_weather-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: clawmem-weather\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[clawmem.extensions]\nweather = clawmem_weather:EXTENSION\n")
    (about.parent / "clawmem_weather.py").write_text(
        "from clawmem.extension import Extension\nEXTENSION = Extension('weather')\n"
    )
    monkeypatch.syspath_prepend(about.parent)


@pytest.mark.parametrize("name", COMMANDS)
def test_examples(name: str, run_line: Run, request: pytest.FixtureRequest) -> None:
    if name.startswith("hub "):
        request.getfixturevalue("hub")
    if name.startswith("org "):
        request.getfixturevalue("organisation")
    if name == "config extension":
        request.getfixturevalue("weather")
    examples = COMMANDS[name].examples
    assert 1 <= len(examples) <= 3
    fitted = 0
    for example in examples:
        calls = [" ".join(whole(words)) for words in clawmem_calls(example)]
        assert [call for call in calls if call.startswith(name)], example
        if "--jsonl" in example and all("--jsonl" not in parameter.flags for parameter in COMMANDS[name].parameters):
            code, printed = run_line(example)
            fields = re.search(r"--fields (\S+)", example)
            records = [json.loads(line) for line in printed.splitlines()]
            assert code == DONE and records, (example, printed)
            assert all(set(record) <= set(fields[1].split(",")) for record in records if fields)
            continue
        if name in LINE_BY_LINE:
            code, printed = run_line(with_json(example))
            assert code == DONE and all(isinstance(json.loads(line), dict) for line in printed.splitlines())
            fitted += 1
            continue
        code, printed = run_line(with_json(example))
        assert code == (REFUSED if name in AT_A_TERMINAL else OTHERWISE.get(example, DONE)), (example, printed)
        (call,) = clawmem_calls(with_json(example))
        assert check_document(call, printed) == name
        fitted += json.loads(printed)["ok"]
    assert fitted or name in AT_A_TERMINAL, f"no example of {name} ends well"


def test_help_ends_with_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for name in [*COMMANDS][::12]:  # one function writes the help of all
        assert run([*name.split(), "--help"]) == DONE
        examples = "".join(f"\n    {example}" for example in COMMANDS[name].examples)
        assert capsys.readouterr().out.endswith(f"\n  Examples:{examples}\n")


def test_help_of_the_program_ends_with_examples_that_run(run_line: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == DONE
    examples = "".join(f"\n    {example}" for example in EXAMPLES)
    assert capsys.readouterr().out.endswith(f"\n  Examples:{examples}\n")
    for example in EXAMPLES:
        code, printed = run_line(with_json(example))
        assert (code, json.loads(printed)["ok"]) == (DONE, True)
    assert "Jane prefers tea." in printed


@pytest.mark.parametrize("name", sorted({name.split()[0] for name in COMMANDS if " " in name}))
def test_help_of_a_group_ends_with_examples_of_its_commands(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == DONE
    shown = capsys.readouterr().out.partition("\n  Examples:\n")[2].splitlines()
    known = {
        f"    {example}"
        for words, command in COMMANDS.items()
        if words.startswith(name)
        for example in command.examples
    }
    assert 1 <= len(shown) <= 3 and set(shown) <= known


CLOSED = [
    (name, parameter) for name, command in COMMANDS.items() for parameter in command.parameters if parameter.choices
]
GIVEN = {
    "action": "add",
    "file": "chat.jsonl",
    "path": "mem0.json",
    "fact": "fact_1a2b",
    "target": "fact_5e6f",
    "text": "tea",
}


def test_a_word_that_is_no_choice_is_refused_and_all_choices_are_named(run_line: Run) -> None:
    for name, parameter in CLOSED:
        others = [other for other in COMMANDS[name].parameters if other.required or other.name == "text"]
        items = [(each, GIVEN.get(each.name, "x")) for each in others if each.name != parameter.name]
        at = next((place for place, each in enumerate(others) if each.name == parameter.name), len(items))
        items.insert(at, (parameter, "nonsense"))
        words = [word for each, value in items for word in (*each.flags[:1], value)]
        code, printed = run_line(" ".join(["clawmem", name, *words, "--json"]))
        error = json.loads(printed)["error"]
        assert (code, "'nonsense'" in error["message"]) == (REFUSED if name == "schema" else USAGE, True), error
        if name != "schema":  # there are too many verbs to name
            assert [word for word in parameter.choices if word not in error["hint"]] == []
