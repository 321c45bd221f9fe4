"""Creating a vault: the files of the template, a repository of its own, a first commit.

Copy the committed state of a vault to another folder. The repository at an address of the user's own: who can read it,
making a bare one, cloning the vault in it.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from clawmem.errors import DamagedBackup, GitFailed, InvalidInput, Refused
from clawmem.model.history.entry import Manifest, ManifestMember, parse_manifest, render_manifest
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.caller import agent_shell
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.layout import SETTINGS
from clawmem.model.records.strict_json import MANIFEST_BYTES
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.disk import writer_lock
from clawmem.vault.exchange.remote import REMOTE_OPTIONS, remote_failure, without_prompts
from clawmem.vault.exchange.remote_process import create_parents, run_remote_git, staging
from clawmem.vault.git.acceptance import accept, another_was_accepted
from clawmem.vault.git.git import Git
from clawmem.vault.git.refs import PENDING_FILE, common_dir_of, git_dir_of
from clawmem.vault.history.history import is_shallow
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress


BRANCH = "main"
_WAIT = 10.0
_CONFIG = {
    "core.autocrlf": "false",
    "core.fileMode": "false",
    "core.preloadIndex": "true",
    "core.excludesFile": "/dev/null",
}


def template_folder() -> Path:
    """Return the folder of the template: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[2]
    for candidate in (package / "vault-template", package.parent / "vault-template"):
        if (candidate / SETTINGS).is_file():
            return candidate
    raise Refused("The vault template is missing from this installation.", "Install clawmem-vault again.")


def create_vault(
    root: Path, environment: Mapping[str, str], now: datetime, *, inside_repository: bool = False
) -> Vault:
    """Create a vault at `root`, which must be empty or not exist, with everything in one first commit, and record it
    as accepted, unless the record cannot be written.

    Raise Refused if `root` is inside another repository, unless `inside_repository` allows it. An interrupted creation
    is completed.
    """
    _check_place(root, inside_repository)
    _initialise(root, environment)
    vault = Vault(root, environment)
    with transaction(vault, now, "init", wait=_WAIT) as started:
        missing: dict[str, bytes | None] = {path: data for path, data in template_files() if started.read(path) is None}
        if missing:
            started.commit([Change("init(vault): a new memory", missing, trailers("init"))])
    return vault


