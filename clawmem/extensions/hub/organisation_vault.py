"""A vault in a folder as the organisation: what it has, and what another vault shares there.

The folder is read and written like any vault, by the person who asks, and all of it within `org.timeout_seconds`.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from clawmem.errors import (
    ClawmemError,
    ConflictMarkers,
    IncompleteAnswer,
    InvalidInput,
    Locked,
    NoVault,
    OrganisationUnavailable,
    Refused,
    StorageFailed,
    Unreadable,
)
from clawmem.extensions.hub.contract import checked_line
from clawmem.extensions.hub.contract_export import first_commits, line_of_fact, publish
from clawmem.extensions.hub.contract_plan import REFUSED, WAITS
from clawmem.extensions.hub.postgres.connect import in_time
from clawmem.extensions.hub.postgres.organisation import HubIdentity
from clawmem.extensions.hub.postgres.search import HubFact, HubHit
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import (
    PlacedFact,
    by_ids,
    entity_names,
    fact_counts,
    facts_containing,
    facts_of,
    items_of,
)
from clawmem.index.tables.rights import marks_of
from clawmem.index.tables.store import Index
from clawmem.memory.facts.revise import retract
from clawmem.memory.proposals import read_proposals
from clawmem.memory.quarantine import QuarantineReason
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import ACTIVE, RETRACTED, Fact
from clawmem.model.facts.pulled import holds_copies, origin_of, published_values
from clawmem.model.facts.reach import ORGANISATION
from clawmem.model.proposals.proposal import OPEN
from clawmem.model.proposals.quarantine import reviewer_needed
from clawmem.model.proposals.routes import RoutedItem, is_named, kind_in, last_match, read_routes
from clawmem.model.records.access import narrowest
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import is_candidate_place, items_path, owner_of, slug
from clawmem.model.records.event import MARK
from clawmem.model.settings.settings import DEFAULTS, FILE
from clawmem.vault.edits.adoption import UNNAMED, user_identity
from clawmem.vault.vault import Vault

PENDING, APPROVED = "pending", "approved"
PROMOTED_FROM = "promoted_from"
"""The key of a published line that says which fact of which vault was promoted."""

_KIND = "bridge"
_NOT_WHERE = ("workflow", "scope", "project", "superseded_by")
_HUBS = ("postgresql://", "postgres://")
_REMOTE = re.compile(r"(?:[^/=@:\s]+@)?[^/=@:\s]+:[^/=]")
_ID = re.compile(rb'\{"id": "([^"]+)"')
_ENTITIES = 200
_CLONE = "Clone it, and connect the folder of the clone; `clawmem sync` there exchanges it with its remote."
Answer = TypeVar("Answer")


class FoundFacts(NamedTuple):
    """The facts that a vault has for a question, best first, each with its score and that of its channels, and the
    notices of the search."""

    facts: tuple[tuple[PlacedFact, float, Mapping[str, float]], ...]
    notices: tuple[str, ...] = ()


FactSearch = Callable[[Vault, Index, Caller, str, int], FoundFacts]
"""Finds facts in the index of a vault, for a caller and a question, at most so many."""


class SharedFact(NamedTuple):
    """A fact that another vault promoted to this one.

    `id` is that of the fact or proposal here, `fact` that of the fact there, which was recorded at `recorded`. `status`
    is pending, approved or the status of a fact that ended."""

    id: str
    fact: str
    recorded: str
    status: str

    @property
    def is_open(self) -> bool:
        """Return whether the fact is shared, or waits for that."""
        return self.status in (PENDING, APPROVED)

    def is_of(self, fact: Fact) -> bool:
        """Return whether it is this fact of the other vault."""
        return (self.fact, self.recorded) == (fact.id, fact.timestamp) and origin_of(fact) is None


class FolderStatus(NamedTuple):
    """Who asks, how many active facts the vault has for the organisation, how many were promoted from other vaults,
    and all that other vaults promoted."""

    who: HubIdentity
    readable: int
    promoted: int
    shared: tuple[SharedFact, ...]


def named_folder(text: str, resolved: Callable[[str], Path]) -> Path | None:
    """Return the folder that an address of an organisation names, or None if it is that of a hub.

    Raise InvalidInput for a remote that git reaches through a network."""
    plain = text.removeprefix("file://")
    if plain.startswith(("/", ".", "~")):
        return resolved(plain)
    if text == "-" or text.startswith(_HUBS) or "=" in text:
        return None
    if "://" in text or _REMOTE.match(text):
        raise InvalidInput(
            "The address is neither a hub's nor a folder; a git remote behind a network cannot be asked. Nothing was"
            " stored.",
            f"Write postgresql://HOST/DATABASE for a hub. For a git remote: {_CLONE[:1].lower()}{_CLONE[1:]}",
        )
    return resolved(text)


def ask_folder(vault: Vault, folder: Path, work: Callable[[Vault], Answer], seconds: float | None = None) -> Answer:
    """Return what `work` makes of the vault in a folder, within `org.timeout_seconds` of the asking vault or `seconds`.

    A share that hangs cannot exceed the limit, because another thread waits for it. Raise OrganisationUnavailable if
    the folder is no vault, cannot be read or written, is locked, is of a newer format, or does not answer in time, and
    Refused if it is the asking vault."""
    if folder in (vault.root, vault.root.resolve()):
        raise Refused("A vault cannot be its own organisation.", "Name the folder of another vault.")
    limit = vault.settings.number("org.timeout_seconds") if seconds is None else seconds
    late = OrganisationUnavailable(
        f"The organisation's vault {folder} did not answer in time.",
        "Ask again: a promotion may be complete by then. Or allow more time with `org.timeout_seconds`."
        " `org connect` builds the index there without a limit.",
    )

    def run() -> Answer:
        try:
            return work(_opened(vault, folder, limit))
        except (Locked, NoVault, Unreadable, ConflictMarkers, StorageFailed, OSError) as problem:
            raise _unavailable(folder, problem) from problem

    return in_time(run, limit, lambda: late)


def vault_label(vault: Vault) -> str:
    """Return what a vault is called: its `vault.name`, or the name of its folder if it has the default name."""
    name = vault.settings.words("vault.name")
    return vault.root.name if name == DEFAULTS.words("vault.name") else name


def check_folder(vault: Vault, folder: Path) -> HubIdentity:
    """Return who asks the vault in a folder, and build its index if there is none. Raise like `ask_folder`, and
    InvalidInput for a bare repository."""
    if folder.is_dir() and not (folder / ".git").exists() and (folder / "HEAD").is_file():
        raise InvalidInput(f"{folder} is a bare repository, which has no work tree.", _CLONE)
    who = ask_folder(vault, folder, _identity)
    ask_folder(vault, folder, lambda there: run_query(there, fact_counts), threading.TIMEOUT_MAX)
    return who


def folder_status(vault: Vault, folder: Path) -> FolderStatus:
    """Return the state of the vault in a folder. Raise like `ask_folder`."""

    def read(there: Vault) -> FolderStatus:
        counts = run_query(there, fact_counts)
        readable = sum(count.get(ACTIVE, 0) for entity, count in counts.items() if _is_shared_place(entity))
        shared = _shared(there)
        return FolderStatus(_identity(there), readable, sum(fact.status == APPROVED for fact in shared), shared)

    return ask_folder(vault, folder, read)


def own_shared(vault: Vault, shared: Iterable[SharedFact]) -> list[tuple[SharedFact, Fact]]:
    """Return those facts that this vault promoted, each with the fact here as it is now."""
    every = list(shared)
    known = run_query(vault, lambda index: by_ids(index, {shared_fact.fact for shared_fact in every}))
    return [
        (shared_fact, known[shared_fact.fact].fact)
        for shared_fact in every
        if shared_fact.fact in known and shared_fact.is_of(known[shared_fact.fact].fact)
    ]


def search_folder(
    vault: Vault, folder: Path, caller: Caller, question: str, limit: int, search: FactSearch
) -> tuple[str, list[HubHit], tuple[str, ...]]:
    """Return the short name of the organisation, its best facts for a question, and what could not be searched."""

    def work(there: Vault) -> tuple[str, list[HubHit], tuple[str, ...]]:
        def read(index: Index) -> FoundFacts:
            found = search(there, index, caller, question, 2 * limit)
            return found._replace(facts=tuple(fact for fact in found.facts if _is_shared_place(fact[0].entity))[:limit])

        found = run_query(there, read)
        facts = _with_origin(there, [fact[0] for fact in found.facts])
        hits = [HubHit(fact, score, parts) for fact, (_, score, parts) in zip(facts, found.facts, strict=True)]
        return _org(there), hits, tuple(notice for notice in found.notices if isinstance(notice, IncompleteAnswer))

    return ask_folder(vault, folder, work)


def own_among(vault: Vault, hits: Sequence[HubHit]) -> frozenset[str]:
    """Return the ids at the organisation of the found facts that this vault promoted."""
    shared = [one for hit in hits if (one := _shared_fact(hit.found.fact, hit.found.fact.id)) is not None]
    return frozenset(fact.id for fact, _ in own_shared(vault, shared))


def promote_to_folder(
    vault: Vault, folder: Path, caller: Caller, placed: PlacedFact, scope: str
) -> tuple[str, str, bool]:
    """Write a fact of this vault to the organisation's, in one commit, or file it for review there.

    Return the id of the fact or the proposal there, its status, and whether it is new. Raise Refused if it was
    withdrawn or rejected there, or cannot be stored, and InvalidInput for a scope that a vault does not have."""
    if scope != ORGANISATION:
        raise InvalidInput(
            f"An organisation that is a vault has no scope '{scope}'.", f"Leave out --scope, or give {ORGANISATION}."
        )
    fact, values = placed.fact, _line(vault, placed)
    label = vault_label(vault)

    def work(there: Vault) -> tuple[str, str, bool]:
        if (known := _known(there, fact)) is not None:
            return known
        asks = partial(_review_reason, label)
        (published,) = publish(there, [checked_line(1, values)], caller, fact.trust or "user", asks)
        (answer,) = published.answers
        if answer.outcome == REFUSED or answer.id is None:
            raise Refused(f"The organisation refused {fact.id}: {answer.reason}", "Nothing was changed there.")
        if answer.outcome == WAITS:
            return answer.id, PENDING, True
        number, status, _ = _known(there, fact) or (answer.id, APPROVED, False)
        return number, status, published.commit is not None

    return ask_folder(vault, folder, work)


def withdraw_from_folder(
    vault: Vault, folder: Path, caller: Caller, facts: Sequence[Fact], reason: str | None
) -> tuple[str, ...]:
    """Retract facts of this vault in the organisation's, each in one commit. Return the ids here of those retracted.

    Raise Refused for one fact that waits for review there."""

    def work(there: Vault) -> tuple[str, ...]:
        shared = [(other_fact, fact) for other_fact in _shared(there) for fact in facts if other_fact.is_of(fact)]
        items = [
            fact.id
            for other_fact, fact in shared
            if other_fact.status == APPROVED and RETRACTED in retract(there, other_fact.id, caller, reason).outcome
        ]
        waiting = [fact.id for fact, _ in shared if fact.status == PENDING]
        if waiting and not items and len(facts) == 1:
            raise Refused(
                f"{facts[0].id} waits for review there, as {waiting[0]}.",
                f"A reviewer rejects it: `clawmem --vault {folder} review reject {waiting[0]} --reason WHY`.",
            )
        return tuple(items)

    return ask_folder(vault, folder, work)


def facts_of_folder(
    vault: Vault, folder: Path, copies: Sequence[str]
) -> tuple[str, tuple[HubFact, ...], frozenset[tuple[str, str]]]:
    """Return the short name of the organisation, its active facts without those that this vault promoted, the present
    state of those whose `copies` are here, by id, and which of these were redacted. They are read in parts."""

    def first(there: Vault) -> tuple[str, list[str]]:
        return _org(there), [text for text in run_query(there, entity_names) if _is_shared_place(text)]

    org, names = ask_folder(vault, folder, first)
    wanted = frozenset(copies)
    found: list[HubFact] = []
    for start in range(0, len(names), _ENTITIES):
        found += ask_folder(vault, folder, partial(_facts_in, names=names[start : start + _ENTITIES], wanted=wanted))
    own = own_among(vault, [HubHit(fact, 0.0, {}) for fact in found])
    kept = tuple(hub_fact for hub_fact in found if hub_fact.fact.id not in own)
    redacted = {(hub_fact.vault, hub_fact.fact.id) for hub_fact in kept if "redacted" in (hub_fact.fact.metadata or {})}
    return org, kept, frozenset(redacted)


def _facts_in(there: Vault, names: Sequence[str], wanted: frozenset[str]) -> list[HubFact]:
    def read(index: Index) -> list[PlacedFact]:
        return [
            placed
            for name in names
            for placed in facts_of(index, name)
            if placed.fact.status == ACTIVE or placed.fact.id in wanted
        ]

    return _with_origin(there, run_query(there, read))


def _opened(vault: Vault, folder: Path, limit: float) -> Vault:
    """Return the vault in a folder, which waits for its lock no longer than half of the limit."""
    try:
        if not folder.is_dir():
            raise NoVault(f"There is no folder {folder}.")
        if not (folder / FILE).is_file():
            raise NoVault(f"{folder} has no {FILE}, so it is no vault.")
        there = Vault(folder, vault.environment)
        there.viewer = vault.viewer  # what the policy there lets them see
        if there.vault_settings.unread is not None:
            raise there.vault_settings.unread
        if there.head().commit is None:
            raise NoVault(f"{folder} has no commit.")
    except (ClawmemError, OSError) as problem:
        raise _unavailable(folder, problem) from problem
    wait = min(there.settings.number("lock.wait_seconds"), limit / 2)
    there.settings = there.settings._replace(values={**there.settings.values, "lock.wait_seconds": wait})
    return there


def _unavailable(folder: Path, problem: ClawmemError | OSError) -> OrganisationUnavailable:
    text = problem.message if isinstance(problem, ClawmemError) else f"{problem.strerror or problem}."
    hint = problem.hint if isinstance(problem, ClawmemError) and not isinstance(problem, Locked) else ""
    return OrganisationUnavailable(
        f"The organisation's vault {folder} cannot be used: {text}", hint or "Local verbs work without it."
    )


def _org(there: Vault) -> str:
    return slug(vault_label(there)) or ORGANISATION


def _identity(there: Vault) -> HubIdentity:
    who = user_identity(there)
    may = ("read", "promote") if os.access(there.git_dir, os.W_OK) else ("read",)
    name = who.name if who == UNNAMED else f"{who.name} <{who.email}>"
    review = bool(read_routes(there.settings.words("review.routes")))
    return HubIdentity(name, _org(there), vault_label(there), review, {ORGANISATION: may})


def _is_shared_place(entity: str) -> bool:
    """Return whether facts of an entity are for the organisation: no agent's own, no candidates, no copies."""
    return owner_of(entity) is None and not is_candidate_place(entity) and not holds_copies(entity)


