"""The one place that runs git: no prompts, no hooks, no pagers, none of the caller's GIT_ variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.errors import GitFailed

if TYPE_CHECKING:
    import subprocess

# Settings of the person's own git that would change what clawmem stores or run something of theirs.
_OVERRIDES = (
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    "core.fsmonitor=false",
    "core.fileMode=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    # Milliseconds. While one git packs the refs no other can move a branch: git by itself gives up after a tenth of a
    # second, which is soon over on a busy machine.
    "core.filesRefLockTimeout=3000",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
_DAMAGED = "Run `clawmem doctor --full`; restore the vault from a backup or another clone."
_KEPT = frozenset(("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_EXEC_PATH"))


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment git runs in: the caller's, without GIT_ variables that could redirect or prompt."""
    clean = {key: value for key, value in environment.items() if not key.startswith("GIT_") or key in _KEPT}
    clean.update(GIT_TERMINAL_PROMPT="0", GIT_OPTIONAL_LOCKS="0", GIT_EDITOR="true", LC_ALL="C")
    return clean


class Git:
    """git in one repository. `keep_open` are descriptors its processes inherit, so that the writer lock
    lasts until the last of them has ended even when clawmem itself was killed."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        self.environment = scrubbed(environment)
        self.keep_open: tuple[int, ...] = ()

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The whole command line for some git arguments."""
        settings = [part for override in _OVERRIDES for part in ("-c", override)]
        return ["git", *settings, *arguments]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start git with all three streams piped; the caller waits for it."""
        import subprocess  # a search finds all it needs in the index

        try:
            return subprocess.Popen(
                self.command(arguments),
                cwd=self.root,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=self.keep_open,
            )
        except FileNotFoundError:
            raise GitFailed("git was not found on this machine.", "Install git 2.30 or newer.") from None

    @contextmanager
    def lent(self, variables: Mapping[str, str]) -> Iterator[None]:
        """Run git with more variables in its environment for a while."""
        before = self.environment
        self.environment = {**before, **variables}
        try:
            yield
        finally:
            self.environment = before

    def run(self, *arguments: str, given: bytes = b"") -> bytes:
        """Run git to its end and return what it printed; raises GitFailed with git's own words."""
        return self.finish(self.start(*arguments), arguments[0], given)

    def finish(self, process: subprocess.Popen[bytes], name: str, given: bytes = b"") -> bytes:
        """Feed a started git, wait for it, and return what it printed."""
        printed, complaint = process.communicate(given)
        if process.returncode != 0:
            raise failure(name, process.returncode, complaint)
        return printed

    def try_run(self, *arguments: str, given: bytes = b"") -> bytes | None:
        """Like run, with None where git exits with an error: for questions whose answer may be no."""
        process = self.start(*arguments)
        printed, _ = process.communicate(given)
        return printed if process.returncode == 0 else None

    def blobs(self, names: Iterable[str], checked: bool = True) -> dict[str, bytes | None]:
        """The contents of `commit:path` names in one git process; None for each that does not exist, or is lost.
        `checked` are they against the names that git has for them: it does so itself for loose objects, not for packed
        ones."""
        wanted = list(names)
        if not wanted:
            return {}
        # A path may hold any byte. A line break in it would end the name, so git is asked for that one first.
        given = "".join(f"{self._on_one_line(name)}\n" for name in wanted).encode(errors="surrogateescape")
        stream = self.run("cat-file", "--batch", given=given)
        found: dict[str, bytes | None] = {}
        position = 0
        for name in wanted:
            end = stream.index(b"\n", position)
            header = stream[position:end].split(b" ")
            if header[-1] in (b"missing", b"ambiguous"):
                found[name] = None
                position = end + 1
                continue
            size = int(header[-1])
            found[name] = data = stream[end + 1 : end + 1 + size]
            if checked:
                _check_sound(name, header[0], header[1], data)
            position = end + 1 + size + 1
        return found

    def _on_one_line(self, name: str) -> str:
        if "\n" not in name:
            return name
        known_as = self.try_run("rev-parse", "--verify", "--quiet", name)
        return known_as.decode().strip() if known_as else "missing:missing"


def _check_sound(name: str, known_as: bytes, kind: bytes, data: bytes) -> None:
    """Raise GitFailed where contents are not those that git names."""
    import hashlib  # not needed by what reads from the index alone

    digest = hashlib.sha1 if len(known_as) == 40 else hashlib.sha256
    if digest(b"%s %d\0" % (kind, len(data)) + data).hexdigest().encode() != known_as:
        raise GitFailed(f"git's copy of {name.partition(':')[2] or name} is damaged.", _DAMAGED)


def lost_object(name: str) -> GitFailed:
    """The error for contents, of a file or by their own name, that git should have and has not."""
    return GitFailed(
        f"git has lost its copy of {name}.",
        "`clawmem doctor --fix` gives back what the vault's files still hold; the rest is in a backup, or in another"
        " clone.",
    )


def failure(name: str, code: int, complaint: bytes) -> GitFailed:
    """The error for a git command that failed, with the sentence git itself gave."""
    lines = [line for line in complaint.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines or [f"exit code {code}"]
    words = telling[0].removeprefix("fatal:").removeprefix("error:").strip().rstrip(".")
    hint = "Run `clawmem doctor`."
    if "dubious ownership" in words:
        hint = "Allow it once: `git config --global --add safe.directory PATH`."
    elif b"index file corrupt" in complaint or b"bad index file" in complaint:
        hint = "git's index is damaged: `clawmem doctor --fix` makes it anew from the last commit."
    elif any(told in complaint for told in (b"No space left", b"Out of diskspace")):
        hint = "The disk is full: free some space and run the command again."
    elif "Read-only file system" in words:
        hint = "The disk is read-only: reads still work."
    return GitFailed(f"git {name} failed: {words}.", hint)
