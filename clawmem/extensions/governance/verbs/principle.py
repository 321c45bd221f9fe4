"""`clawmem principle check|list|show`."""

from __future__ import annotations

import json
from typing import Annotated, Any

from clawmem import __version__
from clawmem.errors import DONE, REFUSED, IncompleteAnswer, NoVault
from clawmem.extensions.governance.principle import PRINCIPLES_PATH, Finding, Principle, sarif_log
from clawmem.extensions.governance.principles import check_files, find_principle, read_principles, read_principles_file
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.model.language.text import counted
from clawmem.vault.vault import Vault


def check(
    call: Call,
    path: Annotated[
        str | None, Parameter("The folder, repository or file; the default is this folder.", completes="file")
    ],
    file: Annotated[str | None, _FILE],
    sarif: Annotated[bool, Parameter("Print the findings as SARIF 2.1.0.", ("--sarif",))],
) -> Answer:
    """Check a folder, a repository or one file against the principles. Each line that breaks one is printed as
    `file:line: id: rule`, and the exit code is 1. In a git checkout, ignored files are left out, and globs and printed
    paths are relative to its top. Binary files are left out. A command of a principle runs only if a person allowed it
    there: `clawmem evaluate allow COMMAND --work FOLDER`."""
    principles = _principles(call, file)
    runtime = call.runtime
    vault = _vault(call) if any(principle.command for principle in principles) else None
    result = check_files(principles, runtime.working_folder / (path or "."), runtime.environment, vault)
    data = {"findings": [finding._asdict() for finding in result.findings], "checked": result.checked}
    not_run = [notice for notice in result.notices if isinstance(notice, IncompleteAnswer)]
    if sarif:
        lines = json.dumps(sarif_log(result.findings, principles, __version__, not_run), indent=1).split("\n")
    else:
        lines = [f"{finding.path}:{finding.line}: {finding.principle}: {_said(finding)}" for finding in result.findings]
    broken = counted(len(result.findings), "line") + (" breaks" if len(result.findings) == 1 else " break")
    text = (
        f"{broken} a principle; {counted(result.checked, 'file')} checked against {counted(len(principles), 'rule')}."
    )
    return Answer(data, lines, result.notices, REFUSED if result.findings else DONE, (text,))


def list_(call: Call, file: Annotated[str | None, _FILE]) -> Answer:
    """List the principles."""
    found = _principles(call, file)
    rows = [(principle.id, principle.rule, " ".join(principle.paths)) for principle in found]
    talk = () if rows else (f"There are no principles; they are in {PRINCIPLES_PATH}.",)
    return Answer(
        {"principles": [_data(principle) for principle in found]},
        Table(("principle", "rule", "paths"), rows),
        talk=talk,
    )


def show(
    call: Call,
    principle: Annotated[str, Parameter("The principle's id.", completes="principle")],
    file: Annotated[str | None, _FILE],
) -> Answer:
    """Show a principle: its rule and reason, the files it is about, its check, and its examples."""
    other_principle = find_principle(_principles(call, file), principle)
    lines = [
        f"{other_principle.id}: {other_principle.rule}",
        f"reason: {other_principle.reason}",
        f"paths: {' '.join(other_principle.paths)}",
    ]
    lines.append(
        f"no line may match: {other_principle.pattern.pattern}"
        if other_principle.pattern
        else f"command: {other_principle.command}"
    )
    lines += [f"good: {line}" for example in other_principle.good for line in example.splitlines()]
    lines += [f"bad: {line}" for example in other_principle.bad for line in example.splitlines()]
    return Answer({"principle": _data(other_principle)}, lines)


def _vault(call: Call) -> Vault | None:
    try:
        return call.runtime.vault()
    except NoVault:
        return None  # the principles of a file need none


def _said(finding: Finding) -> str:
    return finding.rule if finding.line else finding.text


def _principles(call: Call, file: str | None) -> tuple[Principle, ...]:
    return read_principles_file(call.runtime.working_folder / file) if file else read_principles(call.runtime.vault())


def _data(principle: Principle) -> dict[str, Any]:
    return {
        "id": principle.id,
        "rule": principle.rule,
        "reason": principle.reason,
        "paths": list(principle.paths),
        "check": {"regex": principle.pattern.pattern} if principle.pattern else {"command": principle.command},
        "good": list(principle.good),
        "bad": list(principle.bad),
    }


_PRINCIPLE = {
    "id": str, "rule": str, "reason": str, "paths": [str], "check": {"regex?": str, "command?": str}, "good": [str],
    "bad": [str],
}  # fmt: skip
_FINDING = {"path": str, "line": int, "start": int, "end": int, "principle": str, "rule": str, "text": str}
_FILE = Parameter("The file of principles; the default is the vault's.", ("--file",), metavar="PATH", completes="file")

VERB = {
    "check": Command(
        check,
        {"findings": [_FINDING], "checked": int},
        ("clawmem principle check", "clawmem principle check copies --sarif"),
        ("findings",),
    ),
    "list": Command(list_, {"principles": [_PRINCIPLE]}, ("clawmem principle list",), ("principles",)),
    "show": Command(
        show,
        {"principle": _PRINCIPLE},
        ("clawmem principle show no-breakpoints",),
        ("principle",),
    ),
}
