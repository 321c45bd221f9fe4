"""What learning on this machine stands at: the events that wait, the last heartbeat, the keys that are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import Unreadable
from clawmem.index.tables.contents import events_after_event, events_by_day
from clawmem.index.tables.store import Index
from clawmem.llm.choice import missing_keys
from clawmem.model.records.cursor import CURSOR_PATH, DayProgress, parse_cursor
from clawmem.vault.state.heartbeat_state import HeartbeatRun, read_last_run
from clawmem.vault.vault import Vault


class LearningState(NamedTuple):
    """The number of events that no heartbeat read yet; the last heartbeat of this machine, if any; the environment
    variables that must hold a model's key and do not, by the setting that names the model; why the events could not be
    counted, or None."""

    waiting: int = 0
    last: HeartbeatRun | None = None
    missing_keys: Mapping[str, str] = {}
    uncounted: str | None = None


def learning_state(vault: Vault, index: Index) -> LearningState:
    """Return the state of learning. If the learning cursor is damaged, every event counts as one that waits."""
    try:
        reached, problem = parse_cursor(vault.read(CURSOR_PATH)).days, None
    except Unreadable as damage:
        reached, problem = {}, damage.message
    missing = missing_keys(vault.settings, vault.environment)
    return LearningState(_waiting_events(index, reached), read_last_run(vault), missing, problem)


def failure_sentences(run: HeartbeatRun) -> tuple[str, ...]:
    """Return one sentence for each failure of a heartbeat, with its step."""
    return tuple(
        f"{f'{one.step}: ' if one.step else ''}{one.message} {one.hint}".rstrip() for one in dict.fromkeys(run.failed)
    )


def missing_key_sentence(setting: str, variable: str) -> str:
    """Return the sentence about a key that is not there."""
    return f"The environment variable {variable}, which should hold the key of {setting}, is not set."


def _waiting_events(index: Index, reached: Mapping[str, DayProgress]) -> int:
    waiting = 0
    for day, count in events_by_day(index).items():
        read = reached.get(day)
        if read is None or count != read.events:
            waiting += events_after_event(index, day, read.last if read else None)
    return waiting
