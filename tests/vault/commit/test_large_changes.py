"""A change that would put a file beyond the limit of its kind is refused before anything is written."""

from __future__ import annotations

import pytest

from clawmem.errors import Refused
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.strict_json import JSON_BYTES, TEXT_BYTES, YAML_BYTES
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.vault import Vault
from tests.conftest import NOW


@pytest.mark.parametrize(
    ("path", "limit"),
    [("life/projects/a/items.json", JSON_BYTES), ("MEMORY.md", TEXT_BYTES), ("governance/principles.yaml", YAML_BYTES)],
)
def test_a_change_beyond_the_limit_of_its_kind_is_refused(vault: Vault, path: str, limit: int) -> None:
    """Nothing of the commit is written, not even the files that are small enough."""
    head, before = vault.head(), vault.read(path)
    with transaction(vault, NOW, "test") as started, pytest.raises(Refused, match=f"too large.*{limit:,}"):
        changes = [Change("test: small", {"life/small.txt": b"x\n"}, trailers("note"))]
        started.commit([*changes, Change("test: one byte more", {path: bytes(limit + 1)}, trailers("note"))])
    assert vault.head() == head
    assert vault.read(path) == before and vault.read("life/small.txt") is None


def test_a_change_at_the_limit_of_its_kind_is_written(vault: Vault) -> None:
    data = b"# note\n" * (YAML_BYTES // 7) + b"#" * (YAML_BYTES % 7)
    with transaction(vault, NOW, "test") as started:
        started.commit([Change("test: full", {"governance/principles.yaml": data}, trailers("note"))])
    assert vault.read("governance/principles.yaml") == data and len(data) == YAML_BYTES
