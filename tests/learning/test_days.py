"""Learning that looks only at the days that changed finds exactly what looking at all of them finds."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from clawmem.errors import ClawmemError
from clawmem.heartbeat.loop import run_heartbeat
from clawmem.learning.by_model.telemetry import BY_RULES
from clawmem.learning.ingest import ingest
from clawmem.learning.learn import days_to_read, unread_events
from clawmem.memory.history.undo import undo
from clawmem.memory.writing import writing
from clawmem.model.records.caller import Caller
from clawmem.model.records.cursor import (
    CURSOR_PATH,
    DayProgress,
    LearningCursor,
    changed_days,
    parse_cursor,
    render_cursor,
)
from clawmem.model.records.event import Event, event_to_line
from clawmem.model.transcripts.message import Message
from clawmem.vault.state.heartbeat_state import read_heartbeat_state
from clawmem.vault.vault import Vault
from tests.conftest import NOW, examples
from tests.plain_reader import learn_plainly as learn

pytestmark = pytest.mark.usefixtures("without_vectors")

DAYS = ("2026-11-17", "2026-11-18", "2026-11-19", "2026-11-20")
TOWNS = ("Lisbon", "Porto", "Oslo", "Bergen", "Leeds", "Ghent")


class World:
    """A vault to which things happen; a step that is refused changes nothing."""

    def __init__(self, vault: Vault, caller: Caller) -> None:
        self.vault = vault
        self.caller = caller
        self.number = 0

    def tell(self, day: str) -> None:
        """Somebody says something."""
        self.number += 1
        town = TOWNS[self.number % len(TOWNS)]
        message = Message(1, "user", f"I moved to {town} in May.", f"{day}T10:{self.number % 60:02}:00Z", "Nora", "s1")
        ingest(self.vault, [message], self.caller, "chat")

    def write(self, day: str) -> None:
        """A person adds an event to a ledger with an editor."""
        self.number += 1
        event = Event(f"ev_{self.number}", f"{day}T11:00:00Z", "user", f"I own {self.number} boats.", "Tom")
        path = self.vault.root / f"ledger/{day}.jsonl"
        path.write_text((path.read_text() if path.exists() else "") + event_to_line(event) + "\n")

    def cut(self, day: str) -> None:
        """A person takes the first event out."""
        path = self.vault.root / f"ledger/{day}.jsonl"
        if path.exists():
            path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))

    def delete(self, day: str) -> None:
        """A person deletes a day."""
        (self.vault.root / f"ledger/{day}.jsonl").unlink(missing_ok=True)

    def rewind(self, day: str) -> None:
        """A person resets learning to the start of a day."""
        cursor = parse_cursor(self.vault.read(CURSOR_PATH))
        days = {key: value for key, value in cursor.days.items() if key != day}
        (self.vault.root / CURSOR_PATH).write_bytes(render_cursor(cursor._replace(days=days)))

    def learn(self, day: str) -> None:
        """Somebody learns without a heartbeat."""
        learn(self.vault, self.caller)

    def undo(self, day: str) -> None:
        """The last change is taken back."""
        undo(self.vault, "HEAD", self.caller)

    def beat(self, day: str) -> None:
        """The heart beats, some time later."""
        self.caller = self.caller._replace(now=self.caller.now + timedelta(hours=5))
        assert not run_heartbeat(self.vault, self.caller).failed

    def both(self) -> None:
        """What is unread is the same, whether the days that changed are looked at or all of them."""
        with writing(self.vault, self.caller, "test"):
            pass  # takes in what was edited by hand, as a beat does first
        days = days_to_read(self.vault, read_heartbeat_state(self.vault).head)
        with writing(self.vault, self.caller, "test") as work:
            cursor = parse_cursor(work.read(CURSOR_PATH))
            assert unread_events(work, cursor, BY_RULES, days) == unread_events(work, cursor, BY_RULES)


STEPS: tuple[Callable[[World, str], None], ...] = (
    World.tell,
    World.tell,
    World.write,
    World.cut,
    World.delete,
    World.rewind,
    World.learn,
    World.undo,
    World.beat,
    World.beat,
)


@examples(4, 12, HealthCheck.function_scoped_fixture)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(DAYS)), min_size=4, max_size=9))
def test_the_days_that_changed_hold_all_that_is_unread(
    vault: Vault, steps: list[tuple[Callable[[World, str], None], str]]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "vault"
        shutil.copytree(vault.root, root, symlinks=True)
        world = World(Vault(root, vault.git.environment), Caller(NOW, random.Random(1).randbytes))
        for function, day in [(World.tell, DAYS[0]), (World.beat, DAYS[0]), *steps]:
            try:
                function(world, day)
            except ClawmemError:
                assert function is World.undo, "only an undo may be refused"
            world.both()


@pytest.fixture
def world(vault: Vault, caller: Caller) -> World:
    """A vault of four days, all of them read."""
    world = World(vault, caller)
    for day in DAYS:
        world.tell(day)
    world.beat(DAYS[0])
    return world


def days(world: World) -> frozenset[str] | None:
    return days_to_read(world.vault, read_heartbeat_state(world.vault).head)


def test_only_what_changed_is_looked_at(world: World) -> None:
    assert days(world) == frozenset()
    world.tell(DAYS[2])
    assert days(world) == frozenset((DAYS[2],))
    world.learn(DAYS[0])
    assert days(world) == frozenset((DAYS[2],))
    result = run_heartbeat(world.vault, world.caller)
    assert (result.of("learn") is not None, days(world)) == (True, frozenset())


def test_a_day_that_learning_was_moved_back_in_is_looked_at_again(world: World) -> None:
    world.rewind(DAYS[1])
    with writing(world.vault, world.caller, "test"):
        pass
    assert days(world) == frozenset((DAYS[1],))
    result = run_heartbeat(world.vault, world.caller).of("learn")
    assert result is not None
    assert result.events == 1


def test_all_of_them_are_where_nothing_is_known(world: World) -> None:
    assert days_to_read(world.vault, None) is None
    assert days_to_read(world.vault, "0" * 40) is None


def test_where_learning_moved() -> None:
    old = LearningCursor({"a": DayProgress(1, "x"), "b": DayProgress(2, "y"), "c": DayProgress(3, "z")}, {})
    new = LearningCursor({"a": DayProgress(1, "x"), "b": DayProgress(3, "y"), "d": DayProgress(1, "w")}, {"nora": 3})
    assert changed_days(old, new) == {"b", "c", "d"}
    assert changed_days(old, old) == frozenset()
