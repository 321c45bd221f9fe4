"""`clawmem mcp`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.model.harness import READER


def mcp(call: Call) -> Answer:
    """It speaks the Model Context Protocol on stdin and stdout, and ends with its input. An agent's client starts it;
    `clawmem setup` tells the client how. Without --agent, the client's name is the agent's id."""
    count = 0 if call.runtime.environment.get(READER) else call.serve_tools()
    return Answer({"messages": count})


VERB = Command(mcp, {"messages": int}, ("clawmem mcp --agent claude-code", "clawmem mcp < requests.jsonl"))
