"""Follow the queue of a vault: one entry for each proposal that is filed, decided or opened again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Event
from typing import Any

from clawmem.memory.review.proposals import read_proposals
from clawmem.model.proposals.proposal import FOLDER, OPEN, PREFIX, Proposal
from clawmem.vault.vault import Vault

EVERY_SECONDS = 0.5


def watch_proposals(vault: Vault, seconds: float | None) -> Iterator[dict[str, Any]]:
    """Yield what happens from now on, for that long, or until the caller stops."""
    signature, known = _signature(vault), _by_id(vault)
    pause, waited = Event(), 0.0
    while seconds is None or waited < seconds:
        pause.wait(EVERY_SECONDS)
        waited += EVERY_SECONDS
        now = _signature(vault)
        if now == signature:
            continue
        signature, current = now, _by_id(vault)
        for proposal in current.values():
            yield from _changes(known.get(proposal.id), proposal)
        known = current


def _signature(vault: Vault) -> tuple[tuple[str, int, int], ...]:
    """Return values that change when a proposal file does."""
    found = []
    for path in (vault.root / FOLDER).glob(f"{PREFIX}*.json"):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        found.append((path.name, status.st_mtime_ns, status.st_size))
    return tuple(sorted(found))


def _by_id(vault: Vault) -> Mapping[str, Proposal]:
    return {proposal.id: proposal for proposal in read_proposals(vault).proposals}


def _changes(before: Proposal | None, after: Proposal) -> Iterator[dict[str, Any]]:
    """Yield what happened to a proposal between two readings."""
    about = {"proposal": after.id, "kind": after.kind, "says": after.says, "entity": after.entity}
    if before is None:
        yield _entry("filed", after.created, about, why=after.why, agent=after.agent)
    elif before.status != OPEN and after.status == OPEN:
        yield _entry("reopened", after.created, about, why=after.why)
    if after.decided and after.status != OPEN and (before is None or before.status != after.status):
        decision = after.decided
        yield _entry(
            after.status, decision.at, about, by=decision.by, reason=decision.reason, delegated_by=decision.delegated_by
        )


def _entry(event: str, at: str, about: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": event, "at": at, **{key: value for key, value in {**about, **more}.items() if value is not None}}
