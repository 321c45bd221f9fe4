"""Vault paths: which ones clawmem may commit, whose they are, and that they stay inside the vault."""

from __future__ import annotations

from clawmem.errors import InvalidInput
from clawmem.model.kinds import ROOMS, file_kind
from clawmem.model.records.entity import is_device

WIKI = "wiki"
TASKS = "tasks"
SETTINGS = "clawmem.yaml"
CATALOG = "predicates.yaml"
ACCESS = "governance/access.yaml"
OWNED_FOLDERS = tuple(f"{room}/" for room in ROOMS)
_NOT_ON_WINDOWS = frozenset('<>:"|?*\\')
_ENDINGS = (".md", ".json", ".jsonl", ".yaml", "/.gitkeep")


def is_owned(path: str) -> bool:
    """Whether clawmem merges, moves and undoes this file: every file of a kind, and the text files of no kind that may
    be in the history of the vault's folders."""
    if file_kind(path) is not None:
        return True
    return path.startswith(OWNED_FOLDERS) and path.endswith(_ENDINGS) and path.isprintable() and "\\" not in path


def agent_of(path: str) -> str | None:
    """The agent whose folder a vault path is in; None where it is in none."""
    parts = path.split("/", 2)
    return parts[1] if parts[0] == "agents" and len(parts) > 2 else None


def is_text(path: str) -> bool:
    """Whether a path is UTF-8 text; git and the file system take any bytes."""
    return not any("\udc80" <= letter <= "\udcff" for letter in path)


def fits_windows(path: str) -> bool:
    """Whether Windows can have a file at the path."""
    parts = path.split("/")
    return not any(is_device(part) or part.endswith((".", " ")) or _NOT_ON_WINDOWS & {*part} for part in parts)


def check_inside(path: str) -> str:
    """Return the path; raise InvalidInput where it is absolute, leaves the vault or enters `.git`."""
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or "\0" in path or {"..", ".", ""} & set(parts):
        raise InvalidInput(f"'{path}' leaves the vault.", "Name a file by its path inside the vault.")
    if parts[0].casefold() == ".git":
        raise InvalidInput(f"'{path}' is inside git's own folder.", "Name a file of the vault itself.")
    return path
