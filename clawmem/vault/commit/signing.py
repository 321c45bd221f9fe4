"""Signed commits, if the settings ask for them: created without a branch, signed, then the branch moves once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.errors import GitFailed
from clawmem.vault.commit.fast_import import CLAWMEM_AUTHOR
from clawmem.vault.git.config import join_names
from clawmem.vault.vault import Vault

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
    identity = {
        "GIT_AUTHOR_NAME": author,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_AUTHOR_DATE": f"{seconds} +0000",
        "GIT_COMMITTER_NAME": CLAWMEM_AUTHOR.name,
        "GIT_COMMITTER_EMAIL": CLAWMEM_AUTHOR.email,
        "GIT_COMMITTER_DATE": f"{seconds} +0000",
    }
    parents = ["-p", parent] if parent else []
    return commit_signed(vault, identity, (tree, *parents), words.encode())


def commit_signed(vault: Vault, identity: Mapping[str, str], arguments: Sequence[str], words: bytes) -> str:
    """Create one signed commit and return its name. `words` is the message.

    The program and key come from the user's git configuration, and from the repository's if it was accepted on this
    machine.
    """
    try:
        with vault.git.with_environment(identity), vault.git.with_user_config():
            return vault.git.run("commit-tree", *arguments, "-S", "-F", "-", stdin=words).decode().strip()
    except GitFailed as problem:
        unused = vault.git.ignored_settings()
        if unused:
            problem.hint = (
                f"{join_names(unused)} of this vault's .git/config is not used until you accept it on this"
                " machine: `clawmem config trust`."
            )
        raise
