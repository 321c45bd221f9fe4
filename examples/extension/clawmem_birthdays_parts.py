"""What the extension names: clawmem imports this module when it needs a part."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from clawmem.errors import Unreadable
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.heartbeat.reports import Due, Report, Reporter, Step
from clawmem.model.kinds import AS_WRITTEN, FILE, LIFE, NONE, PARSE, PERSON, RECORD, FileKind
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

PATH = "life/birthdays.json"


def parse(data: bytes, path: str, yaml: Callable[[str, str], Any]) -> list[str]:
    """Return the texts, such as `04-17 Jane`. Raise Unreadable where the file has anything else."""
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(line, str) for line in found):
        raise Unreadable(path, 1, "it must be a list of texts such as '04-17 Jane'")
    return found


def birthdays(vault: Vault) -> list[str]:
    """Return the birthdays of a vault."""
    return sorted(parse(vault.read(PATH) or b"[]", PATH, lambda text, path: None))


def show(call: Call) -> Answer:
    """Each line has the date and the name."""
    found = birthdays(call.runtime.vault())
    return Answer({"birthdays": found}, found)


def sections(vault: Vault, caller: Caller, question: str | None) -> list[tuple[str, list[str], str]]:
    """Return the section of a context, if there are birthdays."""
    found = birthdays(vault)
    return [("Birthdays", found, "clawmem birthdays")] if found else []


VERB = Command(show, {"birthdays": [str]}, ("clawmem birthdays",))
KINDS = (FileKind("birthdays", (PATH,), f"{__name__}:parse", AS_WRITTEN, PARSE, RECORD, PERSON, NONE, FILE, (LIFE,)),)
REPORT = Reporter({"birthdays": int}, lambda found, explain: Report({"birthdays": len(found)}))
COUNT = Step(
    "birthdays", "Count the birthdays.", Due("always", lambda run: True), lambda run: birthdays(run.vault), REPORT
)
STEPS = {"memory": (COUNT,)}
