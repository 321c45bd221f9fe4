"""`clawmem heartbeat` with a model, as a person runs it: settings, key, limits, output and exit codes."""

from __future__ import annotations

import json

import pytest

from tests.command_server import CommandServer
from tests.conftest import Command
from tests.loopback import closed_address, fact, gives, serving
from tests.needs import needs_litellm

pytestmark = [needs_litellm, pytest.mark.usefixtures("without_vectors")]

KEY = "key-of-a-test"
TALK = json.dumps({"role": "user", "content": "I moved to Lisbon last month.", "timestamp": "2026-11-02T10:00:00Z"})
LIVES = fact("e1", "I moved to Lisbon", "The user lives in Lisbon.", predicate="lives_in", object="Lisbon")


@pytest.fixture
def command_server(litellm_server: CommandServer) -> CommandServer:
    """Several commands here call litellm."""
    return litellm_server


@pytest.fixture
def talked(clawmem: Command) -> Command:
    """The command in a vault whose one event waits, with a model named in the settings."""
    assert clawmem("ingest", "-", given=TALK).code == 0
    for key, value in (("llm.model", "openai/tested"), ("llm.api_key_env", "MY_KEY")):
        assert clawmem("config", "set", key, value).code == 0
    return clawmem


def test_the_happy_path(talked: Command) -> None:
    with serving(gives(LIVES, tokens=(900, 60))) as server:
        talked("config", "set", "llm.api_base", server.address)
        result = talked("heartbeat", "--json", env={"MY_KEY": KEY})
        assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert result.code == 0, result.err
    assert result.err == ""
    learned = result.data["learned"]
    assert (learned["extractor"], learned["events"], learned["added"]) == ("openai/tested", 1, 1)
    run = learned["model"]
    assert (run["calls"], run["prompt_tokens"], run["answer_tokens"], run["outcome"]) == (1, 900, 60, "done")
    (found,) = talked("recall", "Where does the user live?", "--json").data["facts"]
    assert (found["fact"], found["source_text"]) == ("The user lives in Lisbon.", "I moved to Lisbon")
    assert talked("doctor").code == 0


def test_nobody_there_is_exit_code_14_and_nothing_is_lost(talked: Command) -> None:
    talked("config", "set", "llm.api_base", closed_address())
    result = talked("heartbeat", env={"MY_KEY": KEY})
    assert result.code == 14
    assert "The model openai/tested at http://127.0.0.1:" in result.err
    assert "did not answer: Connection error." in result.err
    assert "Nothing was lost" in result.err
    assert talked("heartbeat").code == 14, "no key"
    assert talked("list", "--json").data["facts"] == []


def test_a_budget_of_this_run_is_exit_code_13(talked: Command) -> None:
    with serving(gives(LIVES)) as server:
        talked("config", "set", "llm.api_base", server.address)
        talked("config", "set", "llm.model", "openai/gpt-4o-mini")
        spent = talked("heartbeat", "--budget-cents", "0", "--json", env={"MY_KEY": KEY})
        assert (spent.code, server.asked) == (13, [])
        assert spent.data["failed"][0]["code"] == "budget"
        limited = {"MY_KEY": KEY, "CLAWMEM_PARA_PROMOTION_MAX_FACTS": "0"}
        assert talked("heartbeat", env=limited).code == 13
        assert server.asked == []
        assert talked("heartbeat", env={"MY_KEY": KEY, "CLAWMEM_PARA_PROMOTION_MAX_FACTS": "x"}).code == 2
        assert talked("heartbeat", "--budget-cents", "1", env={"MY_KEY": KEY}).code == 0
        assert len(server.asked) == 1
