"""The whole loop in the real programs, against a stand-in for their model: `make harness`.

They are large and come from npm, so a normal run leaves them out. Set up; a session that works; the next session, which
knows what the first one said; everything out again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from clawmem.learning.turn_end import QUESTION
from tests.harness.model_api import ModelApi, model_api, texts_in
from tests.loopback import known_facts, shown_events

pytestmark = pytest.mark.harness
PROGRAMS = Path(__file__).parent.parent.parent / ".harness" / "node_modules"
CLAWMEM = [sys.executable, "-m", "clawmem"]
FACT = "The boat project builds with the compiler clang."
ASKED = "Which compiler does the boat project build with?"


class Place(NamedTuple):
    """A home with a vault, a project, and the model's stand-in."""

    home: Path
    project: Path
    environment: dict[str, str]
    api: ModelApi

    def run(self, *command: str, limit: int = 120) -> str:
        process = subprocess.run(
            command, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=limit,
        )  # fmt: skip
        assert process.returncode == 0, (command, process.stdout[-2000:], process.stderr[-2000:])
        return process.stdout

    def clawmem(self, *words: str) -> str:
        return self.run(*CLAWMEM, *words)

    def marks(self, harness: str) -> dict[str, str]:
        value = json.loads(self.clawmem("status", "--json"))["data"]["hooks"]
        return {other["event"]: other["outcome"] for other in value if other["harness"] == harness}

    def until(self, harness: str, event: str) -> None:
        for _ in range(100):
            if event in self.marks(harness):
                return
            time.sleep(0.1)
        raise AssertionError(f"{harness} never did {event}")

    def until_fact(self, words: str) -> None:
        for _ in range(300):
            if words in self.clawmem("list"):
                return
            time.sleep(0.1)
        raise AssertionError((f"no fact says {words!r}", self.clawmem("status")))

    def files(self) -> dict[str, bytes]:
        known = (".claude/settings.json", ".codex/hooks.json", ".codex/config.toml", ".gemini/settings.json",
                 ".config/opencode/opencode.json", ".openclaw/openclaw.json")  # fmt: skip
        return {name: (self.home / name).read_bytes() for name in known if (self.home / name).exists()}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    home, project = tmp_path / "home", tmp_path / "boat"
    home.mkdir()
    project.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    # OpenClaw needs a newer node than the system may have.
    folders = [
        PROGRAMS / "node/bin",
        PROGRAMS / ".bin",
        PROGRAMS / "@anthropic-ai/claude-code-linux-x64",
        PROGRAMS / "opencode-linux-x64/bin",
    ]
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    with model_api() as api:
        environment = {
            "PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "ANTHROPIC_BASE_URL": api.address,
            "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
            "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": api.address, "SHELL": "/bin/bash",
            "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
        }  # fmt: skip
        here = Place(home, project, environment, api)
        here.run("git", "init", "-q")
        here.run("git", "remote", "add", "origin", "https://git.example.org/ada/boat.git")
        here.clawmem("init")
        here.clawmem("remember", FACT)
        here.clawmem("remember", "The sister of Ada lives in Oslo.")
        (home / ".codex").mkdir()
        (home / ".codex/config.toml").write_text(
            f'# my own\nmodel = "m"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
            f'base_url = "{api.address}/v1"\nwire_api = "responses"\n'
        )
        (home / ".gemini").mkdir()
        (home / ".gemini/settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}\n')
        (home / ".config/opencode").mkdir(parents=True)
        fake = {
            "npm": "@ai-sdk/openai", "name": "fake", "models": {"m": {"name": "m"}},
            "options": {"baseURL": f"{api.address}/v1", "apiKey": "none"},
        }  # fmt: skip
        opencode = {"provider": {"fake": fake}, "model": "fake/m", "small_model": "fake/m"}
        (home / ".config/opencode/opencode.json").write_text(json.dumps(opencode, indent=2) + "\n")
        (home / ".openclaw").mkdir()
        model = {"id": "m", "name": "m", "contextWindow": 100000, "maxTokens": 4000}
        provider = {
            "baseUrl": f"{api.address}/v1", "apiKey": "none", "api": "openai-responses", "models": [model],
        }  # fmt: skip
        config = {
            "models": {"mode": "merge", "providers": {"fake": provider}},
            "agents": {"defaults": {"model": {"primary": "fake/m"}}},
        }
        (home / ".openclaw/openclaw.json").write_text(json.dumps(config, indent=2) + "\n")
        yield here


COMMANDS: dict[str, Sequence[str]] = {
    "claude-code": ("claude", "-p", "{prompt}"),
    "codex": ("codex", "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "{prompt}"),
    "gemini": ("gemini", "--skip-trust", "-m", "gemini-2.5-flash", "-p", "{prompt}"),
}
EVENTS = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "SessionEnd"),
    "gemini": ("SessionStart", "BeforeAgent", "SessionEnd"),
}


