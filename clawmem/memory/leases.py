"""The claims of sessions: which are in force, and what happens to a write into one of another session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, Refused
from clawmem.memory.quarantine import QuarantineReason
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.records.claims import (
    Claim,
    LiveClaim,
    SessionClaims,
    claims_path,
    covers,
    live_claims,
    overlap,
    parse_claims,
    render_claims,
)
from clawmem.model.records.session import COLLISION, check_session_id
from clawmem.vault.state.journal import read_entries, record_entry
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.memory.scope import WriteScope

MINUTES, ON_COLLISION = "coordination.lease_minutes", "coordination.on_collision"
REFUSE, PROPOSE, WARN = POLICIES = ("refuse", "propose", "warn")
SEEN = "seen"
Read = Callable[[str], bytes | None]


class ClaimsInForce(NamedTuple):
    """The claims in force, oldest first, and a notice for each file that cannot be read."""

    claims: tuple[LiveClaim, ...]
    notices: tuple[str, ...] = ()


def claims_in_force(vault: Vault, caller: Caller, read: Read | None = None) -> ClaimsInForce:
    """Return the claims in force of all sessions. Pass the `read` of a transaction to see its state."""
    minutes, found, notices = vault.settings.number(MINUTES), list[LiveClaim](), list[str]()
    for path in sorted((vault.root / "agents").glob("*/claims.json")):
        try:
            for claim in read_claims(read or vault.read, path.parent.name):
                signs = [str(entry["at"]) for entry in read_entries(vault, claim.session) if "at" in entry]
                found += live_claims(claim, signs, caller.now, minutes)
        except ClawmemError as problem:
            notices.append(problem.message)
    return ClaimsInForce(tuple(sorted(found, key=lambda claim: (claim.claim.since, claim.session))), tuple(notices))


def read_claims(read: Read, agent: str) -> tuple[SessionClaims, ...]:
    """Return the claims of an agent's sessions as they are recorded. Raise Unreadable."""
    path = claims_path(agent)
    return parse_claims(read(path) or b"{}", path, parse_yaml)


def is_own(claim: LiveClaim, caller: Caller) -> bool:
    """Return whether a claim is the caller's: of its session, or of its agent where it names no session."""
    return claim.session == caller.session if caller.session else claim.agent == caller.agent


def rivals(found: Iterable[LiveClaim], claim: Claim, caller: Caller) -> list[LiveClaim]:
    """Return the claims of other sessions that overlap one."""
    return [live_claim for live_claim in found if not is_own(live_claim, caller) and overlap(live_claim.claim, claim)]


def check_claims(work: WriteScope, paths: Collection[str], only_say: bool = False) -> None:
    """Raise Refused if an agent or a session writes into a claim of another session; a person is only told, and with
    `only_say` everybody.

    A write is a sign of life of the caller's session, so it renews its own claims."""
    caller, found = work.caller, claims_in_force(work.vault, work.caller, work.read)
    mine = [claim for claim in found.claims if is_own(claim, caller)]
    if caller.session and mine:
        record_entry(work.vault, caller.session, {"kind": SEEN, "at": stamp(caller.now)}, durable=False)
    hit = _hit(found.claims, caller, paths)
    if hit is None:
        return
    other_claim, path = hit
    if only_say or _is_warned(work.vault, caller):
        work.transaction.notices.append(f"collision: {other_claim.words}, and {path} was written")
        return
    raise refused(work.vault, other_claim, caller, f"{path} is not written")


def collision_with_entity(work: WriteScope, paths: Collection[str]) -> QuarantineReason | None:
    """Return why a fact waits for review instead of being stored: another session has claimed its entity, and the
    settings make a proposal of that."""
    vault, caller = work.vault, work.caller
    proposes = work.hands_in or vault.settings.words(ON_COLLISION) == PROPOSE
    if not proposes or not has_claims(vault) or _is_warned(vault, caller):
        return None
    hit = _hit(claims_in_force(vault, caller, work.read).claims, caller, paths)
    if hit is None:
        return None
    mark_collision(vault, hit[0], caller)
    return QuarantineReason("fact", f"{hit[0].words[0].upper()}{hit[0].words[1:]}.")


def refused(vault: Vault, claim: LiveClaim, caller: Caller, what: str) -> Refused:
    """Record a collision for the session of the caller, and return the error that names the holder."""
    mark_collision(vault, claim, caller)
    return Refused(
        f"{claim.words[0].upper()}{claim.words[1:]}, so {what}.",
        f"Wait, work on something else, or ask {claim.agent} to run `clawmem session release '{claim.claim.what}'`.",
    )


def mark_collision(vault: Vault, claim: LiveClaim, caller: Caller) -> None:
    """Record in the journal of the caller's session that it met a claim of another one."""
    if is_registered(vault, "*", caller.session):
        entry = {"at": stamp(caller.now), "what": claim.claim.what, "holder": claim.agent, "session": claim.session}
        record_entry(vault, caller.session or "", {"kind": COLLISION, **entry}, durable=False)


def is_registered(vault: Vault, agent: str, session: str | None) -> bool:
    """Return whether a session of an agent (`*`: any) has a record; CLAWMEM_SESSION may name one of another program."""
    try:
        name = check_session_id(session) if session else ""
        return bool(name) and any((vault.root / "agents").glob(f"{agent}/sessions/{name}.json"))
    except InvalidInput:
        return False


def has_claims(vault: Vault) -> bool:
    """Return whether any session has ever claimed anything, without reading it."""
    return any((vault.root / "agents").glob("*/claims.json"))


def with_claims(
    work: WriteScope, agent: str, session: str, claims: Collection[Claim], seen: str | None = None
) -> dict[str, bytes | None]:
    """Return the write that gives a session these claims, as of its last sign of life `seen` (default: now); without
    claims, the session is left out. Empty if that is recorded already."""
    sessions = [claim for claim in read_claims(work.read, agent) if claim.session != session]
    if claims:
        sessions.append(SessionClaims(session, agent, seen or stamp(work.caller.now), tuple(claims)))
    path = claims_path(agent)
    before, after = work.read(path), render_claims(sessions) if sessions else None
    return {} if before == after else {path: after}


def own_claims(work: WriteScope, agent: str, session: str) -> tuple[Claim, ...]:
    """Return the claims of a session that are still in force."""
    caller = work.caller._replace(agent=agent, session=session)
    return tuple(
        live_claim.claim
        for live_claim in claims_in_force(work.vault, caller, work.read).claims
        if live_claim.session == session
    )


def _hit(found: Iterable[LiveClaim], caller: Caller, paths: Collection[str]) -> tuple[LiveClaim, str] | None:
    pairs = (
        (live_claim, path)
        for live_claim in found
        if not is_own(live_claim, caller)
        for path in paths
        if covers(live_claim.claim, path)
    )
    return next(pairs, None)


def _is_warned(vault: Vault, caller: Caller) -> bool:
    """Return whether a collision stops nothing: a person without a session decides, and so do the settings."""
    is_person = caller.agent is None and caller.session is None
    return is_person or vault.settings.words(ON_COLLISION) == WARN
