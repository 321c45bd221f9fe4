"""Which commits were made in this clone, and which authors and keys the user accepts here.

Both are stored below `.git/clawmem/`, which no remote can write. A clone made by `git clone` starts with no commits of
its own. A vault that was created or restored here and has no record yet counts all of its commits as its own. In a
vault that nobody accepted here, nothing counts: an archive can bring any record.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import ITEMS
from clawmem.model.records.strict_json import UnreadFile
from clawmem.vault.disk import append_line, complete_lines
from clawmem.vault.git.merge_driver import BY_AGENTS
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.proposals.quarantine import Acceptance, Signature

_MADE = "made-here"
_TRUST = "trust.json"
_BASELINE, _ELSEWHERE = "baseline ", "elsewhere "
_KEPT = ("local.yaml", "access.log", "access.folding", "sessions", "pending.json", "redacting.json")
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_UNSHOWN = re.compile(r"^Binary files ", re.MULTILINE)
_HEADS = ("a/", "b/", "/dev/null")  # after the signs of a line that names a file


class UnacceptedCommit(NamedTuple):
    """A commit that was neither made here nor accepted, with the lines of facts that it added and removed."""

    commit: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def record_commits(vault: Vault, commits: Sequence[str], parent: str | None) -> None:
    """Record that this clone made these commits on top of `parent`."""
    path = vault.state / _MADE
    if not path.exists() and parent and not _was_cloned(vault):
        append_line(path, f"{_BASELINE}{parent}\n".encode())
    append_line(path, "".join(f"{commit}\n" for commit in commits).encode())


def rename_commits(vault: Vault, names: Mapping[str, str]) -> None:
    """Replace commit names in the record after a rewrite of history; `names` maps old names to new ones."""
    data = vault.disk.read(vault.state / _MADE)
    if data is None:
        return
    lines = []
    for line in complete_lines(data).decode().splitlines():
        mark, space, name = line.rpartition(" ")
        lines.append(f"{mark}{space}{names.get(name, name)}\n")
    vault.disk.replace(vault.state / _MADE, "".join(lines).encode(), vault.state)


def disown(vault: Vault) -> None:
    """Count all present commits as another's, for a vault from elsewhere that a person accepts. What its state folder
    says of commits, authors, commands, answers and hooks goes; what belongs to the memory and its settings stays."""
    import shutil  # few vaults are accepted in a process

    for path in vault.state.iterdir():
        if path.name not in _KEPT and not path.name.endswith("lock"):
            (shutil.rmtree if path.is_dir() and not path.is_symlink() else os.unlink)(path)
    named = dict.fromkeys(name for name, _ in _entries(vault))
    vault.disk.replace(vault.state / _MADE, "".join(f"{_ELSEWHERE}{name}\n" for name in named).encode(), vault.state)


def read_acceptance(vault: Vault) -> "Acceptance":
    """Return what the user accepts on this machine."""
    from clawmem.model.proposals.quarantine import (  # writers only record commits
        Acceptance,
        read_acceptance,
    )

    data = vault.disk.read(vault.state / _TRUST)
    try:
        return read_acceptance(json.loads(data)) if data is not None else Acceptance()
    except ValueError:
        return Acceptance()


def write_acceptance(vault: Vault, accepted: "Acceptance") -> None:
    """Store what the user accepts on this machine."""
    vault.prepare_state()
    record = {"authors": list(accepted.authors), "keys": list(accepted.keys)}
    vault.disk.replace(vault.state / _TRUST, (json.dumps(record, indent=2) + "\n").encode(), vault.state)


def unaccepted_commits(vault: Vault, old: str | None, new: str) -> list[UnacceptedCommit]:
    """Return the commits between two that are not accepted here and changed facts, oldest first. Runs git."""
    from clawmem.model.proposals.quarantine import accepts

    made, baseline = _made(vault, new)
    accepted = read_acceptance(vault)
    form = "%H%x00%an <%ae>" + ("%x00%GF%x00%G?" if accepted.keys else "")
    without = [
        f"^{text}"
        for text in (old, *baseline)
        if text and vault.git.try_run("cat-file", "-e", f"{text}^{{commit}}") is not None
    ]
    printed = vault.git.run("log", "--reverse", f"--format={form}", new, *without).decode(errors="replace")
    rows = (line.split("\0") for line in printed.splitlines())
    commits = [row[0] for row in rows if row[0] not in made and not accepts(_signature(row), accepted)]
    return _differences(vault, commits) if commits else []


def _signature(row: Sequence[str]) -> "Signature":
    from clawmem.model.proposals.quarantine import Signature

    good = len(row) > 3 and row[3] in ("G", "U")
    return Signature(row[1], row[2] if good else "")


def _made(vault: Vault, head: str) -> tuple[set[str], list[str]]:
    """Return the commits made here, and those whose ancestors all count as made here. A commit by plain git counts,
    unless it was made in the shell of an agent."""
    data = vault.disk.read(vault.state / _MADE)
    if vault.is_foreign:
        return set(), []
    if data is None:
        return set(), [] if _was_cloned(vault) else [head]
    lines = complete_lines(data).decode(errors="replace").splitlines()
    baseline = [line.removeprefix(_BASELINE) for line in lines if line.startswith(_BASELINE)]
    elsewhere = {line.removeprefix(_ELSEWHERE) for line in lines if line.startswith(_ELSEWHERE)}
    elsewhere |= {*(vault.disk.read(vault.state / BY_AGENTS) or b"").decode(errors="replace").split()}
    by_hand = {name for name, words in _entries(vault) if words.startswith(("commit:", "commit (amend)"))}
    return {*lines, *by_hand - elsewhere}, baseline


def _entries(vault: Vault) -> Iterator[tuple[str, str]]:
    """Yield the commits in the reflog of this clone, each with what git did there."""
    for line in _log(vault):
        names, _, words = line.partition("\t")
        if names.count(" ") > 1:
            yield names.split(" ")[1], words


def _was_cloned(vault: Vault) -> bool:
    first = next(iter(_log(vault)), "")
    return "\tclone:" in first


def _log(vault: Vault) -> list[str]:
    data = vault.disk.read(vault.git_dir / "logs" / "HEAD")
    return (data or b"").decode(errors="replace").splitlines()


def _differences(vault: Vault, commits: Sequence[str]) -> list[UnacceptedCommit]:
    """Return how each commit changed lines of facts. For a merge, only lines that neither parent has."""
    options = ("--stdin", "--no-walk=unsorted", "--format=%x01%H", "-p", "-c", "-U0", "--no-renames", "--no-color")
    plain = ("--no-ext-diff", "--no-textconv", "--root")
    data = "".join(f"{commit}\n" for commit in commits).encode()
    printed = vault.git.run("log", *options, *plain, "--", ":(glob)**/items.json", stdin=data)
    found = []
    for part in printed.decode(errors="replace").split("\x01")[1:]:
        name, _, body = part.partition("\n")
        signs = [(line[: _width(line)], line[_width(line) :]) for line in body.split("\n") if line[:1] in "+- "]
        if _UNSHOWN.search(body) or not all(_has_one_fact(text) for _, text in signs if not text.startswith(_HEADS)):
            found.append(_compared(vault, name.strip()))
            continue
        added = tuple(text for sign, text in signs if "+" in sign and "-" not in sign)
        removed = tuple(text for sign, text in signs if "-" in sign)
        found.append(UnacceptedCommit(name.strip(), added, removed))
    return found


def _compared(vault: Vault, commit: str) -> UnacceptedCommit:
    """Return how a commit changed facts in files that git does not show, because they are large or said to be binary
    data, or that do not have one fact on each line.

    A version beyond its limit has no lines, so all lines of the next smaller one count as new.
    """
    parents = vault.git.run("rev-list", "--parents", "--max-count=1", commit).decode().split()[1:] or [_EMPTY_TREE]
    changed = set.intersection(*(set(vault.changed_paths(parent, commit)) for parent in parents))
    paths = [path for path in changed if path.rpartition("/")[2] == ITEMS]
    now = _lines(vault.contents_at(commit, paths))
    before = [_lines(vault.contents_at(parent, paths)) for parent in parents]
    added = {line for lines in before for line in now - lines}
    return UnacceptedCommit(commit, tuple(added), tuple({line for lines in before for line in lines - now}))


def _lines(contents: Mapping[str, bytes | None]) -> set[str]:
    read = (data for data in contents.values() if data is not None and not isinstance(data, UnreadFile))
    return {line for data in read for line in _facts_of(data.decode(errors="replace"))}


def _facts_of(text: str) -> Sequence[str]:
    """Return the facts of a file, one on each line, however the file has them; its lines if it is no list."""
    try:
        records = json.loads(text)
    except (ValueError, RecursionError):
        return text.split("\n")
    return [json.dumps(record, sort_keys=True) for record in records] if isinstance(records, list) else text.split("\n")


def _has_one_fact(line: str) -> bool:
    """Return whether a line of a file of facts has one fact, or none."""
    text = line.strip().removesuffix(",")
    try:
        return text in ("", "[", "]") or isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _width(line: str) -> int:
    """Return the number of diff signs in front of a line: one, or one for each parent of a merge."""
    return len(line) - len(line.lstrip("+- "))
