"""`clawmem completions`, `clawmem aliases` and `clawmem schema`."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import Annotated

from clawmem.errors import PERSON_RUNS, InvalidInput, NotFound, NotPermitted
from clawmem.extension import ask
from clawmem.faces.parts.command import Answer, Call, Command, Group
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.shapes import document_schema
from clawmem.faces.verbs.table import VERBS as ALL_VERBS
from clawmem.faces.verbs.table import current_words, load
from clawmem.model.language.text import check_choice, near_name
from clawmem.setup.texts import SHELLS, shell_functions

FILES = {"bash": "clawmem.bash", "zsh": "_clawmem", "fish": "clawmem.fish"}
# Beside the package in a checkout, inside of it where it is installed.
_PLACES = tuple(folder / "completions" for folder in Path(__file__).parents[2:4])


_COMPINIT = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }; "
_RC = {"bash": (".bashrc", ""), "zsh": (".zshrc", _COMPINIT)}
_MARK = "# completion of clawmem"


def completions(
    call: Call,
    shell: Annotated[str, Parameter("{choices}.", metavar="SHELL", choices=tuple(FILES))],
    install: Annotated[bool, Parameter("Install it for this user, for shells that start from now on.", ("--install",))],
) -> Answer:
    """The first lines of the script explain how to load it. It completes verbs, options, entities, fact ids and
    settings. With --install, bash and zsh get one line in `~/.bashrc` or `~/.zshrc`."""
    if shell not in FILES:
        raise InvalidInput(f"There is no completion script for '{shell}'.", f"Choose one of {', '.join(FILES)}.")
    script = next(place for place in _PLACES if place.is_dir()).joinpath(FILES[shell]).read_text("utf-8")
    lines = _installed(call, shell, script) if install else [script.rstrip("\n")]
    return Answer({"shell": shell, "file": FILES[shell], "script": script}, lines)


def _installed(call: Call, shell: str, script: str) -> list[str]:
    """Write the script to its place, and the line that loads it where the shell does not look there by itself."""
    runtime = call.runtime
    if runtime.agent() is not None:
        raise NotPermitted("Only a person changes the shells of this user.", PERSON_RUNS)
    home = runtime.home()
    fish = Path(runtime.environment.get("XDG_CONFIG_HOME") or home / ".config") / "fish" / "completions"
    target = (fish if shell == "fish" else home / ".local" / "share" / "clawmem") / FILES[shell]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(script.encode())
    lines = [f"wrote {target}"]
    if shell in _RC:
        name, before = _RC[shell]
        rc = home / name
        text = rc.read_bytes() if rc.exists() else b""
        if _MARK.encode() not in text:
            gap, script_path = "" if text.endswith(b"\n") or not text else "\n", quote(str(target))
            with rc.open("a", newline="\n") as file:
                file.write(f"{gap}[ -f {script_path} ] && {{ {before}source {script_path}; }}  {_MARK}\n")
            lines.append(f"added a line to {rc}")
    return [*lines, f"new shells of {shell} complete clawmem"]


def aliases(call: Call, shell: Annotated[str, Parameter("{choices}.", metavar="SHELL", choices=SHELLS)]) -> Answer:
    """The functions are remember, recall, note, memory and why. They use the vault in CLAWMEM_VAULT and the agent in
    CLAWMEM_AGENT, and also work in a shell that a program starts. A command of such a name stays what it is."""
    check_choice(shell, "known shell", SHELLS)
    script = shell_functions(shell)
    return Answer({"shell": shell, "script": script}, [script.rstrip("\n")])


CONTRACT = "contract"


def schema(
    call: Call,
    verb: Annotated[
        str | None, Parameter("A verb, such as recall or agent; or contract.", choices=(*ALL_VERBS, CONTRACT))
    ],
    word: Annotated[
        str | None, Parameter("The second word of the command, such as create.", completes="word of a verb")
    ],
) -> Answer:
    """With --json every verb prints one document that matches its schema (JSON Schema 2020-12), also on failure.
    Without a verb, all commands with a schema are listed. `clawmem schema contract` prints the schema of the lines that
    `publish` takes."""
    if verb is None:
        names = [name for verb in ALL_VERBS for name in _names(verb)]
        return Answer({"commands": names}, names)
    if (verb, word) == (CONTRACT, None):
        schema = ask("hub", "contract schema")
        return Answer({"command": CONTRACT, "schema": schema}, [json.dumps(schema, indent=2)])
    name, *following = [word for word in current_words(verb) if not word.startswith("-")]
    made = document_schema(_command(name, " ".join(following) or word).shape)
    return Answer({"command": " ".join(filter(None, (verb, word))), "schema": made}, [json.dumps(made, indent=2)])


def _names(verb: str) -> list[str]:
    found = load(verb)
    return [verb] if isinstance(found, Command) else [f"{verb} {word}" for word in found]


def _command(verb: str, word: str | None) -> Command:
    found: Command | Group = load(verb) if verb in ALL_VERBS else {}
    command = found if isinstance(found, Command) and word is None else None
    if not isinstance(found, Command):
        command = found.get(word or "")
    if command is None:
        name = " ".join(filter(None, (verb, word)))
        near = near_name(name, [other_name for each in ALL_VERBS for other_name in _names(each)])
        hint = f"Did you mean {near!r}? " if near else ""
        raise NotFound(f"There is no command '{name}'.", f"{hint}`clawmem schema` lists all commands.")
    return command


VERBS = {
    "completions": Command(
        completions,
        {"shell": set(FILES), "file": str, "script": str},
        ("clawmem completions zsh --install", "clawmem completions bash > clawmem.bash"),
    ),
    "aliases": Command(
        aliases,
        {"shell": set(SHELLS), "script": str},
        ("clawmem aliases bash",),
    ),
    "schema": Command(
        schema,
        ({"commands": [str]}, {"command": str, "schema": {str: object}}),
        ("clawmem schema recall", "clawmem schema agent create", "clawmem schema contract"),
    ),
}
