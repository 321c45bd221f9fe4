"""Presets: what a program of that name is started with, and the id of a task."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from clawmem.llm.budget import Account, RunLimits
from clawmem.llm.choice import choose_model
from clawmem.llm.loop import ask
from clawmem.llm.presets import PRESETS, ModelTask
from clawmem.model.harness import HARNESSES
from clawmem.model.settings.settings import DEFAULTS
from tests.llm import scripted_model
from tests.llm.test_program import QUESTION, SCHEMA

LIMITS = RunLimits(tokens=100, milliseconds=60_000)
# What keeps each program from acting on what strangers wrote, and from keeping the question as a session.
WITHOUT_TOOLS = {
    "claude": ["--safe-mode", "--no-session-persistence", "--tools", ""],
    "codex": ["--sandbox", "read-only", "--ephemeral"],
    "gemini": ["--approval-mode", "default"],
    "opencode": ["run", "--agent", "clawmem-reader"],
    "openclaw": ["infer", "model", "run"],
    "llm": ["--no-log"],
}
EFFORTS = [
    ("claude", "minimal", ["--effort", "low"]),
    ("codex", "none", ["-c", "model_reasoning_effort=none"]),
    ("openclaw", "none", ["--thinking", "off"]),
    ("ollama", "none", ["--think=false"]),
]


def started(folder: Path, preset: str, name: str = "command", effort: str = "default") -> dict[str, Any]:
    """The words and the environment with which a program of that name is started, by a real question to it."""
    program, noted = folder / preset, folder / "noted.json"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{scripted_model.__file__}' records '{noted}' \"$@\"\n")
    program.chmod(0o755)
    values = {**DEFAULTS.values, "llm.model": name, "llm.preset": preset, "llm.effort": effort}
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    model = choose_model(DEFAULTS._replace(values=values), environment)
    assert model is not None
    ask(model._replace(limits=LIMITS), Account(LIMITS, None), QUESTION, SCHEMA)
    record: dict[str, Any] = json.loads(noted.read_text())
    record["words"] = record["words"][1:]
    return record


def contains(words: list[str], part: list[str]) -> bool:
    """Whether words contain others, one after the other."""
    return any(words[at : at + len(part)] == part for at in range(len(words)))


@pytest.mark.parametrize("preset", sorted(WITHOUT_TOOLS))
def test_a_program_that_could_act_gets_no_tools(tmp_path: Path, preset: str) -> None:
    record = started(tmp_path, preset)
    assert contains(record["words"], WITHOUT_TOOLS[preset])
    if preset == "opencode":
        agent = json.loads(record["environment"]["OPENCODE_CONFIG_CONTENT"])["agent"]["clawmem-reader"]
        assert agent["permission"] == {"*": "deny"}
    # Without a model and an effort, the program's own defaults count.
    assert not {"--model", "--effort", "-c", "--thinking"} & set(record["words"])


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_program_of_a_harness_reads_the_sessions_of_that_harness(preset: str) -> None:
    values = {**DEFAULTS.values, "llm.model": "command/small", "llm.preset": preset}
    model = choose_model(DEFAULTS._replace(values=values), os.environ)
    own = {"claude": "claude-code", "llm": "", "ollama": ""}
    assert model is not None and model.harness == own.get(preset, preset)
    assert not model.harness or model.harness in HARNESSES


@pytest.mark.parametrize(("preset", "effort", "words"), EFFORTS)
def test_each_effort_has_the_programs_own_word(tmp_path: Path, preset: str, effort: str, words: list[str]) -> None:
    assert contains(started(tmp_path, preset, "command/small", effort)["words"], words)


def test_the_same_data_asked_in_another_way_is_another_task() -> None:
    task = ModelTask("narrate", "Say it.", "The boat is red.", SCHEMA)
    keys = {task.key, task._replace(how="Sing it.").key, task._replace(data="It is green.").key}
    assert len(keys) == 3 and all(key.startswith("narrate-") for key in keys)
    assert task._replace(schema={}).key == task.key
