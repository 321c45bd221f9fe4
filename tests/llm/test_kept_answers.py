"""Kept answers: the same question to the same model is paid once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import BudgetSpent
from clawmem.llm.budget import Account, RunLimits
from clawmem.llm.choice import Model
from clawmem.llm.loop import ask
from clawmem.llm.presets import ModelCommand
from clawmem.vault.state.spending import ANSWERS, KeptAnswers
from clawmem.vault.vault import Vault
from tests.llm.test_program import QUESTION, SCHEMA

LIMITS = RunLimits(tokens=100, milliseconds=60_000)


class Counted:
    """A program that counts its calls in a file."""

    def __init__(self, folder: Path, answers: KeptAnswers, says: str = '{"colour": "green"}') -> None:
        self.log = folder / "calls"
        words = ("sh", "-c", 'cat > /dev/null; echo x >> "$0"; printf %s "$1"', str(self.log), says)
        self.model = Model("tested", timeout_seconds=30, command=ModelCommand(words, dict(os.environ)), answers=answers)

    @property
    def calls(self) -> int:
        return len(self.log.read_text().split()) if self.log.exists() else 0


@pytest.fixture
def counted(vault: Vault, tmp_path: Path) -> Counted:
    return Counted(tmp_path, KeptAnswers(vault, 10))


def run(model: Model, **limits: Any) -> tuple[Any, Account]:
    account = Account(LIMITS._replace(**limits), None)
    return ask(model, account, QUESTION, SCHEMA).value, account


def test_a_second_run_pays_nothing(counted: Counted) -> None:
    first, paid = run(counted.model)
    second, free = run(counted.model, daily_calls=0)
    assert first == second == {"colour": "green"}
    assert counted.calls == 1
    assert (paid.spent.calls, paid.spent.cached) == (1, 0)
    assert free.spent._replace(cached=0) == Account(LIMITS, None).spent
    assert free.spent.cached == 1


def test_another_model_effort_or_question_is_asked(counted: Counted) -> None:
    run(counted.model)
    for other in (counted.model._replace(name="x"), counted.model._replace(effort="high")):
        run(other)
    ask(counted.model, Account(LIMITS, None), QUESTION[:1], SCHEMA)
    ask(counted.model, Account(LIMITS, None), QUESTION, {**SCHEMA, "title": "other"})
    assert counted.calls == 5


def test_the_same_question_in_one_run_gets_a_new_answer(counted: Counted) -> None:
    run(counted.model)
    account = Account(LIMITS, None)
    for _ in range(3):
        ask(counted.model, account, QUESTION, SCHEMA)
    assert (account.spent.cached, account.spent.calls, counted.calls) == (1, 2, 3)


def test_a_wrong_answer_is_not_kept(vault: Vault, tmp_path: Path) -> None:
    wrong = Counted(tmp_path, KeptAnswers(vault, 10), "no")
    run(wrong.model, retries=0)
    run(wrong.model, retries=0)
    assert wrong.calls == 2


def test_a_run_that_may_find_no_more_facts_gets_no_kept_answer_either(counted: Counted) -> None:
    run(counted.model)
    with pytest.raises(BudgetSpent, match=r"llm\.max_facts"):
        run(counted.model, facts=0)


def test_the_oldest_are_deleted_and_a_damaged_one_is_asked_again(vault: Vault, counted: Counted) -> None:
    kept, folder = KeptAnswers(vault, 3), vault.state / ANSWERS
    for number in range(6):
        kept.put(f"{number}", json.dumps(number))
        os.utime(folder / f"{number}", (number, number))
    kept.put("6", "6")
    assert sorted(path.name for path in folder.iterdir()) == ["4", "5", "6"]
    assert (kept.get("6"), kept.get("0")) == ("6", None)
    run(counted.model)
    for path in folder.iterdir():
        path.write_bytes(b"\xff damaged")
    assert run(counted.model)[0] == {"colour": "green"}
    assert counted.calls == 2
