"""A change that would put a file beyond the limit of its kind is refused before anything is written."""

from __future__ import annotations

import pytest

from clawmem.errors import Refused
from clawmem.model.records.bounds import JSON_BYTES, TEXT_BYTES
from clawmem.model.records.change import Change
from clawmem.vault.commit.transaction import _refuse_large


@pytest.mark.parametrize(("path", "limit"), [("life/projects/a/items.json", JSON_BYTES), ("MEMORY.md", TEXT_BYTES)])
def test_a_change_beyond_the_limit_of_its_kind_is_refused(path: str, limit: int) -> None:
    _refuse_large([Change("at the limit", {path: bytes(limit)}), Change("deleted", {path: None})])
    with pytest.raises(Refused, match="The change is too large"):
        _refuse_large([Change("one more byte", {path: bytes(limit + 1)})])
