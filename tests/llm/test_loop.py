"""The validation loop through real litellm, against a real HTTP server on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import BudgetSpent, ModelFailed
from clawmem.llm.budget import Account, Prices, RunLimits
from clawmem.llm.choice import Model
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import CheckedAnswer, ask
from tests.loopback import Behaviour, Loopback, closed_address, raw, refuses, says, serving
from tests.needs import needs_litellm

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["colour"],
    "properties": {"colour": {"type": "string"}},
}
QUESTION = [{"role": "system", "content": "Say a colour."}, {"role": "user", "content": "Which?"}]
GREEN = '{"colour": "green"}'
LIMITS = RunLimits(tokens=100)
pytestmark = needs_litellm


def account(limits: RunLimits = LIMITS, prices: Prices | None = None) -> Account:
    return Account(limits, prices)


def model(server: Loopback | str, **more: Any) -> Model:
    address = server if isinstance(server, str) else server.address
    return Model(**{"name": "openai/tested", "api_base": address, "limits": LIMITS, "timeout_seconds": 60.0, **more})


def answered(*behaviours: Behaviour, **more: Any) -> tuple[CheckedAnswer, Account, Loopback]:
    value = account(more.get("limits", LIMITS), more.pop("prices", None))
    with serving(*behaviours) as server:
        return ask(model(server, **more), value, QUESTION, SCHEMA), value, server


def test_a_good_answer_is_taken_and_counted() -> None:
    answer, account, server = answered(says(GREEN, tokens=(30, 7)))
    assert answer == CheckedAnswer({"colour": "green"})
    assert (account.spent.calls, account.spent.retries) == (1, 0)
    assert (account.spent.prompt_tokens, account.spent.answer_tokens) == (30, 7)
    (asked,) = server.asked
    assert asked.messages == QUESTION
    assert (asked.body["model"], asked.body["max_tokens"], asked.body["temperature"]) == ("tested", 100, 0)
    assert "response_format" not in asked.body


def test_a_fence_is_forgiven() -> None:
    assert answered(says(f"```json\n{GREEN}\n```"))[0].value == {"colour": "green"}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ("Certainly! The colour is green.", "The answer is not one JSON document."),
        ('{"colour": "gre', "The answer is not one JSON document."),
        ("", "The answer is empty."),
        ('{"color": "green"}', "The answer has the wrong form at the whole answer: "),
        ('{"colour": 5}', "The answer has the wrong form at colour: 5 is not of type 'string'"),
        ("[1]", "The answer has the wrong form at the whole answer: [1] is not of type 'object'"),
        ("[" * 3000, "The answer is not one JSON document."),
    ],
)
def test_what_was_wrong_is_told_back(wrong: str, text: str) -> None:
    answer, account, server = answered(says(wrong), says(GREEN))
    assert answer.value == {"colour": "green"}
    assert (account.spent.calls, account.spent.retries) == (2, 1)
    again = server.asked[1].messages
    assert again[:2] == QUESTION
    assert [record["role"] for record in again[2:]] == ["assistant", "user"]
    assert text in again[3]["content"]


def test_a_cut_answer_is_told_to_be_shorter() -> None:
    _, _, server = answered(says('{"colour": "gr', cut=True), says(GREEN))
    assert "was cut off; give fewer facts" in server.asked[1].messages[3]["content"]


def test_after_the_last_retry_the_problem_is_the_answer() -> None:
    answer, account, server = answered(says("no"))
    assert answer == CheckedAnswer(None, "The answer is not one JSON document.")
    assert (account.spent.calls, account.spent.retries, len(server.asked)) == (3, 2, 3)
    assert len(server.asked[2].messages) == 4


def test_no_retries_where_none_are_allowed() -> None:
    limits = LIMITS._replace(retries=0)
    assert len(answered(says("no"), limits=limits)[2].asked) == 1


def test_over_budget_nothing_is_asked() -> None:
    with serving(says(GREEN)) as server:
        value = account(LIMITS._replace(cents=1), Prices(1.0, 1.0))
        with pytest.raises(BudgetSpent, match=r"the limit for one run is [\d.]+ cents \(llm.budget_cents\)"):
            ask(model(server), value, QUESTION, SCHEMA)
        assert server.asked == []
        assert value.spent.calls == 0


def test_the_budget_is_asked_before_each_retry() -> None:
    with serving(says("no", tokens=(10, 100))) as server:
        value = account(LIMITS._replace(cents=1.0), Prices(0.0, 0.004))
        with pytest.raises(BudgetSpent, match=r"0\.8 cents were spent in this run"):
            ask(
                model(server, limits=LIMITS._replace(retries=9)),
                Account(value.limits._replace(retries=9), value.prices),
                QUESTION,
                SCHEMA,
            )
        assert len(server.asked) == 2


def test_litellms_own_prices() -> None:
    known = prices_of(Model("openai/gpt-4o-mini"))
    assert known is not None
    assert tuple(known) == pytest.approx((0.000015, 0.00006))
    assert prices_of(Model("openai/tested")) is None


def test_a_model_that_takes_a_schema_gets_it() -> None:
    _, _, server = answered(says(GREEN), name="openai/gpt-4o-mini")
    form = server.asked[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == SCHEMA
    assert form["json_schema"]["strict"] is True


@pytest.mark.parametrize(("output", "kind"), [("schema", "json_schema"), ("json", "json_object"), ("plain", None)])
def test_how_json_is_asked_for_can_be_set(output: str, kind: str | None) -> None:
    _, _, server = answered(says(GREEN), output=output)
    assert server.asked[0].body.get("response_format", {}).get("type") == kind


def test_nobody_listens() -> None:
    value = account()
    with pytest.raises(ModelFailed, match=r"The model openai/tested at http://127.0.0.1:\d+/v1 did not answer: "):
        ask(model(closed_address()), value, QUESTION, SCHEMA)
    assert (value.spent.calls, value.spent.cents, value.spent.prompt_tokens) == (1, 0.0, 0)


@pytest.mark.parametrize(
    ("status", "words", "hint"),
    [
        (401, "refused to answer", "Check the key"),
        (403, "refused to answer", "may not use"),
        (404, "refused to answer", "Check `llm.model`"),
        (429, "refused to answer", "limits the rate"),
        (500, "did not answer", "Nothing was lost"),
        (503, "did not answer", "Nothing was lost"),
    ],
)
def test_refusals_stop_at_once(status: int, words: str, hint: str) -> None:
    with serving(refuses(status, "the server says no")) as server:
        with pytest.raises(ModelFailed, match=words) as failed:
            ask(model(server), account(), QUESTION, SCHEMA)
        assert "the server says no" in failed.value.message
        assert hint in failed.value.hint
        assert len(server.asked) == 1


def test_a_key_is_sent_and_never_repeated() -> None:
    key = "sk-" + "a1B2" * 10
    with serving(refuses(401, f"Incorrect API key provided: {key}.")) as server:
        with pytest.raises(ModelFailed) as failed:
            ask(model(server, api_key=key), account(), QUESTION, SCHEMA)
        assert server.asked[0].headers["Authorization"] == f"Bearer {key}"
    assert key not in failed.value.message


def test_a_server_of_ones_own_gets_no_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-this-server")
    server = answered(says(GREEN))[2]
    assert server.asked[0].headers["Authorization"] == "Bearer none"


def test_a_request_that_is_not_taken_is_no_outage() -> None:
    answer, account, server = answered(refuses(400, "flagged", "content_policy_violation"))
    assert answer.value is None
    assert answer.problem.startswith("The model rejected the request: ")
    assert (len(server.asked), account.spent.calls) == (1, 1)


def test_rubbish_on_the_wire() -> None:
    with serving(raw(200, b"<html>It works!</html>")) as server:
        value = account()
        try:
            answer = ask(model(server), value, QUESTION, SCHEMA)
            assert answer.value is None
        except ModelFailed as failed:
            assert "did not answer" in failed.message
        assert value.spent.calls >= 1


@pytest.mark.parametrize("behaviour", [says(GREEN, wait=60), says(GREEN, drip=0.2)], ids=["slow", "dripping"])
def test_a_slow_model_is_not_waited_for(behaviour: Behaviour) -> None:
    value = account(prices=Prices(0.0001, 0.001))
    late = pytest.raises(ModelFailed, match=r"did not answer within 0\.3 seconds \(llm\.timeout_seconds\)")
    with serving(behaviour) as server, late:
        ask(model(server, timeout_seconds=0.3), value, QUESTION, SCHEMA)
    assert value.spent.answer_tokens == 100, "what it can have cost is entered"
    assert value.spent.cents > 0.1


def test_the_runs_own_time_is_a_budget() -> None:
    value = account(LIMITS._replace(milliseconds=300))
    with serving(says(GREEN, wait=60)) as server, pytest.raises(BudgetSpent, match=r"llm\.max_ms"):
        ask(model(server), value, QUESTION, SCHEMA)
    with serving(says(GREEN)) as server, pytest.raises(BudgetSpent, match=r"used the 0\.3 seconds"):
        ask(model(server), value, QUESTION, SCHEMA)


def test_what_can_never_work_is_said_before_any_call() -> None:
    with pytest.raises(ModelFailed, match="No provider is known for the model 'nonsense'"):
        check_model(Model("nonsense"))
    with pytest.raises(ModelFailed, match="The environment variable MY_KEY, which should hold the model's key"):
        check_model(Model("openai/tested", key_name="MY_KEY"))
    check_model(Model("openai/tested", api_base="http://127.0.0.1:1/v1"))


def test_nothing_is_printed_and_no_env_file_is_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-the-folder\n")
    code = (
        "import os, sys\n"
        "from clawmem.errors import ModelFailed\n"
        "from clawmem.llm.choice import Model\n"
        "from clawmem.llm.client import call, check_model\n"
        "try:\n    check_model(Model('nonsense'))\nexcept ModelFailed:\n    pass\n"
        "known = set(sys.modules)\n"
        "try:\n    call(Model('openai/x', 'http://127.0.0.1:9/v1'), [{'role': 'user', 'content': 'x'}], {}, 60)\n"
        "except ModelFailed:\n    pass\n"
        "late = [name for name in set(sys.modules) - known if name.startswith(('openai', 'http'))]\n"
        "assert late == [], 'what a call imports counts for time that the model took'\n"
        "assert 'OPENAI_API_KEY' not in os.environ\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


def test_the_answer_is_plain_data() -> None:
    answer = answered(says(json.dumps({"colour": "<script>"})))[0]
    assert answer.value == {"colour": "<script>"}


def test_a_reasoning_effort_reaches_a_server_of_ones_own() -> None:
    assert answered(says(GREEN), effort="low")[2].asked[0].body["reasoning_effort"] == "low"
    assert "reasoning_effort" not in answered(says(GREEN))[2].asked[0].body
