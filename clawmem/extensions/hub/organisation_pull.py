"""Pull facts of the organisation into the vault: labelled, read-only copies that follow their origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from clawmem.extensions.hub.organisation import ask_organisation, organisation_folder, own_marks, withdraw_what_ended
from clawmem.extensions.hub.organisation_vault import facts_of_folder
from clawmem.extensions.hub.postgres.organisation import identity, named_facts, own_vaults, redacted_among, shared_facts
from clawmem.extensions.hub.postgres.search import HubFact
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, all_facts, by_ids
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import new_entity_files
from clawmem.memory.facts.redact import RedactTarget, redact
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, RETRACTED, Fact
from clawmem.model.facts.pulled import FactOrigin, origin_of, pulled_entity, pulled_fact
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import items_path, title_of
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

PURPOSE = "org-pull"
# Facts are read in pages, each within the limit of time.
_PAGE = 2000
# Fields that belong to this vault: how often the copy was used here. So does that it was archived.
_OWN_FIELDS = ("access_count", "last_accessed")
_REDACTED = "redacted"
REDACTED_THERE = "redacted in the vault of its origin"
WITHDRAWN_THERE = "withdrawn at the organisation"
DISCONNECTED = "the vault left the organisation"


class PullPlan(NamedTuple):
    """What a pull changes: new and changed copies by entity, copies to retract with the reason, copies whose words were
    redacted at their origin, and facts that are left out, each with the reason."""

    kept: tuple[PlacedFact, ...] = ()
    retracted: tuple[PlacedFact, ...] = ()
    redacted: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


class PullResult(NamedTuple):
    """What a pull did: the ids of new, changed, retracted and redacted copies, and those that still have to be
    redacted; the organisation; facts that were left out, each with the reason; facts of this vault that were withdrawn
    there; and the commit."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    retracted: tuple[str, ...]
    redacted: tuple[str, ...]
    to_redact: tuple[str, ...]
    org: str
    refused: tuple[tuple[str, str], ...]
    withdrawn: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


class _Offered(NamedTuple):
    """What the organisation has: facts to take, the present state of the copies here, and those that were redacted."""

    org: str
    facts: tuple[HubFact, ...]
    redacted: frozenset[tuple[str, str]]


def pull(vault: Vault, caller: Caller, may_redact: bool = False) -> PullResult:
    """Bring the facts of the organisation that this role reads into the vault, in one commit.

    These are the facts that were promoted out of other vaults; of an organisation that is a vault, its own. A copy
    whose origin was withdrawn is retracted. One whose origin was redacted is redacted here if the caller allows it,
    which rewrites history; else it is retracted. Facts of this vault that were withdrawn here are withdrawn there
    first."""
    withdrawn = withdraw_what_ended(vault, caller)
    here = run_query(vault, _copies)
    offered = _read(vault, here)
    to_redact = _to_redact(here, offered)
    with writing(vault, caller, PURPOSE) as work:
        here = {name: placed for name, placed in _copies(work.index).items() if _org(placed.fact) == offered.org}
        plan = plan_pull(offered.org, offered.facts, here, _taken(work, offered), stamp(caller.now), to_redact)
        added = tuple(placed.fact.id for placed in plan.kept if placed.fact.id not in here)
        changed = tuple(placed.fact.id for placed in plan.kept if placed.fact.id in here)
        retracted = tuple(placed.fact.id for placed in plan.retracted)
        commit = _commit(work, offered.org, plan) if plan.kept or plan.retracted else None
        notices = work.notices
    items: tuple[str, ...] = ()
    if may_redact:
        for text in plan.redacted:
            redact(vault, RedactTarget(fact=text), caller, REDACTED_THERE)
        items = plan.redacted
    left = () if may_redact else plan.redacted
    return PullResult(
        added, changed, retracted, items, left, offered.org, plan.refused, withdrawn, commit, tuple(notices)
    )


