"""Correct the record of changed premises in the whole vault, and archive deprecated facts after their last day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, facts_containing
from clawmem.index.search.replaced import facts_with_premises
from clawmem.index.tables.store import Index
from clawmem.memory.facts.premise_records import MOST_SHOWN, PremiseView, described
from clawmem.memory.scope import items_write
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
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
        by_entity: dict[str, dict[str, Fact]] = defaultdict(dict)
        for placed in new.values():
            if work.is_readable(placed.entity):
                by_entity[placed.entity][placed.fact.id] = placed.fact
        if not by_entity:
            return PremisesResult(notices=work.notices)
        writes: dict[str, bytes | None] = {}
        for entity, record in by_entity.items():
            writes.update(items_write(entity, [record.get(fact.id, fact) for fact in work.facts(entity)]))
        items = [f"{counted(len(archived), 'deprecated fact')} archived"] * bool(archived)
        items += [f"{counted(len(marked), 'record')} of changed premises corrected"] * bool(marked)
        body = [
            f"- {placed.fact.id} is archived, as deprecated: {placed.fact.fact}" for placed in archived[:MOST_SHOWN]
        ]
        change = Change(
            subject_line(OP, "facts", ", ".join(items)),
            writes,
            trailers(OP, facts=[placed.fact.id for placed in archived], entities=sorted(by_entity)),
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
    view.load({link.to for other_placed in resting for link in other_placed.fact.links})
    changed = recomputed([other_placed.fact.id for other_placed in resting], view.find, today)
    return [PlacedFact(fact, placed.entity) for fact in changed.values() if (placed := view.placed(fact.id))]
