"""The caller of an act: values that every act takes instead of reading them from the machine."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from clawmem.model.facts.fact import Entropy
from clawmem.model.named_tuple import NamedTuple

AGENT_SHELLS = {
    "CLAUDECODE": "claude-code", "CLAUDE_CODE_ENTRYPOINT": "claude-code", "CURSOR_AGENT": "cursor",
    "CURSOR_EXTENSION_HOST_ROLE=agent-exec": "cursor", "GEMINI_CLI": "gemini", "CODEX_THREAD_ID": "codex",
    "CODEX_CI": "codex", "CODEX_SANDBOX": "codex", "CODEX_SANDBOX_NETWORK_DISABLED": "codex", "OPENCODE": "opencode",
    "OPENCLAW_SHELL": "openclaw", "AGENT=amp": "amp", "ANTIGRAVITY_AGENT": "antigravity", "AUGMENT_AGENT": "augment",
    "CLINE_ACTIVE": "cline", "COPILOT_CLI": "copilot", "CRUSH": "crush", "GOOSE_TERMINAL": "goose",
    "PI_CODING_AGENT": "pi", "QWEN_CODE": "qwen", "ROO_ACTIVE": "roo", "TRAE_AI_SHELL_ID": "trae", "AI_AGENT": "agent",
}  # fmt: skip
"""The variables that harnesses set in the shells of their agents, some with one value, and the id of the agent. An
empty one says the same, because an agent can empty it for one command. Those of the first lines were seen in the real
programs, those of the others are the ones that these publish."""
NO_AGENTS = frozenset(
    ("user", "the-user", "person", "human", "owner", "me", "you", "system", "admin", "root", "clawmem", "main")
)
"""Names under which no agent runs a command, because a reader would take its words for those of a person. `main` has
the notes and the sessions of the person."""
UNNAMED_AGENT = "agent"
"""The agent that a client without a usable name is."""
IN_SHELLS_ONLY = frozenset(("GEMINI_CLI", "CODEX_THREAD_ID", "CODEX_CI"))
"""Variables of the shells of agents that the hooks of the same programs do not have."""
AGENTS_THAT_TYPE = frozenset(("codex", "openclaw"))
"""Agents with a tool that types into the terminal of a command that they run."""


def agent_shell(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the variable that says that this is the shell of an agent, and the agent's id; None elsewhere."""
    for row, agent in AGENT_SHELLS.items():
        name, _, value = row.partition("=")
        found = environment.get(name)
        if found is not None and value in ("", found):
            return name, agent
    return None


def agent_of_client(name: str | None) -> str:
    """Return the id of the agent that a client of the MCP server is: its name in the letters of an id."""
    agent = re.sub(r"[^a-z0-9_-]+", "-", (name or "").lower()).strip("-_")[:40].strip("-_")
    return UNNAMED_AGENT if not agent or agent in NO_AGENTS else agent


class Viewer(NamedTuple):
    """For whom a memory is read: the people that --viewer and CLAWMEM_VIEWER name, the agent that reads, what tells the
    time, and the agent in whose shell it is read: whoever types there may name any agent."""

    names: tuple[str, ...]
    agent: str | None
    moment: Callable[[], str]
    shell: str | None = None


class Caller(NamedTuple):
    """The agent for whom an act runs (None for a person), its session, the time, and a source of random bytes.

    `shell` is the agent in whose shell the act runs, whoever is named as its agent; None elsewhere. `unattended`
    means that neither a person nor an agent decides what happens: a heartbeat."""

    now: datetime
    entropy: Entropy
    agent: str | None = None
    session: str | None = None
    unattended: bool = False
    shell: str | None = None
