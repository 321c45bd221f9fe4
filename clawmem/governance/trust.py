"""The authors and keys whose commits this machine accepts, in addition to commits made by this clone."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import NotPermitted
from clawmem.index.refresh.refresh import open_index, refresh_outside_facts
from clawmem.index.tables.outside import stakes
from clawmem.model.language.text import check_statement
from clawmem.model.records.caller import Caller
from clawmem.model.settings.acceptance import Acceptance
from clawmem.vault.state.made_here import read_acceptance, write_acceptance
from clawmem.vault.vault import Vault


class TrustResult(NamedTuple):
    """The accepted authors and keys, and the facts that other authors changed in an important way.

    `outside` pairs the id of such a fact with what is at stake.
    """

    accepted: Acceptance
    outside: tuple[tuple[str, str], ...]


def trust(
    vault: Vault, caller: Caller, authors: tuple[str, ...] = (), keys: tuple[str, ...] = (), remove: bool = False
) -> TrustResult:
    """Accept these authors and keys on this machine, or stop accepting them with `remove`. Without any, only list.

    The list is stored outside the files of the vault, so no remote can change it. Raise NotPermitted if an agent tries
    to change it.
    """
    before = read_acceptance(vault)
    if authors or keys:
        if caller.agent:
            raise NotPermitted(
                f"The agent {caller.agent} may not change which authors this machine accepts.",
                "A person runs the same command without --agent and CLAWMEM_AGENT.",
            )
        named = tuple(check_statement(one, "author") for one in authors)
        write_acceptance(vault, _changed(before, named, keys, remove))
        refresh_outside_facts(vault)
    index = open_index(vault)
    try:
        return TrustResult(read_acceptance(vault), tuple(sorted(stakes(index).items())))
    finally:
        index.close()


def _changed(before: Acceptance, authors: tuple[str, ...], keys: tuple[str, ...], remove: bool) -> Acceptance:
    pairs = ((before.authors, authors), (before.keys, keys))
    if remove:
        return Acceptance(*(tuple(one for one in had if one not in given) for had, given in pairs))
    return Acceptance(*(tuple(dict.fromkeys((*had, *given))) for had, given in pairs))
