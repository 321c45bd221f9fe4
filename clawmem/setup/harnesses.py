"""What is wired into each harness: which files, with which entries. Nothing here changes a file."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.model.harness import HANDED_IN, native_events
from clawmem.setup.jsonc import Broken, value_at
from clawmem.setup.texts import (
    ALLOWED_TOOLS,
    COMMANDS,
    SKILL,
    SKILL_NAME,
    markdown_command,
    openclaw_plugin,
    opencode_plugin,
    toml_command,
)

SERVER = "clawmem"
SHELL = "shell"
HOOK_SECONDS = 5
# Where a harness sets variables for the commands of its agent, this one says who runs them.
_AGENT = "CLAWMEM_AGENT"
_TRUST = (
    "Codex skips hooks that were not trusted, and says nothing: start `codex` once and accept them under 'Hooks need"
    " review'."
)
_CURSOR_NOTE = (
    "Cursor asks before each tool of clawmem. Allow `clawmem:*` once in its settings under Auto-Run; a list in"
    " permissions.json, if you have one, gets the tools at the next setup."
)
_OPENCLAW_NOTES = (
    "OpenClaw says at each start that it cannot verify where the plugin clawmem comes from. It is the one written"
    " here.",
    "The plugin hands over each turn from now on. For sessions before, `openclaw sessions export-trajectory` writes one"
    " for `clawmem ingest`; a session that comes both ways is stored twice.",
)


class Entry(NamedTuple):
    """One value in a JSON file, at a path of keys; with `append`, one item of the list there."""

    path: Path
    keys: tuple[str, ...]
    value: Any
    append: bool = False


class Block(NamedTuple):
    """Lines at the end of a file, between two comments that mark them."""

    path: Path
    text: str


class OwnFile(NamedTuple):
    """A file of clawmem's own."""

    path: Path
    text: str


Step = Entry | Block | OwnFile


class VendorCommand(NamedTuple):
    """A change by the harness's own command line, of one file; `instead` is the same change without it."""

    path: Path
    program: str
    add: tuple[str, ...]
    remove: tuple[str, ...]
    instead: Step


class Wiring(NamedTuple):
    """All that is wired into one harness: its program, its configuration folder, the changes, and what to know.

    `granted` are the tools that run without a question after the setup. With `plain_json`, the harness refuses a file
    with comments or trailing commas."""

    program: str
    folder: Path
    steps: tuple[Step | VendorCommand, ...]
    notices: tuple[str, ...] = ()
    granted: tuple[str, ...] = ALLOWED_TOOLS
    plain_json: bool = False


def wiring(
    harness: str,
    home: Path,
    environment: Mapping[str, str],
    program: Sequence[str],
    vault: str | None,
    viewer: str | None = None,
) -> Wiring:
    """Return what is wired into a harness. `program` are the first words of clawmem's command line; each command names
    the `vault`, if given, and each that gives words to the agent the `viewer` for whom it reads."""
    named = ("--vault", vault) if vault else ()
    reads = ("--viewer", viewer) if viewer else ()

    def command(*words: str) -> tuple[str, ...]:
        return (*program, *words, *named, *(reads if words[:1] in (("mcp",), ("hook",)) else ()))

    found: Wiring = _WIRINGS[harness](home, environment, command)
    if viewer is None or harness != "claude-code":
        return found
    # The shell of its agent has its variables, too; it takes in transcripts by its hooks.
    rows = [step for step in found.steps if isinstance(step, Entry) and step.keys[-1] == _AGENT]
    more = (Entry(row.path, (*row.keys[:-1], "CLAWMEM_VIEWER"), viewer) for row in rows)
    return found._replace(steps=(*found.steps, *more))


def _claude(home: Path, environment: Mapping[str, str], command: Any) -> Wiring:
    named = environment.get("CLAUDE_CONFIG_DIR")
    folder = Path(named) if named else home / ".claude"
    state = folder / ".claude.json" if named else home / ".claude.json"
    server = command("mcp", "--agent", "claude-code")
    return Wiring(
        "claude",
        folder,
        (
            *(
                Entry(folder / "settings.json", ("hooks", event), {"hooks": [_claude_hook(command, event)]}, True)
                for event in native_events("claude-code")
            ),
            Entry(folder / "settings.json", ("env", _AGENT), "claude-code"),
            *_allowed(folder / "settings.json", ("permissions", "allow"), f"mcp__{SERVER}__{{}}"),
            OwnFile(folder / "skills" / SKILL_NAME / "SKILL.md", SKILL),
            *_commands(folder / "commands"),
            VendorCommand(
                state,
                "claude",
                ("mcp", "add", "-s", "user", SERVER, "--", *server),
                ("mcp", "remove", "-s", "user", SERVER),
                Entry(state, ("mcpServers", SERVER), {"type": "stdio", **_server(server)}),
            ),
        ),
        plain_json=True,
    )


