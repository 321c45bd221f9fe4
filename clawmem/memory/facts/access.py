"""Fold accesses: move the counts of the access journal into `ledger/accesses.json`, in one commit that history views
skip. No line of `items.json` changes, so `git blame` names who wrote a fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.index.search.lookup import by_ids
from clawmem.index.search.unreadable import unreadable_fact_files
from clawmem.memory.scope import items_write
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact, importance_of
from clawmem.model.records.accesses import ACCESSES_PATH, Accesses, parse_accesses, raised_importance, render_accesses
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.state.journal import (
    FOLDING,
    AccessCount,
    count_accesses,
    record_access,
    take_journal,
    unfolded_accesses,
)
from clawmem.vault.vault import Vault


class FoldResult(NamedTuple):
    """The number of accessed facts, the archived facts that became active again, and the commits, oldest first."""

    facts: int
    restored: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def commit(self) -> str | None:
        """Return the last commit, or None."""
        return self.commits[-1] if self.commits else None


def fold_accesses(vault: Vault, caller: Caller, dry_run: bool = False) -> FoldResult:
    """Add the access journal to the counts of the facts.

    An archived fact that was accessed becomes active again, in a second commit that names it. Accesses to facts in
    unreadable files stay in the journal."""
    if dry_run:
        return FoldResult(len(count_accesses(unfolded_accesses(vault))))
    if not unfolded_accesses(vault):
        return FoldResult(0)
    with writing(vault, caller, "fold") as work:
        counted = count_accesses(take_journal(vault))
        entities = {fact_id: placed.entity for fact_id, placed in by_ids(work.index, counted).items()}
        waiting = {text: counted[text] for text, entity in entities.items() if not work.is_readable(entity)}
        if unreadable_fact_files(work.index):
            waiting.update((text, access) for text, access in counted.items() if text not in entities)
        facts_by_entity = {
            entity: work.facts(entity) for entity in sorted(set(entities.values())) if work.is_readable(entity)
        }
        if not facts_by_entity:
            vault.disk.remove(vault.state / FOLDING)
            return FoldResult(0, notices=(*work.notices, *_return_to_journal(vault, waiting)))
        counts = parse_accesses(work.read(ACCESSES_PATH))
        facts_by_id = {fact.id: fact for facts in facts_by_entity.values() for fact in facts}
        found = facts_by_id.keys() & counted.keys()
        counts.update({text: _sum(counts.get(text), counted[text], facts_by_id[text]) for text in found})
        number = len(entities.keys() - waiting)
        words = f"{number} fact{'' if number == 1 else 's'} used"
        changes = [
            Change(subject_line("access", "facts", words), {ACCESSES_PATH: render_accesses(counts)}, trailers("access"))
        ]
        restored = [
            fact
            for facts in facts_by_entity.values()
            for fact in facts
            if fact.id in counted and fact.status == ARCHIVED
        ]
        if restored:
            changes.append(_restore_change(facts_by_entity, restored))
        changes[-1] = changes[-1]._replace(consumes=(FOLDING,))
        commits = work.commit(changes)
        notices = (*work.notices, *_return_to_journal(vault, waiting))
        return FoldResult(number, tuple(fact.id for fact in restored), commits, notices)


def _return_to_journal(vault: Vault, waiting: Mapping[str, AccessCount]) -> list[str]:
    problems = [
        record_access(vault, access_count.last, [fact_id] * access_count.count)
        for fact_id, access_count in waiting.items()
    ]
    return [problem for problem in problems if problem]


def _restore_change(facts_by_entity: Mapping[str, Sequence[Fact]], restored: Sequence[Fact]) -> Change:
    ids = {fact.id for fact in restored}
    entities = [name for name, facts in facts_by_entity.items() if any(fact.id in ids for fact in facts)]
    active = {
        name: [fact._replace(status=ACTIVE) if fact.id in ids else fact for fact in facts_by_entity[name]]
        for name in entities
    }
    return Change(
        subject_line("restore", "facts", f"{len(restored)} archived and used again"),
        {path: data for name, facts in active.items() for path, data in items_write(name, facts).items()},
        trailers("restore", facts=ids, entities=entities),
        body="\n".join(f"- {fact.fact}" for fact in restored[:100]),
    )


def _sum(before: Accesses | None, access: AccessCount, fact: Fact) -> Accesses:
    known = before or Accesses(0, "")
    number = known.number + access.count
    raised = round(raised_importance(importance_of(fact), number), 4)
    importance = raised if raised > importance_of(fact) else None
    return Accesses(number, max(access.last, known.last), importance)
