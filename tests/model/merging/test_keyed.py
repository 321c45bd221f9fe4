"""Merging what two people changed of one task: keys, boxes, words, states."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.merging.files import MergedFile, merge_file
from clawmem.model.records.task import STATES, Task, new_page, parse_task, with_keys
from clawmem.vault.strict_yaml import parse_yaml
from tests.conftest import examples

PATH = "tasks/fix-login.md"
ITEMS = tuple((f"Point number {number} holds.", False) for number in range(4))
BASE = new_page("Fix the login", {"workflow": "software", "priority": 3}, "It fails.", ITEMS)


def merged(base: str | None, ours: str, theirs: str) -> MergedFile:
    before = None if base is None else base.encode()
    result = merge_file(PATH, before, ours.encode(), theirs.encode())
    assert merge_file(PATH, before, theirs.encode(), ours.encode()) == result
    return result


def read(merged: MergedFile) -> Task:
    return parse_task(merged.content or b"", PATH, parse_yaml)


def checked(page: str, *numbers: int) -> str:
    for number in numbers:
        page = page.replace(f"- [ ] Point number {number}", f"- [x] Point number {number}")
    return page


KEYS = ("workflow", "state", "holder", "priority", "estimate", "team")
VALUES = {
    "workflow": st.sampled_from(["research", "software"]),
    "state": st.sampled_from(STATES),
    "holder": st.sampled_from(["ann", "bob", None]),
    "priority": st.integers(1, 5),
    "estimate": st.sampled_from(["a day", None]),
    "team": st.just("web"),
}


@examples(25, 100)
@given(st.data(), st.permutations(KEYS), st.integers(0, 6), st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_different_keys_and_all_boxes_of_both_sides_are_taken(
    data: st.DataObject, keys: list[str], cut: int, group: set[int], other: set[int]
) -> None:
    mine = {key: data.draw(VALUES[key]) for key in keys[:cut]}
    yours = {key: data.draw(VALUES[key]) for key in keys[cut:]}
    result = merged(BASE, checked(with_keys(BASE, mine), *group), checked(with_keys(BASE, yours), *other))
    task, wanted = read(result), parse_task(with_keys(BASE, {**mine, **yours}).encode(), PATH, parse_yaml)
    assert task._replace(acceptance=(), page="", body="") == wanted._replace(acceptance=(), page="", body="")
    assert [item.checked for item in task.acceptance] == [number in group | other for number in range(4)]
    assert result.conflicts == ()


@examples(25, 100)
@given(st.data())
def test_whatever_both_changed_can_be_read_and_one_of_the_values_stands(data: st.DataObject) -> None:
    sides = [{key: data.draw(VALUES[key]) for key in data.draw(st.sets(st.sampled_from(KEYS)))} for _ in range(2)]
    pages = [checked(with_keys(BASE, side), data.draw(st.integers(0, 3))) for side in sides]
    task = read(merged(data.draw(st.sampled_from([BASE, None])), *pages))
    for key in KEYS[:4]:
        assert getattr(task, key) in {getattr(parse_task(page.encode(), PATH, parse_yaml), key) for page in pages}


def test_a_closed_task_stays_closed_with_its_verdict() -> None:
    outcome = with_keys(BASE, {"state": "done", "verdict": "pass", "decided_by": "Ann"})
    result = merged(BASE, outcome, with_keys(BASE, {"state": "review", "holder": "bob"}))
    task = read(result)
    assert (task.state, task.verdict, task.decided_by, task.holder) == ("done", "pass", "Ann", "bob")
    assert "# another machine had: state: review\n" in task.page
    assert [conflict.says for conflict in result.conflicts] == [f"{PATH} is done; another machine had review (bob)"]


def test_of_two_verdicts_the_later_one_stands_whole() -> None:
    keys = {"state": "done", "since": "2026-11-20T08:00:00Z", "verdict": "pass", "decided_by": "Ann", "reason": "Good."}
    first = with_keys(BASE, keys)
    keys = {"state": "rejected", "since": "2026-11-20T09:00:00Z", "verdict": "reject", "decided_by": "Bob"}
    second = with_keys(BASE, {**keys, "reason": "Bad."})
    task = read(merged(BASE, first, second))
    assert (task.state, task.verdict, task.decided_by, task.reason) == ("rejected", "reject", "Bob", "Bad.")
    assert '# another machine had: reason: "Good."' in task.page


def test_of_two_who_took_it_the_first_one_holds_it() -> None:
    sides = (
        with_keys(BASE, {"state": "working", "holder": name, "since": f"2026-11-20T0{hour}:00:00Z"})
        for name, hour in (("ann", 8), ("bob", 9))
    )
    assert read(merged(BASE, *sides)).holder == "ann"
