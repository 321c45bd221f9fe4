"""Which moves a task allows, to whom, and what they leave in its front matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import ClawmemError, InvalidInput, NotPermitted, Refused
from clawmem.model.records.task import CLOSED, STATES, Task, new_page, parse_task, with_keys
from clawmem.model.records.task_moves import (
    CLOSE,
    MOVES,
    REJECT,
    RELEASE,
    REOPEN,
    SUBMIT,
    TAKE,
    Mover,
    NewTask,
    new_tasks,
    task_keys,
    unread_lines,
)
from clawmem.vault.strict_yaml import parse_yaml

AT = "2026-11-21T09:30:00Z"
ANN = Mover("Ann", True, AT, "Ann <ann@example.org>")
BOB, EVE = Mover("bob", False, AT), Mover("eve", False, AT)


def moved(task: Task, move: str, who: Mover, reason: str | None = None, gone: bool = False) -> Task:
    page = with_keys(task.page, task_keys(task, move, who, reason, gone))
    return parse_task(page.encode(), task.path, parse_yaml)


def task(**keys: str) -> Task:
    return parse_task(new_page("Paint", keys).encode(), "tasks/paint.md", parse_yaml)


def test_the_usual_way() -> None:
    taken = moved(task(), TAKE, BOB)
    assert (taken.state, taken.holder, taken.since) == ("working", "bob", AT)
    handed = moved(taken, SUBMIT, BOB)
    assert (handed.state, handed.holder) == ("review", "bob")
    result = moved(handed, CLOSE, ANN, "It is blue.")
    assert (result.state, result.verdict, result.decided, result.decided_by, result.reason) == (
        "done", "pass", AT, "Ann <ann@example.org>", "It is blue.",
    )  # fmt: skip
    again = moved(result, REOPEN, ANN)
    assert (again.state, again.holder, again.verdict, again.decided_by, again.reason) == ("open", None) + (None,) * 3


def test_a_task_that_another_holds_is_not_taken_unless_it_is_gone_or_a_person_decides() -> None:
    value = task(state="working", holder="eve", since=AT)
    with pytest.raises(Refused, match="held by eve"):
        moved(value, TAKE, BOB)
    assert moved(value, TAKE, BOB, gone=True).holder == "bob"
    assert moved(value, TAKE, ANN).holder == "Ann"
    with pytest.raises(Refused, match="in review"):
        moved(task(state="review", holder="eve"), TAKE, BOB, gone=True)
    assert moved(task(state="review", holder="bob"), TAKE, BOB).state == "working"


@pytest.mark.parametrize("move", [CLOSE, REJECT])
def test_only_a_person_decides(move: str) -> None:
    with pytest.raises(NotPermitted, match="may not close paint"):
        task_keys(task(state="review", holder="bob"), move, BOB)
    with pytest.raises(NotPermitted):
        task_keys(task(state="done"), REOPEN, BOB)


def test_a_person_may_decide_otherwise_later() -> None:
    rejected = moved(moved(task(), CLOSE, ANN), REJECT, ANN, "It is red.")
    assert (rejected.state, rejected.verdict, rejected.reason) == ("rejected", "reject", "It is red.")


@given(
    st.sampled_from(STATES), st.sampled_from([None, "bob", "eve"]), st.sampled_from(MOVES), st.sampled_from([ANN, BOB])
)
def test_every_move_leads_to_a_readable_task_or_is_refused(
    state: str, holder: str | None, move: str, who: Mover
) -> None:
    before = task(state=state, **({"holder": holder} if holder else {}))
    try:
        after = moved(before, move, who)
    except ClawmemError:
        return
    assert after.state in STATES
    assert after.state not in CLOSED or who.decides
    assert (after.verdict is not None) == (move in (CLOSE, REJECT))
    assert task_keys(after, move, who) == {} or move == TAKE
    assert move != RELEASE or (after.state, after.holder) == ("open", None)


def tasks(text: str, title: str | None = None) -> tuple[NewTask, ...]:
    return new_tasks(text, title, parse_yaml)


def test_a_line_is_a_title() -> None:
    assert tasks("Fix the login\n") == (NewTask("Fix the login"),)
    assert tasks("- [ ] Fix the login") == (NewTask("Fix the login"),)


def test_each_outer_box_is_a_task_and_what_is_below_belongs_to_it() -> None:
    text = "# To do\n\n- [ ] Buy paint\n  - [ ] It is blue.\n  - [x] It is dry.\n  from the shop\n\n* [X] Buy a brush\n"
    assert tasks(text) == (
        NewTask("Buy paint", "from the shop", (("It is blue.", False), ("It is dry.", True))),
        NewTask("Buy a brush", checked=True),
    )


def test_with_a_title_the_boxes_are_criteria() -> None:
    assert tasks("It fails.\n\n- [ ] One\n- [ ] Two\n", "Fix it") == (
        NewTask("Fix it", "It fails.", (("One", False), ("Two", False))),
    )


def test_a_page_is_one_task_as_it_is() -> None:
    page = "# Fix it\n\n## Acceptance\n\n- [ ] One\n- [ ] Two"
    assert tasks(page) == (NewTask("Fix it", page=page),)
    (named,) = tasks("---\npriority: 1\n---\n\nIt fails.", "Fix it")
    assert named.page == '---\npriority: 1\ntitle: "Fix it"\n---\n\nIt fails.'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("One line.\nAnd another one.", "no checkbox"),
        ("---\nstate: begun\n---\n", "the text:2 cannot be read: the key 'state'"),
        ("## Acceptance\n\n- [y] One\n- [ ] Two\n", "the text:3 cannot be read: the box"),
    ],
)
def test_what_is_not_clear_is_said_with_its_line(text: str, words: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        tasks(text)
    assert words in problem.value.message


def test_what_is_in_no_task_is_counted() -> None:
    text = "# To do\n- [ ] Buy paint\n  - [ ] It is blue.\n  - any shop\n- a plain bullet\n- [ ]\n- [ ] \n"
    assert unread_lines(text, tasks(text)) == 3
    assert unread_lines("- [ ] A\n- [x] B\n", tasks("- [ ] A\n- [x] B\n")) == 0
    assert unread_lines("- Fix it", tasks("- Fix it")) == 0
