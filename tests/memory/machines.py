"""Machines that share one memory: clones of a vault with a common bare repository."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clawmem.memory.facts.remember import remember
from clawmem.memory.sync.sync import SyncOptions, SyncResult, sync
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.records.caller import Caller
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import accept
from clawmem.vault.vault import Vault
from tests.conftest import NOW, _environment
from tests.faults.checks import git, work_files
from tests.trees import Tree

REVIEW = SyncOptions()
_NAMING_THE_REMOTE = (".git/config", ".git/clawmem/synced-origin")
_SEED = 1000  # no machine of a test has it, so that the ids are others


class Machine:
    """One clone, accepted on its machine, with separate ids."""

    def __init__(self, root: Path, environment: Mapping[str, str], seed: int) -> None:
        self.root = root
        self.environment = environment
        self.caller = Caller(NOW, random.Random(seed).randbytes)
        accept(root / ".git", environment)

    @property
    def vault(self) -> Vault:
        """The vault as a new process would open it."""
        return Vault(self.root, self.environment)

    def keep(self, *texts: str, entity: str = "areas/general", **more: Any) -> list[Fact]:
        """Remember facts."""
        drafts = [draft_from_record({"fact": text, "entity": entity, **more}, NOW) for text in texts]
        return [remembered_fact.fact for remembered_fact in remember(self.vault, drafts, self.caller).facts]

    def sync(self, wanted: SyncOptions = REVIEW) -> SyncResult:
        """Sync with the others."""
        return sync(self.vault, self.caller, wanted)

    def git(self, *arguments: str, shell: Mapping[str, str] | None = None) -> str:
        """Plain git, with the variables of a shell."""
        return git(self.root, {**self.environment, **(shell or {})}, *arguments)

    def head(self) -> str:
        """The branch's commit."""
        return self.git("rev-parse", "HEAD").strip()

    def facts(self) -> dict[str, Fact]:
        """Return every fact by id; raise if an id occurs twice."""
        pages = (path for path in work_files(self.root) if path.name == "items.json")
        found = [fact for path in pages for fact in parse_items(path.read_bytes(), str(path))]
        assert len({fact.id for fact in found}) == len(found)
        return {fact.id: fact for fact in found}

    def standing(self) -> list[str]:
        """What is known now, sorted."""
        return sorted(fact.fact for fact in self.facts().values() if fact.is_current)

    def write(self, path: str, text: str) -> None:
        """Write a file by hand."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def read(self, path: str) -> str:
        """A file's text."""
        return (self.root / path).read_text()


def make_hub(folder: Path, environment: Mapping[str, str]) -> Path:
    """An empty bare repository."""
    hub = folder / "hub.git"
    git(folder, environment, "init", "-q", "--bare", "-b", "main", str(hub))
    return hub


def make_machines(
    folder: Path,
    environment: Mapping[str, str],
    count: int = 2,
    build: Callable[[list[Machine]], object] | None = None,
) -> list[Machine]:
    """A vault with one fact, and clones of it, that share a bare repository, after `build` worked with them: copies of
    those that were made first."""
    origin, trees = _made(count, build)
    for name, tree in trees.items():
        root = tree.write(folder / name)
        for path in map(root.joinpath, _NAMING_THE_REMOTE):
            if path.exists():
                path.write_text(path.read_text().replace(origin, str(folder)))
    return [Machine(folder / f"m{number}", environment, number) for number in range(count)]


def sync_all(machines: list[Machine]) -> None:
    """Sync each with the others, in turn."""
    for machine in machines:
        machine.sync()


@cache
def _made(count: int, build: Callable[[list[Machine]], object] | None) -> tuple[str, Mapping[str, Tree]]:
    """Where the machines were made, and what is in their folders and in the bare repository."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = _environment(folder / "home")
        hub = make_hub(folder, environment)
        first = Machine(create_vault(folder / "m0", environment, NOW).root, environment, _SEED)
        first.git("remote", "add", "origin", str(hub))
        first.keep("Jane lives in Oslo.", entity="areas/people/jane")
        first.sync()
        machines = [first]
        for number in range(1, count):
            git(folder, environment, "clone", "-q", str(hub), f"m{number}")
            machines.append(Machine(folder / f"m{number}", environment, _SEED + number))
        if build:
            build(machines)
        for machine in machines:
            assert machine.vault.settings and machine.vault.catalog, "parsed once, as in `newborn`"
        places = [hub, *(folder / f"m{number}" for number in range(count))]
        return name, {place.name: Tree.of(place) for place in places}
