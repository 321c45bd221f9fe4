"""Where this machine's own settings stand: `local.yaml` in the git folder of an accepted vault, `settings.yaml` in the
user's configuration folder. Neither is in the vault, so no sync, pull or agent brings them."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import ClawmemError, Unreadable
from clawmem.vault.disk import Disk
from clawmem.vault.git.acceptance import is_accepted, user_folder

if TYPE_CHECKING:
    from clawmem.model.settings.local import LocalSettings
    from clawmem.model.settings.settings import Settings
    from clawmem.vault.vault import Vault

HERE, USER = "local", "user"
LOCAL_FILE, USER_FILE = "local.yaml", "settings.yaml"
# These files hold a few lines.
MOST_BYTES = 64 * 1024


class SettingsFile(NamedTuple):
    """One of the machine's files: whose it is (HERE or USER), where it lies, and how it is called in words."""

    origin: str
    path: Path
    name: str


def local_place(vault: "Vault") -> SettingsFile:
    """The vault's own file on this machine; that of the vault itself where this one is a past state of it."""
    return SettingsFile(HERE, vault.git_dir / "clawmem" / LOCAL_FILE, f".git/clawmem/{LOCAL_FILE}")


def user_place(environment: Mapping[str, str]) -> SettingsFile:
    """The user's file, for all vaults."""
    path = user_folder(environment) / USER_FILE
    return SettingsFile(USER, path, str(path))


def settings_here(vault: "Vault", stated: "Settings") -> "Settings":
    """The settings in force, of what `clawmem.yaml` states and what the machine's files say."""
    owns = own_files(vault)
    if not owns and not stated.wrong:
        return stated
    from clawmem.model.settings.local import in_force  # most machines have no file of their own

    return in_force(stated, owns)


def own_files(vault: "Vault") -> "list[LocalSettings]":
    """What each of the machine's files says that is there, the one that counts first."""
    places = (local_place(vault), user_place(vault.environment))
    return [own for place in places if (own := _own(vault, place)) is not None]


def _own(vault: "Vault", place: SettingsFile) -> "LocalSettings | None":
    state = _state_of(place.path)
    if state is None:
        return None
    from clawmem.model.settings.local import read_local_settings, unreadable_settings

    accepted = place.origin == USER or is_accepted(vault.git_dir, vault.environment)
    try:
        mapping = vault.parsed(place.name, lambda: read_own(place) or "", state, _parsed_form(place))
    except ClawmemError as problem:
        return unreadable_settings(_hinted(problem), place.origin, place.name, accepted)
    return read_local_settings(mapping, place.origin, place.name, accepted)


def _parsed_form(place: SettingsFile) -> Path:
    return place.path.with_name(f"{place.path.name}.json")


def _state_of(path: Path) -> list[Any] | None:
    """What changes where the file changes; None where there is none."""
    try:
        facts = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # a home that this process may not look into is not its user's
    return [facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ino]


def read_own(place: SettingsFile) -> str | None:
    """The text of one of the machine's files, None where there is none. A link is not followed: it could lead to a file
    that others change. Raises Unreadable."""
    try:
        descriptor = os.open(place.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        why = "it is a symbolic link" if place.path.is_symlink() else str(problem.strerror)
        raise _unreadable(place, why) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _unreadable(place, "it is not a plain file")
        data = os.read(descriptor, MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MOST_BYTES:
        raise _unreadable(place, f"it has more than {MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable(place, "it is not UTF-8 text") from None


def parse_own(place: SettingsFile, text: str) -> Any:
    """The plain values of a text of one of the machine's files; raises Unreadable."""
    from clawmem.vault.strict_yaml import parse_yaml

    try:
        return parse_yaml(text, place.name)
    except ClawmemError as problem:
        raise _hinted(problem) from None


def write_own(place: SettingsFile, text: str) -> None:
    """Put a text in the place of one of the machine's files, whole or not at all; raises OSError."""
    disk = Disk()
    disk.replace(place.path, text.encode(), place.path.parent)
    forget_parsed(place)


def forget_parsed(place: SettingsFile) -> None:
    """Drop the parsed form of one of the machine's files, which may be a stranger's where the vault was a copy."""
    Disk().remove(_parsed_form(place))


@contextmanager
def changing(place: SettingsFile, wait: float) -> Iterator[None]:
    """Keep other changes of one of the machine's files out; raises OSError where its folder cannot be written."""
    from clawmem.vault.commit.lock import writer_lock  # reads take none

    place.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with writer_lock(place.path.parent / "lock", wait, "config"):
        yield


def _unreadable(place: SettingsFile, why: str) -> ClawmemError:
    return _hinted(Unreadable(place.name, None, why))


def _hinted(problem: ClawmemError) -> ClawmemError:
    """git does not have these files: none of its commands brings them back."""
    problem.hint = "Mend the file or remove it; `clawmem config set` makes a new one."
    return problem
