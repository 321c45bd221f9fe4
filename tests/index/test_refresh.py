"""Refresh: after any history, however it was made, the index says what a rebuild says."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.errors import ClawmemError
from clawmem.index.refresh import HeadChange, apply_change, is_index_damage, open_index
from clawmem.index.search.lookup import broken_files, entity_names, facts_of
from clawmem.memory.entities.entities import archive_entity, move_entity, rename_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import items_path
from clawmem.vault.vault import Vault
from tests.faults.checks import git
from tests.index.contents import assert_equal_to_a_rebuild

PEOPLE = ("jane", "ravi", "mia")
THINGS = "tea coffee boats chess Lisbon Zürich running gardens e-mail C++".split()
ENTITIES = ("areas/people/jane", "projects/apollo", "resources/recipes", "@finance/projects/budget")


class World:
    """A vault, whoever changes it, and chance."""

    def __init__(self, vault: Vault, environment: dict[str, str], caller: Caller, seed: int) -> None:
        self.vault = vault
        self.environment = environment
        self.caller = caller
        self.chance = random.Random(seed)

    def git(self, *arguments: str) -> str:
        """Plain git."""
        return git(self.vault.root, self.environment, *arguments)

    def commit(self, words: str) -> None:
        """Commit all there is by plain git."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", words)

    def statement(self) -> str:
        """A new statement."""
        chance = self.chance
        return (
            f"{chance.choice(PEOPLE)} likes {chance.choice(THINGS)} and {chance.choice(THINGS)} {chance.random():.6f}"
        )

    def files(self) -> list[Path]:
        """The items files of the work tree that parse."""
        every = [path for top in ("life", "agents") for path in (self.vault.root / top).rglob("items.json")]
        return sorted(path for path in every if path.read_bytes().startswith(b"["))

    def some_id(self) -> str | None:
        """The id of some fact in the work tree."""
        ids = [record["id"] for path in self.files() for record in json.loads(path.read_bytes())]
        return self.chance.choice(ids) if ids else None


def add(world: World) -> None:
    """Remember a few facts."""
    drafts = [
        draft_from_record(
            {"fact": world.statement(), "entity": world.chance.choice(ENTITIES), "tags": [world.chance.choice(THINGS)]},
            world.caller.now,
        )
        for _ in range(world.chance.randrange(1, 4))
    ]
    remember(world.vault, drafts, world.caller)


def replace(world: World) -> None:
    """Supersede a fact."""
    if fact_id := world.some_id():
        supersede(world.vault, fact_id, draft_from_record({"fact": world.statement()}, world.caller.now), world.caller)


def withdraw(world: World) -> None:
    """Retract a fact."""
    if fact_id := world.some_id():
        retract(world.vault, fact_id, world.caller)


def move(world: World) -> None:
    """Move, archive or rename an entity."""
    index = open_index(world.vault)
    names = [name for name in entity_names(index) if not name.startswith("@")]
    index.close()
    if not names:
        return
    name, chance = world.chance.choice(names), world.chance
    number = chance.randrange(1000)
    act: Callable[[], object] = chance.choice(
        (
            lambda: move_entity(world.vault, name, f"resources/moved-{number}", world.caller),
            lambda: archive_entity(world.vault, name, world.caller),
            lambda: rename_entity(world.vault, name, f"renamed-{number}", world.caller),
        )
    )
    act()


def edit(world: World) -> None:
    """Edit by hand: change, drop, reorder or insert lines, and commit with plain git."""
    files = world.files()
    if not files:
        return
    path = world.chance.choice(files)
    records = json.loads(path.read_bytes())
    deed = world.chance.randrange(5)
    if deed == 0 and records:
        world.chance.choice(records)["fact"] = world.statement()
    elif deed == 1 and records:
        records.pop(world.chance.randrange(len(records)))
    elif deed == 2:
        world.chance.shuffle(records)
    elif deed == 3:
        fresh = {"id": f"fact_{world.chance.randrange(16**8):08x}", "fact": world.statement()}
        records.insert(world.chance.randrange(len(records) + 1), fresh)
    elif records:
        world.chance.choice(records)["access_count"] = world.chance.randrange(99)
    path.write_text("[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n")
    world.commit("by hand")


