"""What learning on this machine stands at: the events that wait, the last heartbeat, the keys that are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.errors import StorageFailed, Unreadable
from clawmem.index.tables.contents import events_after_event, events_by_day
from clawmem.index.tables.store import Index
from clawmem.llm.choice import missing_keys, missing_model_part
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.cursor import CURSOR_PATH, DayProgress, parse_cursor
from clawmem.model.records.event import ledger_path
from clawmem.model.records.model_run import runs_in, total_cents, unpriced_tokens
from clawmem.model.settings.model_names import model_names
from clawmem.vault.state.heartbeat_state import HeartbeatRun, read_last_run
from clawmem.vault.state.spending import spent_on
from clawmem.vault.vault import Vault


class LearningState(NamedTuple):
    """The number of events that no heartbeat read yet; the last heartbeat of this machine, if any; the environment
    variables that must hold a model's key and do not, by the setting that names the model; why the events could not be
    counted, or None; the names of the models; what they still need on this machine, or None; and what they cost
    today (UTC), in cents, with the tokens of runs whose price is not known."""

    waiting: int = 0
    last: HeartbeatRun | None = None
    missing_keys: Mapping[str, str] = {}
    uncounted: str | None = None
    models: tuple[str, ...] = ()
    missing_part: str | None = None
    cents_today: float = 0.0
    unpriced_tokens_today: int = 0


def learning_state(vault: Vault, index: Index, today: str) -> LearningState:
    """Return the state of learning. If the learning cursor is damaged, every event counts as one that waits. `today` is
    the day whose costs are counted; none if it is empty."""
    try:
        reached, problem = parse_cursor(vault.read(CURSOR_PATH)).days, None
    except Unreadable as damage:
        reached, problem = {}, damage.message
    settings = vault.settings
    runs = _runs_of(vault, today)
    return LearningState(
        _waiting_events(index, reached),
        read_last_run(vault),
        missing_keys(settings, vault.environment),
        problem,
        model_names(settings),
        missing_model_part(settings, vault.environment),
        total_cents(runs) + _embedding_cents(vault, today),
        unpriced_tokens(runs),
    )


def _runs_of(vault: Vault, day: str) -> Sequence[Mapping[str, Any]]:
    if not day:
        return ()
    path = ledger_path(day)
    try:
        return runs_in(vault.read(path) or b"", path)
    except Unreadable:
        return ()  # reported with the file


def _embedding_cents(vault: Vault, day: str) -> float:
    try:
        return spent_on(vault, day) if day else 0.0
    except StorageFailed:
        return 0.0  # the next call says so and is not made


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
