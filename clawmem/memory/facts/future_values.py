"""What was announced for a day takes the place of what held until then once that day has come, in one commit."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from clawmem.index.search.lookup import PlacedFact, by_ids, holding
from clawmem.memory.writing import WriteScope, items_write, writing
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import sortable, stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.succession import PENDING_SUCCESSION, announced_successor, ending_later, reopened, succeed
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.vault import Vault


class FutureValuesResult(NamedTuple):
    """The facts that took their place, those that stand on because what was announced is off, the commit, asides."""

    begun: tuple[Fact, ...] = ()
    kept: tuple[Fact, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def settle_announced(vault: Vault, caller: Caller, dry_run: bool = False) -> FutureValuesResult:
    """Supersede what something announced has begun to replace; take the end off what it will not replace any more."""
    with writing(vault, caller, "settle", dry_run=dry_run) as work:
        desk = _FutureValuePlanner(work)
        for one in sorted(holding(work.index, f'"{PENDING_SUCCESSION}"'), key=lambda one: one.fact.valid_to or ""):
            desk.settle(one)
        if dry_run or not any(desk.changed.values()):
            return FutureValuesResult(tuple(desk.begun.values()), tuple(desk.kept), notices=work.notices)
        commit = work.commit([desk.change()])[-1]
        return FutureValuesResult(tuple(desk.begun.values()), tuple(desk.kept), commit, work.notices)


class _FutureValuePlanner:
    """The facts as they are settled one by one."""

    def __init__(self, work: WriteScope) -> None:
        self._work = work
        self._now = stamp(work.caller.now)
        self.begun: dict[str, Fact] = {}
        self.kept: list[Fact] = []
        self.changed: dict[str, dict[str, Fact]] = defaultdict(dict)

    def settle(self, old: PlacedFact) -> None:
        """Decide about one fact that is marked; those that end earlier come first."""
        old = self._latest(old)
        found = announced_successor(old.fact)
        if found is None or not old.fact.stands or not self._work.is_whole(old.entity):
            return
        named, why = found
        new = self._coming(named)
        if new is None:
            self.kept.append(reopened(old.fact))
            self._put(self.kept[-1], old.entity)
        elif not self._work.is_whole(new.entity):
            return
        elif self._begins(new.fact) <= self._now:
            done = succeed(new.fact, [old.fact], "supersedes", why, self._now, self._now)
            self.begun[done.new.id] = done.new
            self._put(done.new, new.entity)
            self._put(done.closed[0], old.entity)
        elif new.fact.id != named:
            self._put(ending_later(old.fact, new.fact.id, self._begins(new.fact), why), old.entity)

    def _coming(self, named: str) -> PlacedFact | None:
        """What was announced, or what is announced in its place by now; None where that is off."""
        one = self._fact(named)
        if one is None or one.fact.stands:
            return one
        instead = one.fact.superseded_by or (announced_successor(one.fact) or (None,))[0]
        later = self._fact(instead) if instead else None
        return later if later and later.fact.stands and self._begins(later.fact) > self._now else None

    def _fact(self, fact_id: str) -> PlacedFact | None:
        found = by_ids(self._work.index, [fact_id]).get(fact_id)
        return self._latest(found) if found else None

    def _latest(self, one: PlacedFact) -> PlacedFact:
        return PlacedFact(self.changed[one.entity].get(one.fact.id, one.fact), one.entity)

    def _begins(self, fact: Fact) -> str:
        return sortable(fact.valid_from) or self._now

    def _put(self, fact: Fact, entity: str) -> None:
        self.changed[entity][fact.id] = fact

    def _shelves(self) -> list[tuple[str, dict[str, Fact]]]:
        return [(entity, shelf) for entity, shelf in self.changed.items() if shelf]

    def change(self) -> Change:
        """All of it as one change."""
        writes: dict[str, bytes | None] = {}
        for entity, shelf in self._shelves():
            writes.update(items_write(entity, [shelf.get(one.id, one) for one in self._work.facts(entity)]))
        facts = [fact for _, shelf in self._shelves() for fact in shelf.values()]
        words = ", ".join(
            [f"{counted(len(self.begun), 'fact')} announced before took effect"] * bool(self.begun)
            + [f"{counted(len(self.kept), 'fact')} kept, as what was announced is off"] * bool(self.kept)
        )
        said = trailers(
            "settle",
            facts=[one.id for one in facts],
            entities=sorted(entity for entity, _ in self._shelves()),
            supersedes=[one.id for one in facts if one.superseded_by],
        )
        body = "\n".join(f"- {one.fact}" for one in (*self.begun.values(), *self.kept))
        return Change(subject_line("settle", "facts", words or "a later day is announced"), writes, said, body=body)
