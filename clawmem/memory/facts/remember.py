"""Remember: drafts become facts, one commit each; what is known already is reinforced and not repeated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import ClawmemError, SecretFound
from clawmem.index.search.lookup import TakenIds, entity_exists
from clawmem.memory.entities.places import new_entity_files, place_of
from clawmem.memory.permission import check_own_word
from clawmem.memory.writing import WriteScope, fact_change, writing
from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.draft import Draft
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.ids import new_fact_id
from clawmem.model.facts.trust import is_low_trust, statement_trust
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import as_one_file, normal
from clawmem.model.lifecycle.reinforce import changed_fields, ignored_fields, reinforce
from clawmem.model.proposals.quarantine import without_approval
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.entity import items_path
from clawmem.model.safety.secrets.find import find_secret, redact
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.memory.review.quarantine import ProposalWriter

CHUNK = 2000
SHOWN = 20


class RememberedFact(NamedTuple):
    """One draft's fate: the fact that now holds it, its entity, and `added`, `noop`, `updated` where the fact was known
    and has more to it now, or `proposed` where it waits for a person; the fact then goes by the id of its proposal."""

    fact: Fact
    entity: str
    outcome: str


class RememberResult(NamedTuple):
    """What became of each draft, in order; the last commit (None where nothing changed); asides; and, where a
    large batch stopped half way, the failure that stopped it: `kept` then ends where it struck."""

    kept: tuple[RememberedFact, ...]
    commit: str | None
    notices: tuple[str, ...] = ()
    failed: ClawmemError | None = None


def remember(vault: Vault, drafts: Sequence[Draft], caller: Caller) -> RememberResult:
    """Keep the drafts, one commit each. Raises SecretFound before anything is written."""
    safe = [without_secrets(vault, draft) for draft in drafts]
    with writing(vault, caller, "remember", eager=len(drafts) == 1) as work:
        desk = _BatchPlanner(work)
        kept: list[RememberedFact] = []
        commits: tuple[str, ...] = ()
        failed = None
        for start in range(0, len(safe), CHUNK):
            try:
                planned = [desk.take(draft) for draft in safe[start : start + CHUNK]]
                commits = work.commit([change for _, change in planned if change is not None]) or commits
            except ClawmemError as problem:
                if not commits:
                    raise
                failed = problem
                break
            kept += [one for one, _ in planned]
        notices = (*work.notices, *_left_out(drafts), *_first(desk.notices))
        return RememberResult(tuple(kept), commits[-1] if commits else None, notices, failed)


def _left_out(drafts: Sequence[Draft]) -> list[str]:
    keys = sorted({key for draft in drafts for key in draft.left_out})
    return [f"not taken over, as the vault gives them itself: {', '.join(keys)}"] if keys else []


def _first(notices: Sequence[str]) -> Sequence[str]:
    more = len(notices) - SHOWN
    return [*notices[:SHOWN], f"and {more} more like these"] if more > 0 else notices


def without_secrets(vault: Vault, draft: Draft) -> Draft:
    """The draft itself, or a redacted one where the settings say so; SecretFound where they refuse."""
    match = find_secret(fact_to_line(draft.fact))
    if match is None:
        return draft
    if vault.settings.words("secrets.action") != "redact":
        raise SecretFound(match.rule, "The fact")
    fact = draft.fact
    return draft._replace(
        fact=fact._replace(
            fact=redact(fact.fact),
            object=redact(fact.object) if fact.object else fact.object,
            source_text=None,
            source_span=None,
            details=None if fact.details and find_secret(str(fact.details)) else fact.details,
            metadata=None if fact.metadata and find_secret(str(fact.metadata)) else fact.metadata,
        )
    )


class _EntityBatch:
    """One entity while drafts are put on it: rendered lines beside the facts, so that a batch stays linear."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = list(facts)
        self.lines = [fact_to_line(fact) for fact in self.facts]
        self.places = {normal(fact.fact): place for place, fact in enumerate(self.facts) if fact.stands}

    def put(self, fact: Fact, place: int | None = None) -> None:
        """Add a fact, or replace the one at a place."""
        if place is None:
            self.places[normal(fact.fact)] = len(self.facts)
            self.facts.append(fact)
            self.lines.append(fact_to_line(fact))
        else:
            self.facts[place] = fact
            self.lines[place] = fact_to_line(fact)

    def render(self) -> bytes:
        """The shelf as `items.json`."""
        return ("[\n" + ",\n".join(self.lines) + "\n]\n").encode()