def _needs(place: Place, harness: str) -> None:
    if shutil.which(COMMANDS[harness][0], path=place.environment["PATH"]) is None:
        pytest.skip(f"{COMMANDS[harness][0]} is not installed: make harness")


def _ask(place: Place, harness: str, prompt: str, *more: str) -> None:
    place.run(*(word.replace("{prompt}", prompt) for word in COMMANDS[harness]), *more)


@pytest.mark.parametrize("harness", COMMANDS)
def test_the_loop(place: Place, harness: str) -> None:
    _needs(place, harness)
    before = place.files()
    place.clawmem("setup", harness)

    place.api.tool, place.api.arguments = "recall", {"question": ASKED}
    _ask(place, harness, "We never push on Fridays, remember that for the boat project.")
    place.until(harness, "transcript")
    assert {place.marks(harness)[event] for event in EVENTS[harness]} == {"done"}
    assert place.api.seen().count("compiler clang") >= 2, "neither the hook nor the tool reached the model"
    assert "sister" not in place.api.seen()
    assert place.marks(harness)["transcript"] == "done"

    place.clawmem("heartbeat")
    place.api.tool = ""
    place.api.requests.clear()
    _ask(place, harness, "On which day of the week do we never push the boat project?")
    assert "Fridays" in place.api.seen(), "the next session does not know what the first one said"
    events = json.loads(place.clawmem("recall", "compiler clang", "--in", "events", "--json"))["data"]["events"]
    assert not [
        event for event in events if not event.get("recalled") and event["role"] == "user" and "clang" in event["text"]
    ]
    place.clawmem("setup", harness, "--remove")
    after = place.files()
    assert {name: after.get(name) for name in before} == before or harness == "gemini"
    assert b"clawmem" not in b"".join(after.values())


RIGHTS = {
    "claude-code": ("--allowedTools", "Bash"),
    "codex": ("--dangerously-bypass-approvals-and-sandbox",),
    "gemini": ("-y",),
}


@pytest.mark.parametrize("harness", COMMANDS)
def test_in_its_shell_the_agent_is_the_caller_without_any_setup(place: Place, harness: str) -> None:
    _needs(place, harness)
    path = place.home / "told.json"
    called = f"'{sys.executable}' -m clawmem"
    place.api.shell = (
        f"{called} remember 'The mast is of oak.' --json > '{path}'; {called} review trust '*' 2>> '{path}.refused'"
    )
    _ask(place, harness, "Build the boat.", *RIGHTS[harness])
    (fact,) = json.loads(path.read_text())["data"]["facts"]
    assert (fact["agent"], fact["trust"]) == (harness, "agent")
    assert f"only a person may run it, and {harness} is an agent" in Path(f"{path}.refused").read_text()


@pytest.mark.parametrize("harness", COMMANDS)
def test_what_an_agent_stores_is_stored_without_a_question(place: Place, harness: str) -> None:
    _needs(place, harness)
    place.clawmem("setup", harness)
    place.api.tool, place.api.arguments = "remember", {"text": "The hull of the boat is painted green."}
    _ask(place, harness, "We paint the hull green.")
    assert "painted green" in place.clawmem("recall", "hull", "--in", "facts")


