"""The purse of an agent: a call that it cannot pay is not made, and what a call cost is taken from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.errors import NotPermitted
from clawmem.llm.budget import Account, Prices
from clawmem.llm.loop import ask
from clawmem.vault.state.spending import AgentPurse, spent_on
from clawmem.vault.vault import Vault
from tests.llm.test_program import GREEN, LIMITS, QUESTION, SCHEMA, program

DAY = "2026-11-21"
PRICES = Prices(0.01, 0.01)


def test_a_call_is_paid_at_what_it_cost(vault: Vault) -> None:
    model = program("says", GREEN)._replace(purse=AgentPurse(vault, "scout", DAY, 5.0))
    account = Account(LIMITS, PRICES)
    assert ask(model, account, QUESTION, SCHEMA).value == {"colour": "green"}
    assert 0 < account.spent.cents == pytest.approx(spent_on(vault, DAY, "scout"))


@pytest.mark.parametrize(("most", "prices"), [(0.0, None), (0.001, PRICES)])
def test_a_call_that_the_agent_cannot_pay_is_not_made(
    vault: Vault, tmp_path: Path, most: float, prices: Prices | None
) -> None:
    path = tmp_path / "told.json"
    model = program("records", str(path))._replace(purse=AgentPurse(vault, "scout", DAY, most))
    with pytest.raises(NotPermitted, match=r"agents\.scout\.cents"):
        ask(model, Account(LIMITS, prices), QUESTION, SCHEMA)
    assert not path.exists()
    assert spent_on(vault, DAY, "scout") == 0.0
