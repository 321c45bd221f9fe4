"""Correct the record of changed premises in the whole vault, and archive deprecated facts after their last day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, facts_containing
from clawmem.index.search.premises import facts_with_premises
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
        archived = [PlacedFact(one.fact._replace(status=ARCHIVED), one.entity) for one in _expired(index, today)]
        return _wrong_records(index, today, archived), archived

    marked, archived = run_query(vault, planned)
    if dry_run or not (marked or archived):
        return PremisesResult(tuple(marked), tuple(archived))
    # The vault itself corrects the records: they follow from the facts, whoever runs the command.
    with writing(vault, caller, OP) as work:
        marked, archived = planned(work.index)
        new = {one.fact.id: one for one in (*archived, *marked)}
        by_entity: dict[str, dict[str, Fact]] = defaultdict(dict)
        for one in new.values():
            if work.is_readable(one.entity):
                by_entity[one.entity][one.fact.id] = one.fact
        if not by_entity:
            return PremisesResult(notices=work.notices)
        writes: dict[str, bytes | None] = {}
        for entity, held in by_entity.items():
            writes.update(items_write(entity, [held.get(one.id, one) for one in work.facts(entity)]))
        told = [f"{counted(len(archived), 'deprecated fact')} archived"] * bool(archived)
        told += [f"{counted(len(marked), 'record')} of changed premises corrected"] * bool(marked)
        body = [f"- {one.fact.id} is archived, as deprecated: {one.fact.fact}" for one in archived[:MOST_SHOWN]]
        change = Change(
            subject_line(OP, "facts", ", ".join(told)),
            writes,
            trailers(OP, facts=[one.fact.id for one in archived], entities=sorted(by_entity)),
            body="\n".join([*body, *described(marked)]),
        )
        commit = work.commit([change], OP)[-1]
        return PremisesResult(tuple(marked), tuple(archived), commit, work.notices)


def _expired(index: Index, today: str) -> list[PlacedFact]:
    held = facts_containing(index, f'"{DEPRECATED}"')
    return [
        one for one in held
        if one.fact.status == ACTIVE and (found := deprecation(one.fact)) is not None and found[1] < today
    ]  # fmt: skip


def _wrong_records(index: Index, today: str, archived: Sequence[PlacedFact]) -> list[PlacedFact]:
    view = PremiseView(index, today)
    resting = facts_with_premises(index)
    for one in (*resting, *archived):
        view.put(one.fact, one.entity)
    view.load({link.to for one in resting for link in one.fact.links})
    changed = recomputed([one.fact.id for one in resting], view.find, today)
    return [PlacedFact(fact, placed.entity) for fact in changed.values() if (placed := view.placed(fact.id))]
