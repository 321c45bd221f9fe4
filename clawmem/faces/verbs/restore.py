"""`clawmem restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from clawmem.errors import PERSON_RUNS, NotPermitted
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FILE, INSIDE_REPOSITORY, Parameter
from clawmem.faces.parts.reading import opened
from clawmem.faces.verbs.backup import held
from clawmem.memory.backup import restore as act


def restore(
    call: Call,
    file: Annotated[str, FILE._replace(metavar="FILE|-", help="A backup, or - for stdin.")],
    folder: Annotated[
        str,
        Parameter("The folder of the new vault; it must not exist or must be empty.", metavar="DIR", completes="file"),
    ],
    inside_repository: Annotated[bool, INSIDE_REPOSITORY],
) -> Answer:
    """The backup is verified before the restore and the vault after it. If a check fails, no file remains."""
    runtime = call.runtime
    root = (runtime.working_folder / Path(folder).expanduser()).resolve()
    caller = runtime.caller()
    if caller.agent and runtime.is_found_anywhere(root):
        why = f"{root} would be the memory of every agent here, so only a person may restore it"
        raise NotPermitted(f"{why}, and {caller.agent} is an agent.", PERSON_RUNS)
    with opened(call, file) as archive:
        result = act(archive, root, caller, runtime.environment, inside_repository=inside_repository)
    manifest = result.manifest
    data = {
        "vault": str(result.root),
        "name": manifest.vault,
        "commit": manifest.commit,
        "made": manifest.made,
        "counts": dict(manifest.counts),
        "left_out": dict(manifest.left_out),
        "errors": result.errors,
    }
    lines = [
        f"restored {manifest.vault} to {result.root}: {held(manifest)}",
        f"commit {manifest.commit[:12]}, backed up {manifest.made}",
    ]
    return Answer(data, lines, result.notices)


VERB = Command(
    restore,
    {
        "vault": str,
        "name": str,
        "commit": str,
        "made": str,
        "counts": {str: int},
        "left_out": {str: str},
        "errors": int,
    },
    ("clawmem restore ~/copies/laptop.clawmem ~/memory",),
)