def _line(vault: Vault, placed: PlacedFact) -> dict[str, Any]:
    """Return the line of a fact that is promoted: for the whole organisation, with its origin."""
    values = line_of_fact(vault, placed)
    origin = {
        "vault": vault_label(vault),
        "fact": placed.fact.id,
        "recorded": placed.fact.timestamp,
        "entity": placed.entity,
        "commit": vault.head().commit,
    }
    return {**{key: value for key, value in values.items() if key not in _NOT_WHERE}, PROMOTED_FROM: origin}


def _review_reason(label: str, work: WriteScope, fact: Fact, entity: str) -> QuarantineReason | None:
    """Return why a person decides about a promoted fact first, or None.

    So it is if the last route that matches names other people, or the kind of promotions without a name. Without a
    route, it is so for what a reviewer is needed for: nobody knows who reads the folder."""
    routes = read_routes(work.vault.settings.words("review.routes"))
    place = last_match(routes, RoutedItem(_KIND, entity))
    if place is None:
        needed = reviewer_needed(fact)
        return QuarantineReason(_KIND, f"It was promoted from the vault {label}, and {needed}.") if needed else None
    route, who = routes[place], user_identity(work.vault)
    if route.reviewers and work.caller.agent is None and is_named(route.reviewers, who.name, who.email):
        return None
    if not route.reviewers and kind_in(route.pattern) != _KIND:
        return None
    return QuarantineReason(_KIND, f"It was promoted from the vault {label}, and `review.routes` says who decides.")


