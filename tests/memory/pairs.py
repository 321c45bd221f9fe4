"""Two machines that went apart, brought together twice from the same state: by `sync`, and by git and a command."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

from clawmem.errors import ClawmemError
from clawmem.heartbeat.steps import refresh_memory, refresh_summaries
from clawmem.learning.ingest import ingest, note
from clawmem.memory.entities.entities import archive_entity, move_entity
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.health.configure import change_setting
from clawmem.memory.history.undo import undo
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.records.entity import items_path
from clawmem.model.transcripts.message import Message
from tests.conftest import NOW
from tests.faults.checks import git
from tests.memory.machines import Machine, make_machines
from tests.memory.test_git_merges import pull
from tests.plain_reader import learn_plainly as learn

POLICIES = ("review", "newest", "ours", "theirs")
_NAMES = ("areas/people/jane", "projects/site", "projects/boat", "areas/general")
_TOWNS = ("Oslo", "Bergen", "Paris", "Rome")


def make_pair_template(folder: Path, environment: Mapping[str, str]) -> Path:
    """Two machines with the same facts and pages."""
    machine, other = make_machines(folder, environment)
    machine.keep("Jane has a cat.", entity="areas/people/jane", importance=0.9)
    machine.keep("The site is red.", "The site is old.", entity="projects/site")
    machine.keep("The boat is slow.", entity="projects/boat", category="decision")
    refresh_summaries(machine.vault, machine.caller)
    refresh_memory(machine.vault, machine.caller)
    machine.sync()
    other.sync()
    return folder


class Apart:
    """What two machines did on their own."""

    def __init__(self, seed: int, template: Path, folder: Path, environment: Mapping[str, str], policy: str) -> None:
        self.chance = random.Random(seed)
        self.number = 0
        self.done: list[str] = []
        shutil.copytree(template, folder, symlinks=True)
        self.one, self.other = (
            _machine(folder / name, template, folder, environment, seed * 2 + place)
            for place, name in enumerate(("m0", "m1"))
        )
        change_setting(self.one.vault, self.one.caller, "sync.conflict", policy)
        self.one.sync()
        self.other.sync()
        for machine in (self.one, self.other):
            for _ in range(self.chance.randint(2, 6)):
                self._act(machine)
        self.one.sync()

    def _act(self, machine: Machine) -> None:
        self.number += 1
        machine.caller = machine.caller._replace(now=NOW + timedelta(hours=self.number))
        act = self.chance.choice(_ACTS)
        self.done.append(f"{machine.root.name} {act.__name__.strip('_')}")
        try:
            act(self, machine)
        except ClawmemError as problem:
            self.done[-1] += f": {problem.message[:60]}"

    def standing(self, machine: Machine) -> Fact | None:
        found = sorted((fact for fact in machine.facts().values() if fact.is_current), key=lambda fact: fact.id)
        return self.chance.choice(found[:4]) if found else None

    def words(self) -> str:
        self.number += 1
        return f"The {self.chance.choice(('boat', 'lamp', 'site'))} is {self.chance.choice(_TOWNS)} {self.number}."


def _machine(root: Path, template: Path, folder: Path, environment: Mapping[str, str], seed: int) -> Machine:
    config = root / ".git/config"
    config.write_text(config.read_text().replace(str(template), str(folder)))
    git(root, environment, "update-index", "-q", "--refresh")
    return Machine(root, environment, seed)


def _remember(life: Apart, machine: Machine) -> None:
    machine.keep(life.words(), entity=life.chance.choice(_NAMES), importance=life.chance.choice((0.5, 0.9)))


def _lives(life: Apart, machine: Machine) -> None:
    town = life.chance.choice(_TOWNS)
    triple = {"subject": "Jane", "predicate": "lives_in", "object": town}
    machine.keep(f"Jane lives in {town} now.", entity="areas/people/jane", **triple)


def _supersede(life: Apart, machine: Machine) -> None:
    fact = life.standing(machine)
    if fact:
        supersede(machine.vault, fact.id, draft_from_record({"fact": life.words()}, NOW), machine.caller)


def _retract(life: Apart, machine: Machine) -> None:
    fact = life.standing(machine)
    if fact:
        retract(machine.vault, fact.id, machine.caller)


def _undo(life: Apart, machine: Machine) -> None:
    undo(machine.vault, life.chance.choice(sorted(machine.facts())), machine.caller)


def _reword(life: Apart, machine: Machine) -> None:
    name = life.chance.choice(_NAMES)
    path = machine.root / items_path(name)
    facts = list(parse_items(path.read_bytes(), str(path))) if path.is_file() else []
    if facts:
        facts[0] = facts[0]._replace(fact=life.words())
        path.write_bytes(render_items(facts))
        note(machine.vault, "Words changed by hand.", machine.caller)


def _write(life: Apart, machine: Machine) -> None:
    path = machine.root / "life/areas/people/jane/summary.md"
    if path.is_file():
        marker = "<!-- clawmem:begin -->"
        path.write_text(path.read_text().replace(marker, f"{life.words()}\n\n{marker}"))
        note(machine.vault, "A page changed by hand.", machine.caller)


def _archive(life: Apart, machine: Machine) -> None:
    archive_entity(machine.vault, "projects/site", machine.caller)


def _move(life: Apart, machine: Machine) -> None:
    move_entity(machine.vault, "boat", f"resources/boat{life.chance.randrange(3)}", machine.caller)


def _note(life: Apart, machine: Machine) -> None:
    note(machine.vault, life.words(), machine.caller)


def _refresh(life: Apart, machine: Machine) -> None:
    refresh_summaries(machine.vault, machine.caller)
    refresh_memory(machine.vault, machine.caller)


def _learn(life: Apart, machine: Machine) -> None:
    text = f"I live in {life.chance.choice(_TOWNS)}. I am allergic to {life.chance.choice(('nuts', 'milk', 'eggs'))}."
    ingest(machine.vault, [Message(1, "user", text, "2026-11-20T10:00:00Z")], machine.caller, "chat")
    learn(machine.vault, machine.caller)


def _set(life: Apart, machine: Machine) -> None:
    change_setting(machine.vault, machine.caller, "defaults.limit", str(life.chance.randint(3, 30)))


_ACTS: tuple[Callable[[Apart, Machine], None], ...] = (
    *(_remember, _remember, _lives, _lives, _supersede, _supersede, _retract, _undo, _reword, _reword, _write),
    *(_archive, _move, _note, _refresh, _refresh, _learn, _learn, _set),
)


def differing(seed: int, template: Path, folder: Path, environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The files in which the vault after `git pull` and a command is not that after `sync`, and what was done before;
    each seed has its policy."""
    life = Apart(seed, template, folder / "sync", environment, POLICIES[seed % len(POLICIES)])
    shutil.copytree(folder / "sync", folder / "pull", symlinks=True)
    by_sync = life.other
    by_pull = _machine(folder / "pull/m1", folder / "sync", folder / "pull", environment, 0)
    by_pull.caller = by_sync.caller
    by_sync.sync()
    if pull(by_pull).returncode != 0:
        by_pull.git("merge", "--abort")
    by_pull.sync()
    git(by_sync.root, environment, "fetch", "-q", str(by_pull.root), "HEAD")
    return by_sync.git("diff", "--name-only", "HEAD", "FETCH_HEAD").split(), life.done
