"""Recording failures: the actions, one commit, and a guardrail proposal after three of one mode and agent."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from clawmem.errors import NotFound, SecretFound, Unreadable
from clawmem.extensions.governance.verbs.failure import RecordedFailure, count_failures, list_failures, record_failure
from clawmem.model.facts.fact_words import agents_of
from clawmem.model.records.caller import Caller
from clawmem.model.records.failure import LOG_PATH, MODES_PATH
from clawmem.review.review import approve, list_proposals, reject
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import add_guardrail, list_guardrails
from tests.conftest import NOW


class Clock:
    """Callers whose time moves on by a minute each."""

    def __init__(self) -> None:
        self._entropy, self._minutes = random.Random(3).randbytes, 0

    def __call__(self, agent: str | None = None) -> Caller:
        self._minutes += 1
        return Caller(NOW + timedelta(minutes=self._minutes), self._entropy, agent)


@pytest.fixture
def at() -> Clock:
    return Clock()


def record(vault: Vault, at: Clock, times: int, agent: str | None = "coder", mode: str = "loop") -> RecordedFailure:
    for _ in range(times):
        failure = record_failure(vault, mode, at(agent), "The same test failed.")
    return failure


def test_the_actions_come_in_order_and_the_third_failure_files_a_proposal(vault: Vault, at: Clock) -> None:
    second = record(vault, at, 2)
    assert second.proposal is None
    assert second.mode.actions[0].startswith("Stop.")
    third = record(vault, at, 1)
    assert third.proposal is not None and third.record.proposal == third.proposal.id
    changed = vault.git.run("show", "--name-only", "--format=%an%n%s", third.commit).decode().split()
    assert {LOG_PATH, f"review/{third.proposal.id}.json"} <= set(changed)
    assert changed[0] == "coder"
    fact = third.proposal.fact
    assert fact is not None and fact.details is not None
    assert agents_of(fact) == ("coder",)
    assert fact.details["failure_mode"] == "loop"
    assert len(fact.details["evidence"]) == 3
    assert fact.details["why"] == (
        "The agent coder recorded the failure mode loop 3 times: The same test failed."
    )  # fmt: skip


def test_no_second_proposal_while_one_waits_or_holds_until_the_failure_came_back(vault: Vault, at: Clock) -> None:
    first = record(vault, at, 3).proposal
    assert first is not None
    assert record(vault, at, 3).proposal is None  # it waits
    approve(vault, first.id, at())
    assert record(vault, at, 2).proposal is None
    stronger = record(vault, at, 1).proposal
    assert stronger is not None and stronger.does == "supersede"
    assert "It came back 3 times until 2026-11-21: Stop." in stronger.says
    approve(vault, stronger.id, at())
    (use,) = list_guardrails(vault, at()).guardrails
    assert stronger.fact is not None and use.guardrail.fact.fact == stronger.fact.fact
    assert use.came_back == ()
    assert record(vault, at, 3).proposal is not None


def test_a_rejected_guardrail_is_not_proposed_again(vault: Vault, at: Clock) -> None:
    first = record(vault, at, 3).proposal
    assert first is not None
    reject(vault, first.id, at(), "It is too strict.")
    failure = record(vault, at, 3)
    assert failure.proposal is None
    assert "it was rejected in review" in failure.notices[0]
    assert list_proposals(vault).proposals == ()


def test_each_agent_and_each_mode_is_counted_alone(vault: Vault, at: Clock) -> None:
    record(vault, at, 2)
    record(vault, at, 2, "writer")
    record(vault, at, 2, mode="collision")
    assert list_proposals(vault).proposals == ()
    filed = record(vault, at, 3, None, "stale-memory").proposal
    assert filed is not None and filed.fact is not None
    assert agents_of(filed.fact) == ()  # a person's: it holds for everybody
    assert list_failures(vault, "loop", "writer", 1).total == 2
    assert [
        (count_failure.mode, count_failure.agent, count_failure.number) for count_failure in count_failures(vault)
    ] == [
        ("stale-memory", None, 3),
        ("collision", "coder", 2),
        ("loop", "coder", 2),
        ("loop", "writer", 2),
    ]


def test_a_guardrail_of_everybody_stays_beside_the_one_that_an_agent_needs(vault: Vault, at: Clock) -> None:
    added = add_guardrail(vault, at(), "Stop after two attempts.", "It costs.", "loop")
    assert added.guardrail is not None
    filed = record(vault, at, 3).proposal
    assert filed is not None and filed.does == "add"
    (counted,) = count_failures(vault)
    assert (counted.guardrails, counted.since) == ((added.guardrail.fact.id,), 3)


def test_an_existing_vault_without_the_file_has_the_built_in_modes(vault: Vault, at: Clock) -> None:
    (vault.root / MODES_PATH).unlink()
    assert len(record(vault, at, 1).mode.actions) > 1


def test_a_broken_file_of_modes_leaves_the_built_in_ones_with_a_notice(vault: Vault, at: Clock) -> None:
    (vault.root / MODES_PATH).write_text("loop: [\n")
    failure = record(vault, at, 1)
    assert f"{MODES_PATH}:2 cannot be read" in failure.notices[0]


def test_a_broken_log_is_refused_and_kept(vault: Vault, at: Clock) -> None:
    record(vault, at, 1)
    path = vault.root / LOG_PATH
    path.write_text(path.read_text() + "not json\n")
    with pytest.raises(Unreadable, match=rf"{LOG_PATH}:2 "):
        record(vault, at, 1)
    assert path.read_text().endswith("not json\n")


def test_a_log_without_a_last_line_break_is_continued(vault: Vault, at: Clock) -> None:
    record(vault, at, 1)
    path = vault.root / LOG_PATH
    path.write_text(path.read_text().rstrip("\n"))
    record(vault, at, 1)
    assert list_failures(vault, None, None, 9).total == 2


def test_an_unknown_mode_and_a_credential_are_refused(vault: Vault, at: Clock) -> None:
    with pytest.raises(NotFound) as problem:
        record(vault, at, 1, mode="sleep")
    assert "context-exhaustion, loop" in problem.value.hint
    with pytest.raises(SecretFound):
        record_failure(vault, "loop", at(), "The key is AKIAIOSFODNN7EXAMPL2 for AWS.")
    assert not (vault.root / LOG_PATH).exists()


def test_failures_of_one_second_are_listed_last_first(vault: Vault, caller: Caller) -> None:
    made = [record_failure(vault, "loop", caller, f"time {at}").record.id for at in range(5)]
    assert [failure.id for failure in list_failures(vault, None, None, 9).failures] == made[::-1]
