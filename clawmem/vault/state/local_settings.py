"""The settings files of this machine: `local.yaml` in the git folder of an accepted vault, and `settings.yaml` in the
user's configuration folder.

Neither is part of the vault, so no sync, pull or agent can change them.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmem.errors import ClawmemError, Unreadable
from clawmem.model.named_tuple import NamedTuple
from clawmem.platform.files import open_file
from clawmem.vault.disk import Disk, writer_lock
from clawmem.vault.git.acceptance import is_accepted, user_folder

if TYPE_CHECKING:
    from clawmem.model.settings.local import LocalSettings
    from clawmem.model.settings.settings import Settings
    from clawmem.vault.vault import Vault

HERE, USER = "local", "user"
LOCAL_FILE, USER_FILE = "local.yaml", "settings.yaml"
# These files have a few lines.
MAX_BYTES = 64 * 1024


class SettingsFile(NamedTuple):
    """A settings file of this machine: its origin (HERE or USER), its path, and its name in messages."""

    origin: str
    path: Path
    name: str


def local_settings_file(vault: "Vault") -> SettingsFile:
    """Return the settings file of this vault on this machine. A vault at a past commit has the same one."""
    return SettingsFile(HERE, vault.git_dir / "clawmem" / LOCAL_FILE, f".git/clawmem/{LOCAL_FILE}")


def user_settings_file(environment: Mapping[str, str]) -> SettingsFile:
    """Return the user's settings file, for all vaults."""
    path = user_folder(environment) / USER_FILE
    return SettingsFile(USER, path, str(path))


def effective_settings(vault: "Vault", stated: "Settings") -> "Settings":
    """Combine the settings in `clawmem.yaml` with the settings files of this machine."""
    owns = machine_settings(vault)
    if not owns and not stated.wrong:
        return stated
    from clawmem.model.settings.local import in_force  # most machines have no such file

    return in_force(stated, owns)


def machine_settings(vault: "Vault") -> "list[LocalSettings]":
    """Return the contents of the existing settings files of this machine, highest priority first."""
    places = (local_settings_file(vault), user_settings_file(vault.environment))
    return [own for place in places if (own := _own(vault, place)) is not None]


def _own(vault: "Vault", place: SettingsFile) -> "LocalSettings | None":
    state = _state_of(place.path)
    if state is None:
        return None
    from clawmem.model.settings.local import read_local_settings, unreadable_settings

    accepted = place.origin == USER or is_accepted(vault.git_dir, vault.environment)
    try:
        mapping = vault.load_cached(place.name, lambda: read_settings_text(place) or "", state, _parsed_form(place))
    except ClawmemError as problem:
        return unreadable_settings(_hinted(problem), place.origin, place.name, accepted)
    return read_local_settings(mapping, place.origin, place.name, accepted)


def _parsed_form(place: SettingsFile) -> Path:
    return place.path.with_name(f"{place.path.name}.json")


def _state_of(path: Path) -> list[Any] | None:
    """Return values that change when the file changes, or None if it does not exist."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # an unreadable home folder belongs to another user
    return [status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino]


def read_settings_text(place: SettingsFile) -> str | None:
    """Return the text of a settings file of this machine, or None if it does not exist.

    A link is not followed, because others may be able to change its target. Raise Unreadable.
    """
    try:
        descriptor = open_file(place.path, os.O_RDONLY, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        why = "it is a symbolic link" if place.path.is_symlink() else str(problem.strerror)
        raise _unreadable(place, why) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _unreadable(place, "it is not a regular file")
        data = os.read(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise _unreadable(place, f"it has more than {MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable(place, "it is not UTF-8 text") from None


def parse_settings_text(place: SettingsFile, text: str) -> Any:
    """Return the values in the text of a settings file. Raise Unreadable."""
    from clawmem.vault.strict_yaml import parse_yaml

    try:
        return parse_yaml(text, place.name)
    except ClawmemError as problem:
        raise _hinted(problem) from None


def write_settings_text(place: SettingsFile, text: str) -> None:
    """Replace the text of a settings file atomically. Raise OSError."""
    Disk().replace(place.path, text.encode(), place.path.parent)


def delete_parsed_cache(place: SettingsFile) -> None:
    """Delete the cached form of a settings file, which may come from somebody else if the vault is a copy."""
    Disk().remove(_parsed_form(place))


@contextmanager
def settings_lock(place: SettingsFile, wait: float) -> Iterator[None]:
    """Lock a settings file against other changes. Raise OSError if its folder cannot be written."""
    place.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with writer_lock(place.path.parent / "lock", wait, "config"):
        yield


def _unreadable(place: SettingsFile, why: str) -> ClawmemError:
    return _hinted(Unreadable(place.name, None, why))


def _hinted(problem: ClawmemError) -> ClawmemError:
    """Replace the hint, because git does not contain these files and cannot restore them."""
    problem.hint = "Repair the file or delete it. `clawmem config set` creates a new one."
    return problem
