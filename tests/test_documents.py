"""The documentation says what the code does."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmem import errors
from clawmem.faces.parts.command import all_parameters
from clawmem.faces.parts.parameters import COMMON
from clawmem.faces.verbs.table import ALIASES, VERBS
from clawmem.model.facts.fact import CANONICAL_KEYS, STATUSES
from clawmem.model.records.event import Event
from tests.command_server import CommandServer
from tests.manual import MAN_PAGE, blocks, commands, man_page, reference, tables, with_blocks, with_table
from tests.transcripts.transcript import Labels, Stage, Step, read

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md"), *(ROOT / "vault-template").rglob("*.md")]
)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def rows(text: str, heading: str = "") -> list[list[str]]:
    """The cells of the first table after a heading, without its head; code marks are taken off."""
    after = text[text.index(heading) :] if heading else text
    table = re.search(r"^\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n)+)", after, re.MULTILINE)
    assert table, f"no table after {heading!r}"
    return [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in table[1].splitlines()]


def test_the_manual_shows_every_command_as_it_is() -> None:
    shown = blocks(page("commands.md"))
    real = {name: reference(name, command) for name, command in commands().items()}
    assert list(shown) and set(shown) == set(real)
    assert {name: body for name, body in shown.items() if body != real[name]} == {}, "run `make docs`"


def test_the_man_page_is_the_written_one_and_reads_well() -> None:
    assert MAN_PAGE.read_text(encoding="utf-8") == man_page(), "run `make docs`"
    groff = shutil.which("groff")
    if groff is not None:
        shown = subprocess.run(
            [groff, "-man", "-Tutf8", "-wall", MAN_PAGE], capture_output=True, text=True, timeout=60, check=True
        )
        assert shown.stderr == "" and "Store a fact" in shown.stdout


def test_a_command_that_the_manual_lacks_is_put_where_it_belongs() -> None:
    whole = page("commands.md")
    assert with_blocks(whole) == whole
    block = r"<!-- begin: {} -->\n.*?<!-- end -->\n"
    without = re.sub(block.format("entity alias"), "", re.sub(block.format("undo"), "", whole, flags=re.S), flags=re.S)
    without = re.sub(r"### undo\n\n", "", without)
    assert "entity alias -->" not in without and "undo -->" not in without
    names = [*blocks(with_blocks(without))]
    assert names[names.index("entity rename") + 1] == "entity alias"
    assert names[-1] == "undo" and "### undo\n\n<!-- begin: undo -->" in with_blocks(without)


def test_the_manual_names_every_verb_as_a_heading() -> None:
    headings = re.findall(r"^### (\S+)$", page("commands.md"), re.MULTILINE)
    assert sorted(headings) == sorted(VERBS)


def test_every_command_takes_the_options_that_all_verbs_share() -> None:
    shared = [
        row[0].split("`, `")[-1].split(" ")[0].strip("`")
        for row in rows(page("commands.md"), "## What all verbs share")
    ]
    assert shared == [*(parameter.flags[0] for parameter in COMMON), "--help"]
    for name, command in commands().items():
        flags = {flag for parameter in all_parameters(command) for flag in parameter.flags}
        assert {parameter.flags[0] for parameter in COMMON} <= flags, name


def test_aliases_of_verbs_are_in_their_help() -> None:
    for alias, verb in ALIASES.items():
        assert f"(also: {alias})" in VERBS[verb]


def test_exit_codes() -> None:
    documented = {int(row[0]) for row in rows(page("exit-codes.md"))}
    real = {value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}
    assert documented == real


def test_error_codes() -> None:
    documented = {row[0]: int(row[1]) for row in rows(page("exit-codes.md"), "## Error codes")}
    # The three that are no ClawmemError: faces/cli/boundary.py and app.py make them.
    boundary = {"usage": errors.USAGE, "bug": errors.BUG, "interrupted": errors.INTERRUPTED}
    assert documented == {**{failure.code: failure.exit_code for failure in failures()}, **boundary}


def failures() -> Iterator[type[errors.ClawmemError]]:
    for variable in vars(errors).values():
        if isinstance(variable, type) and issubclass(variable, errors.ClawmemError):
            yield variable


def test_the_generated_tables_are_as_the_code_is() -> None:
    for (path, name), table in tables().items():
        assert with_table(page(path), name, table) == page(path), f"run `make docs` for {name}"


def test_keys_of_facts_and_events() -> None:
    assert [row[0] for row in rows(page("vault-format.md"), "## A fact")] == list(CANONICAL_KEYS)
    assert [row[0] for row in rows(page("vault-format.md"), "## An event")] == list(Event._fields)
    assert all(f"`{status}`" in page("vault-format.md") for status in STATUSES)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        found = (path.parent / name).resolve() if name else path
        assert found.exists(), f"{path.name} links to {target}"
        if anchor:
            assert anchor in anchors(found.read_text(encoding="utf-8")), f"{path.name} links to {target}"


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings make, as the common hosts do."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_of_decisions_is_listed_and_every_former_number_leads_to_one() -> None:
    index = page("decisions/README.md")
    for path in (DOCS / "decisions").glob("[a-z]*.md"):
        heading = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        assert f"| [{path.stem}]({path.name}) | {heading} |" in index
    numbers = [number for cell, _ in rows(index, "## Former numbers") for number in cell.split(", ")]
    assert sorted(numbers) == [f"{number:03}" for number in range(1, 145)]


def test_the_transcript_in_the_readme_is_what_the_commands_print(
    tmp_path: Path, environment: dict[str, str], command_server: CommandServer
) -> None:
    found = re.search(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found
    steps = list(read(found[1].replace("/home/you", "/here")))
    stage = Stage(tmp_path, tmp_path, environment, command_server)
    now = [Step((), step.command, stage.run(step.command)) for step in steps]
    assert len(now) == 6
    labels = Labels()
    assert [step._replace(printed=tuple(map(labels.put_in, step.printed))) for step in steps] == now