def template_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the template by vault path."""
    folder = template_folder()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _initialise(root: Path, environment: Mapping[str, str]) -> None:
    # The state folder comes first: it marks an unfinished creation as ours, and its lock excludes others.
    state = root / ".git" / "clawmem"
    is_new = not (root / ".git").exists()
    # New folders are readable only by their owner. Existing ones keep their permissions.
    for folder in (root, root / ".git", state):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # What an archive brings can look like an unfinished creation, and an agent can move the user's vault away.
    by_agent = agent_shell(environment) is not None or environment.get("CLAWMEM_AGENT")
    if is_new and not (by_agent and another_was_accepted(root / ".git", environment)):
        with suppress(OSError):
            accept(root / ".git", environment)
    git = Git(root, environment)
    with writer_lock(state / "lock", _WAIT, "init"):
        (root / ".git" / "config.lock").unlink(missing_ok=True)
        git.run("init", "--quiet", "--template=", f"--initial-branch={BRANCH}", ".")
        configure_repository(git)


def configure_repository(git: Git) -> None:
    """Write the git configuration of a vault to a new repository."""
    git.configure(_CONFIG)


def _check_place(root: Path, inside_repository: bool) -> None:
    if root.exists() and not root.is_dir():
        raise InvalidInput(f"{root} is a file.", "Name a folder for the vault.")
    unfinished = git_dir_of(root) if root.is_dir() else None
    if unfinished is not None and _is_ours(unfinished):
        return
    if (root / SETTINGS).exists():
        raise Refused(f"{root} is already a vault.", "`clawmem status` shows its state.")
    if unfinished is not None:
        raise Refused(
            f"{root} is already a git repository.", "A vault needs a repository of its own: name another folder."
        )
    if root.is_dir() and any(root.iterdir()):
        raise Refused(f"{root} is not empty.", "Name an empty or a new folder.")
    if not inside_repository:
        refuse_nested(root)


def refuse_nested(root: Path) -> None:
    """Raise Refused if a path is inside another git repository."""
    outer = next((folder for folder in root.resolve().parents if git_dir_of(folder)), None)
    if outer is not None:
        raise Refused(
            f"{root} is inside the git repository {outer}.",
            "Choose a place outside it, or use --inside-repository to create the vault there.",
        )


def _is_ours(git_dir: Path) -> bool:
    """Return whether clawmem started to create this repository and did not finish: no commit yet, or the first one
    unfinished."""
    state = git_dir / "clawmem"
    is_empty = not any((git_dir / "refs" / "heads").glob("*")) and not (git_dir / "packed-refs").exists()
    return state.is_dir() and (is_empty or _first_is_pending(state))


def _first_is_pending(state: Path) -> bool:
    pending = state / PENDING_FILE
    return pending.exists() and json.loads(pending.read_bytes())["parent"] is None


def copy_vault(own: Vault, root: Path, environment: Mapping[str, str]) -> None:
    """Clone the vault into a new folder, without its remotes. What is local to the machine stays behind."""
    own.git.run("clone", "--quiet", "--no-hardlinks", "--", str(own.root), str(root))
    git = Git(root, environment)
    git.run("remote", "remove", "origin")
    configure_repository(git)
    (root / ".git" / "clawmem").mkdir(mode=0o700, exist_ok=True)


# Refs of other clones, and what an interrupted signing left behind.
_EXCLUDED_REFS = ("--exclude=refs/remotes/*", "--exclude=refs/clawmem/unsigned")
# How `git fsck` reports objects that are intact but badly formed.
_STYLE_ERRORS = ("error in ", "warning in ", "notice: ")
# git itself refuses invalid names. The system limits the length of an argument.
_BRANCH = re.compile(r"refs/heads/[^\s\x00-\x1f\x7f-][^\s\x00-\x1f\x7f]{0,999}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class BundleRefs(NamedTuple):
    """The refs in a bundle, by name; `head` is the commit of HEAD."""

    refs: dict[str, str]
    head: str


def write_bundle(vault: Vault, target: Path) -> BundleRefs:
    """Write every ref except those of remotes, with all objects. Raise Refused if the history is incomplete."""
    if vault.head().commit is None:
        raise Refused("The vault has no commit yet, so there is nothing to back up.", "Run `clawmem init` on it again.")
    refuse_shallow(vault)
    vault.git.run("bundle", "create", "--quiet", str(target), *_EXCLUDED_REFS, "--all", "HEAD")
    return bundle_refs(vault.git, target)


def refuse_shallow(vault: Vault) -> None:
    """Raise Refused if the clone contains only a part of the history."""
    if is_shallow(vault):
        raise Refused(
            "This vault is a shallow clone: a part of its history is missing here, so a backup would be incomplete.",
            "Fetch the rest with `git fetch --unshallow`, or back up the clone it was made from.",
        )


def shallow_commits(vault: Vault) -> list[str]:
    """Return the commits of a shallow clone whose parents are missing."""
    data = vault.disk.read(common_dir_of(vault.git_dir) / "shallow")
    return sorted((data or b"").decode().split())


def bundle_refs(git: Git, bundle: Path) -> BundleRefs:
    """Return the refs of a bundle. Raise DamagedBackup if it has no HEAD."""
    rows = [line.split(" ", 1) for line in git.run("bundle", "list-heads", str(bundle)).decode().splitlines()]
    refs = {name: commit for commit, name in rows if name != "HEAD"}
    head = next((commit for commit, name in rows if name == "HEAD"), None)
    if head is None:
        raise DamagedBackup("its bundle has no HEAD")
    return BundleRefs(refs, head)


def unbundle(root: Path, git: Git, bundle: Path, object_format: str, branch: str | None, commit: str) -> None:
    """Create a repository at `root` with the refs of a bundle and HEAD as it was. No work tree is checked out.

    Raise DamagedBackup if the manifest or the bundle is invalid.
    """
    # `branch` comes from a file. It must not be read as an option.
    if branch is not None and not _BRANCH.fullmatch(branch):
        raise DamagedBackup("its manifest names an invalid branch")
    if object_format not in ("sha1", "sha256"):
        raise DamagedBackup("its manifest names an unknown object format")
    if not _COMMIT.fullmatch(commit):
        raise DamagedBackup("its manifest names an invalid commit")
    git.run("init", "--quiet", "--template=", f"--object-format={object_format}", "--initial-branch=main", ".")
    configure_repository(git)
    try:
        git.run("bundle", "verify", "--quiet", str(bundle))
        # git does not fetch into the branch that HEAD is on, so HEAD names a branch without commits meanwhile.
        git.run("symbolic-ref", "HEAD", "refs/clawmem/unborn")
        git.run("fetch", "--quiet", "--no-tags", str(bundle), "+refs/*:refs/*", "HEAD")
        if branch is not None:
            git.run("symbolic-ref", "HEAD", branch)
        else:
            git.run("update-ref", "--no-deref", "HEAD", commit)
    except GitFailed as problem:
        raise DamagedBackup(problem.message.rstrip(".")) from problem
    (root / ".git" / "FETCH_HEAD").unlink(missing_ok=True)


def check_objects(git: Git) -> None:
    """Let git check every object. Raise DamagedBackup with its message. Mere style errors, such as an author without an
    address, are ignored."""
    problems = fsck(git)
    if problems:
        raise DamagedBackup(f"git fsck says: {problems[0]}")


def fsck(git: Git) -> list[str]:
    """Return what git finds damaged or missing when it reads every object, in its own words."""
    process = git.start("fsck", "--full", "--no-dangling", "--no-progress")
    printed, complaint = git.communicate(process)
    lines = (complaint + printed).decode(errors="replace").splitlines()
    wrong = [line for line in lines if not line.startswith(_STYLE_ERRORS)]
    if process.returncode == 0 or (lines and not wrong):
        return []
    return wrong or [f"exit code {process.returncode}"]


def tree_of(git: Git, commit: str) -> str:
    """Return the name of a commit's tree."""
    return git.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()


