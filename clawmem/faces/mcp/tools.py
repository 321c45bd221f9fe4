"""The tools: verbs with those of their parameters that a model needs, and a call of one of them.

`tools.json` is the list of tools as clients get it, made from the tables here and of the verbs by
`python -m tests.manual`. A server reads that file, and imports a verb, with all that it needs, at its first call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from io import BytesIO
from typing import IO, Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command, check_person
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.verbs.table import load
from clawmem.model.language.text import visible
from clawmem.model.records.session import SCHEMA
from clawmem.model.safety.recalled_text import OPENING, OPENING_OF_TASK, wrap_context
from clawmem.runtime import Runtime

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


# What a model needs to hand in what it learned; the verb takes more.
_HANDED_IN = ("summary", "reflection", "lessons", "decisions", "warnings")


def _short(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of the document that a tool offers, and those that are required."""
    kept = {key: value for key, value in schema["properties"].items() if key in _HANDED_IN}
    return {"properties": kept, "required": [key for key in schema["required"] if key in kept]}


class Tool(NamedTuple):
    """A tool: its verb, the names of the verb's parameters that it takes, and what a client is told about it.

    A tool that `reads` sees what the project of the server's folder sees. With `document`, a JSON Schema, its other
    arguments are the keys of a document that the verb reads from stdin; with `whole`, the one of them is all of it."""

    verb: str
    title: str
    about: str
    takes: tuple[str, ...]
    reads: bool = False
    repeatable: bool = False
    document: Mapping[str, Any] | None = None
    whole: bool = False


_ANSWER = {"answer": {"type": "string", "description": "The answer, in the form that the task asks for."}}
TOOLS = {
    "recall": Tool(
        "recall",
        "Search the memory",
        "Search the long-term memory: facts, past conversations, notes, summaries, best first, with ids and dates. Use"
        " it before you answer a question about the user, earlier work or decisions, and before you store a fact.",
        ("question", "where", "entity", "as_of", "limit", "include_superseded", "every", "org"),
        reads=True,
    ),
    "context": Tool(
        "context",
        "Context for a task",
        "What the memory knows that bears on a task, as one text within a token budget. Use it once at the start of a"
        " task. For one question, recall is cheaper.",
        ("question", "budget", "entity", "as_of", "org"),
        reads=True,
    ),
    "remember": Tool(
        "remember",
        "Store a fact",
        "Store one fact that will still matter in a month: a preference, decision, lesson or correction. One plain"
        " sentence that begins with the entity's name, with names and dates in full. A known fact is reinforced, not"
        " repeated. Credentials are refused.",
        ("text", "entity", "category", "tags", "reason", "valid_from", "valid_to", "importance", "scope"),
        repeatable=True,
    ),
    "supersede": Tool(
        "supersede",
        "Replace a fact",
        "Replace a fact that no longer holds or was wrong. Get its id from recall. The old fact is kept, marked.",
        ("fact", "text", "reason", "valid_from"),
    ),
    "why": Tool(
        "why",
        "Origin of a fact",
        "Where a fact comes from: its evidence, commits, author, and the facts before and after it.",
        ("fact",),
        reads=True,
    ),
    "session_end": Tool(
        "session end",
        "End the session",
        "Hand in what this session taught, when the work is done: a summary, what was learned, lessons, and decisions"
        " with their reasons. The next session in this project starts with it. Only what is worth a later session.",
        ("session",),
        document=_short(SCHEMA),
    ),
    "note": Tool(
        "note",
        "Note what happened",
        "Add one line to today's note: what was done, what happened. Facts are learned from it later.",
        ("text",),
    ),
    "decision": Tool(
        "decision add",
        "Store a decision",
        "Store a decision with its reason, when it is made.",
        ("decided", "why", "alternatives"),
    ),
    "learn_pending": Tool(
        "learn pending",
        "Read what waits",
        "The next task of reading: conversations that no model has read yet, and the form of the answer. Answer with"
        " learn_apply.",
        ("limit_tokens",),
        reads=True,
    ),
    "learn_apply": Tool(
        "learn apply",
        "Hand in what was read",
        "Hand in the answer to the task of learn_pending. Each fact is checked. If it asks once more, answer again.",
        (),
        repeatable=True,
        document={"properties": _ANSWER, "required": [*_ANSWER]},
        whole=True,
    ),
}


class ToolCall(Call):
    """A call of a verb as a tool: nobody watches, and nobody can be asked. Its stdin is a document, if it has one."""

    def __init__(self, runtime: Runtime, document: object = None) -> None:
        super().__init__(runtime)
        self._document = document

    def stdin(self) -> IO[bytes] | None:
        """The document: a text as it is, anything else as JSON."""
        if self._document is None:
            return None
        text = self._document if isinstance(self._document, str) else json.dumps(self._document)
        return BytesIO(text.encode(errors="replace"))


def tool_list() -> list[dict[str, Any]]:
    """The tools as `tools/list` gives them."""
    return [_described(name, tool) for name, tool in TOOLS.items()]


