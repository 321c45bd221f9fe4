"""One text of every kind of credential is stopped, and one of every kind that only looks so passes."""

from __future__ import annotations

import pytest

from benchmarks.credential_formats import CREDENTIALS, HELD, LOOK_ALIKES, OPEN, Format, formats, look_alikes
from benchmarks.safety import is_stopped
from clawmem.model.safety.secrets.find import find_secrets, redact

# A row of a table names its columns elsewhere.
KNOWN_MISSES = {"table"}
SEEDS = (20261122, 1)
GIVEN = {seed: {fmt.kind: fmt for fmt in formats(seed)} for seed in SEEDS}
ALIKE = {look_alike.kind: look_alike for look_alike in look_alikes()}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", CREDENTIALS)
def test_each_kind_is_stopped_and_masked(kind: str, seed: int) -> None:
    other_format = GIVEN[seed][kind]
    assert is_stopped(other_format) is (kind not in KNOWN_MISSES), other_format.text
    if kind not in KNOWN_MISSES:
        assert redact(other_format.text) != other_format.text


@pytest.mark.parametrize("kind", LOOK_ALIKES)
def test_what_only_looks_so_passes(kind: str) -> None:
    assert find_secrets(ALIKE[kind].text) == ()


def test_the_sets_are_as_large_as_they_should_be() -> None:
    assert len(CREDENTIALS) >= 250 and len(LOOK_ALIKES) >= 170
    for part in (OPEN, HELD):
        assert sum(fmt.part == part for fmt in formats()) >= 100
        assert sum(look_alike.part == part for look_alike in look_alikes()) >= 80
    assert all(fmt.secret and fmt.secret in fmt.text for fmt in formats())
    assert len({fmt.text for fmt in formats()}) == len(CREDENTIALS)
    assert isinstance(next(formats()), Format)
