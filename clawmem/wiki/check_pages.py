"""Find dead links and orphans among the pages of the wiki."""

from __future__ import annotations

from clawmem.model.wiki.links import LinkReport, check_links
from clawmem.model.wiki.names import FOLDER
from clawmem.vault.vault import Vault


def check_pages(vault: Vault) -> LinkReport:
    """Return the dead links and the orphans of the pages in the folder, as they are on disk."""
    paths = (path.relative_to(vault.root).as_posix() for path in sorted((vault.root / FOLDER).rglob("*.md")))
    return check_links({path: (vault.read(path) or b"").decode("utf-8-sig", errors="replace") for path in paths})
