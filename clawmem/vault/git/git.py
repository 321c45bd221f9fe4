"""The one place that runs git: no prompts, no hooks, no pagers, none of the caller's GIT_ variables.

What only looks at the repository or changes it gets nobody's configuration but the plain settings of the repository
itself. What needs the person's (to reach another machine, to sign, to know a name) runs `as_person`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.errors import ClawmemError, GitFailed
from clawmem.vault.git.refs import common_dir_of, git_dir_of

if TYPE_CHECKING:
    import subprocess

    from clawmem.vault.git.config import ConfigEntry
    from clawmem.vault.git.view import RepositoryView

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
# git older than 2.32 does not know GIT_CONFIG_GLOBAL, and one that does not fetch lost objects needs no transport.
_WITHOUT_A_PERSON = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_NO_LAZY_FETCH": "1",
    # For the logs of refs: without a name git asks the network for that of this machine.
    "GIT_AUTHOR_NAME": "clawmem",
    "GIT_AUTHOR_EMAIL": "vault@clawmem",
    "GIT_COMMITTER_NAME": "clawmem",
    "GIT_COMMITTER_EMAIL": "vault@clawmem",
}
_TRANSPORTS = "file:git:http:https:ssh"
# A git that takes longer than this may be waiting for a pipe that stands in the place of a file.
_PATIENCE_SECONDS = 2.0


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment git runs in: the caller's, without GIT_ variables that could redirect or prompt."""
    clean = {key: value for key, value in environment.items() if not key.startswith("GIT_") or key in _KEPT}
    clean.update(GIT_TERMINAL_PROMPT="0", GIT_OPTIONAL_LOCKS="0", GIT_EDITOR="true", LC_ALL="C")
    return clean


