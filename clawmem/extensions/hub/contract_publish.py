"""Publish lines of the interchange contract, in commits of at most 2,000 lines, and answer each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clawmem.errors import ConflictMarkers, SecretFound, Unreadable
from clawmem.extensions.hub.contract import (
    Line,
    texts_of,
)
from clawmem.extensions.hub.contract_plan import REFUSED, Asks, LineAnswer, PublishPlan
from clawmem.memory.writing import writing
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

BATCH_LINES = 2_000
BATCH_BYTES = 8 << 20


class RefusedLine(NamedTuple):
    """A line that is not of the contract: its 1-based number, and why not."""

    number: int
    reason: str


class Published(NamedTuple):
    """What became of some lines of one batch, the last commit (None if nothing changed), and notices."""

    answers: tuple[LineAnswer, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


def publish(
    vault: Vault,
    lines: Iterable[Line | RefusedLine],
    caller: Caller,
    trust: str = "external",
    asks: Asks | None = None,
) -> Iterator[Published]:
    """Store the lines, and yield what became of each batch once it is committed, in the order of the lines.

    `trust` is the highest trust of the claims. `asks` says for which new facts a person decides, beside those that
    are quarantined. Each batch takes the writer lock anew. A failure that is not of one
    line, such as a full disk, is raised; what was yielded is kept then.
    """
    for batch in _batches(lines):
        good = [line for line in batch if isinstance(line, Line)]
        published = _store(vault, good, caller, trust, asks) if good else Published(())
        refused = [
            LineAnswer(line.number, REFUSED, reason=line.reason) for line in batch if isinstance(line, RefusedLine)
        ]
        answers = sorted((*published.answers, *refused), key=lambda answer: answer.line)
        yield published._replace(answers=tuple(answers))


def _batches(lines: Iterable[Line | RefusedLine]) -> Iterator[list[Line | RefusedLine]]:
    batch: list[Line | RefusedLine] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += sum(map(len, texts_of(line.values))) if isinstance(line, Line) else 0
        if len(batch) == BATCH_LINES or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _store(vault: Vault, lines: Sequence[Line], caller: Caller, trust: str, asks: Asks | None) -> Published:
    """Store some lines, in as few commits as their entities allow. If a commit is refused, find the line."""
    try:
        with writing(vault, caller, "publish") as work:
            plan = PublishPlan(work, trust, asks)
            answers = []
            for line in lines:
                answers.append(plan.take(line))
                if plan.is_full():
                    break
            commits = work.commit(plan.changes())
            published = Published(tuple(answers), commits[-1] if commits else None, work.notices)
    except (SecretFound, Unreadable, ConflictMarkers) as problem:
        if len(lines) == 1:
            return Published((LineAnswer(lines[0].number, REFUSED, reason=problem.message),))
        half = len(lines) // 2
        published = _store(vault, lines[:half], caller, trust, asks)
    if len(published.answers) == len(lines):
        return published
    more = _store(vault, lines[len(published.answers) :], caller, trust, asks)
    notices = tuple(dict.fromkeys((*published.notices, *more.notices)))
    return Published((*published.answers, *more.answers), more.commit or published.commit, notices)
