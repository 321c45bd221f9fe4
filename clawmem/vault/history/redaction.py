"""Redaction on disk: move every ref to the new history in one step, delete the old one, and check that nothing is left.

A note below `.git/clawmem/` records the progress. If clawmem is killed before the refs move, the vault is unchanged. If
it is killed after, the next command that writes finishes the redaction.

Rewriting all history with some bytes changed: export, change and import as one stream. Old commits stay
untouched.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from clawmem.errors import ChangedMeanwhile, GitFailed, NeedsDecision, Refused
from clawmem.vault.commit.pending import PendingCommit, clear_pending, finish_pending, locked_index, write_pending
from clawmem.vault.disk import PARTIAL_PREFIX, files_below
from clawmem.vault.git.git import git_error
from clawmem.vault.git.index import clear_crash_reports, clear_ref_locks, partial_objects
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.history.git_merges import MERGE_MARK, UNFINISHED_MERGES
from clawmem.vault.history.history import delete_refs, is_shallow, refs_by_name
from clawmem.vault.past import FOLDER as PAST
from clawmem.vault.vault import Vault

_NOTE = "redacting.json"
_OWN = "refs/clawmem/"
# git's own files that repeat written text or refer to old commits.
_LEFTOVERS = ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "AUTO_MERGE", "gc.log")
_DERIVED = ("objects/info/commit-graph", "objects/info/commit-graphs", "objects/pack/multi-pack-index")

ContentTest = Callable[[bytes], bool]


class RepositoryRef(NamedTuple):
    """A ref, the object it points to, the type of that object (commit or tag), and the commit it resolves to."""

    name: str
    target: str
    kind: str
    commit: str


def check_can_redact(vault: Vault) -> None:
    """Raise Refused or NeedsDecision if the history cannot be rewritten completely, or something would be lost."""
    common = common_dir_of(vault.git_dir)
    vault.head().needed_branch()
    if common != vault.git_dir or any((common / "worktrees").glob("*")):
        raise Refused("The vault has linked work trees, which have a history of their own.", "See `git worktree list`.")
    if is_shallow(vault):
        raise Refused("This is a shallow clone: it lacks history.", "Fetch it: `git fetch --unshallow`.")
    if (common / "objects" / "info" / "alternates").exists():
        raise Refused("The vault uses objects of another repository.", "End that first: `git repack -a -d`.")
    if vault.git.try_run("rev-parse", "--verify", "--quiet", "refs/stash"):
        raise NeedsDecision("There is stashed work, which would be lost.", "Apply or drop it: `git stash list`.")


def list_refs(vault: Vault) -> tuple[RepositoryRef, ...]:
    """Return every ref, except clawmem's own and symbolic ones."""
    form = "--format=%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(symref)"
    rows = [line.split("\0") for line in vault.git.run("for-each-ref", form).decode().splitlines()]
    return tuple(
        RepositoryRef(name, target, kind, peeled or target)
        for name, target, kind, peeled, symref in rows
        if not symref and not name.startswith(_OWN)
    )


def begin_redaction(vault: Vault) -> list[str]:
    """Record that a new history is being written. Return notices about stale locks that were removed, because every ref
    will move."""
    cleared = clear_ref_locks(vault)
    delete_refs(vault, REWRITTEN_REFS)
    _keep(vault, {"phase": "rewriting"})
    return cleared


def switch_refs(vault: Vault, moves: Mapping[str, tuple[str, str | None]], pending: PendingCommit) -> None:
    """Move every ref from its old target to its new one (None: delete it) in one step, then finish. `pending` names
    the files that change.

    Raise ChangedMeanwhile if a ref has moved since it was read, and leave everything as it is: the new history would
    lack a commit, and the old one would stay.
    """
    with locked_index(vault):
        write_pending(vault, pending)
        _keep(vault, {"phase": "switching", "moves": {name: list(pair) for name, pair in moves.items()}})
        try:
            _move(vault, moves)
        except GitFailed as problem:
            now = refs_by_name(vault)
            if any(now.get(name) == new for name, (old, new) in moves.items() if new != old):
                raise  # git was killed while it moved them: the next command goes on
            clear_pending(vault)
            _cancel(vault)
            raise ChangedMeanwhile(
                "A branch or tag moved while its history was rewritten; nothing was changed.", "Run the command again."
            ) from problem
    finish_redaction(vault)


def finish_redaction(vault: Vault) -> None:
    """Update the files and delete the old history."""
    finish_pending(vault)
    delete_old_history(vault)
    (vault.state / _NOTE).unlink(missing_ok=True)