def call_tool(name: str, arguments: Mapping[str, Any], runtime: Runtime) -> str:
    """Call a tool and return its answer as text, which is marked where it came out of the memory.

    Raises InvalidInput, with the parameters that the tool has, where the arguments do not fit it."""
    tool = TOOLS[name]
    command = _command(tool)
    taken = {parameter.name: parameter for parameter in command.parameters if parameter.name in tool.takes}
    document = None
    if tool.document is not None:
        document = {key: value for key, value in arguments.items() if key not in taken and value is not None}
        arguments = {key: value for key, value in arguments.items() if key in taken}
    if tool.whole:
        document = _only(name, tool, document or {})
    record = _checked(name, taken, arguments)
    values = {parameter.name: record.get(parameter.name, parameter.default) for parameter in command.parameters}
    if document is not None:
        values["file"] = "-"
        if "session" in taken:
            values["session"] = record.get("session") or _ensure_session(runtime)
    elif tool.reads and "project" in values:
        values["project"] = runtime.project()
    runtime.check_verb(tool.verb)
    check_person(command, tool.verb, values, runtime.agent())
    answer: Answer = command.function(ToolCall(runtime, document), **values)
    text = _text(answer.finished(runtime))
    return wrap_context(text) if tool.reads and not text.startswith((OPENING, OPENING_OF_TASK)) else text


def _only(name: str, tool: Tool, document: Mapping[str, Any]) -> Any:
    """The value of the one argument that is all of a tool's document."""
    keys = [*(tool.document or {})["required"]]
    if [*document] != keys:
        raise InvalidInput(f"{name} takes one argument, '{keys[0]}'.", "Give the answer as one text.")
    return document[keys[0]]


def _text(answer: Answer) -> str:
    notes = [f"note: {notice}" for notice in (*answer.notices, *answer.talk)]
    return visible("\n".join([*answer.plain(), *notes]))


def _ensure_session(runtime: Runtime) -> str:
    """Return the session of an agent that names none; it is new where the program that runs the agent started none."""
    from clawmem.work.sessions.records import session_at_work  # only for this tool
    from clawmem.work.sessions.start import start_session

    vault, caller, project = runtime.vault(), runtime.caller(), runtime.project()
    found = caller.session or session_at_work(vault, caller, project)
    return found or start_session(vault, caller, runtime.workflow(), project).record.id


def _command(tool: Tool) -> Command:
    name, _, word = tool.verb.partition(" ")
    verb = load(name)
    return verb if isinstance(verb, Command) else verb[word]


def _described(name: str, tool: Tool) -> dict[str, Any]:
    known = {parameter.name: parameter for parameter in _command(tool).parameters}
    taken = [known[take] for take in tool.takes]
    required = [parameter.name for parameter in taken if _is_required(parameter)]
    document = tool.document or {"properties": {}, "required": []}
    return {
        "name": name,
        "title": tool.title,
        "description": tool.about,
        "inputSchema": {
            "type": "object",
            "properties": {**document["properties"], **{parameter.name: _property(parameter) for parameter in taken}},
            "required": [*document["required"], *required],
            "additionalProperties": False,
        },
        "annotations": {
            "readOnlyHint": tool.reads,
            "destructiveHint": False,
            "idempotentHint": tool.reads or tool.repeatable,
            "openWorldHint": False,
        },
    }


def _is_required(parameter: Parameter) -> bool:
    """Whether the tool needs it: the verbs can also read facts or a decision from a file, which no tool does."""
    return parameter.required or parameter.name in ("text", "decided", "why")


def _property(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _TYPES[parameter.kind]}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.least is not None:
        schema["minimum"] = parameter.least
    if parameter.most is not None:
        schema["maximum"] = parameter.most
    if parameter.repeated:
        schema = {"type": "array", "items": schema}
    return {**schema, "description": _about(parameter)}


def _about(parameter: Parameter) -> str:
    """The parameter's help, without what only a command line has."""
    text = parameter.help
    for part in (", or - for stdin", "; may be repeated, or several between commas", "; may be repeated"):
        text = text.replace(part, "")
    return text.replace(": {choices}", "")


def _checked(name: str, taken: Mapping[str, Parameter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    record = {key: value for key, value in arguments.items() if value is not None}
    for key in record:
        if key not in taken:
            near = get_close_matches(key, taken, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise InvalidInput(f"{name} has no parameter '{key}'.", f"{hint}It takes {', '.join(taken)}.")
    for parameter in taken.values():
        if parameter.name not in record and _is_required(parameter):
            raise InvalidInput(f"The parameter '{parameter.name}' of {name} is missing.", _about(parameter))
    return {key: _value(taken[key], value) for key, value in record.items()}


def _value(parameter: Parameter, value: Any) -> Any:
    if not parameter.repeated:
        return _single(parameter, value)
    rows = value if isinstance(value, list) else [value]
    return [_single(parameter, row) for row in rows] or None


def _single(parameter: Parameter, value: Any) -> Any:
    fits = isinstance(value, parameter.kind) and (parameter.kind is bool or not isinstance(value, bool))
    if parameter.kind is float and isinstance(value, int) and not isinstance(value, bool):
        value, fits = float(value), True
    if not fits:
        article = "an" if parameter.kind is int else "a"
        raise InvalidInput(
            f"'{parameter.name}' is {value!r}, which is not {article} {_TYPES[parameter.kind]}.", _about(parameter)
        )
    if parameter.choices and value not in parameter.choices:
        raise InvalidInput(f"'{parameter.name}' is '{value}'.", f"Choose one of {', '.join(parameter.choices)}.")
    if (parameter.least is not None and value < parameter.least) or (
        parameter.most is not None and value > parameter.most
    ):
        most = f" and at most {parameter.most}" if parameter.most is not None else ""
        raise InvalidInput(f"'{parameter.name}' is {value}.", f"It must be at least {parameter.least or 0}{most}.")
    if parameter.kind is str and "\0" in value:
        raise InvalidInput(f"'{parameter.name}' contains a NUL character.", "Leave it out.")
    return value
