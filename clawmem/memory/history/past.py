"""The past: what the vault knew at a commit or on a date, read like the present."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.model.language.dates import moment_of
from clawmem.model.records.caller import Caller
from clawmem.vault.history.points import Revision, before_first_commit, point_at
from clawmem.vault.past import VaultAt
from clawmem.vault.vault import Vault


class PastVault(NamedTuple):
    """The vault as it was, the caller with the clock of then, the point they stand at, asides.

    Any reading act takes the two in place of the vault and the caller of today.
    """

    vault: VaultAt
    caller: Caller
    point: Revision
    notices: tuple[str, ...]


def past(vault: Vault, caller: Caller, text: str) -> PastVault:
    """The vault at a commit, its unique start, a tag, or a date, which stands for the last commit at or before it.

    The clock shows the commit's own time, or for a date its last instant, never later than now. Raises NotFound where
    the branch has no such commit or begins later, AmbiguousId, and InvalidInput for what is no date there is.
    """
    point = point_at(vault, text, caller.now)
    if point is None:
        raise before_first_commit(vault, text)
    then = VaultAt(vault, point.commit)
    said = f"this is what the vault knew at {point.commit[:12]} ({point.time[:10]} {point.time[11:16]})"
    _ = then.settings, then.catalog  # read now, so that what is wrong with them is known
    return PastVault(then, caller._replace(now=moment_of(point.moment)), point, (said, *then.notices))