def retract_copies(vault: Vault, caller: Caller) -> tuple[tuple[str, ...], str | None]:
    """Retract every pulled fact, of any organisation, in one commit. Return their ids and the commit."""
    with writing(vault, caller, PURPOSE) as work:
        here = [placed for placed in _copies(work.index).values() if placed.fact.status != RETRACTED]
        moment = stamp(caller.now)
        gone = tuple(PlacedFact(_retracted(placed.fact, DISCONNECTED, moment), placed.entity) for placed in here)
        commit = _commit(work, "all", PullPlan(retracted=gone)) if gone else None
        return tuple(placed.fact.id for placed in gone), commit


def plan_pull(
    org: str,
    offered: Iterable[HubFact],
    here: Mapping[str, PlacedFact],
    taken: Mapping[str, PlacedFact],
    moment: str,
    redacted: frozenset[str] = frozenset(),
) -> PullPlan:
    """Decide what a pull changes.

    `here` are the copies of this organisation by id, `taken` facts of the vault that have the id of an offered fact and
    are no such copies. `moment` is ISO 8601, UTC. `redacted` are ids of copies whose origin was redacted."""
    kept, refused, seen = list[PlacedFact](), list[tuple[str, str]](), set[str]()
    for found in offered:
        fact = pulled_fact(found.fact, _origin(org, found))
        if fact.status != ACTIVE or fact.id in redacted:
            continue
        known = here.get(fact.id)
        if reason := _refusal(fact, found, known, taken, seen):
            refused.append((fact.id, reason))
            continue
        seen.add(fact.id)
        # In this vault, and not at the origin.
        redacted_here = known and _is_marked(known.fact) and not _is_marked(found.fact)
        if known and redacted_here and _words(found.fact) != _words(known.fact):
            refused.append((fact.id, "it was redacted here"))
            continue
        fresh = _with_own_fields(fact, known.fact) if known else fact
        if known is None or fresh != known.fact:
            kept.append(PlacedFact(fresh, known.entity if known else pulled_entity(found.entity)))
    gone = tuple(
        PlacedFact(
            _retracted(placed.fact, REDACTED_THERE if name in redacted else WITHDRAWN_THERE, moment), placed.entity
        )
        for name, placed in sorted(here.items())
        if name not in seen and placed.fact.status != RETRACTED
    )
    return PullPlan(tuple(kept), gone, tuple(sorted(redacted)), tuple(refused))


def _refusal(
    fact: Fact, found: HubFact, known: PlacedFact | None, taken: Mapping[str, PlacedFact], seen: set[str]
) -> str:
    """Return why an offered fact is not taken, or an empty text."""
    if fact.id in taken:
        return f"this vault has another fact of that id in {taken[fact.id].entity}"
    origin = origin_of(known.fact) if known else None
    if fact.id in seen or (origin is not None and origin.vault != found.vault):
        return f"the vault {found.vault} has another fact of that id"
    secret = next((match for text in filter(None, (*_words(fact), *fact.tags)) if (match := find_secret(text))), None)
    return f"it contains what looks like a credential ({secret.rule})" if secret else ""


def _is_marked(fact: Fact) -> bool:
    return _REDACTED in (fact.metadata or {})


def _origin(org: str, found: HubFact) -> FactOrigin:
    return FactOrigin(org, found.vault, found.entity, found.scopes, found.author, found.commit, found.path, found.line)


def _with_own_fields(fact: Fact, known: Fact) -> Fact:
    """Return a fact as the organisation has it now, with what this vault knows about its copy."""
    marks = {key: value for key, value in (known.metadata or {}).items() if key == _REDACTED}
    own = {name: getattr(known, name) for name in _OWN_FIELDS}
    if known.status == ARCHIVED:
        own["status"] = ARCHIVED
    return fact._replace(**own, metadata={**(fact.metadata or {}), **marks})


def _retracted(fact: Fact, reason: str, moment: str) -> Fact:
    return fact._replace(
        status=RETRACTED, metadata={**(fact.metadata or {}), "retracted": {"at": moment, "reason": reason}}
    )


def _copies(index: Index) -> dict[str, PlacedFact]:
    return {placed.fact.id: placed for placed in all_facts(index) if origin_of(placed.fact) is not None}


