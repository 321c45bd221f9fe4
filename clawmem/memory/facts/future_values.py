"""Future values: a fact that was announced for a day replaces the current fact when that day has come."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from clawmem.index.search.lookup import PlacedFact, by_ids, facts_containing
from clawmem.memory.scope import WriteScope, items_write
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.validity import PENDING_SUCCESSION
from clawmem.model.language.dates import sortable, stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.chain import announced_successor, ending_later, reopened, succeed
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.vault import Vault


class FutureValuesResult(NamedTuple):
    """The announced facts that took effect, the facts that stay valid after a withdrawn announcement, the commit."""

    effective: tuple[Fact, ...] = ()
    reopened: tuple[Fact, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def apply_future_values(vault: Vault, caller: Caller, dry_run: bool = False) -> FutureValuesResult:
    """Supersede the facts whose announced replacement is now valid, in one commit.

    If the replacement was withdrawn, the end date of the old fact is removed."""
    with writing(vault, caller, "settle", dry_run=dry_run) as work:
        planner = _FutureValuePlanner(work)
        for other_placed in sorted(
            facts_containing(work.index, f'"{PENDING_SUCCESSION}"'), key=lambda placed: placed.fact.valid_to or ""
        ):
            planner.plan(other_placed)
        if dry_run or not any(planner.changed.values()):
            return FutureValuesResult(tuple(planner.effective.values()), tuple(planner.reopened), notices=work.notices)
        commit = work.commit([planner.change()])[-1]
        return FutureValuesResult(tuple(planner.effective.values()), tuple(planner.reopened), commit, work.notices)


class _FutureValuePlanner:
    """The changed facts, planned one by one."""

    def __init__(self, work: WriteScope) -> None:
        self._work = work
        self._now = stamp(work.caller.now)
        self.effective: dict[str, Fact] = {}
        self.reopened: list[Fact] = []
        self.changed: dict[str, dict[str, Fact]] = defaultdict(dict)

    def plan(self, old: PlacedFact) -> None:
        """Plan one fact that has an announced replacement. Call this in the order of the end dates."""
        old = self._latest(old)
        found = announced_successor(old.fact)
        if found is None or not old.fact.is_current or not self._work.is_readable(old.entity):
            return
        named, why = found
        new = self._coming(named)
        if new is None:
            self.reopened.append(reopened(old.fact))
            self._put(self.reopened[-1], old.entity)
        elif not self._work.is_readable(new.entity):
            return
        elif self._begins(new.fact) <= self._now:
            succession = succeed(new.fact, [old.fact], "supersedes", why, self._now, self._now)
            self.effective[succession.new.id] = succession.new
            self._put(succession.new, new.entity)
            self._put(succession.closed[0], old.entity)
        elif new.fact.id != named:
            self._put(ending_later(old.fact, new.fact.id, self._begins(new.fact), why), old.entity)

    def _coming(self, named: str) -> PlacedFact | None:
        """Return the announced fact, or the fact that replaced it; None if the announcement was withdrawn."""
        placed = self._fact(named)
        if placed is None or placed.fact.is_current:
            return placed
        instead = placed.fact.superseded_by or (announced_successor(placed.fact) or (None,))[0]
        later = self._fact(instead) if instead else None
        return later if later and later.fact.is_current and self._begins(later.fact) > self._now else None

    def _fact(self, fact_id: str) -> PlacedFact | None:
        found = by_ids(self._work.index, [fact_id]).get(fact_id)
        return self._latest(found) if found else None

    def _latest(self, placed: PlacedFact) -> PlacedFact:
        return PlacedFact(self.changed[placed.entity].get(placed.fact.id, placed.fact), placed.entity)

    def _begins(self, fact: Fact) -> str:
        return sortable(fact.valid_from) or self._now

    def _put(self, fact: Fact, entity: str) -> None:
        self.changed[entity][fact.id] = fact

    def _changed_entities(self) -> list[tuple[str, dict[str, Fact]]]:
        return [(entity, facts_by_id) for entity, facts_by_id in self.changed.items() if facts_by_id]

    def change(self) -> Change:
        """Return all planned facts as one change."""
        writes: dict[str, bytes | None] = {}
        for entity, facts_by_id in self._changed_entities():
            writes.update(items_write(entity, [facts_by_id.get(fact.id, fact) for fact in self._work.facts(entity)]))
        facts = [fact for _, facts_by_id in self._changed_entities() for fact in facts_by_id.values()]
        words = ", ".join(
            [f"{counted(len(self.effective), 'fact')} announced earlier took effect"] * bool(self.effective)
            + [f"{counted(len(self.reopened), 'fact')} kept, as the announced fact was withdrawn"] * bool(self.reopened)
        )
        rows = trailers(
            "settle",
            facts=[fact.id for fact in facts],
            entities=sorted(entity for entity, _ in self._changed_entities()),
            supersedes=[fact.id for fact in facts if fact.superseded_by],
        )
        body = "\n".join(f"- {fact.fact}" for fact in (*self.effective.values(), *self.reopened))
        return Change(subject_line("settle", "facts", words or "a later day is announced"), writes, rows, body=body)
