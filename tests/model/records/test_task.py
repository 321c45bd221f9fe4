"""Tasks: what is read of a page that people edit, and what a change of a key leaves alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import Unreadable
from clawmem.model.records.task import (
    STATES,
    AcceptanceItem,
    Task,
    is_open_for,
    new_page,
    parse_task,
    task_line,
    task_warnings,
    with_keys,
)
from clawmem.vault.strict_yaml import parse_yaml

PAGE = """---
# Who does what.
title: "Fix the login"
workflow: software
state: working
holder: coder
priority: 2
estimate: 3 days
---

# Fix the login

It fails for long names.

## Acceptance

- [ ] The tests pass
  in both shells.
- [x] The log names the user.
    - [X] Even a long one.
- A plain bullet.

```
- [ ] this is code
```

### Notes

- [ ] Below Acceptance all the same.

## Later

- [ ] No criterion.
"""


def read(page: str) -> Task:
    return parse_task(page.encode(), "tasks/fix-login.md", parse_yaml)


def test_a_task_is_its_front_matter_and_its_acceptance() -> None:
    task = read(PAGE)
    assert (task.slug, task.title, task.state, task.holder, task.priority) == (
        "fix-login", "Fix the login", "working", "coder", 2,
    )  # fmt: skip
    assert task.extra == {"estimate": "3 days"}
    assert task.acceptance == (
        AcceptanceItem("The tests pass in both shells.", False, 17),
        AcceptanceItem("The log names the user.", True, 19),
        AcceptanceItem("Even a long one.", True, 20),
        AcceptanceItem("A plain bullet.", False, 21),
        AcceptanceItem("Below Acceptance all the same.", False, 29),
    )


def test_a_page_without_front_matter_is_an_open_task() -> None:
    task = read("# Paint the boat\n\n## Acceptance criteria\n\n* [ ] It is blue.\n")
    assert (task.title, task.state, task.priority) == ("Paint the boat", "open", 3)
    assert task.acceptance == (AcceptanceItem("It is blue.", False, 5),)
    assert read("").title == "fix login"


@pytest.mark.parametrize(
    "before, after, line, says",
    [
        ("state: working", "state: started", 5, "'state' is 'started'"),
        ("priority: 2", "priority: high", 7, "'priority' is 'high'"),
        ("holder: coder", "holder: [coder]", 6, "'holder' is not text"),
        ("state: working", "state: working\n verdict: [", 6, "not valid YAML"),
        ("priority: 2", "priority: 2\nstate: done", 8, "the key 'state' occurs twice"),
        ("priority: 2", "? priority\n: 2", 2, "the key 'priority' does not begin a line"),
        ("- [x] The log", "- [v] The log", 19, "the box '[v]'"),
        ("- [x] The log", "- [] The log", 19, "the box '[]'"),
    ],
)
def test_a_wrong_value_is_named_with_line_and_key(before: str, after: str, line: int, says: str) -> None:
    with pytest.raises(Unreadable) as problem:
        read(PAGE.replace(before, after))
    assert problem.value.line == line
    assert says in problem.value.message


def test_lists_and_quoted_keys_stay_where_they_are() -> None:
    page = "---\n'title': One\npeople:\n- name: Ann\n- name: Bob\nstate: open\n---\n"
    assert read(page).extra == {"people": [{"name": "Ann"}, {"name": "Bob"}]}
    assert with_keys(page, {"people": "Eve", "title": "Two"}) == (
        '---\ntitle: "Two"\npeople: "Eve"\nstate: open\n---\n'
    )


def test_a_link_is_no_box() -> None:
    assert read("## Acceptance\n\n- [the page](a.html) opens\n").acceptance[0].text == "[the page](a.html) opens"


def test_a_changed_key_leaves_every_other_line_alone() -> None:
    changed = with_keys(PAGE, {"state": "done", "holder": None, "verdict": "pass", "reason": 'It is "fine": yes'})
    expected = PAGE.replace("state: working\nholder: coder\n", "state: done\n").replace(
        "estimate: 3 days\n", 'estimate: 3 days\nverdict: pass\nreason: "It is \\"fine\\": yes"\n'
    )
    assert changed == expected
    assert read(changed).reason == 'It is "fine": yes'
    assert read(changed).ruling == "pass"


def test_what_does_not_fit_together_is_named() -> None:
    items = list(task_warnings(read(PAGE.replace("holder: coder\n", "verdict: reject\n"))))
    assert items == [
        (5, "The task is in work, and the key 'holder' names nobody."),
        (6, "The verdict is reject, and the state is working."),
    ]


WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=30).filter(str.strip)


@given(WORDS, st.sampled_from(STATES), st.integers(1, 5), st.booleans())
def test_what_is_written_is_read_again(title: str, state: str, priority: int, windows: bool) -> None:
    page = new_page(title, {"priority": priority}, "About it.", (("One thing.", False), ("Another thing.", True)))
    page = page.replace("\n", "\r\n") if windows else page
    task = read(with_keys(page, {"state": state, "holder": title}))
    assert (task.title, task.holder) == (" ".join(title.split()), " ".join(title.split()))
    assert (task.state, task.priority) == (state, priority)
    assert [(item.text, item.checked) for item in task.acceptance] == [("One thing.", False), ("Another thing.", True)]


def test_a_front_matter_that_does_not_end_is_named() -> None:
    with pytest.raises(Unreadable, match="does not end") as problem:
        read("---\ntitle: Release\nstate: done\n\n# Release\n")
    assert problem.value.line == 1


@pytest.mark.parametrize(
    ("task", "line", "open_for"),
    [
        (Task("sail", "Sail home"), "open task, priority 3: Sail home", ["nobody", "anybody"]),
        (Task("sail", "Sail: home", "working", "sea", "Ada Berg", 1),
         "working task, priority 1, of sea, held by Ada Berg: Sail: home", ["ada", "anybody"]),
        (Task("sail", "Sail home", "done", reason="In May."), "done task, priority 3: Sail home, In May.", []),
    ],
)  # fmt: skip
def test_a_task_in_one_line_says_who_may_work_on_it(task: Task, line: str, open_for: list[str]) -> None:
    assert task_line(task) == line
    found = {"nobody": is_open_for(line, {"ben"}, True), "ada": is_open_for(line, {"ada"}, False)}
    found["anybody"] = is_open_for(line, None, False)
    assert [name for name, is_open in found.items() if is_open] == open_for
