"""Revise: facts are superseded, retracted, merged and linked, and never deleted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from clawmem.errors import AlreadySuperseded, InvalidInput, Refused
from clawmem.index.search.lookup import PlacedFact, TakenIds, resolve
from clawmem.index.search.lookup import find as find_fact
from clawmem.memory.facts.remember import completed, without_secrets
from clawmem.memory.review.quarantine import ProposalWriter, held, shown_as
from clawmem.memory.writing import WriteScope, fact_change, items_write, with_fact, writing
from clawmem.model.facts.draft import Draft, check_link_kind
from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact, FactLink
from clawmem.model.facts.ids import new_fact_id
from clawmem.model.facts.trust import trust_rank
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement, normal
from clawmem.model.lifecycle.succession import ending_later, replaced_object, stays_current, superseded
from clawmem.model.proposals.proposal import MERGE, SUPERSEDE
from clawmem.model.proposals.quarantine import without_approval
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault


class ReviseResult(NamedTuple):
    """The facts a revision touched with their entities, what happened to each, its commit, asides."""

    facts: tuple[PlacedFact, ...]
    outcome: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


def supersede(vault: Vault, reference: str, draft: Draft, caller: Caller, reason: str | None = None) -> ReviseResult:
    """Replace a standing fact by a newer one; the old one's validity ends where the new one's begins.

    What the draft leaves open (category, tags, subject, predicate, importance) is taken over from the old fact.
    Where the new statement stands already, that fact becomes the successor.
    """
    safe = without_secrets(vault, draft)
    with writing(vault, caller, "supersede") as work:
        old, entity = _standing(work, reference)
        if normal(old.fact) == normal(safe.fact.fact):
            raise Refused(f"{old.id} says exactly that already.", "Nothing was changed.")
        fresh = completed(without_approval(safe.fact), caller, _new_id(work))
        waiting = _proposed(work, _inherited(fresh, old), entity, SUPERSEDE, [PlacedFact(old, entity)])
        if waiting is not None:
            return waiting
        facts = work.facts(entity)
        since = safe.fact.valid_from or stamp(caller.now)
        known = next((one for one in facts if one.stands and normal(one.fact) == normal(safe.fact.fact)), None)
        new = known or _inherited(fresh, old)._replace(valid_from=since)
        if new.valid_from == since and stays_current(old, new, since, stamp(caller.now)):
            gone = ending_later(old, new.id, since, reason)
        else:
            new = _linked(new, FactLink("supersedes", old.id, reason, stamp(caller.now)))
            gone = superseded(old, new.id, since)
        facts = with_fact(facts, gone)
        facts = with_fact(facts, new) if known else [*facts, new]
        words = f"{new.fact} ({'was' if gone.superseded_by else 'until then'}: {old.fact})"
        change = fact_change(
            caller,
            "supersede",
            entity,
            words,
            items_write(entity, facts),
            [new, gone],
            supersedes=[old.id] if gone.superseded_by else [],
        )
        commits = work.commit([change])
        return ReviseResult(
            (PlacedFact(new, entity), PlacedFact(gone, entity)), ("updated", "updated"), commits[-1], work.notices
        )


def retract(vault: Vault, reference: str, caller: Caller, reason: str | None = None) -> ReviseResult:
    """Withdraw a fact that was not true; it stays readable, with the reason, and is served no more."""
    with writing(vault, caller, "retract") as work:
        placed = find_fact(work.index, reference)
        if placed.fact.status == RETRACTED:
            return ReviseResult((placed,), ("noop",), None, (*work.notices, f"{placed.fact.id} was retracted already"))
        fact, entity = _standing(work, reference)
        remark: dict[str, Any] = {"at": stamp(caller.now), **({"reason": reason} if reason else {})}
        gone = fact._replace(status=RETRACTED, metadata={**(fact.metadata or {}), "retracted": remark})
        words = fact.fact + (f" (because: {reason})" if reason else "")
        writes = items_write(entity, with_fact(work.facts(entity), gone))
        commits = work.commit([fact_change(caller, "retract", entity, words, writes, [gone])])
        return ReviseResult((PlacedFact(gone, entity),), ("retracted",), commits[-1], work.notices)


def merge(
    vault: Vault, references: Sequence[str], draft: Draft, caller: Caller, reason: str | None = None
) -> ReviseResult:
    """Join two or more standing facts into one richer fact in the place of the first."""
    safe = without_secrets(vault, draft)
    with writing(vault, caller, "merge") as work:
        sources = list({one.fact.id: one for one in (_standing(work, each) for each in references)}.values())
        if len(sources) < 2:
            raise InvalidInput(
                "A merge needs at least two different facts.", "Name two ids, then the joined statement."
            )
        entity = sources[0].entity
        at = stamp(caller.now)
        new = completed(without_approval(safe.fact), caller, _new_id(work))
        if caller.agent:
            # An agent that joins what it was told with what a tool said does not make the tool's word its own.
            new = new._replace(trust=min((new.trust, *(one.fact.trust for one in sources)), key=trust_rank))
        waiting = _proposed(work, new, entity, MERGE, sources)
        if waiting is not None:
            return waiting
        for source in sources:
            new = _inherited(new, source.fact)
            new = _linked(new, FactLink("merges", source.fact.id, reason, at))
        new = new._replace(valid_from=new.valid_from or _earliest(sources))
        shelves: dict[str, list[Fact]] = defaultdict(list)
        shelves[entity] = work.facts(entity)
        gone = []
        for source in sources:
            joined = source.fact._replace(status=SUPERSEDED, superseded_by=new.id)
            shelves[source.entity] = with_fact(shelves[source.entity] or work.facts(source.entity), joined)
            gone.append(PlacedFact(joined, source.entity))
        shelves[entity] = [*shelves[entity], new]
        writes: dict[str, bytes | None] = {}
        for name, facts in shelves.items():
            writes.update(items_write(name, facts))
        change = fact_change(
            caller,
            "merge",
            entity,
            new.fact,
            writes,
            [new, *(one.fact for one in gone)],
            entities=[one.entity for one in gone],
            supersedes=[one.fact.id for one in gone],
        )
        commits = work.commit([change])
        return ReviseResult((PlacedFact(new, entity), *gone), ("merged",) * (1 + len(gone)), commits[-1], work.notices)


def link(
    vault: Vault, reference: str, kind: str, target: str, caller: Caller, reason: str | None = None
) -> ReviseResult:
    """Connect one fact to another; `supersedes` and `merges` have verbs of their own."""
    check_link_kind(kind)
    with writing(vault, caller, "link") as work:
        placed = find_fact(work.index, reference)
        other = resolve(work.index, target)
        if other == placed.fact.id:
            raise InvalidInput("A fact cannot be linked to itself.", "Name two different facts.")
        if any(one.type == kind and one.to == other for one in placed.fact.links):
            return ReviseResult((placed,), ("noop",), None, (*work.notices, "that link stands already"))
        facts = work.facts(placed.entity)
        current = next(one for one in facts if one.id == placed.fact.id)
        linked = _linked(current, FactLink(kind, other, reason, stamp(caller.now)))
        words = f"{linked.id} {kind} {other}" + (f" (because: {reason})" if reason else "")
        writes = items_write(placed.entity, with_fact(facts, linked))
        commits = work.commit([fact_change(caller, "link", placed.entity, words, writes, [linked])])
        return ReviseResult((PlacedFact(linked, placed.entity),), ("updated",), commits[-1], work.notices)


def _proposed(work: WriteScope, new: Fact, entity: str, does: str, olds: Sequence[PlacedFact]) -> ReviseResult | None:
    """What waits for a person instead of taking the place of others; None where it may."""
    because = held(new, [one.fact for one in olds])
    if because is None:
        return None
    filed = ProposalWriter(work).file(new, entity, because, does, [one.fact for one in olds])
    commits = work.commit([filed.change]) if filed.change else ()
    notices = (*work.notices, *([filed.notice] if filed.notice else []))
    shown = PlacedFact(shown_as(filed.proposal, new), entity)
    return ReviseResult((shown,), ("proposed",), commits[-1] if commits else None, notices)


def _standing(work: WriteScope, reference: str) -> PlacedFact:
    placed = find_fact(work.index, reference)
    fact = next((one for one in work.facts(placed.entity) if one.id == placed.fact.id), placed.fact)
    if fact.superseded_by:
        raise AlreadySuperseded(fact.id, fact.superseded_by)
    if not fact.stands:
        raise Refused(
            f"{fact.id} was {fact.status}, so it cannot be changed.", "`clawmem why` tells what became of it."
        )
    return PlacedFact(fact, placed.entity)


def _new_id(work: WriteScope) -> str:
    return new_fact_id(work.caller.entropy, TakenIds(work.index))


def _inherited(new: Fact, old: Fact) -> Fact:
    same_relation = new.predicate in (None, old.predicate) and new.subject in (None, old.subject)
    return new._replace(
        category=new.category if new.category != "fact" else old.category,
        subject=new.subject or old.subject,
        predicate=new.predicate or (old.predicate if same_relation else None),
        object=new.object or (replaced_object(new.fact, old) if same_relation else None),
        tags=tuple(dict.fromkeys(old.tags + new.tags)),
        related_entities=tuple(dict.fromkeys(old.related_entities + new.related_entities)),
        importance=new.importance if new.importance is not None else old.importance,
    )


def _linked(fact: Fact, added: FactLink) -> Fact:
    return fact._replace(links=(*fact.links, added))


def _earliest(sources: Sequence[PlacedFact]) -> str | None:
    begun = [one.fact.valid_from for one in sources if one.fact.valid_from]
    return min(begun) if len(begun) == len(sources) else None


def check_reason(reason: str | None) -> str | None:
    """A reason as one printable line; None where none was given."""
    return check_statement(reason, "reason") if reason is not None else None
