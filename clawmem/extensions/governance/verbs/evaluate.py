"""`clawmem evaluate task|allow|alignment`; the word `task` may be left out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import DONE, PARTIAL, REFUSED, ClawmemError, InvalidInput, Refused
from clawmem.extensions.governance.criterion import (
    COMMAND,
    ESCALATE,
    FAIL,
    PASS,
    UNDECIDED,
    Evaluation,
    criteria_of,
)
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import data_of
from clawmem.memory.allowed_commands import (
    allow_command,
    checksum_of,
    find_allowed,
    plan_command,
    read_allowed,
    remove_command,
    top_of_checkout,
)
from clawmem.model.forms import to_record
from clawmem.model.records.allowed_command import AllowedCommand, shown_words

if TYPE_CHECKING:
    from clawmem.extensions.governance.alignment import Agreement

_NOT_CHECKED = "Not checked: what these files read or start in turn. --pin FILE adds a file that must not change."
_AT_TERMINAL = "At a terminal, the same command without --yes shows all of it and its checksum, and asks."
_EXIT = {PASS: DONE, FAIL: REFUSED, ESCALATE: PARTIAL}


def task(call: Call, task: Annotated[str, _TASK], work: Annotated[str | None, _WORK]) -> Answer:
    """Check a task against its acceptance list. A criterion `command: ...` runs a command that a person allowed, and
    `rule: ...` checks files or the memory; a model judges the others, if one is set. Ticked boxes do not count. The
    verdict is `pass` (exit code 0), `fail` (1), or `escalate` (4): then a person decides in `review`."""
    from clawmem.extensions.governance.evaluator import evaluate  # the other commands do not need it

    runtime = call.runtime
    vault = runtime.vault()
    result = evaluate(vault, runtime.caller(), task, work, runtime.working_folder, runtime.model("evaluate"))
    found = result.evaluation
    lines = [f"{judged.result}  {judged.criterion}  [{judged.kind}]  {judged.evidence}" for judged in found.results]
    lines.append(f"{found.verdict}: {found.reason}")
    waiting = result.proposal.id if result.proposal else None
    lines += [f"waits as {waiting}: `clawmem review approve {waiting}`"] if waiting else []
    data = data_of(found, proposal=waiting, commit=result.commit)
    unchecked = any(each.kind == COMMAND and each.result == UNDECIDED for each in found.results)
    hint = f"A person sees and allows the commands of the task: `clawmem evaluate allow --task {found.task}`."
    return Answer(data, lines, result.notices, _EXIT[found.verdict], talk=(hint,) if unchecked else ())


def alignment(call: Call) -> Answer:
    """Show how often the verdicts agreed with the decisions of people: over all decisions, over the last ones, for each
    kind of criterion, and for each workflow. Below 0.8, nothing passes by itself."""
    # The other commands do not need these.
    from clawmem.extensions.governance.alignment import BAR, WINDOW, report_alignment

    result = report_alignment(call.runtime.vault(), call.runtime.caller())
    report = result.report
    named = [("all", report.all), (f"last {WINDOW}", report.last)]
    named += [(f"kind {name}", kind) for name, kind in report.kinds.items()]
    named += [(f"workflow {name or '(none)'}", workflow) for name, workflow in report.workflows.items()]
    rows = [
        (
            name,
            *(str(agreement[place]) for place in range(4)),
            "-" if agreement.rate is None else f"{agreement.rate:.3f}",
        )
        for name, agreement in named
    ]
    data = {
        "all": _agreement(report.all),
        "last": _agreement(report.last),
        "kinds": {name: _agreement(kind) for name, kind in report.kinds.items()},
        "workflows": {name: _agreement(workflow) for name, workflow in report.workflows.items()},
        "bar": BAR,
        "window": WINDOW,
        "passes": result.passes,
        "commit": result.commit,
    }
    text = "A verdict `pass` counts." if result.passes else "The agreement is below the bar: nothing passes by itself."
    columns = ("decisions", "agreed", "false pass", "false fail", "escalated", "agreement")
    return Answer(data, Table(columns, rows), result.notices, talk=(text,))


def allow(
    call: Call,
    command: Annotated[str | None, Parameter("The command, as one argument.", metavar="COMMAND")],
    task: Annotated[
        str | None, Parameter("Allow the commands of a task, one after the other.", ("--task",), metavar="TASK")
    ],
    work: Annotated[
        str | None,
        Parameter(
            "The folder; the default is the checkout that you are in.", ("--work",), metavar="PATH", completes="file"
        ),
    ],
    pin: Annotated[list[str] | None, Parameter("A further file that must not change.", ("--pin",), completes="file")],
    yes: Annotated[str | None, Parameter("Do not ask; the checksum of the command.", ("--yes",), metavar="CHECKSUM")],
    list_: Annotated[bool, Parameter("List the allowed commands.", ("--list",))],
    remove: Annotated[str | None, Parameter("Withdraw the allowance of this command.", ("--remove",), metavar="ID")],
) -> Answer:
    """Allow one command on this machine, in one repository or folder. It shows exactly what would run, and asks. A
    command whose program, script or pinned file changes must be allowed again. Agents cannot allow a command. At a
    terminal it also shows a checksum: in a script, --yes with it allows exactly the command that was shown."""
    if sum((command is not None, task is not None, list_, remove is not None)) != 1:
        raise InvalidInput(
            "Name a command, or use --task, --list or --remove.",
            "Put it in quotes: `clawmem evaluate allow 'make test'`.",
        )
    vault, caller = call.runtime.vault(), call.runtime.caller()
    if list_:
        items = read_allowed(vault)
        rows = [(each.id, shown_words(each.words), _shown_place(each.place), each.at, each.by) for each in items]
        data = {"commands": [_data(each) for each in items]}
        talk = () if items else ("No command is allowed on this machine.",)
        return Answer(data, Table(("id", "words", "place", "allowed at", "by"), rows), talk=talk)
    if remove is not None:
        removed = remove_command(vault, remove)
        return Answer({"commands": [_data(removed)]}, [f"removed {removed.id}: {shown_words(removed.words)}"])
    here = call.runtime.working_folder
    folder = top_of_checkout(here) if work is None else (here / Path(work).expanduser()).resolve()
    wanted = [command] if command is not None else _commands_of(call, task or "", folder)
    plans, lines = [], list[str]()
    for each in wanted:
        plan = plan_command(vault, caller, each, folder, pin or ())
        _confirm(call, plan, yes)
        allow_command(vault, plan)
        plans.append(plan)
        lines += [*(_plan_lines(plan) if yes else []), f"allowed on this machine: {plan.id}"]
    talk = () if plans else ("The task has no command that is not allowed already.",)
    return Answer({"commands": [_data(other_plan) for other_plan in plans]}, lines, talk=talk)


def _commands_of(call: Call, reference: str, folder: Path) -> list[str]:
    """Return the commands of a task that are not allowed in a folder yet."""
    from clawmem.work.tasks import find_task  # only where a task is named

    found = find_task(call.runtime.vault(), reference)
    commands = [
        criterion.check
        for criterion in criteria_of(each.text for each in found.acceptance)
        if criterion.kind == COMMAND
    ]
    return [command for command in dict.fromkeys(commands) if not _is_allowed(call, command, folder)]


def _is_allowed(call: Call, command: str, folder: Path) -> bool:
    try:
        find_allowed(call.runtime.vault(), command, folder)
    except ClawmemError:
        return False
    return True


def _confirm(call: Call, plan: AllowedCommand, yes: str | None) -> None:
    """Raise Refused unless a person has seen the plan and agrees."""
    lines, checksum = _plan_lines(plan), checksum_of(plan)
    if yes is not None and yes != checksum:
        wrong = f"The checksum of this command is not {yes}, so it was not allowed."
        raise Refused(" ".join([wrong, *lines]), _AT_TERMINAL)
    shown = [*lines, f"Checksum: {checksum}; in a script, --yes {checksum} allows exactly this command."]
    if yes is None and not call.confirmed(shown, "Allow this command on this machine?"):
        raise Refused(" ".join(["Nothing was allowed.", *lines]), _AT_TERMINAL)


def _plan_lines(plan: AllowedCommand) -> list[str]:
    program, *others = plan.files
    at = {file.path: shown_words([file.real]) for file in plan.files}
    return [
        f"Words: {shown_words(plan.words)}.",
        f"Program: {shown_words([program.path])} at {at[program.path]}, SHA-256 {program.checksum}.",
        *(f"File: {shown_words([other.path])} at {at[other.path]}, SHA-256 {other.checksum}." for other in others),
        f"Runs in: {_shown_place(plan.place)}.",
        *(f"{name}: {shown_words([value])}." for name, value in plan.environment.items()),
        _NOT_CHECKED,
    ]


def _shown_place(place: str) -> str:
    """Return where an allowance holds, in words. The name of a folder cannot look like another line."""
    path = Path(place)
    if path.name != ".git":
        shared = (path / "HEAD").is_file() and (path / "objects").is_dir()
        return f"the repository {shown_words([place])} and its work trees" if shared else shown_words([place])
    return f"the repository {shown_words([str(path.parent)])} and its work trees"


def _data(command: AllowedCommand) -> dict[str, Any]:
    return {"id": command.id, "checksum": checksum_of(command), **to_record(command, ())}


def _agreement(agreement: Agreement) -> dict[str, Any]:
    return {**agreement._asdict(), "rate": agreement.rate}


_COMMAND = {"id": str, "checksum": str, "...": AllowedCommand}
_AGREEMENT = {"...": "clawmem.extensions.governance.alignment:Agreement", "rate": (float, None)}
_TASK = Parameter("The slug or the title of the task.", metavar="TASK")
_WORK = Parameter(
    "A checkout, a file, or a commit; the default is the checkout that you are in.",
    ("--work",),
    metavar="PATH",
    completes="file",
)

VERB = {
    "task": Command(
        task,
        {
            "...": Evaluation, "proposal": (str, None), "commit": str,
        },
        ("clawmem evaluate paint-the-boat --work boat", "clawmem evaluate task paint-the-boat"),
        ("results",),
    ),
    "allow": Command(
        allow,
        {"commands": [_COMMAND]},
        ("clawmem evaluate allow 'make test' --work boat --pin Makefile", "clawmem evaluate allow --list"),
        ("commands",),
        person=lambda record: "" if record["list_"] or record["remove"] else "lets a program run on this machine",
    ),
    "alignment": Command(
        alignment,
        {
            "all": _AGREEMENT, "last": _AGREEMENT, "kinds": {str: _AGREEMENT}, "workflows": {str: _AGREEMENT},
            "bar": float, "window": int, "passes": bool, "commit": (str, None),
        },
        ("clawmem evaluate alignment",),
    ),
}  # fmt: skip
