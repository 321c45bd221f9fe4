"""Which commits this clone made, and which made elsewhere a person has accepted here. Both are kept below
`.git/clawmem/`, which no remote can write.

A clone that was made by `git clone` begins with none of its own. One that was made here, or restored, and kept no
record yet, counts all that it holds as its own: that is what it has served so far.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from clawmem.vault.disk import append_line, whole_lines
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.settings.acceptance import Acceptance, Signature

_MADE = "made-here"
_TRUST = "trust.json"
_BASELINE = "baseline "


class Strange(NamedTuple):
    """A commit that neither was made here nor is accepted, and the lines of facts that it added and took out."""

    commit: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def note_made(vault: Vault, commits: Sequence[str], parent: str | None) -> None:
    """Remember that this clone made these commits on top of `parent`."""
    path = vault.state / _MADE
    if not path.exists() and parent and not _was_cloned(vault):
        append_line(path, f"{_BASELINE}{parent}\n".encode())
    append_line(path, "".join(f"{one}\n" for one in commits).encode())


def rename_made(vault: Vault, names: Mapping[str, str]) -> None:
    """Follow a rewriting of history: old names of commits to new ones."""
    data = vault.disk.read(vault.state / _MADE)
    if data is None:
        return
    lines = []
    for line in whole_lines(data).decode().splitlines():
        mark = _BASELINE if line.startswith(_BASELINE) else ""
        name = line.removeprefix(mark)
        lines.append(f"{mark}{names.get(name, name)}\n")
    vault.disk.replace(vault.state / _MADE, "".join(lines).encode(), vault.state)


def accepted_here(vault: Vault) -> Acceptance:
    """What a person accepted on this machine."""
    from clawmem.model.settings.acceptance import (  # every writer notes what it made, and asks nothing
        Acceptance,
        read_acceptance,
    )

    data = vault.disk.read(vault.state / _TRUST)
    try:
        return read_acceptance(json.loads(data)) if data is not None else Acceptance()
    except ValueError:
        return Acceptance()


def keep_accepted(vault: Vault, accepted: Acceptance) -> None:
    """Keep what a person accepts on this machine."""
    vault.prepare_state()
    given = {"authors": list(accepted.authors), "keys": list(accepted.keys)}
    vault.disk.replace(vault.state / _TRUST, (json.dumps(given, indent=2) + "\n").encode(), vault.state)


def strange_commits(vault: Vault, old: str | None, new: str) -> list[Strange]:
    """The commits between two that do not count here and touched facts, oldest first. Runs git."""
    from clawmem.model.settings.acceptance import accepts

    made, baseline = _made(vault, new)
    accepted = accepted_here(vault)
    form = "%H%x00%an <%ae>" + ("%x00%GF%x00%G?" if accepted.keys else "")
    without = [f"^{one}" for one in (old, *baseline) if one and vault.git.try_run("cat-file", "-e", f"{one}^{{commit}}")
               is not None]  # fmt: skip
    printed = vault.git.run("log", "--reverse", f"--format={form}", new, *without).decode(errors="replace")
    rows = (line.split("\0") for line in printed.splitlines())
    strange = [row[0] for row in rows if row[0] not in made and not accepts(_signature(row), accepted)]
    return _differences(vault, strange) if strange else []


def _signature(row: Sequence[str]) -> Signature:
    from clawmem.model.settings.acceptance import Signature

    good = len(row) > 3 and row[3] in ("G", "U")
    return Signature(row[1], row[2] if good else "")


def _made(vault: Vault, head: str) -> tuple[set[str], list[str]]:
    """The names of the commits made here, and those before which all count."""
    data = vault.disk.read(vault.state / _MADE)
    if data is None:
        return set(), [] if _was_cloned(vault) else [head]
    lines = whole_lines(data).decode(errors="replace").splitlines()
    baseline = [line.removeprefix(_BASELINE) for line in lines if line.startswith(_BASELINE)]
    return {*lines, *_by_hand(vault)}, baseline


def _by_hand(vault: Vault) -> list[str]:
    """The commits that a person made in this clone with git, by its own record of them."""
    rows = (line.split("\t", 1) for line in _log(vault))
    told = [(row[0].split(), row[1]) for row in rows if len(row) == 2]
    return [names[1] for names, words in told if len(names) > 1 and words.startswith(("commit:", "commit (amend)"))]


def _was_cloned(vault: Vault) -> bool:
    first = next(iter(_log(vault)), "")
    return "\tclone:" in first


def _log(vault: Vault) -> list[str]:
    data = vault.disk.read(vault.git_dir / "logs" / "HEAD")
    return (data or b"").decode(errors="replace").splitlines()


def _differences(vault: Vault, commits: Sequence[str]) -> list[Strange]:
    """What each commit did to the lines of facts; of a merge only what neither side had."""
    options = ("--stdin", "--no-walk=unsorted", "--format=%x01%H", "-p", "-c", "-U0", "--no-renames", "--no-color")
    plain = ("--no-ext-diff", "--no-textconv", "--text", "--root")
    given = "".join(f"{one}\n" for one in commits).encode()
    printed = vault.git.run("log", *options, *plain, "--", ":(glob)**/items.json", given=given)
    found = []
    for part in printed.decode(errors="replace").split("\x01")[1:]:
        name, _, body = part.partition("\n")
        signs = [(line[: _width(line)], line[_width(line) :]) for line in body.split("\n") if line[:1] in "+- "]
        added = tuple(text for sign, text in signs if "+" in sign and "-" not in sign)
        removed = tuple(text for sign, text in signs if "-" in sign)
        found.append(Strange(name.strip(), added, removed))
    return found


def _width(line: str) -> int:
    """How many signs stand before a line: one, or for a merge one for each of its parents."""
    return len(line) - len(line.lstrip("+- "))
