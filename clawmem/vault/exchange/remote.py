"""Another repository of the same memory: fetched from and pushed to by git itself, never by force."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import HistoryRewritten, NotFound, Refused, RemoteFailed
from clawmem.model.language.text import one_line, visible
from clawmem.vault.exchange.remote_process import ProgressCallback, RemoteOutput, run_remote_git
from clawmem.vault.git.config import ConfigEntry, join_names
from clawmem.vault.git.refs import Head, read_ref
from clawmem.vault.vault import Vault

# What comes from elsewhere is checked object by object, and nothing but the one branch is taken.
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
REMOTE_SETTINGS = r"^(remote\..*\.|core\.sshcommand$)"
_ADDRESSES = ("url", "pushurl")
_ON_THE_WAY = frozenset(
    ("core", "credential", "fetch", "http", "include", "includeif", "protocol", "push", "remote", "ssh", "url")
)
_NO_BRANCH = "couldn't find remote ref"
# How a host says that somebody else was faster.
_RACED = (
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
# How `git push --porcelain` tells that a branch was not taken, and what the other side itself said.
_REFUSAL = re.compile(r"^!\t[^\t]*\t\[[^\]]*\] \((.*)\)$", re.MULTILINE)
_FROM_THERE = re.compile(r"^remote: (.*)$", re.MULTILINE)
_MOST_HEARD, _LONGEST_HEARD = 3, 300
_UNREACHABLE = "Nothing was lost: the vault here is whole. Try again when it can be reached."


class Remote(NamedTuple):
    """Another repository by the name git knows it by here, and the variables git needs to ask nothing on the way."""

    name: str
    variables: Mapping[str, str]


def find_remote(vault: Vault, name: str, told: Mapping[str, str] | None = None) -> Remote:
    """The repository of that name; `told` are git's settings where they were read. Raises NotFound where git knows
    none; only names are taken, as a setting travels with the vault and an address in it could be anybody's."""
    told = vault.git.config_values(REMOTE_SETTINGS) if told is None else told
    known = list(dict.fromkeys(key.split(".", 1)[1].rpartition(".")[0] for key in told if key.startswith("remote.")))
    unused = vault.git.ignored_settings()
    if name in known or any((one.section, one.subsection) == ("remote", name) for one in unused):
        _check_address(vault, name, told, unused)
        return Remote(name, _silent(vault, "core.sshcommand" in told))
    if not known:
        raise NotFound(
            "There is no other repository to meet: git knows no remote here.", f"Name one: `git remote add {name} URL`."
        )
    raise NotFound(
        f"git knows no remote '{name}' here; it knows {', '.join(known)}.",
        f"Choose one with --remote or `clawmem config set sync.remote {known[0]}`, or `git remote add {name} URL`.",
    )


def _check_address(vault: Vault, name: str, told: Mapping[str, str], unused: Sequence[ConfigEntry]) -> None:
    """Raise Refused where the address of a remote runs a program, and nobody accepted the vault on this machine."""
    for one in unused:
        if (one.section, one.subsection) == ("remote", name) and one.name in _ADDRESSES:
            raise Refused(
                f"The address of {name} is not used, as it could run a program here: {visible(one.value)}.",
                "Accept this vault on this machine with `clawmem config trust`, or give it another address:"
                f" `git remote set-url {name} URL`.",
            )
    addresses = {told.get(f"remote.{name}.{key}") for key in _ADDRESSES} - {None}
    if addresses and not vault.git.is_accepted():
        from clawmem.vault.exchange.local_remote import refuse_programs  # few remotes are folders of a stranger

        for address in addresses:
            refuse_programs(vault, name, address or "")


def ignored_settings_notice(vault: Vault) -> str | None:
    """What of the vault's own git configuration would change how others are reached, and is not used; None where
    nothing is."""
    unused = [one for one in vault.git.ignored_settings() if one.section in _ON_THE_WAY]
    if not unused:
        return None
    return (
        f"not used, as nobody accepted it on this machine: {join_names(unused)} of the vault's .git/config;"
        " `clawmem config trust` accepts it"
    )


def tracking_ref(remote: str, branch: str) -> str:
    """Where the last state that was fetched is remembered."""
    return f"refs/clawmem/remote/{remote}/{branch}"


