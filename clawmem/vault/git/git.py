"""The only module that runs git: no prompts, no hooks, no pagers, none of the caller's GIT_ variables.

By default git sees only the plain settings of the repository itself. Commands that need the user's configuration (to
reach another machine, to sign, to know the user's name) run within `with_user_config`.

The files of a commit of any repository, written to a folder. Its hooks, filters and settings do not run.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.errors import ClawmemError, GitFailed, Refused
from clawmem.vault.git.refs import common_dir_of, git_dir_of

if TYPE_CHECKING:
    import subprocess

    from clawmem.model.records.change import Author
    from clawmem.vault.git.blobs import Limit
    from clawmem.vault.git.config import ConfigEntry, RepositoryView


USER_CONFIG = "GIT_CONFIG_GLOBAL"
"""It names the user's configuration file. A relative path would be a file of the vault, so it is not used."""
# These override user settings that would change what clawmem stores, or run a program.
_OVERRIDES = (
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    "core.fsmonitor=false",
    # The cache would keep the names of files that are refused because of a credential in them.
    "core.untrackedCache=false",
    "core.fileMode=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    # Milliseconds. While one git process packs refs, no other can move a branch. git's default of 100 ms is too short
    # on a busy machine.
    "core.filesRefLockTimeout=3000",
    # git passes larger blobs on in pieces and compares them as binary data, instead of holding them in memory.
    "core.bigFileThreshold=32m",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
_KEPT = frozenset(("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_EXEC_PATH", USER_CONFIG))
AUTHOR_VARIABLES = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL")
"""They say who the person is. Only the question for that sees them, because a commit has the author that made it."""
# git before 2.32 does not know GIT_CONFIG_GLOBAL.
_WITHOUT_USER_CONFIG = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_NO_LAZY_FETCH": "1",
    # For reflogs: without a name git looks up the host name, which may use the network.
    "GIT_AUTHOR_NAME": "clawmem",
    "GIT_AUTHOR_EMAIL": "vault@clawmem",
    "GIT_COMMITTER_NAME": "clawmem",
    "GIT_COMMITTER_EMAIL": "vault@clawmem",
}
_TRANSPORTS = "file:git:http:https:ssh"
# A git process that takes longer may be blocked by a pipe in place of a file.
_PATIENCE_SECONDS = 2.0
# What a pipe takes at once on every system.
_PIPE_BYTES = 16_384


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for git: the caller's, without GIT_ variables that could redirect it or make it prompt."""
    clean = {key: value for key, value in environment.items() if not key.startswith("GIT_") or key in _KEPT}
    if not os.path.isabs(clean.get(USER_CONFIG, "/")):  # noqa: PTH117
        del clean[USER_CONFIG]
    clean.update(GIT_TERMINAL_PROMPT="0", GIT_OPTIONAL_LOCKS="0", GIT_EDITOR="true", LC_ALL="C")
    return clean


