"""Random histories of a vault, with what recall, list and context gave at each of their commits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import all_facts, entity_names
from clawmem.learning.ingest import ingest, note
from clawmem.memory.entities.entities import archive_entity, move_entity, rename_entity
from clawmem.memory.facts.access import archive_decayed, fold_accesses
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, merge, retract, supersede
from clawmem.memory.health.configure import change_setting
from clawmem.memory.history.compare import open_past
from clawmem.memory.history.undo import undo
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.serving.browse import list_facts
from clawmem.serving.context.context import context
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import RECALL_KINDS
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.state.journal import FOLDING, JOURNAL, record_access
from clawmem.vault.vault import Vault

PEOPLE = ("Jane", "Ravi", "Mia")
PLACES = ("Oslo", "Bergen", "Lisbon", "Zürich")
THINGS = ("tea", "coffee", "boats", "chess", "gardens", "C++")
ENTITIES = ("areas/people/jane", "projects/apollo", "resources/recipes", "@finance/projects/budget")
QUESTIONS = (
    "where does Jane live?",
    "who likes tea or boats?",
    "what happened in February 2026?",
    "what did Ravi say yesterday?",
)


class Point(NamedTuple):
    """A commit of a history, the clock at which it was asked, and what was given."""

    commit: str
    now: datetime
    given: Mapping[str, Any]


class World:
    """A vault with a random history. The clock only moves forward."""

    def __init__(self, root: Path, environment: Mapping[str, str], seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = datetime.fromisoformat("2026-01-05T08:00:00+00:00")
        self.agent = self.chance.choice((None, "finance"))
        self.questions = self.chance.sample(QUESTIONS, 2)
        self.root = root
        self.environment = dict(environment)
        create_vault(root, self.environment, self.now)

    @property
    def vault(self) -> Vault:
        """Return the vault, opened again, because settings and catalog may have changed."""
        return Vault(self.root, self.environment)

    def caller(self, agent: str | None = None) -> Caller:
        """Who acts now."""
        return Caller(self.now, self.chance.randbytes, agent)

    def pass_time(self) -> None:
        """Let some seconds to some weeks go by."""
        self.now += timedelta(seconds=self.chance.choice((1, 61, 5_000, 90_000, 800_000, 2_900_000)))

    def some_id(self, standing: bool = True) -> str | None:
        """The id of some fact."""
        index = open_index(self.vault)
        ids = [placed.fact.id for placed in all_facts(index) if placed.fact.is_current or not standing]
        index.close()
        return self.chance.choice(ids) if ids else None

    def draft(self) -> Draft:
        """A new fact, with or without a triple, dates, tags and weight."""
        chance = self.chance
        who, place, thing = chance.choice(PEOPLE), chance.choice(PLACES), chance.choice(THINGS)
        record: dict[str, Any] = {"entity": chance.choice(ENTITIES), "tags": [chance.choice(THINGS)]}
        if chance.random() < 0.4:
            record |= {"fact": f"{who} lives in {place}.", "subject": who, "predicate": "lives_in", "object": place}
        else:
            record["fact"] = f"{who} likes {thing} and {chance.choice(THINGS)} in {place}."
        if chance.random() < 0.5:
            record["valid_from"] = (self.now - timedelta(days=chance.randrange(60))).date().isoformat()
        if chance.random() < 0.3:
            record["valid_to"] = (self.now + timedelta(days=1 + chance.randrange(60))).date().isoformat()
        if chance.random() < 0.3:
            record["importance"] = chance.choice((0.1, 0.5, 0.9))
        return draft_from_record(record, self.now)


def add(world: World) -> None:
    """Remember a few facts."""
    remember(world.vault, [world.draft() for _ in range(world.chance.randrange(1, 5))], world.caller())


def replace(world: World) -> None:
    """Supersede a fact."""
    if fact_id := world.some_id():
        supersede(world.vault, fact_id, world.draft(), world.caller("finance"), "so it is now")


def withdraw(world: World) -> None:
    """Retract a fact."""
    if fact_id := world.some_id():
        retract(world.vault, fact_id, world.caller())


def join(world: World) -> None:
    """Merge two facts."""
    text, other = world.some_id(), world.some_id()
    if text and other and text != other:
        merge(world.vault, [text, other], world.draft(), world.caller())


def connect(world: World) -> None:
    """Link two facts."""
    text, other = world.some_id(standing=False), world.some_id(standing=False)
    if text and other and text != other:
        link(world.vault, text, "supports", other, world.caller())


def use(world: World) -> None:
    """Count accesses and fold them."""
    for _ in range(world.chance.randrange(1, 12)):
        if fact_id := world.some_id(standing=False):
            record_access(world.vault, stamp(world.now), [fact_id])
    fold_accesses(world.vault, world.caller())


def forget(world: World) -> None:
    """Archive facts that were not used for a long time."""
    world.now += timedelta(days=world.chance.choice((1, 100)))
    archive_decayed(world.vault, world.caller())


def move(world: World) -> None:
    """Move, archive or rename an entity."""
    index = open_index(world.vault)
    names = [name for name in entity_names(index) if not name.startswith("@")]
    index.close()
    if names:
        name, number = world.chance.choice(names), world.chance.randrange(1000)
        deeds: tuple[Callable[[], object], ...] = (
            lambda: move_entity(world.vault, name, f"resources/moved-{number}", world.caller()),
            lambda: archive_entity(world.vault, name, world.caller()),
            lambda: rename_entity(world.vault, name, f"renamed-{number}", world.caller()),
        )
        world.chance.choice(deeds)()


def hear(world: World) -> None:
    """Ingest a message."""
    items = [Message(n, "user", world.draft().fact.fact, stamp(world.now), speaker="Ravi") for n in (1, 2)]
    ingest(world.vault, items, world.caller(), "chat")


def write(world: World) -> None:
    """Write a note, and by hand into a summary, a fact and the catalog."""
    pages = sorted(world.root.glob("life/*/**/summary.md"))
    if pages:
        page = world.chance.choice(pages)
        page.write_text(page.read_text() + f"\nPeople say {world.chance.choice(THINGS)} matters here.\n")
    if world.chance.random() < 0.5:
        catalog = world.root / "predicates.yaml"
        questions = '["where does * live", "who * tea"]' if world.chance.random() < 0.5 else '["where * dwell"]'
        catalog.write_text(f"lives_in:\n  cardinality: single\n  replaces: true\n  questions: {questions}\n")
    note(world.vault, f"{world.chance.choice(PEOPLE)} was here.", world.caller())


def configure(world: World) -> None:
    """Change a setting that reading depends on."""
    change_setting(world.vault, world.caller(), "defaults.limit", str(world.chance.randrange(1, 9)))


def take_back(world: World) -> None:
    """Undo the last change, where it can be undone."""
    undo(world.vault, "HEAD", world.caller())


DEEDS: tuple[Callable[[World], None], ...] = (
    *(add, add, add, replace, replace, withdraw, join, connect, use, use, forget),
    *(move, hear, write, write, configure, take_back),
)


def history(world: World, deeds: int) -> Iterator[Point]:
    """Live through some random deeds; each new commit with what the vault gave right then."""
    last = None
    for number in range(deeds):
        world.pass_time()
        try:
            (add if number == 0 else world.chance.choice(DEEDS))(world)
        except ClawmemError:
            continue  # chance asked for what cannot be done; the next deed may
        head = world.vault.head().commit
        if head and head != last:
            last = head
            yield Point(head, world.now, given(world, world.vault, world.now))


def given(world: World, vault: Vault, now: datetime) -> dict[str, Any]:
    """What a vault gives to this world's reader: every way of reading that depends on its state and the time."""
    limit = vault.settings.whole("defaults.limit")
    reader = Caller(now, world.chance.randbytes, world.agent)
    owners = ("", world.agent) if world.agent else ("",)
    as_of = (now - timedelta(days=20)).date().isoformat()
    filters = (FactFilter(owners), FactFilter(owners, as_of=as_of), FactFilter(owners, superseded=True))
    answers: dict[str, Any] = {f"list {wanted}": list_facts(vault, reader, wanted) for wanted in filters}
    for question in world.questions:
        for wanted in filters:
            found = recall(vault, question, reader, wanted, limit, RECALL_KINDS, 2)
            answers[f"recall {question} {wanted}"] = found._replace(notices=())
            _forget_accesses(vault)
    for asked in (None, world.questions[0]):
        served = context(vault, reader, 3000, asked)
        # An index of the past has no exact counts of tokens.
        answers[f"context {asked}"] = served._replace(notices=(), tokens=0, counted_by="")
        _forget_accesses(vault)
    return answers


def travelled(world: World, text: str, now: datetime) -> tuple[datetime, dict[str, Any]]:
    """The clock at a point in the past, and what the vault gives there."""
    then = open_past(world.vault, Caller(now, world.chance.randbytes), text)
    return then.caller.now, given(world, then.vault, then.caller.now)


def _forget_accesses(vault: Vault) -> None:
    for name in (JOURNAL, FOLDING):
        (vault.state / name).unlink(missing_ok=True)


def check_a_history(root: Path, environment: dict[str, str], seed: int) -> int:
    """Live through one random history, then go back to each of its commits; returns how many there were."""
    world = World(root, environment, seed)
    points = list(history(world, 3 + world.chance.randrange(6)))
    now = world.now + timedelta(days=world.chance.randrange(1, 40))
    for point in world.chance.sample(points, len(points)):
        clock, record = travelled(world, point.commit[: world.chance.choice((10, 40))], now)
        assert clock == point.now
        for what, was in point.given.items():
            assert record[what] == was, f"seed {seed}, {point.commit}: {what}"
    return len(points)
