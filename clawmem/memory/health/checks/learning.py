"""Check that learning goes on: events are read, the last heartbeat succeeded, and models have their keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from clawmem.errors import ClawmemError, Unreadable
from clawmem.llm.choice import missing_keys, missing_model_part
from clawmem.memory.health.checks.problem import INFO, WARNING, HealthProblem
from clawmem.memory.health.learning_state import failure_sentences, missing_key_sentence
from clawmem.model.language.dates import moment_of
from clawmem.model.language.text import counted
from clawmem.model.records.cursor import CURSOR_PATH, DayProgress, number_after, parse_cursor
from clawmem.model.records.event import MODEL_RUN, Event, each_event
from clawmem.model.records.model_run import runs_in
from clawmem.vault.state.heartbeat_state import HeartbeatRun, read_last_run
from clawmem.vault.vault import Vault

LEARNING = "learning"
MODEL_KEY = "model-key"
MODEL = "model"
# Longer than the longest schedule of `clawmem cron install`, with room for a machine that was off.
_OVERDUE = timedelta(hours=36)
_UNREAD_FOR = timedelta(days=7)
_READ = "`clawmem setup HARNESS --learn` lets a program read; an agent reads by `clawmem learn pending`."
_SCHEDULE = "Run `clawmem heartbeat`, or schedule it with `clawmem cron install`."


def learning_problems(vault: Vault, ledgers: Iterable[str], now: datetime) -> Iterator[HealthProblem]:
    """Yield failures of the last heartbeat, events of these ledger files that wait, and missing keys of models."""
    last = read_last_run(vault)
    if last is not None:
        for sentence in failure_sentences(last):
            message = f"The heartbeat of {last.ended} failed: {sentence}"
            yield HealthProblem(WARNING, LEARNING, None, None, message)
    ledgers = sorted(ledgers)
    yield from _waiting(vault, ledgers, last, now)
    yield from _unread(vault, ledgers, now)
    try:
        missing = missing_keys(vault.settings, vault.environment)
        part = missing_model_part(vault.settings, vault.environment)
    except ClawmemError:
        return  # a newer format, which is reported with the file
    if part:
        yield HealthProblem(WARNING, MODEL, None, None, part)
    for setting, variable in missing.items():
        yield HealthProblem(WARNING, MODEL_KEY, None, None, missing_key_sentence(setting, variable))


def _unread(vault: Vault, ledgers: Sequence[str], now: datetime) -> Iterator[HealthProblem]:
    """Yield a warning if messages of a week ago are unread and nothing was read since."""
    try:
        reached = parse_cursor(vault.read(CURSOR_PATH)).by_model
        week = now - _UNREAD_FOR
        before = [path for path in ledgers if PurePosixPath(path).stem < week.date().isoformat()]
        number = sum(_unread_events(vault, path, reached) for path in before)
        after = (run for path in ledgers if path not in before for run in runs_in(vault.read(path) or b"", path))
        if number and not any(isinstance(run.get("events"), int) for run in after):
            message = f"No model has read anything for a week, and {counted(number, 'older event')} wait. {_READ}"
            yield HealthProblem(WARNING, LEARNING, None, None, message)
    except Unreadable:
        return  # reported with the file


def _unread_events(vault: Vault, path: str, reached: Mapping[str, DayProgress]) -> int:
    try:
        events = each_event(vault.read(path) or b"", path)
        return number_after(events, reached.get(PurePosixPath(path).stem), _is_learned_from)
    except Unreadable:
        return 0  # reported with the file


def _is_learned_from(event: Event) -> bool:
    return not event.metadata or MODEL_RUN not in event.metadata


def _waiting(vault: Vault, ledgers: Iterable[str], last: HeartbeatRun | None, now: datetime) -> Iterator[HealthProblem]:
    try:
        reached = parse_cursor(vault.read(CURSOR_PATH)).days
    except Unreadable:
        return  # reported with the file
    number = sum(_unread_events(vault, path, reached) for path in ledgers)
    if not number:
        return
    words = f"{counted(number, 'event')} {'waits' if number == 1 else 'wait'} for the heartbeat"
    if last is None:
        yield HealthProblem(INFO, LEARNING, None, None, f"{words}, and none ran on this machine. {_SCHEDULE}")
    elif now - moment_of(last.ended) > _OVERDUE:
        yield HealthProblem(WARNING, LEARNING, None, None, f"{words}, which ran last at {last.ended}. {_SCHEDULE}")
    else:
        yield HealthProblem(INFO, LEARNING, None, None, f"{words}; it ran last at {last.ended}.")
