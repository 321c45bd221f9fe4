"""Why a fact is in memory: its evidence, who recorded it in which commit, and the chain it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.lookup import Placed, find
from clawmem.index.refresh import open_index
from clawmem.index.store import Index
from clawmem.memory.chains import chain_in
from clawmem.memory.evidence import find_event
from clawmem.memory.history import beginnings, cut_off, fact_history, paths_of_fact
from clawmem.model.entry import Entry
from clawmem.model.event import Event
from clawmem.model.fact import Fact
from clawmem.vault.history import open_history
from clawmem.vault.journal import accesses, unfolded, with_access
from clawmem.vault.vault import Vault


class Link(NamedTuple):
    """One fact of a chain, its entity, and the commit that recorded it (None where no commit holds it yet, or where a
    shallow clone begins later: `begins` is its first commit then)."""

    fact: Fact
    entity: str
    recorded: Entry | None
    begins: Entry | None = None


class Why(NamedTuple):
    """A fact with everything that explains it; `recorded` and `begins` as in its link of the chain; `chain` and
    `history` are oldest first."""

    fact: Fact
    entity: str
    event: Event | None
    recorded: Entry | None
    begins: Entry | None
    chain: tuple[Link, ...]
    history: tuple[Entry, ...]
    notices: tuple[str, ...] = ()


def why(vault: Vault, reference: str) -> Why:
    """Explain the fact with this id or unique prefix, whoever's it is; raises NotFound or AmbiguousId."""
    index = open_index(vault)
    try:
        one = find(index, reference)
        members = chain_in(index, one.fact.id)
        with open_history(vault) as history:
            wanted = {each.fact.id: paths_of_fact(index, history, each.fact.id) for each in members}
            told = fact_history(history, wanted)
            begins = beginnings(history, wanted)
        chain = tuple(_link(each, told[each.fact.id], begins.get(each.fact.id)) for each in members)
        own = next(link for link in chain if link.fact.id == one.fact.id)
        event, problems = _evidence(vault, index, one.fact)
        fact = with_access(one.fact, accesses(unfolded(vault)))
        notices = (*index.notices, *problems, *cut_off(vault))
        return Why(fact, one.entity, event, own.recorded, own.begins, chain, tuple(told[one.fact.id]), notices)
    finally:
        index.close()


def _link(one: Placed, entries: Sequence[Entry], begins: Entry | None) -> Link:
    return Link(one.fact, one.entity, None if begins else next(iter(entries), None), begins)


def _evidence(vault: Vault, index: Index, fact: Fact) -> tuple[Event | None, list[str]]:
    """The event the fact cites, and what is wrong with the evidence."""
    if fact.source_event is None:
        return None, []
    try:
        event = find_event(vault, index, fact.source_event)
    except ClawmemError as problem:
        return None, [f"the event cannot be shown: {problem.message}"]
    if event is None:
        return None, [f"the ledger has no event {fact.source_event}"]
    if fact.source_span and event.text[slice(*fact.source_span)] != fact.source_text:
        return event, [f"the quoted words are not what {event.id} has at characters {list(fact.source_span)}"]
    return event, []
