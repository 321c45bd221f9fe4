"""Which paths of a vault clawmem owns, and how a path is known to stay inside it."""

from __future__ import annotations

from clawmem.errors import InvalidInput

SETTINGS = "clawmem.yaml"
CATALOG = "predicates.yaml"
OWNED_FILES = frozenset((SETTINGS, CATALOG, "README.md", "AGENTS.md", "MEMORY.md", ".gitattributes", ".gitignore"))
OWNED_FOLDERS = ("life/", "daily/", "ledger/", "agents/", "review/", "wiki/")
OWNED_ENDINGS = (".md", ".json", ".jsonl", ".yaml", "/.gitkeep")


def is_owned(path: str) -> bool:
    """Whether a vault path is clawmem's to stage and commit."""
    if path in OWNED_FILES:
        return True
    ours = path.startswith(OWNED_FOLDERS) and path.endswith(OWNED_ENDINGS)
    return ours and path.isprintable() and "\\" not in path


def is_text(path: str) -> bool:
    """Whether a path is UTF-8 text; git and the disk take any bytes."""
    return not any("\udc80" <= letter <= "\udcff" for letter in path)


def check_inside(path: str) -> str:
    """The path itself, or InvalidInput where it is absolute, climbs out or enters `.git`."""
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or "\0" in path or {"..", ".", ""} & set(parts):
        raise InvalidInput(f"'{path}' leaves the vault.", "Name a file by its path inside the vault.")
    if parts[0].casefold() == ".git":
        raise InvalidInput(f"'{path}' is inside git's own folder.", "Name a file of the vault itself.")
    return path


def is_ledger(path: str) -> bool:
    """Whether a vault path is a day of the ledger."""
    return path.startswith("ledger/") and path.endswith(".jsonl")


def is_page(path: str) -> bool:
    """Whether a vault path is a page whose own lines can be searched: a daily note, an agent's page, MEMORY.md."""
    if not path.endswith(".md"):
        return False
    whose, _, rest = path.removeprefix("agents/").partition("/") if path.startswith("agents/") else ("", "", path)
    own_page = bool(whose) and "/" not in rest
    return own_page or rest == "MEMORY.md" or (rest.startswith("daily/") and rest.count("/") == 1)


def is_proposal_path(path: str) -> bool:
    """Whether a vault path is that of a proposal."""
    return path.startswith("review/prop_") and path.endswith(".json") and path.count("/") == 1
