"""The vault as storage: where it is, what its files say, what its history holds. It reads and never decides."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmem.errors import ClawmemError, InvalidInput, NoVault, Refused, Unreadable
from clawmem.model.records.layout import CATALOG, SETTINGS, check_inside
from clawmem.model.records.seal import checksum
from clawmem.model.settings.settings import Settings, settings_from_mapping
from clawmem.vault.disk import Disk
from clawmem.vault.git.containment import check_state
from clawmem.vault.git.git import Git, lost_object
from clawmem.vault.git.refs import Head, git_dir_of, read_head
from clawmem.vault.strict_yaml import parse_yaml

if TYPE_CHECKING:
    from clawmem.model.facts.catalog import Catalog
    from clawmem.vault.edits.early_scan import EarlyScan

# So many names are given to git one by one.
_FEW = 500
_DIFFERENCE = ("diff-tree", "-r", "-z", "--no-renames", "--name-only")


class Vault:
    """One memory on disk. Reads need nothing but the files; git runs only where a method says so.

    `present` is None here; where this is the vault as it was (`vault/past.py`), it is the vault as it is.
    """

    present: Vault | None = None

    def __init__(self, root: Path, environment: Mapping[str, str], disk: Disk | None = None) -> None:
        git_dir = git_dir_of(root)
        if git_dir is None:
            raise NoVault(
                f"{root} is not a git repository of its own, so it is no vault.",
                "Make one with `clawmem init PATH`; a copied vault needs its .git folder too.",
            )
        self.root = root
        self.git_dir = git_dir
        self.state = git_dir / "clawmem"
        self.environment = environment
        self._check_places()
        self.disk = disk or Disk()
        self.git = Git(root, environment)
        self.early: EarlyScan | None = None

    def _check_places(self) -> None:
        """Raise Refused where git's folder is another vault's, or clawmem's own folder leads out of it."""
        dot_git = os.path.join(self.root, ".git")  # noqa: PTH118 - on every command's path
        if os.path.islink(dot_git) or not os.path.isdir(dot_git):  # noqa: PTH112, PTH114
            from clawmem.vault.git.folder import check_belongs  # few vaults keep it elsewhere

            check_belongs(self.root, self.git_dir)
        check_state(self.state)

    def head(self) -> Head:
        """The branch and commit that HEAD names."""
        try:
            return read_head(self.git_dir)
        except (FileNotFoundError, NotADirectoryError):
            raise NoVault(
                f"{self.git_dir} is not a git folder.", "Restore it from a clone, or make a vault with `clawmem init`."
            ) from None

    def path(self, name: str) -> Path:
        """The absolute path of a vault file; InvalidInput where the name leaves the vault."""
        return self.root / check_inside(name)

    def read(self, name: str) -> bytes | None:
        """A file of the work tree, or None where there is none; Refused where a link leads out of the vault."""
        path = self.path(name)
        for part in _parts(self.root, name):
            if os.path.islink(part) and not self._holds(part):  # noqa: PTH114 - no objects on a hot path
                raise Refused(
                    f"{name} lies behind a symbolic link that leads out of the vault.",
                    "Put a real file or folder in its place.",
                )
        try:
            return self.disk.read(path)
        except IsADirectoryError:
            raise Refused(f"{name} is a folder where a file should be.", "Move it out of the way.") from None

    def obstacle(self, name: str) -> str | None:
        """What stands where a vault file would be written: a link, a folder, a file in a folder's place; else None."""
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
                return f"{here} is not a plain file"
        return None

    def _holds(self, link: str) -> bool:
        return Path(os.path.realpath(link)).is_relative_to(self.root.resolve())

    def read_text(self, name: str) -> str | None:
        """A UTF-8 file of the work tree, or None where there is none."""
        data = self.read(name)
        if data is None:
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            line = data[: problem.start].count(b"\n") + 1
            raise Unreadable(name, line, "it is not UTF-8 text") from None

    def prepare_state(self) -> None:
        """Make the folder for derived and passing files inside the git folder."""
        self.state.mkdir(mode=0o700, exist_ok=True)

    @cached_property
    def settings(self) -> Settings:
        """The settings in force: what `clawmem.yaml` states, and of what reaches outside what this machine's own files
        say. Set anew where the stated ones are."""
        from clawmem.vault.state.local_settings import settings_here  # its imports would lead back here

        return settings_here(self, self.stated)

    @cached_property
    def stated(self) -> Settings:
        """What `clawmem.yaml` states, defaults filled in. Where a value does not fit, the others count; where the file
        does not parse, those of HEAD do, or else the defaults, and nothing is written with them."""
        try:
            return settings_from_mapping(self.load_yaml(SETTINGS) or {})
        except (Unreadable, InvalidInput) as problem:
            return self._settings_meanwhile(problem)

    def _settings_meanwhile(self, problem: ClawmemError) -> Settings:
        from clawmem.model.settings.invalid import read_tolerantly  # few files are wrong

        if isinstance(problem, InvalidInput) and isinstance(mapping := self.load_yaml(SETTINGS), Mapping):
            return read_tolerantly(mapping)
        head = self.head().commit
        standing = self.contents_at(head, [SETTINGS])[SETTINGS] if head else None
        try:
            held = parse_yaml((standing or b"").decode(errors="replace"), SETTINGS)
        except Unreadable:
            held = None
        return read_tolerantly(held if isinstance(held, Mapping) else {})._replace(unread=problem)

    @cached_property
    def catalog(self) -> Catalog:
        """The vault's predicate catalog; empty where the file is missing, and where it does not parse, that of HEAD:
        an edit that was not finished keeps nobody from asking. Raises where that one is wrong, too."""
        from clawmem.model.facts.catalog import catalog_from_mapping  # writers of one fact need none

        try:
            return catalog_from_mapping(self.load_yaml(CATALOG) or {})
        except ClawmemError:
            head = self.head().commit
            standing = self.contents_at(head, [CATALOG])[CATALOG] if head else None
            if standing is None or standing == self.read(CATALOG):
                raise
            return catalog_from_mapping(parse_yaml(standing.decode(errors="replace"), CATALOG) or {})

    def catalog_to_read(self) -> Catalog | None:
        """The catalog for what only reads, and goes on without it: None where it cannot be read."""
        try:
            return self.catalog
        except ClawmemError:
            return None

    def load_yaml(self, name: str) -> Any:
        """A YAML file of the work tree as plain values, None where it is missing.

        The parsed form is kept as JSON beside the index, keyed by the file's size and times, because
        importing a YAML parser costs a tenth of a whole command.
        """
        key = self._state_of(name)
        if key is None:
            return None
        return self.parsed(name, lambda: self.read_text(name) or "", key, self.state / f"{name}.json")

    def parsed(self, name: str, text: Callable[[], str], key: list[Any], kept: Path) -> Any:
        """A YAML text as plain values; the parsed form is `kept` as long as the `key` of its file stays."""
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
        """What changes where a file changes; None where there is none."""
        try:
            facts = os.stat(self.path(name))  # noqa: PTH116 - on every command's path
        except (FileNotFoundError, NotADirectoryError):
            return None
        return [facts.st_size, facts.st_mtime_ns, facts.st_ino]

    def _keep(self, path: Path, entry: Mapping[str, Any]) -> None:
        try:
            if path.parent == self.state:
                self.prepare_state()
            self.disk.replace(path, json.dumps({**entry, "seal": _seal(entry)}).encode(), path.parent)
        except OSError:
            # A read-only or full disk: the file is parsed again next time, nothing is lost.
            return

    def files_at(self, commit: str, *folders: str) -> list[str]:
        """The paths in a commit below some folders (all of them where none is named). Runs git."""
        return _names(self.git.run("ls-tree", "-r", "-z", "--name-only", commit, "--", *folders))

    def blobs_at(self, commit: str, *folders: str) -> dict[str, tuple[str, int]]:
        """Each path in a commit below some folders, with the name of its content and its bytes. Runs git."""
        printed = self.git.run("ls-tree", "-r", "-l", "-z", commit, "--", *folders)
        rows = (row.split("\t", 1) for row in printed.decode(errors="surrogateescape").split("\0") if row)
        described = ((path, about.split()) for about, path in rows)
        return {path: (words[2], int(words[3]) if words[3].isdigit() else 0) for path, words in described}

    def changed_between(self, old: str, new: str) -> list[str] | None:
        """The paths that differ between two commits, or None where one of them is unknown. Runs git."""
        printed = self.git.try_run(*_DIFFERENCE, old, new)
        return None if printed is None else _names(printed)

    def changes_between(self, old: str, new: str) -> list[str]:
        """The paths that differ between two commits that there must be. Runs git; raises GitFailed where it cannot
        tell."""
        return _names(self.git.run(*_DIFFERENCE, old, new))

    def contents_at(self, commit: str, names: Iterable[str], checked: bool = True) -> dict[str, bytes | None]:
        """The contents of many files in one commit, None for what it does not hold; what git gives is `checked` unless
        told. Runs git, a second time where something is None. Raises GitFailed where git lost what the commit holds."""
        blobs = self.git.blobs((f"{commit}:{name}" for name in names), checked)
        found = {name.split(":", 1)[1]: data for name, data in blobs.items()}
        self._refuse_lost(commit, [name for name, data in found.items() if data is None])
        return found

    def _refuse_lost(self, commit: str, absent: Sequence[str]) -> None:
        """git says the same of a file that a commit never held and of one that is lost: its tree tells them apart."""
        if not absent:
            return
        # A colon would make a pattern of a name.
        one_by_one = len(absent) <= _FEW and not any(name.startswith(":") for name in absent)
        printed = self.git.run("ls-tree", "-r", "-z", commit, "--", *(absent if one_by_one else ()))
        rows = (row.split("\t", 1) for row in printed.decode(errors="surrogateescape").split("\0") if row)
        held = {path for about, path in rows if about.split()[1] == "blob"}
        lost = next((name for name in absent if name in held), None)
        if lost is not None:
            raise lost_object(lost)


def _names(printed: bytes) -> list[str]:
    return [name for name in printed.decode(errors="surrogateescape").split("\0") if name]


def _seal(entry: Mapping[str, Any]) -> int:
    return checksum(entry.get("value"))


def _parts(root: Path, name: str) -> Iterator[str]:
    """The path of each folder on the way to a vault file, and of the file."""
    place = str(root)
    for part in name.split("/"):
        place = f"{place}/{part}"
        yield place
