"""One text of every kind of credential is stopped, and one of every kind that only looks so passes."""

from __future__ import annotations

import pytest

from benchmarks.credential_formats import CREDENTIALS, HELD, LOOK_ALIKES, OPEN, Format, formats, look_alikes
from benchmarks.safety import is_stopped
from clawmem.model.safety.secrets.find import find_secrets, redact

# A row of a table names its columns elsewhere.
KNOWN_MISSES = {"table"}
SEEDS = (20261122, 1)
GIVEN = {seed: {one.kind: one for one in formats(seed)} for seed in SEEDS}
ALIKE = {one.kind: one for one in look_alikes()}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", CREDENTIALS)
def test_each_kind_is_stopped_and_masked(kind: str, seed: int) -> None:
    one = GIVEN[seed][kind]
    assert is_stopped(one) is (kind not in KNOWN_MISSES), one.text
    if kind not in KNOWN_MISSES:
        assert redact(one.text) != one.text


@pytest.mark.parametrize("kind", LOOK_ALIKES)
def test_what_only_looks_so_passes(kind: str) -> None:
    assert find_secrets(ALIKE[kind].text) == ()


def test_the_sets_are_as_large_as_they_should_be() -> None:
    assert len(CREDENTIALS) >= 250 and len(LOOK_ALIKES) >= 170
    for part in (OPEN, HELD):
        assert sum(one.part == part for one in formats()) >= 100
        assert sum(one.part == part for one in look_alikes()) >= 80
    assert all(one.secret and one.secret in one.text for one in formats())
    assert len({one.text for one in formats()}) == len(CREDENTIALS)
    assert isinstance(next(formats()), Format)
