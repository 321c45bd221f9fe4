"""What clawmem puts into harnesses in words: the skill, the slash commands, and the functions for a shell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

SKILL_NAME = "clawmem"
ALLOWED_TOOLS = (
    "recall", "context", "why", "remember", "supersede", "note", "decision", "session_end", "learn_pending",
    "learn_apply",
)  # fmt: skip
"""The tools that run without a question after a setup: they read or add, and what they change is kept, marked."""
SKILL = Path(__file__).with_name("skill.md").read_text("utf-8")

COMMANDS = {
    "remember": (
        "Store a fact in the long-term memory.",
        "Store this in the long-term memory: {arguments}\n\nMake it one plain sentence for each fact, with names and"
        " dates in full. Look with the clawmem tool `recall` whether the memory has it already: if an old fact no"
        " longer holds, replace it with `supersede`, else store it with `remember`. Then say in one line what you"
        " stored.",
    ),
    "recall": (
        "Search the long-term memory.",
        "Search the long-term memory with the clawmem tool `recall` for: {arguments}\n\nAnswer from what it finds, with"
        " dates, and name the ids of the facts. If nothing is found, try fewer words once, then say so.",
    ),
    "note": (
        "Add a line to today's note in the long-term memory.",
        "Add one line to today's note with the clawmem tool `note`: {arguments}\n\nWithout text, write what was done in"
        " this session so far, in one line.",
    ),
}
"""The slash commands: what each is for, and its prompt, in which `{arguments}` stands for what the person types."""


def markdown_command(name: str, arguments: str) -> str:
    """Return a slash command as Markdown with front matter, with the harness's word for the arguments."""
    about, prompt = COMMANDS[name]
    return f"---\ndescription: {about}\nargument-hint: TEXT\n---\n\n{prompt.format(arguments=arguments)}\n"


def toml_command(name: str) -> str:
    """Return a slash command as TOML, as Gemini CLI reads it."""
    about, prompt = COMMANDS[name]
    return f'description = "{about}"\nprompt = """\n{prompt.format(arguments="{{args}}")}\n"""\n'


def opencode_plugin(commands: Mapping[str, Sequence[str]]) -> str:
    """Return the plugin for OpenCode, with the commands `start`, `prompt`, `ingest` and `end`."""
    return _with_commands("opencode.js", commands)


def _with_commands(file: str, commands: Mapping[str, Sequence[str]]) -> str:
    code = Path(__file__).with_name(file).read_text("utf-8")
    for name, command in commands.items():
        code = code.replace(f"{{{name}}}", json.dumps(list(command)))
    return code


def openclaw_plugin(commands: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the files of a plugin for OpenClaw, by name. It runs four commands of clawmem: `start` when a session
    begins, `prompt`, `ingest` after each turn, and `end` when no turn follows."""
    about = "Long-term memory of this user and their projects."
    code = _with_commands("openclaw.js", commands)
    manifest = {
        "id": "clawmem", "name": "clawmem", "description": about, "activation": {"onStartup": True},
        "configSchema": {"type": "object", "additionalProperties": False},
    }  # fmt: skip
    package = {"name": "clawmem", "version": "1.0.0", "type": "module", "openclaw": {"extensions": ["./index.js"]}}
    return {
        "openclaw.plugin.json": json.dumps(manifest, indent=2) + "\n",
        "package.json": json.dumps(package, indent=2) + "\n",
        "index.js": code.replace("{about}", about),
    }


_FUNCTIONS = {"remember": "remember", "recall": "recall", "note": "note", "memory": "context", "why": "why"}
SHELLS = ("bash", "zsh", "fish", "sh")


def shell_functions(shell: str) -> str:
    """Return the functions for a shell, which also work where nobody types: `remember`, `recall`, `note`, `memory` (the
    context for a task) and `why`. A name that is a command already keeps its meaning."""
    if shell == "fish":
        rows = [
            f"type -q {name}; or function {name} --description 'clawmem {verb}'; clawmem {verb} $argv; end"
            for name, verb in _FUNCTIONS.items()
        ]
    else:
        rows = [
            f"command -v {name} >/dev/null 2>&1 || eval '{name}() {{ clawmem {verb} \"$@\"; }}'"
            for name, verb in _FUNCTIONS.items()
        ]
    head = ["# clawmem: words for the memory that CLAWMEM_VAULT names, as the agent that CLAWMEM_AGENT names."]
    return "\n".join([*head, *rows]) + "\n"