def _known(there: Vault, fact: Fact) -> tuple[str, str, bool] | None:
    """Return the id and the status of a fact that was promoted before. Raise Refused if it was withdrawn since."""
    found = [other_fact for other_fact in _shared(there) if other_fact.is_of(fact)]
    for status in (APPROVED, PENDING):
        for other_fact in found:
            if other_fact.status == status:
                return other_fact.id, status, False
    if found:
        raise Refused(
            f"{fact.id} was {found[-1].status} there before, as {found[-1].id}.",
            "State it again as a new fact, and promote that.",
        )
    return None


def _shared(there: Vault) -> tuple[SharedFact, ...]:
    """Return what other vaults promoted to a vault: facts, and proposals that are open or were rejected."""
    placed = run_query(there, lambda index: facts_containing(index, f'"{PROMOTED_FROM}"'))
    found = [_shared_fact(each.fact, each.fact.id) for each in placed if _is_shared_place(each.entity)]
    found += [
        _shared_fact(proposal.fact, proposal.id, PENDING if proposal.status == OPEN else proposal.status)
        for proposal in read_proposals(there).proposals
        if proposal.fact is not None and proposal.status != APPROVED
    ]
    return tuple(fact for fact in found if fact is not None)


def _shared_fact(fact: Fact, name: str, status: str | None = None) -> SharedFact | None:
    record = published_values(fact).get(PROMOTED_FROM)
    if not isinstance(record, Mapping):
        return None
    state = status or (APPROVED if fact.is_current else fact.status)
    return SharedFact(name, str(record.get("fact")), str(record.get("recorded")), state)


