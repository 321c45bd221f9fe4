"""Permission checks for agents. Every read and write of an agent is checked here."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from clawmem.errors import NotPermitted
from clawmem.model.facts.fact import Fact, is_forgotten
from clawmem.model.facts.reach import ORGANISATION, scope_of
from clawmem.model.kinds import ALL
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import owner_of
from clawmem.model.records.layout import ACCESS
from clawmem.model.settings.permission import allowed, forbidden, in_words, rights_of
from clawmem.model.settings.settings import CONSUMER, LEARNER, TOOL
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.index.search.lookup import PlacedFact

# A person wires these into a harness. The server checks the verb of each tool that is called.
_OF_HARNESSES = frozenset(("hook", "mcp serve", "completions", "schema"))

# What answers from the index alone, so that a viewer gets only what they may see; and what an agent that is such a
# viewer may use besides: what it writes is its own, and a task has no mark, so it is for everybody.
_FOR_VIEWERS = frozenset(("recall", "context", "list", "show", "graph", "why", "log", "diff", "dashboard"))
_OF_SESSIONS = ("session start", "session note", "session checkpoint", "session end")
_OF_TASKS = ("task list", "task show", "task take", "task release", "task submit")
_FOR_AGENTS = frozenset(("note", "ingest", *_OF_SESSIONS, *_OF_TASKS))


def check_may_write(vault: Vault, caller: Caller, paths: Collection[str], purpose: str) -> None:
    """Raise NotPermitted if the caller is an agent that may not write one of the paths. A person may write all."""
    if caller.agent is None:
        return
    rights = rights_of(vault.settings, caller.agent)
    path = forbidden(caller.agent, rights, paths, purpose)
    if path is not None:
        kind = vault.settings.agent_value(caller.agent, "type")
        key = "type" if kind in (TOOL, CONSUMER, LEARNER) else "read_only" if rights.read_only else "write"
        raise _not_permitted(caller.agent, f"write {in_words(path)}", allowed(rights), key)


def check_not_read_only(vault: Vault, caller: Caller) -> None:
    """Raise NotPermitted if the caller is a read-only agent."""
    if caller.agent is not None and rights_of(vault.settings, caller.agent).read_only:
        kind = vault.settings.agent_value(caller.agent, "type")
        key = "type" if kind in (TOOL, CONSUMER) else "read_only"
        raise _not_permitted(caller.agent, "change this memory", "nothing", key)


def check_reads(vault: Vault, caller: Caller) -> None:
    """Raise NotPermitted if the caller is an agent of type `tool`, which does not read this memory."""
    if caller.agent is not None and vault.settings.agent_value(caller.agent, "type") == TOOL:
        raise NotPermitted(
            f"The agent {caller.agent} is of type tool, which neither reads nor writes this memory.",
            f"A person decides that: `clawmem config set agents.{caller.agent}.type consumer`.",
        )


def check_verb(vault: Vault, agent: str, verb: str) -> None:
    """Raise NotPermitted if the settings do not name a verb, such as `remember` or `task take`, for an agent."""
    named = str(vault.settings.agent_value(agent, "verbs"))
    if named == ALL or not verb or verb in _OF_HARNESSES:
        return
    if not {verb, verb.partition(" ")[0], ALL} & set(named.split(", ")):
        raise NotPermitted(
            f"The agent {agent} may not use `{verb}`.",
            f"It may use {named}. A person decides that: `clawmem config set agents.{agent}.verbs '{named}, {verb}'`.",
        )


def check_viewer(vault: Vault, verb: str) -> None:
    """Raise NotPermitted if the vault is read for somebody who may not see everything, and a verb shows more than the
    rows of the index that they may see, or writes in their name. Raise NotFound if nobody knows what they may see."""
    if vault.viewer is None or verb in _OF_HARNESSES:
        return
    from clawmem.index.tables.rights import read_access, viewers_of  # only where somebody may not see everything

    viewers = viewers_of(vault, read_access(vault))
    usable = _FOR_VIEWERS if vault.viewer.names else _FOR_VIEWERS | _FOR_AGENTS
    if verb == "setup" and vault.viewer.agent is None:
        return  # a person says for whom the harness reads
    if viewers and not {verb, verb.partition(" ")[0]} & usable:
        raise NotPermitted(
            f"`{verb}` may show or change more than {viewers[-1].id} may see.",
            f"Use {', '.join(sorted(usable))}. A note becomes a fact when it is read. A person gives their own agent a"
            f" role that may see `all`, in {ACCESS}.",
        )


def check_scope_right(vault: Vault, caller: Caller, fact: Fact) -> None:
    """Raise NotPermitted if the caller is an agent that may not write facts in the scope of a fact."""
    if caller.agent is None:
        return
    named = str(vault.settings.agent_value(caller.agent, "scopes")).split(", ")
    scope = scope_of(fact) or ORGANISATION
    if not {scope, ALL} & set(named):
        raise NotPermitted(
            f"The agent {caller.agent} may not write facts in the scope {scope}.",
            f"It may write in {', '.join(named)}: name one with --scope, --workflow or --project. A person decides"
            f" that: `clawmem config set agents.{caller.agent}.scopes '{', '.join(named)}, {scope}'`.",
        )


def may_read(caller: Caller | None, entity: str) -> bool:
    """Return whether the caller may read the entity. A caller of None is a person."""
    return caller is None or caller.agent is None or owner_of(entity) in (None, caller.agent)


def check_may_read(caller: Caller | None, entity: str) -> None:
    """Raise NotPermitted if an agent asks for an entity in the workspace of another agent.

    An agent reads its own and the shared entities. A person reads everything."""
    if not may_read(caller, entity):
        owner, asks = owner_of(entity), caller.agent if caller else ""
        raise NotPermitted(
            f"{entity} belongs to the agent {owner}, so the agent {asks} may not read it.",
            f"Only {owner} and a person may read it. A person leaves out --agent and CLAWMEM_AGENT.",
        )


def may_read_fact(caller: Caller | None, placed: PlacedFact) -> bool:
    """Return whether the caller may read a fact. Nobody reads one that was to be forgotten."""
    return not is_forgotten(placed.fact) and may_read(caller, placed.entity)


def check_may_read_fact(caller: Caller | None, placed: PlacedFact) -> None:
    """Raise NotPermitted if an agent asks for a fact of another agent, or anybody for one that was to be forgotten.

    Who decides about a request to forget reads in the proposal what it is about."""
    check_may_read(caller, placed.entity)
    if is_forgotten(placed.fact):
        raise NotPermitted(
            f"{placed.fact.id} was forgotten on request, so no answer has it.",
            "A person sees what waits for a decision with `clawmem review list --kind forget`, and brings back what was"
            " hidden with `clawmem undo`.",
        )


def check_author(caller: Caller, author: str | None) -> None:
    """Raise NotPermitted if an agent writes something with another agent as its author."""
    if caller.agent and author and author != caller.agent:
        raise NotPermitted(
            f"The agent {caller.agent} may not write in the name of {author}.",
            "Leave out `agent`, or run this as a person, without --agent and CLAWMEM_AGENT.",
        )


def _not_permitted(agent: str, what: str, places: str, key: str) -> NotPermitted:
    return NotPermitted(
        f"The agent {agent} may not {what}.",
        f"It may write {places}. A person decides that, under `agents` in clawmem.yaml: "
        f"`clawmem config get agents.{agent}.{key}`.",
    )