def _allowed(path: Path, keys: tuple[str, ...], name: str) -> tuple[Entry, ...]:
    return tuple(Entry(path, keys, name.format(tool), True) for tool in ALLOWED_TOOLS)


def _claude_hook(command: Any, event: str) -> dict[str, Any]:
    first, *rest = command("hook", event, "--harness", "claude-code")
    return {"type": "command", "command": first, "args": rest, "timeout": HOOK_SECONDS}


def _codex(home: Path, environment: Mapping[str, str], command: Any) -> Wiring:
    named = environment.get("CODEX_HOME")
    folder = Path(named) if named else home / ".codex"
    server = command("mcp", "--agent", "codex")
    hooks = (
        Entry(folder / "hooks.json", ("hooks", event), {"hooks": [_shell_hook(command, event, "codex", 3)]}, True)
        for event in native_events("codex")
    )
    block = f"[mcp_servers.{SERVER}]\ncommand = {json.dumps(server[0])}\nargs = {json.dumps(list(server[1:]))}\n"
    config = folder / "config.toml"
    add = VendorCommand(
        config, "codex", ("mcp", "add", SERVER, "--", *server), ("mcp", "remove", SERVER), Block(config, block)
    )
    skill = OwnFile(folder / "skills" / SKILL_NAME / "SKILL.md", SKILL)
    # Codex asks for no tool whose annotations say that it destroys nothing and reaches nothing outside.
    return Wiring(
        "codex", folder, (*hooks, skill, *_commands(folder / "prompts"), add), (_TRUST,), plain_json=True
    )  # fmt: skip


def _gemini(home: Path, environment: Mapping[str, str], command: Any) -> Wiring:
    folder = home / ".gemini"
    settings = folder / "settings.json"
    server = command("mcp", "--agent", "gemini")
    hooks = (
        # In milliseconds here.
        Entry(settings, ("hooks", event), {"hooks": [_shell_hook(command, event, "gemini", HOOK_SECONDS * 1000)]}, True)
        for event in native_events("gemini")
    )
    files = (OwnFile(folder / "commands" / f"{name}.toml", toml_command(name)) for name in COMMANDS)
    entry = Entry(settings, ("mcpServers", SERVER), {**_server(server), "trust": True})
    return Wiring("gemini", folder, (*hooks, entry, *files))


def _opencode(home: Path, environment: Mapping[str, str], command: Any) -> Wiring:
    base = environment.get("XDG_CONFIG_HOME")
    folder = (Path(base) if base else home / ".config") / "opencode"
    server = {"type": "local", "command": list(command("mcp", "--agent", "opencode")), "enabled": True}
    with_comments = folder / "opencode.jsonc"
    config = with_comments if with_comments.exists() else folder / "opencode.json"
    plugin = OwnFile(folder / "plugin" / f"{SERVER}.js", opencode_plugin(_plugin_commands(command, "opencode")))
    note = "OpenCode keeps its sessions in a database: `opencode export ID | clawmem ingest -` adds an earlier one."
    # Without a rule, every tool is allowed; the last rule that fits a tool decides.
    rules = _value_in(config, ("permission",))
    rule = (Entry(config, ("permission", f"{SERVER}_*"), "allow"),) if isinstance(rules, dict) else ()
    refused = isinstance(rules, str) and rules != "allow"
    steps = (Entry(config, ("mcp", SERVER), server), *rule, plugin, *_commands(folder / "command"))
    return Wiring("opencode", folder, steps, (note,), () if refused else ALLOWED_TOOLS)


