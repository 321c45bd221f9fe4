"""Facts of which something at stake came by a commit that does not count on this machine: see `model/acceptance.py`.

Found when the index follows HEAD, from the commits that are new since, and kept beside it: a new index finds it there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from clawmem.errors import ClawmemError
from clawmem.index.tables.seals import check_outside
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.records.seal import checksum
from clawmem.model.settings.acceptance import acceptance_checksum, as_served, stake_in
from clawmem.vault.vault import Vault

_KEPT = "outside.json"


def stakes(index: Index) -> dict[str, str]:
    """What is at stake in which facts, by id; empty in most vaults."""
    found = {}
    for fact_id, stake, given in index.database.execute("SELECT id, stake, seal FROM outside"):
        check_outside(fact_id, stake, given)
        found[fact_id] = stake
    return found


def served(index: Index, fact: Fact) -> Fact:
    """A fact as it is served."""
    return as_served(fact, stakes(index).get(fact.id))


def follow_commits(vault: Vault, index: Index) -> set[str]:
    """Look through the commits that are new to HEAD, and say the outcome in the index; returns the ids of the facts
    whose rows it changes. Call it while the index is being written."""
    here = vault.present or vault
    head = here.head().commit
    known = _known(here, head)
    at, found = known if known else (None, {})
    if head is not None and at != head:
        found = {**found, **_found(here, at, head)}
        _keep(here, head, found)
    before = stakes(index)
    if before == found:
        return set()
    index.database.execute("DELETE FROM outside")
    rows = ((fact_id, stake, checksum(fact_id, stake)) for fact_id, stake in found.items())
    index.database.executemany("INSERT INTO outside VALUES (?, ?, ?)", rows)
    return {one for one in (*before, *found) if before.get(one) != found.get(one)}


def _found(vault: Vault, old: str | None, new: str) -> dict[str, str]:
    from clawmem.vault.history.made_here import strange_commits  # a look at what is new, not for a search

    found = {}
    for commit in strange_commits(vault, old, new):
        before = {(fact.id, stake, fact.fact) for fact, stake in _staked(commit.removed)}
        for fact, stake in _staked(commit.added):
            if (fact.id, stake, fact.fact) not in before:
                found[fact.id] = stake
    return found


def _staked(lines: tuple[str, ...]) -> Iterator[tuple[Fact, str]]:
    for line in lines:
        if not line.startswith("{"):
            continue
        try:
            fact = fact_from_record(json.loads(line.rstrip().removesuffix(",")))
        except (ValueError, TypeError, AttributeError, RecursionError, ClawmemError):
            continue  # whoever reads the file says what is wrong with it
        stake = stake_in(fact)
        if stake:
            yield fact, stake


def _known(vault: Vault, head: str | None) -> tuple[str, dict[str, str]] | None:
    """The commit up to which was looked, and what was found; None where it has to be begun anew."""
    data = vault.disk.read(vault.state / _KEPT)
    try:
        kept = json.loads(data) if data is not None else {}
        at, by, found = kept["at"], kept["by"], kept["found"]
        whole = kept["seal"] == checksum(at, by, json.dumps(found, sort_keys=True))
    except (ValueError, KeyError, TypeError):
        return None
    if not whole or by != _accepting(vault):
        return None
    if at != head and vault.git.try_run("merge-base", "--is-ancestor", at, head or "HEAD") is None:
        return None
    return at, found


def _keep(vault: Vault, at: str, found: Mapping[str, str]) -> None:
    by = _accepting(vault)
    told = {"at": at, "by": by, "found": found, "seal": checksum(at, by, json.dumps(found, sort_keys=True))}
    try:
        vault.prepare_state()
        vault.disk.replace(vault.state / _KEPT, json.dumps(told).encode(), vault.state)
    except OSError:
        return  # a read-only disk: it is looked for again next time


def _accepting(vault: Vault) -> int:
    from clawmem.vault.history.made_here import accepted_here

    return acceptance_checksum(accepted_here(vault))
