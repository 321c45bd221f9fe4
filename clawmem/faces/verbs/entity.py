"""`clawmem entity create|list|show|alias|move|merge|archive|rename` and `clawmem agent create|list|show`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import said
from clawmem.memory.entities.entities import (
    EntityChange,
    add_alias,
    archive_entity,
    create_agent,
    create_entity,
    list_agents,
    list_entities,
    merge_entities,
    move_entity,
    rename_entity,
    show_agent,
    show_entity,
)
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.text import counted
from clawmem.model.pages.summary import prose


def create(
    call: Call,
    name: Annotated[str, _NAME._replace(help="Such as projects/website or areas/people/jane.")],
    title: Annotated[str | None, Parameter("The title of the entity, as used in text.", ("--title",))],
    alias: Annotated[list[str] | None, Parameter("Another name for it; may be repeated.", ("--alias",))],
) -> Answer:
    """Create an entity."""
    change = create_entity(call.runtime.vault(), name, call.runtime.caller(), title, tuple(alias or ()))
    return _changed(change, f"created {change.name}")


def list_(call: Call) -> Answer:
    """List every entity with the number of its facts."""
    listed = list_entities(call.runtime.vault())
    rows = listed.rows
    data = [{**said(row.entity._asdict()), "facts": dict(row.facts)} for row in rows]
    cells = [
        (row.entity.name, row.entity.title, str(row.facts.get("active", 0)), str(sum(row.facts.values())))
        for row in rows
    ]
    table = Table(("entity", "title", "active", "facts"), cells)
    return Answer({"entities": data}, table, listed.notices, talk=() if cells else ("There are no entities yet.",))


def show(call: Call, name: Annotated[str, _NAME]) -> Answer:
    """Show an entity's summary and its facts."""
    shown = show_entity(call.runtime.vault(), name, call.runtime.caller())
    data = {
        "entity": said(shown.entity._asdict()),
        **said({"summary": prose(shown.summary)}),
        "facts": [fact_data(placed.fact, placed.entity) for placed in shown.facts],
    }
    names = ", ".join((shown.entity.name, *shown.entity.aliases))
    head = [f"{shown.entity.title}  ({names})", *([prose(shown.summary)] if prose(shown.summary) else []), ""]
    lines = [*head, *(fact_line(placed.fact, placed.entity) for placed in shown.facts)]
    return Answer(data, lines, shown.notices)


def alias(call: Call, name: Annotated[str, _NAME], alias: Annotated[str, Parameter("Another name for it.")]) -> Answer:
    """Give an entity another name."""
    change = add_alias(call.runtime.vault(), name, alias, call.runtime.caller())
    return _changed(change, f"{change.name} is also called {alias}")


def move(
    call: Call,
    name: Annotated[str, _NAME],
    target: Annotated[str, Parameter("The new name, such as resources/website.", completes="entity")],
) -> Answer:
    """Move an entity to another path; the old name becomes an alias."""
    change = move_entity(call.runtime.vault(), name, target, call.runtime.caller())
    return _changed(change, f"moved {change.former} to {change.name}")


def merge(
    call: Call,
    name: Annotated[str, _NAME._replace(help="The entity that ends: its name, title or an alias.")],
    into: Annotated[str, Parameter("The entity that stays.", completes="entity")],
) -> Answer:
    """Merge an entity into another one that is the same person or thing; its names become aliases of that one."""
    change = merge_entities(call.runtime.vault(), name, into, call.runtime.caller())
    return _changed(change, f"merged {change.former} into {change.name}")


def archive(call: Call, name: Annotated[str, _NAME]) -> Answer:
    """Move an entity to archives/."""
    change = archive_entity(call.runtime.vault(), name, call.runtime.caller())
    return _changed(change, f"archived {change.former} as {change.name}")


def rename(
    call: Call, name: Annotated[str, _NAME], new: Annotated[str, Parameter("The new last part of its name.")]
) -> Answer:
    """Rename an entity in its folder; the old name becomes an alias."""
    change = rename_entity(call.runtime.vault(), name, new, call.runtime.caller())
    return _changed(change, f"renamed {change.former} to {change.name}")