class Git:
    """git in one repository.

    Its processes inherit `inherited_descriptors`, so that the writer lock lasts until the last of them ends, even if
    clawmem is killed.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        self.environment = clean_environment(environment)
        self.author_variables = {name: environment[name] for name in AUTHOR_VARIABLES if name in environment}
        self.inherited_descriptors: tuple[int, ...] = ()
        self._user_config = False
        self._mark: tuple[int, int, int] | None = None
        self._view: RepositoryView | None = None
        self._checked = False

    @contextmanager
    def with_user_config(self) -> Iterator[None]:
        """Run git with the user's own configuration inside this context: to sign, and to reach other machines.

        All of the repository's own configuration applies too if the vault was accepted on this machine.
        """
        before, self._user_config = self._user_config, True
        try:
            yield
        finally:
            self._user_config = before

    def process_environment(self) -> dict[str, str]:
        """Return the environment for the next git process. Raise Refused if files in git's folder lead out of it."""
        git_dir = git_dir_of(self.root)
        if git_dir is None:
            return dict(self.environment)
        if not self._checked:
            from clawmem.vault.git.folder import check_git_dir  # a search runs no git

            check_git_dir(git_dir)
            self._checked = True
        if self._user_config:
            limits = (
                {}
                if self._is_accepted(git_dir)
                else {"GIT_ALLOW_PROTOCOL": _TRANSPORTS, **self._hidden_config(git_dir)}
            )
            return {**self.environment, **limits}
        own = _WITHOUT_USER_CONFIG if _is_own(self.root, git_dir) else {}
        nobodys = {USER_CONFIG: own[USER_CONFIG]} if own else {}
        return {**own, **self.environment, **nobodys, **self._hidden_config(git_dir)}

    def is_accepted(self) -> bool:
        """Return whether the repository's own configuration was accepted on this machine, or clawmem created it
        here."""
        git_dir = git_dir_of(self.root)
        return git_dir is not None and self._is_accepted(git_dir)

    def ignored_settings(self) -> tuple[ConfigEntry, ...]:
        """Return the settings of the repository that are not used because the vault is not accepted on this machine."""
        git_dir = git_dir_of(self.root)
        if git_dir is None:
            return ()
        view = self._view_of(git_dir)
        return () if view is None or self._is_accepted(git_dir) else view.hidden

    def _is_accepted(self, git_dir: Path) -> bool:
        from clawmem.vault.git.acceptance import is_accepted  # only for remotes

        return is_accepted(git_dir, self.environment)

    def _hidden_config(self, git_dir: Path) -> dict[str, str]:
        view = self._view_of(git_dir)
        return {} if view is None else {"GIT_COMMON_DIR": str(view.folder)}

    def _view_of(self, git_dir: Path) -> RepositoryView | None:
        """Return the view that hides the repository's configuration, or None if all of it is plain data.

        The configuration is read again if the file has changed.
        """
        place = common_dir_of(git_dir) / "config"
        try:
            status = os.stat(place)  # noqa: PTH116 - runs for every git command
            mark = (status.st_size, status.st_mtime_ns, status.st_ino)
        except FileNotFoundError:
            return None
        if self._mark != mark:
            from clawmem.vault.git.config import RepositoryView, is_plain, read_config  # a search runs no git

            entries = read_config(git_dir, self.environment)
            self._view = None if all(map(is_plain, entries)) else RepositoryView(git_dir, entries)
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
        """Write settings to the repository's own configuration."""
        git_dir = git_dir_of(self.root) or self.root / ".git"
        for key, value in settings.items():
            self.run("config", "--file", str(common_dir_of(git_dir) / "config"), key, value)

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Return the full command line for git arguments."""
        settings = [part for override in _OVERRIDES for part in ("-c", override)]
        return ["git", *settings, *arguments]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start git with all three streams piped. The caller must wait for it."""
        import subprocess  # a search runs no git

        environment, pipe = self.process_environment(), subprocess.PIPE
        return start_process(self.command(arguments), self.root, environment, pipe, pass_fds=self.inherited_descriptors)

    @contextmanager
    def with_environment(self, variables: Mapping[str, str]) -> Iterator[None]:
        """Run git with more environment variables inside this context."""
        before = self.environment
        self.environment = {**before, **variables}
        try:
            yield
        finally:
            self.environment = before

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git and return its output. Raise GitFailed with git's own message if it fails."""
        return self.finish(self.start(*arguments), arguments[0], stdin)

    def finish(self, process: subprocess.Popen[bytes], name: str, stdin: bytes = b"") -> bytes:
        """Pass `stdin` to a started git, wait for it, and return its output. Raise GitFailed if it fails."""
        printed, errors = self.communicate(process, stdin)
        if process.returncode != 0:
            raise git_error(name, process.returncode, errors)
        return printed

    def communicate(self, process: subprocess.Popen[bytes], stdin: bytes = b"") -> tuple[bytes, bytes]:
        """Pass `stdin` to a started git, wait for it, and return its stdout and stderr.

        If git takes long, check the vault for files that would block it forever. If there is one, kill git and raise
        Refused with its name.
        """
        if len(stdin) > _PIPE_BYTES:
            from clawmem.vault.git.blobs import GitStream  # few commits are as large

            # After a timeout, `Popen.communicate` does not send the rest of the input, and git would wait for it.
            stream = GitStream(process, stdin, _PATIENCE_SECONDS, lambda: self._refuse_blocking_files(process))
            printed = b"".join(stream.pieces())
            process.wait()
            return printed, bytes(stream.errors)
        import subprocess

        try:
            return process.communicate(stdin, _PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._refuse_blocking_files(process)
            return process.communicate()

    def _refuse_blocking_files(self, process: subprocess.Popen[bytes]) -> None:
        from clawmem.vault.git.folder import check_everything  # few git commands take long

        git_dir = git_dir_of(self.root)
        try:
            if git_dir is not None:
                check_everything(self.root, git_dir)
        except ClawmemError:
            process.kill()
            process.communicate()
            raise

    def try_run(self, *arguments: str, stdin: bytes = b"") -> bytes | None:
        """Like `run`, but return None if git exits with an error."""
        process = self.start(*arguments)
        printed, _ = self.communicate(process, stdin)
        return printed if process.returncode == 0 else None

    def read_blobs(
        self, names: Iterable[str], checked: bool = True, limit_of: Limit | None = None
    ) -> dict[str, bytes | None]:
        """Return the contents of `commit:path` names with one git process, None for each that is missing.

        `limit_of` gives the most bytes that are read of a name, by default the limit of the kind of its path. Contents
        beyond it are not read: their UnreadFile is returned. With `checked`, verify contents against their hashes.
        git itself verifies loose objects but not packed ones.
        """
        wanted = list(names)
        if not wanted:
            return {}
        from clawmem.vault.git.blobs import limit_by_path, read_answers  # a search runs no git

        # A path may contain a line break, which would end the name. Such a path is resolved to a hash first.
        data = "".join(f"{self._on_one_line(name)}\n" for name in wanted).encode(errors="surrogateescape")
        with closing(self.stream("cat-file", "--batch", stdin=data)) as pieces:
            found = read_answers(pieces, wanted, limit_of or limit_by_path, checked)
            for _ in pieces:
                pass  # until git has ended
        return found

    def stream(self, *arguments: str, stdin: bytes = b"") -> Generator[bytes]:
        """Run git and yield its output in pieces. Raise GitFailed after the last one if it fails.

        Close the iterator if not all of it is taken.
        """
        from clawmem.vault.git.blobs import GitStream  # a search runs no git

        process = self.start(*arguments)
        stream = GitStream(process, stdin, _PATIENCE_SECONDS, lambda: self._refuse_blocking_files(process))
        try:
            yield from stream.pieces()
        except BaseException:
            process.kill()
            process.communicate()
            raise
        if process.wait() != 0:
            raise git_error(arguments[0], process.returncode, bytes(stream.errors))

    def _on_one_line(self, name: str) -> str:
        if "\n" not in name:
            return name
        object_id = self.try_run("rev-parse", "--verify", "--quiet", name)
        return object_id.decode().strip() if object_id else "missing:missing"


def start_process(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: int, *, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a program with stdout and stderr piped. Raise GitFailed if it is not installed."""
    import subprocess

    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=() if sys.platform == "win32" else pass_fds,
        )
    except FileNotFoundError:
        raise GitFailed("git was not found on this machine.", "Install git 2.30 or newer.") from None


def _is_own(root: Path, git_dir: Path) -> bool:
    """Return whether git considers the repository the user's own without configuration (`safe.directory`)."""
    return sys.platform == "win32" or all(  # git finds it out by itself there
        os.stat(place).st_uid == os.geteuid()  # noqa: PTH116 - runs for every git command
        for place in (root, git_dir)
    )


def lost_object_error(name: str) -> GitFailed:
    """Return the error for an object that git should have and does not. `name` is a path or a hash."""
    return GitFailed(
        f"git has lost its copy of {name}.",
        "`clawmem doctor --fix` restores what the files of the vault still contain; take the rest from a backup"
        " or another clone.",
    )


def complaint_of(errors: str, otherwise: str) -> str:
    """Return git's first message in its stderr, else the first line of it, without the mark; `otherwise` if it is
    empty."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    messages = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines or [otherwise]
    return messages[0].removeprefix("fatal:").removeprefix("error:").strip().rstrip(" .")


def git_error(name: str, code: int, errors: bytes) -> GitFailed:
    """Return the error for a failed git command, with git's own message and a hint for known causes."""
    words = complaint_of(errors.decode(errors="replace"), f"exit code {code}")
    hint = "Run `clawmem doctor`."
    if "dubious ownership" in words:
        hint = "Allow it once: `git config --global --add safe.directory PATH`."
    elif b"index file corrupt" in errors or b"bad index file" in errors:
        hint = "git's index is damaged: `clawmem doctor --fix` rebuilds it from the last commit."
    elif any(text in errors for text in (b"No space left", b"Out of diskspace")):
        hint = "The disk is full: free some space and run the command again."
    elif "Read-only file system" in words:
        hint = "The disk is read-only. Reads still work."
    return GitFailed(f"git {name} failed: {words}.", hint)


def resolve_commit(root: Path, environment: Mapping[str, str], named: str) -> str | None:
    """Return the hash of the commit that a name means in a repository, or None."""
    found = Git(root, environment).try_run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}"
    )
    return found.decode().strip() if found else None


