"""`clawmem doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.errors import DONE, REFUSED
from clawmem.memory.checks.problem import ERROR, INFO, WARNING, Problem
from clawmem.memory.doctor import Diagnosis
from clawmem.memory.doctor import doctor as act
from clawmem.model.text import counted


def doctor(
    ctx: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what is safe to mend, one commit each.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Have git check every object of the history, too.")] = False,
) -> int:
    """Exit code 0 where no error remains, 1 where one does; warnings and information do not count."""
    face = Face.of(ctx)
    found = act(face.runtime.vault(), face.runtime.caller(), fix=fix, full=full)
    data = {
        "problems": [one._asdict() for one in found.problems],
        "checked": dict(found.checked),
        "commits": list(found.commits),
    }
    return face.done(data, _lines(found, fix), found.notices, DONE if found.healthy else REFUSED)


def _lines(found: Diagnosis, fix: bool) -> Iterator[str]:
    for one in found.problems:
        yield _line(one)
    yield "Checked: " + ", ".join(f"{what} {number:,}" for what, number in found.checked.items()) + "."
    numbers = [counted(found.left(ERROR), "error"), counted(found.left(WARNING), "warning"), f"{found.left(INFO)} info"]
    yield ", ".join(numbers) + "."
    mendable = sum(1 for one in found.problems if one.fixable and not one.fixed)
    if mendable and not fix:
        yield f"{mendable} of these can be mended safely: clawmem doctor --fix"


def _line(one: Problem) -> str:
    place = "" if one.path is None else f"{one.path}:{one.line}  " if one.line else f"{one.path}  "
    return f"{'mended' if one.fixed else one.severity}  {place}{one.message}  [{one.check}]"