def spoil(world: World) -> None:
    """Commit a file that cannot be parsed, or repair one."""
    pages = sorted((world.vault.root / "life").rglob("items.json"))
    bad = [path for path in pages if not path.read_bytes().startswith(b"[")]
    if bad:
        bad[0].write_text("[]\n")
    elif files := world.files():
        world.chance.choice(files).write_text('{"broken": \n')
    world.commit("spoiled or mended")


def ledger(world: World) -> None:
    """Events for some day, one of them perhaps known from another day."""
    folder = world.vault.root / "ledger"
    folder.mkdir(exist_ok=True)
    path = folder / f"2026-11-{world.chance.randrange(10, 14)}.jsonl"
    lines = path.read_text() if path.exists() else ""
    number = world.chance.randrange(30)
    record = {"id": f"ev_{number:04x}", "timestamp": "2026-11-10T00:00:00Z", "role": "user", "text": "hello"}
    path.write_text(lines + json.dumps(record) + "\n")
    world.commit("events")


def reset(world: World) -> None:
    """Throw the last commits away."""
    count = len(world.git("rev-list", "HEAD").split())
    if count > 2:
        world.git("reset", "--quiet", "--hard", f"HEAD~{world.chance.randrange(1, min(count - 1, 4))}")


def branch(world: World) -> None:
    """Change to a branch, new or known, and leave another one behind."""
    name = f"side{world.chance.randrange(3)}"
    known = name in world.git("branch", "--format=%(refname:short)").split()
    world.git("switch", "--quiet", *(() if known else ("-c",)), name)


def join(world: World) -> None:
    """Merge another branch, our side winning where both changed a place."""
    others = [
        word for word in world.git("branch", "--format=%(refname:short)").split() if word.startswith(("side", "main"))
    ]
    world.git("merge", "--quiet", "-m", "join", "-s", "ort", "-X", "ours", world.chance.choice(others))


def delete(world: World) -> None:
    """Delete an entity's folder with plain git."""
    if files := world.files():
        shutil.rmtree(world.chance.choice(files).parent)
        world.commit("deleted")


STEPS = (add, add, add, replace, withdraw, move, edit, edit, spoil, ledger, reset, branch, join, delete)


def wander(world: World, steps: int) -> None:
    """Take random steps; now and then the index is opened in between, so that it lags by one step or by many."""
    for _ in range(steps):
        step = world.chance.choice(STEPS)
        try:
            step(world)
        except (ClawmemError, AssertionError):
            # Refused for good reason (a spoiled file, a fact that is gone, a merge that conflicts): clear it away.
            world.git("reset", "--quiet", "--hard", "HEAD")
        if world.chance.random() < 0.6:
            open_index(world.vault).close()


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(10))
def test_any_history_leads_to_what_a_rebuild_says(
    vault: Vault, environment: dict[str, str], caller: Caller, seed: int
) -> None:
    wander(World(vault, environment, caller, seed), 22)
    assert_equal_to_a_rebuild(vault, open_index(vault))


@pytest.mark.parametrize("seed", range(100, 102))
def test_any_history_with_whoosh(vault: Vault, environment: dict[str, str], caller: Caller, seed: int) -> None:
    world = World(vault, environment, caller, seed)
    (vault.root / "clawmem.yaml").write_text("format: 1\nindex: {keyword: whoosh}\n")
    world.commit("whoosh")
    wander(world, 10)
    index = open_index(vault)
    assert index.engine.name == "whoosh"
    assert_equal_to_a_rebuild(vault, index)


def test_an_index_at_head_is_not_touched(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "Jane likes tea"}, caller.now)], caller)
    open_index(vault).close()
    before = {path.name: path.stat().st_mtime_ns for path in vault.state.glob("index*")}
    open_index(vault).close()
    assert {path.name: path.stat().st_mtime_ns for path in vault.state.glob("index*")} == before
    assert len(list(vault.state.glob("index-*.sqlite"))) == 1


