"""The file of counts beside the facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import Unreadable
from clawmem.model.lifecycle.tiers import COLD, WARM, importance_tier
from clawmem.model.records.accesses import Accesses, merged_accesses, parse_accesses, raised_importance, render_accesses

TIMES = st.sampled_from(["2026-11-20T08:00:00Z", "2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z"])
COUNTS = st.dictionaries(
    st.sampled_from([f"fact_{n:08x}" for n in range(4)]),
    st.builds(Accesses, st.integers(0, 9), TIMES, st.none() | st.sampled_from([0.55, 0.6, 0.79])),
)


@given(COUNTS)
def test_what_is_written_is_read(counts: dict[str, Accesses]) -> None:
    assert parse_accesses(render_accesses(counts)) == counts


@given(COUNTS, COUNTS, COUNTS)
def test_a_merge_knows_no_sides_and_loses_no_count(
    base: dict[str, Accesses], ours: dict[str, Accesses], theirs: dict[str, Accesses]
) -> None:
    merged = merged_accesses(base, ours, theirs)
    assert merged == merged_accesses(base, theirs, ours)
    assert merged.keys() == ours.keys() | theirs.keys()
    none = Accesses(0, "")
    for fact_id, accesses in merged.items():
        known = [side.get(fact_id, none).number for side in (base, ours, theirs)]
        assert accesses.number >= max(known)
        assert accesses.number - known[0] == sum(max(0, side - known[0]) for side in known[1:])


@given(COUNTS, COUNTS)
def test_a_merge_again_changes_nothing(base: dict[str, Accesses], ours: dict[str, Accesses]) -> None:
    merged = merged_accesses(base, ours, base)
    assert merged_accesses(base, merged, base) == merged


@pytest.mark.parametrize(
    "data",
    [b"[]", b"{", b'{"a": 3}', b'{"a": [-1, "x"]}', b'{"a": [true, "x"]}', b'{"a": [1, 2]}', b'{"a": [1, "x", 2]}'],
)
def test_what_is_no_count_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        parse_accesses(data)


@given(st.floats(0, 1), st.integers(0, 10_000))
def test_recall_raises_importance_but_not_to_always_hot(importance: float, accesses: int) -> None:
    raised = raised_importance(importance, accesses)
    assert importance <= raised <= max(importance, 0.79)
    assert raised_importance(importance, accesses + 1) >= raised


def test_recall_raises_a_cold_importance_to_warm() -> None:
    assert importance_tier(0.35) == COLD
    assert importance_tier(raised_importance(0.35, 5)) == WARM