def _changed(change: EntityChange, words: str) -> Answer:
    line = words if change.commit else "nothing changed; no commit was made"
    data = {"entity": change.name, "former": change.former, "commit": change.commit}
    return Answer(data, [line], change.notices)


_NAME = Parameter("Its name, title or an alias.", completes="entity")
_CHANGED = {"entity": str, "former": (str, None), "commit": (str, None)}


def make_agent(call: Call, agent_id: Annotated[str, _AGENT_ID]) -> Answer:
    """Create an agent with its own pages and workspace."""
    created = create_agent(call.runtime.vault(), agent_id, call.runtime.caller())
    line = f"created agent {created.id}; the names of its own entities begin with @{created.id}/"
    return Answer({"agent": created.id, "commit": created.commit}, [line], created.notices)


def all_agents(call: Call) -> Answer:
    """List the agents."""
    agents = list_agents(call.runtime.vault())
    known = {agent.id: _known_as(call, agent.id) for agent in agents}
    data = [{"id": agent.id, "entities": list(agent.entities), **known[agent.id]} for agent in agents]
    rows = [
        (agent.id, counted(len(agent.entities), "entity", "entities"), _known_words(known[agent.id]))
        for agent in agents
    ]
    talk = () if rows else ("There are no agents yet.",)
    return Answer({"agents": data}, Table(("agent", "workspace", "known as"), rows), talk=talk)


def agent_pages(call: Call, agent_id: Annotated[str, _AGENT_ID._replace(completes="agent")]) -> Answer:
    """Show an agent's pages and entities."""
    agent = show_agent(call.runtime.vault(), agent_id, call.runtime.caller())
    known = _known_as(call, agent.id)
    data = {"id": agent.id, "entities": list(agent.entities), **known, "pages": dict(agent.pages)}
    lines = [_known_words(known), ""] if known else []
    lines += [line for page, text in agent.pages for line in (f"[{page}]", text.rstrip(), "")]
    return Answer({"agent": data}, [*lines, *agent.entities])


def _known_as(call: Call, agent: str) -> dict[str, str]:
    settings = call.runtime.vault().settings
    return said({key: str(settings.agent_value(agent, key)) for key in ("name", "emoji", "description")})


def _known_words(known: dict[str, str]) -> str:
    name = f"{known.get('emoji', '')} {known.get('name', '')}".strip()
    return ": ".join(filter(None, (name, known.get("description"))))


_AGENT_ID = Parameter("The agent's id, such as finance.")
_AGENT_SHAPE = {"id": str, "entities": [str], "name?": str, "emoji?": str, "description?": str}


VERBS = {
    "entity": {
        "create": Command(
            create,
            _CHANGED,
            ("clawmem entity create areas/people/mia --title 'Mia Berg' --alias mimi",),
        ),
        "list": Command(
            list_, {"entities": [{"...": "entity", "facts": {str: int}}]}, ("clawmem entity list",), ("entities",)
        ),
        "show": Command(show, {"entity": "entity", "summary?": str, "facts": ["fact"]}, ("clawmem entity show jane",)),
        "alias": Command(alias, _CHANGED, ("clawmem entity alias jane 'Dr Jane Doe'",)),
        "move": Command(
            move,
            _CHANGED,
            ("clawmem entity move projects/website resources/website",),
        ),
        "merge": Command(
            merge,
            _CHANGED,
            ("clawmem entity merge areas/people/jane-known-to-tom areas/people/jane",),
        ),
        "archive": Command(archive, _CHANGED, ("clawmem entity archive projects/website",)),
        "rename": Command(
            rename,
            _CHANGED,
            ("clawmem entity rename projects/website homepage",),
        ),
    },
    "agent": {
        "create": Command(make_agent, {"agent": str, "commit": str}, ("clawmem agent create researcher",)),
        "list": Command(all_agents, {"agents": [_AGENT_SHAPE]}, ("clawmem agent list",), ("agents",)),
        "show": Command(
            agent_pages,
            {"agent": {**_AGENT_SHAPE, "pages": {str: str}}},
            ("clawmem agent show finance",),
            ("agent",),
        ),
    },
}
