"""`clawmem agent create|list|show`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.memory.entities.agents import create_agent, list_agents, show_agent
from clawmem.model.language.text import counted

agent = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Make, list and show agents."
)
_Id = Annotated[str, typer.Argument(help="The agent's id, such as finance.")]


@agent.command("create")
def create(ctx: typer.Context, agent_id: _Id) -> int:
    """Make an agent with pages and a workspace of its own."""
    face = Face.of(ctx)
    done = create_agent(face.runtime.vault(), agent_id, face.runtime.caller())
    lines = [f"made the agent {done.id}; its own entities are named @{done.id}/...", f"commit {done.commit[:12]}"]
    return face.done({"agent": done.id, "commit": done.commit}, lines, done.notices)


@agent.command("list")
def list_command(ctx: typer.Context) -> int:
    """List the agents."""
    face = Face.of(ctx)
    agents = list_agents(face.runtime.vault())
    data = [{"id": one.id, "entities": list(one.entities)} for one in agents]
    rows = [(one.id, counted(len(one.entities), "entity", "entities")) for one in agents]
    lines = face.table(("agent", "workspace"), rows) if rows else ()
    return face.done({"agents": data}, lines, talk=() if rows else ("There are no agents yet.",))


@agent.command("show")
def show(ctx: typer.Context, agent_id: _Id) -> int:
    """Show an agent's pages and entities."""
    face = Face.of(ctx)
    one = show_agent(face.runtime.vault(), agent_id, face.runtime.caller())
    data = {"id": one.id, "entities": list(one.entities), "pages": dict(one.pages)}
    lines = [line for page, text in one.pages for line in (f"[{page}]", text.rstrip(), "")]
    return face.done({"agent": data}, [*lines, *one.entities])
