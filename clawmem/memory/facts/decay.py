"""Decay: facts that nobody has used for long are archived, in one commit; they are still found, and come back."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import NamedTuple

from clawmem.errors import Refused
from clawmem.index.search.lookup import PlacedFact, find_fact, unused_since
from clawmem.memory.writing import fact_change, items_write, with_fact, writing
from clawmem.model.facts.fact import ACTIVE, ARCHIVED
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.tiers import should_archive
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.vault import Vault


class DecayResult(NamedTuple):
    """The facts that were archived, or restored, and the commit."""

    facts: tuple[PlacedFact, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


def archive_decayed(vault: Vault, caller: Caller, dry_run: bool = False) -> DecayResult:
    """Archive what has decayed by the vault's settings (design: score under 0.2, 90 days without access)."""
    with writing(vault, caller, "decay", dry_run=dry_run) as work:
        score = vault.settings.number("decay.archive_score")
        days = vault.settings.whole("decay.archive_days")
        unused = unused_since(work.index, stamp(caller.now - timedelta(days=days)))
        decayed = (one for one in unused if should_archive(one.fact, caller.now, score, days))
        due = [one for one in decayed if work.is_whole(one.entity)]
        if dry_run or not due:
            return DecayResult(tuple(due), notices=work.notices)
        by_entity: dict[str, set[str]] = defaultdict(set)
        for one in due:
            by_entity[one.entity].add(one.fact.id)
        writes: dict[str, bytes | None] = {}
        for entity, fact_ids in by_entity.items():
            facts = [one._replace(status=ARCHIVED) if one.id in fact_ids else one for one in work.facts(entity)]
            writes.update(items_write(entity, facts))
        change = Change(
            subject_line("archive", "facts", f"{len(due)} not used for {counted(days, 'day')}"),
            writes,
            trailers("archive", facts=[one.fact.id for one in due], entities=sorted(by_entity)),
            body="\n".join(f"- {one.entity}: {one.fact.fact}" for one in due[:100]),
        )
        return DecayResult(tuple(due), work.commit([change])[-1], work.notices)


def restore(vault: Vault, reference: str, caller: Caller) -> DecayResult:
    """Make an archived fact active again; that counts as a use, or it would be archived again at once."""
    with writing(vault, caller, "restore") as work:
        placed = find_fact(work.index, reference)
        facts = work.facts(placed.entity)
        fact = next((one for one in facts if one.id == placed.fact.id), placed.fact)
        if fact.status == ACTIVE:
            return DecayResult((), notices=(*work.notices, f"{fact.id} is not archived"))
        if fact.status != ARCHIVED:
            raise Refused(f"{fact.id} was {fact.status}, not archived.", "`clawmem why` tells what became of it.")
        woken = fact._replace(status=ACTIVE, access_count=fact.access_count + 1, last_accessed=stamp(caller.now))
        writes = items_write(placed.entity, with_fact(facts, woken))
        commits = work.commit([fact_change(caller, "restore", placed.entity, fact.fact, writes, [woken])])
        return DecayResult((PlacedFact(woken, placed.entity),), commits[-1], work.notices)
