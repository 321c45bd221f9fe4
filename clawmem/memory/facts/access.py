"""Fold accesses: move the counts of the access journal into `ledger/accesses.json`, in one commit that history views
skip. No line of `items.json` changes, so `git blame` names who wrote a fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from clawmem.errors import Refused
from clawmem.index.search.lookup import PlacedFact, by_ids, find_fact, unreadable_fact_files, unused_since
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact, importance_of
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.premises import deprecation
from clawmem.model.lifecycle.tiers import should_archive
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
            PlacedFact(fact, entity)
            for entity, facts in facts_by_entity.items()
            for fact in facts
            if fact.id in counted and fact.status == ARCHIVED and deprecation(fact) is None
        ]
        if restored:
            changes.append(_restore_change(work, restored))
        changes[-1] = changes[-1]._replace(consumes=(FOLDING,))
        commits = work.commit(changes)
        notices = (*work.notices, *_return_to_journal(vault, waiting))
        return FoldResult(number, tuple(placed.fact.id for placed in restored), commits, notices)


def _return_to_journal(vault: Vault, waiting: Mapping[str, AccessCount]) -> list[str]:
    problems = [
        record_access(vault, access_count.last, [fact_id] * access_count.count)
        for fact_id, access_count in waiting.items()
    ]
    return [problem for problem in problems if problem]


def _restore_change(work: WriteScope, restored: Sequence[PlacedFact]) -> Change:
    return Change(
        subject_line("restore", "facts", f"{len(restored)} archived and used again"),
        work.items_with(placed._replace(fact=placed.fact._replace(status=ACTIVE)) for placed in restored),
        trailers(
            "restore",
            facts={placed.fact.id for placed in restored},
            entities=list(dict.fromkeys(placed.entity for placed in restored)),
        ),
        body="\n".join(f"- {placed.fact.fact}" for placed in restored[:100]),
    )


def _sum(before: Accesses | None, access: AccessCount, fact: Fact) -> Accesses:
    known = before or Accesses(0, "")
    number = known.number + access.count
    raised = round(raised_importance(importance_of(fact), number), 4)
    importance = raised if raised > importance_of(fact) else None
    return Accesses(number, max(access.last, known.last), importance)


class DecayResult(NamedTuple):
    """The archived or restored facts, and the commit."""

    facts: tuple[PlacedFact, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


def archive_decayed(vault: Vault, caller: Caller, dry_run: bool = False) -> DecayResult:
    """Archive the decayed facts in one commit: those with a score under 0.2 and no access for `decay.archive_days`."""
    with writing(vault, caller, "decay", dry_run=dry_run) as work:
        days = vault.settings.whole("decay.archive_days")
        unused = unused_since(work.index, stamp(caller.now - timedelta(days=days)))
        used = count_accesses(unfolded_accesses(vault))
        unused = [placed for placed in unused if placed.fact.id not in used]
        decayed = (placed for placed in unused if should_archive(placed.fact, caller.now, days))
        due = [placed for placed in decayed if work.is_readable(placed.entity)]
        if dry_run or not due:
            return DecayResult(tuple(due), notices=work.notices)
        ids, entities = {placed.fact.id for placed in due}, sorted({placed.entity for placed in due})
        now = ((fact, entity) for entity in entities for fact in work.facts(entity) if fact.id in ids)
        writes = work.items_with(PlacedFact(fact._replace(status=ARCHIVED), entity) for fact, entity in now)
        change = Change(
            subject_line("archive", "facts", f"{len(due)} not used for {counted(days, 'day')}"),
            writes,
            trailers("decay", facts=[placed.fact.id for placed in due], entities=entities),
            body="\n".join(f"- {placed.entity}: {placed.fact.fact}" for placed in due[:100]),
        )
        return DecayResult(tuple(due), work.commit([change])[-1], work.notices)


def restore(vault: Vault, reference: str, caller: Caller) -> DecayResult:
    """Make an archived fact active again. This counts as an access, else the next heartbeat would archive it again.

    Raise NotFound or AmbiguousId for the reference, and Refused if the fact is superseded or retracted."""
    with writing(vault, caller, "restore") as work:
        placed = find_fact(work.index, reference)
        fact = work.latest(placed).fact
        if fact.status == ACTIVE:
            return DecayResult((), notices=(*work.notices, f"{fact.id} is not archived"))
        if fact.status != ARCHIVED:
            raise Refused(f"{fact.id} was {fact.status}, not archived.", "`clawmem why` shows what happened to it.")
        restored = fact._replace(status=ACTIVE, access_count=fact.access_count + 1, last_accessed=stamp(caller.now))
        writes = work.items_with([PlacedFact(restored, placed.entity)])
        commits = work.commit([fact_change(caller, "restore", placed.entity, fact.fact, writes, [restored])])
        return DecayResult((PlacedFact(restored, placed.entity),), commits[-1], work.notices)
