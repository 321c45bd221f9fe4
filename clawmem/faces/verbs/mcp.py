"""`clawmem mcp` and `clawmem mcp clients`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import InvalidInput, Refused
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.model.harness import READER
from clawmem.model.language.dates import stamp_of_seconds

if TYPE_CHECKING:
    from clawmem.memory.remote_clients import RemoteClient, RemoteClients

PORT = 8765
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SHOWN = ("name", "since", "used", "id")
LIST, ALLOW, REVOKE = "list", "allow", "revoke"


def serve(
    call: Call,
    address: Annotated[str | None, Parameter(f"With --http: the address; 127.0.0.1:{PORT}.", metavar="HOST:PORT")],
    http: Annotated[bool, Parameter("Serve clients over HTTP, each of which a person allows.", ("--http",))],
    public_url: Annotated[
        str | None,
        Parameter("Where clients reach it through a tunnel or a proxy.", ("--public-url",), metavar="https://HOST"),
    ],
    exposed: Annotated[bool, Parameter("Allow an address that is not loopback.", ("--exposed",))],
) -> Answer:
    """Speak the Model Context Protocol on stdin and stdout, until the input ends. An agent's client starts it, and
    `clawmem setup` tells the client how. Without --agent, the client's name is the agent's id. With --http, it serves
    one vault to clients elsewhere, each of which a person allows as an agent, until Ctrl-C."""
    if http:
        if call.wants_data():
            raise InvalidInput("A server prints its address, and no document.", "Leave --json out.")
        call.serve_clients(*_place(address, public_url, exposed))
        return Answer({"messages": 0})
    if address is not None or public_url is not None or exposed:
        raise InvalidInput("An address is for --http.", "clawmem mcp --http 127.0.0.1:8765")
    count = 0 if call.runtime.environment.get(READER) else call.serve_tools()
    return Answer({"messages": count})


def is_loopback(host: str | None) -> bool:
    """Return whether only this machine reaches a host."""
    from ipaddress import ip_address  # no client on stdin needs it

    try:
        return host == "localhost" or ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False


def _place(address: str | None, public_url: str | None, exposed: bool) -> tuple[str, int, str | None, list[str]]:
    """Host, port, public address, and what a person should know."""
    found = re.fullmatch(r"(?:(\[[\da-f:]+\]|[\w.-]+):)?(\d{1,5})", address or str(PORT), re.ASCII)
    if found is None or int(found[2]) > 65_535:
        raise InvalidInput(f"'{address}' is no address.", f"Write it like 127.0.0.1:{PORT}.")
    host, public = (found[1] or "127.0.0.1").strip("[]"), None if public_url is None else public_url.lower().rstrip("/")
    if public is not None and not re.fullmatch(r"https://[a-z0-9.-]+(:\d{1,5})?", public):
        raise InvalidInput(f"'{public_url}' is no public address.", "Write it like https://memory.example.org.")
    if is_loopback(host) and host not in _LOOPBACK:
        raise InvalidInput(f"{host} is not served.", f"Of loopback, use {', '.join(_LOOPBACK)}.")
    notes = ["A client asks once: `clawmem mcp clients` lists them. Ctrl-C ends the server."]
    if not is_loopback(host):
        if not exposed or public is None:
            raise InvalidInput(
                f"{host} is not loopback: others could reach this port, without encryption.",
                "Let a tunnel or a proxy reach 127.0.0.1, or say --exposed and --public-url if it runs elsewhere.",
            )
        notes.append(f"Others reach {host}, and what passes there is not encrypted.")
    return host, int(found[2]), public, notes


def clients(
    call: Call,
    action: Annotated[str, Parameter("{choices}.", default=LIST, choices=(LIST, ALLOW, REVOKE))],
    client: Annotated[
        str | None, Parameter("To allow: the letters on its page. To revoke: its name, agent or id.", metavar="CLIENT")
    ],
    as_: Annotated[
        str | None, Parameter("The agent that it becomes; else one with its name.", ("--as",), metavar="AGENT")
    ],
    yes: Annotated[bool, Parameter("Do not ask.", ("--yes",))],
) -> Answer:
    """List the clients of `clawmem mcp --http`, allow one that asks, or end one at once.

    `allow` prints a code that the page of the client takes, once, for 10 minutes. The client is then an agent with an
    agent's rights. Agents cannot allow or end one."""
    from clawmem.memory.remote_clients import RemoteClients  # a server that starts needs none of it

    if action not in (LIST, ALLOW, REVOKE):
        raise InvalidInput(f"'{action}' is nothing to do with a client.", "Use list, allow or revoke.")
    runtime = call.runtime
    known = RemoteClients(runtime.vault(), lambda: runtime.now().timestamp())
    if action == LIST:
        return _listed([each for each in known.all().values() if each.agent or known.asked(each.asking)])
    if client is None:
        raise InvalidInput(f"Name the client to {action}.", f"clawmem mcp clients {action} CLIENT")
    if action == ALLOW:
        return _allow(call, known, client, as_, yes)
    revoked = known.revoke(client)
    return Answer({"revoked": _data(revoked)}, [f"{revoked.name} ({revoked.id}) is no client any more"])


