"""Changes as a `git fast-import` stream: blobs, commits and the move of the branch in one step."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.model.change import Author, Change, message

TOOL = Author("clawmem", "vault@clawmem")


def stream(changes: Sequence[Change], branch: str, parent: str | None, seconds: int) -> bytes:
    """The stream that puts one commit per change on top of `parent` (None: the first commit ever).

    `seconds` is the Unix time of the commits; the last line asks for each new commit's name.
    """
    parts: list[bytes] = [b"feature done\n"]
    for number, change in enumerate(changes, 1):
        parts += _commit(change, number, branch, parent if number == 1 else None, seconds)
    parts += [f"get-mark :{number}\n".encode() for number in range(1, len(changes) + 1)]
    parts.append(b"done\n")
    return b"".join(parts)


def _commit(change: Change, mark: int, branch: str, parent: str | None, seconds: int) -> list[bytes]:
    parts = [f"commit {branch}\nmark :{mark}\n".encode()]
    if change.author is not None:
        parts.append(identity_line("author", change.author, seconds))
    parts.append(identity_line("committer", TOOL, seconds))
    parts.append(data_block(message(change).encode()))
    if parent is not None:
        parts.append(f"from {parent}\n".encode())
    for path, content in change.writes.items():
        if content is None:
            parts.append(b"D " + quoted_path(path) + b"\n")
        else:
            parts += [b"M 100644 inline " + quoted_path(path) + b"\n", data_block(content)]
    return parts


def identity_line(role: str, author: Author, seconds: int) -> bytes:
    """The line that says who and when; `role` is author or committer."""
    name = "".join(character for character in author.name if character not in "<>\n").strip() or "unknown"
    email = "".join(character for character in author.email if character not in "<>\n ")
    return f"{role} {name} <{email}> {seconds} +0000\n".encode()


def data_block(content: bytes) -> bytes:
    """Contents with their length before them."""
    return b"data %d\n%s\n" % (len(content), content)


def quoted_path(path: str) -> bytes:
    """A path in quotes, as the stream wants it."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode(errors="surrogateescape") + b'"'
