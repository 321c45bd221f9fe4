"""Records of redactions: none is ever lost, whatever happens to their file."""

from __future__ import annotations

import pytest

from clawmem.model.history.redaction import (
    RECORD,
    RedactionRecord,
    lacks_record,
    merged_records,
    records_of,
    with_record,
)
from clawmem.model.merging.files import merge_file


def record(day: int, reason: str | None = None) -> RedactionRecord:
    return RedactionRecord(f"2026-11-{day:02}T10:00:00Z", "a person", reason, (), (), 1, None, f"{day:040}")


ONE, OTHER = with_record(None, record(1)), with_record(None, record(2))
BOTH = with_record(ONE, record(2))


def test_a_record_follows_another_one() -> None:
    assert [row["at"][8:10] for row in records_of(BOTH)] == ["01", "02"]
    assert "reason" not in records_of(BOTH)[0] and records_of(None) == ()


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[]", b"{}", b'{"redactions": 5}', b'{"redactions": [5]}'])
def test_what_is_no_list_of_records(data: bytes) -> None:
    with pytest.raises(ValueError):
        records_of(data)
    assert lacks_record(data, ONE)
    assert merged_records(data, ONE) == ONE


def test_a_record_that_is_gone_is_missed_and_other_words_are_not() -> None:
    assert lacks_record(None, ONE) and lacks_record(OTHER, BOTH) and lacks_record(b"[", None)
    assert not lacks_record(None, None) and not lacks_record(BOTH, ONE) and not lacks_record(BOTH, BOTH)
    assert not lacks_record(with_record(None, record(1, "in other words")), ONE)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (None, ONE, OTHER, BOTH),
        (None, OTHER, ONE, BOTH),
        (ONE, None, ONE, ONE),
        (ONE, ONE, None, ONE),
        (ONE, None, BOTH, BOTH),
        (BOTH, ONE, OTHER, BOTH),
        (None, b"nonsense", ONE, ONE),
        (b"nonsense", b"nonsense", b"other", b"other"),
    ],
)
def test_a_merge_takes_none_out(base: bytes | None, ours: bytes | None, theirs: bytes | None, merged: bytes) -> None:
    assert merge_file(RECORD, base, ours, theirs).content == merged
