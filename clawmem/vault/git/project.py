"""The identity of a project: the address of its git remote, else its folder. Read from git's files, without git."""

from __future__ import annotations

import re
from pathlib import Path

from clawmem.model.facts.reach import canonical_project
from clawmem.vault.disk import read_regular_file
from clawmem.vault.git.refs import common_dir_of, git_dir_of

# Compiled where they are used: most queries run where there is no repository.
_SECTION = r'\[remote\s+"(?P<name>[^"\n]+)"\s*\]'
_URL = r"(?i:\s*url\s*=\s*(?P<url>\S+))"
_FIRST = "origin"


def project_of(folder: Path, vault: Path, home: Path) -> str | None:
    """Return the project that a folder belongs to; None for the vault's own folder and for the home folder.

    It is the address of the remote `origin`, or of the first remote, of the nearest git repository at or above the
    folder, as `host/owner/name`. Without a remote it is the repository's folder, which all its work trees share, and
    without a repository the folder."""
    here = folder.resolve()
    if here.is_relative_to(vault.resolve()):
        return None
    found = _repository_project(here)
    if found is not None:
        return found[1]
    return None if here in (home.resolve(), Path(here.anchor)) else str(here)


def repository_project_of(folder: Path, vault: Path, home: Path) -> str | None:
    """Return the project of the repository that a folder belongs to; None without a repository, for the vault's own
    folder, and where the repository is the home folder."""
    here = folder.resolve()
    found = None if here.is_relative_to(vault.resolve()) else _repository_project(here)
    return None if found is None or found[0] == home.resolve() else found[1]


def _repository_project(here: Path) -> tuple[Path, str] | None:
    """Return the folder and the project of the nearest repository at or above a folder."""
    for place in (here, *here.parents):
        git_dir = git_dir_of(place)
        if git_dir is not None:
            common = common_dir_of(git_dir)
            return place, _remote(common) or str(place if common == git_dir else common.parent)
    return None


def _remote(common_dir: Path) -> str | None:
    try:
        data = read_regular_file(common_dir / "config")
    except OSError:
        return None
    urls: dict[str, str] = {}
    name = None
    for line in (data or b"").decode(errors="replace").splitlines():
        if line.lstrip().startswith("["):
            section = re.match(_SECTION, line.strip())
            name = section["name"] if section else None
        elif name and (found := re.match(_URL, line)):
            urls.setdefault(name, found["url"])
    url = urls.get(_FIRST) or next(iter(urls.values()), None)
    return canonical_project(url) if url else None