class _BatchPlanner:
    """Plans drafts one after the other, each on top of what the earlier ones will have changed."""

    def __init__(self, work: WriteScope) -> None:
        self._work = work
        self._taken = TakenIds(work.index)
        self._shelves: dict[str, _EntityBatch] = {}
        self._default = work.vault.settings.words("defaults.entity")
        self._drawer: ProposalWriter | None = None
        self.notices: list[str] = []

    def take(self, draft: Draft) -> tuple[RememberedFact, Change | None]:
        """The draft's fate and the change that brings it about, None where nothing changes."""
        work = self._work
        check_own_word(work.caller, draft.fact.agent)
        entity = place_of(work.index, draft, work.caller, self._default)
        writes: dict[str, bytes | None] = {}
        if entity not in self._shelves:
            entity = next((one for one in self._shelves if as_one_file(one) == as_one_file(entity)), entity)
        if entity not in self._shelves:
            if not entity_exists(work.index, entity):
                writes.update(new_entity_files(entity, work.caller))
            self._shelves[entity] = _EntityBatch(work.facts(entity))
        shelf = self._shelves[entity]
        place = shelf.places.get(normal(draft.fact.fact))
        said = self._pointed(without_approval(draft.fact))
        if place is not None:
            return self._again(shelf, place, said, entity)
        fact = completed(said, work.caller, self._new_id())
        waiting = self._held(fact, entity) if fact.trust != "user" else None
        if waiting is not None:
            return waiting
        shelf.put(fact)
        writes[items_path(entity)] = shelf.render()
        return RememberedFact(fact, entity, "added"), fact_change(
            work.caller, "remember", entity, fact.fact, writes, [fact]
        )

    def _pointed(self, fact: Fact) -> Fact:
        """The fact with what it points at looked up; most point at nothing."""
        if not (fact.source_event or fact.links or fact.related_entities):
            return fact
        from clawmem.memory.facts.references import pointed  # reads ledgers

        fact, notices = pointed(self._work, fact, self._shelves)
        self.notices += notices
        return fact

    def _again(self, shelf: _EntityBatch, place: int, said: Fact, entity: str) -> tuple[RememberedFact, Change | None]:
        known = shelf.facts[place]
        richer = reinforce(known, said)
        if is_low_trust(statement_trust(said.trust, said.source, self._work.caller.agent)) and not is_low_trust(
            known.trust
        ):
            # The word of an outsider adds nothing to what a person or an agent said.
            richer = known
        more, other = changed_fields(known, richer), ignored_fields(said, richer)
        self.notices += [f"{known.id} was known, and has now: {', '.join(more)}"] if more else []
        self.notices += [f"{known.id} was known, and does not take over: {', '.join(other)}"] if other else []
        if richer == known:
            return RememberedFact(known, entity, "noop"), None
        shelf.put(richer, place)
        writes: dict[str, bytes | None] = {items_path(entity): shelf.render()}
        words = f"{richer.fact} (now: {', '.join(more)})" if more else richer.fact
        change = fact_change(self._work.caller, "reinforce", entity, words, writes, [richer])
        return RememberedFact(richer, entity, "updated" if more else "noop"), change

    def _held(self, fact: Fact, entity: str) -> tuple[RememberedFact, Change | None] | None:
        """A fact that waits for a person, with its proposal; None where it need not."""
        from clawmem.memory.review.quarantine import (  # what a person says never gets here
            ProposalWriter,
            held,
            shown_as,
        )

        because = held(fact)
        if because is None:
            return None
        self._drawer = self._drawer or ProposalWriter(self._work)
        filed = self._drawer.file(fact, entity, because)
        self.notices += [filed.notice] if filed.notice else []
        return RememberedFact(shown_as(filed.proposal, fact), entity, "proposed"), filed.change

    def _new_id(self) -> str:
        fact_id = new_fact_id(self._work.caller.entropy, self._taken)
        self._taken.add(fact_id)
        return fact_id


def completed(fact: Fact, caller: Caller, fact_id: str) -> Fact:
    """A draft's fact with its identity: id, time, author, trust and source where none was given."""
    return fact._replace(
        id=fact_id,
        timestamp=stamp(caller.now),
        source=fact.source if fact.source != "unknown" else ("agent" if caller.agent else "user"),
        agent=fact.agent or caller.agent,
        trust=statement_trust(fact.trust, fact.source, caller.agent),
    )