@pytest.mark.parametrize("harness", COMMANDS)
def test_where_no_model_reads_an_agent_is_asked_once(place: Place, harness: str) -> None:
    _needs(place, harness)
    place.clawmem("setup", harness)
    prompt = "From now on the boat is hauled out on Tuesdays only, because the crane is away on Mondays."
    _ask(place, harness, prompt)
    sentence = QUESTION.splitlines()[1]
    # `claude -p` prints the last answer for a script, and says so to its hooks.
    most = 0 if harness == "claude-code" else 1
    assert max(sum(sentence in text for text in texts_in(each["body"])) for each in place.api.requests) == most
    place.until(harness, "transcript")
    events = json.loads(place.clawmem("recall", "will still matter in a month", "--in", "events", "--json"))["data"]
    assert [event for event in events["events"] if event["role"] == "user" and not event.get("recalled")] == []


def read_compiler(task: str) -> str:
    """The answer of a reader that knows one thing: which compiler a project builds with, and what that replaces."""
    if "<events>" not in task:
        return json.dumps({"works": True})
    known = {label: words for words, label in known_facts(task).items() if "builds with" in words}
    facts = []
    for event in shown_events(task):
        found = re.search(r"the boat builds with (\w+)", event["text"])
        if found and event["speaker"] != "assistant":
            facts.append({
                "e": int(event["id"]), "q": found[0], "s": f"The boat project builds with {found[1]}.",
                "of": "boat project", "x": dict.fromkeys(known, "replace"),
            })  # fmt: skip
    return json.dumps({"facts": facts})


LOOPS: dict[str, Sequence[str]] = {
    **COMMANDS,
    "opencode": ("opencode", "run", "{prompt}"),
    "openclaw": (
        "openclaw",
        "agent",
        "--local",
        "--agent",
        "main",
        "--session-id",
        "{session}",
        "--message",
        "{prompt}",
    ),
}


@pytest.mark.parametrize("harness", LOOPS)
def test_three_sessions_in_which_nobody_types_a_command(place: Place, harness: str) -> None:
    program, *words = LOOPS[harness]
    if shutil.which(program, path=place.environment["PATH"]) is None:
        pytest.skip(f"{program} is not installed: make harness")
    place.api.reads = read_compiler
    before = place.files()
    wired = place.clawmem("setup", harness, "--learn")
    if harness == "openclaw":  # no preset runs it without tools and sessions
        script = place.home / "reader.py"
        script.write_text(READER.format(root=str(Path(__file__).parent.parent.parent)))
        place.clawmem("config", "set", "llm.command", f"{sys.executable} {script}")
        place.clawmem("config", "set", "llm.model", "command")
    else:
        assert "reads after each session" in wired

    def session(name: str, prompt: str) -> None:
        place.run(program, *(word.replace("{prompt}", prompt).replace("{session}", name) for word in words))

    session("one", "From today on the boat builds with gcc.")
    place.until_fact("builds with gcc")
    session("two", "We changed it: the boat builds with zig.")
    place.until_fact("builds with zig")
    place.api.requests.clear()
    session("three", ASKED)
    items = place.api.given_lines()
    assert [line for line in items if "builds with zig" in line]
    assert [line for line in items if "Store at once: a preference" in line] or harness in ("opencode", "openclaw")
    assert [line for line in items if "gcc" in line and "no longer: now" not in line] == []
    spoken = json.loads(place.clawmem("recall", "JSON Schema", "--in", "events", "--json"))["data"]["events"]
    assert [event for event in spoken if "JSON Schema" in event["text"]] == []
    place.clawmem("setup", harness, "--remove")
    after = place.files()
    # Gemini CLI, OpenCode and OpenClaw write into their own files meanwhile.
    assert {name: after.get(name) for name in before} == before or harness in ("gemini", "opencode", "openclaw")
    assert b"clawmem" not in b"".join(after.values())


READER = """
import sys
sys.path.insert(0, {root!r})
from tests.harness.test_real_programs import read_compiler
print(read_compiler(sys.stdin.read()))
"""


def test_codex_says_nothing_of_hooks_that_are_not_trusted_but_doctor_does(place: Place) -> None:
    if shutil.which("codex", path=place.environment["PATH"]) is None:
        pytest.skip("codex is not installed: make harness")
    place.clawmem("setup", "codex")
    place.run("codex", "exec", "--skip-git-repo-check", "Hello there.")
    assert place.marks("codex") == {}
    assert "until you trust them" in place.clawmem("doctor")


