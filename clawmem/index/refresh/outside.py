"""Facts with something at stake that came with a commit which is not accepted on this machine: see
`model/settings/acceptance.py`.

They are found when the index follows HEAD, in the new commits, and stored beside the index, where a rebuilt index finds
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from clawmem.errors import ClawmemError
from clawmem.index.tables.fact_marks import stakes as stakes  # exported again for `tables.intake`
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.records.strict_json import checksum
from clawmem.model.settings.acceptance import acceptance_checksum, stake_in
from clawmem.vault.vault import Vault

_KEPT = "outside.json"


def update_stakes(vault: Vault, index: Index, head: str | None) -> set[str]:
    """Check the commits that are new in `head`, the commit that the index describes, and store the result in the index,
    within its open transaction. The index of a past commit gets what is known at the present one.

    Return the ids of the facts whose rows must change.
    """
    here = vault.present or vault
    head = here.head().commit if vault.present else head
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
    return {text for text in (*before, *found) if before.get(text) != found.get(text)}


def _found(vault: Vault, old: str | None, new: str) -> dict[str, str]:
    from clawmem.vault.state.own_commits import unaccepted_commits  # not needed by a search

    found = {}
    for commit in unaccepted_commits(vault, old, new):
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
            continue  # readers of the file report the error
        stake = stake_in(fact)
        if stake:
            yield fact, stake


def _known(vault: Vault, head: str | None) -> tuple[str, dict[str, str]] | None:
    """Return the last checked commit and the facts found so far, or None to start again."""
    kept = vault.kept(_KEPT)
    try:
        at, by, found = kept["at"], kept["by"], kept["found"]
        whole = kept["seal"] == checksum(at, by, json.dumps(found, sort_keys=True))
    except (ValueError, KeyError, TypeError):
        return None
    if not whole or by != _acceptance_seal(vault) or vault.is_foreign:
        return None
    if at != head and vault.git.try_run("merge-base", "--is-ancestor", at, head or "HEAD") is None:
        return None
    return at, found


def _keep(vault: Vault, at: str, found: Mapping[str, str]) -> None:
    by = _acceptance_seal(vault)
    record = {"at": at, "by": by, "found": found, "seal": checksum(at, by, json.dumps(found, sort_keys=True))}
    try:
        vault.keep(_KEPT, record)
    except OSError:
        return  # a read-only disk: the commits are checked again next time


def _acceptance_seal(vault: Vault) -> int:
    from clawmem.vault.state.own_commits import read_acceptance

    return acceptance_checksum(read_acceptance(vault))
