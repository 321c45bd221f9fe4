"""Follow the sessions of a vault: start, note, checkpoint, end, claim, release and collision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Event
from typing import Any

from clawmem.memory.leases import claims_in_force
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.records.claims import LiveClaim, collisions
from clawmem.model.records.session import ENDED, OPEN, SessionRecord
from clawmem.vault.vault import Vault
from clawmem.work.sessions.records import list_sessions, visible_to

EVERY_SECONDS = 0.5


def watch_sessions(
    vault: Vault, now: Callable[[], datetime], seconds: float | None, caller: Caller | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what happens from now on, for that long, or until the caller stops. An agent does not see the notes of the
    open sessions of others; a caller of None is a person."""
    known = {other_session.id: other_session for other_session in list_sessions(vault, now()).sessions}
    claimed = _claims(vault, now())
    left = timedelta(seconds=seconds) if seconds is not None else None
    pause, waited = Event(), timedelta()
    while left is None or waited < left:
        pause.wait(EVERY_SECONDS)
        waited += timedelta(seconds=EVERY_SECONDS)
        current = {other_session.id: other_session for other_session in list_sessions(vault, now()).sessions}
        current_claims = _claims(vault, now())
        yield from claim_changes(claimed, current_claims, stamp(now()))
        for session, record in sorted(current.items()):
            yield from changes(known.get(session), record, caller)
        known, claimed = current, current_claims


def changes(
    before: SessionRecord | None, after: SessionRecord, caller: Caller | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what happened to a session between two readings, oldest first."""
    after = after if caller is None else visible_to(after, caller)
    about = {"session": after.id, "agent": after.agent}
    if before is None or (before.state != OPEN and after.state == OPEN):
        yield _entry("start", after.started, about, workflow=after.workflow, task=after.task)
    seen = {other_note.id for other_note in before.notes} if before else set()
    for note in after.notes:
        if note.id not in seen:
            yield _entry("note", note.at, about, text=note.text)
    for checkpoint in after.checkpoints[len(before.checkpoints) if before else 0 :]:
        yield _entry("checkpoint", str(checkpoint.get("at", "")), about, stage=after.stage)
    for met in after.collisions[len(before.collisions) if before else 0 :]:
        against = {"what": met.what, "holder": met.holder, "with": met.session}
        yield _entry("collision", met.at, about, **against)
    if after.state != OPEN and (before is None or before.state == OPEN):
        name = "end" if after.state == ENDED else after.state
        yield _entry(name, after.ended or after.last_seen, about, summary=after.summary)


def claim_changes(before: Sequence[LiveClaim], after: Sequence[LiveClaim], at: str) -> Iterator[dict[str, Any]]:
    """Yield the claims that came and went between two readings, and those that overlap now: two machines may both
    have claimed the same."""
    record, holds = {_key(claim): claim for claim in before}, {_key(claim): claim for claim in after}
    for key, hold in holds.items():
        if key not in record:
            yield _entry("claim", hold.claim.since or at, _about(hold), what=hold.claim.what)
    for key, live_claim in record.items():
        if key not in holds:
            yield _entry("release", at, _about(live_claim), what=live_claim.claim.what)
    known = {(_key(claim), _key(two)) for claim, two in collisions(before)}
    for claim, two in collisions(after):
        if (_key(claim), _key(two)) not in known:
            against = {"what": two.claim.what, "holder": claim.agent, "with": claim.session}
            yield _entry("collision", two.claim.since or at, _about(two), **against)


def _claims(vault: Vault, now: datetime) -> tuple[LiveClaim, ...]:
    return claims_in_force(vault, Caller(now, bytes)).claims


def _key(claim: LiveClaim) -> tuple[str, str]:
    return claim.session, claim.claim.words


def _about(claim: LiveClaim) -> dict[str, str]:
    return {"session": claim.session, "agent": claim.agent}


def _entry(event: str, at: str, about: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": event, "at": at, **about, **{key: value for key, value in more.items() if value is not None}}
