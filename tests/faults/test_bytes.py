"""Single bits turned over and files cut short all over a vault: nothing untrue is ever served in silence."""

from __future__ import annotations

import pytest

from clawmem.vault.vault import Vault
from tests.conftest import Once
from tests.faults.flips import FOUND, HARMLESS, WRONG, Damage, Range, damages, prepare


@pytest.fixture
def field(once: Once, vault: Vault) -> Range:
    once(lambda: prepare(vault))
    return Range(Vault(vault.root, vault.git.environment))


def _shoot(field: Range, vault: Vault, count: int, seed: int) -> None:
    for damage in list(damages(vault.root, count, seed)):
        field.strike(damage)
    assert len(field.outcomes) == count


def _wrong(field: Range) -> list[str]:
    return [f"{damage}: {outcome.why}" for damage, outcome in field.outcomes if outcome.kind == WRONG]


def test_bytes_all_over_a_vault(field: Range, vault: Vault) -> None:
    _shoot(field, vault, 8, 3)
    assert _wrong(field) == []
    assert field.tally[FOUND] > len(field.outcomes) // 4


@pytest.mark.soak
def test_a_thousand_bytes_all_over_a_vault(field: Range, vault: Vault) -> None:
    _shoot(field, vault, 1000, 11)
    assert _wrong(field) == []
    assert field.tally[HARMLESS] < 500


def test_a_damage_of_each_telling_kind(field: Range) -> None:
    """What a chance may miss: HEAD, the branch, git's index, the text of a fact in the search index."""
    kinds = {
        ".git/HEAD": (5, 18),
        ".git/refs/heads/main": (0, 39),
        ".git/index": (100,),
        ".git/clawmem/pending.json": (30, 60),
        ".git/packed-refs": (60,),
    }
    for path, offsets in kinds.items():
        for offset in offsets:
            outcome = field.strike(Damage(path, offset, 0))
            assert outcome.kind != WRONG, (path, offset, outcome)
            assert outcome.kind == FOUND or (path, offset) != (".git/HEAD", 18)
    assert field.strike(Damage(".git/refs/heads/main", 0, None)).kind == FOUND


@pytest.mark.parametrize(
    "text",
    [
        b"Jane lives in Oslo",
        b'Bird number 3 was ringed near the lighthouse in 1983."}',
        b"lighthouse lamp was cleaned",
        b"Is the lamp of the lighthouse green?",
    ],
    ids=["a fact", "an event", "a note", "a question that waits"],
)
@pytest.mark.few(2)
def test_a_word_altered_in_the_search_index(field: Range, vault: Vault, text: bytes) -> None:
    """SQLite sees nothing wrong with it: the row's own seal does."""
    index = (vault.state / "index.sqlite").resolve()
    data = index.read_bytes()
    places = [at for at in range(len(data)) if data.startswith(text, at)]
    assert places
    for place in places:
        outcome = field.strike(Damage(index.relative_to(vault.root.resolve()).as_posix(), place + 14, 0))
        assert outcome.kind == "repaired", outcome


@pytest.mark.parametrize("text", [b"projects/towage", b"contradicts"])
@pytest.mark.few(1)
def test_a_name_altered_wherever_the_search_index_has_it(field: Range, vault: Vault, text: bytes) -> None:
    """The target of a fact is in its line, in the edge table and in the index of that table. If one of them is altered,
    the others give the target, or it is missing and doctor reports it."""
    index = (vault.state / "index.sqlite").resolve()
    data = index.read_bytes()
    places = [at for at in range(len(data)) if data.startswith(text, at)]
    assert len(places) >= 3
    for place in places:
        outcome = field.strike(Damage(index.relative_to(vault.root.resolve()).as_posix(), place + 4, 0))
        assert outcome.kind in ("repaired", FOUND), (text, place, outcome)