def fetch(
    vault: Vault, remote: Remote, branch: str, told: ProgressCallback | None, seconds: float, rewritten: bool = False
) -> str | None:
    """Fetch one branch; its commit, or None where the remote has no such branch yet.

    Raises HistoryRewritten where it was rewritten since, unless `rewritten` allows it; RemoteFailed where it cannot be
    reached.
    """
    tracking = tracking_ref(remote.name, branch)
    # Without the plus git takes only what has all that was there before.
    spec = f"{'+' if rewritten else ''}refs/heads/{branch}:{tracking}"
    said = _talk(vault, remote, ("fetch", "--no-tags"), spec, told, seconds)
    if said.code == 0:
        return _fetched(vault, remote, branch)
    if _NO_BRANCH in said.complaint:
        return None
    if any("[rejected]" in line and f" {tracking} " in line for line in said.complaint.splitlines()):
        raise HistoryRewritten(
            f"{remote.name} no longer has commits that were fetched from it: its history was rewritten.",
            "If that was meant (a secret was redacted, say), make a new clone; "
            "`clawmem sync --allow-rewritten` brings the old history back.",
        )
    raise _failed("fetched from", remote.name, said)


def _fetched(vault: Vault, remote: Remote, branch: str) -> str:
    commit = read_ref(vault.git_dir, tracking_ref(remote.name, branch))
    if commit is None:
        raise RemoteFailed(f"{remote.name} gave no commit of {branch}.", "Look at it: `git ls-remote`.")
    return commit


def push(vault: Vault, remote: Remote, branch: str, head: Head, told: ProgressCallback | None, seconds: float) -> bool:
    """Push the branch that HEAD names, which is at that commit or has gone on since, to a branch there, which must not
    lose anything by it; False where somebody else was faster.

    Raises RemoteFailed where the remote cannot be reached or does not take it.
    """
    said = _talk(vault, remote, ("push", "--porcelain"), f"{head.branch}:refs/heads/{branch}", told, seconds)
    if said.code == 0:
        vault.git.run("update-ref", tracking_ref(remote.name, branch), head.commit or "")
        return True
    if _was_raced(said.printed + said.complaint):
        return False
    refusal = _REFUSAL.search(said.printed)
    raise _refused(remote.name, branch, refusal[1], said) if refusal else _failed("pushed to", remote.name, said)


def _talk(
    vault: Vault, remote: Remote, command: Sequence[str], spec: str, told: ProgressCallback | None, seconds: float
) -> RemoteOutput:
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    progress = "--progress" if told else "--no-progress"
    with vault.git.with_environment(remote.variables):
        return run_remote_git(vault.git, (*settings, *command, progress, "--", remote.name, spec), seconds, told)


def _was_raced(complaint: str) -> bool:
    return any(sign in complaint for sign in _RACED)


def _silent(vault: Vault, own_ssh: bool) -> dict[str, str]:
    """Variables with which neither git nor ssh asks for a password: without an answer at hand they fail at once."""
    given = {"GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "SSH_ASKPASS_REQUIRE": "never"}
    own = {"GIT_SSH", "GIT_SSH_COMMAND"} & vault.git.environment.keys()
    if not own and not own_ssh:
        given["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"
    return given


def _refused(remote: str, branch: str, reason: str, said: RemoteOutput) -> RemoteFailed:
    """The error for a push that arrived and was not taken: why, and for a hook what it said itself."""
    lines = [one_line(line).removeprefix("error:").strip(" .") for line in _FROM_THERE.findall(said.complaint)]
    heard = "; ".join([line for line in lines if line][:_MOST_HEARD]) if "hook" in reason else ""
    told = f": {visible(heard[:_LONGEST_HEARD])}" if heard else ""
    hint = "Nothing was lost: the vault here is whole. Whoever looks after it can allow it, or --branch names another."
    if "checked out" in reason:
        hint = "Nothing was lost. Meet a bare repository (`git init --bare`), or switch that one to another branch."
    return RemoteFailed(f"{remote} refused the push to {branch} ({visible(reason)}){told}.", hint)


def _failed(did: str, remote: str, said: RemoteOutput) -> RemoteFailed:
    lines = [line.strip() for line in said.complaint.splitlines()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))] or [line for line in lines if line]
    words = telling[0].removeprefix("fatal:").removeprefix("error:").strip(" .") if telling else "there was no answer"
    if said.code is None:
        words = "it took too long (sync.timeout_seconds)"
    hint = _UNREACHABLE
    if any(
        sign in said.complaint for sign in ("Authentication failed", "could not read Username", "Permission denied")
    ):
        hint = "Nothing is asked here: set up a key or a credential helper for git, then run the command again."
    return RemoteFailed(f"{remote} could not be {did}: {words}.", hint)
