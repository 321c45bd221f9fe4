"""Which tasks a text that somebody pastes has."""

from __future__ import annotations

import pytest

from clawmem.errors import InvalidInput
from clawmem.model.records.checklist import NewTask, new_tasks, unread_lines
from clawmem.vault.strict_yaml import parse_yaml


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
