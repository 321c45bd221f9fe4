"""Models that are programs: real processes, in the loop that asks every model."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import InvalidInput, ModelFailed
from clawmem.llm.budget import Account, RunLimits
from clawmem.llm.choice import Model, choose_model
from clawmem.llm.client import check_model, prices_of, render_prompt, run_command
from clawmem.llm.loop import CheckedAnswer, ask
from clawmem.llm.presets import PRESETS, PROMPT_PLACE, ModelCommand, scrubbed_environment
from clawmem.model.settings.settings import BY_KEY, DEFAULTS, parse_value
from tests.llm import scripted_model
from tests.waiting import is_alive, wait_until

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["colour"],
    "properties": {"colour": {"type": "string"}},
}
QUESTION = [{"role": "system", "content": "Say a colour."}, {"role": "user", "content": "Welche Farbe? ü <&>"}]
GREEN = '{"colour": "green"}'
LIMITS = RunLimits(tokens=100, milliseconds=60_000)


def script(*words: str) -> str:
    return shlex.join([sys.executable, str(scripted_model.__file__), *words])


def program(*words: str, environment: Mapping[str, str] = os.environ, **settings: Any) -> Model:
    record = {"llm.model": "command", "llm.command": script(*words), **{f"llm.{k}": v for k, v in settings.items()}}
    model = choose_model(DEFAULTS._replace(values={**DEFAULTS.values, **record}), environment)
    assert model is not None
    return model._replace(limits=LIMITS, timeout_seconds=settings.get("timeout_seconds", 30.0))


def answered(*words: str, **settings: Any) -> tuple[CheckedAnswer, Account]:
    account = Account(LIMITS, None)
    return ask(program(*words, **settings), account, QUESTION, SCHEMA), account


def test_an_answer_is_taken_and_its_tokens_are_estimated() -> None:
    answer, account = answered("says", f"Sure: {GREEN}")
    assert answer.value == {"colour": "green"}
    assert account.spent.calls == 1
    assert account.spent.prompt_tokens > 10
    assert account.spent.answer_tokens > 3
    assert prices_of(program("says")) is None


@pytest.mark.parametrize("first", ["type", "usage"])
@pytest.mark.parametrize("cached", [0, 900])
def test_the_use_that_a_program_reports_is_counted(cached: int, first: str) -> None:
    usage = {
        "input_tokens": 5,
        "cache_creation_input_tokens": 700,
        "cache_read_input_tokens": cached,
        "output_tokens": 90,
    }
    report = {"type": "result", "is_error": False, "result": '{"colour": "green"}', "usage": usage}
    report = {first: report[first], **report}  # Claude Code 2.1.330 does not begin with the type
    answer, account = answered("says", json.dumps(report, separators=(",", ":")))
    assert answer.value == {"colour": "green"}
    assert (account.spent.prompt_tokens, account.spent.answer_tokens) == (705, 90)


def test_a_report_of_a_failure_is_no_answer() -> None:
    report = {"type": "result", "is_error": True, "result": "Credit balance is too low"}
    with pytest.raises(ModelFailed) as failed:
        answered("says", "\n" + json.dumps(report, separators=(",", ":")))
    assert "Credit balance is too low" in failed.value.message


def test_a_report_without_its_use_is_still_a_report() -> None:
    report = {"type": "result", "is_error": False, "result": GREEN}
    answer, account = answered("says", "\n" + json.dumps(report, separators=(",", ":")))
    assert answer.value == {"colour": "green"} and account.spent.answer_tokens > 0


def test_the_prompt_comes_on_stdin_in_an_empty_folder_with_few_variables(tmp_path: Path) -> None:
    path = tmp_path / "told.json"
    secrets = {"OPENAI_API_KEY": "k", "CLAWMEM_VAULT": "/x", "AWS_SECRET_ACCESS_KEY": "s", "MY_KEY": "mine"}
    model = program("records", str(path), environment={**os.environ, **secrets}, api_key_env="MY_KEY")
    assert ask(model, Account(LIMITS, None), QUESTION, SCHEMA).value == {"colour": "green"}
    seen = json.loads(path.read_text())
    assert seen["prompt"] == render_prompt(QUESTION, SCHEMA)
    assert "Welche Farbe? ü <&>" in seen["prompt"]
    assert json.dumps(SCHEMA) in seen["prompt"]
    assert seen["folder"] == []
    assert seen["environment"]["MY_KEY"] == "mine"
    assert not {"OPENAI_API_KEY", "CLAWMEM_VAULT", "AWS_SECRET_ACCESS_KEY"} & seen["environment"].keys()
    assert {"PATH", "HOME"} <= seen["environment"].keys()


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    path = tmp_path / "told.json"
    ask(program("records", str(path), "$HOME; touch x", "*"), Account(LIMITS, None), QUESTION, SCHEMA)
    assert json.loads(path.read_text())["words"][1:] == ["$HOME; touch x", "*"]


def test_a_program_that_reads_nothing_may_answer() -> None:
    command = ModelCommand((sys.executable, str(scripted_model.__file__), "deaf", GREEN), dict(os.environ))
    result = run_command(command, "x" * 2_000_000, 30)
    assert (result.output.decode(), result.code) == (GREEN, 0)


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    place, account = tmp_path / "pid", Account(LIMITS, None)
    with pytest.raises(ModelFailed, match=r"did not answer within 1 seconds \(llm\.timeout_seconds\)"):
        ask(program("hangs", str(place), timeout_seconds=1.0), account, QUESTION, SCHEMA)
    assert account.spent.calls == 1
    child = int(place.read_text())
    assert wait_until(lambda: not is_alive(child))


def test_a_process_that_is_left_behind_is_not_waited_for() -> None:
    answer, _ = answered("leaves", GREEN)
    assert answer.value == {"colour": "green"}


def test_endless_output_is_cut_off() -> None:
    with pytest.raises(ModelFailed, match=r"did not answer: its program wrote more than 1,000,000 bytes"):
        answered("babbles")


def test_the_reason_of_a_failure_is_its_last_line_without_secrets() -> None:
    key = "sk-" + "a1B2" * 10
    with pytest.raises(ModelFailed) as failed:
        answered("fails", f"Not logged in with {key}", environment={**os.environ, "MY_KEY": key}, api_key_env="MY_KEY")
    assert "its program ended with exit code 3: Not logged in with [key]" in failed.value.message
    assert "working" not in failed.value.message
    assert "clawmem llm test" in failed.value.hint


def test_what_can_never_work_is_said_before_any_call(tmp_path: Path) -> None:
    def named(command: str) -> Model | None:
        values = {**DEFAULTS.values, "llm.model": "command", "llm.command": command}
        return choose_model(DEFAULTS._replace(values=values), {"PATH": str(tmp_path)})

    missing = named("no-such-program -p")
    assert missing is not None
    with pytest.raises(ModelFailed, match="The program no-such-program, which calls the model, was not found"):
        check_model(missing)
    with pytest.raises(InvalidInput, match="no program is set"):
        named("")
    with pytest.raises(ModelFailed, match="The environment variable MY_KEY"):
        check_model(program("says", environment={"PATH": os.environ["PATH"]}, api_key_env="MY_KEY"))


def chosen(preset: str, name: str = "command", **settings: str) -> Model:
    values = {**DEFAULTS.values, "llm.model": name, "llm.preset": preset}
    model = choose_model(DEFAULTS._replace(values={**values, **{f"llm.{k}": v for k, v in settings.items()}}), {})
    assert model is not None
    return model


def test_the_presets_are_the_choices_of_the_setting() -> None:
    assert BY_KEY["llm.preset"].choices == ("none", *PRESETS)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_preset_takes_a_model_and_an_effort(preset: str) -> None:
    plain, full = (
        chosen(preset, "command/small", effort=effort).command for effort in ("default", "low")
    )  # fmt: skip
    assert plain and full
    assert "small" in plain.words
    assert not any("{" in word for word in (*plain.words, *full.words) if word != PROMPT_PLACE)
    assert any("low" in word for word in full.words) == bool(PRESETS[preset].effort)
    assert chosen(preset, "command/small").name == f"{preset}/small"


def test_a_preset_without_a_default_model_needs_a_name() -> None:
    assert chosen("claude").name == "claude"
    with pytest.raises(InvalidInput, match="ollama needs the name of a model"):
        chosen("ollama")


def test_a_command_of_ones_own_has_places_for_model_and_effort() -> None:
    model = chosen("none", "command/small", command="mine -m {model} --think={effort}", effort="high")
    assert model.command is not None
    assert (model.name, model.command.words) == ("mine/small", ("mine", "-m", "small", "--think=high"))
    with pytest.raises(InvalidInput, match=r"llm\.command has no place for small"):
        chosen("none", "command/small", command="mine")


def test_words_are_a_list_or_a_line() -> None:
    assert parse_value("llm.command", "claude -p  --tools ''") == "claude -p --tools ''"
    for wrong in ("'open", "''", "  '' x"):
        with pytest.raises(InvalidInput, match=r"llm\.command .*must be words on one line"):
            parse_value("llm.command", wrong)


def test_a_program_gets_what_it_needs_and_no_other_variable() -> None:
    found = scrubbed_environment(
        {"PATH": "/bin", "AWS_SECRET": "x", "OLLAMA_HOST": "h", "NO_COLOR": ""}, ["OLLAMA_HOST"]
    )
    assert found == {"PATH": "/bin", "OLLAMA_HOST": "h", "NO_COLOR": "1", "TERM": "dumb", "CLAWMEM_READER": "1"}
