"""Creating a vault: the files of the template, a repository of its own, a first commit.

Copy the committed state of a vault to another folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from clawmem.errors import InvalidInput, Refused
from clawmem.model.records.caller import agent_shell
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.layout import SETTINGS
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.git.acceptance import accept, another_was_accepted
from clawmem.vault.git.git import Git
from clawmem.vault.git.refs import PENDING_FILE, git_dir_of
from clawmem.vault.lock import writer_lock
from clawmem.vault.vault import Vault

BRANCH = "main"
_WAIT = 10.0
_CONFIG = {
    "core.autocrlf": "false",
    "core.fileMode": "false",
    "core.untrackedCache": "true",
    "core.preloadIndex": "true",
    # The same as clawmem itself uses: git's cache of untracked files is valid for one list of ignored names only.
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