def resume_redaction(vault: Vault) -> list[str]:
    """Finish an interrupted redaction, or cancel it if no ref has moved. Return notices."""
    cleared = clear_ref_locks(vault)
    note = json.loads(vault.disk.read(vault.state / _NOTE) or b"{}")
    if note.get("phase") != "switching":
        _cancel(vault)
        return [*cleared, "a redaction was interrupted before it changed anything: run it again"]
    moves, now = {name: (old, new) for name, (old, new) in note["moves"].items()}, refs_by_name(vault)
    _move(vault, {name: pair for name, pair in moves.items() if now.get(name) == pair[0]})
    finish_redaction(vault)
    return [*cleared, "finished a redaction that was interrupted; run it again to check that nothing is left"]


def _keep(vault: Vault, note: Mapping[str, object]) -> None:
    vault.disk.replace(vault.state / _NOTE, json.dumps(note).encode(), vault.state)


def _move(vault: Vault, moves: Mapping[str, tuple[str, str | None]]) -> None:
    """Move the refs. Raise GitFailed if one of them is not at its old target."""
    lines = []
    for name, (old, new) in moves.items():
        if new != old:
            lines.append("option no-deref\n" + (f"update {name} {new} {old}\n" if new else f"delete {name} {old}\n"))
    vault.git.run("update-ref", "--stdin", "-m", "clawmem redact", stdin="".join(lines).encode())


def _cancel(vault: Vault) -> None:
    delete_refs(vault, REWRITTEN_REFS)
    (vault.state / _NOTE).unlink(missing_ok=True)


def delete_old_history(vault: Vault) -> None:
    """Delete everything that keeps or repeats old history.

    That is: clawmem's own and remote-tracking refs, reflogs, the search index, indexes of past commits, notes about
    merges, temporary files of git, and all unreachable objects.
    """
    delete_refs(vault, _OWN, "refs/remotes/")
    # Delete the files first: a stale lock among them would stop `git reflog`.
    shutil.rmtree(vault.git_dir / "logs", ignore_errors=True)
    vault.git.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    clear_crash_reports(vault)
    for name in (*_LEFTOVERS, *_DERIVED):
        _remove(vault.git_dir / name)
    for name in (PAST, MERGE_MARK, UNFINISHED_MERGES):
        _remove(vault.state / name)
    # The folder `answers` is of earlier versions.
    derived = ("index-*", "index.sqlite", "heartbeat.log*", "vectors.sqlite*", "answers/*")
    for path in (*(path for name in derived for path in vault.state.glob(name)), *partial_objects(vault)):
        _remove(path)
    vault.git.run("-c", "pack.threads=1", "-c", "pack.windowMemory=48m", "repack", "-a", "-d", "-q")
    vault.git.run("prune", "--expire=now")
    vault.git.run("pack-refs", "--all")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def find_remains(vault: Vault, holds: ContentTest) -> list[str]:
    """Return where the text still is: git objects by name, files by path, and paths that contain it. Reads
    everything."""
    return [*_objects(vault, holds), *_files(vault, holds)]


def _objects(vault: Vault, holds: ContentTest) -> Iterator[str]:
    with vault.git.start("cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer") as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.close()
        for header in iter(process.stdout.readline, b""):
            name, kind, size = header.split()
            if holds(process.stdout.read(int(size) + 1)):
                yield f".git: {kind.decode()} {name.decode()}"
        complaint = process.stderr.read()
    if process.returncode != 0:
        raise git_error("cat-file", process.returncode, complaint)


def _files(vault: Vault, holds: ContentTest) -> Iterator[str]:
    """Yield files below the vault that contain the text. Git's objects are checked separately, because they are
    packed."""
    objects = common_dir_of(vault.git_dir) / "objects"
    for path in sorted(files_below(vault.root)):
        if path.is_relative_to(objects) or not (path.is_symlink() or path.is_file()):
            continue
        shown = path.relative_to(vault.root).as_posix()
        if holds(os.fsencode(shown)):
            yield f"{_masked(shown, holds)} (in its name)"
            continue
        try:
            if holds(os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()):
                yield shown
        except FileNotFoundError:
            continue  # a temporary file of a reader
        except OSError:
            yield f"{shown} (which cannot be read)"


def _masked(shown: str, holds: ContentTest) -> str:
    """Return the path without the parts that contain the text."""
    parts = ("[redacted]" if holds(os.fsencode(part)) else part for part in shown.split("/"))
    named = "/".join(parts)
    return "[redacted]" if holds(os.fsencode(named)) else named


# New commits are created below this ref. The branches move later, in one step.
REWRITTEN_REFS = "refs/clawmem/redacting/"
_EXPORT = ("fast-export", "--show-original-ids", "--reencode=no", "--signed-tags=strip", "--use-done-feature")
_IMPORT = ("-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done", "--force")

ContentChange = Callable[[bytes], bytes]


class RewriteResult(NamedTuple):
    """The result of a rewrite or its preview.

    `held` are the commits that contained what was changed, oldest first. `renamed` counts the commits that get a new
    name. `names` maps old names to new ones, empty for a preview.
    """

    held: tuple[str, ...]
    renamed: int
    names: dict[str, str]