class Git:
    """git in one repository. `inherited_descriptors` are descriptors its processes inherit, so that the writer lock
    lasts until the last of them has ended even when clawmem itself was killed."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        self.environment = clean_environment(environment)
        self.inherited_descriptors: tuple[int, ...] = ()
        self._user_config = False
        self._mark: tuple[int, int, int] | None = None
        self._view: RepositoryView | None = None
        self._checked = False

    @contextmanager
    def with_user_config(self) -> Iterator[None]:
        """Run git with the person's own configuration for a while, and with all of the repository's where that was
        accepted on this machine: to sign, and to reach other machines."""
        before, self._user_config = self._user_config, True
        try:
            yield
        finally:
            self._user_config = before

    def process_environment(self) -> dict[str, str]:
        """The environment of the next git. Refused where the repository's files lead out of it."""
        git_dir = git_dir_of(self.root)
        if git_dir is None:
            return dict(self.environment)
        self._check(git_dir)
        if self._user_config:
            limits = {} if self._is_accepted(git_dir) else {"GIT_ALLOW_PROTOCOL": _TRANSPORTS, **self._hidden(git_dir)}
            return {**self.environment, **limits}
        own = _WITHOUT_A_PERSON if _is_own(self.root, git_dir) else {}
        return {**own, **self.environment, **self._hidden(git_dir)}

    def is_accepted(self) -> bool:
        """Whether a person accepted the repository's own configuration on this machine, or clawmem made it here."""
        git_dir = git_dir_of(self.root)
        return git_dir is not None and self._is_accepted(git_dir)

    def ignored_settings(self) -> tuple[ConfigEntry, ...]:
        """The settings of the repository that nothing uses, as nobody accepted them on this machine."""
        git_dir = git_dir_of(self.root)
        if git_dir is None:
            return ()
        view = self._view_of(git_dir)
        return () if view is None or self._is_accepted(git_dir) else view.hidden

    def _check(self, git_dir: Path) -> None:
        if not self._checked:
            from clawmem.vault.git.folder import check_git_dir  # a search finds all it needs in the index

            check_git_dir(git_dir)
            self._checked = True

    def _is_accepted(self, git_dir: Path) -> bool:
        from clawmem.vault.git.acceptance import is_accepted  # only on the way to others

        return is_accepted(git_dir, self.environment)

    def _hidden(self, git_dir: Path) -> dict[str, str]:
        view = self._view_of(git_dir)
        return {} if view is None else {"GIT_COMMON_DIR": str(view.folder)}

    def _view_of(self, git_dir: Path) -> RepositoryView | None:
        """What hides the repository's own configuration, where that holds more than plain data. It is looked at again
        where the file has changed."""
        place = common_dir_of(git_dir) / "config"
        try:
            facts = os.stat(place)  # noqa: PTH116 - for every git
            mark = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
        except FileNotFoundError:
            return None
        if self._mark != mark:
            from clawmem.vault.git.config import is_all_plain  # a search starts no git

            self._view = None
            if not is_all_plain(place):
                from clawmem.vault.git.view import RepositoryView  # few vaults have such settings

                self._view = RepositoryView(git_dir, self.environment)
            self._mark = mark
        return self._view

    def config_values(self, pattern: str) -> dict[str, str]:
        """Return the git settings in force here whose names match a regular expression, the user's included.

        Names are in lower case except for the subsection. Where a setting has several values, the last one counts.
        """
        with self.with_user_config():
            printed = self.try_run("config", "-z", "--get-regexp", pattern)
        rows = (printed or b"").decode(errors="replace").split("\0")
        return {key: value for key, _, value in (row.partition("\n") for row in rows if row)}

    def configure(self, settings: Mapping[str, str]) -> None:
        """Write settings into the repository's own configuration."""
        git_dir = git_dir_of(self.root) or self.root / ".git"
        for key, value in settings.items():
            self.run("config", "--file", str(common_dir_of(git_dir) / "config"), key, value)

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The whole command line for some git arguments."""
        settings = [part for override in _OVERRIDES for part in ("-c", override)]
        return ["git", *settings, *arguments]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start git with all three streams piped; the caller waits for it."""
        import subprocess  # a search finds all it needs in the index

        given = subprocess.PIPE
        return start_process(
            self.command(arguments), self.root, self.process_environment(), given, pass_fds=self.inherited_descriptors
        )

    @contextmanager
    def with_environment(self, variables: Mapping[str, str]) -> Iterator[None]:
        """Run git with more variables in its environment for a while."""
        before = self.environment
        self.environment = {**before, **variables}
        try:
            yield
        finally:
            self.environment = before

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git to its end and return what it printed; raises GitFailed with git's own words."""
        return self.finish(self.start(*arguments), arguments[0], stdin)

    def finish(self, process: subprocess.Popen[bytes], name: str, stdin: bytes = b"") -> bytes:
        """Feed a started git, wait for it, and return what it printed."""
        printed, complaint = self.communicate(process, stdin)
        if process.returncode != 0:
            raise git_error(name, process.returncode, complaint)
        return printed

    def communicate(self, process: subprocess.Popen[bytes], stdin: bytes = b"") -> tuple[bytes, bytes]:
        """Feed a started git and wait for what it says on both streams. Where it takes long, the vault is looked over
        for what would hold it up for ever; Refused then, with the name of that."""
        import subprocess

        try:
            return process.communicate(stdin, _PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._refuse_blocking_files(process)
            return process.communicate()

    def _refuse_blocking_files(self, process: subprocess.Popen[bytes]) -> None:
        from clawmem.vault.git.folder import check_everything  # few gits take long

        git_dir = git_dir_of(self.root)
        try:
            if git_dir is not None:
                check_everything(self.root, git_dir)
        except ClawmemError:
            process.kill()
            process.communicate()
            raise

    def try_run(self, *arguments: str, stdin: bytes = b"") -> bytes | None:
        """Like run, with None where git exits with an error: for questions whose answer may be no."""
        process = self.start(*arguments)
        printed, _ = self.communicate(process, stdin)
        return printed if process.returncode == 0 else None

    def read_blobs(self, names: Iterable[str], checked: bool = True) -> dict[str, bytes | None]:
        """The contents of `commit:path` names in one git process; None for each that does not exist, or is lost.
        `checked` are they against the names that git has for them: it does so itself for loose objects, not for packed
        ones."""
        wanted = list(names)
        if not wanted:
            return {}
        # A path may hold any byte. A line break in it would end the name, so git is asked for that one first.
        given = "".join(f"{self._on_one_line(name)}\n" for name in wanted).encode(errors="surrogateescape")
        stream = self.run("cat-file", "--batch", stdin=given)
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


def start_process(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: int, *, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a program with both of its outputs piped."""
    import subprocess

    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
        )
    except FileNotFoundError:
        raise GitFailed("git was not found on this machine.", "Install git 2.30 or newer.") from None


def _is_own(root: Path, git_dir: Path) -> bool:
    """Whether git takes the repository for this user's without being told so by the user's configuration."""
    return all(os.stat(place).st_uid == os.geteuid() for place in (root, git_dir))  # noqa: PTH116 - for every git


def _check_sound(name: str, known_as: bytes, kind: bytes, data: bytes) -> None:
    """Raise GitFailed where contents are not those that git names."""
    import hashlib  # not needed by what reads from the index alone

    digest = hashlib.sha1 if len(known_as) == 40 else hashlib.sha256
    if digest(b"%s %d\0" % (kind, len(data)) + data).hexdigest().encode() != known_as:
        raise GitFailed(f"git's copy of {name.partition(':')[2] or name} is damaged.", _DAMAGED)


def lost_object_error(name: str) -> GitFailed:
    """The error for contents, of a file or by their own name, that git should have and has not."""
    return GitFailed(
        f"git has lost its copy of {name}.",
        "`clawmem doctor --fix` gives back what the vault's files still hold; the rest is in a backup, or in another"
        " clone.",
    )


def git_error(name: str, code: int, complaint: bytes) -> GitFailed:
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
