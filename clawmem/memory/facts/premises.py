"""Correct the record of changed premises in the whole vault, and archive deprecated facts after their last day.

A fact that was announced for a day replaces the current fact when that day has come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids, facts_containing
from clawmem.index.search.replaced import facts_with_premises
from clawmem.index.tables.store import Index
from clawmem.memory.facts.premise_records import MOST_SHOWN, PremiseView, described
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact
from clawmem.model.facts.validity import PENDING_SUCCESSION
from clawmem.model.language.dates import sortable, stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.chain import announced_successor, ending_later, reopened, succeed
from clawmem.model.lifecycle.premises import DEPRECATED, deprecation, recomputed
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.vault import Vault

OP = "premises"


class PremisesResult(NamedTuple):
    """The facts whose record changed, the deprecated facts that were archived, and the commit."""

    facts: tuple[PlacedFact, ...] = ()
    archived: tuple[PlacedFact, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def refresh_premises(vault: Vault, caller: Caller, dry_run: bool = False) -> PremisesResult:
    """Archive deprecated facts whose last day has passed, and correct every record of changed premises, in one commit.

    Records become wrong where a day for review passes, a person edits a file, or two machines merge."""
    today = stamp(caller.now)[:10]

    def planned(index: Index) -> tuple[list[PlacedFact], list[PlacedFact]]:
        archived = [
            PlacedFact(placed.fact._replace(status=ARCHIVED), placed.entity) for placed in _expired(index, today)
        ]
        return _wrong_records(index, today, archived), archived

    marked, archived = run_query(vault, planned)
    if dry_run or not (marked or archived):
        return PremisesResult(tuple(marked), tuple(archived))
    # The vault itself corrects the records: they follow from the facts, whoever runs the command.
    with writing(vault, caller, OP) as work:
        marked, archived = planned(work.index)
        new = {placed.fact.id: placed for placed in (*archived, *marked)}
        able = [placed for placed in new.values() if work.is_readable(placed.entity)]
        if not able:
            return PremisesResult(notices=work.notices)
        items = [f"{counted(len(archived), 'deprecated fact')} archived"] * bool(archived)
        items += [f"{counted(len(marked), 'record')} of changed premises corrected"] * bool(marked)
        body = [
            f"- {placed.fact.id} is archived, as deprecated: {placed.fact.fact}" for placed in archived[:MOST_SHOWN]
        ]
        change = Change(
            subject_line(OP, "facts", ", ".join(items)),
            work.items_with(able),
            trailers(
                OP,
                facts=[placed.fact.id for placed in archived],
                entities=sorted({placed.entity for placed in able}),
            ),
            body="\n".join([*body, *described(marked)]),
        )
        commit = work.commit([change], OP)[-1]
        return PremisesResult(tuple(marked), tuple(archived), commit, work.notices)


def _expired(index: Index, today: str) -> list[PlacedFact]:
    items = facts_containing(index, f'"{DEPRECATED}"')
    return [
        placed for placed in items
        if placed.fact.status == ACTIVE and (found := deprecation(placed.fact)) is not None and found[1] < today
    ]  # fmt: skip


def _wrong_records(index: Index, today: str, archived: Sequence[PlacedFact]) -> list[PlacedFact]:
    view = PremiseView(index, today)
    resting = facts_with_premises(index)
    for other_placed in (*resting, *archived):
        view.put(other_placed.fact, other_placed.entity)
    view.load({link.to for placed in resting for link in placed.fact.links})
    changed = recomputed([placed.fact.id for placed in resting], view.find, today)
    return [PlacedFact(fact, placed.entity) for fact in changed.values() if (placed := view.placed(fact.id))]


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

    def change(self) -> Change:
        """Return all planned facts as one change."""
        placed = [PlacedFact(fact, entity) for entity, by_id in self.changed.items() for fact in by_id.values()]
        facts = [fact for fact, _ in placed]
        words = ", ".join(
            [f"{counted(len(self.effective), 'fact')} announced earlier took effect"] * bool(self.effective)
            + [f"{counted(len(self.reopened), 'fact')} kept, as the announced fact was withdrawn"] * bool(self.reopened)
        )
        rows = trailers(
            "settle",
            facts=[fact.id for fact in facts],
            entities=sorted({entity for _, entity in placed}),
            supersedes=[fact.id for fact in facts if fact.superseded_by],
        )
        body = "\n".join(f"- {fact.fact}" for fact in (*self.effective.values(), *self.reopened))
        subject = subject_line("settle", "facts", words or "a later day is announced")
        return Change(subject, self._work.items_with(placed), rows, body=body)
