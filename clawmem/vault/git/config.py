"""Which settings of a repository's own git configuration are plain data, and a configuration made of those only.

A vault may come from somebody else with its `.git/config`, and git runs programs that are named there: filters, signing
programs, ssh commands, credential helpers, remote helpers. This is a list of what is allowed, so an unknown setting, or
one of a later git version, is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from clawmem.model.language.text import some_of, visible
from clawmem.model.named_tuple import NamedTuple
from clawmem.vault.disk import read_regular_file
from clawmem.vault.git.refs import common_dir_of

CONFIG = "config"
# By section: settings that neither run a program nor refer to another place. `*` stands for a subsection.
_PLAIN_NAMES = {
    "author": "email name",
    "branch": "autosetupmerge autosetuprebase sort",
    "branch.*": "description merge pushremote rebase remote",
    "commit": "gpgsign",
    "committer": "email name",
    "core": "abbrev autocrlf bigfilethreshold checkstat commitgraph compression deltabasecachelimit eol filemode"
    " filesreflocktimeout fsync fsyncmethod fsyncobjectfiles hidedotfiles ignorecase logallrefupdates looseCompression"
    " multipackindex packedgitlimit packedgitwindowsize packedrefstimeout precomposeunicode preloadindex protecthfs"
    " protectntfs quotepath repositoryformatversion safecrlf sharedrepository sparsecheckout sparsecheckoutcone"
    " splitindex symlinks trustctime untrackedcache whitespace",
    "extensions": "noop objectformat preciousobjects refstorage",
    "feature": "experimental manyfiles",
    "fetch": "fsckobjects prune prunetags writecommitgraph",
    "gc": "auto autodetach autopacklimit bigpackthreshold cruftpacks packrefs pruneexpire reflogexpire"
    " reflogexpireunreachable writecommitgraph",
    "gpg": "format mintrustlevel",
    "i18n": "commitencoding logoutputencoding",
    "index": "recordendofindexentries recordoffsettable sparse threads version",
    "init": "defaultbranch",
    "maintenance": "auto strategy",
    # clawmem's own merge drivers. No git command that clawmem runs uses them.
    "merge.clawmem": "driver name",
    "merge.union": "driver name",
    "pack": "compression deltacachelimit deltacachesize depth indexversion packsizelimit threads usebitmaps usesparse"
    " window windowmemory writereverseindex",
    "pull": "ff rebase",
    "push": "autosetupremote default",
    "receive": "advertiseatomic autogc denycurrentbranch denydeletecurrent denydeletes denynonfastforwards fsckobjects"
    " maxinputsize shallowupdate unpacklimit",
    "remote": "pushdefault",
    "remote.*": "fetch prune prunetags push skipdefaultupdate skipfetchall tagopt",
    "repack": "packkeptobjects usedeltabaseoffset writebitmaps",
    "tag": "gpgsign",
    "transfer": "fsckobjects unpacklimit",
    "user": "email name signingkey useconfigonly",
}
PLAIN = frozenset(f"{section}.{name}".lower() for section, names in _PLAIN_NAMES.items() for name in names.split())
# Settings that are plain with these values only.
_PLAIN_VALUES = {"core.bare": frozenset(("false", "no", "off", "0")), "core.excludesfile": frozenset(("/dev/null",))}
_ADDRESSES = frozenset(("remote.*.url", "remote.*.pushurl"))
_TRANSPORTS = ("https://", "http://", "ssh://", "git://", "file://")


_LONGEST = 200


class ConfigEntry(NamedTuple):
    """One setting: section and name in lower case, the subsection as written, and the value."""

    section: str
    subsection: str | None
    name: str
    value: str

    @property
    def key(self) -> str:
        """The full name, as git prints it."""
        return ".".join(part for part in (self.section, self.subsection, self.name) if part is not None)


def shown(entry: ConfigEntry) -> str:
    """A setting as a person is shown it: control characters visible, a long value cut."""
    text = visible(f"{entry.key} = {entry.value}")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def is_plain(entry: ConfigEntry) -> bool:
    """Return whether a setting neither runs a program nor refers to another place."""
    exact = entry.key.lower()
    general = exact if entry.subsection is None else f"{entry.section}.*.{entry.name}"
    if general in _ADDRESSES:
        return is_plain_address(entry.value)
    if general in _PLAIN_VALUES:
        return entry.value.lower() in _PLAIN_VALUES[general]
    return general in PLAIN or exact in PLAIN


def is_plain_address(address: str) -> bool:
    """Return whether the address of a remote is a folder, or uses a transport of git that starts no program but ssh.

    The repository in a folder may still run programs of its own: see `clawmem.vault.exchange.remote`.
    """
    if address.startswith(_TRANSPORTS):
        # git decodes percent signs, so the path could not be checked.
        return not (address.startswith("file:") and "%" in address)
    host, colon, rest = address.partition(":")
    if not address or address.startswith("-"):
        return False
    # `host:path` uses ssh. With `::` or `://` git runs a remote helper that is named after the part before the colon.
    return not colon or "/" in host or not rest.startswith((":", "//"))


def read_config(git_dir: Path, environment: Mapping[str, str]) -> Sequence[ConfigEntry]:
    """Return the settings in a repository's own configuration, without included files. Runs git, outside the
    repository."""
    path = common_dir_of(git_dir) / CONFIG
    if read_regular_file(path) is None:
        return ()
    import subprocess  # a search runs no git

    from clawmem.vault.git.git import git_error, start_process  # which uses this

    alone = {**environment, "GIT_DIR": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", "config", "-z", "--file", str(path), "--no-includes", "--list"]
    process = start_process(command, Path("/"), alone, stdin=subprocess.DEVNULL)
    printed, complaint = process.communicate()
    if process.returncode:
        raise git_error("config", process.returncode, complaint)
    return list(parse_config_list(printed.decode(errors="surrogateescape")))


def split_plain(entries: Sequence[ConfigEntry]) -> tuple[list[ConfigEntry], list[ConfigEntry]]:
    """Split settings into those that are plain data and the others."""
    plain = [entry for entry in entries if is_plain(entry)]
    return plain, [entry for entry in entries if not is_plain(entry)]


def parse_config_list(printed: str) -> Iterator[ConfigEntry]:
    """Yield the settings from the output of `git config -z --list`."""
    for row in printed.split("\0"):
        if not row:
            continue
        key, equals, value = row.partition("\n")
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        has_subsection = "." in rest
        yield ConfigEntry(
            section.lower(), subsection if has_subsection else None, name.lower(), value if equals else "true"
        )


def render_config(entries: Iterable[ConfigEntry]) -> str:
    """Return the text of a configuration file with just these settings."""
    lines = []
    for entry in entries:
        heading = (
            f"[{entry.section}]" if entry.subsection is None else f'[{entry.section} "{_escaped(entry.subsection)}"]'
        )
        value = _escaped(entry.value).replace("\n", "\\n").replace("\t", "\\t")
        lines.append(f'{heading}\n\t{entry.name} = "{value}"\n')
    return "".join(lines)


def join_names(entries: Sequence[ConfigEntry]) -> str:
    """Return the names of some of the settings for a sentence."""
    return some_of(list(dict.fromkeys(entry.key for entry in entries)))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


_NOT_LINKED = frozenset((CONFIG, "config.worktree", "commondir", "gitdir", "hooks", "clawmem", "info"))
# Files that git creates when it needs them.
_MADE_LATER = ("packed-refs", "shallow")
_ATTRIBUTES = b"* !diff -text -filter -ident -working-tree-encoding\n"


class RepositoryView:
    """A view of the repository for git that hides the settings in `hidden`. It is deleted when this object or the
    process ends.

    git cannot ignore a repository's own configuration: no option overrides included files, or settings whose first
    value counts. But git reads the configuration from the shared folder that `GIT_COMMON_DIR` names (made for linked
    work trees). So git gets a temporary folder with links to the objects and refs of the repository, and with a
    configuration and attributes of its own."""

    def __init__(self, git_dir: Path, entries: Sequence[ConfigEntry]) -> None:
        import shutil  # only where settings are hidden
        import tempfile
        import weakref

        plain, hidden = split_plain(entries)
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
