"""What commands print with --json is held against the schemas that `clawmem schema` prints."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import jsonschema

from clawmem.faces.cli.plain import in_current_words
from clawmem.faces.parts.command import Command
from clawmem.faces.parts.parameters import COMMON
from clawmem.faces.parts.shapes import document_schema
from clawmem.faces.verbs.table import USUAL_WORDS, VERBS, load

_WITH_VALUE = {flag for parameter in COMMON for flag in parameter.flags if parameter.kind is not bool}


def check_document(words: Sequence[str], printed: str) -> str | None:
    """Check the document that a command line printed; returns the command's name, or None where the command line asks
    for no document of a command (help, an unknown verb).

    Records of facts and proposals may hold keys that a later version writes. Here, none does.
    """
    name = _named(words)
    if "--json" not in words or name is None or {"-h", "--help", "--version"} & set(words):
        return None
    document = json.loads(printed)
    _validator(name, document["ok"], any(word.startswith("--fields") for word in words)).validate(document)
    return name


def clawmem_calls(line: str) -> Iterator[list[str]]:
    """The words of each call of clawmem in a line of shell."""
    lexer = shlex.shlex(re.sub(r"\$\([^)]*\)", "IT", line), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for token in [*lexer, ";"]:
        if set(token) <= set("();<>|&"):
            if words[:1] == ["clawmem"]:
                yield words[1:]
            words = []
        else:
            words.append(token)


def _named(words: Sequence[str]) -> str | None:
    names, skip = [], False
    for word in in_current_words(words):
        if not skip and not word.startswith("-"):
            names.append(word)
        skip = word in _WITH_VALUE
    name = names[0] if names else ""
    if name not in VERBS:
        return None
    verb = load(name)
    if isinstance(verb, Command):
        return name
    if names[1:] and names[1] not in verb and name in USUAL_WORDS:
        return f"{name} {USUAL_WORDS[name]}"
    return f"{name} {names[1]}" if names[1:] and names[1] in verb else None


@cache
def _validator(name: str, ok: bool, partial: bool) -> Any:
    verb, _, word = name.partition(" ")
    found = load(verb)
    schema = _strict(document_schema((found if isinstance(found, Command) else found[word]).shape))
    if partial:
        schema = _partial(schema)
    # The branch that the document claims to be: what is wrong in it can be read, in a choice of two it cannot.
    return jsonschema.Draft202012Validator({**schema["anyOf"][0 if ok else 1], "$defs": schema["$defs"]})


def _partial(schema: Any) -> Any:
    """The schema of records with only some of their fields."""
    if isinstance(schema, list):
        return [_partial(other) for other in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _partial(other) for key, other in schema.items() if key != "required"}


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(other) for other in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if schema.get("properties") and "additionalProperties" in schema else {}
    return {**{key: _strict(other) for key, other in schema.items()}, **closed}
