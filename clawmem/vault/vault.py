"""Reading the vault: its folders, its files and its history. Writing is in `clawmem.vault.commit`."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clawmem.errors import ClawmemError, IncompleteAnswer, InvalidInput, NoVault, Refused, Unreadable
from clawmem.model.records.layout import CATALOG, SETTINGS, check_inside
from clawmem.model.records.strict_json import LOWEST_FILE_LIMIT, UnreadFile, checksum, refuse_unread
from clawmem.model.settings.settings import Settings, settings_from_mapping
from clawmem.vault.disk import Disk
from clawmem.vault.git.folder import check_state_folder
from clawmem.vault.git.git import Git, lost_object_error
from clawmem.vault.git.refs import Head, git_dir_of, read_head
from clawmem.vault.strict_yaml import parse_yaml

if TYPE_CHECKING:
    from clawmem.model.facts.catalog import Catalog
    from clawmem.model.records.caller import Viewer

# Up to this many paths are passed to git as arguments.
_MAX_ARGUMENTS = 500
_Read = TypeVar("_Read")
# What was made of a file when it was read last, with the vault and the state of the file, by its name.
_last_read: dict[str, tuple[tuple[Path, list[Any] | None], Any]] = {}
_DIFFERENCE = ("diff-tree", "-r", "-z", "--no-renames", "--name-only")


class Vault:
    """One vault on disk. Only methods that say so run git.

    `present` is None here. In a vault at a past commit (`vault/past.py`) it is the vault as it is now. `is_foreign` is
    set where nobody made or accepted it on this machine, and `is_chosen` where a person named it on the command line.
    `viewer` is for whom it is read, None for a person who may see everything.
    """

    present: Vault | None = None
    is_foreign = False
    is_chosen = False
    viewer: Viewer | None = None

    def __init__(self, root: Path, environment: Mapping[str, str], disk: Disk | None = None) -> None:
        git_dir = git_dir_of(root)
        if git_dir is None:
            raise NoVault(
                f"{root} is not a git repository of its own, so it is not a vault.",
                "Create one with `clawmem init PATH`. A copied vault needs its .git folder too.",
            )
        self.root = root
        self.git_dir = git_dir
        self.state = git_dir / "clawmem"
        self.environment = environment
        self._check_places()
        self.disk = disk or Disk()
        self.git = Git(root, environment)

    def _check_places(self) -> None:
        """Raise Refused if the git folder belongs to another work tree, or clawmem's folder is a link."""
        dot_git = os.path.join(self.root, ".git")  # noqa: PTH118 - on every command's path
        if os.path.islink(dot_git) or not os.path.isdir(dot_git):  # noqa: PTH112, PTH114
            from clawmem.vault.git.folder import check_work_tree  # few vaults have their git folder elsewhere

            check_work_tree(self.root, self.git_dir)
        check_state_folder(self.state)

    def check_writable(self, lasting: bool = False) -> None:
        """Raise Refused if the vault is foreign, unless a person chose it; a `lasting` use needs its acceptance."""
        if self.is_foreign and (lasting or not self.is_chosen):
            raise Refused(
                f"The vault {self.root} was not made or accepted on this machine, so nothing was written.",
                "A person accepts it with `clawmem config trust`. --vault or CLAWMEM_VAULT names another vault.",
            )

    def head(self) -> Head:
        """Return the branch and commit of HEAD."""
        try:
            return read_head(self.git_dir)
        except (FileNotFoundError, NotADirectoryError):
            raise NoVault(
                f"{self.git_dir} is not a git folder.",
                "Restore it from a clone, or create a vault with `clawmem init`.",
            ) from None

    def path(self, name: str) -> Path:
        """Return the absolute path of a vault file. Raise InvalidInput if the name leads out of the vault."""
        return self.root / check_inside(name)

    def read(self, name: str) -> bytes | None:
        """Return a file of the work tree, or None if it does not exist. Raise Refused if a link leads out of the
        vault.

        A file beyond the limit of its kind is not read: its UnreadFile is returned. Only then this runs git."""
        path = self.path(name)
        for part in _parts(self.root, name):
            is_link = os.path.islink(part)  # noqa: PTH114 - no objects on a hot path
            if is_link and not Path(os.path.realpath(part)).is_relative_to(self.root.resolve()):
                raise Refused(
                    f"{name} is behind a symbolic link that leads out of the vault.",
                    "Put a real file or folder in its place.",
                )
        try:
            return self._unread(name, path) or self.disk.read(path)
        except IsADirectoryError:
            raise Refused(f"{name} is a folder where a file should be.", "Move it out of the way.") from None

    def _unread(self, name: str, path: Path) -> UnreadFile | None:
        """Return what stands for a file beyond its limit, or None."""
        try:
            size = os.stat(path).st_size  # noqa: PTH116 - on every command's path
        except OSError:
            return None
        if size <= LOWEST_FILE_LIMIT:
            return None
        from clawmem.model.kinds import handling  # few files are large

        limit = handling(name).limit
        if size <= limit or not path.is_file():
            return None
        blob = self.git.run("hash-object", "--no-filters", "--", str(path)).decode().strip()
        return UnreadFile.of(blob, size, limit)

    def obstacle(self, name: str) -> str | None:
        """Return why a vault file cannot be written (a link, a folder, a file where a folder should be), or None."""
        check_inside(name)
        for part in _parts(self.root, name):
            try:
                mode = os.lstat(part).st_mode
            except FileNotFoundError:
                return None
            here = part[len(str(self.root)) + 1 :]
            if stat.S_ISLNK(mode):
                return f"{here} is a symbolic link"
            if here != name and not stat.S_ISDIR(mode):
                return f"{here} is a file where a folder should be"
            if here == name and not stat.S_ISREG(mode):
                return f"{here} is not a regular file"
        return None

    def read_text(self, name: str) -> str | None:
        """Return a UTF-8 file of the work tree, or None if it does not exist. Raise Unreadable if it is not UTF-8."""
        data = self.read(name)
        if data is None:
            return None
        refuse_unread(data, name)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            line = data[: problem.start].count(b"\n") + 1
            raise Unreadable(name, line, "it is not UTF-8 text") from None

    def prepare_state(self) -> None:
        """Create the folder for derived and temporary files, `.git/clawmem`."""
        self.state.mkdir(mode=0o700, exist_ok=True)

    def keep(self, name: str, record: object) -> None:
        """Store a JSON value in a file of the state folder."""
        self.prepare_state()
        self.disk.replace(self.state / name, (json.dumps(record) + "\n").encode(), self.state)

    def kept(self, name: str) -> Any:
        """Return the JSON value of a file of the state folder, or None if it is missing or damaged."""
        try:
            return json.loads(self.disk.read(self.state / name) or b"null")
        except ValueError:
            return None

    def kept_record(self, kind: Callable[..., _Read], name: str) -> _Read | None:
        """Return the record of a class in a file of the state folder, or None if it is missing or damaged."""
        from clawmem.model.forms import WrongValue, read_record  # which a search does not need

        try:
            return read_record(kind, self.kept(name))
        except WrongValue:
            return None

    @cached_property
    def settings(self) -> Settings:
        """The effective settings: `clawmem.yaml` combined with the settings files of this machine.

        Assign it again after assigning `vault_settings`.
        """
        from clawmem.vault.state.local_settings import effective_settings  # which imports this module for its types

        return effective_settings(self, self.vault_settings)

    @cached_property
    def vault_settings(self) -> Settings:
        """The settings in `clawmem.yaml`, with defaults.

        An invalid value is replaced by its default. If the file does not parse, the settings of HEAD or the defaults
        are returned, `unread` holds the error, and no command may write.
        """
        try:
            return self.read_once(SETTINGS, lambda: settings_from_mapping(self.load_yaml(SETTINGS) or {}))
        except (Unreadable, InvalidInput) as problem:
            return self._fallback_settings(problem)

    def _fallback_settings(self, problem: ClawmemError) -> Settings:
        from clawmem.model.settings.local import read_tolerantly

        if isinstance(problem, InvalidInput) and isinstance(mapping := self.load_yaml(SETTINGS), Mapping):
            return read_tolerantly(mapping)
        try:
            value = parse_yaml((self.committed([SETTINGS])[SETTINGS] or b"").decode(errors="replace"), SETTINGS)
        except Unreadable:
            value = None
        return read_tolerantly(value if isinstance(value, Mapping) else {})._replace(unread=problem)

    @cached_property
    def catalog(self) -> Catalog:
        """The predicate catalog of the vault; empty if the file does not exist.

        If the file does not parse, the catalog of HEAD is used, so that an unfinished edit does not stop searches.
        Raise ClawmemError if that one is invalid too.
        """
        from clawmem.model.facts.catalog import catalog_from_mapping  # writing one fact does not need it

        try:
            return self.read_once(CATALOG, lambda: catalog_from_mapping(self.load_yaml(CATALOG) or {}))
        except ClawmemError:
            committed = self.committed([CATALOG])[CATALOG]
            if committed is None or committed == self.read(CATALOG):
                raise
            return catalog_from_mapping(parse_yaml(committed.decode(errors="replace"), CATALOG) or {})

    def catalog_or_none(self) -> Catalog | None:
        """Return the catalog, or None if it cannot be read, for readers that can do without it."""
        try:
            return self.catalog
        except ClawmemError:
            return None

    def catalog_notice(self) -> list[IncompleteAnswer]:
        """The sentence that an answer owes where the catalog cannot be read; none where it can."""
        if self.catalog_or_none() is not None:
            return []
        return [
            IncompleteAnswer(f"{CATALOG} cannot be read, so no relation was recognised; `clawmem doctor` says why.")
        ]

    def read_once(self, name: str, read: Callable[[], _Read]) -> _Read:
        """Return what `read` makes of a file, which is read again only where it has changed."""
        key = self.root, self._state_of(name)
        if name not in _last_read or _last_read[name][0] != key:
            _last_read[name] = key, read()
        found: _Read = _last_read[name][1]
        return found

    def load_yaml(self, name: str) -> Any:
        """Return a YAML file of the work tree as plain values, or None if it does not exist.

        The result is cached as JSON in the state folder, keyed by the file's size and times, because importing a YAML
        parser takes a tenth of the time of a command.
        """
        key = self._state_of(name)
        if key is None:
            return None
        return self.load_cached(name, lambda: self.read_text(name) or "", key, self.state / f"{name}.json")

    def load_cached(self, name: str, text: Callable[[], str], key: list[Any], kept: Path) -> Any:
        """Return YAML text as plain values, and cache them in the file `kept` for as long as `key` stays the same."""
        try:
            known = self.disk.read(kept)
        except OSError:
            known = None
        if known is not None:
            try:
                entry = json.loads(known)
            except (ValueError, RecursionError):
                entry = {}
            if isinstance(entry, dict) and entry.get("key") == key and entry.get("seal") == _seal(entry):
                return entry["value"]
        value = json.loads(json.dumps(parse_yaml(text(), name), default=str))
        self._keep(kept, {"key": key, "value": value})
        return value

    def _state_of(self, name: str) -> list[Any] | None:
        """Return values that change when the file changes, or None if it does not exist."""
        try:
            status = os.stat(self.path(name))  # noqa: PTH116 - on every command's path
        except (FileNotFoundError, NotADirectoryError):
            return None
        return [status.st_size, status.st_mtime_ns, status.st_ino]

    def _keep(self, path: Path, entry: Mapping[str, Any]) -> None:
        try:
            if path.parent == self.state:
                self.prepare_state()
            self.disk.replace(path, json.dumps({**entry, "seal": _seal(entry)}).encode(), path.parent)
        except OSError:
            # A read-only or full disk: the file is parsed again next time.
            return

    def files_at(self, commit: str, *folders: str) -> list[str]:
        """Return the paths below some folders of a commit (all paths if no folder is given). Runs git."""
        return _names(self.git.run("ls-tree", "-r", "-z", "--name-only", commit, "--", *folders))

    def blobs_at(self, commit: str, *folders: str) -> dict[str, tuple[str, int]]:
        """Return the blob name and the size in bytes of each path below some folders of a commit. Runs git."""
        printed = self.git.run("ls-tree", "-r", "-l", "-z", commit, "--", *folders)
        rows = (row.split("\t", 1) for row in printed.decode(errors="surrogateescape").split("\0") if row)
        described = ((path, about.split()) for about, path in rows)
        return {path: (words[2], int(words[3]) if words[3].isdigit() else 0) for path, words in described}

    def changed_paths_or_none(self, old: str, new: str) -> list[str] | None:
        """Return the paths that differ between two commits, or None if git does not have one of them. Runs git."""
        printed = self.git.try_run(*_DIFFERENCE, old, new)
        return None if printed is None else _names(printed)

    def changed_paths(self, old: str, new: str) -> list[str]:
        """Return the paths that differ between two commits. Raise GitFailed if git does not have one of them. Runs
        git."""
        return _names(self.git.run(*_DIFFERENCE, old, new))

    def committed(self, names: Iterable[str], checked: bool = True) -> dict[str, bytes | None]:
        """Return the contents of files in HEAD as `contents_at` does; None for each if there is no commit yet."""
        head = self.head().commit
        return self.contents_at(head, names, checked) if head else dict.fromkeys(names)

    def contents_at(self, commit: str, names: Iterable[str], checked: bool = True) -> dict[str, bytes | None]:
        """Return the contents of files in a commit, None for each file that the commit does not contain. Runs git.

        With `checked`, contents are verified against their hashes. For a file beyond the limit of its kind, this is
        an UnreadFile. Raise GitFailed if git has lost a file of the commit.
        """
        blobs = self.git.read_blobs((f"{commit}:{name}" for name in names), checked)
        found = {name.split(":", 1)[1]: data for name, data in blobs.items()}
        self._refuse_lost(commit, [name for name, data in found.items() if data is None])
        return found

    def _refuse_lost(self, commit: str, absent: Sequence[str]) -> None:
        """Raise GitFailed if a missing file is in the tree of the commit, so git has lost its contents."""
        if not absent:
            return
        # A leading colon would make the name a pathspec pattern.
        one_by_one = len(absent) <= _MAX_ARGUMENTS and not any(name.startswith(":") for name in absent)
        printed = self.git.run("ls-tree", "-r", "-z", commit, "--", *(absent if one_by_one else ()))
        rows = (row.split("\t", 1) for row in printed.decode(errors="surrogateescape").split("\0") if row)
        in_tree = {path for about, path in rows if about.split()[1] == "blob"}
        lost = next((name for name in absent if name in in_tree), None)
        if lost is not None:
            raise lost_object_error(lost)


def _names(printed: bytes) -> list[str]:
    return [name for name in printed.decode(errors="surrogateescape").split("\0") if name]


def _seal(entry: Mapping[str, Any]) -> int:
    return checksum(entry.get("value"))


def _parts(root: Path, name: str) -> Iterator[str]:
    """Yield the path of each folder that leads to a vault file, then the path of the file."""
    place = str(root)
    for part in name.split("/"):
        place = f"{place}/{part}"
        yield place