def _allow(call: Call, known: RemoteClients, handle: str, named: str | None, yes: bool) -> Answer:
    from clawmem.memory.entities.entities import list_agents
    from clawmem.model.records.caller import AGENT_SHELLS
    from clawmem.model.records.entity import check_agent

    asks = known.waiting(handle)
    others = {agent.id for agent in list_agents(call.runtime.vault())} | set(AGENT_SHELLS.values())
    agent = check_agent(named) if named is not None else known.free_agent(asks.name, others)
    call.runtime.for_agent(agent).caller()  # refuses the name of a person
    lines = [
        f"'{asks.name}' asks to use this memory. It chose that name itself.",
        f"Whoever types the code on its page is led to {asks.asked_for}.",
        f"It would be the agent {agent}: with what that agent may see and write, never as you.",
    ]
    if not yes and not call.confirmed(lines, "Make a code for it?"):
        raise Refused(" ".join([*lines, "Nothing was allowed."]), "Run it again with --yes to make a code.")
    code = known.new_code(asks.asking, agent)
    return Answer({"client": asks.id, "agent": agent, "code": code}, [*(lines if yes else []), f"code {code}"])


def _listed(found: list[RemoteClient]) -> Answer:
    data = [_data(each) for each in found]
    rows = [(row["agent"] or f"asks as {row['asks_as']}", *(row[key] or "" for key in _SHOWN)) for row in data]
    talk = () if found else ("No client is allowed.",)
    return Answer({"clients": data}, Table(("agent", *_SHOWN), rows), talk=talk)


def _data(client: RemoteClient) -> dict[str, Any]:
    seen = {"id": client.id, "name": client.name, "agent": client.agent or None, "redirects": list(client.redirects)}
    return {**seen, "since": _time(client.since), "used": _time(client.used), "asks_as": client.handle or None}


def _time(seconds: int) -> str | None:
    return stamp_of_seconds(seconds) if seconds else None


_CLIENT = {
    "id": str, "name": str, "agent": (str, None), "redirects": [str], "since": (str, None), "used": (str, None),
    "asks_as": (str, None),
}  # fmt: skip

VERB = {
    "serve": Command(
        serve,
        {"messages": int},
        (
            "clawmem mcp --agent claude-code",
            "clawmem mcp < requests.jsonl",
            "clawmem mcp --http --public-url https://memory.example.org",
        ),
        person=lambda record: "lets programs elsewhere use this memory" if record["http"] else "",
    ),
    "clients": Command(
        clients,
        ({"clients": [_CLIENT]}, {"client": str, "agent": str, "code": str}, {"revoked": _CLIENT}),
        ("clawmem mcp clients", "clawmem mcp clients allow K7QX2M --as phone", "clawmem mcp clients revoke phone"),
        ("clients",),
        person=lambda record: "" if record["action"] == LIST else "decides who may use this memory",
    ),
}