def write_snapshot(root: Path, environment: Mapping[str, str], commit: str, target: Path) -> None:
    """Write the files of a commit, given by its hash, to an empty folder. Raise Refused if a file or a link leads out
    of it."""
    import tarfile  # few commands need the files of a commit

    data = Git(root, environment).run("archive", "--format=tar", commit)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        # Python has a safe filter since 3.11.4 only. No file is written through a link: links come last.
        members = sorted(archive, key=tarfile.TarInfo.issym)
        for member in members:
            place = _place_in(target, member.name)
            if member.issym():
                place.symlink_to(member.linkname)
            elif file := archive.extractfile(member):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.read())
                place.chmod(member.mode & 0o755 | 0o600)
            else:
                place.mkdir(parents=True, exist_ok=True)
    for member in members:
        _place_in(target, member.name)


def _place_in(folder: Path, name: str) -> Path:
    """Return the place of a name in a folder. Raise Refused if it, or what it links to, is outside."""
    if not Path(os.path.realpath(folder / name)).is_relative_to(folder.resolve()):
        raise Refused(f"'{name}' leads out of the commit.", "Check the commit out yourself.")
    return folder / name


def personal_identity(git: Git) -> Author | None:
    """Return who runs this command, `user.name` and `user.email` as git resolves them, or None if it knows none."""
    from clawmem.model.records.change import Author  # a search asks for nobody

    with git.with_user_config(), git.with_environment(git.author_variables):
        printed = git.try_run("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    name, _, rest = (printed or b"").decode(errors="replace").partition(" <")
    return Author(name, rest.partition(">")[0]) if name.strip() else None
