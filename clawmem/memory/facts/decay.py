"""Decay: archive facts that were not used for a long time. Archived facts can still be found and restored."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import NamedTuple

from clawmem.errors import Refused
from clawmem.index.search.lookup import PlacedFact, find_fact, unused_since
from clawmem.memory.scope import fact_change, items_write, with_fact
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import ACTIVE, ARCHIVED
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.tiers import should_archive
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.vault import Vault


class DecayResult(NamedTuple):
    """The archived or restored facts, and the commit."""

    facts: tuple[PlacedFact, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


def archive_decayed(vault: Vault, caller: Caller, dry_run: bool = False) -> DecayResult:
    """Archive the decayed facts in one commit: by default those with a score under 0.2 and no access for 90 days."""
    with writing(vault, caller, "decay", dry_run=dry_run) as work:
        score = vault.settings.number("decay.archive_score")
        days = vault.settings.whole("decay.archive_days")
        unused = unused_since(work.index, stamp(caller.now - timedelta(days=days)))
        decayed = (placed for placed in unused if should_archive(placed.fact, caller.now, score, days))
        due = [placed for placed in decayed if work.is_readable(placed.entity)]
        if dry_run or not due:
            return DecayResult(tuple(due), notices=work.notices)
        by_entity: dict[str, set[str]] = defaultdict(set)
        for placed in due:
            by_entity[placed.entity].add(placed.fact.id)
        writes: dict[str, bytes | None] = {}
        for entity, fact_ids in by_entity.items():
            facts = [fact._replace(status=ARCHIVED) if fact.id in fact_ids else fact for fact in work.facts(entity)]
            writes.update(items_write(entity, facts))
        change = Change(
            subject_line("archive", "facts", f"{len(due)} not used for {counted(days, 'day')}"),
            writes,
            trailers("decay", facts=[placed.fact.id for placed in due], entities=sorted(by_entity)),
            body="\n".join(f"- {placed.entity}: {placed.fact.fact}" for placed in due[:100]),
        )
        return DecayResult(tuple(due), work.commit([change])[-1], work.notices)


def restore(vault: Vault, reference: str, caller: Caller) -> DecayResult:
    """Make an archived fact active again. This counts as an access, else the next heartbeat would archive it again.

    Raise NotFound or AmbiguousId for the reference, and Refused if the fact is superseded or retracted."""
    with writing(vault, caller, "restore") as work:
        placed = find_fact(work.index, reference)
        facts = work.facts(placed.entity)
        fact = next((other_fact for other_fact in facts if other_fact.id == placed.fact.id), placed.fact)
        if fact.status == ACTIVE:
            return DecayResult((), notices=(*work.notices, f"{fact.id} is not archived"))
        if fact.status != ARCHIVED:
            raise Refused(f"{fact.id} was {fact.status}, not archived.", "`clawmem why` shows what happened to it.")
        restored = fact._replace(status=ACTIVE, access_count=fact.access_count + 1, last_accessed=stamp(caller.now))
        writes = items_write(placed.entity, with_fact(facts, restored))
        commits = work.commit([fact_change(caller, "restore", placed.entity, fact.fact, writes, [restored])])
        return DecayResult((PlacedFact(restored, placed.entity),), commits[-1], work.notices)
