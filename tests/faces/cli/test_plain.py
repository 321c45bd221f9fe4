"""The fast parser: it reads a line as Typer does, and it imports little."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from clawmem.errors import USAGE
from clawmem.faces.cli.app import typed
from clawmem.faces.cli.plain import plain_call, read
from clawmem.faces.parts.command import all_parameters
from clawmem.faces.parts.parameters import Parameter
from tests.conftest import Command
from tests.manual import commands

COMMANDS = commands()
HOT = ("recall", "context", "remember")
VALUES = (
    "tea",
    "-",
    "",
    "5",
    "0",
    "07",
    "1.5",
    ".5",
    "1e3",
    "-1",
    "٣",
    "a=b",
    "--",
    "--entity",
    "--no",
    "-x",
    "-e",
    "é",
    "5000",
)


def command_lines(name: str) -> st.SearchStrategy[list[str]]:
    """Any words, most often behind those that the command needs."""
    flags = [flag for parameter in all_parameters(COMMANDS[name]) for flag in parameter.flags]
    joined = st.tuples(st.sampled_from(flags), st.sampled_from(VALUES)).map("=".join)
    pair = st.tuples(st.sampled_from(flags), st.sampled_from(VALUES)).map(list)
    piece = st.one_of(pair, st.one_of(joined, st.sampled_from(flags), st.sampled_from(VALUES)).map(lambda word: [word]))
    pieces = st.lists(piece, max_size=5).map(lambda pieces: [word for piece in pieces for word in piece])
    return st.tuples(st.sampled_from((needed(name), needed(name), [])), pieces).map(lambda both: [*both[0], *both[1]])


def needed(name: str, but: str = "") -> list[str]:
    """The words that a command cannot do without."""
    return [
        word
        for parameter in COMMANDS[name].parameters
        if parameter.required and parameter.name != but
        for word in (*parameter.flags[:1], parameter.name)
    ]


def typer_reader(parameters: tuple[Parameter, ...]) -> Callable[[list[str]], dict[str, Any] | None]:
    """What Typer makes of the words of a verb, None where it refuses them."""
    seen: dict[str, Any] = {}

    def keep(_: typer.Context, values: dict[str, Any]) -> int:
        seen.update(values)
        return 0

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command("verb")(typed(keep, parameters))
    command = get_command(app)

    def reader(words: list[str]) -> dict[str, Any] | None:
        seen.clear()
        try:
            command.main(words, standalone_mode=False)
        except Exception as problem:  # noqa: BLE001 - the errors of the click inside Typer have no public home
            assert "UsageError" in {kind.__name__ for kind in type(problem).__mro__}, problem
            return None
        return dict(seen)

    return reader


@pytest.mark.few(10)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_read_plainly_is_what_typer_reads(name: str) -> None:
    # The common options are read by callbacks of click's: here they stand in the table like the others.
    table = all_parameters(COMMANDS[name])
    by_typer = typer_reader(table)
    plain = 0

    @settings(max_examples=400 if name in HOT else 50, deadline=None, database=None, derandomize=True)
    @given(command_lines(name))
    def check(words: list[str]) -> None:
        nonlocal plain
        values = read(table, words)
        if values is not None:
            plain += 1
            assert values == by_typer(words), words

    check()
    assert plain > 2


@pytest.mark.parametrize("name", COMMANDS)
def test_every_parameter_is_read_plainly(name: str) -> None:
    table = COMMANDS[name].parameters
    arguments = [parameter for parameter in table if not parameter.flags]
    for parameter in table:
        text = "1" if parameter.kind in (int, float) else "tea"
        wanted: Any = True if parameter.kind is bool else parameter.kind(text)
        for flag in parameter.flags:
            values = read(table, [*needed(name, but=parameter.name), flag, *([] if parameter.kind is bool else [text])])
            assert values is not None, (name, flag)
            assert values[parameter.name] == ([wanted] if parameter.repeated else wanted)
    options = [
        word for parameter in table if parameter.required and parameter.flags for word in (parameter.flags[0], "x")
    ]
    values = read(table, [*options, *(argument.name for argument in arguments)])
    assert values is not None
    assert [values[argument.name] for argument in arguments] == [
        [argument.name] if argument.repeated else argument.name for argument in arguments
    ]


def test_options_before_the_verb_count_too_and_aliases_are_known(tmp_path: Path) -> None:
    _, record, common = plain_call(
        ["--vault", str(tmp_path), "--json", "add", "Jane likes tea", "--agent=finance", "--quiet"]
    ) or pytest.fail("not read")
    assert {key: value for key, value in common.items() if value} == {
        "vault": str(tmp_path),
        "agent": "finance",
        "json": True,
        "quiet": True,
    }
    assert record["text"] == "Jane likes tea"
    _, _, later = plain_call(["--vault", "one", "remember", "--vault", "two", "x"]) or pytest.fail("not read")
    assert later["vault"] == "two"
    # An empty one is given, too: it is refused, and does not stand for another.
    for words in (["--vault", "one", "remember", "x", "--vault", ""], ["--vault=", "remember", "x"]):
        _, _, empty = plain_call(words) or pytest.fail("not read")
        assert empty["vault"] == ""


def test_an_option_that_a_command_has_itself_is_its_own_behind_the_verb_and_the_common_one_before_it() -> None:
    for words, expected in (
        (["revoke", "--agent", "scout"], ("scout", None)),
        (["--agent", "scout", "revoke"], (None, "scout")),
        (["--agent", "scout", "revoke", "--agent", "other"], ("other", "scout")),
    ):
        _, record, common = plain_call(words) or pytest.fail("not read")
        assert (record["agent"], common["agent"]) == expected
    _, record, common = plain_call(["--jsonl", "remember", "Jane likes tea."]) or pytest.fail("not read")
    assert (record["jsonl"], common["jsonl"]) == (None, True)
    _, record, common = plain_call(["remember", "--jsonl", "facts.jsonl"]) or pytest.fail("not read")
    assert (record["jsonl"], common["jsonl"]) == ("facts.jsonl", False)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["remember", "--help"],
        ["remember", "a", "b"],
        ["--version"],
        ["--vault"],
        ["nonsense"],
    ],
)
def test_help_and_mistakes_are_left_to_typer(words: list[str]) -> None:
    assert plain_call(words) is None


def test_a_mistake_is_refused_by_typer_in_its_words(clawmem: Command) -> None:
    result = clawmem("remember", "tea", "--confidence", "much")
    assert result.code == USAGE
    assert "--confidence" in result.err
    assert "clawmem remember --help" in result.err


def loaded_by(calls: list[list[str]], cwd: Path, environment: dict[str, str]) -> set[str]:
    """The modules that a process has loaded after some plain calls, all of which went well."""
    code = (
        "import json, sys; from clawmem.faces.cli.plain import run_plain\n"
        f"for words in {calls!r}: assert run_plain(words) == 0, words\n"
        "print(json.dumps([*sys.modules]))"
    )
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=True)
    return set(json.loads(process.stdout.splitlines()[-1]))


def test_a_hot_verb_loads_neither_typer_nor_what_few_calls_need(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    clawmem("remember", "Jane likes tea")
    rare = {"clawmem.faces.parts.shapes", "clawmem.faces.parts.reading", "clawmem.faces.cli.boundary"}
    for words in (["remember", "Jane likes coffee"], ["recall", "tea"], ["context"]):
        loaded = loaded_by([words], vault_root, environment)
        assert not {"typer", "inspect", "shutil", "clawmem.faces.cli.app", *rare} & loaded


def test_remember_loads_what_a_contradiction_needs_only_for_one(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    clawmem("remember", "Jane lives in Oslo.")
    few = {"clawmem.model.proposals.proposal", "clawmem.model.merging.collisions"}
    assert not few & loaded_by([["remember", "Jane likes tea."]], vault_root, environment)
    assert few <= loaded_by([["remember", "Jane lives in Bergen."]], vault_root, environment)


def test_no_verb_needs_typer_for_a_plain_call(clawmem: Command, vault_root: Path, environment: dict[str, str]) -> None:
    fact = clawmem("remember", "Jane likes tea", "--json").data["facts"][0]["id"]
    items = [["status"], ["list"], ["show", fact], ["tier", fact], ["why", fact], ["log"], ["diff"], ["review", "list"]]
    two = [["agent", "list"], ["entity", "list"], ["config", "get", "sync.remote"], ["doctor"], ["cron", "show"]]
    three = [["note", "tea"], ["retract", fact], ["undo", fact], ["completions", "zsh"], ["schema", "recall"]]
    assert not {"typer", "clawmem.faces.cli.app"} & loaded_by([*items, *two, *three], vault_root, environment)
