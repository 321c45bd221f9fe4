"""A view of the repository for git that hides configuration other than plain data.

git cannot ignore a repository's own configuration: no option overrides included files, or settings whose first value
counts. But git reads the configuration from the shared folder that `GIT_COMMON_DIR` names (made for linked work trees).
So git gets a temporary folder with links to the objects and refs of the repository, and with a configuration and
attributes of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from clawmem.vault.disk import read_regular_file
from clawmem.vault.git.config import CONFIG, read_config, render_config, split_plain
from clawmem.vault.git.refs import common_dir_of

_NOT_LINKED = frozenset((CONFIG, "config.worktree", "commondir", "gitdir", "hooks", "clawmem", "info"))
# Files that git creates when it needs them.
_MADE_LATER = ("packed-refs", "shallow")
_ATTRIBUTES = b"* !diff -text -filter -ident -working-tree-encoding\n"


class RepositoryView:
    """A shared folder without the settings in `hidden`. It is deleted when this object or the process ends."""

    def __init__(self, git_dir: Path, environment: Mapping[str, str]) -> None:
        plain, hidden = split_plain(read_config(git_dir, environment))
        self.hidden = tuple(hidden)
        self.folder = Path(tempfile.mkdtemp(prefix="clawmem-git-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        common = Path(os.path.realpath(common_dir_of(git_dir)))
        with suppress(OSError):  # a read-only vault gets no reflog either
            (common / "logs").mkdir(exist_ok=True)
        for name in {*os.listdir(common), *_MADE_LATER} - _NOT_LINKED:  # noqa: PTH208 - only names are needed
            (self.folder / name).symlink_to(common / name)
        (self.folder / CONFIG).write_text(render_config(plain), encoding="utf-8", errors="surrogateescape")
        _make_info(self.folder / "info", common / "info")


def _make_info(info: Path, path: Path) -> None:
    info.mkdir()
    (info / "attributes").write_bytes(_ATTRIBUTES)
    for name in ("exclude", "sparse-checkout"):
        data = read_regular_file(path / name)
        if data is not None:
            (info / name).write_bytes(data)
