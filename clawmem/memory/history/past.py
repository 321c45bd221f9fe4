"""The past: read the vault as it was at a commit or on a date."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.model.language.dates import moment_of
from clawmem.model.records.caller import Caller
from clawmem.vault.history.points import Revision, before_first_commit, point_at
from clawmem.vault.past import VaultAt
from clawmem.vault.vault import Vault


class PastVault(NamedTuple):
    """The vault as it was at a revision, and a caller with the clock of that time.

    Every reading act accepts these two in place of the current vault and caller.
    """

    vault: VaultAt
    caller: Caller
    point: Revision
    notices: tuple[str, ...]


def open_past(vault: Vault, caller: Caller, text: str) -> PastVault:
    """Open the vault at a commit, a unique commit prefix, a tag or a date.

    A date means the last commit at or before it. The clock of the result is the time of the commit, or the end of the
    given date, but never later than now. Raise NotFound if the branch has no such commit or begins later,
    AmbiguousId for a prefix of several commits, and InvalidInput for an impossible date.
    """
    point = point_at(vault, text, caller.now)
    if point is None:
        raise before_first_commit(vault, text)
    then = VaultAt(vault, point.commit)
    message = f"this is what the vault knew at {point.commit[:12]} ({point.time[:10]} {point.time[11:16]})"
    _ = then.settings, then.catalog  # read now, so that their problems are in the notices
    return PastVault(then, caller._replace(now=moment_of(point.moment)), point, (message, *then.notices))
