"""Another repository of the same memory: fetched from and pushed to through GitPython, never by force."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import HistoryRewritten, NotFound, RemoteFailed
from clawmem.vault.configured import configured
from clawmem.vault.history import open_repository
from clawmem.vault.refs import Head
from clawmem.vault.vault import Vault
from clawmem.vault.versions import is_ancestor

if TYPE_CHECKING:
    from git import Remote, RemoteProgress

Told = Callable[[str], None]
"""Takes each line of git's progress."""

# What comes from elsewhere is checked object by object, and nothing but the one branch is taken.
_SETTINGS = (
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "fetch.prune=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "push.gpgSign=false",
    "credential.interactive=false",
)
# What has just come, until it is known that nothing is missing in it.
_INCOMING = "refs/clawmem/incoming"
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
_UNREACHABLE = "Nothing was lost: the vault here is whole. Try again when it can be reached."


class Other(NamedTuple):
    """Another repository by the name git knows it by here, and the variables git needs to ask nothing on the way."""

    name: str
    variables: Mapping[str, str]


def find_remote(vault: Vault, name: str) -> Other:
    """The repository of that name. Raises NotFound where git knows none; only names are taken, as a setting travels
    with the vault and an address in it could be anybody's."""
    told = configured(vault, r"^(remote\..*\.|core\.sshcommand$)")
    known = list(dict.fromkeys(key.split(".", 1)[1].rpartition(".")[0] for key in told if key.startswith("remote.")))
    if name in known:
        return Other(name, _silent(vault, "core.sshcommand" in told))
    if not known:
        raise NotFound(
            "There is no other repository to meet: git knows no remote here.", f"Name one: `git remote add {name} URL`."
        )
    raise NotFound(
        f"git knows no remote '{name}' here; it knows {', '.join(known)}.",
        f"Choose one with --remote or `clawmem config set sync.remote {known[0]}`, or `git remote add {name} URL`.",
    )


def tracking_ref(remote: str, branch: str) -> str:
    """Where the last state that was fetched is remembered."""
    return f"refs/clawmem/remote/{remote}/{branch}"


def fetch(vault: Vault, remote: Other, branch: str, told: Told, seconds: float, rewritten: bool = False) -> str | None:
    """Fetch one branch; its commit, or None where the remote has no such branch yet.

    Raises HistoryRewritten where it was rewritten since, unless `rewritten` allows it; RemoteFailed where it cannot be
    reached.
    """
    if not _fetched(vault, remote, branch, told, seconds):
        return None
    tracking = tracking_ref(remote.name, branch)
    form = "--format=%(refname) %(objectname)"
    rows = vault.git.run("for-each-ref", form, tracking, _INCOMING).decode().splitlines()
    held = dict(row.split(" ") for row in rows)
    known, new = held.get(tracking), held.get(_INCOMING)
    if new is None:
        raise RemoteFailed(f"{remote.name} gave no commit of {branch}.", "Look at it: `git ls-remote`.")
    if known is not None and not rewritten and not is_ancestor(vault, known, new):
        raise HistoryRewritten(
            f"{remote.name} no longer has commits that were fetched from it: its history was rewritten.",
            "If that was meant (a secret was redacted, say), make a new clone; "
            "`clawmem sync --allow-rewritten` brings the old history back.",
        )
    vault.git.run("update-ref", "--stdin", given=f"update {tracking} {new}\ndelete {_INCOMING}\n".encode())
    return new


def _fetched(vault: Vault, remote: Other, branch: str, told: Told, seconds: float) -> bool:
    """Bring the remote's branch here; False where it has none of that name."""
    with _opened(vault, remote) as found:
        from git.exc import CommandError

        try:
            spec = f"+refs/heads/{branch}:{_INCOMING}"
            found.fetch(spec, progress=_progress(told), kill_after_timeout=seconds, no_tags=True)
        except CommandError as problem:
            complaint = _complaint(problem)
            if _NO_BRANCH in complaint:
                return False
            raise _failed("fetched from", remote.name, complaint) from None
    return True


def push(vault: Vault, remote: Other, branch: str, head: Head, told: Told, seconds: float) -> bool:
    """Push the branch that HEAD names, which is at that commit or has gone on since, to a branch there, which must not
    lose anything by it; False where somebody else was faster.

    Raises RemoteFailed where the remote cannot be reached or does not take it.
    """
    taken = _pushed(vault, remote, f"{head.branch}:refs/heads/{branch}", told, seconds)
    if taken:
        vault.git.run("update-ref", tracking_ref(remote.name, branch), head.commit or "")
    return taken


def _pushed(vault: Vault, remote: Other, spec: str, told: Told, seconds: float) -> bool:
    with _opened(vault, remote) as found:
        from git.exc import CommandError

        try:
            rows = found.push(spec, progress=_progress(told), kill_after_timeout=seconds)
        except CommandError as problem:
            complaint = _complaint(problem)
            if _was_raced(complaint):
                return False
            raise _failed("pushed to", remote.name, complaint) from None
    told_of = " ".join(row.summary for row in rows) + " " + str(rows.error or "")
    if rows.error is None and rows and not any(row.flags & row.ERROR for row in rows):
        return True
    if _was_raced(told_of):
        return False
    raise _failed("pushed to", remote.name, told_of)


def _was_raced(complaint: str) -> bool:
    return any(sign in complaint for sign in _RACED)


@contextmanager
def _opened(vault: Vault, remote: Other) -> Iterator[Remote]:
    with vault.git.lent(remote.variables), open_repository(vault, _SETTINGS) as repo:
        yield repo.remote(remote.name)


def _silent(vault: Vault, own_ssh: bool) -> dict[str, str]:
    """Variables with which neither git nor ssh asks for a password: without an answer at hand they fail at once."""
    given = {"GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "SSH_ASKPASS_REQUIRE": "never"}
    own = {"GIT_SSH", "GIT_SSH_COMMAND"} & vault.git.environment.keys()
    if not own and not own_ssh:
        given["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"
    return given


def _complaint(problem: Any) -> str:
    return str(problem.stderr or problem)


def _failed(did: str, remote: str, complaint: str) -> RemoteFailed:
    lines = [line.strip().removeprefix("stderr:").strip(" '\"") for line in complaint.splitlines()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))] or [line for line in lines if line]
    words = telling[0].removeprefix("fatal:").removeprefix("error:").strip(" .") if telling else "there was no answer"
    if "Timeout" in complaint:
        words = "it took too long (sync.timeout_seconds)"
    hint = _UNREACHABLE
    if any(sign in complaint for sign in ("Authentication failed", "could not read Username", "Permission denied")):
        hint = "Nothing is asked here: set up a key or a credential helper for git, then run the command again."
    return RemoteFailed(f"{remote} could not be {did}: {words}.", hint)


def _progress(told: Told) -> RemoteProgress:
    from git import RemoteProgress

    class Progress(RemoteProgress):
        """git's progress, line by line, given on."""

        def update(self, *_: Any) -> None:
            told(self._cur_line or "")

    return Progress()
