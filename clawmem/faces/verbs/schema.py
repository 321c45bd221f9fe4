"""`clawmem schema`."""

from __future__ import annotations

import json
from typing import Annotated

from clawmem.errors import NotFound
from clawmem.extension import ask
from clawmem.faces.parts.command import Answer, Call, Command, Group
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.shapes import document_schema
from clawmem.faces.verbs.table import VERBS, current_words, load
from clawmem.model.language.text import near_name

CONTRACT = "contract"


def schema(
    call: Call,
    verb: Annotated[str | None, Parameter("A verb, such as recall or agent; or contract.", choices=(*VERBS, CONTRACT))],
    word: Annotated[
        str | None, Parameter("The second word of the command, such as create.", completes="word of a verb")
    ],
) -> Answer:
    """With --json every verb prints one document that matches its schema (JSON Schema 2020-12), also on failure.
    Without a verb, all commands with a schema are listed. `clawmem schema contract` prints the schema of the lines that
    `publish` takes."""
    if verb is None:
        names = [name for verb in VERBS for name in _names(verb)]
        return Answer({"commands": names}, names)
    if (verb, word) == (CONTRACT, None):
        schema = ask("hub", "contract schema")
        return Answer({"command": CONTRACT, "schema": schema}, [json.dumps(schema, indent=2)])
    name, *following = [word for word in current_words(verb) if not word.startswith("-")]
    command = _command(name, " ".join(following) or word)
    made = document_schema(command.shape)
    return Answer({"command": " ".join(filter(None, (verb, word))), "schema": made}, [json.dumps(made, indent=2)])


def _names(verb: str) -> list[str]:
    found = load(verb)
    return [verb] if isinstance(found, Command) else [f"{verb} {word}" for word in found]


def _command(verb: str, word: str | None) -> Command:
    found: Command | Group = load(verb) if verb in VERBS else {}
    command = found if isinstance(found, Command) and word is None else None
    if not isinstance(found, Command):
        command = found.get(word or "")
    if command is None:
        name = " ".join(filter(None, (verb, word)))
        known = [other_name for each in VERBS for other_name in _names(each)]
        near = near_name(name, known)
        hint = f"Did you mean {near!r}? " if near else ""
        raise NotFound(f"There is no command '{name}'.", f"{hint}`clawmem schema` lists all commands.")
    return command


VERB = Command(
    schema,
    ({"commands": [str]}, {"command": str, "schema": {str: object}}),
    ("clawmem schema recall", "clawmem schema agent create", "clawmem schema contract"),
)
