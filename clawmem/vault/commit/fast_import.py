"""Changes as a `git fast-import` stream: blobs, commits and the branch update in one step."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.errors import GitFailed
from clawmem.model.records.change import Author, Change, commit_message
from clawmem.model.records.strict_json import UnreadFile
from clawmem.vault.git.config import join_names
from clawmem.vault.vault import Vault

CLAWMEM_AUTHOR = Author("clawmem", "vault@clawmem")


def import_stream(changes: Sequence[Change], branch: str, parent: str | None, seconds: int) -> bytes:
    """Return a stream that creates one commit per change on top of `parent` (None: the first commit of the vault).

    `seconds` is the Unix time of the commits. git prints the name of each new commit.
    """
    blobs, marks = _blobs(changes)
    parts: list[bytes] = [b"feature done\n", *blobs]
    for number, change in enumerate(changes, 1):
        parts.append(commit_lines(change, number, branch, (parent,) if parent and number == 1 else (), seconds))
        parts += [_entry(path, _object(content, marks.get((number, path)))) for path, content in change.writes.items()]
    parts += [f"get-mark :{number}\n".encode() for number in range(1, len(changes) + 1)]
    parts.append(b"done\n")
    return b"".join(parts)


def _blobs(changes: Sequence[Change]) -> tuple[list[bytes], dict[tuple[int, str], int]]:
    """Return the blobs of all files, and the mark of each blob by change number and path.

    The versions of a file come one after the other, because git stores each blob as a difference from the previous one.
    This makes large batches fast.
    """
    versions: dict[str, list[tuple[int, bytes]]] = {}
    for number, change in enumerate(changes, 1):
        for path, content in change.writes.items():
            if content is not None and not isinstance(content, UnreadFile):
                versions.setdefault(path, []).append((number, content))
    blobs: list[bytes] = []
    marks: dict[tuple[int, str], int] = {}
    for path, contents in versions.items():
        for number, content in contents:
            mark = len(changes) + len(blobs) + 1
            blobs.append(b"blob\nmark :%d\n" % mark + data_block(content))
            marks[number, path] = mark
    return blobs, marks


def commit_lines(change: Change, mark: int, ref: str, parents: Sequence[str], seconds: int) -> bytes:
    """Return the lines that begin a commit on a ref. Without a parent it follows what the stream has on that ref."""
    rows = (("author", change.author or CLAWMEM_AUTHOR), ("committer", CLAWMEM_AUTHOR))
    people = b"".join(f"{role} {_identity(author)} {seconds} +0000\n".encode() for role, author in rows)
    lines = "".join(f"{'merge' if place else 'from'} {name}\n" for place, name in enumerate(parents))
    message = data_block(commit_message(change).encode())
    return f"commit {ref}\nmark :{mark}\n".encode() + people + message + lines.encode()


def _object(content: bytes | None, mark: int | None) -> bytes | None:
    """Return how the stream names the contents of a file, or None if it is deleted."""
    if isinstance(content, UnreadFile):
        return content.blob.encode()
    return None if mark is None else b":%d" % mark


def _entry(path: str, name: bytes | None) -> bytes:
    """Return the line that sets the contents of a path, or deletes it if there are none."""
    return b"D %s\n" % quoted_path(path) if name is None else b"M 100644 %s %s\n" % (name, quoted_path(path))


def _identity(author: Author) -> str:
    name = "".join(character for character in author.name if character not in "<>\n").strip() or "unknown"
    email = "".join(character for character in author.email if character not in "<>\n ")
    return f"{name} <{email}>"


def data_block(content: bytes) -> bytes:
    """Return contents with their length in front."""
    return b"data %d\n%s\n" % (len(content), content)


def quoted_path(path: str) -> bytes:
    """Return a path in quotes, as the stream requires."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode(errors="surrogateescape") + b'"'


# fast-import cannot sign, so its commits go to this ref first.
UNSIGNED_REF = "refs/clawmem/unsigned"
_NO_COMMIT = "0" * 40
_FORM = "%T%x00%an%x00%ae%x00%at%x00%B"


def delete_unsigned_ref(vault: Vault) -> None:
    """Delete the ref that an interrupted signing left behind."""
    vault.git.run("update-ref", "-d", UNSIGNED_REF)


def sign_commits(vault: Vault, unsigned: Sequence[str], branch: str, parent: str | None) -> tuple[str, ...]:
    """Sign the commits with the key that git is configured to use, and move the branch to the last one.

    Return their names. Raise GitFailed, without moving the branch, if git cannot sign or the branch has moved
    meanwhile.
    """
    try:
        names: list[str] = []
        for name in unsigned:
            names.append(_signed(vault, name, names[-1] if names else parent))
        vault.git.run("update-ref", "-m", "clawmem", branch, names[-1], parent or _NO_COMMIT)
    finally:
        delete_unsigned_ref(vault)
    return tuple(names)


def _signed(vault: Vault, name: str, parent: str | None) -> str:
    described = vault.git.run("log", "-1", f"--format={_FORM}", name).decode()
    tree, author, email, seconds, words = described.split("\0", 4)
    return commit_signed(vault, Author(author, email), seconds, tree, [parent] if parent else [], words)


def commit_signed(vault: Vault, author: Author, seconds: str, tree: str, parents: Sequence[str], words: str) -> str:
    """Create one signed commit and return its name. `seconds` is its Unix time, `words` the message.

    The program and key come from the user's git configuration, and from the repository's if it was accepted on this
    machine.
    """
    identity: dict[str, str] = {}
    for role, person in (("AUTHOR", author), ("COMMITTER", CLAWMEM_AUTHOR)):
        values = {"NAME": person.name, "EMAIL": person.email, "DATE": f"{seconds} +0000"}
        identity |= {f"GIT_{role}_{key}": value for key, value in values.items()}
    named = [part for parent in parents for part in ("-p", parent)]
    try:
        with vault.git.with_environment(identity), vault.git.with_user_config():
            return vault.git.run("commit-tree", tree, *named, "-S", "-F", "-", stdin=words.encode()).decode().strip()
    except GitFailed as problem:
        unused = vault.git.ignored_settings()
        if unused:
            problem.hint = (
                f"{join_names(unused)} of this vault's .git/config is not used until you accept it on this"
                " machine: `clawmem config trust`."
            )
        raise
