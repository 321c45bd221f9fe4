"""The short way in: whatever is read there means what Typer makes of it, and what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from clawmem.errors import USAGE
from clawmem.faces.cli.app import application
from clawmem.faces.cli.face import Face
from clawmem.faces.cli.plain import plain_call, read
from clawmem.faces.cli.typed import typed
from clawmem.faces.parts.parameters import COMMON, Parameter
from clawmem.faces.verbs.table import VERBS
from tests.conftest import Command

PLAIN = [name for name, verb in VERBS.items() if verb.plain]
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


def parameters_of(verb: str) -> tuple[Parameter, ...]:
    table: tuple[Parameter, ...] = import_module(f"clawmem.faces.verbs.{VERBS[verb].module}").PARAMETERS
    return table


def command_lines(verb: str) -> st.SearchStrategy[list[str]]:
    flags = [flag for one in (*parameters_of(verb), *COMMON) for flag in one.flags]
    joined = st.tuples(st.sampled_from(flags), st.sampled_from(VALUES)).map("=".join)
    pair = st.tuples(st.sampled_from(flags), st.sampled_from(VALUES)).map(list)
    piece = st.one_of(pair, st.one_of(joined, st.sampled_from(flags), st.sampled_from(VALUES)).map(lambda word: [word]))
    return st.lists(piece, max_size=5).map(lambda pieces: [word for piece in pieces for word in piece])


def as_typer_reads(parameters: tuple[Parameter, ...], words: list[str]) -> dict[str, Any] | None:
    """What Typer makes of the words of a verb, None where it refuses them."""
    seen: dict[str, Any] = {}

    def keep(_: Face, **values: Any) -> int:
        seen.update(values)
        return 0

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command("verb")(typed(keep, parameters))
    try:
        get_command(app).main(words, standalone_mode=False)
    except Exception as problem:  # noqa: BLE001 - the errors of the click inside Typer have no public home
        assert "UsageError" in {kind.__name__ for kind in type(problem).__mro__}, problem
        return None
    return seen


@pytest.mark.parametrize("verb", PLAIN)
def test_what_is_read_plainly_is_what_typer_reads(verb: str) -> None:
    # The options of every verb are read by callbacks of click's: here they stand in the table like the others.
    table = (*parameters_of(verb), *(one._replace(name=f"of_every_{one.name}") for one in COMMON))
    plain = 0

    @settings(max_examples=400, deadline=None, database=None, derandomize=True)
    @given(command_lines(verb))
    def check(words: list[str]) -> None:
        nonlocal plain
        values = read(table, words)
        if values is not None:
            plain += 1
            assert values == as_typer_reads(table, words), words

    check()
    assert plain > 20


@pytest.mark.parametrize("verb", PLAIN)
def test_every_option_is_read_plainly(verb: str) -> None:
    for one in parameters_of(verb):
        text = "1" if one.kind in (int, float) else "tea"
        for flag in one.flags or ("",):
            words = [word for word in (flag, "" if one.kind is bool else text) if word]
            needed = [need.name for need in parameters_of(verb) if need.required and need != one]
            values = read(parameters_of(verb), [*words, *needed])
            assert values is not None, words
            assert values[one.name] == (
                ["tea"]
                if one.repeated
                else True
                if one.kind is bool
                else one.kind(text)
                if one.kind is not str
                else "tea"
            )


def test_options_before_the_verb_count_too_and_aliases_are_known(tmp_path: Path) -> None:
    call = plain_call(["--vault", str(tmp_path), "--json", "add", "Jane likes tea", "--agent=finance", "--quiet"])
    assert call is not None
    assert call.common == {"vault": str(tmp_path), "agent": "finance", "json": True, "quiet": True}
    assert call.given["text"] == "Jane likes tea"
    later = plain_call(["--vault", "one", "remember", "--vault", "two", "x"])
    assert later is not None and later.common["vault"] == "two"
    # An empty one is given, too: it is refused, and does not stand for another.
    for words in (["--vault", "one", "remember", "x", "--vault", ""], ["--vault=", "remember", "x"]):
        empty = plain_call(words)
        assert empty is not None and empty.common["vault"] == ""


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["status"],
        ["remember", "--help"],
        ["remember", "a", "b"],
        ["--version"],
        ["--vault"],
        ["nonsense"],
    ],
)
def test_help_mistakes_and_other_verbs_are_left_to_typer(words: list[str]) -> None:
    assert plain_call(words) is None


def test_a_mistake_is_refused_by_typer_in_its_words(clawmem: Command) -> None:
    done = clawmem("remember", "tea", "--confidence", "much")
    assert done.code == USAGE
    assert "--confidence" in done.err
    assert "clawmem remember --help" in done.err


def test_a_plain_call_does_without_typer(clawmem: Command, vault_root: Path, environment: dict[str, str]) -> None:
    clawmem("remember", "Jane likes tea")
    for words in (["remember", "Jane likes coffee"], ["recall", "tea"], ["context"]):
        code = "import json, sys; from clawmem.faces.cli.plain import run_plain;"
        code += f"assert run_plain({words!r}) == 0; print(json.dumps([*sys.modules]))"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=vault_root, env=environment, capture_output=True, text=True, check=True
        )
        loaded = json.loads(done.stdout.splitlines()[-1])
        assert not {"typer", "inspect", "shutil", "clawmem.faces.cli.app"} & set(loaded)


def test_the_whole_command_line_knows_the_plain_verbs() -> None:
    assert set(PLAIN) <= set(application().list_commands(None))
