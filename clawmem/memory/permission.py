"""The one place where it is asked whether an agent may write what it is about to write."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.errors import NotPermitted
from clawmem.model.caller import Caller
from clawmem.model.permission import allowed, forbidden, in_words, rights_of
from clawmem.vault.vault import Vault


def check_may_write(vault: Vault, caller: Caller, paths: Collection[str], purpose: str) -> None:
    """Raise NotPermitted where the caller is an agent that may not write one of the paths; a person may all."""
    if caller.agent is None:
        return
    rights = rights_of(vault.settings, caller.agent)
    path = forbidden(caller.agent, rights, paths, purpose)
    if path is not None:
        raise _refused(
            caller.agent, f"write {in_words(path)}", allowed(rights), "read_only" if rights.read_only else "write"
        )


def check_may_write_at_all(vault: Vault, caller: Caller) -> None:
    """Raise NotPermitted where the caller is an agent that only reads."""
    if caller.agent is not None and rights_of(vault.settings, caller.agent).read_only:
        raise _refused(caller.agent, "change this memory", "nothing", "read_only")


def check_own_word(caller: Caller, author: str | None) -> None:
    """Raise NotPermitted where an agent gives something out as what another agent says."""
    if caller.agent and author and author != caller.agent:
        raise NotPermitted(
            f"The agent {caller.agent} may not write in the name of {author}.",
            "Leave `agent` out, or let a person run this, without --agent and CLAWMEM_AGENT.",
        )


def _refused(agent: str, what: str, places: str, key: str) -> NotPermitted:
    return NotPermitted(
        f"The agent {agent} may not {what}.",
        f"It may write {places}. A person decides that, under `agents` in clawmem.yaml: "
        f"`clawmem config get agents.{agent}.{key}`.",
    )
