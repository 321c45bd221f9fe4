"""Find dead links and orphans among the pages of the wiki."""

from __future__ import annotations

import os

from clawmem.model.wiki.links import LinkReport, check_links
from clawmem.model.wiki.names import FOLDER
from clawmem.vault.vault import Vault


def check_pages(vault: Vault) -> LinkReport:
    """Return the dead links and the orphans of the pages in the folder, reports included, as they are on disk."""
    paths = (path.relative_to(vault.root).as_posix() for path in sorted((vault.root / FOLDER).rglob("*.md")))
    pages = {path: (vault.read(path) or b"").decode("utf-8-sig", errors="replace") for path in paths}
    found = check_links(pages)
    return check_links(pages, other_files(vault)) if found.dead else found


def other_files(vault: Vault) -> list[str]:
    """Return the files of the vault that are no pages of the wiki, as they are on disk, without hidden ones."""
    found = []
    for folder, folders, names in os.walk(vault.root):
        folders[:] = [other_folder for other_folder in folders if not other_folder.startswith(".")]
        place = os.path.relpath(folder, vault.root).replace(os.sep, "/")
        prefix = "" if place == "." else f"{place}/"
        in_wiki = f"{prefix}/".startswith(f"{FOLDER}/")
        found += [prefix + name for name in names if not (in_wiki and name.endswith(".md"))]
    return found
