"""Alignment: a recorded history of twenty decisions, and the report about it to the digit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import Unreadable
from clawmem.extensions.governance.alignment import (
    AlignmentEntry,
    agreement_of,
    compared,
    parse_alignment,
    report_of,
)
from clawmem.extensions.governance.criterion import CriterionResult, Evaluation, parse_evaluations, verdict_of
from clawmem.model.forms import render_lines
from clawmem.model.merging.files import merge_file
from clawmem.vault.strict_yaml import parse_yaml

# One letter a criterion: c command, r rule, j judged; then + met, - refuted, ? undecided. Then what the person said.
HISTORY = [
    ("software", "c+ r+", "pass"), ("software", "c+ r+", "pass"), ("software", "c+ r+", "reject"),
    ("software", "c- r+", "reject"), ("software", "c+ j+", "pass"), ("software", "c+ j+", "reject"),
    ("software", "c- j+", "pass"), ("software", "c+ r-", "reject"), ("research", "j+", "pass"),
    ("research", "j+", "reject"), ("research", "j-", "reject"), ("research", "j-", "pass"),
    ("research", "j?", "pass"), ("research", "r+ j?", "reject"), ("research", "r+ j?", "pass"),
    (None, "r+", "pass"), (None, "r+", "pass"), (None, "r-", "reject"), (None, "c+", "pass"), (None, "c+ c-", "reject"),
]  # fmt: skip
KINDS = {"c": "command", "r": "rule", "j": "judged"}
MARKS = {"+": "met", "-": "refuted", "?": "undecided"}


def _evaluation(number: int, workflow: str | None, criteria: str) -> Evaluation:
    results = tuple(
        CriterionResult("a criterion", KINDS[word[0]], MARKS[word[1]], "evidence", float(word[1] != "?"), "x")
        for word in criteria.split()
    )
    verdict, reason = verdict_of(results)
    at = f"2026-11-{number + 1:02}T08:00:00Z"
    return Evaluation(f"eval_{number:08x}", at, f"t{number}", workflow, "w", verdict, verdict, reason, results, "Ada")


def _entries() -> list[AlignmentEntry]:
    return [
        compared(_evaluation(number, workflow, criteria), ruling, f"2026-11-{number + 1:02}T09:00:00Z", "Ada")
        for number, (workflow, criteria, ruling) in enumerate(HISTORY)
    ]


def test_the_report_of_twenty_decisions_is_right_to_the_digit() -> None:
    entries = _entries()
    assert len(entries) == 20
    report = report_of(entries, 20)
    # Counted by hand: agreed, false passes, false fails, escalated.
    assert report.all == (12, 3, 2, 3)
    assert report.last == (12, 3, 2, 0)
    assert report.all.rate == pytest.approx(12 / 17)
    assert report.kinds == {"command": (6, 2, 1, 0), "rule": (7, 1, 0, 0), "judged": (4, 2, 1, 0)}
    assert report.workflows == {"": (5, 0, 0, 0), "research": (2, 1, 1, 3), "software": (5, 2, 1, 0)}
    assert report_of(entries, 5).last == (5, 0, 0, 0)
    assert report_of(entries, 9).last == (7, 1, 1, 0)
    assert report_of(list(reversed(entries)), 9) == report_of(entries, 9)
    twice = [*entries, *(entry._replace(at="2026-12-01T09:00:00Z", outcome="false pass") for entry in entries)]
    assert report_of(twice, 9) == report_of(entries, 9), "two machines may record the same decision"


def test_two_machines_append_to_the_log() -> None:
    lines = [render_lines([entry]) for entry in _entries()]
    base = b"".join(lines[:3])
    merged = merge_file("governance/alignment.jsonl", base, base + lines[3] + lines[4], base + lines[5])
    assert merged.content is not None
    assert sorted(parse_alignment(merged.content, "a", parse_yaml), key=lambda entry: entry.at) == _entries()[:6]


def test_the_logs_can_be_read_again() -> None:
    entries = [entry._replace(extra={"note": "kept"}) for entry in _entries()]
    assert parse_alignment(render_lines(entries), "a", parse_yaml) == tuple(entries)
    evaluations = [_evaluation(number, *pair[:2]) for number, pair in enumerate(HISTORY)]
    assert parse_evaluations(render_lines(evaluations), "e", parse_yaml) == tuple(evaluations)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"ruling": "pass"', '"ruling": "maybe"'), ":2 .*'ruling' must be one of pass, reject, but is 'maybe'"),
        (('"outcome": "agreed"', '"outcome": 3'), ":2 .*'outcome'"),
        (('"kinds": {', '"kinds": {"judged": "so so", '), ":2 .*'kinds.judged' must be .* but is 'so so'"),
        (('"task": "t1", ', ""), ":2 .*'task'"),
        (("{", "["), ":2 "),
    ],
)
def test_a_wrong_line_is_named(change: tuple[str, str], words: str) -> None:
    first, second, *_ = render_lines(_entries()).decode().splitlines()
    text = f"{first}\n{second.replace(*change, 1)}\n"
    with pytest.raises(Unreadable, match=words):
        parse_alignment(text.encode(), "governance/alignment.jsonl", parse_yaml)


@given(st.lists(st.sampled_from(["agreed", "false pass", "false fail", "escalated"])))
def test_each_outcome_is_counted_once(outcomes: list[str]) -> None:
    found = agreement_of(outcomes)
    assert sum(found) == len(outcomes)
    assert found.rate is None or 0 <= found.rate <= 1
