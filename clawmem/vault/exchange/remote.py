"""Remotes: other repositories of the same memory. git itself fetches and pushes, never with force.

Setting HEAD of a remote repository, which a clone checks out, after the first push to it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import HistoryRewritten, NotFound, Refused, RemoteFailed
from clawmem.model.language.text import one_line, visible
from clawmem.vault.exchange.remote_process import RemoteOutput, run_remote_git
from clawmem.vault.git.config import ConfigEntry, join_names, read_config, split_plain
from clawmem.vault.git.git import Git, complaint_of
from clawmem.vault.git.refs import Head, git_dir_of, read_ref
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress


# Fetched objects are checked, and only one branch is fetched.
_SETTINGS = (
    "fetch.fsckObjects=true",
    "fetch.showForcedUpdates=true",
    "fetch.output=full",
    "fetch.recurseSubmodules=false",
    "fetch.prune=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "push.gpgSign=false",
    "credential.interactive=false",
)
REMOTE_OPTIONS = tuple(part for setting in _SETTINGS for part in ("-c", setting))
REMOTE_SETTINGS = r"^(remote\..*\.|core\.sshcommand$)"
_ADDRESSES = ("url", "pushurl")
_FILE = "file://"
# Sections of a repository's configuration that run nothing while others fetch from it or push to it.
_HARMLESS_SECTIONS = frozenset(("alias", "branch", "color", "gitweb", "http", "merge", "remote"))
_REMOTE_SECTIONS = frozenset(
    ("core", "credential", "fetch", "http", "include", "includeif", "protocol", "push", "remote", "ssh", "url")
)
_NO_BRANCH = "couldn't find remote ref"
# How a host reports that somebody else pushed first.
_RACE_MESSAGES = (
    "fetch first",
    "non-fast-forward",
    "cannot lock ref",
    "failed to update ref",
    "incorrect old value",
    "failed to lock",
    "reference already exists",
    "Unable to create",
    "stale info",
)
# How `git push --porcelain` reports a rejected branch, and the output of the remote itself.
_REFUSAL = re.compile(r"^!\t[^\t]*\t\[[^\]]*\] \((.*)\)$", re.MULTILINE)
_FROM_THERE = re.compile(r"^remote: (.*)$", re.MULTILINE)
_MAX_HOOK_LINES, _MAX_HOOK_TEXT = 3, 300
_NO_PASSWORDS = "clawmem does not ask for passwords: set up a credential helper for git, then run the command again."
# What to do, by what git or ssh says.
_HINTS = {
    "Host key verification failed": "ssh does not know this host yet: connect to it once with `ssh`, compare the"
    " fingerprint with the one that the host publishes, then run the command again.",
    "Permission denied (": "The host knows no key of this machine: `ssh-keygen -t ed25519` makes one; add the file"
    " `~/.ssh/id_ed25519.pub` to your account there.",
    "Authentication failed": _NO_PASSWORDS,
    "could not read Username": _NO_PASSWORDS,
    "could not read Password": _NO_PASSWORDS,
    "Permission denied": _NO_PASSWORDS,
    "not found": "Check the address, and create a private, empty repository there first.",
    "does not appear to be a git repository": "Check the address, and create a private, empty repository there first.",
}
_UNREACHABLE = "Nothing was lost: the vault here is complete. Try again when it can be reached."


class Remote(NamedTuple):
    """A remote by its name in git, and the environment variables that keep git from prompting."""

    name: str
    variables: Mapping[str, str]


def find_remote(vault: Vault, name: str, settings: Mapping[str, str] | None = None) -> Remote:
    """Return the remote with that name; `settings` are git's settings if the caller has read them.

    Raise NotFound if git has no such remote. Only names are accepted, not addresses: a setting is synced with the
    vault, so an address in it could come from anybody.
    """
    settings = vault.git.config_values(REMOTE_SETTINGS) if settings is None else settings
    known = list(
        dict.fromkeys(key.split(".", 1)[1].rpartition(".")[0] for key in settings if key.startswith("remote."))
    )
    unused = vault.git.ignored_settings()
    if name in known or any((entry.section, entry.subsection) == ("remote", name) for entry in unused):
        _check_address(vault, name, settings, unused)
        return Remote(name, without_prompts(vault.git.environment, "core.sshcommand" in settings))
    add = f"git -C {shlex.quote(str(vault.root))} remote add {name} URL"
    if not known:
        raise NotFound(
            "There is no remote to sync with: git has none configured here.",
            f"Add one: `{add}`.",
        )
    raise NotFound(
        f"git has no remote '{name}' here; it has {', '.join(known)}.",
        f"Choose one with --remote or `clawmem config set sync.remote {known[0]}`, or `{add}`.",
    )


def _check_address(vault: Vault, name: str, settings: Mapping[str, str], unused: Sequence[ConfigEntry]) -> None:
    """Raise Refused if the address of a remote runs a program and the vault is not accepted on this machine."""
    for entry in unused:
        if (entry.section, entry.subsection) == ("remote", name) and entry.name in _ADDRESSES:
            raise Refused(
                f"The address of {name} is not used because it could run a program here: {visible(entry.value)}.",
                "Accept this vault on this machine with `clawmem config trust`, or change the address:"
                f" `git remote set-url {name} URL`.",
            )
    addresses = {settings.get(f"remote.{name}.{key}") for key in _ADDRESSES} - {None}
    if addresses and not vault.git.is_accepted():
        for address in addresses:
            _refuse_programs(vault, name, address or "")


def _refuse_programs(vault: Vault, name: str, address: str) -> None:
    """Raise Refused if an address is a repository on this machine whose hooks or configuration run programs."""
    git_dir = _git_dir_at(vault.root, address)
    if git_dir is None:
        return
    what = _program_of(vault, git_dir)
    if what is not None:
        raise Refused(
            f"{name} is {git_dir}, which would run a program of its own here: {what}.",
            "If you trust that repository, accept this vault on this machine: `clawmem config trust`.",
        )


def _git_dir_at(root: Path, address: str) -> Path | None:
    """Return the git folder of a remote address, or None if it is on another machine or does not exist."""
    if address.startswith(_FILE):
        address = address.removeprefix(_FILE)
    elif ":" in address.split("/", 1)[0]:
        return None
    for place in (root / address, root / f"{address}.git"):
        found = git_dir_of(place) or place
        if (found / "HEAD").is_file():
            return found
    return None


def _program_of(vault: Vault, git_dir: Path) -> str | None:
    hooks = git_dir / "hooks"
    if hooks.is_dir():
        for path in sorted(hooks.iterdir()):
            # No push or fetch runs the one hook that clawmem itself writes.
            if path.suffix != ".sample" and path.name != "post-commit" and path.is_file() and os.access(path, os.X_OK):
                return f"the hook {path.name}"
    _, others = split_plain(read_config(git_dir, vault.git.environment))
    unsafe = [other for other in others if other.section not in _HARMLESS_SECTIONS and other.key != "core.bare"]
    return f"{unsafe[0].key} in its configuration" if unsafe else None


def ignored_settings_notice(vault: Vault) -> str | None:
    """Return a notice about git settings of the vault that would affect remotes and are not used, or None."""
    unused = [
        ignored_setting
        for ignored_setting in vault.git.ignored_settings()
        if ignored_setting.section in _REMOTE_SECTIONS
    ]
    if not unused:
        return None
    return (
        f"not used because it was not accepted on this machine: {join_names(unused)} of the vault's .git/config;"
        " `clawmem config trust` accepts it"
    )


def tracking_ref(remote: str, branch: str) -> str:
    """Return the ref with the last fetched state of a branch."""
    return f"refs/clawmem/remote/{remote}/{branch}"


def fetch(
    vault: Vault,
    remote: Remote,
    branch: str,
    on_progress: OnProgress | None,
    seconds: float,
    rewritten: bool = False,
) -> str | None:
    """Fetch one branch. Return its commit, or None if the remote does not have the branch yet.

    Raise HistoryRewritten if its history was rewritten, unless `rewritten` allows it, and RemoteFailed if it cannot be
    reached.
    """
    tracking = tracking_ref(remote.name, branch)
    # Without the plus git rejects a branch that does not contain its previous state.
    spec = f"{'+' if rewritten else ''}refs/heads/{branch}:{tracking}"
    output = _run(vault, remote, ("fetch", "--no-tags", "--progress"), spec, on_progress, seconds)
    if output.code == 0:
        commit = read_ref(vault.git_dir, tracking)
        if commit is None:
            raise RemoteFailed(f"{remote.name} returned no commit of {branch}.", "Check it with `git ls-remote`.")
        return commit
    if _NO_BRANCH in output.complaint:
        return None
    if any("[rejected]" in line and f" {tracking} " in line for line in output.complaint.splitlines()):
        raise HistoryRewritten(
            f"{remote.name} no longer has commits that were fetched from it: its history was rewritten.",
            "If this was intended (a secret was redacted, for example), create a new clone; "
            "`clawmem sync --allow-rewritten` restores the old history.",
        )
    raise remote_failure("fetched from", remote.name, output)


def push(vault: Vault, remote: Remote, branch: str, head: Head, on_progress: OnProgress | None, seconds: float) -> bool:
    """Push the commit of HEAD, without force. Return False if somebody else pushed first.

    Raise RemoteFailed if the remote cannot be reached or rejects the push.
    """
    output = _run(
        vault, remote, ("push", "--porcelain", "--progress"), f"{head.commit}:refs/heads/{branch}", on_progress, seconds
    )
    if output.code == 0:
        vault.git.run("update-ref", tracking_ref(remote.name, branch), head.commit or "")
        return True
    if any(sign in (output.printed + output.complaint) for sign in _RACE_MESSAGES):
        return False
    refusal = _REFUSAL.search(output.printed)
    raise (
        _refused(remote.name, branch, refusal[1], output)
        if refusal
        else remote_failure("pushed to", remote.name, output)
    )


def _run(
    vault: Vault,
    remote: Remote,
    command: Sequence[str],
    spec: str,
    on_progress: OnProgress | None,
    seconds: float,
) -> RemoteOutput:
    with vault.git.with_environment(remote.variables):
        return run_remote_git(vault.git, (*REMOTE_OPTIONS, *command, "--", remote.name, spec), seconds, on_progress)


def without_prompts(environment: Mapping[str, str], own_ssh: bool) -> dict[str, str]:
    """Return variables with which git and ssh fail at once instead of asking for a password. `own_ssh` says that git's
    settings name a program for ssh."""
    record = {"GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "SSH_ASKPASS_REQUIRE": "never"}
    own = {"GIT_SSH", "GIT_SSH_COMMAND"} & environment.keys()
    if not own and not own_ssh:
        record["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"
    return record


def _refused(remote: str, branch: str, reason: str, output: RemoteOutput) -> RemoteFailed:
    """Return the error for a push that the remote rejected, with the reason and the output of its hook."""
    lines = [one_line(line).removeprefix("error:").strip(" .") for line in _FROM_THERE.findall(output.complaint)]
    hook_output = "; ".join([line for line in lines if line][:_MAX_HOOK_LINES]) if "hook" in reason else ""
    detail = f": {visible(hook_output[:_MAX_HOOK_TEXT])}" if hook_output else ""
    hint = (
        "Nothing was lost: the vault here is complete. The administrator of the remote can allow the push,"
        " or choose another branch with --branch."
    )
    if "checked out" in reason:
        hint = (
            "Nothing was lost. Sync with a bare repository (`git init --bare`), or switch that one to another branch."
        )
    return RemoteFailed(f"{remote} refused the push to {branch} ({visible(reason)}){detail}.", hint)


def remote_failure(did: str, remote: str, output: RemoteOutput) -> RemoteFailed:
    """Return the error for a git command that could not do something with a remote, with a hint that fits."""
    words = complaint_of(output.complaint, "it did not answer")
    if output.code is None:
        words += " (sync.timeout_seconds)"
    hint = next((text for sign, text in _HINTS.items() if sign in output.complaint), _UNREACHABLE)
    return RemoteFailed(f"{remote} could not be {did}: {words}.", hint)


def set_remote_head(vault: Vault, remote: Remote, branch: str, seconds: float) -> str | None:
    """Make clones of a repository check out the branch that was just pushed, as git hosts do by themselves.

    If it is a bare repository on this machine, its HEAD is set to that branch. Return a notice about what was done or
    is left to do, or None.
    """
    with vault.git.with_environment(remote.variables):
        output = run_remote_git(vault.git, ("ls-remote", "--", remote.name, "HEAD"), seconds)
    if output.code != 0 or output.printed.strip():
        return None
    order = ("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    place = _bare_here(vault, remote)
    if place is not None and Git(Path(place), vault.git.environment).try_run("--git-dir=.", *order) is not None:
        return (
            f"HEAD of {remote.name} named a branch that does not exist;"
            f" it now names {branch}, so that clones check it out"
        )
    command = shlex.join(("git", *(["-C", place] if place else []), *order))
    return (
        f"HEAD of {remote.name} names a branch that does not exist, so a clone checks nothing out: run `{command}`"
        f"{'' if place else ' in it'}, or clone with `git clone --branch {branch}`"
    )


def _bare_here(vault: Vault, remote: Remote) -> str | None:
    """Return the folder of the remote, if it is a bare repository on a disk of this machine."""
    with vault.git.with_user_config():
        url = vault.git.try_run("ls-remote", "--get-url", remote.name) or b""
    place = os.path.join(vault.root, os.fsdecode(url).rstrip("\n").removeprefix("file://"))  # noqa: PTH118 - may be an address
    if not Path(place).is_dir():
        return None
    bare = Git(Path(place), vault.git.environment).try_run("--git-dir=.", "rev-parse", "--is-bare-repository")
    return place if (bare or b"").strip() == b"true" else None
