"""`clawmem setup`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.model.language.dates import stamp
from clawmem.setup.harnesses import HARNESSES, wiring
from clawmem.setup.programs import own_command
from clawmem.setup.wire import WireResult, receipt_of, unwire, wire


def setup(call: Call, harness: str | None, remove: bool, listed: bool, dry_run: bool) -> Answer:
    """The harness gets an MCP server, hooks, a skill and slash commands, and runs the server's tools without asking;
    other entries of its files stay. --remove restores every file byte for byte, unless somebody changed it since:
    then exactly these entries go."""
    if listed:
        return _list(call)
    if harness is None:
        raise InvalidInput("The harness is missing.", f"Name one of {', '.join(HARNESSES)}, or use --list.")
    if harness not in HARNESSES:
        raise InvalidInput(f"'{harness}' is not a harness.", f"Choose one of {', '.join(HARNESSES)}.")
    runtime = call.runtime
    receipt = receipt_of(harness, runtime.home(), runtime.environment)
    if remove:
        if not receipt.exists:
            return _answer(harness, WireResult(()), f"{harness} is not set up; nothing was removed")
        wanted = wiring(harness, runtime.home(), runtime.environment, ("clawmem",), None)
        done = unwire(wanted, receipt, runtime.environment, dry_run)
        return _answer(harness, done, f"{harness}: nothing to remove", dry_run)
    wanted = _wiring(call, harness)
    done = wire(wanted, receipt, runtime.environment, stamp(runtime.now()), dry_run)
    return _answer(harness, done, f"{harness} is set up already", dry_run, wanted.granted)


def _wiring(call: Call, harness: str) -> Any:
    runtime = call.runtime
    vault = runtime.vault()
    vault.check_writable()
    return wiring(harness, runtime.home(), runtime.environment, own_command(runtime.environment), str(vault.root))


def _answer(
    harness: str, done: WireResult, nothing: str, dry_run: bool = False, granted: tuple[str, ...] = ()
) -> Answer:
    would = "would be " if dry_run else ""
    lines = [f"{file.path}: {would}{file.did}" for file in done.files] or [nothing]
    if granted and done.files:
        lines.append(f"{would}allowed without a question: {', '.join(granted)}")
    lines += ["dry run; nothing was changed"] if dry_run else []
    data = {"harness": harness, "files": [file._asdict() for file in done.files], "granted": list(granted)}
    return Answer(data, lines, done.notices)


def _list(call: Call) -> Answer:
    runtime = call.runtime
    rows = []
    for harness in HARNESSES:
        wanted = wiring(harness, runtime.home(), runtime.environment, ("clawmem",), None)
        receipt = receipt_of(harness, runtime.home(), runtime.environment)
        program = shutil.which(wanted.program, path=runtime.environment.get("PATH"))
        gone = [path for path in receipt.files if not Path(path).exists()]
        state = ("incomplete" if gone else "set up") if receipt.exists else "not set up"
        rows.append({"harness": harness, "program": program, "found": bool(program) or wanted.folder.is_dir(),
                     "state": state, "since": receipt.at or None, "files": list(receipt.files)})  # fmt: skip
    table = [[row["harness"], row["state"], row["program"] or ("no program" if row["found"] else "-")] for row in rows]
    return Answer({"harnesses": rows}, Table(("harness", "state", "program"), table))  # type: ignore[arg-type]


VERB = Command(
    setup,
    (
        Parameter("harness", "{choices}.", metavar="[HARNESS]", choices=HARNESSES),
        Parameter("remove", "Take everything out again.", ("--remove",), bool, False),
        Parameter("listed", "List the harnesses, and what is set up.", ("--list",), bool, False),
        DRY_RUN._replace(help="Show what would be changed; change nothing."),
    ),
    {
        "harness?": str,
        "files?": [{"path": str, "did": str}],
        "granted?": [str],
        "harnesses?": [
            {
                "harness": str,
                "program": (str, None),
                "found": bool,
                "state": {"set up", "incomplete", "not set up"},
                "since": (str, None),
                "files": [str],
            }
        ],
    },
    ("clawmem setup cursor", "clawmem setup cursor --remove", "clawmem setup --list"),
)
