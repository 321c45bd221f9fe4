"""`clawmem backup`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.cli.reading import opened
from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.memory.backup.backup import BackupResult, backup_to_file, backup_to_stream, verify_backup
from clawmem.model.history.manifest import Manifest, manifest_record
from clawmem.model.language.text import counted


def backup(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The file to write, or - for stdout.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file where it exists.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check that backup instead of making one.")] = False,
) -> int:
    """The whole history, checked by restoring it before the file gets its name. Exit code 4 where an edit made by hand
    could not be taken in, or a committed file cannot be read: the output says so."""
    face = Face.of(ctx)
    if verify:
        return _verify(face, file)
    if file == "-":
        return _to_stdout(face)
    target = (face.runtime.working_folder / Path(file).expanduser()).resolve()
    done = backup_to_file(face.runtime.vault(), face.runtime.caller(), target, force)
    return face.done(data(done, target), _lines(done, f"backed up into {target}"), _notices(done), _code(done))


def _to_stdout(face: Face) -> int:
    if face.as_json:
        raise InvalidInput("The backup itself goes to stdout, so JSON cannot.", "Name a file, or leave out --json.")
    if sys.stdout.isatty():
        raise InvalidInput("A backup is no text for a terminal.", "Name a file, or send it on: clawmem backup - | ...")
    out: IO[bytes] = sys.stdout.buffer
    done = backup_to_stream(face.runtime.vault(), face.runtime.caller(), out)
    face.notice(*_notices(done), needed=_code(done) != DONE)
    face.notice(*_lines(done, "backed up"))
    return _code(done)


def _verify(face: Face, file: str) -> int:
    with opened(file) as archive:
        done = verify_backup(archive, face.runtime.environment)
    lines = [f"{file} is whole: it was restored in passing and checked", *_about(done.manifest)]
    return face.done(data(done, None if file == "-" else Path(file)), lines)


def data(done: BackupResult, target: Path | None) -> dict[str, Any]:
    """A backup for programs."""
    return {"file": str(target) if target else None, "size": done.size, "manifest": manifest_record(done.manifest)}


def held(manifest: Manifest) -> str:
    """How much a backup holds, in words."""
    nouns = {"facts": "fact", "events": "event", "entities": "entity", "commits": "commit"}
    numbers = {name: manifest.counts[name] for name in nouns}
    return ", ".join(f"{number:,} {nouns[name] if number == 1 else name}" for name, number in numbers.items())


def _code(done: BackupResult) -> int:
    return PARTIAL if done.manifest.left_out or done.manifest.counts.get("unreadable") else DONE


def _notices(done: BackupResult) -> tuple[str, ...]:
    left_out = (f"not in the backup: {path}: {why}" for path, why in done.manifest.left_out.items())
    unread = done.manifest.counts.get("unreadable", 0)
    what = f"in the backup, but neither readable nor counted: {counted(unread, 'file')} of facts or events"
    return (*done.notices, *left_out, *([f"{what}; `clawmem doctor` says which"] if unread else []))


def _lines(done: BackupResult, first: str) -> Iterator[str]:
    yield first
    yield from _about(done.manifest)


def _about(manifest: Manifest) -> Iterator[str]:
    yield f"{manifest.vault}: {held(manifest)}"
    yield f"commit {manifest.commit[:12]}, made {manifest.made} by {manifest.made_by}"
