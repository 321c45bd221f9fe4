"""Revise: supersede, retract, merge, edit and link facts. Facts are never deleted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import AlreadySuperseded, InvalidInput, NotPermitted, Refused
from clawmem.index.search.lookup import PlacedFact, TakenIds, by_ids, resolve_id
from clawmem.index.search.lookup import find_fact as find_fact
from clawmem.memory.conflicts import with_questions_of_person
from clawmem.memory.entities.places import FactMove, move_writes, resolve_entity
from clawmem.memory.facts.remember import given_trust, mark_of_kind, signed, with_identity, without_secrets
from clawmem.memory.facts.rival_values import RivalValueFinder, ValueConflict, ask_about, with_question
from clawmem.memory.facts.targets import fact_named, rest_of
from clawmem.memory.permission import check_may_read_fact, check_scope_right
from clawmem.memory.proposals import read_proposals
from clawmem.memory.quarantine import (
    ProposalWriter,
    QuarantineReason,
    quarantine_reason,
    refuse_order,
    with_proposal_id,
)
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.catalog import ASK
from clawmem.model.facts.draft import Draft, check_link_kind, checked_tags, draft_from_record
from clawmem.model.facts.fact import (
    FACT_PREFIX,
    GUARDRAIL,
    PINNED,
    RETRACTED,
    SUPERSEDED,
    Fact,
    FactLink,
    is_forgotten,
    is_low_trust,
    new_fact_id,
    trust_rank,
    with_vital_importance,
)
from clawmem.model.facts.fact_words import reason_of_change, without_because
from clawmem.model.facts.gates import Settlement
from clawmem.model.facts.reach import is_workflow
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement, normal, shorten, some_of
from clawmem.model.lifecycle.chain import (
    REPLACING_LINKS,
    ending_later,
    never_true,
    reopened,
    replaced_object,
    stays_current,
    superseded,
)
from clawmem.model.lifecycle.reinforce import joint_confidence
from clawmem.model.proposals.proposal import MERGE, RETRACT, SUPERSEDE
from clawmem.model.proposals.quarantine import without_approval
from clawmem.model.proposals.routes import RoutedItem, last_match, read_routes
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.event import MARK
from clawmem.model.search.meant import SPECIAL, kinds_of, telling_words
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.records.access import AccessMark

# So many characters of each of two linked facts leave room for the reason.
_IN_SUBJECT = 45


class ReviseResult(NamedTuple):
    """The changed facts with their entities, the outcome for each, and the commit.

    `marked` are other facts that rest on the changed ones, each with its new record of changed premises. `did` says
    what an edit did."""

    facts: tuple[PlacedFact, ...]
    outcome: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()
    marked: tuple[PlacedFact, ...] = ()
    did: str = ""


def supersede(
    vault: Vault, reference: str, draft: Draft, caller: Caller, reason: str | None = None, corrects: bool = False
) -> ReviseResult:
    """Replace an active fact by a newer one. The old fact is valid until the new one begins.

    Category, tags, subject, predicate and importance are copied from the old fact if the draft does not set them. With
    `corrects`, only the words are new: source, evidence, validity and all else are the old fact's, which never held. If
    an active fact has the new statement already, that fact becomes the successor. Raise AlreadySuperseded or Refused
    if the old fact is not active. Of a fact that says several things, words may name one: the others stay, as a fact.
    """
    safe = without_secrets(vault, draft)
    with writing(vault, caller, "supersede") as work:
        old, entity = _active_fact(work, reference)
        if normal(old.fact) == normal(safe.fact.fact):
            raise Refused(f"{old.id} has exactly this statement already.", "Nothing was changed.")
        fresh = _identified(work, safe)
        drafted = _reworded(fresh, old) if corrects else _with_inherited(fresh, old)
        proposed = _file_proposal(work, drafted, entity, SUPERSEDE, [PlacedFact(old, entity)])
        if proposed is not None:
            return proposed
        facts = work.facts(entity)
        since = safe.fact.valid_from or stamp(caller.now)
        known = next((fact for fact in facts if fact.is_current and normal(fact.fact) == normal(safe.fact.fact)), None)
        own = mark_of_kind(work, drafted._replace(category=safe.fact.category), entity)
        new = known or _with_marks(work, drafted if corrects else drafted._replace(valid_from=since), [old], own)
        if not corrects and new.valid_from == since and stays_current(old, new, since, stamp(caller.now)):
            ended = ending_later(old, new.id, since, reason)
            if reason and known is None:
                new = new._replace(details={**(new.details or {}), "because": reason})
        else:
            new = _with_link(new, FactLink("supersedes", old.id, reason, stamp(caller.now)))
            ended = never_true(reopened(old), new.id, since) if corrects else superseded(old, new.id, since)
        rest = None if corrects else rest_of(work, reference, PlacedFact(old, entity))
        if rest and set(telling_words(rest.fact.fact)) <= set(telling_words(new.fact)):
            rest = None  # the new statement says it, too
        changed = [PlacedFact(each, entity) for each in (new, ended)] + ([rest] if rest else [])
        words = f"{new.fact} ({'was' if ended.superseded_by else 'until then'}: {old.fact})"
        change = fact_change(
            caller,
            "supersede",
            entity,
            words,
            work.items_with(changed),
            [placed.fact for placed in changed],
            supersedes=[old.id] if ended.superseded_by else [],
        )
        if ended.superseded_by:
            others = [fact for fact in facts if fact.id not in (old.id, new.id)]
            rivals = RivalValueFinder(work).find(new, entity, others)
            change = with_questions_of_person(work, change, [old.id], new, [rival.id for rival in rivals])
        return _revised(work, change, changed, "updated")


def retract(vault: Vault, reference: str, caller: Caller, reason: str | None = None) -> ReviseResult:
    """Withdraw a fact that was not true. It stays in its file with the reason, but no answer contains it. Of a fact
    that says several things, words may name one: the others stay, as a fact.

    An agent only proposes that for what a person stated."""
    with writing(vault, caller, "retract") as work:
        placed = _found(work, reference)
        if placed.fact.status == RETRACTED:
            return ReviseResult((placed,), ("noop",), None, (*work.notices, f"{placed.fact.id} was retracted already"))
        fact, entity = _active_fact(work, reference)
        if _is_of_person(work, fact) and fact.category != GUARDRAIL:  # an agent may not change a guardrail at all
            why = QuarantineReason("fact", reason or f"The agent {caller.agent} says that it was not true.")
            return _filed(work, fact, entity, why, RETRACT, [fact])
        remark: dict[str, Any] = {"at": stamp(caller.now), **({"reason": reason} if reason else {})}
        retracted = fact._replace(status=RETRACTED, metadata={**(fact.metadata or {}), "retracted": remark})
        words = fact.fact + (f" (because: {reason})" if reason else "")
        rest = rest_of(work, reference, PlacedFact(fact, entity))
        changed = [PlacedFact(retracted, entity), *([rest] if rest else [])]
        writes = work.items_with(changed)
        change = fact_change(caller, "retract", entity, words, writes, [each.fact for each in changed])
        change = with_questions_of_person(work, change, [fact.id])
        outcomes = ("retracted", "added")[: len(changed)]
        return _revised(work, change, changed, "retracted")._replace(outcome=outcomes)


def merge(
    vault: Vault, references: Sequence[str], draft: Draft, caller: Caller, reason: str | None = None
) -> ReviseResult:
    """Merge two or more active facts into one new fact in the entity of the first. Raise InvalidInput for fewer."""
    safe = without_secrets(vault, draft)
    with writing(vault, caller, "merge") as work:
        sources = list(
            {placed.fact.id: placed for placed in (_active_fact(work, each) for each in references)}.values()
        )
        if len(sources) < 2:
            raise InvalidInput(
                "A merge needs at least two different facts.", "Name two ids, then the joined statement."
            )
        entity = sources[0].entity
        at = stamp(caller.now)
        new = _identified(work, safe)
        if caller.agent:
            # A merge by an agent gets the lowest trust of its sources.
            new = new._replace(trust=min((new.trust, *(placed.fact.trust for placed in sources)), key=trust_rank))
        proposed = _file_proposal(work, new, entity, MERGE, sources)
        if proposed is not None:
            return proposed
        if new.confidence is None:
            new = new._replace(confidence=joint_confidence(*(source.fact.confidence for source in sources)))
        for source in sources:
            new = _with_inherited(new, source.fact)
            new = _with_link(new, FactLink("merges", source.fact.id, reason, at))
        new = _with_marks(work, new, [source.fact for source in sources])
        new = new._replace(valid_from=new.valid_from or _earliest_start(sources))
        closed_facts = [
            PlacedFact(fact._replace(status=SUPERSEDED, superseded_by=new.id), home) for fact, home in sources
        ]
        writes = work.items_with([*closed_facts, PlacedFact(new, entity)])
        change = fact_change(
            caller,
            "merge",
            entity,
            new.fact,
            writes,
            [new, *(placed.fact for placed in closed_facts)],
            entities=[placed.entity for placed in closed_facts],
            supersedes=[placed.fact.id for placed in closed_facts],
        )
        gone = [placed.fact.id for placed in closed_facts]
        change = with_questions_of_person(work, change, gone, new)
        result = _revised(work, change, [PlacedFact(new, entity), *closed_facts], "merged")
        return result._replace(notices=(*result.notices, *_narrowed(work, new, sources)))


def _narrowed(work: WriteScope, new: Fact, sources: Sequence[PlacedFact]) -> Iterator[str]:
    """Yield a notice of the facts that everybody saw, of which one that not everybody may see is made."""
    if MARK not in (new.metadata or {}):
        return
    from clawmem.index.tables.rights import marks_of  # few facts are marked

    known = [placed.fact for placed in sources]
    opened = [fact.id for fact in known if not marks_of(work.index, fact.id, fact.source_event or "")]
    if opened:
        words = f"{some_of(opened)} {'was' if len(opened) == 1 else 'were'} for everybody"
        yield f"not everybody may see the merged fact, and {words}: `clawmem undo` splits it"


class FactEdit(NamedTuple):
    """What `edit` changes of a fact beside its words: where it stands, tags, whether it is pinned (None: as is), the
    day or time with which it ends, and why it is so."""

    entity: str | None = None
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    pinned: bool | None = None
    valid_to: str | None = None
    reason: str | None = None


def edit(vault: Vault, reference: str, changes: FactEdit, caller: Caller) -> ReviseResult:
    """Move, tag or pin an active fact; its words stay. Raise NotPermitted if an agent edits what a person stated, or
    pins what a tool or the web says."""
    tags = checked_tags(allowed(vault.settings, tag, "The tag") for tag in changes.tags)
    with writing(vault, caller, "edit") as work:
        fact, entity = _active_fact(work, reference)
        if _is_of_person(work, fact):
            raise NotPermitted(f"A person stated {fact.id}, so an agent may not edit it.", "Tell the person.")
        if changes.pinned and caller.agent and is_low_trust(fact.trust):
            raise NotPermitted(f"{fact.id} is from outside, so only a person may pin it.", "Tell the person.")
        target = resolve_entity(work.index, changes.entity, caller) if changes.entity else entity
        gone = set(checked_tags(changes.without_tags))
        edited = fact._replace(tags=tuple(tag for tag in dict.fromkeys((*fact.tags, *tags)) if tag not in gone))
        if changes.pinned:
            edited = edited._replace(importance=PINNED)
        elif changes.pinned is False and fact.importance == PINNED:
            edited = with_vital_importance(edited._replace(importance=None))
        if changes.valid_to:
            record = {"fact": fact.fact, "valid_from": fact.valid_from, "valid_to": changes.valid_to}
            edited = edited._replace(valid_to=draft_from_record(record, caller.now).fact.valid_to)
        if changes.reason:
            reason = allowed(vault.settings, changes.reason, "The reason")
            refuse_order(caller, "reason", reason)
            edited = edited._replace(details={**(fact.details or {}), "because": reason})
        if (edited, target) == (fact, entity):
            return ReviseResult((PlacedFact(fact, entity),), ("noop",), None, (*work.notices, "nothing is different"))
        did = ", ".join(_edits(fact, edited, entity if target != entity else None))
        writes = move_writes(work, [FactMove(edited, entity, target)])
        change = fact_change(caller, "edit", target, f"{did}: {fact.fact}", writes, [edited], entities=[entity])
        return _revised(work, change, [PlacedFact(edited, target)], "updated", did)


def _edits(fact: Fact, edited: Fact, moved_from: str | None) -> Iterator[str]:
    """Yield what an edit did to a fact, in words."""
    if moved_from:
        yield f"moved from {moved_from}"
    if fact.importance != edited.importance:
        yield "pinned" if edited.importance == PINNED else "unpinned"
    if fact.valid_to != edited.valid_to:
        yield f"ends {edited.valid_to}"
    if fact.details != edited.details:
        yield "said why"
    for word, before, after in (("tagged", fact.tags, edited.tags), ("untagged", edited.tags, fact.tags)):
        if tags := [tag for tag in after if tag not in before]:
            yield f"{word} {' and '.join(tags)}"


def link(
    vault: Vault,
    reference: str,
    kind: str,
    target: str,
    caller: Caller,
    reason: str | None = None,
    instead: str | None = None,
) -> ReviseResult:
    """Link one fact to another; `instead` is the target of a link of this type that the new one replaces.

    The link types `supersedes` and `merges` have their own verbs. A link that says that two current facts contradict
    each other asks a person which of them is true, in the same commit."""
    check_link_kind(kind)
    with writing(vault, caller, "link") as work:
        placed = _found(work, reference)
        other = resolve_id(work.index, target)
        former = resolve_id(work.index, instead) if instead is not None else None
        if former is not None and not any(link.type == kind and link.to == former for link in placed.fact.links):
            raise InvalidInput(
                f"{placed.fact.id} has no '{kind}' link to {former}.", f"`clawmem show {placed.fact.id}` lists them."
            )
        if other == placed.fact.id:
            raise InvalidInput("A fact cannot be linked to itself.", "Name two different facts.")
        known = any(link.type == kind and link.to == other for link in placed.fact.links)
        if known and former in (None, other):
            return ReviseResult((placed,), ("noop",), None, (*work.notices, "that link already exists"))
        current = work.latest(placed).fact
        kept = tuple(link for link in current.links if not (link.type == kind and link.to in (former, other)))
        linked = _with_link(current._replace(links=kept), FactLink(kind, other, reason, stamp(caller.now)))
        stands = find_fact(work.index, other).fact.fact
        why = (f", not {former}" if former else "") + (f" (because: {reason})" if reason else "")
        words = f"{shorten(linked.fact, _IN_SUBJECT)} {kind} {shorten(stands, _IN_SUBJECT)}{why}"
        writes = work.items_with([PlacedFact(linked, placed.entity)])
        change = fact_change(caller, "link", placed.entity, words, writes, [linked])
        change = change._replace(body=f"{linked.id} {kind} {other}{why}")
        asked = _contradiction(work, PlacedFact(linked, placed.entity), other) if kind == "contradicts" else None
        commits = work.commit([with_question(change, asked) if asked else change])
        marked = {placed.fact.id: placed.fact for placed in work.marked}
        others = tuple(placed for placed in work.marked if placed.fact.id != linked.id)
        pair = (PlacedFact(marked.get(linked.id, linked), placed.entity),)
        notices = work.notices
        if asked and asked.proposal:
            both = f"{linked.id} and {other} contradict each other. Both are kept until a person decides"
            notices = (*notices, f"{both}: `clawmem review show {asked.proposal.id}`")
        return ReviseResult(pair, ("updated",), commits[-1], notices, others)


def _revised(
    work: WriteScope, change: Change, facts: Sequence[PlacedFact], outcome: str, did: str = ""
) -> ReviseResult:
    """Commit a change of some facts, which have all the same outcome."""
    commit = work.commit([change])[-1]
    outcomes = (outcome,) * len(facts)
    return ReviseResult(tuple(facts), outcomes, commit, work.notices, tuple(work.marked), did)


def _contradiction(work: WriteScope, placed: PlacedFact, other: str) -> ValueConflict | None:
    """Return the conflict between a fact and another one that a person is asked about, or None if one of them ended or
    the question is open already."""
    found = by_ids(work.index, [other]).get(other)
    if found is None or not (found.fact.is_current and placed.fact.is_current):
        return None
    both = {placed.fact.id, other}
    if any(
        both <= {target.id for target in proposal.targets} for proposal in read_proposals(work.vault, work.read).open
    ):
        return None
    why = Settlement(None, ASK, "a link says that both cannot be true")
    return ask_about(work, placed.fact, placed.entity, [found.fact], why, None)


def _file_proposal(
    work: WriteScope, new: Fact, entity: str, does: str, olds: Sequence[PlacedFact]
) -> ReviseResult | None:
    """File a proposal if a person must decide about the change, and return the result; else return None."""
    reason = quarantine_reason(new, [placed.fact for placed in olds]) or reserved(work, olds)
    if reason is None:
        return None
    return _filed(work, new, entity, reason, does, [placed.fact for placed in olds])


def _filed(
    work: WriteScope, new: Fact, entity: str, reason: QuarantineReason, does: str, olds: Sequence[Fact]
) -> ReviseResult:
    """File a proposal and return the result."""
    filed = ProposalWriter(work).file(new, entity, reason, does, olds)
    commits = work.commit([filed.change]) if filed.change else ()
    notices = (*work.notices, *([filed.notice] if filed.notice else []))
    shown = PlacedFact(with_proposal_id(filed.proposal, new), entity)
    return ReviseResult((shown,), ("proposed",), commits[-1] if commits else None, notices)


def reserved(work: WriteScope, olds: Sequence[PlacedFact]) -> QuarantineReason | None:
    """Return why an agent may not change these facts without a person, or None.

    A person stated one of them, and it is in a conflict that waits for a person, or `review.routes` names who decides.
    """
    stated = [placed for placed in olds if _is_of_person(work, placed.fact)]
    if not stated:
        return None
    ids = {placed.fact.id for placed in stated}
    for proposal in read_proposals(work.vault, work.read).open:
        if proposal.kind == "conflict" and any(target.id in ids for target in proposal.targets):
            return QuarantineReason("conflict", f"A person stated it, and {proposal.id} waits for a decision about it.")
    routes = read_routes(work.vault.settings.words("review.routes"))
    for placed in stated:
        place = last_match(routes, RoutedItem("conflict", placed.entity, placed.fact.workflow))
        if place is not None and routes[place].reviewers:
            return QuarantineReason("conflict", f"A person stated {placed.fact.id}, and {_ROUTED}")
    return None


_ROUTED = "`review.routes` names who decides."


def _is_of_person(work: WriteScope, fact: Fact) -> bool:
    """Return whether a person stated the fact and an agent is to change it."""
    caller = work.caller
    return caller.agent is not None and not caller.unattended and fact.agent is None and fact.trust in (None, "user")


def _found(work: WriteScope, reference: str) -> PlacedFact:
    """Return the fact that is to be changed. Raise NotPermitted if the caller may not write in its scope, and
    InvalidInput for a single word of it that names no kind."""
    placed, word = fact_named(work, reference), reference.strip().removeprefix(FACT_PREFIX)
    named = placed.fact.id.removeprefix(FACT_PREFIX).startswith(word) or normal(placed.fact.fact) == normal(word)
    is_kind = any(kinds_of(word).values()) or SPECIAL.search(word)
    if not (named or is_kind) and " " not in word:
        raise InvalidInput(
            f"'{word}' is only a word of: {placed.fact.fact}", f"Name the fact by its id: {placed.fact.id}."
        )
    if is_forgotten(placed.fact):
        check_may_read_fact(work.caller, placed)
    check_scope_right(work.vault, work.caller, placed.fact)
    return placed


def _active_fact(work: WriteScope, reference: str) -> PlacedFact:
    placed = work.latest(_found(work, reference))
    fact = placed.fact
    if fact.superseded_by:
        raise AlreadySuperseded(fact.id, fact.superseded_by)
    if not fact.is_current:
        raise Refused(
            f"{fact.id} was {fact.status}, so it cannot be changed.", "`clawmem why` shows what happened to it."
        )
    return placed


def _identified(work: WriteScope, draft: Draft) -> Fact:
    """Return the new fact of a draft, with a trust that the caller may give."""
    trust, notices = given_trust(draft.fact, work.caller)
    work.transaction.notices.extend(notices)
    new_id = new_fact_id(work.caller.entropy, TakenIds(work.index))
    return signed(work, with_identity(without_approval(draft.fact._replace(trust=trust)), work.caller, new_id))


def _with_inherited(new: Fact, old: Fact) -> Fact:
    scoped = new.scope or new.project or is_workflow(new.workflow)
    of = new if scoped else new._replace(scope=old.scope, project=old.project, workflow=old.workflow)
    same_relation = new.predicate in (None, old.predicate) and new.subject in (None, old.subject)
    return of._replace(
        category=new.category if new.category != "fact" else old.category,
        subject=new.subject or old.subject,
        predicate=new.predicate or (old.predicate if same_relation else None),
        object=new.object or (replaced_object(new.fact, old) if same_relation else None),
        tags=tuple(dict.fromkeys(old.tags + new.tags)),
        related_entities=tuple(dict.fromkeys(old.related_entities + new.related_entities)),
        importance=new.importance if new.importance is not None else old.importance,
    )


def _reworded(fresh: Fact, old: Fact) -> Fact:
    """Return the old fact with the id and the words of a fresh one, and its reason, which a link may have held."""
    same = old.object if old.object and old.object in fresh.fact else None
    links = tuple(each for each in old.links if each.type not in REPLACING_LINKS)
    reason = reason_of_change(old)
    details = {"because": reason, **(old.details or {})} if reason else old.details
    value = replaced_object(fresh.fact, old) or same
    return old._replace(id=fresh.id, fact=fresh.fact, object=value, links=links, details=details)


def _with_marks(work: WriteScope, new: Fact, olds: Sequence[Fact], own: AccessMark | None = None) -> Fact:
    """Return a new fact that is for nobody who may not see what it comes from, or what has its `own` mark."""
    of_olds = any(old.source_event or MARK in (old.metadata or {}) for old in olds)
    if not (of_olds or own) or MARK in (new.metadata or {}):
        return new
    from clawmem.index.tables.rights import marks_of  # few facts are marked
    from clawmem.model.records.access import narrowest

    marks = [mark for old in olds for mark in marks_of(work.index, old.id, old.source_event or "")]
    marks += [own] if own else []
    if not marks:
        return new
    return new._replace(metadata={**(new.metadata or {}), MARK: narrowest(marks)})


def _with_link(fact: Fact, added: FactLink) -> Fact:
    return fact._replace(links=(*fact.links, added))


def _earliest_start(sources: Sequence[PlacedFact]) -> str | None:
    begun = [placed.fact.valid_from for placed in sources if placed.fact.valid_from]
    return min(begun) if len(begun) == len(sources) else None


def check_reason(reason: str | None) -> str | None:
    """Return the reason as one printable line without "because", or None."""
    return without_because(check_statement(reason, "reason")) if reason is not None else None
