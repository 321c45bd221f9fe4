"""`clawmem agent create|list|show`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import said
from clawmem.memory.entities.agents import create_agent, list_agents, show_agent
from clawmem.model.language.text import counted


def create(call: Call, agent_id: Annotated[str, _ID]) -> Answer:
    """Create an agent with its own pages and workspace."""
    created = create_agent(call.runtime.vault(), agent_id, call.runtime.caller())
    line = f"created agent {created.id}; the names of its own entities begin with @{created.id}/"
    return Answer({"agent": created.id, "commit": created.commit}, [line], created.notices)


def list_(call: Call) -> Answer:
    """List the agents."""
    agents = list_agents(call.runtime.vault())
    known = {agent.id: _known_as(call, agent.id) for agent in agents}
    data = [{"id": agent.id, "entities": list(agent.entities), **known[agent.id]} for agent in agents]
    rows = [(agent.id, counted(len(agent.entities), "entity", "entities"), _words(known[agent.id])) for agent in agents]
    talk = () if rows else ("There are no agents yet.",)
    return Answer({"agents": data}, Table(("agent", "workspace", "known as"), rows), talk=talk)


def show(call: Call, agent_id: Annotated[str, _ID._replace(completes="agent")]) -> Answer:
    """Show an agent's pages and entities."""
    agent = show_agent(call.runtime.vault(), agent_id, call.runtime.caller())
    known = _known_as(call, agent.id)
    data = {"id": agent.id, "entities": list(agent.entities), **known, "pages": dict(agent.pages)}
    lines = [_words(known), ""] if known else []
    lines += [line for page, text in agent.pages for line in (f"[{page}]", text.rstrip(), "")]
    return Answer({"agent": data}, [*lines, *agent.entities])


def _known_as(call: Call, agent: str) -> dict[str, str]:
    settings = call.runtime.vault().settings
    return said({key: str(settings.agent_value(agent, key)) for key in ("name", "emoji", "description")})


def _words(known: dict[str, str]) -> str:
    name = f"{known.get('emoji', '')} {known.get('name', '')}".strip()
    return ": ".join(filter(None, (name, known.get("description"))))


_ID = Parameter("The agent's id, such as finance.")
_AGENT = {"id": str, "entities": [str], "name?": str, "emoji?": str, "description?": str}

VERB = {
    "create": Command(create, {"agent": str, "commit": str}, ("clawmem agent create researcher",)),
    "list": Command(list_, {"agents": [_AGENT]}, ("clawmem agent list",), ("agents",)),
    "show": Command(
        show,
        {"agent": {**_AGENT, "pages": {str: str}}},
        ("clawmem agent show finance",),
        ("agent",),
    ),
}