def object_format(git: Git) -> str:
    """Return the hash algorithm of the repository: "sha1" or "sha256"."""
    return git.run("rev-parse", "--show-object-format").decode().strip()


MANIFEST = "manifest.json"
CHECKSUM = "manifest.sha256"
BUNDLE = "vault.bundle"
JOURNAL = "access.log"
PARTS = (BUNDLE, JOURNAL)
_PIECE = 1 << 20
# tar headers contain only names and sizes, so that equal vaults give equal files.
_MODE = 0o644


def measure_file(path: Path) -> ManifestMember:
    """Return the size and SHA-256 of a file."""
    with path.open("rb") as file:
        return _copied(file, None)


def write_archive(target: Path, manifest: Manifest, parts: Mapping[str, Path]) -> None:
    """Write the backup file and wait until it is on the disk."""
    manifest_bytes = render_manifest(manifest)
    with open(target, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data in ((MANIFEST, manifest_bytes), (CHECKSUM, _checksum(manifest_bytes))):
                archive.addfile(_header(name, len(data)), io.BytesIO(data))
            for name, path in parts.items():
                with path.open("rb") as part:
                    archive.addfile(_header(name, manifest.members[name].size), part)
        file.flush()
        os.fsync(file.fileno())


def read_archive(file: IO[bytes], folder: Path) -> Manifest:
    """Unpack the parts into a folder and check each against the manifest. Raise DamagedBackup if one is wrong."""
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            manifest_bytes = _read_small(archive, MANIFEST)
            if _read_small(archive, CHECKSUM) != _checksum(manifest_bytes):
                raise DamagedBackup(f"{MANIFEST} does not match its checksum")
            manifest = parse_manifest(manifest_bytes)
            if BUNDLE not in manifest.members or not set(manifest.members) <= set(PARTS):
                raise DamagedBackup("its manifest names parts that a backup does not have")
            for name, wanted in manifest.members.items():
                _unpack(archive, name, wanted, folder / name)
    except (tarfile.TarError, EOFError, KeyError, UnicodeError, ValueError, OverflowError, RecursionError) as problem:
        raise DamagedBackup(f"it cannot be unpacked ({problem})") from None
    return manifest


def _unpack(archive: tarfile.TarFile, name: str, wanted: ManifestMember, target: Path) -> None:
    header = archive.getmember(name)
    if header.size != wanted.size or header.sparse is not None:
        raise DamagedBackup(f"{name} does not have the size in the manifest")
    with _member(archive, name) as packed, target.open("xb") as file:
        found = _copied(packed, file)
    if found != wanted:
        raise DamagedBackup(f"{name} does not match the SHA-256 in the manifest")


def _copied(source: IO[bytes], target: IO[bytes] | None) -> ManifestMember:
    import hashlib

    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += len(piece)
        if target is not None:
            target.write(piece)
    return ManifestMember(size, digest.hexdigest())


def _read_small(archive: tarfile.TarFile, name: str) -> bytes:
    with _member(archive, name) as packed:
        data = packed.read(MANIFEST_BYTES + 1)
    if len(data) > MANIFEST_BYTES:
        raise DamagedBackup(f"its {name} is longer than {MANIFEST_BYTES:,} bytes")
    return data


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    try:
        found: Any = archive.extractfile(archive.getmember(name))
    except KeyError:
        found = None
    if found is None:
        raise DamagedBackup(f"it does not contain {name}")
    return found  # type: ignore[no-any-return]


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, _MODE
    return header


def _checksum(described: bytes) -> bytes:
    import hashlib

    return f"{hashlib.sha256(described).hexdigest()}  {MANIFEST}\n".encode()


_WITH_PASSWORD = re.compile(r"https?://[^/@]*:[^/@]+@")
_SECONDS, _PROBE_SECONDS = 300.0, 20.0


def refuse_readable(address: str, environment: Mapping[str, str]) -> None:
    """Raise InvalidInput for an address with a password, and Refused for one that can be read without any."""
    if _WITH_PASSWORD.match(address):
        raise InvalidInput(
            "The address contains a password, which git would store as plain text.",
            "Leave it out, and set up a credential helper for git.",
        )
    # No configuration, so that git has no credentials.
    anonymous = {"PATH": environment.get("PATH", os.defpath), "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    anonymous |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_CONFIG_GLOBAL": os.devnull}
    with suppress(subprocess.TimeoutExpired):
        probe = ["git", "ls-remote", "--", address]
        if not subprocess.run(
            probe, env=anonymous, capture_output=True, timeout=_PROBE_SECONDS, check=False
        ).returncode:
            raise Refused(
                f"Everybody can read {address}, and the whole memory would be there.",
                "Make the repository private, or use another one.",
            )


def make_bare(folder: Path, environment: Mapping[str, str]) -> None:
    """Make an empty bare repository. Raise InvalidInput if there is no parent folder."""
    if not folder.parent.is_dir():
        raise InvalidInput(f"There is no folder {folder.parent}.", "Name a git address, or a place in a folder.")
    folder.mkdir(mode=0o700)
    Git(folder, environment).run("init", "--quiet", "--bare", "--template=", f"--initial-branch={BRANCH}", ".")


def clone_vault(root: Path, address: str, environment: Mapping[str, str], on_progress: OnProgress | None) -> bool:
    """Clone the vault at the address to `root`, and accept it. Return False if nothing is at the address yet.

    Raise RemoteFailed if it cannot be read, and Refused if it is no vault or `root` is not free."""
    with create_parents(root), staging(root) as work:
        git = work.git(work.folder, Git(work.folder, environment))
        order = (*REMOTE_OPTIONS, "clone", "--progress", "--template=", "--no-hardlinks", "--", address, "vault")
        variables = without_prompts(git.environment, own_ssh=False)
        with git.with_environment(variables):
            output = run_remote_git(git, order, _SECONDS, on_progress)
        if output.code != 0:
            raise remote_failure("read", address, output)
        clone = work.git(work.folder / "vault", git)
        if clone.try_run("rev-parse", "--quiet", "--verify", "HEAD") is None:
            return False
        if not (clone.root / SETTINGS).is_file():
            raise Refused(f"{address} is a repository, but no vault.", "Create an empty private one for the memory.")
        configure_repository(clone)
        try:
            clone.root.rename(root)
        except OSError as problem:
            raise Refused(f"{root} cannot be created: {problem.strerror}.", "Name another place.") from None
    accept(root / ".git", environment)
    return True
