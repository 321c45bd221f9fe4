"""Facts that history tells were withdrawn, and that stand again though nobody brought them back."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.history.entry import UNDO, trailer_pattern
from clawmem.model.records.entity import ITEMS
from clawmem.vault.vault import Vault

_WITHDRAW = ("retract", "revoke")
_FACTS = f":(glob)**/{ITEMS}"
_BY_OTHERS = frozenset(("complete", "unite"))


class Risen(NamedTuple):
    """A fact that stands though it was withdrawn: the commit that withdrew it, and the fact as it was left there."""

    fact: Fact
    commit: str


def risen(vault: Vault, standing: Collection[str]) -> list[Risen]:
    """Those of the facts that stand which a commit withdrew, and no later one brought back: not by `undo`, not by hand
    in its place. A merge brings nothing back."""
    found = []
    for fact_id, commit in _withdrawals(vault, frozenset(standing)).items():
        left = _left_by(vault, commit, fact_id)
        if left is not None and not _brought_back(vault, commit, fact_id):
            found.append(Risen(left, commit))
    return found


def _withdrawals(vault: Vault, standing: frozenset[str]) -> dict[str, str]:
    """The latest commit that may have withdrawn each fact."""
    ops = [f"--grep={trailer_pattern('Clawmem-Op', op)}" for op in _WITHDRAW]
    named = "%(trailers:key=Fact,valueonly,separator=%x20)"
    printed = vault.git.run("log", "--topo-order", "--basic-regexp", *ops, f"--format=%H {named}", "HEAD", "--")
    found: dict[str, str] = {}
    for line in printed.decode(errors="replace").splitlines():
        commit, *facts = line.split()
        for fact_id in standing.intersection(facts):
            found.setdefault(fact_id, commit)
    return found


def _left_by(vault: Vault, commit: str, fact_id: str) -> Fact | None:
    """The fact as a commit left it, where that withdrew it."""
    paths = [path for path in vault.changed_paths(f"{commit}~1", commit) if path.endswith(f"/{ITEMS}")]
    held = [fact for path in paths for fact in _facts(vault, commit, path) if fact.id == fact_id]
    return held[0] if held and held[0].status == RETRACTED else None


def _brought_back(vault: Vault, withdrawn: str, fact_id: str) -> bool:
    since = f"{withdrawn}..HEAD"
    patterns = (f"--grep={trailer_pattern('Fact', fact_id)}", f"--grep={trailer_pattern('Clawmem-Op', UNDO)}")
    if vault.git.run("log", "-n1", "--basic-regexp", "--all-match", *patterns, "--format=%H", since, "--").strip():
        return True
    touched = vault.git.run("log", "--no-merges", f'-G"id": "{fact_id}"', f"--format={_OP}", since, "--", _FACTS)
    return any(op not in _BY_OTHERS and _in_its_place(vault, commit, fact_id) for commit, op in _rows(touched.decode()))


_OP = "%H %(trailers:key=Clawmem-Op,valueonly,separator=%x20)"


def _rows(printed: str) -> Iterator[tuple[str, str]]:
    for line in printed.splitlines():
        commit, _, op = line.partition(" ")
        yield commit, op.strip()


def _in_its_place(vault: Vault, commit: str, fact_id: str) -> bool:
    """Whether a commit let a withdrawn fact stand in the very file in which it was withdrawn."""
    for path in vault.changed_paths(f"{commit}~1", commit):
        if path.endswith(f"/{ITEMS}"):
            before, after = (
                [fact for fact in _facts(vault, name, path) if fact.id == fact_id] for name in (f"{commit}~1", commit)
            )
            if before and after and before[0].status == RETRACTED and after[0].stands:
                return True
    return False


def _facts(vault: Vault, commit: str, path: str) -> tuple[Fact, ...]:
    data = vault.contents_at(commit, [path])[path]
    return parse_items(data, path) if data is not None else ()
