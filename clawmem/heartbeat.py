"""The heartbeat: conducts the acts that keep a memory alive, each its own commit, for cron and for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from clawmem.errors import ClawmemError
from clawmem.learning.ingest import Ingested, ingest_notes
from clawmem.learning.learn import Learned, learn
from clawmem.memory.access import Folded, fold_accesses
from clawmem.memory.decay import Decayed, archive_decayed
from clawmem.memory.summaries import Refreshed, refresh_summaries
from clawmem.model.caller import Caller
from clawmem.vault.transaction import transaction
from clawmem.vault.upkeep import Upkeep, keep_small
from clawmem.vault.vault import Vault

_Result = TypeVar("_Result")


class Heartbeat(NamedTuple):
    """What each act did (None where it failed), the failures by act, and every sentence for the person."""

    noted: Ingested | None
    learned: Learned | None
    folded: Folded | None
    decayed: Decayed | None
    refreshed: Refreshed | None
    upkeep: Upkeep | None
    failed: tuple[tuple[str, ClawmemError], ...]
    notices: tuple[str, ...]

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits this beat made, oldest first."""
        acts = (self.noted, self.learned, self.folded, self.decayed, self.refreshed)
        return tuple(act.commit for act in acts if act is not None and act.commit)


def beat(vault: Vault, caller: Caller, dry_run: bool = False) -> Heartbeat:
    """Run every act once. One that fails does not stop the others; nothing to do makes no commit."""
    failed: list[tuple[str, ClawmemError]] = []

    def attempt(name: str, act: Callable[[], _Result]) -> _Result | None:
        try:
            return act()
        except ClawmemError as problem:
            failed.append((name, problem))
            return None

    noted = None if dry_run else attempt("notes", lambda: ingest_notes(vault, caller))
    learned = attempt("learn", lambda: learn(vault, caller, dry_run))
    folded = attempt("fold", lambda: fold_accesses(vault, caller, dry_run))
    decayed = attempt("decay", lambda: archive_decayed(vault, caller, dry_run))
    refreshed = attempt("summaries", lambda: refresh_summaries(vault, caller, dry_run))
    upkeep = None if dry_run else attempt("upkeep", lambda: _upkeep(vault, caller))
    acts = (noted, learned, folded, decayed, refreshed)
    notices = dict.fromkeys(sentence for act in acts if act is not None for sentence in act.notices)
    return Heartbeat(noted, learned, folded, decayed, refreshed, upkeep, tuple(failed), tuple(notices))


def _upkeep(vault: Vault, caller: Caller) -> Upkeep:
    with transaction(vault, caller.now, "upkeep"):
        return keep_small(vault, vault.settings.whole("upkeep.loose_objects"))
