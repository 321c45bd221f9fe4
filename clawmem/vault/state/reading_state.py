"""How far this machine's model has come in events that are not read to their end: `.git/clawmem/reading.json`.

It saves work and holds nothing that is known only here: without it the same events are read again from their start.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated

from clawmem.model.forms import to_record
from clawmem.model.named_tuple import NamedTuple
from clawmem.vault.vault import Vault

STATE = "reading.json"
MOST_SET_ASIDE = 100
MOST_APPLIED = 100
MOST_TASKS = 50
MOST_JUDGED = 500


class EventProgress(NamedTuple):
    """How far one event was read: up to which character, whether to its end, the statements found in it so far, in how
    many runs a question about it alone failed, and the digest of the answer of the calling agent that left doubtful
    facts, about which it was asked once more."""

    offset: int = 0
    done: bool = False
    told: tuple[str, ...] = ()
    failed: int = 0
    asked: str = ""


class GivenTask(NamedTuple):
    """A task that was given out: what it shows as 1, 2, ..., and the ids of known facts that it calls k1, k2, ... One
    that asks once more about doubtful facts has its text, since that cannot be made again, and these facts as JSON."""

    shown: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    text: str = ""
    given: tuple[str, ...] = ()


class ReadingState(NamedTuple):
    """The most pieces of one question (None: no limit but the reader's own), the events that wait although a part of
    the work is done, by id, the ids of those that were set aside because they fail alone, the digests of the last
    answers that were applied, the last tasks that were given out, by id, and the ids of the last facts that a reader
    has judged for promotion."""

    batch: Annotated[int, (1, None)] | None = None
    events: Mapping[str, EventProgress] = {}
    set_aside: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
    tasks: Mapping[str, GivenTask] = {}
    judged: tuple[str, ...] = ()

    def with_task(self, key: str, task: GivenTask) -> ReadingState:
        """The state with a task that is given out; the oldest ones are forgotten."""
        rows = {**{name: other_task for name, other_task in self.tasks.items() if name != key}, key: task}
        return self._replace(tasks=dict(list(rows.items())[-MOST_TASKS:]))

    def without(self, read: Collection[str]) -> ReadingState:
        """The state once these events were read: nothing of them waits."""
        left = {key: value for key, value in self.events.items() if key not in read}
        return self._replace(events=left, set_aside=self.set_aside[-MOST_SET_ASIDE:])


def read_reading_state(vault: Vault) -> ReadingState:
    """The state as it was kept; a fresh one where the file is missing or odd, as after a clone."""
    return vault.kept_record(ReadingState, STATE) or ReadingState()


def keep_reading_state(vault: Vault, state: ReadingState) -> None:
    """Keep the state, where it says anything new."""
    if state != read_reading_state(vault):
        vault.keep(STATE, to_record(state, ()))
