"""What was paid is counted by the day, also where several pay at once, and never guessed."""

from __future__ import annotations

import threading
from math import fsum, isclose

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.errors import StorageFailed
from clawmem.vault.state.spending import FOLDER, delete_spending_before, record_spending, spent_on
from clawmem.vault.vault import Vault

TODAY, BEFORE = "2026-11-21", "2026-11-20"


def test_nothing_was_spent_before_anything_is(vault: Vault) -> None:
    assert spent_on(vault, TODAY) == 0.0
    record_spending(vault, TODAY, 0.0)
    delete_spending_before(vault, TODAY)
    assert not (vault.state / FOLDER).exists()


def test_each_day_is_counted_by_itself_and_old_ones_are_dropped(vault: Vault) -> None:
    record_spending(vault, BEFORE, 3.0)
    record_spending(vault, TODAY, 0.5)
    record_spending(vault, TODAY, 1.25)
    record_spending(vault, TODAY, -0.5)
    assert (spent_on(vault, BEFORE), spent_on(vault, TODAY)) == (3.0, 1.25)
    delete_spending_before(vault, TODAY)
    assert (spent_on(vault, BEFORE), spent_on(vault, TODAY)) == (0.0, 1.25)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(st.lists(st.floats(0, 1e4), max_size=20))
def test_the_sum_is_exact(vault: Vault, amounts: list[float]) -> None:
    (vault.state / FOLDER / TODAY).unlink(missing_ok=True)
    for amount in amounts:
        record_spending(vault, TODAY, amount)
    assert spent_on(vault, TODAY) == fsum(amounts)


def test_nobody_pays_uncounted_where_several_pay(vault: Vault) -> None:
    def pay() -> None:
        for _ in range(200):
            record_spending(vault, TODAY, 0.1)

    threads = [threading.Thread(target=pay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert isclose(spent_on(vault, TODAY), 80.0)


@pytest.mark.parametrize("damage", ["9", "x", "\n", "\0"])
def test_a_damaged_line_is_not_read_as_something_else(vault: Vault, damage: str) -> None:
    record_spending(vault, TODAY, 1.5)
    path = vault.state / FOLDER / TODAY
    path.write_text(damage + path.read_text())
    with pytest.raises(StorageFailed, match="The amount spent on 2026-11-21 cannot be read"):
        spent_on(vault, TODAY)


@pytest.mark.parametrize("left", [1, 5, 12])
def test_half_a_note_was_never_paid_for(vault: Vault, left: int) -> None:
    """A process that is killed while it notes what a call costs has not made the call."""
    record_spending(vault, TODAY, 1.5)
    path = vault.state / FOLDER / TODAY
    note = path.read_bytes()
    path.write_bytes(note + note[:left])
    assert spent_on(vault, TODAY) == 1.5
    record_spending(vault, TODAY, 1.0)
    assert spent_on(vault, TODAY) == 2.5


def test_a_note_that_lost_the_end_of_its_line_is_no_half_note(vault: Vault) -> None:
    record_spending(vault, TODAY, 1.5)
    path = vault.state / FOLDER / TODAY
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StorageFailed, match="cannot be read"):
        spent_on(vault, TODAY)


def test_where_nothing_can_be_noted_nothing_is_paid(vault: Vault) -> None:
    (vault.state).mkdir(exist_ok=True)
    (vault.state / FOLDER).write_text("in the way")
    with pytest.raises(StorageFailed, match="cannot be recorded"):
        record_spending(vault, TODAY, 1.0)