def test_opencode_lists_the_server_and_its_export_is_read(place: Place) -> None:
    if shutil.which("opencode", path=place.environment["PATH"]) is None:
        pytest.skip("opencode is not installed: make harness")
    place.clawmem("setup", "opencode")
    assert "clawmem" in place.run("opencode", "mcp", "list")
    place.clawmem("setup", "opencode", "--remove")


def _needs_openclaw(place: Place) -> None:
    """Skip without OpenClaw, and put the node first that it needs: a newer one than the system may have."""
    place.environment["PATH"] = f"{PROGRAMS / 'node/bin'}{os.pathsep}{place.environment['PATH']}"
    if shutil.which("openclaw", path=place.environment["PATH"]) is None:
        pytest.skip("openclaw is not installed: make harness")


def test_openclaw_gets_the_memory_and_hands_back_each_turn(place: Place) -> None:
    _needs_openclaw(place)
    place.clawmem("setup", "openclaw")
    assert "Config valid" in place.run("openclaw", "config", "validate")
    probed = json.loads(place.run("openclaw", "mcp", "probe", "--json"))
    assert "clawmem__recall" in probed["tools"] and probed["diagnostics"] == []

    def ask(session: str, prompt: str) -> None:
        place.run("openclaw", "agent", "--local", "--agent", "main", "--session-id", session, "--message", prompt)

    ask("one", f"{ASKED} We never push on Fridays, remember that for the boat project.")
    assert "compiler clang" in place.api.seen() and "skills/clawmem/SKILL.md" in place.api.seen()
    place.clawmem("heartbeat")
    place.api.requests.clear()
    ask("two", "On which day of the week do we never push the boat project?")
    assert "Fridays" in place.api.seen(), "the next session does not know what the first one said"
    spoken = json.loads(place.clawmem("recall", "Fridays", "--in", "events", "--json"))["data"]["events"]
    assert [other["text"] for other in spoken if "<clawmem" in other["text"]] == []

    place.run(
        "openclaw", "sessions", "export-trajectory", "--session-key", "agent:main:explicit:one", "--workspace", ".",
        "--output", "one", "--json",
    )  # fmt: skip
    exported = place.clawmem("ingest", ".openclaw/trajectory-exports/one/events.jsonl", "--json")
    assert not json.loads(exported)["data"]["skipped"] and json.loads(exported)["data"]["added"]
    place.clawmem("setup", "openclaw", "--remove")
    assert "clawmem" not in (place.home / ".openclaw/openclaw.json").read_text()
    assert not (place.home / ".openclaw/extensions").exists()


def test_openclaw_imports_what_is_exported_as_okf(place: Place) -> None:
    _needs_openclaw(place)
    place.clawmem("remember", "The pier is made of oak.", "-e", "projects/pier")
    bundle = place.home / "bundle"
    place.clawmem("export", str(bundle))
    place.run("openclaw", "plugins", "enable", "memory-wiki")
    result = json.loads(place.run("openclaw", "wiki", "okf", "import", str(bundle), "--json"))
    assert (result["okfVersion"], result["importedCount"], result["skippedCount"], result["warnings"]) == (
        "0.2",
        2,
        0,
        [],
    )
    assert "0 issues" in place.run("openclaw", "wiki", "lint")
    found = place.run("openclaw", "wiki", "search", "pier oak", "--json")
    assert "pier" in found


def test_the_plugin_validates_and_installs(place: Place) -> None:
    if shutil.which("claude", path=place.environment["PATH"]) is None:
        pytest.skip("claude is not installed: make harness")
    plugins = Path(__file__).parent.parent.parent
    assert "passed" in place.run("claude", "plugin", "validate", str(plugins)).lower()
    place.run("claude", "plugin", "marketplace", "add", str(plugins))
    place.run("claude", "plugin", "install", "clawmem@clawmem")
    assert "clawmem" in place.run("claude", "plugin", "list")