def _with_origin(there: Vault, placed: Sequence[PlacedFact]) -> list[HubFact]:
    """Return facts with their vault, author, commit, file and line. A promoted fact has the vault and the author of its
    origin; for others it is the first commit that names them."""
    if not placed:
        return []
    recorded = first_commits(there, {other_placed.fact.id for other_placed in placed})
    lines = run_query(there, lambda index: _line_numbers(index, {other_placed.entity for other_placed in placed}))
    marked = run_query(there, lambda index: {each.fact.id: _with_mark(index, each.fact) for each in placed})
    label, head = vault_label(there), there.head().commit or ""
    found = []
    for entity, fact in ((other_placed.entity, marked[other_placed.fact.id]) for other_placed in placed):
        commit, author = recorded.get(fact.id, (head, UNNAMED.name))
        own = published_values(fact)
        origin = own.get(PROMOTED_FROM)
        vault = str(origin.get("vault", label)) if isinstance(origin, Mapping) else label
        found.append(
            HubFact(
                vault,
                entity,
                (ORGANISATION,),
                str(own.get("author", author)),
                fact.source,
                commit,
                items_path(entity),
                lines.get(fact.id, 1),
                fact,
            )
        )
    return found


def _with_mark(index: Index, fact: Fact) -> Fact:
    """Return a fact with its mark and that of its message as its own, by which a copy of it is marked."""
    marks = marks_of(index, fact.id, fact.source_event or "")
    return fact._replace(metadata={**(fact.metadata or {}), MARK: narrowest(marks)}) if marks else fact


def _line_numbers(index: Index, entities: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for entity in entities:
        for number, line in enumerate(items_of(index, entity).split(b"\n"), 1):
            if match := _ID.match(line):
                found[match[1].decode()] = number
    return found
