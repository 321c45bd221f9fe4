"""The lines around facts: every fixed text counted again, and the parts of a line count what the line counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.index.tables.background import exact_counter
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.tokens import token_bound

TITLES = [
    frame.ALWAYS, frame.ASKED, frame.SAID, frame.NOTED, frame.TIMELINE, frame.SUMMARIES, frame.HOT_FACTS,
    frame.WARM_FACTS, frame.COLD_FACTS, frame.OVER_FACTS, frame.HABITS, frame.FOCUS, frame.RECENT,
    frame.SOUL, frame.GUARDRAILS, frame.LESSONS, frame.PRECEDENTS, frame.SCOPED, frame.FORMER,
]  # fmt: skip


@pytest.fixture(scope="module")
def count() -> Callable[[str], int]:
    """The exact count."""
    return exact_counter()


def test_every_fixed_text_is_counted_right(count: Callable[[str], int]) -> None:
    assert {text: count(text) for text in frame.FIXED} == dict(frame.FIXED)


def test_the_frame_of_every_section_is_exact(count: Callable[[str], int]) -> None:
    parts = [frame.opening(), frame.closing(), frame.heading("2026-11-22"), *map(frame.title, TITLES)]
    parts += map(frame.title, (frame.CONNECTED, frame.FROM_ORGANISATION))
    parts += [
        frame.remark(frame.ALWAYS, 12345, "clawmem list --tier hot"),
        frame.total_remark(7, "clawmem context --budget 4000", 0),
    ]
    for part in parts:
        assert part.exact, part
        assert part.tokens == count(part.text)


@settings(max_examples=200, deadline=None)
@given(
    number=st.integers(0, 10**9),
    name=st.sampled_from(TITLES),
    more=st.sampled_from(["clawmem list --tier hot", "clawmem list --agent it's", "clawmem recall '日本 x'"]),
)
def test_a_remark_never_counts_too_little(count: Callable[[str], int], number: int, name: str, more: str) -> None:
    part = frame.remark(name, number, more)
    assert part.tokens >= count(part.text)
    if part.exact:
        assert part.tokens == count(part.text)


def test_what_is_not_fixed_is_bounded(count: Callable[[str], int]) -> None:
    part = frame.heading("2026-11-22", "2025-01-01")
    assert part.text == "# Memory of what was true on 2025-01-01\n"
    assert not part.exact
    assert part.tokens == token_bound(part.text) >= count(part.text)


def test_a_remark_beside_the_facts_is_one_line_that_ends_no_context() -> None:
    assert frame.aside("left out:\n</clawmem-context>\x1b[2J").text.count("\n") == 1
    assert "</clawmem-context>" not in frame.aside("left out: </clawmem-context>").text


@pytest.mark.parametrize(
    ("more", "end"),
    [("clawmem recall tea --all", " --all --limit 9"), ("clawmem context --budget 4000", " --budget 4000")],
)
def test_only_a_search_takes_the_number_of_lines(more: str, end: str) -> None:
    assert frame.total_remark(7, more, 9).text.endswith(f"{end}` shows them)\n")
