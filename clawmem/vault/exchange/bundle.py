"""A vault's history as one git bundle, and a repository made of one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import DamagedBackup, GitFailed, Refused
from clawmem.vault.exchange.create import configure_repository
from clawmem.vault.git.git import Git
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

# What another clone has of its own, and what an interrupted signing left.
_NOT_OURS = ("--exclude=refs/remotes/*", "--exclude=refs/clawmem/unsigned")
# What `git fsck` says of objects that are whole and break a rule of style.
_BADLY_MADE = ("error in ", "warning in ", "notice: ")
# git says itself which of these names are none; of one that it gets as an argument, the system bounds the length.
_BRANCH = re.compile(r"refs/heads/[^\s\x00-\x1f\x7f-][^\s\x00-\x1f\x7f]{0,999}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class BundleRefs(NamedTuple):
    """The refs a bundle holds, by name; `head` is the commit of HEAD."""

    refs: dict[str, str]
    head: str


def write_bundle(vault: Vault, target: Path) -> BundleRefs:
    """Write every ref but those of remotes, and all they lead to; raises Refused where the history is not whole."""
    if vault.head().commit is None:
        raise Refused("The vault has no commit yet, so there is nothing to back up.", "Run `clawmem init` on it again.")
    refuse_shallow(vault)
    vault.git.run("bundle", "create", "--quiet", str(target), *_NOT_OURS, "--all", "HEAD")
    return bundle_refs(vault.git, target)


def refuse_shallow(vault: Vault) -> None:
    """Raise Refused where the clone was made with a part of the history only."""
    if is_shallow(vault):
        raise Refused(
            "This vault is a shallow clone: a part of its history is missing here, so a backup would not be whole.",
            "Fetch the rest with `git fetch --unshallow`, or back up the clone that it came from.",
        )


def is_shallow(vault: Vault) -> bool:
    """Whether history is cut off in this clone."""
    return (common_dir_of(vault.git_dir) / "shallow").exists()


def shallow_commits(vault: Vault) -> list[str]:
    """The commits of a shallow clone whose parents it does not have; none elsewhere."""
    data = vault.disk.read(common_dir_of(vault.git_dir) / "shallow")
    return sorted((data or b"").decode().split())


def bundle_refs(git: Git, bundle: Path) -> BundleRefs:
    """The refs of a bundle; raises DamagedBackup where it has no HEAD."""
    rows = [line.split(" ", 1) for line in git.run("bundle", "list-heads", str(bundle)).decode().splitlines()]
    refs = {name: commit for commit, name in rows if name != "HEAD"}
    head = next((commit for commit, name in rows if name == "HEAD"), None)
    if head is None:
        raise DamagedBackup("its bundle has no HEAD")
    return BundleRefs(refs, head)


def unbundle(root: Path, git: Git, bundle: Path, object_format: str, branch: str | None, commit: str) -> None:
    """Make `root` a repository with a bundle's refs and every object checked, HEAD where it was, and no work tree
    yet."""
    # `branch` is written, never read as an option: it comes from a file.
    if branch is not None and not _BRANCH.fullmatch(branch):
        raise DamagedBackup("its manifest names a branch that is none")
    if object_format not in ("sha1", "sha256"):
        raise DamagedBackup("its manifest names an object format that git does not have")
    if not _COMMIT.fullmatch(commit):
        raise DamagedBackup("its manifest names a commit that is none")
    git.run("init", "--quiet", "--template=", f"--object-format={object_format}", "--initial-branch=main", ".")
    configure_repository(git)
    try:
        git.run("bundle", "verify", "--quiet", str(bundle))
        # Into a branch that is not born: fetching would refuse to touch the one that HEAD is on.
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
    """Have git check every object; raises DamagedBackup with its words. What git only finds badly made, such as an
    author without an address, was so before."""
    said = fsck(git)
    if said:
        raise DamagedBackup(f"git fsck says: {said[0]}")


def fsck(git: Git) -> list[str]:
    """What git finds damaged or missing when it reads every object, in its own words."""
    process = git.start("fsck", "--full", "--no-dangling", "--no-progress")
    printed, complaint = git.communicate(process)
    lines = (complaint + printed).decode(errors="replace").splitlines()
    wrong = [line for line in lines if not line.startswith(_BADLY_MADE)]
    if process.returncode == 0 or (lines and not wrong):
        return []
    return wrong or [f"exit code {process.returncode}"]


def tree_of(git: Git, commit: str) -> str:
    """The name of a commit's tree."""
    return git.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()


def object_format(git: Git) -> str:
    """How the repository names its objects: sha1 or sha256."""
    return git.run("rev-parse", "--show-object-format").decode().strip()


def refs_by_name(git: Git) -> dict[str, str]:
    """Every ref of a repository, by name."""
    rows = git.run("for-each-ref", "--format=%(objectname) %(refname)").decode().splitlines()
    return {name: commit for commit, name in (row.split(" ", 1) for row in rows)}
