"""Decay: facts that nobody has used for long are archived, still findable, in one commit."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from clawmem.index.lookup import Placed, all_facts
from clawmem.memory.writing import items_write, writing
from clawmem.model.caller import Caller
from clawmem.model.change import Change, subject_line, trailers
from clawmem.model.fact import ARCHIVED
from clawmem.model.tiers import should_archive
from clawmem.vault.vault import Vault


class Decayed(NamedTuple):
    """The facts that were archived, and the commit."""

    facts: tuple[Placed, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


def archive_decayed(vault: Vault, caller: Caller, dry_run: bool = False) -> Decayed:
    """Archive what has decayed by the vault's settings (design: score under 0.2, 90 days without access)."""
    with writing(vault, caller, "decay") as work:
        score = vault.settings.number("decay.archive_score")
        days = vault.settings.whole("decay.archive_days")
        due = [one for one in all_facts(work.index) if should_archive(one.fact, caller.now, score, days)]
        if dry_run or not due:
            return Decayed(tuple(due), notices=work.notices)
        by_entity: dict[str, set[str]] = defaultdict(set)
        for one in due:
            by_entity[one.entity].add(one.fact.id)
        writes: dict[str, bytes | None] = {}
        for entity, fact_ids in by_entity.items():
            facts = [one._replace(status=ARCHIVED) if one.id in fact_ids else one for one in work.facts(entity)]
            writes.update(items_write(entity, facts))
        change = Change(
            subject_line("archive", "facts", f"{len(due)} not used for {days} days"),
            writes,
            trailers("archive", facts=[one.fact.id for one in due], entities=sorted(by_entity)),
            body="\n".join(f"- {one.entity}: {one.fact.fact}" for one in due[:100]),
        )
        return Decayed(tuple(due), work.commit([change])[-1], work.notices)
