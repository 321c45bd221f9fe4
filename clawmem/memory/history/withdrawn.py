"""Find facts that are active although a commit withdrew them and no later commit restored them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.history.entry import UNDO, trailer_pattern
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.records.entity import ITEMS
from clawmem.vault.vault import Vault

_WITHDRAWING_OPS = ("retract", "revoke")
_FACTS = f":(glob)**/{ITEMS}"
_MERGE_OPS = frozenset(("complete", "unite"))


class ReactivatedFact(NamedTuple):
    """A fact that is active although `commit` withdrew it. `fact` is the withdrawn state."""

    fact: Fact
    commit: str


def find_reactivated(vault: Vault, standing: Collection[str]) -> list[ReactivatedFact]:
    """Return the active facts that a commit withdrew and no later commit restored.

    An undo or a hand edit in the same file restores a fact; a merge does not."""
    found = []
    for fact_id, commit in _withdrawals(vault, frozenset(standing)).items():
        left = _state_after(vault, commit, fact_id)
        if left is not None and not _was_restored(vault, commit, fact_id):
            found.append(ReactivatedFact(left, commit))
    return found


def _withdrawals(vault: Vault, standing: frozenset[str]) -> dict[str, str]:
    """Return the latest commit that may have withdrawn each fact."""
    ops = [f"--grep={trailer_pattern('Clawmem-Op', op)}" for op in _WITHDRAWING_OPS]
    named = "%(trailers:key=Fact,valueonly,separator=%x20)"
    printed = vault.git.run("log", "--topo-order", "--basic-regexp", *ops, f"--format=%H {named}", "HEAD", "--")
    found: dict[str, str] = {}
    for line in printed.decode(errors="replace").splitlines():
        commit, *facts = line.split()
        for fact_id in standing.intersection(facts):
            found.setdefault(fact_id, commit)
    return found


def _state_after(vault: Vault, commit: str, fact_id: str) -> Fact | None:
    """Return the fact after a commit, if the commit withdrew it."""
    paths = [path for path in vault.changed_paths(f"{commit}~1", commit) if file_kind(path) is ITEMS_FILE]
    items = [fact for path in paths for fact in _facts(vault, commit, path) if fact.id == fact_id]
    return items[0] if items and items[0].status == RETRACTED else None


def _was_restored(vault: Vault, withdrawn: str, fact_id: str) -> bool:
    since = f"{withdrawn}..HEAD"
    patterns = (f"--grep={trailer_pattern('Fact', fact_id)}", f"--grep={trailer_pattern('Clawmem-Op', UNDO)}")
    if vault.git.run("log", "-n1", "--basic-regexp", "--all-match", *patterns, "--format=%H", since, "--").strip():
        return True
    touched = vault.git.run(
        "log", "--no-merges", f'-G"id": "{fact_id}"', f"--format={_COMMIT_AND_OP}", since, "--", _FACTS
    )
    return any(
        op not in _MERGE_OPS and _restored_in_place(vault, commit, fact_id)
        for commit, op in _commits_and_ops(touched.decode())
    )


_COMMIT_AND_OP = "%H %(trailers:key=Clawmem-Op,valueonly,separator=%x20)"


def _commits_and_ops(printed: str) -> Iterator[tuple[str, str]]:
    for line in printed.splitlines():
        commit, _, op = line.partition(" ")
        yield commit, op.strip()


def _restored_in_place(vault: Vault, commit: str, fact_id: str) -> bool:
    """Return whether a commit made a withdrawn fact active in the same file."""
    for path in vault.changed_paths(f"{commit}~1", commit):
        if file_kind(path) is ITEMS_FILE:
            before, after = (
                [fact for fact in _facts(vault, name, path) if fact.id == fact_id] for name in (f"{commit}~1", commit)
            )
            if before and after and before[0].status == RETRACTED and after[0].is_current:
                return True
    return False


def _facts(vault: Vault, commit: str, path: str) -> tuple[Fact, ...]:
    data = vault.contents_at(commit, [path])[path]
    return parse_items(data, path) if data is not None else ()
