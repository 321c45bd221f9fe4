"""The repository as git may see it where its own configuration holds more than plain data.

git has no way to leave out a repository's own configuration: what it includes, and lists whose first value counts, no
option overrides. But it reads the configuration from the shared folder, which a variable names (`GIT_COMMON_DIR`, made
for linked work trees). So it is given a folder that leads to the repository's objects and refs and has a configuration
and attributes of its own.
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

_NOT_LED_TO = frozenset((CONFIG, "config.worktree", "commondir", "gitdir", "hooks", "clawmem", "info"))
# What git makes there when it needs it.
_MADE_LATER = ("packed-refs", "shallow")
_ATTRIBUTES = b"* -text -filter -ident -working-tree-encoding\n"


class RepositoryView:
    """A shared folder that leaves out what is `hidden`; it is gone when this or the process ends."""

    def __init__(self, git_dir: Path, environment: Mapping[str, str]) -> None:
        plain, hidden = split_plain(read_config(git_dir, environment))
        self.hidden = tuple(hidden)
        self.folder = Path(tempfile.mkdtemp(prefix="clawmem-git-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        common = Path(os.path.realpath(common_dir_of(git_dir)))
        with suppress(OSError):  # a vault that cannot be written gets no log either
            (common / "logs").mkdir(exist_ok=True)
        for name in {*os.listdir(common), *_MADE_LATER} - _NOT_LED_TO:  # noqa: PTH208 - names are all that is wanted
            (self.folder / name).symlink_to(common / name)
        (self.folder / CONFIG).write_text(render_config(plain), encoding="utf-8", errors="surrogateescape")
        _make_info(self.folder / "info", common / "info")


def _make_info(info: Path, given: Path) -> None:
    info.mkdir()
    (info / "attributes").write_bytes(_ATTRIBUTES)
    for name in ("exclude", "sparse-checkout"):
        data = read_regular_file(given / name)
        if data is not None:
            (info / name).write_bytes(data)
