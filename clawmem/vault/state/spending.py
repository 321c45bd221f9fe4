"""What was paid to models outside any commit, day by day: a question is paid for when it is asked, and reads do not
commit.

Each payment is a line in `.git/clawmem/spent/<day>`: the cents and their checksum. What a call may cost at most is
noted before it, and what it cost less is taken off after it, so nothing that was paid is missing after a crash.
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


def note_spending(vault: Vault, day: str, cents: float) -> None:
    """Add to what was spent on a day; StorageFailed where it cannot be noted, so that nothing is paid uncounted."""
    if not cents:
        return
    said = repr(cents)
    try:
        (vault.state / FOLDER).mkdir(parents=True, exist_ok=True)
        append_line(vault.state / FOLDER / day, f"{said} {_SEAL}{checksum(said):08x}\n".encode())
    except OSError as problem:
        raise StorageFailed(
            f"What the model costs cannot be noted ({problem.strerror}), so it is not called.", "Check the disk."
        ) from None


def spent_on(vault: Vault, day: str) -> float:
    """The cents spent on a day; StorageFailed where that cannot be read for certain."""
    *lines, rest = (vault.disk.read(vault.state / FOLDER / day) or b"").decode(errors="replace").split("\n")
    cents = [_cents(line) for line in (*lines, *([rest] if _was_whole(rest) else []))]
    known = [one for one in cents if one is not None]
    if len(known) < len(cents):
        raise StorageFailed(
            f"What was spent on {day} cannot be read, so nothing more is.",
            f"Delete {vault.state / FOLDER / day} to count from nothing.",
        )
    return max(0.0, fsum(known))


def last_day(vault: Vault) -> str:
    """The last day on which anything was spent; empty where there is none."""
    try:
        return max(os.listdir(vault.state / FOLDER), default="")  # noqa: PTH208 - names are all that is wanted
    except FileNotFoundError:
        return ""


def forget_spending(vault: Vault, before: str) -> None:
    """Drop the days before one."""
    try:
        days = [path for path in (vault.state / FOLDER).iterdir() if path.name < before]
    except FileNotFoundError:
        return
    for path in days:
        path.unlink(missing_ok=True)


def _was_whole(rest: str) -> bool:
    """What stands after the last end of a line: a note that lost its own, or the half note of a killed process, which
    had not paid yet."""
    return _cents(rest) is not None or _cents(rest[:-1]) is not None


def _cents(line: str) -> float | None:
    said, _, told = line.partition(f" {_SEAL}")
    return float(said) if told == f"{checksum(said):08x}" else None
