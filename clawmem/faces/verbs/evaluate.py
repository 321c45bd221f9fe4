"""`clawmem evaluate allow`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clawmem.errors import InvalidInput, Refused
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.governance.allowed_commands import (
    allow_command,
    check_no_agent,
    checksum_of,
    plan_command,
    remove_command,
)
from clawmem.model.records.allowed_command import AllowedCommand, render_allowed, shown_words
from clawmem.vault.state.allowed_commands import read_allowed

_NOT_CHECKED = "Not checked: what these files read or start in turn. --pin FILE adds a file that must not change."


def allow(
    call: Call, command: str | None, work: str, pin: list[str] | None, yes: str | None, list_: bool, remove: str | None
) -> Answer:
    """Allow one command on this machine, in one repository or folder. It shows exactly what would run, and asks. A
    command whose program, script or pinned file changes must be allowed again. Agents cannot allow a command. In a
    script, --yes takes the checksum that a former call printed."""
    if sum((command is not None, list_, remove is not None)) != 1:
        raise InvalidInput(
            "Name a command, or use --list or --remove.",
            "Put the command in quotes: `clawmem evaluate allow 'make test'`.",
        )
    vault, caller = call.runtime.vault(), call.runtime.caller()
    if list_:
        held = read_allowed(vault)
        rows = [(one.id, shown_words(one.words), one.place, one.at, one.by) for one in held]
        data = {"commands": [_data(one) for one in held]}
        talk = () if held else ("No command is allowed on this machine.",)
        return Answer(data, Table(("id", "words", "place", "allowed at", "by"), rows), talk=talk)
    if remove is not None:
        removed = remove_command(vault, remove)
        return Answer({"commands": [_data(removed)]}, [f"removed {removed.id}: {shown_words(removed.words)}"])
    check_no_agent(vault, caller)
    assert command is not None
    folder = (call.runtime.working_folder / Path(work).expanduser()).resolve()
    plan = plan_command(vault, caller, command, folder, pin or ())
    lines, checksum = _plan_lines(plan), checksum_of(plan)
    if yes is not None and yes != checksum:
        raise Refused(f"The checksum of this command is {checksum}, not {yes}, so it was not allowed.", " ".join(lines))
    if yes is None and not call.confirmed(lines, "Allow this command on this machine?"):
        raise Refused(
            " ".join([*lines, "Nothing was allowed."]), f"In a script: --yes {checksum} allows exactly this command."
        )
    allow_command(vault, caller, plan)
    return Answer({"commands": [_data(plan)]}, [*(lines if yes else []), f"allowed on this machine: {plan.id}"])


def _plan_lines(plan: AllowedCommand) -> list[str]:
    program, *others = plan.files
    return [
        f"Words: {shown_words(plan.words)}.",
        f"Program: {shown_words([program.path])} at {program.real}, SHA-256 {program.checksum}.",
        *(f"File: {shown_words([one.path])} at {one.real}, SHA-256 {one.checksum}." for one in others),
        f"Runs in: {plan.place}.",
        *(f"{name}: {value}." for name, value in plan.environment.items()),
        _NOT_CHECKED,
    ]


def _data(command: AllowedCommand) -> dict[str, Any]:
    return {"id": command.id, "checksum": checksum_of(command), **render_allowed(command)}


_COMMAND = {
    "id": str, "checksum": str, "words": [str], "place": str, "files": [{"path": str, "real": str, "checksum": str}],
    "environment": {str: str}, "at": str, "by": str,
}  # fmt: skip
WORK = Parameter("work", "The folder of the checkout.", ("--work",), default=".", metavar="PATH", completes="file")

VERB = {
    "allow": Command(
        allow,
        (
            Parameter("command", "The command, as one argument.", metavar="COMMAND"),
            WORK,
            Parameter("pin", "A further file that must not change.", ("--pin",), repeated=True, completes="file"),
            Parameter("yes", "Do not ask; the checksum of the command.", ("--yes",), metavar="CHECKSUM"),
            Parameter("list_", "List the allowed commands.", ("--list",), bool, False),
            Parameter("remove", "Withdraw the allowance of this command.", ("--remove",), metavar="ID"),
        ),
        {"commands": [_COMMAND]},
        ("clawmem evaluate allow 'make test' --work boat --pin Makefile", "clawmem evaluate allow --list"),
        ("commands",),
    ),
}