def _cursor(home: Path, environment: Mapping[str, str], command: Any) -> Wiring:
    folder = home / ".cursor"
    server = command("mcp", "--agent", "cursor")
    hooks = (
        Entry(folder / "hooks.json", ("hooks", event), {"command": words}, True)
        for event in native_events("cursor")
        if (words := shlex.join(command("hook", event, "--harness", "cursor")))
    )
    version = Entry(folder / "hooks.json", ("version",), 1)
    steps = (version, *hooks, Entry(folder / "mcp.json", ("mcpServers", SERVER), _server(server)))
    # A new list in a file would take the place of the list in the app.
    app, program = folder / "permissions.json", folder / "cli-config.json"
    in_app = _has_list(app, ("mcpAllowlist",))
    grants = _allowed(app, ("mcpAllowlist",), f"{SERVER}:{{}}") if in_app else ()
    if _has_list(program, ("permissions", "allow")):
        grants += _allowed(program, ("permissions", "allow"), f"Mcp({SERVER}:{{}})")
    notices = () if in_app else (_CURSOR_NOTE,)
    granted = ALLOWED_TOOLS if in_app else ()
    return Wiring("cursor", folder, (*steps, *grants, *_commands(folder / "commands")), notices, granted)


def _openclaw(home: Path, environment: Mapping[str, str], command: Any) -> Wiring:
    folder = home / ".openclaw"
    config = folder / "openclaw.json"
    server = command("mcp", "--agent", "openclaw")
    allow = ("plugins", "allow")
    plugin = openclaw_plugin(_plugin_commands(command, "openclaw"))
    steps = (
        Entry(config, ("mcp", "servers", SERVER), _server(server)),
        Entry(config, ("plugins", "entries", SERVER), {"enabled": True, "hooks": {"allowConversationAccess": True}}),
        Entry(config, ("env", "vars", _AGENT), "openclaw"),
        *((Entry(config, allow, SERVER, True),) if _has_list(config, allow) else ()),
        *(OwnFile(folder / "extensions" / SERVER / name, text) for name, text in plugin.items()),
        OwnFile(folder / "workspace" / "skills" / SKILL_NAME / "SKILL.md", SKILL),
    )
    return Wiring("openclaw", folder, steps, _OPENCLAW_NOTES)


def _plugin_commands(command: Any, harness: str) -> dict[str, Sequence[str]]:
    """The commands of a plugin: those of its three events, and the one that takes in a turn."""
    hooks = [command("hook", event, "--harness", harness) for event in native_events(harness)]
    ingest = command("ingest", "-", "--format", HANDED_IN[harness], "--source", harness, "--agent", harness)
    return {**dict(zip(("start", "prompt", "end"), hooks, strict=True)), "ingest": ingest}


def _has_list(config: Path, keys: tuple[str, ...]) -> bool:
    """Whether a file has a list there. A new list would forbid everything that it does not name."""
    return isinstance(_value_in(config, keys), list)


def _value_in(config: Path, keys: tuple[str, ...]) -> Any:
    try:
        return value_at(config.read_text("utf-8"), keys)
    except (OSError, ValueError, Broken):
        return None  # reported when it is edited


def _shell(home: Path, environment: Mapping[str, str], command: Any) -> Wiring:
    shell = Path(environment.get("SHELL", "sh")).name
    rc = {
        "bash": home / ".bashrc",
        "zsh": Path(environment.get("ZDOTDIR") or home) / ".zshrc",
        "fish": Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "fish" / "config.fish",
    }.get(shell, home / ".profile")
    words = shlex.join(command()[:1] if len(command()) == 1 else command())
    name = shell if shell in ("bash", "zsh", "fish") else "sh"
    line = f"{words} aliases {name} | source\n" if shell == "fish" else f'eval "$({words} aliases {name})"\n'
    return Wiring(name, rc.parent, (Block(rc, line),), granted=())


def _server(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _shell_hook(command: Any, event: str, harness: str, timeout: int) -> dict[str, Any]:
    words = shlex.join(command("hook", event, "--harness", harness))
    return {"type": "command", "command": words, "timeout": timeout}


def _commands(folder: Path) -> tuple[OwnFile, ...]:
    return tuple(OwnFile(folder / f"{name}.md", markdown_command(name, "$ARGUMENTS")) for name in COMMANDS)


_WIRINGS = {
    "claude-code": _claude, "codex": _codex, "gemini": _gemini, "opencode": _opencode, "cursor": _cursor,
    "openclaw": _openclaw, SHELL: _shell,
}  # fmt: skip
HARNESSES = tuple(_WIRINGS)


def own_command(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the first words of clawmem's command line, with absolute paths: they do not depend on the PATH of the
    program that uses them."""
    interpreter = os.path.abspath(sys.executable)  # noqa: PTH100 - keep the link of a virtual environment
    script = Path(interpreter).with_name("clawmem")
    if script.is_file() and os.access(script, os.X_OK):
        return (str(script),)
    return (interpreter, "-P", "-m", "clawmem")
