"""Random histories of machines that share a vault: written to by verbs, by hand and by git, then brought together."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.learning.ingest import ingest
from clawmem.learning.learn import learn
from clawmem.memory.entities.entities import archive_entity, move_entity
from clawmem.memory.facts.redact import RedactTarget, redact
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.health.checks import ERROR
from clawmem.memory.health.doctor import doctor
from clawmem.memory.history.undo import undo
from clawmem.memory.sync.sync import SyncOptions
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.lifecycle import chain
from clawmem.model.records.entity import folder_of, items_path, name_of_path
from clawmem.model.transcripts.message import Message
from clawmem.vault.git.acceptance import accept
from tests.conftest import NOW
from tests.faults.checks import git
from tests.memory.machines import Machine, make_machines

MOST = 5
_WORDS = ("red", "green", "grey", "old", "small", "loud", "round", "wooden")
_THINGS = ("boat", "lamp", "cat", "house", "clock", "chair")
_ROUNDS = 6


class Told(NamedTuple):
    """The statements given to the machines, and the conditions that must hold at the end."""

    said: dict[str, str]
    ended: set[str]


def make_template(folder: Path, environment: Mapping[str, str]) -> Path:
    """Machines with some facts, made once: each history begins with a copy."""
    first, *others = make_machines(folder, environment, MOST)
    first.keep("Jane is ill.", "Jane has a cat.", entity="areas/people/jane")
    first.keep("The site is red.", "The site is old.", entity="projects/site")
    first.keep("The boat is slow.", entity="projects/boat")
    first.sync()
    for other in others:
        other.sync()
    return folder


class Wandering:
    """One history: the machines, chance, and what was said."""

    def __init__(self, seed: int, template: Path, folder: Path, environment: Mapping[str, str], redacts: bool) -> None:
        self.chance = random.Random(seed)
        self.folder = folder
        self.environment = environment
        self.redacts = redacts
        self.hub = folder / "hub.git"
        self.number = 0
        self.done: list[str] = []
        self.told = Told({}, set())
        self.machines = [self._copied(template, folder, number) for number in range(self.chance.randint(3, MOST))]
        shutil.copytree(template / "hub.git", self.hub)
        for fact in self.machines[0].facts().values():
            self.told.said[fact.id] = fact.fact

    def _copied(self, template: Path, folder: Path, number: int) -> Machine:
        root = Path(shutil.copytree(template / f"m{number}", folder / f"m{number}", symlinks=True))
        config = root / ".git/config"
        config.write_text(config.read_text().replace(str(template), str(folder)))
        git(root, self.environment, "update-index", "-q", "--refresh")
        return Machine(root, self.environment, self.chance.getrandbits(32))

    def live(self, steps: int) -> None:
        """So many steps, each on a machine that chance names."""
        for _ in range(steps):
            machine = self.chance.choice(self.machines)
            self.pass_time(machine)
            act = self.chance.choice((*_ACTS, *((_redact,) if self.redacts else ())))
            self.done.append(f"{machine.root.name} {act.__name__.strip('_')}")
            try:
                act(self, machine)
            except ClawmemError as problem:
                self.done[-1] += f": {problem.message[:90]}"

    def meet(self) -> None:
        """Sync all machines until all of them have the same commit."""
        for machine in self.machines:
            _settle_merge(machine)
            machine.sync()
            _drop_copies(machine)
        for _ in range(_ROUNDS):
            for machine in self.machines:
                self.pass_time(machine)
                _settle_merge(machine)
                machine.sync()
            if len({machine.head() for machine in self.machines}) == 1:
                return
        raise AssertionError(f"{_ROUNDS} rounds were not enough")

    def assert_right(self) -> None:
        """The invariants, of every machine."""
        trees = {machine.git("rev-parse", "HEAD^{tree}").strip() for machine in self.machines}
        assert len(trees) == 1
        for machine in self.machines:
            assert machine.git("status", "--porcelain", "--untracked-files=all") == ""
        facts = self.machines[0].facts()
        assert chain.chain_problems(facts.values()) == ()
        risen = {key for key in self.told.ended if key in facts and facts[key].is_current}
        assert not risen, f"{risen} were withdrawn or replaced, and stand again"
        texts = {fact.fact for fact in facts.values()}
        lost = {key: words for key, words in self.told.said.items() if words not in texts}
        assert not lost, f"{lost} were acknowledged, and are gone"
        found = doctor(self.machines[-1].vault, self.machines[-1].caller).problems
        assert [problem for problem in found if problem.severity == ERROR] == []

    # What the acts share.

    def pass_time(self, machine: Machine) -> None:
        """No two commits of one time and subject: by these a redaction knows its history again."""
        self.number += 1
        machine.caller = machine.caller._replace(now=NOW + timedelta(minutes=self.number))

    def words(self) -> str:
        self.number += 1
        return f"The {self.chance.choice(_THINGS)} is {self.chance.choice(_WORDS)} ({self.number})."

    def standing(self, machine: Machine) -> Fact | None:
        found = sorted((fact for fact in held(machine).values() if fact.is_current), key=lambda fact: fact.id)
        return self.chance.choice(found) if found else None

    def entity(self, machine: Machine) -> str | None:
        names = sorted({name for path in _tracked(machine) if (name := name_of_path(path))})
        return self.chance.choice(names) if names else None

    def free_name(self) -> str:
        self.number += 1
        root = self.chance.choice(("projects", "areas", "areas/people", "resources"))
        return f"{root}/n{self.number}"

    def forget(self, key: str) -> None:
        self.told.said.pop(key, None)
        self.told.ended.discard(key)


def held(machine: Machine) -> dict[str, Fact]:
    """Return the facts of the branch by id; of a doubled id, the first."""
    vault = machine.vault
    paths = [path for path in _tracked(machine) if path.endswith("items.json") and name_of_path(path)]
    found: dict[str, Fact] = {}
    for path, data in vault.contents_at("HEAD", paths).items():
        for fact in parse_items(data or b"[]", path):
            found.setdefault(fact.id, fact)
    return found


def _tracked(machine: Machine) -> list[str]:
    return machine.vault.files_at("HEAD", "life")


def _drop_copies(machine: Machine) -> None:
    """Delete the copies that were left alone and restore the missing files, as a person would."""
    settled = machine.git("status", "--porcelain", "-z", "--untracked-files=all").split("\0")
    fresh = [line[3:] for line in settled if line.startswith("??") and line.endswith("items.json")]
    known = set(held(machine))
    for path in fresh:
        ids = {fact.id for fact in parse_items((machine.root / path).read_bytes(), path)}
        if ids & known and not any(line[1:2] == "D" for line in settled):
            shutil.rmtree((machine.root / path).parent)


def _settle_merge(machine: Machine) -> None:
    if (machine.root / ".git/MERGE_HEAD").exists():
        machine.git("merge", "--abort")
        machine.sync()


def _remember(life: Wandering, machine: Machine) -> None:
    fact = life.standing(machine)
    entity = life.entity(machine) if fact else None
    for kept in machine.keep(life.words(), entity=entity or "areas/general"):
        life.told.said[kept.id] = kept.fact


def _supersede(life: Wandering, machine: Machine) -> None:
    fact = life.standing(machine)
    if fact:
        result = supersede(machine.vault, fact.id, draft_from_record({"fact": life.words()}, NOW), machine.caller)
        life.told.said[result.facts[0].fact.id] = result.facts[0].fact.fact
        life.told.ended.add(fact.id)


def _retract(life: Wandering, machine: Machine) -> None:
    fact = life.standing(machine)
    if fact:
        retract(machine.vault, fact.id, machine.caller, "not so")
        life.told.ended.add(fact.id)


def _undo(life: Wandering, machine: Machine) -> None:
    fact_id = life.chance.choice(sorted(held(machine)))
    for placed in undo(machine.vault, fact_id, machine.caller).facts:
        life.forget(placed.fact.id)


def _archive(life: Wandering, machine: Machine) -> None:
    name = life.entity(machine)
    if name and name != "areas/general":
        archive_entity(machine.vault, name, machine.caller)


def _move(life: Wandering, machine: Machine) -> None:
    name = life.entity(machine)
    if name:
        move_entity(machine.vault, name, life.free_name(), machine.caller)


def _rename_by_hand(life: Wandering, machine: Machine) -> None:
    name = life.entity(machine)
    if name and (machine.root / folder_of(name)).is_dir():
        target = machine.root / folder_of(life.free_name())
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(machine.root / folder_of(name), target)


def _copy_by_hand(life: Wandering, machine: Machine) -> None:
    name = life.entity(machine)
    if name and (machine.root / folder_of(name)).is_dir():
        shutil.copytree(machine.root / folder_of(name), machine.root / folder_of(life.free_name()))


def _reword_by_hand(life: Wandering, machine: Machine) -> None:
    name = life.entity(machine)
    path = machine.root / items_path(name) if name else None
    if path is None or not path.is_file():
        return
    facts = list(parse_items(path.read_bytes(), str(path)))
    if facts:
        place = life.chance.randrange(len(facts))
        life.told.said.pop(facts[place].id, None)
        facts[place] = facts[place]._replace(fact=life.words())
        path.write_bytes(render_items(facts))


def _commit_by_hand(life: Wandering, machine: Machine) -> None:
    machine.git("add", "-A")
    machine.git("commit", "-q", "--allow-empty", "-m", "by a person")


def _ingest(life: Wandering, machine: Machine) -> None:
    text = f"I am allergic to {life.chance.choice(_WORDS)}{life.chance.randrange(100)} nuts."
    ingest(machine.vault, [Message(1, "user", text, "2026-11-20T10:00:00Z")], machine.caller, "chat")


def _learn(life: Wandering, machine: Machine) -> None:
    learn(machine.vault, machine.caller)


def _undo_ingest(life: Wandering, machine: Machine) -> None:
    found = machine.git("log", "--format=%H", "--grep=^Clawmem-Op: ingest", "-n", "3").split()
    if found:
        undo(machine.vault, life.chance.choice(found), machine.caller)


def pull(machine: Machine) -> bool:
    """Plain `git pull`, as a person would; whether it ended well."""
    command = ["git", "pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]
    return subprocess.run(command, cwd=machine.root, env=machine.environment, capture_output=True).returncode == 0


def _pull(life: Wandering, machine: Machine) -> None:
    if not pull(machine):
        life.done[-1] += " (stopped)"
        _settle_merge(machine)


def _pull_and_push(life: Wandering, machine: Machine) -> None:
    if pull(machine):
        command = ["git", "push", "-q", "origin", "main"]
        subprocess.run(command, cwd=machine.root, env=machine.environment, capture_output=True)
    else:
        _settle_merge(machine)


def _sync(life: Wandering, machine: Machine) -> None:
    machine.sync(SyncOptions(conflict=life.chance.choice((None, None, "newest", "ours", "theirs"))))


def _redact(life: Wandering, machine: Machine) -> None:
    """Redact a secret in one clone, replace the history of the remote, and clone the others again."""
    life.meet()
    fact = life.standing(machine)
    if fact is None:
        return
    words = fact.fact
    redact(machine.vault, RedactTarget(pattern=words), machine.caller)
    for key in [key for key, text in life.told.said.items() if words in text or text in words]:
        life.forget(key)
    machine.git("push", "-q", "--force", "origin", "main")
    for other in life.machines:
        if other is not machine:
            shutil.rmtree(other.root)
            git(life.folder, life.environment, "clone", "-q", str(life.hub), other.root.name)
            accept(other.root / ".git", life.environment)


Act = Callable[[Wandering, Machine], None]
_ACTS: tuple[Act, ...] = (
    *(_remember, _remember, _remember, _supersede, _supersede, _retract, _retract, _undo, _archive, _move),
    *(_rename_by_hand, _rename_by_hand, _copy_by_hand, _reword_by_hand, _commit_by_hand),
    *(_ingest, _ingest, _learn, _learn, _undo_ingest),
    *(_pull, _pull, _pull, _pull_and_push, _pull_and_push, _sync, _sync, _sync, _sync),
)


def wander(seed: int, template: Path, folder: Path, environment: Mapping[str, str], steps: int) -> None:
    """Run one history from start to end; a failure shows its steps."""
    life = Wandering(seed, template, folder, environment, redacts=seed % 5 == 0)
    try:
        life.live(steps)
        life.meet()
        life.assert_right()
    except (AssertionError, ClawmemError) as problem:
        text = "\n  ".join(life.done)
        raise AssertionError(f"history {seed}: {problem}\n  {text}") from problem