class _StreamReader:
    """Applies the change to every blob, message and path of the stream, and records the affected commits."""

    def __init__(self, stream: IO[bytes], change: ContentChange) -> None:
        self._stream = stream
        self._change = change
        self._blobs: set[bytes] = set()
        self._of_blob = False
        self._mark = b""
        self._held: dict[str, None] = {}
        self._renamed: set[bytes] = set()
        self.commits: dict[str, str] = {}

    def pieces(self) -> Iterator[bytes]:
        """Yield the changed stream."""
        for line in iter(self._stream.readline, b""):
            if line.startswith(b"data "):
                yield from self._data(int(line[5:]))
            else:
                yield self._line(line)

    @property
    def held(self) -> tuple[str, ...]:
        """The commits that the change affects."""
        return tuple(self._held)

    @property
    def renamed(self) -> int:
        """How many commits change, including those that only have a changed ancestor."""
        return len(self._renamed)

    def _data(self, size: int) -> Iterator[bytes]:
        data = self._stream.read(size)
        changed = self._change(data)
        if changed != data:
            if self._of_blob:
                self._blobs.add(self._mark)
            else:
                self._record_affected()
        yield b"data %d\n" % len(changed)
        yield changed

    def _line(self, line: bytes) -> bytes:
        word, _, rest = line.partition(b" ")
        if line == b"blob\n" or word == b"commit":
            self._of_blob = line == b"blob\n"
        if word in (b"commit", b"reset"):
            return word + b" " + REWRITTEN_REFS.encode() + rest.removeprefix(b"refs/")
        if word == b"mark":
            self._mark = rest.strip()
        elif word == b"original-oid" and not self._of_blob:
            self.commits[self._mark.decode()] = rest.strip().decode()
        elif word in (b"from", b"merge") and rest.strip() in self._renamed:
            self._renamed.add(self._mark)
        elif word in (b"M", b"D"):
            return self._file(line)
        elif word in (b"author", b"committer", b"tagger"):
            return self._person(word, rest)
        return line

    def _file(self, line: bytes) -> bytes:
        parts = line.split(b" ", 3)
        if parts[0] == b"M" and parts[2] in self._blobs:
            self._record_affected()
        changed = self._change(line)
        if changed != line:
            self._record_affected()
            return line.replace(parts[-1], self._change(parts[-1]).replace(b"[redacted]", b"redacted"))
        return line

    def _person(self, word: bytes, rest: bytes) -> bytes:
        """Change the name and address of an author, which contain no angle brackets."""
        name, _, others = rest.rpartition(b" <")
        address, _, when = others.partition(b"> ")
        changed = self._change(name) + b" <" + self._change(address) + b"> " + when
        if changed != rest and self._mark.decode() in self.commits:
            self._record_affected()
        return word + b" " + changed

    def _record_affected(self) -> None:
        self._held[self.commits[self._mark.decode()]] = None
        self._renamed.add(self._mark)


def preview_rewrite(vault: Vault, refs: Sequence[str], change: ContentChange) -> RewriteResult:
    """Return what a rewrite would change, without writing."""
    with vault.git.start(*_EXPORT, *refs) as exporter:
        assert exporter.stdin and exporter.stdout and exporter.stderr
        exporter.stdin.close()
        reader = _StreamReader(exporter.stdout, change)
        for _ in reader.pieces():
            pass
        complaint = exporter.stderr.read()
    if exporter.returncode != 0:
        raise git_error(_EXPORT[0], exporter.returncode, complaint)
    return RewriteResult(reader.held, reader.renamed, {})


def rewrite(vault: Vault, refs: Sequence[str], change: ContentChange) -> RewriteResult:
    """Write the history of these refs with the change to `refs/clawmem/redacting/`. The refs themselves do not move."""
    marks = vault.state / f"{PARTIAL_PREFIX}marks"
    importing = (*_IMPORT, f"--export-marks={marks}")
    with vault.git.start(*_EXPORT, *refs) as exporter, vault.git.start(*importing) as importer:
        assert exporter.stdin and exporter.stdout and exporter.stderr and importer.stdin and importer.stderr
        exporter.stdin.close()
        reader = _StreamReader(exporter.stdout, change)
        with suppress(BrokenPipeError):  # git failed; its message is read below
            for piece in reader.pieces():
                importer.stdin.write(piece)
        with suppress(BrokenPipeError):
            importer.stdin.close()
        complaint = importer.stderr.read()
        exporter.kill()
    if importer.returncode != 0:
        raise git_error("fast-import", importer.returncode, complaint)
    new = dict(_marks(marks))
    marks.unlink()
    return RewriteResult(reader.held, reader.renamed, {old: new[mark] for mark, old in reader.commits.items()})


def _marks(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text().splitlines():
        mark, _, name = line.partition(" ")
        yield mark, name
