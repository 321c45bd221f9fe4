"""How far two histories are apart: as git counts it, also where they crossed."""

from __future__ import annotations

import random

import pytest

from clawmem.vault.history.git_merges import history_distance
from clawmem.vault.history.history import common_ancestors
from clawmem.vault.vault import Vault


def commit(vault: Vault, subject: str, *parents: str) -> str:
    """A commit that changes nothing."""
    named = [part for parent in parents for part in ("-p", parent)]
    return vault.git.run("commit-tree", "HEAD^{tree}", *named, "-m", subject).decode().strip()


def count(vault: Vault, old: str, new: str) -> int:
    """How many commits lead to one and not to the other."""
    return int(vault.git.run("rev-list", "--count", f"{old}..{new}"))


def first(vault: Vault) -> str:
    """The commit that all others build on."""
    head = vault.head().commit
    assert head is not None
    return head


def test_two_that_went_their_own_ways(vault: Vault) -> None:
    start = first(vault)
    ours, theirs = commit(vault, "mine", start), commit(vault, "their first", start)
    theirs = commit(vault, "their second\n\nClawmem-Op: redact", theirs)
    found = history_distance(vault, ours, theirs, 1)
    assert (found.own, found.received, found.parting) == (1, 2, (start,))
    assert (found.news.subjects, found.news.redacted, found.news.merges) == (("their second",), True, ())
    assert (found.redacted, found.scattered) == (False, False)
    turned = history_distance(vault, theirs, ours, 1)
    assert (turned.news.redacted, turned.redacted) == (False, True)


def test_one_behind_the_other_and_the_same(vault: Vault) -> None:
    start = first(vault)
    later = commit(vault, "later", start)
    assert history_distance(vault, start, later, 9)[:2] == (0, 1)
    assert history_distance(vault, later, start, 9)[:2] == (1, 0)
    assert history_distance(vault, later, later, 9)[:2] == (0, 0)


def test_nothing_in_common(vault: Vault) -> None:
    found = history_distance(vault, first(vault), commit(vault, "another beginning"), 9)
    assert (found.own, found.received, found.parting, found.scattered) == (1, 1, (), True)


def test_what_began_before_the_last_meeting_is_scattered(vault: Vault) -> None:
    start = first(vault)
    ours = commit(vault, "ours", start)
    late = commit(vault, "joined", ours, commit(vault, "old", start))
    assert history_distance(vault, ours, late, 9).scattered
    assert (
        history_distance(vault, ours, commit(vault, "joined", ours, commit(vault, "new", ours)), 9).scattered is False
    )


def test_a_merge_of_gits_own_is_told(vault: Vault) -> None:
    start = first(vault)
    text, other = commit(vault, "one", start), commit(vault, "other", start)
    plain = commit(vault, "Merge branch", text, other)
    ours = commit(vault, "sync(vault): joined\n\nClawmem-Op: sync", plain, start)
    assert [merge[:] for merge in history_distance(vault, start, ours, 9).news.merges] == [(plain, text, other)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.few(4)
def test_histories_that_crossed_any_number_of_times(vault: Vault, seed: int) -> None:
    chance = random.Random(seed)
    known = [first(vault), commit(vault, "elsewhere")]
    for number in range(14):
        parents = dict.fromkeys(chance.choices(known, k=chance.choice((1, 1, 2))))
        known.append(commit(vault, f"number {number}", *parents))
    for _ in range(10):
        ours, theirs = chance.sample(known, 2)
        found = history_distance(vault, ours, theirs, 99)
        assert (found.own, found.received) == (count(vault, theirs, ours), count(vault, ours, theirs))
        best = set(common_ancestors(vault, ours, theirs))
        # What `memory/relation.py` relies on.
        if found.own and found.received:
            assert best <= set(found.parting)
            assert len(found.parting) != 1 or best == set(found.parting)