def test_a_commit_of_another_process_in_between_is_not_lost(
    vault: Vault, environment: dict[str, str], caller: Caller
) -> None:
    ours = open_index(vault)
    start = ours.head()
    path = items_path("projects/apollo")
    world = World(vault, environment, caller, 1)
    for name, other in (("one", items_path("projects/other")), ("two", path)):
        (vault.root / other).parent.mkdir(parents=True)
        (vault.root / other).write_text(f'[\n{{"id": "fact_{name}", "fact": "{name}"}}\n]\n')
        world.commit(name)
        if name == "one":
            # A reader brings the index to the first commit; what we hold open knows nothing of it.
            open_index(vault).close()
    apply_change(
        vault, ours, HeadChange(start, world.git("rev-parse", "HEAD").strip(), {path: (vault.root / path).read_bytes()})
    )
    assert [placed.fact.id for placed in facts_of(ours, "projects/other")] == ["fact_one"]
    assert_equal_to_a_rebuild(vault, ours)


def test_a_named_commit_leaves_later_ones_to_be_caught_up(
    vault: Vault, environment: dict[str, str], caller: Caller
) -> None:
    world = World(vault, environment, caller, 1)
    ours = open_index(vault)
    start, commits = ours.head(), []
    for name in ("one", "two"):
        (vault.root / items_path(f"projects/{name}")).parent.mkdir(parents=True)
        (vault.root / items_path(f"projects/{name}")).write_text(f'[\n{{"id": "fact_{name}", "fact": "{name}"}}\n]\n')
        world.commit(name)
        commits.append(world.git("rev-parse", "HEAD").strip())
    path = items_path("projects/one")
    apply_change(vault, ours, HeadChange(start, commits[0], {path: (vault.root / path).read_bytes()}))
    assert ours.head() == commits[0]
    ours.close()
    index = open_index(vault)
    assert index.head() == commits[1]
    assert_equal_to_a_rebuild(vault, index)


def test_an_index_that_cannot_be_stored_answers_from_memory(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "Jane sails.", "entity": "areas/people/jane"}, caller.now)], caller)
    (vault.state / "index.sqlite").unlink()
    (vault.state / "index.sqlite").mkdir()
    index = open_index(vault)
    assert [placed.fact.fact for placed in facts_of(index, "areas/people/jane")] == ["Jane sails."]
    assert is_index_damage(index, sqlite3.DatabaseError()) and not is_index_damage(index, ValueError())
    index.close()


def test_a_rewritten_history_whose_commits_are_gone_is_built_anew(
    vault: Vault, environment: dict[str, str], caller: Caller
) -> None:
    world = World(vault, environment, caller, 1)
    remember(vault, [draft_from_record({"fact": "Jane likes tea", "entity": "projects/x"}, caller.now)], caller)
    open_index(vault).close()
    world.git("reset", "--quiet", "--hard", "HEAD~1")
    world.git("-c", "gc.reflogExpire=now", "reflog", "expire", "--expire=now", "--all")
    world.git("gc", "--quiet", "--prune=now")
    index = open_index(vault)
    assert facts_of(index, "projects/x") == []
    assert_equal_to_a_rebuild(vault, index)


def test_a_broken_ledger_and_odd_names_stop_nothing(vault: Vault, environment: dict[str, str], caller: Caller) -> None:
    world = World(vault, environment, caller, 1)
    (vault.root / "ledger").mkdir(exist_ok=True)
    (vault.root / "ledger/2026-11-01.jsonl").write_text('{"id": "ev_1"}\nnot json\n')
    (vault.root / "ledger/2026-11-02.jsonl").write_text('["a list"]\n')
    (vault.root / "ledger/2026-11-03.jsonl").write_text('{"id": 7}\n')
    odd = vault.root / "life/projects/new\nline"
    odd.mkdir(parents=True)
    (odd / "items.json").write_text('[{"id": "fact_odd", "fact": "odd"}]\n')
    (vault.root / "life/areas/aliased").mkdir(parents=True)
    (vault.root / "life/areas/aliased/summary.md").write_text("---\ntitle: 7\naliases: Seven\n---\n")
    (vault.root / "life/areas/strange").mkdir(parents=True)
    (vault.root / "life/areas/strange/summary.md").write_text("---\naliases: 12\nkind: [a]\n---\n")
    world.commit("odd")
    index = open_index(vault)
    assert [path for path, _ in broken_files(index)] == [f"ledger/2026-11-0{day}.jsonl" for day in (1, 2, 3)]
    assert "areas/aliased" in entity_names(index)
    assert index.database.execute("SELECT alias FROM alias WHERE name = 'areas/aliased'").fetchall() == [
        ("7",),
        ("seven",),
    ]
    assert_equal_to_a_rebuild(vault, index)
