"""Model costs that are not in any commit, by day: questions cost money when they are asked, and reads do not commit.

Each payment is a line in `.git/clawmem/spent/<day>` with the cents and a checksum. The maximum cost of a call is
recorded before it, and the difference to the actual cost is subtracted after it. So no cost is missing after a crash.
"""

from __future__ import annotations

import os
from math import fsum

from clawmem.errors import StorageFailed
from clawmem.model.records.seal import checksum
from clawmem.vault.disk import append_line
from clawmem.vault.vault import Vault

FOLDER = "spent"
_SEAL = "#"


def record_spending(vault: Vault, day: str, cents: float) -> None:
    """Add to what was spent on a day. Raise StorageFailed if it cannot be recorded, so that no cost goes uncounted."""
    if not cents:
        return
    text = repr(cents)
    try:
        (vault.state / FOLDER).mkdir(parents=True, exist_ok=True)
        append_line(vault.state / FOLDER / day, f"{text} {_SEAL}{checksum(text):08x}\n".encode())
    except OSError as problem:
        raise StorageFailed(
            f"The cost of the model cannot be recorded ({problem.strerror}), so it is not called.", "Check the disk."
        ) from None


def spent_on(vault: Vault, day: str) -> float:
    """Return the cents spent on a day. Raise StorageFailed if they cannot be read reliably."""
    *lines, rest = (vault.disk.read(vault.state / FOLDER / day) or b"").decode(errors="replace").split("\n")
    cents = [_cents(line) for line in (*lines, *([rest] if _is_complete(rest) else []))]
    known = [one for one in cents if one is not None]
    if len(known) < len(cents):
        raise StorageFailed(
            f"The amount spent on {day} cannot be read, so nothing more is spent.",
            f"Delete {vault.state / FOLDER / day} to start from zero.",
        )
    return max(0.0, fsum(known))


def last_spending_day(vault: Vault) -> str:
    """Return the last day on which anything was spent, or an empty string."""
    try:
        return max(os.listdir(vault.state / FOLDER), default="")  # noqa: PTH208 - only names are needed
    except FileNotFoundError:
        return ""


def delete_spending_before(vault: Vault, before: str) -> None:
    """Delete the records of earlier days."""
    try:
        days = [path for path in (vault.state / FOLDER).iterdir() if path.name < before]
    except FileNotFoundError:
        return
    for path in days:
        path.unlink(missing_ok=True)


def _is_complete(rest: str) -> bool:
    """Return whether the last line is an entry that lost its line break, rather than a partial line of a killed
    process."""
    return _cents(rest) is not None or _cents(rest[:-1]) is not None


def _cents(line: str) -> float | None:
    text, _, given = line.partition(f" {_SEAL}")
    return float(text) if given == f"{checksum(text):08x}" else None
