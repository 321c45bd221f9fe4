"""The plugin for Claude Code: what `clawmem setup claude-code` wires, as files that the program installs itself.

It starts the `clawmem` on the PATH.
"""

from __future__ import annotations

import json

from clawmem import __version__
from clawmem.model.harness import native_events
from clawmem.setup.harnesses import HOOK_SECONDS, SERVER
from clawmem.setup.texts import COMMANDS, SKILL, SKILL_NAME, markdown_command

NAME = "clawmem"
FOLDER = f"plugins/claude-code/{NAME}"
MARKETPLACE = ".claude-plugin"
_ABOUT = "A long-term memory that a person can read, diff and undo."


def plugin_files() -> dict[str, str]:
    """Return the files of the marketplace with its one plugin, by their path in the repository: Claude Code looks for a
    marketplace at the root of one."""
    owner = {"name": "clawmem"}
    files = {
        f"{MARKETPLACE}/marketplace.json": {
            "name": NAME,
            "owner": owner,
            "metadata": {"description": _ABOUT},
            "plugins": [{"name": NAME, "source": f"./{FOLDER}", "description": _ABOUT}],
        },
        f"{FOLDER}/.claude-plugin/plugin.json": {
            "name": NAME,
            "version": __version__,
            "description": _ABOUT,
            "author": owner,
            "license": "MIT",
        },
        f"{FOLDER}/hooks/hooks.json": {
            "hooks": {event: [{"hooks": [_hook(event)]}] for event in native_events("claude-code")}
        },
        f"{FOLDER}/.mcp.json": {
            "mcpServers": {SERVER: {"command": "clawmem", "args": ["mcp", "--agent", "claude-code"]}}
        },
    }
    texts = {path: json.dumps(file, indent=2) + "\n" for path, file in files.items()}
    texts[f"{FOLDER}/skills/{SKILL_NAME}/SKILL.md"] = SKILL
    for name in COMMANDS:
        texts[f"{FOLDER}/commands/{name}.md"] = markdown_command(name, "$ARGUMENTS")
    return texts


def _hook(event: str) -> dict[str, object]:
    words = ["hook", event, "--harness", "claude-code"]
    return {"type": "command", "command": "clawmem", "args": words, "timeout": HOOK_SECONDS}
