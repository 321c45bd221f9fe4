"""Fixtures of the tests that make vectors."""

from __future__ import annotations

import pytest

from clawmem.index.vectors.embed import UNRELATED, key_of
from clawmem.index.vectors.local_model import NAME, LocalModel, missing_packages
from clawmem.index.vectors.store import open_or_create_vectors, pack_vector
from clawmem.vault.vault import Vault


@pytest.fixture(scope="session")
def _unrelated() -> list[tuple[bytes, bytes]]:
    """The vectors of what unrelated people say, with their keys: no run for them in each vault, which takes longest."""
    if missing_packages():
        return []
    model = LocalModel(whole=False)
    return [(key_of(words), pack_vector(model.embed(words))) for words in UNRELATED]


@pytest.fixture
def unrelated_known(vault: Vault, _unrelated: list[tuple[bytes, bytes]]) -> None:
    """The fresh vault has these vectors, as after an earlier run, and none of what it holds."""
    vectors = open_or_create_vectors(vault)
    vectors.store_vectors(NAME, _unrelated)
    vectors.close()
