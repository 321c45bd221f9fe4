"""`clawmem backup` and `clawmem restore`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from clawmem.errors import DONE, PARTIAL, PERSON_RUNS, NotPermitted
from clawmem.faces.parts.command import Answer, Call, Command, Stream
from clawmem.faces.parts.parameters import FILE, INSIDE_REPOSITORY, Parameter
from clawmem.faces.parts.reading import opened
from clawmem.memory.backup import BackupResult, backup_to_file, backup_to_stream, verify_backup
from clawmem.memory.backup import restore as restore_act
from clawmem.model.history.entry import Manifest, manifest_record
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted


def backup(
    call: Call,
    file: Annotated[
        str,
        FILE._replace(metavar="FILE|-", help="The file to write, a folder for one named by the day, or - for stdout."),
    ],
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
    if file.endswith("/") or target.is_dir():
        target /= f"{runtime.vault().root.name.lstrip('.')}-{stamp(runtime.caller().now)[:10]}.clawmem"
    return _answer(backup_to_file(runtime.vault(), runtime.caller(), target, force), target)


def _answer(result: BackupResult, target: Path | None) -> Answer:
    first = f"backed up to {target}" if target else "backed up"
    code = PARTIAL if result.manifest.left_out or result.manifest.counts.get("unreadable") else DONE
    return Answer(_data(result, target), [first, *_about(result.manifest)], _notices(result), code)


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


def _about(manifest: Manifest) -> Iterator[str]:
    yield f"{manifest.vault}: {held(manifest)}"
    yield f"commit {manifest.commit[:12]}, made {manifest.made} by {manifest.made_by}"


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
        result = restore_act(archive, root, caller, runtime.environment, inside_repository=inside_repository)
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


VERBS = {
    "backup": Command(
        backup,
        {"file": (str, None), "size": int, "manifest": "manifest"},
        (
            "clawmem backup ~/memory.clawmem",
            "clawmem backup --verify ~/memory.clawmem",
            "clawmem backup - | ssh host 'cat > memory.clawmem'",
        ),
    ),
    "restore": Command(
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
    ),
}
