"""`clawmem backup`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from clawmem.errors import DONE, PARTIAL
from clawmem.faces.parts.command import Answer, Call, Command, Stream
from clawmem.faces.parts.parameters import FILE, Parameter
from clawmem.faces.parts.reading import opened
from clawmem.memory.backup import BackupResult, backup_to_file, backup_to_stream, verify_backup
from clawmem.model.history.entry import Manifest, manifest_record
from clawmem.model.language.text import counted


def backup(
    call: Call,
    file: Annotated[str, FILE._replace(metavar="FILE|-", help="The file to write, or - for stdout.")],
    force: Annotated[bool, Parameter("Replace the file if it exists.", ("--force",))],
    verify: Annotated[bool, Parameter("Verify the backup in FILE instead of creating one.", ("--verify",))],
) -> Answer | Stream:
    """The backup contains the whole history. It is verified by a test restore before the file gets its name. The exit
    code is 4 if a hand edit could not be committed or a committed file cannot be read; the output names the file."""
    if verify:
        return _verified(call, file)
    runtime = call.runtime
    if file == "-":
        return Stream("backup", lambda out: _answer(backup_to_stream(runtime.vault(), runtime.caller(), out), None))
    target = (runtime.working_folder / Path(file).expanduser()).resolve()
    return _answer(backup_to_file(runtime.vault(), runtime.caller(), target, force), target)


def _answer(result: BackupResult, target: Path | None) -> Answer:
    first = f"backed up to {target}" if target else "backed up"
    code = PARTIAL if result.manifest.left_out or result.manifest.counts.get("unreadable") else DONE
    return Answer(_data(result, target), _lines(result, first), _notices(result), code)


def _verified(call: Call, file: str) -> Answer:
    with opened(call, file) as archive:
        result = verify_backup(archive, call.runtime.environment)
    lines = [f"{file} is valid: a test restore succeeded", *_about(result.manifest)]
    return Answer(_data(result, None if file == "-" else Path(file)), lines)


def _data(result: BackupResult, target: Path | None) -> dict[str, Any]:
    return {"file": str(target) if target else None, "size": result.size, "manifest": manifest_record(result.manifest)}


def held(manifest: Manifest) -> str:
    """The number of facts, events, entities and commits in a backup, in words."""
    nouns = {"facts": "fact", "events": "event", "entities": "entity", "commits": "commit"}
    numbers = {name: manifest.counts[name] for name in nouns}
    return ", ".join(f"{number:,} {nouns[name] if number == 1 else name}" for name, number in numbers.items())


def _notices(result: BackupResult) -> tuple[str, ...]:
    left_out = (f"not in the backup: {path}: {why}" for path, why in result.manifest.left_out.items())
    unread = result.manifest.counts.get("unreadable", 0)
    what = f"in the backup, but not readable and not counted: {counted(unread, 'file')} of facts or events"
    return (*result.notices, *left_out, *([f"{what}; `clawmem doctor` names them"] if unread else []))


def _lines(result: BackupResult, first: str) -> Iterator[str]:
    yield first
    yield from _about(result.manifest)


def _about(manifest: Manifest) -> Iterator[str]:
    yield f"{manifest.vault}: {held(manifest)}"
    yield f"commit {manifest.commit[:12]}, made {manifest.made} by {manifest.made_by}"


VERB = Command(
    backup,
    {"file": (str, None), "size": int, "manifest": "manifest"},
    (
        "clawmem backup ~/copies/memory.clawmem",
        "clawmem backup --verify ~/copies/memory.clawmem",
        "clawmem backup - | ssh host 'cat > memory.clawmem'",
    ),
)
