"""The condition of git's own files, beyond what git notices by itself: its index, files altered without a trace."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.model.records.layout import is_owned
from clawmem.vault.commit.pending import locked_index
from clawmem.vault.git.index import replace_index
from clawmem.vault.git.refs import common_dir_of, lost_branch
from clawmem.vault.vault import Vault

DAMAGED_INDEX = "git-index.damaged"


def head_blobs(vault: Vault, commit: str) -> dict[str, str]:
    """The name of each plain file's contents in a commit, by path. Runs git."""
    rows = vault.git.run("ls-tree", "-r", "-z", commit).decode(errors="surrogateescape").split("\0")
    found = (row.partition("\t") for row in rows if row.startswith("100"))
    return {path: described.split()[2] for described, _, path in found}


def altered_files(vault: Vault, in_head: dict[str, str], known: Collection[str]) -> list[str]:
    """The owned files whose contents are not those of HEAD, though git, which looks at times and sizes, takes them for
    unchanged; `known` are those it knows of. Reads every file. Runs git."""
    paths = [
        path
        for path in in_head
        if path not in known and is_owned(path) and not vault.obstacle(path) and vault.path(path).exists()
    ]
    if not paths:
        return []
    given = "".join(f"{path}\n" for path in paths).encode()
    names = vault.git.run("hash-object", "--no-filters", "--stdin-paths", stdin=given).decode().split()
    return [path for path, name in zip(paths, names, strict=True) if name != in_head[path]]


def lost_files(vault: Vault, in_head: dict[str, str]) -> list[str]:
    """The files of HEAD whose contents git has not any more. Looks for all, reads none. Runs git."""
    given = "".join(f"{name}\n" for name in in_head.values()).encode()
    told = vault.git.run("cat-file", "--batch-check=%(objecttype)", stdin=given).decode().splitlines()
    return [path for path, said in zip(in_head, told, strict=True) if said.endswith(" missing")]


def restore_object(vault: Vault, path: str) -> None:
    """Have git keep again what a file holds. Runs git."""
    vault.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=vault.read(path) or b"")


def is_git_index_intact(vault: Vault) -> bool:
    """Whether git's index ends in its checksum, which git itself looks at only in `fsck`; a missing one is whole."""
    import hashlib

    data = vault.disk.read(vault.git_dir / "index")
    if data is None:
        return True
    config = vault.disk.read(common_dir_of(vault.git_dir) / "config") or b""
    digest = hashlib.sha256 if b"objectformat = sha256" in config.lower() else hashlib.sha1
    size = digest().digest_size
    return data[-size:] in (digest(data[:-size]).digest(), bytes(size))


def rebuild_git_index(vault: Vault) -> None:
    """Make git's index anew from HEAD; the old one is put aside. No file is touched; the writer lock must be held."""
    index = vault.git_dir / "index"
    vault.prepare_state()
    with locked_index(vault):
        if index.exists():
            index.replace(vault.state / DAMAGED_INDEX)
        with replace_index(vault):
            # Not `reset`, which would also end an unfinished merge.
            vault.git.run("read-tree", "HEAD")


def has_commit(vault: Vault, commit: str) -> bool:
    """Whether git has a commit. Runs git."""
    return vault.git.try_run("cat-file", "-e", f"{commit}^{{commit}}") is not None


def restore_branch(vault: Vault) -> None:
    """Let a branch whose file was lost name again what it named last; the writer lock must be held. Runs git."""
    found = lost_branch(vault.git_dir)
    if found is not None:
        branch, commit = found
        vault.disk.remove(common_dir_of(vault.git_dir) / branch)  # git itself moves no branch that it cannot read
        vault.git.run("update-ref", "-m", "clawmem: put back where it was", branch, commit)


def broken_refs(vault: Vault) -> list[str]:
    """What git says of refs that it cannot read or that lead nowhere. Runs git."""
    process = vault.git.start("for-each-ref", "--format=%(objectname) %(objecttype)")
    _, complaint = vault.git.communicate(process)
    lines = complaint.decode(errors="replace").splitlines()
    return lines or ([f"exit code {process.returncode}"] if process.returncode else [])


def converts_line_endings(vault: Vault) -> bool:
    """Whether this clone's own settings make plain git change the line ends of files. Runs git."""
    told = vault.git.try_run("config", "--local", "core.autocrlf")
    return told is not None and told.strip().lower() not in (b"false", b"no", b"off", b"0", b"")


def clock_setbacks(vault: Vault, seconds: int) -> list[tuple[str, int]]:
    """The commits of the main line, newest first, that a clock made by so much older than some commit before them, and
    by how many seconds. Runs git."""
    printed = vault.git.run("rev-list", "--first-parent", "--timestamp", "HEAD", "--").decode().splitlines()
    latest, found = 0, []
    for time, name in (line.split() for line in reversed(printed)):
        if latest - int(time) > seconds:
            found.append((name, latest - int(time)))
        latest = max(latest, int(time))
    return found[::-1]