def _org(fact: Fact) -> str | None:
    origin = origin_of(fact)
    return origin.org if origin else None


def _read(vault: Vault, here: Mapping[str, PlacedFact]) -> _Offered:
    """Return what the organisation offers, and the state of the copies, read in pages."""
    if (folder := organisation_folder(vault)) is not None:
        return _Offered(*facts_of_folder(vault, folder, list(here)))
    marks, pairs = own_marks(vault), _pairs(here.values())

    def first(connection: HubConnection) -> tuple[str, list[str], list[HubFact], set[tuple[str, str]]]:
        own = [own_vault.vault for own_vault in own_vaults(connection, marks)]
        org = identity(connection).org
        return org, own, shared_facts(connection, own, ("", ""), _PAGE), redacted_among(connection, pairs)

    org, own, page, redacted = ask_organisation(vault, first)
    facts = list(page)
    while len(page) == _PAGE:
        after = (page[-1].vault, page[-1].fact.id)
        page = ask_organisation(vault, partial(shared_facts, without=own, after=after, limit=_PAGE))
        facts += page
    known = {(hub_fact.vault, hub_fact.fact.id) for hub_fact in facts}
    others = [pair for pair in pairs if pair not in known]
    for start in range(0, len(others), _PAGE):
        facts += ask_organisation(vault, partial(named_facts, pairs=others[start : start + _PAGE]))
    return _Offered(org, tuple(facts), frozenset(redacted))


def _pairs(copies: Iterable[PlacedFact]) -> list[tuple[str, str]]:
    """Return the vaults and ids of the origins of copies."""
    return [(origin.vault, placed.fact.id) for placed in copies if (origin := origin_of(placed.fact)) is not None]


def _to_redact(here: Mapping[str, PlacedFact], offered: _Offered) -> frozenset[str]:
    """Return the copies whose words were redacted at the origin and not here yet."""
    known = [hub_fact.fact for hub_fact in offered.facts if hub_fact.fact.id in here]
    same = {fact.id for fact in known if _words(fact) == _words(here[fact.id].fact)}
    gone = {fact for _, fact in offered.redacted} - same
    return frozenset(
        name
        for name, placed in here.items()
        if name in gone and _org(placed.fact) == offered.org and not _is_marked(placed.fact)
    )


def _words(fact: Fact) -> tuple[str | None, ...]:
    return fact.fact, fact.subject, fact.object


def _taken(work: WriteScope, offered: _Offered) -> dict[str, PlacedFact]:
    known = by_ids(work.index, {hub_fact.fact.id for hub_fact in offered.facts})
    return {name: placed for name, placed in known.items() if _org(placed.fact) != offered.org}


def _commit(work: WriteScope, org: str, plan: PullPlan) -> str:
    """Write the copies, and make the entities that are new, in one commit."""
    by_entity: dict[str, dict[str, Fact]] = {}
    for placed in (*plan.kept, *plan.retracted):
        by_entity.setdefault(placed.entity, {})[placed.fact.id] = placed.fact
    writes: dict[str, bytes | None] = {}
    for entity, fresh in sorted(by_entity.items()):
        if work.read(items_path(entity)) is None:
            writes.update(new_entity_files(entity, work.caller, f"{title_of(entity)} ({org})"))
        known = work.facts(entity)
        ids = {fact.id for fact in known}
        facts = [fresh.get(fact.id, fact) for fact in known] + [fact for fact in fresh.values() if fact.id not in ids]
        writes[items_path(entity)] = render_items(facts)
    changed = [placed.fact for placed in (*plan.kept, *plan.retracted)]
    words = f"{len(plan.kept)} taken, {len(plan.retracted)} withdrawn"
    rows = trailers(
        PURPOSE,
        facts=[fact.id for fact in changed],
        entities=list(by_entity),
        agent=work.caller.agent,
        session=work.caller.session,
        sources=[fact.source for fact in changed],
    )
    change = Change(subject_line(PURPOSE, org, words), writes, rows, author=agent_author(work.caller.agent))
    return work.commit([change])[-1]
