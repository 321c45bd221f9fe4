"""A command line that a suite contains, run in this process in a vault of the suite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from typing import IO, Any

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.faces.cli.plain import plain_call, verb_of
from clawmem.faces.cli.terminal import SCHEMA_VERSION
from clawmem.faces.parts.command import Answer, Call, Command, InnerRun, check_person
from clawmem.faces.parts.failures import explained
from clawmem.model.language.text import visible
from clawmem.runtime import Runtime

# Verbs that stay within the vault. Whoever may write a suite must reach nothing else: no file, program or network.
VERBS = frozenset(
    "status remember recall context show list supersede retract merge link graph note ingest synthesize promote learn"
    " heartbeat session lesson decision digest review tier log why diff undo entity agent".split()
)


class _InnerCall(Call):
    """A call without a person; its stdin is a text."""

    def __init__(self, runtime: Runtime, data: bytes) -> None:
        super().__init__(runtime)
        self._given = data

    def stdin(self) -> IO[bytes]:
        """The text."""
        return BytesIO(self._given)


def run_inner(words: Sequence[str], runtime: Runtime, argument: bytes) -> InnerRun:
    """Run a command line and return its exit code and what it writes to stdout; an error is written there, too.

    Raise InvalidInput if it cannot be read as a plain call, or reaches outside the vault.
    """
    call = plain_call(words)
    if call is None:
        raise InvalidInput(
            f"'{' '.join(words)}' is not a plain command line of clawmem.",
            "Check the verb and its options; a value that begins with a dash is written --option=VALUE.",
        )
    command, given_values, common = call
    _check(words, command, given_values, common)
    inner = _InnerCall(runtime if common["agent"] is None else runtime.renewed(common["agent"]), argument)
    values = dict(given_values)
    for parameter in command.parameters:
        if parameter.stdin and values[parameter.name] == "-":
            values[parameter.name] = argument.decode("utf-8", errors="replace")
    try:
        check_person(command, verb_of(words), values, inner.runtime.agent())
        answer = command.function(inner, **values)
    except (ClawmemError, OSError) as problem:
        found = explained(problem)
        if not common["json"]:
            return InnerRun(found.exit_code, visible(f"error: {found.message}\n"))
        error = {"code": found.code, "message": found.message, "hint": found.hint}
        return InnerRun(found.exit_code, _document({"ok": False, "error": error, "notices": []}))
    if not isinstance(answer, Answer):
        raise InvalidInput(f"'{' '.join(words)}' has no answer that a suite can read.", "Use another command.")
    answer = answer.finished(inner.runtime)
    if common["json"]:
        data = {key: value() if callable(value) else value for key, value in answer.made().items()}
        text = _document({"ok": True, "data": data, "notices": list(answer.notices)})
    else:
        text = "".join(f"{visible(line)}\n" for line in answer.plain())
    return InnerRun(answer.exit_code, text)


def _check(words: Sequence[str], command: Command, record: dict[str, Any], common: dict[str, Any]) -> None:
    verb = verb_of(words).split()[0]
    if verb not in VERBS:
        raise InvalidInput(f"A suite cannot run `{verb}`.", f"It can run {', '.join(sorted(VERBS))}.")
    for name in ("vault", "jsonl", "fields"):
        if common[name] not in (None, False):
            raise InvalidInput(f"A suite cannot use --{name}.", "Its commands run in the vault of the suite.")
    for parameter in command.parameters:
        value = record[parameter.name]
        if parameter.name == "model" and value is not None:
            raise InvalidInput("A suite cannot name a model.", "Leave --model out.")
        if parameter.completes == "file" and value not in (None, "-"):
            raise InvalidInput(
                f"'{' '.join(words)}' reads the file {value}, which a suite cannot do.",
                "Write - in its place, and the text into the step's stdin.",
            )


def _document(body: dict[str, Any]) -> str:
    return visible(json.dumps({"schema_version": SCHEMA_VERSION, **body}, ensure_ascii=False)) + "\n"
