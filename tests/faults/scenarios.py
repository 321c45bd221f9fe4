"""The changes that are made to fail at every step: each prepares a vault, acts on it, and names the states allowed."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from clawmem.memory.facts.remember import remember
from clawmem.memory.sync.sync import SyncOptions, sync
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import items_path
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.state.journal import FOLDING, count_accesses, record_access, take_journal
from clawmem.vault.vault import Vault
from tests.conftest import NOW
from tests.faults.checks import git
from tests.faults.steps import Steps, die, faulty_vault, in_child

Act = Callable[[Vault], None]


class Scenario(NamedTuple):
    """`allowed` contains the possible numbers of new commits in HEAD; `texts` contains the facts of the finished
    act."""

    prepare: Act
    act: Act
    allowed: frozenset[int]
    texts: tuple[str, ...] = ()


def keep(vault: Vault, *texts: str, entity: str | None = None) -> None:
    """Remember some facts the way the command does, with ids that depend on the texts alone."""
    drafts: list[Draft] = [draft_from_record({"fact": text, "entity": entity}, NOW) for text in texts]
    remember(vault, drafts, Caller(NOW, random.Random(texts[0]).randbytes))


def _first(vault: Vault) -> None:
    keep(vault, "Jane plays the cello.", entity="areas/people/jane")


def _known_place(vault: Vault) -> None:
    keep(vault, "Jane moved to Lyon.", entity="areas/people/jane")


def _new_place(vault: Vault) -> None:
    keep(vault, "The boat needs a new mast.", entity="projects/boat")


def _batch(vault: Vault) -> None:
    keep(vault, *_BATCH)


_BATCH = tuple(f"Bird number {number} was ringed on the island." for number in range(5))


def _moved(vault: Vault) -> None:
    old, new = "life/areas/people/jane/items.json", "life/archives/jane/items.json"
    with transaction(vault, NOW, "move") as started:
        data = started.read(old)
        if data is None:
            return  # a second try after the first one landed
        gone = {old: None, "life/areas/people/jane/summary.md": None}
        first = Change("entity(archives/jane): moved", {**gone, new: data}, trailers("entity"))
        second = Change("note(daily): moved Jane", {"daily/2026-11-21.md": b"- moved Jane\n"}, trailers("note"))
        started.commit([first, second])


def _edited(vault: Vault) -> None:
    _first(vault)
    keep(vault, "The lamp is green.", entity="projects/lamp")
    items = vault.root / "life/areas/people/jane/items.json"
    items.write_bytes(items.read_bytes().replace(b"cello", b"viola"))
    (vault.root / "daily/2026-11-20.md").write_text("A quiet day.\n")
    (vault.root / "life/projects/lamp/summary.md").unlink()


def _accessed(vault: Vault) -> None:
    _first(vault)
    fact = parse_items((vault.root / items_path("areas/people/jane")).read_bytes(), "items.json")[0]
    for minute in range(7):
        assert record_access(vault, f"2026-11-21T08:{minute:02}:00Z", [fact.id, "fact_00000000"]) is None


ACCESSES = 7


def fold(vault: Vault) -> None:
    """Fold the access journal into Jane's facts, the way the heartbeat does."""
    path = items_path("areas/people/jane")
    with transaction(vault, NOW, "fold") as started:
        counted = count_accesses(take_journal(vault))
        facts = parse_items(started.read(path) or b"[]", path)
        folded = [
            fact._replace(access_count=fact.access_count + counted[fact.id].count, last_accessed=counted[fact.id].last)
            if fact.id in counted
            else fact
            for fact in facts
        ]
        if folded != list(facts):
            subject = subject_line("access", "vault", f"{len(counted)} facts")
            started.commit([Change(subject, {path: render_items(folded)}, trailers("access"), consumes=(FOLDING,))])


def _half_landed(vault: Vault) -> None:
    """A vault whose writer was killed right after its commit had landed."""
    _first(vault)
    doomed = faulty_vault(vault.root, vault.git.environment, Steps("finish fast-import", "after", die))
    assert in_child(lambda: _new_place(doomed)) == -9
    assert (vault.state / "pending.json").exists()


_HUB = ".git/hub.git"


def _apart(vault: Vault) -> None:
    """Create a vault with a fact of its own, and a repository beside it with another fact."""
    _first(vault)
    environment = vault.git.environment
    git(vault.root, environment, "init", "-q", "--bare", "-b", "main", _HUB)
    git(vault.root, environment, "remote", "add", "origin", _HUB)
    _meet(vault)
    with TemporaryDirectory() as folder:
        git(vault.root, environment, "clone", "-q", _HUB, f"{folder}/other")
        other = Vault(Path(folder) / "other", environment)
        # Later, so that git lists its commit after those made here.
        later = Caller(NOW + timedelta(hours=1), random.Random("other").randbytes)
        remember(other, [draft_from_record({"fact": _ELSEWHERE, "entity": "areas/people/jane"}, NOW)], later)
        sync(other, later, SyncOptions())
    _known_place(vault)


def _meet(vault: Vault) -> None:
    sync(vault, Caller(NOW, random.Random("meet").randbytes), SyncOptions())


_ELSEWHERE = "Jane has a cat."


SCENARIOS = {
    "one fact": Scenario(_first, _known_place, frozenset({0, 1}), ("Jane moved to Lyon.",)),
    "one fact, new entity": Scenario(_first, _new_place, frozenset({0, 1}), ("The boat needs a new mast.",)),
    "five facts": Scenario(_first, _batch, frozenset({0, 5}), _BATCH),
    "files made and deleted": Scenario(_first, _moved, frozenset({0, 2})),
    "hand edits first": Scenario(_edited, _known_place, frozenset({0, 3, 4}), ("Jane moved to Lyon.",)),
    "another's work to finish first": Scenario(_half_landed, _known_place, frozenset({0, 1}), ("Jane moved to Lyon.",)),
    "a merge": Scenario(_apart, _meet, frozenset({0, 2}), ("Jane moved to Lyon.", _ELSEWHERE)),
    "accesses folded": Scenario(_accessed, fold, frozenset({0, 1})),
}
