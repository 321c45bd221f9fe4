"""The history of a vault as one git bundle, and a repository created from one."""

from __future__ import annotations

import re
from pathlib import Path

from clawmem.errors import DamagedBackup, GitFailed, Refused
from clawmem.model.named_tuple import NamedTuple
from clawmem.vault.exchange.create import configure_repository
from clawmem.vault.git.git import Git
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

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


def is_shallow(vault: Vault) -> bool:
    """Return whether this is a shallow clone."""
    return (common_dir_of(vault.git_dir) / "shallow").exists()


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
    except GitFailed as problem:
        raise DamagedBackup(problem.message.rstrip(".")) from problem
    try:
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


def refs_by_name(git: Git) -> dict[str, str]:
    """Return the commit of every ref of a repository, by ref name."""
    rows = git.run("for-each-ref", "--format=%(objectname) %(refname)").decode().splitlines()
    return {name: commit for commit, name in (row.split(" ", 1) for row in rows)}
