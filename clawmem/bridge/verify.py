"""Whether the log of the hub and its tables agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.bridge.fold import folded
from clawmem.index.hub.verify import begin_snapshot, log_of, orphans, table_rows, vaults_of

if TYPE_CHECKING:
    from clawmem.index.hub.connect import HubConnection

MISSING, EXTRA, DIFFERS = "missing", "extra", "differs"


class Difference(NamedTuple):
    """A row of a table that is not what the log says: `how` is missing, extra or differs, in which columns."""

    org: str
    vault: str
    table: str
    key: tuple[str, ...]
    how: str
    columns: tuple[str, ...] = ()


class Verified(NamedTuple):
    """What was compared: vaults, rows of the log, rows of the tables; and the differences."""

    vaults: int
    rows: Mapping[str, int]
    log_rows: int
    differences: tuple[Difference, ...]


def verify(connection: HubConnection, org: str | None = None) -> Verified:
    """Fold the log of each vault and compare the result with the tables, in one snapshot. Needs an open transaction.

    The transaction must not have read anything yet, as its isolation level is set here.
    """
    begin_snapshot(connection)
    vaults = vaults_of(connection, org)
    counts: dict[str, int] = {}
    differences: list[Difference] = []
    seen = 0
    for of_org, vault, scope, head in vaults:
        rows = list(log_of(connection, of_org, vault))
        seen += len(rows)
        state = folded(scope, rows)
        wanted = state.rows()
        for table, expected in wanted.items():
            there = table_rows(connection, table, of_org, vault)
            counts[table] = counts.get(table, 0) + len(there)
            differences += (
                difference._replace(org=of_org, vault=vault) for difference in differing(table, expected, there)
            )
        if state.head() != head:
            differences.append(Difference(of_org, vault, "vault", (vault,), DIFFERS, ("head",)))
    differences += (Difference(of_org, vault, table, (), EXTRA) for table, of_org, vault in orphans(connection, org))
    return Verified(len(vaults), counts, seen, tuple(differences))


def differing(
    table: str,
    expected: Mapping[tuple[Any, ...], Mapping[str, Any]],
    there: Mapping[tuple[Any, ...], Mapping[str, Any]],
) -> Iterator[Difference]:  # fmt: skip
    """Yield the differences between the rows that the log gives and those of a table."""
    for key, row in expected.items():
        if key not in there:
            yield Difference("", "", table, key, MISSING)
            continue
        columns = tuple(name for name, value in row.items() if not _same(value, there[key].get(name)))
        unknown = tuple(name for name in there[key] if name not in row)
        if columns or unknown:
            yield Difference("", "", table, key, DIFFERS, columns + unknown)
    for key in there:
        if key not in expected:
            yield Difference("", "", table, key, EXTRA)


def _same(value: Any, other: Any) -> bool:
    """Return whether two values are equal; the database keeps some numbers with seven digits."""
    if isinstance(value, float) and isinstance(other, int | float):
        return isclose(value, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(value == other)
