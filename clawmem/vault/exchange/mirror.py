"""A mirror: the history of another vault in a cache folder, without a work tree. It can be deleted at any time."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import GitFailed, InvalidInput, RemoteFailed
from clawmem.model.history.entry import CommitInfo
from clawmem.model.kinds import handling
from clawmem.vault.disk import writer_lock
from clawmem.vault.exchange.remote import REMOTE_OPTIONS, without_prompts
from clawmem.vault.exchange.remote_process import run_remote_git
from clawmem.vault.git.git import Git, complaint_of
from clawmem.vault.git.refs import read_ref

_REF = "refs/clawmem/head"
_FETCH = ("fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--")
_PROTOCOLS = "file:git:http:https:ssh"
_TRANSPORT = re.compile(r"(file|git|https?|ssh)://[^\s]+|[\w.-]+@[\w.-]+:[^\s]+")
_WITH_SECRET = re.compile(r"[a-z]+://[^/@\s]*:[^/@\s]*@")
_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%ct%x00%s"
_MOST_PACKS = 40
_PIECE = 1 << 16
# Names that git was given and has not answered: few enough for a pipe, and for the memory that their answers may take.
_MOST_ASKED = 64


class FileChange(NamedTuple):
    """A file that a commit changed: its blobs before and after, None where it did not exist."""

    path: str
    old: str | None
    new: str | None


def check_mirror_address(address: str, folder: Path) -> str:
    """Return the address of a vault to mirror: a remote's URL, or the absolute path of a folder.

    Raise InvalidInput if it is neither, or if a URL contains a password. `folder` is where relative paths start.
    """
    if _WITH_SECRET.match(address):
        raise InvalidInput(
            "The address of the vault contains a password; nothing was stored.",
            "Set up a key or a credential helper for git on the machine of the worker, and leave it out.",
        )
    if _TRANSPORT.fullmatch(address):
        return address
    place = (folder / Path(address).expanduser()).resolve()
    if not place.is_dir():
        raise InvalidInput(
            f"'{address}' is neither the URL of a git remote nor a folder.",
            "Write https://HOST/PATH, ssh://HOST/PATH, user@HOST:PATH, file:///PATH, or the folder of a vault.",
        )
    return str(place)


class Mirror:
    """The history of one vault. Use it inside `locked`, so that two programs of one machine do not share it."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._git = Git(folder, environment)

    @contextmanager
    def locked(self, wait: float) -> Iterator[None]:
        """Hold the mirror's lock. Raise Locked if another program holds it for longer than `wait` seconds."""
        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writer_lock(self._folder.parent / f"{self._folder.name}.lock", wait, "mirror"):
            yield

    def fetch(self, address: str, seconds: float) -> str | None:
        """Fetch the branch that HEAD of a vault names. Return its commit, or None if there is none yet.

        Raise RemoteFailed if that fails or takes longer than `seconds`.
        """
        self._prepare()
        own = self._git.environment
        variables = {**without_prompts(own, own_ssh=False), "GIT_ALLOW_PROTOCOL": _PROTOCOLS, **own}
        with self._git.with_environment(variables):
            output = run_remote_git(self._git, (*REMOTE_OPTIONS, *_FETCH, address, f"+HEAD:{_REF}"), seconds)
        if output.code == 0:
            self._pack()
            return read_ref(self._folder / ".git", _REF)
        if "couldn't find remote ref HEAD" in output.complaint:
            return None
        raise _fetch_error(address, output.complaint)

    def forget(self) -> None:
        """Delete the mirror: the next fetch clones again. What was redacted at the source is gone from it then."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def contains(self, old: str, new: str) -> bool:
        """Return whether `old` is an ancestor of `new`, or the same commit; False if it is not in the mirror."""
        return self._git.try_run("merge-base", "--is-ancestor", old, new) is not None

    def commits(self, old: str | None, new: str) -> tuple[CommitInfo, ...]:
        """Return the commits that lead to `new` and not to `old`, parents before children."""
        since = [f"^{old}"] if old else []
        printed = self._git.run("log", "-z", "--topo-order", "--reverse", f"--format={_FORMAT}", new, *since, "--")
        fields = printed.decode(errors="replace").removesuffix("\0").split("\0")
        return tuple(
            CommitInfo(commit, tuple(parents.split()), f"{name} <{mail}>", int(at), subject)
            for commit, parents, name, mail, at, subject in zip(*(iter(fields),) * 6, strict=True)
        )

    def changes(self, pairs: Iterable[tuple[str, str | None]], folders: Sequence[str]) -> Iterator[
        tuple[str, list[FileChange]]
    ]:  # fmt: skip
        """Yield each commit that changed files below some folders, with these, against the given other commit.

        None in its place stands for an empty tree. The order is that of the pairs.
        """
        data = "".join(f"{commit} {parent}\n" if parent else f"{commit}\n" for commit, parent in pairs).encode()
        words = ("diff-tree", "--stdin", "-r", "-z", "--root", "--no-renames", "--raw", "--", *folders)
        commit, found = "", list[FileChange]()
        about = ""
        for field in _fields(self._git.stream(*words, stdin=data)):
            if about:
                found.append(_file_change(about, field))
                about = ""
            elif field.startswith(":"):
                about = field
            elif field:
                if found:
                    yield commit, found
                commit, found = field, []
        if found:
            yield commit, found

    @contextmanager
    def blobs(self) -> Iterator[BlobReader]:
        """Open a reader of blobs: one git process for all of them."""
        reader = BlobReader(self._git.start("cat-file", "--batch"))
        try:
            yield reader
        finally:
            reader.close()

    def _prepare(self) -> None:
        git_dir = self._folder / ".git"
        if not (git_dir / "HEAD").is_file() or not (git_dir / "config").is_file():
            self.forget()
            self._folder.mkdir(mode=0o700, parents=True)
            self._git.run("init", "--quiet", "--template=", "--initial-branch=main", ".")
        # A fetch that was killed leaves its locks. The lock of this mirror excludes another one.
        for lock in git_dir.glob("**/*.lock"):
            lock.unlink(missing_ok=True)

    def _pack(self) -> None:
        """Make one pack of many: each fetch brings one."""
        if len(list((self._folder / ".git" / "objects" / "pack").glob("*.pack"))) > _MOST_PACKS:
            self._git.run("repack", "-a", "-d", "-q")


class BlobReader:
    """Reads blobs from one running `git cat-file --batch`. What is announced is asked for before it is needed, so that
    git works meanwhile."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._asked: deque[tuple[str, str]] = deque()
        self._read: dict[str, bytes | None] = {}

    def announce(self, blobs: Iterable[tuple[str, str]]) -> None:
        """Ask for blobs, each with its path, that will be read in this order; more than a few are left for later."""
        room = _MOST_ASKED - len(self._asked)
        self._ask(list(islice(blobs, max(room, 0))))

    def read(self, blob: str, path: str) -> bytes | None:
        """Return the contents of a blob; None if it is beyond the limit of the kind of file at that path."""
        while blob not in self._read:
            if not self._asked:
                self._ask([(blob, path)])
            name, its_path = self._asked.popleft()
            self._read[name] = self._answer(name, its_path)
        data = self._read.pop(blob)
        while len(self._read) > _MOST_ASKED:  # what was announced and not needed
            del self._read[next(iter(self._read))]
        return data

    def _ask(self, blobs: Sequence[tuple[str, str]]) -> None:
        asked = self._process.stdin
        assert asked
        try:
            asked.write("".join(f"{blob}\n" for blob, _ in blobs).encode())
            asked.flush()
        except BrokenPipeError:
            raise _lost(blobs[0][0]) from None
        self._asked += blobs

    def _answer(self, blob: str, path: str) -> bytes | None:
        answers = self._process.stdout
        assert answers
        header = answers.readline().split()
        if len(header) != 3:
            raise _lost(blob)
        size = int(header[2])
        if size > handling(path).limit:
            while size > 0 and (piece := answers.read(min(size, _PIECE))):
                size -= len(piece)
            answers.read(1)
            return None
        data = answers.read(size)
        if len(data) != size:
            raise _lost(blob)
        answers.read(1)
        return data

    def close(self) -> None:
        """End git."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):
                if stream:
                    stream.close()
        self._process.wait()


def _fields(pieces: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        for data in whole:
            yield data.decode(errors="surrogateescape")


def _file_change(about: str, path: str) -> FileChange:
    old_mode, new_mode, old, new, _ = about[1:].split(" ")
    return FileChange(path, _blob(old_mode, old), _blob(new_mode, new))


def _blob(mode: str, name: str) -> str | None:
    """Return the name of a regular file's blob; links and submodules count as nothing."""
    return name if mode.startswith("100") else None


def _fetch_error(address: str, complaint: str) -> RemoteFailed:
    hint = "Check the address with `git ls-remote`, and the keys of the user that runs the worker."
    if "dubious ownership" in complaint:
        hint = "Allow it once: `git config --global --add safe.directory PATH`."
    return RemoteFailed(f"{address} could not be fetched: {complaint_of(complaint, 'no answer')}.", hint)


def _lost(blob: str) -> GitFailed:
    return GitFailed(f"The mirror lacks the object {blob[:12]}.", "Delete the mirror's folder; it is cloned again.")


def mirrors_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Return the folder of all mirrors of this user: `clawmem/hub` in XDG_CACHE_HOME or `~/.cache`."""
    cache = environment.get("XDG_CACHE_HOME")
    return (Path(cache) if cache and os.path.isabs(cache) else home / ".cache") / "clawmem" / "hub"  # noqa: PTH117
