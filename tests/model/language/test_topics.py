"""Technical tasks, and statements about family and health."""

from __future__ import annotations

import pytest

from clawmem.model.language.topics import is_private, is_technical


@pytest.mark.parametrize(
    "task",
    [
        "fix the failing test of the parser",
        "why does load_items() raise?",
        "look at src/app.ts",
        "the pipeline fails, debug it",
        "rename getName in the API",
        "write a migration for the database",
    ],
)
def test_a_task_about_software_is_technical(task: str) -> None:
    assert is_technical(task)


@pytest.mark.parametrize(
    "task", ["plan the dinner", "When did Melanie paint a sunrise?", "book a table for Leo's birthday", "go on", ""]
)
def test_other_tasks_are_not(task: str) -> None:
    assert not is_technical(task)


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("My wife Anna likes tea", True),
        ("Leo is allergic to peanuts", True),
        ("Grandma lives in Graz", True),
        ("Run the linter before each commit", False),
        ("The parent class is in base.py", False),
        ("The son-in-law visits", True),
    ],
)
def test_family_and_health_are_private(text: str, private: bool) -> None:
    assert is_private(text) is private
