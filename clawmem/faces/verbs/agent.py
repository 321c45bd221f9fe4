"""`clawmem agent create|list|show`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.memory.entities.agents import create_agent, list_agents, show_agent
from clawmem.model.language.text import counted


def create(call: Call, agent_id: str) -> Answer:
    """Create an agent with its own pages and workspace."""
    done = create_agent(call.runtime.vault(), agent_id, call.runtime.caller())
    lines = [
        f"created agent {done.id}; the names of its own entities begin with @{done.id}/",
        f"commit {done.commit[:12]}",
    ]
    return Answer({"agent": done.id, "commit": done.commit}, lines, done.notices)


def list_(call: Call) -> Answer:
    """List the agents."""
    agents = list_agents(call.runtime.vault())
    data = [{"id": one.id, "entities": list(one.entities)} for one in agents]
    rows = [(one.id, counted(len(one.entities), "entity", "entities")) for one in agents]
    talk = () if rows else ("There are no agents yet.",)
    return Answer({"agents": data}, Table(("agent", "workspace"), rows), talk=talk)


def show(call: Call, agent_id: str) -> Answer:
    """Show an agent's pages and entities."""
    one = show_agent(call.runtime.vault(), agent_id, call.runtime.caller())
    data = {"id": one.id, "entities": list(one.entities), "pages": dict(one.pages)}
    lines = [line for page, text in one.pages for line in (f"[{page}]", text.rstrip(), "")]
    return Answer({"agent": data}, [*lines, *one.entities])


_ID = Parameter("agent_id", "The agent's id, such as finance.", required=True)
_AGENT = {"id": str, "entities": [str]}

VERB = {
    "create": Command(create, (_ID,), {"agent": str, "commit": str}, ("clawmem agent create researcher",)),
    "list": Command(list_, (), {"agents": [_AGENT]}, ("clawmem agent list",), ("agents",)),
    "show": Command(
        show,
        (_ID._replace(completes="agent"),),
        {"agent": {**_AGENT, "pages": {str: str}}},
        ("clawmem agent show finance",),
        ("agent",),
    ),
}
