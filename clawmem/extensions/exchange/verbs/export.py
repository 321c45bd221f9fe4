"""`clawmem export`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from clawmem.errors import InvalidInput
from clawmem.extension import ask
from clawmem.extensions.exchange.okf import render
from clawmem.faces.parts.command import Answer, Call, Command, Feed
from clawmem.faces.parts.parameters import OF_ENTITY, Parameter
from clawmem.faces.parts.reading import write_folder, write_lines
from clawmem.model.facts.codec import fact_to_record
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.serving.browse import ExportedMemory, export_memory

_FORMATS = ("okf", "jsonl")


def export(
    call: Call,
    target: Annotated[str, Parameter("The folder or file to write; for jsonl, - is stdout.", completes="file")],
    format_: Annotated[
        str,
        Parameter(
            "{choices}: a folder of pages, or one fact a line.", ("--format", "-f"), default="okf", choices=_FORMATS
        ),
    ],
    contract: Annotated[bool, Parameter("Write lines of the interchange contract.", ("--contract",))],
    since: Annotated[str | None, Parameter("With --contract: only what changed after this commit.", ("--since",))],
    entity: Annotated[str | None, OF_ENTITY],
    force: Annotated[bool, Parameter("Replace files that exist.", ("--force",))],
) -> Answer | Feed:
    """Current and superseded facts are written, with their sources; retracted ones are not. `backup` writes the whole
    vault with its history. With --contract, the lines are what `publish` takes; with --since, only what was added or
    changed after a commit, and what was revoked."""
    if contract:
        return _contract(call, target, entity, since, force)
    if since is not None:
        raise InvalidInput("--since is for --contract only.", "Add --contract, or leave out --since.")
    if format_ not in _FORMATS:
        raise InvalidInput(f"'{format_}' is not a format.", f"Choose one of {', '.join(_FORMATS)}.")
    runtime = call.runtime
    caller = runtime.caller()
    if format_ == "okf" and target == "-":
        raise InvalidInput("OKF is a folder of pages.", "Name a folder: `clawmem export ./bundle`.")
    memory = export_memory(runtime.vault(), caller, entity)
    if format_ == "jsonl" and target == "-":
        number = sum(1 for _ in memory.facts())
        data = {"format": format_, "target": None, "written": number, "files": 0}
        return Answer(data, _lines(memory), memory.notices, talk=[f"{counted(number, 'fact')} written"])
    place = (runtime.working_folder / Path(target).expanduser()).resolve()
    if format_ == "jsonl":
        files, folder, name = {place.name: "".join(f"{line}\n" for line in _lines(memory))}, place.parent, place.name
        write_folder(folder, files, force, only=name)
    else:
        files = render(memory.concepts, day_of(stamp(caller.now)))
        write_folder(place, files, force)
    number = sum(1 for _ in memory.facts())
    data = {"format": format_, "target": str(place), "written": number, "files": len(files)}
    text = f"{counted(number, 'fact')} written to {place}, in {counted(len(files), 'file')}"
    return Answer(data, [text], memory.notices)


def _contract(call: Call, target: str, entity: str | None, since: str | None, force: bool) -> Answer | Feed:
    export = ask("hub", "contract export")(call.runtime.vault(), call.runtime.caller(), entity, since)
    if target == "-":
        return Feed(export.lines, end=lambda: Answer({}, (), export.notices, talk=[_next(export.commit)]))
    place = (call.runtime.working_folder / Path(target).expanduser()).resolve()
    number = write_lines(place, (json.dumps(line, ensure_ascii=False) for line in export.lines), force)
    data = {"format": "contract", "target": str(place), "written": number, "files": 1, "commit": export.commit}
    text = f"{counted(number, 'line')} written to {place}"
    return Answer(data, [text, _next(export.commit)], export.notices)


def _next(commit: str | None) -> str:
    return f"for what changes from now on: clawmem export - --contract --since {commit[:12] if commit else 'COMMIT'}"


def _lines(memory: ExportedMemory) -> Iterator[str]:
    for placed in memory.facts():
        yield json.dumps({**fact_to_record(placed.fact), "entity": placed.entity}, ensure_ascii=False)


VERB = Command(
    export,
    {"format": str, "target": (str, None), "written": int, "files": int, "commit?": (str, None)},
    (
        "clawmem export ./okf",
        "clawmem export facts.jsonl --format jsonl --force",
        "clawmem export news.jsonl --contract --since HEAD~1",
    ),
)
