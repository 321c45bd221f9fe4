"""Failure modes and the log of failures: what can be read, what is refused with its line and key, and merging."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import Unreadable
from clawmem.model.forms import render_lines
from clawmem.model.merging.files import merge_file
from clawmem.model.records.failure import (
    BUILT_IN,
    LOG_PATH,
    MAST,
    MODES_PATH,
    FailureMode,
    FailureRecord,
    guardrail_rule,
    parse_failures,
    parse_modes,
    with_own,
)
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.work.tasks import built_in_modes
from tests.conftest import examples

MODE = "sinking:\n  signs: [water in the boat]\n  actions: [Bail., Row ashore.]\n"


def modes(text: str) -> dict[str, FailureMode]:
    return parse_modes(text.encode(), MODES_PATH, parse_yaml)


def test_the_template_defines_each_built_in_mode_with_signs_actions_and_a_guardrail() -> None:
    found = built_in_modes()
    assert tuple(found) == BUILT_IN
    for mode in found.values():
        assert mode.about and mode.signs and len(mode.actions) > 1 and mode.guardrail
    assert found["loop"].mast == ("FM-1.3", "FM-1.5")
    assert found["verification-divergence"].mast == ("FM-3.2", "FM-3.3")
    assert len(MAST) == 14


def test_the_file_of_a_vault_changes_some_keys_of_a_mode_and_adds_modes() -> None:
    own = modes("loop:\n  actions: [Go to sleep.]\n" + MODE)
    known = with_own(built_in_modes(), own)
    assert known["loop"].actions == ("Go to sleep.",)
    assert known["loop"].signs == built_in_modes()["loop"].signs
    assert list(known) == [*BUILT_IN, "sinking"]
    assert guardrail_rule(known["sinking"]) == "At the first sign of sinking (water in the boat): Bail."


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- loop\n", None, "does not map each failure mode to its keys"),
        ("loop: 3\n", 1, "the key 'loop' must be an object, but is 3"),
        ("Loop Two: {}\n", 1, "'Loop Two' is no id of a failure mode"),
        (MODE + "loop:\n  steps: [x]\n", 5, "the key 'loop.steps' is unknown; the keys are about, signs"),
        (MODE + "leak:\n  signs: [drops]\n", 4, "the key 'leak.actions' is missing or empty"),
        (MODE + "loop:\n  about: x\n  signs: often\n", 6, "the key 'loop.signs' must be a list, but is 'often'"),
        ("loop:\n  guardrail: [a]\n", 2, "the key 'loop.guardrail' must be text, but is a list"),
        ("loop:\n  mast: [FM-9.9]\n", 2, "the key 'loop.mast[0]' must be one of FM-1.1, FM-1.2"),
        ("loop: [\n", 2, "not valid YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_key(text: str, line: int | None, words: str) -> None:
    with pytest.raises(Unreadable) as problem:
        modes(text)
    assert (problem.value.line, words in problem.value.message) == (line, True), problem.value.message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"id": "fail_1", "timestamp": "2026-11-20T08:00:00Z", "mode": "loop"}\n\nnot json\n', 3, "not valid JSON"),
        ("[]\n", 1, "it must be an object, but is a list"),
        ('{"id": "fail_1", "timestamp": "2026-11-20T08:00:00Z"}\n', 1, "the key 'mode' is missing"),
        (
            '{"id": "fail_1", "timestamp": "soon", "mode": "loop"}\n',
            1,
            "the key 'timestamp' must be a time such as",
        ),
        ('{"id": "fail_1", "timestamp": "2026-11-20T08:00:00Z", "mode": "loop", "note": 3}\n', 1, "the key 'note'"),
    ],
)
def test_a_wrong_line_of_the_log_is_refused_with_its_number(text: str, line: int, words: str) -> None:
    with pytest.raises(Unreadable) as problem:
        parse_failures(text.encode(), LOG_PATH, parse_yaml)
    assert (problem.value.line, words in problem.value.message) == (line, True), problem.value.message


RECORDS = st.builds(
    FailureRecord,
    st.uuids().map(lambda d: f"fail_{d.hex[:8]}"),
    st.datetimes().map(lambda moment: f"{moment:2026-%m-%dT%H:%M:%SZ}"),
    st.sampled_from(BUILT_IN),
    st.sampled_from(["coder", None]),
    note=st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=9)),
)


@examples(25, 100)
@given(st.lists(RECORDS, max_size=3), st.lists(RECORDS, max_size=3), st.lists(RECORDS, max_size=3))
def test_merging_keeps_each_failure_of_both_sides_once(
    base: list[FailureRecord], ours: list[FailureRecord], theirs: list[FailureRecord]
) -> None:
    before, data, other = render_lines(base), render_lines([*base, *ours]), render_lines([*base, *theirs])
    merged = merge_file(LOG_PATH, before, data, other)
    assert merge_file(LOG_PATH, before, other, data) == merged
    assert not merged.conflicts
    found = parse_failures(merged.content or b"", LOG_PATH, parse_yaml)
    assert sorted(found, key=repr) == sorted({*base, *ours, *theirs}, key=repr)


@examples(25, 100)
@given(st.lists(RECORDS, max_size=5))
def test_the_log_reads_back_as_it_was_written(records: list[FailureRecord]) -> None:
    assert parse_failures(render_lines(records), LOG_PATH, parse_yaml) == tuple(records)
