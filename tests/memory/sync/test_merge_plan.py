"""Facts that others removed or reworded: `sync` names the facts, the commit and its author."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.memory.history.undo import undo
from clawmem.memory.sync.merge_plan import state_at
from clawmem.model.language.dates import stamp
from tests.conftest import NOW, Command
from tests.memory.machines import Machine, make_machines

FOLDER = "life/projects/boat"
ITEMS = f"{FOLDER}/items.json"


def _emptied(machine: Machine) -> None:
    machine.write(ITEMS, "[]\n")


def _deleted(machine: Machine) -> None:
    shutil.rmtree(machine.root / FOLDER)


def _one_deleted(machine: Machine) -> None:
    lines = machine.read(ITEMS).splitlines()
    machine.write(ITEMS, "\n".join([lines[0], lines[2], lines[3]]) + "\n")


def _altered(machine: Machine) -> None:
    machine.write(ITEMS, machine.read(ITEMS).replace("is red", "is black").replace("is slow", "is fast"))


def _linked(machine: Machine) -> None:
    shutil.rmtree(machine.root / FOLDER)
    (machine.root / FOLDER).symlink_to("../areas")


@pytest.fixture
def machines(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """Two machines that share two facts of a boat."""
    return make_machines(tmp_path, environment, 2, _build_boat)


def _build_boat(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("The boat is red.", "The boat is slow.", entity="projects/boat")
    machine.sync()
    other.sync()


@pytest.mark.parametrize("merged", [False, True], ids=["moved forward", "merged"])
@pytest.mark.parametrize(
    ("deed", "how", "number"),
    [
        (_emptied, "gone", 2),
        (_deleted, "gone", 2),
        (_one_deleted, "gone", 1),
        (_altered, "altered", 2),
        (_linked, "gone", 2),
    ],
)
@pytest.mark.few(4)
def test_what_a_peer_took_out_is_named(
    machines: list[Machine], clawmem: Command, deed: Callable[[Machine], None], how: str, number: int, merged: bool
) -> None:
    machine, other = machines
    deed(other)
    other.git("add", "-A")
    other.git("commit", "-qm", "tidied up", "--author=Mallory <m@example.org>")
    other.git("push", "-q", "origin", "main")
    if merged:
        machine.keep("Something of our own.")
    result = clawmem("sync", "--json", cwd=machine.root)
    assert result.code == 0, result.err
    lost = result.data["lost"]
    assert [(row["how"], row["commit"], row["entity"]) for row in lost] == [
        (how, other.head(), "projects/boat")
    ] * number
    assert {row["author"] for row in lost} == {"Mallory <m@example.org>"}
    assert {row["subject"] for row in lost} == {"tidied up"}
    assert {row["words"] for row in lost} <= {"The boat is red.", "The boat is slow."}


def test_it_is_said_in_words_and_the_command_that_is_named_brings_it_back(
    machines: list[Machine], clawmem: Command
) -> None:
    machine, other = machines
    _emptied(other)
    other.git("commit", "-qam", "tidied up", "--author=Mallory <m@example.org>")
    other.git("push", "-q", "origin", "main")
    text = clawmem("sync", cwd=machine.root).out
    name = other.head()[:12]
    assert "removed by others: 2 facts (fact_" in text
    assert f"in {name} by Mallory <m@example.org>: tidied up; `clawmem undo {name}` reverts that" in text
    assert machine.standing() == ["Jane lives in Oslo."]
    assert clawmem("undo", name, cwd=machine.root).code == 0
    assert machine.standing() == ["Jane lives in Oslo.", "The boat is red.", "The boat is slow."]


def test_an_undo_of_others_is_named_too(machines: list[Machine]) -> None:
    machine, other = machines
    (lamp,) = machine.keep("The lamp is green.")
    machine.sync()
    other.sync()
    undo(other.vault, lamp.id, other.caller)
    other.sync()
    (lost,) = machine.sync().removals
    assert (lost.fact, lost.how, lost.commit) == (lamp.id, "gone", other.head())


def test_what_only_moved_or_was_replaced_is_not_named(machines: list[Machine]) -> None:
    machine, other = machines
    shutil.move(other.root / FOLDER, other.root / "life/resources/ship")
    other.keep("Something else.")
    other.sync()
    assert machine.sync().removals == []
    (fact,) = [fact for fact in machine.facts().values() if fact.fact == "The boat is red."]
    other.write(
        "life/resources/ship/items.json", other.read("life/resources/ship/items.json").replace('"user"', '"chat"')
    )
    other.keep("And more.")
    other.sync()
    machine.keep("Meanwhile.")
    assert machine.sync().removals == []
    assert fact.id in machine.facts()


def test_a_past_state_has_the_lines_of_all_clones_and_no_ref(machines: list[Machine]) -> None:
    machine, other = machines
    for place, each in enumerate((machine, other), 1):
        each.caller = each.caller._replace(now=NOW + timedelta(hours=place))
        each.keep(f"The boat was here in hour {place}.", entity="projects/boat")
    for each in (machine, other, machine):
        each.caller = each.caller._replace(now=NOW + timedelta(hours=3))
        each.sync()
    refs = machine.git("for-each-ref")
    known = [state_at(machine.vault, stamp(NOW + timedelta(hours=hours))) for hours in (1, 2, 2, 3)]
    words = [machine.git("show", f"{commit}:{ITEMS}").count("was here in hour") for commit in known]
    assert words == [1, 2, 2, 2]
    assert known[1] == known[2] != known[3] == machine.head()
    assert machine.git("for-each-ref") == refs
