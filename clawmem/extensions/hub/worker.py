"""The worker of the hub: it looks at each vault for new commits, and takes them in.

It may be killed at any moment and run in several copies, see `clawmem.extensions.hub.postgres.intake`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import ClawmemError, Locked
from clawmem.extensions.hub.intake import Reading
from clawmem.extensions.hub.postgres.connect import HubAddress, check_version, connect, hub_errors
from clawmem.extensions.hub.postgres.intake import (
    VaultRow,
    facts_at,
    next_vault,
    read_vault,
    server_time,
    set_problem,
    take_in,
    take_in_again,
)
from clawmem.extensions.hub.postgres.search import fill_vectors, vector_type
from clawmem.index.vectors.embed import embed_alone
from clawmem.index.vectors.local_model import INSTALL, LocalModel, missing_packages
from clawmem.model.history.entry import steps_between
from clawmem.vault.exchange.mirror import Mirror

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection


class WorkerOptions(NamedTuple):
    """Where the mirrors are kept, the environment of git, how long it may take for one vault, in seconds, and the one
    organisation to work for (None: all)."""

    folder: Path
    environment: Mapping[str, str]
    fetch_seconds: float
    org: str | None = None


class VectorReport(NamedTuple):
    """How many vectors of facts were computed, and why none could be where the hub has a place for them."""

    vectors: int
    problem: str | None = None


class VaultReport(NamedTuple):
    """What one look at a vault did. `busy` says that another worker was at it; `problem` why the look failed."""

    org: str
    vault: str
    address: str
    head: str | None = None
    commits: int = 0
    rows: int = 0
    facts: int = 0
    rewritten: bool = False
    busy: bool = False
    problem: str | None = None


def work_once(address: HubAddress, options: WorkerOptions) -> Iterator[VaultReport]:
    """Look at every vault once, and yield what was done. Raise ClawmemError if the hub cannot be used."""
    with hub_errors(address), connect(address) as connection:
        connection.autocommit = True
        check_version(connection)
        start = server_time(connection)
        while (row := next_vault(connection, start, options.org)) is not None:
            yield look_at(connection, row, options)


def work_on(
    address: HubAddress, options: WorkerOptions, every: float, embed_seconds: float
) -> Iterator[VaultReport | VectorReport | ClawmemError]:
    """Look at every vault again and again, every so many seconds, without an end; compute missing vectors between.

    Yield what was done where anything was, and the error if the hub could not be used; it is tried again then.
    """
    while True:
        try:
            yield from (each for each in work_once(address, options) if each.commits or each.problem)
            report = embed_missing(address, embed_seconds)
            if report.vectors:
                yield report
        except ClawmemError as problem:
            yield problem
        time.sleep(every)


def embed_missing(address: HubAddress, seconds: float) -> VectorReport:
    """Compute vectors that facts of the hub lack, with the local model, for at most so many seconds.

    Nothing is done where the hub has no vectors, or the packages of the model are missing.
    """

    @cache
    def embedder() -> Callable[[str], Sequence[float]]:
        return embed_alone(LocalModel())  # loaded only if a vector is missing

    if seconds <= 0:
        return VectorReport(0)
    with hub_errors(address), connect(address) as connection:
        connection.autocommit = True
        if vector_type(connection) is None:
            return VectorReport(0)
        missing = missing_packages()
        if missing:
            return VectorReport(0, f"no vectors are computed here: {', '.join(missing)} missing ({INSTALL})")
        return VectorReport(fill_vectors(connection, lambda text: embedder()(text), seconds))


def look_at(connection: HubConnection, row: VaultRow, options: WorkerOptions) -> VaultReport:
    """Take in the new commits of one vault. A failure of git or of a file is recorded, and other vaults go on."""
    mirror = Mirror(options.folder / f"{row.org}-{row.vault}", options.environment)
    try:
        with mirror.locked(0):
            report = _take_in_new(connection, row, mirror, options)
    except Locked:
        return VaultReport(row.org, row.vault, row.address, row.head, busy=True)
    except ClawmemError as problem:
        set_problem(connection, row, problem.message)
        return VaultReport(row.org, row.vault, row.address, row.head, problem=problem.message)
    if not report.busy:
        set_problem(connection, row, None)
    return report


def _take_in_new(connection: HubConnection, row: VaultRow, mirror: Mirror, options: WorkerOptions) -> VaultReport:
    # The row may be older than the lock.
    current = read_vault(connection, row.org, row.vault)
    if current is None:
        mirror.forget()
        return VaultReport(row.org, row.vault, row.address, busy=True)
    row = current
    report = VaultReport(row.org, row.vault, row.address, row.head)
    head = mirror.fetch(row.address, options.fetch_seconds)
    if head is None or head == row.head:
        return report
    if row.head is not None and not mirror.contains(row.head, head):
        # Also from the cache must go what is no longer in the history.
        mirror.forget()
        head = mirror.fetch(row.address, options.fetch_seconds)
        return report if head is None else _take_in_again(connection, row, mirror, report, head)
    commits = mirror.commits(row.head, head)
    with mirror.blobs() as reader:
        here = row
        reading = Reading(mirror, reader, lambda path: facts_at(connection, here, path))
        for batch in reading.batches(steps_between(row.head, commits)):
            written = take_in(connection, row, batch)
            if written is None:
                return report._replace(busy=True)
            row = row._replace(head=batch.head)
            report = report._replace(
                head=batch.head, rows=report.rows + written.rows, facts=report.facts + written.facts
            )
    return report._replace(commits=len(commits))


def _take_in_again(
    connection: HubConnection, row: VaultRow, mirror: Mirror, report: VaultReport, head: str
) -> VaultReport:
    """Follow a rewritten history: everything of the vault is replaced in one transaction."""
    commits = mirror.commits(None, head)
    with mirror.blobs() as reader:
        reading = Reading(mirror, reader, lambda path: facts_at(connection, row, path))
        batches = (batch.rows for batch in reading.batches(steps_between(None, commits)))
        written = take_in_again(connection, row, head, batches)
    if written is None:
        return report._replace(busy=True)
    return report._replace(head=head, commits=len(commits), rows=written.rows, facts=written.facts, rewritten=True)
