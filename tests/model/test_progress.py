"""Progress, and the line that shows it."""

from __future__ import annotations

import pytest

from clawmem.model.progress import Progress, counting, progress_line


def test_items_are_counted_only_where_somebody_looks_on() -> None:
    items, seen = ["a", "b"], list[Progress]()
    assert counting(items, "x", "letters", None) is items
    assert list(counting(items, "x", "letters", seen.append)) == items
    assert [(progress.done, progress.total) for progress in seen] == [(0, 2), (1, 2), (2, 2)]
    assert list(counting([], "x", "letters", seen.append)) == [] and len(seen) == 3


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (Progress("embedding", 1200, 4000, "texts"), "embedding  1,200 of 4,000 texts, 30%"),
        (Progress("embedding", 4000, 4000, "texts"), "embedding  4,000 of 4,000 texts, 100%"),
        (Progress("reading", 1.25, None, "MB"), "reading  1.2 MB"),
        (Progress("reading", 1.25, 100.0, "MB"), "reading  1.2 of 100.0 MB, 1%"),
        (Progress("heartbeat", 1, 2, now="learn, 3 of 40 events"), "heartbeat: learn, 3 of 40 events  50%"),
        (Progress("merging"), "merging"),
    ],
)
def test_the_line(progress: Progress, line: str) -> None:
    assert progress_line(progress) == line
