"""Checks and repairs of git's own files that git does not do by itself: its index, lost objects, altered files."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from clawmem.model.records.layout import is_owned
from clawmem.model.records.strict_json import UnreadFile
from clawmem.vault.commit.pending import locked_index
from clawmem.vault.git.index import replace_index
from clawmem.vault.git.refs import common_dir_of, lost_branch
from clawmem.vault.vault import Vault

DAMAGED_INDEX = "git-index.damaged"


def head_blobs(vault: Vault, commit: str) -> dict[str, str]:
    """Return the blob name of each regular file in a commit, by path. Runs git."""
    rows = vault.git.run("ls-tree", "-r", "-z", commit).decode(errors="surrogateescape").split("\0")
    found = (row.partition("\t") for row in rows if row.startswith("100"))
    return {path: described.split()[2] for described, _, path in found}


def altered_files(vault: Vault, in_head: Mapping[str, str], known: Collection[str]) -> list[str]:
    """Return clawmem's files that differ from HEAD although git, which compares times and sizes, sees no change.

    `known` are the files whose changes git sees. Reads every file. Runs git.
    """
    paths = [
        path
        for path in in_head
        if path not in known and is_owned(path) and not vault.obstacle(path) and vault.path(path).exists()
    ]
    if not paths:
        return []
    data = "".join(f"{path}\n" for path in paths).encode()
    names = vault.git.run("hash-object", "--no-filters", "--stdin-paths", stdin=data).decode().split()
    return [path for path, name in zip(paths, names, strict=True) if name != in_head[path]]


def lost_files(vault: Vault, in_head: Mapping[str, str]) -> list[str]:
    """Return the files of HEAD whose contents git has lost. Runs git, which reads no contents."""
    data = "".join(f"{name}\n" for name in in_head.values()).encode()
    lines = vault.git.run("cat-file", "--batch-check=%(objecttype)", stdin=data).decode().splitlines()
    return [path for path, line in zip(in_head, lines, strict=True) if line.endswith(" missing")]


def restore_object(vault: Vault, path: str) -> None:
    """Store the contents of a file in git again. Runs git."""
    data = vault.read(path) or b""
    if isinstance(data, UnreadFile):
        vault.git.run("hash-object", "-w", "--no-filters", "--", str(vault.path(path)))
    else:
        vault.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=data)


def is_git_index_intact(vault: Vault) -> bool:
    """Return whether git's index matches its checksum, which git itself verifies only in `fsck`. True if there is
    none."""
    import hashlib

    data = vault.disk.read(vault.git_dir / "index")
    if data is None:
        return True
    config = vault.disk.read(common_dir_of(vault.git_dir) / "config") or b""
    digest = hashlib.sha256 if b"objectformat = sha256" in config.lower() else hashlib.sha1
    size = digest().digest_size
    return data[-size:] in (digest(data[:-size]).digest(), bytes(size))


def rebuild_git_index(vault: Vault) -> None:
    """Rebuild git's index from HEAD and keep the old one as `git-index.damaged`. Requires the writer lock."""
    index = vault.git_dir / "index"
    vault.prepare_state()
    with locked_index(vault):
        if index.exists():
            index.replace(vault.state / DAMAGED_INDEX)
        with replace_index(vault):
            # Not `reset`, which would also end an unfinished merge.
            vault.git.run("read-tree", "HEAD")


def has_commit(vault: Vault, commit: str) -> bool:
    """Return whether git has a commit. Runs git."""
    return vault.git.try_run("cat-file", "-e", f"{commit}^{{commit}}") is not None


def restore_branch(vault: Vault) -> None:
    """Restore a branch whose file was lost to its last known commit. Requires the writer lock. Runs git."""
    found = lost_branch(vault.git_dir)
    if found is not None:
        branch, commit = found
        vault.disk.remove(common_dir_of(vault.git_dir) / branch)  # git does not move a branch that it cannot read
        vault.git.run("update-ref", "-m", "clawmem: restored the branch", branch, commit)


def broken_refs(vault: Vault) -> list[str]:
    """Return git's messages about refs that it cannot read or that name a missing object. Runs git."""
    process = vault.git.start("for-each-ref", "--format=%(objectname) %(objecttype)")
    _, complaint = vault.git.communicate(process)
    lines = complaint.decode(errors="replace").splitlines()
    return lines or ([f"exit code {process.returncode}"] if process.returncode else [])


def converts_line_endings(vault: Vault) -> bool:
    """Return whether the configuration of this clone makes git convert line endings. Runs git."""
    value = vault.git.try_run("config", "--local", "core.autocrlf")
    return value is not None and value.strip().lower() not in (b"false", b"no", b"off", b"0", b"")
