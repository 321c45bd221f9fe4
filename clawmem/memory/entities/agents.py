"""Acts on agents. Each agent has its own pages and a workspace with the layout of the vault."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import NotFound, Refused
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import entity_names
from clawmem.memory.permission import check_may_read
from clawmem.memory.writing import writing
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ROOTS, check_agent, owner_of
from clawmem.vault.vault import Vault

# The purpose of each page is a comment in it, so it is not part of any answer.
PAGES = {
    "TACIT.md": "How {agent} works: habits and preferences that were learned and accepted.",
    "CONTEXT.md": "What {agent} is working on now.",
    "SOUL.md": "Who {agent} is: its task, its manner, its limits.",
}


class Agent(NamedTuple):
    """An agent: its id, its own entities, and its pages as (name, text)."""

    id: str
    entities: tuple[str, ...]
    pages: tuple[tuple[str, str], ...] = ()


class AgentCreated(NamedTuple):
    """The id of the new agent, and the commit."""

    id: str
    commit: str
    notices: tuple[str, ...] = ()


def create_agent(vault: Vault, agent: str, caller: Caller) -> AgentCreated:
    """Create the pages and the workspace of an agent. Raise Refused if it exists."""
    name = check_agent(agent)
    with writing(vault, caller, "agent create") as work:
        if work.read(f"agents/{name}/SOUL.md") is not None:
            raise Refused(f"The agent {name} already exists.", f"`clawmem agent show {name}` shows it.")
        folder = f"agents/{name}"
        writes: dict[str, bytes | None] = {
            f"{folder}/{page}": _empty_page(page, words.format(agent=name)) for page, words in PAGES.items()
        }
        kept = ["daily", "sessions", *(f"workspace/{root}" for root in ROOTS)]
        writes.update({f"{folder}/{place}/.gitkeep": b"" for place in kept})
        subject = subject_line("agent", name, "a workspace of its own")
        commits = work.commit([Change(subject, writes, trailers("agent-create", agent=name))])
        return AgentCreated(name, commits[-1], work.notices)


def _empty_page(name: str, purpose: str) -> bytes:
    return f"# {name.removesuffix('.md').capitalize()}\n\n<!-- {purpose} -->\n".encode()


def list_agents(vault: Vault) -> tuple[Agent, ...]:
    """Return all agents that have pages or entities."""
    names = run_query(vault, entity_names)
    owned: dict[str, list[str]] = {}
    for name in names:
        owner = owner_of(name)
        if owner:
            owned.setdefault(owner, []).append(name)
    folder = vault.root / "agents"
    on_disk = [entry.name for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []
    return tuple(Agent(agent, tuple(owned.get(agent, ()))) for agent in sorted({*owned, *on_disk}))


def show_agent(vault: Vault, agent: str, caller: Caller | None = None) -> Agent:
    """Return an agent with its pages. Raise NotFound, or NotPermitted if the caller is another agent."""
    name = check_agent(agent)
    check_may_read(caller, f"@{name}/pages")
    known = next((other_agent for other_agent in list_agents(vault) if other_agent.id == name), None)
    if known is None:
        raise NotFound(f"There is no agent '{name}'.", f"Create it with `clawmem agent create {name}`.")
    pages = [(page, vault.read_text(f"agents/{name}/{page}")) for page in PAGES]
    return known._replace(pages=tuple((page, text) for page, text in pages if text is not None))
