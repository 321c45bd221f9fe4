"""The question at the end of a turn, by the command that a harness calls: asked once, where it may help, and never
where a model reads."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from clawmem.learning.turn_end import QUESTION, looks_worth_keeping
from clawmem.model.pages.tokens import token_bound
from clawmem.model.safety.recalled_text import is_recalled
from tests.conftest import Command

TELLS = "fix the login redirect, and staging moved to the Frankfurt cluster last week, so the old url is dead"
ASKS = "which of these two regular expressions is faster?"
TURNS = {
    "claude-code": ("UserPromptSubmit", "Stop"),
    "codex": ("UserPromptSubmit", "Stop"),
    "gemini": ("BeforeAgent", "AfterAgent"),
    "cursor": ("beforeSubmitPrompt", "stop"),
    "shell": ("prompt", "turn"),
}


def call(clawmem: Command, event: str, harness: str = "claude-code", **more: Any) -> str:
    """What a hook prints; it always ends well."""
    more.setdefault("session_id", "5e55")
    result = clawmem("hook", event, "--harness", harness, given=json.dumps(more), env=more.pop("env", None))
    assert (result.code, result.err) == (0, "")
    return result.out


def turn(clawmem: Command, prompt: str, harness: str = "claude-code", **more: Any) -> str:
    """What the end of a turn with this prompt prints."""
    asks, ends = TURNS[harness]
    call(clawmem, asks, harness, prompt=prompt)
    return call(clawmem, ends, harness, last_assistant_message="Done.", **more)


@pytest.mark.parametrize(("harness", "form"), [
    ("claude-code", {"decision": "block", "reason": QUESTION}),
    ("codex", {"decision": "block", "reason": QUESTION}),
    ("gemini", {"decision": "deny", "reason": QUESTION}),
    ("cursor", {"followup_message": QUESTION}),
])  # fmt: skip
def test_each_harness_gets_the_question_in_its_form(clawmem: Command, harness: str, form: dict[str, str]) -> None:
    assert json.loads(turn(clawmem, TELLS, harness)) == form


def test_the_question_is_short_and_never_learned() -> None:
    assert token_bound(QUESTION) <= 300
    assert is_recalled(QUESTION) and is_recalled(f"Stop hook feedback:\n{QUESTION}")


@pytest.mark.parametrize("text", [
    "This repo uses pnpm, not npm.",
    "She's allergic to nuts.",
    "You should always call me Max.",
    "These servers are owned by the Oslo team.",
    "There's a freeze from 1 to 7 June.",
    "Thanks, the deploy is on Fridays from now on.",
])  # fmt: skip
def test_a_word_that_points_or_thanks_hides_no_fact(text: str) -> None:
    assert looks_worth_keeping(text)


@pytest.mark.parametrize("text", ["That looks better.", "It still fails.", "Thanks, that works.", "You're right."])
def test_what_only_points_is_not_asked_about(text: str) -> None:
    assert not looks_worth_keeping(text)


def test_a_turn_is_asked_about_once(clawmem: Command) -> None:
    assert QUESTION in turn(clawmem, TELLS, "shell")
    assert call(clawmem, "turn", "shell") == ""
    assert QUESTION in turn(clawmem, TELLS, "shell")


@pytest.mark.parametrize("field", ["stop_hook_active", "loop_count"])
def test_an_answer_to_a_hook_is_no_turn(clawmem: Command, field: str) -> None:
    more: dict[str, Any] = {field: 1}
    assert turn(clawmem, TELLS, **more) == ""


def test_a_program_that_runs_for_a_script_is_not_asked(clawmem: Command) -> None:
    assert turn(clawmem, TELLS, env={"CLAUDE_CODE_SESSION_ATTENDED": "0"}) == ""


def test_an_agent_that_may_not_store_facts_is_not_asked(clawmem: Command, vault_root: Path) -> None:
    (vault_root / "governance").mkdir(exist_ok=True)
    policy = "people: {ann: {name: Ann}, claude-code: {role: boss}}\nrules: [{role: boss, may: all}]\n"
    (vault_root / "governance/access.yaml").write_text(policy)
    call(clawmem, "UserPromptSubmit", prompt=TELLS)
    assert call(clawmem, "Stop", env={"CLAWMEM_VIEWER": "ann"}) == ""
    assert json.loads(call(clawmem, "Stop"))["reason"] == QUESTION


def test_a_turn_that_holds_nothing_is_not_asked_about(clawmem: Command) -> None:
    assert turn(clawmem, ASKS) == ""


@pytest.mark.parametrize(
    ("prompt", "rule"),
    [
        ("Use uv instead of pip.", True), ("Use pnpm, not npm.", True), ("use tabs in this repo", True),
        ("Please use snake_case for test names.", True), ("Prefer composition over inheritance here.", True),
        ("Keep commit messages under 50 characters.", True), ("Nimm pytest statt unittest.", True),
        ("Usa yarn en vez de npm.", True), ("use a loop here", False), ("use the fixture instead of the mock", False),
        ("Use the other branch for now.", False), ("rename this to foo, not bar", False),
        ("Run the tests with `uv run pytest -q`, never with plain pytest.", True),
        ("Format the code with ruff before each commit.", True), ("Lance les tests avec make, jamais avec tox.", True),
        ("Build the image with podman, docker is not allowed here.", True),
        ("Run the tests with coverage.", False), ("Format this file with ruff.", False),
        ("Fix the failing test with a mock, not a stub.", False), ("Start the server with port 8081.", False),
        ("Yes, let's go with the outbox table, fewer moving parts.", True), ("Right, we'll take Hetzner then.", True),
        ("Agreed: Postgres it is, not MySQL.", True), ("Yes, let's go with the second one.", False),
        ("Let's go with that.", False), ("Yes, go ahead.", False), ("Fine, leave it as it is.", False),
        ("That's wrong, berths over 12 metres pay 54, not 51.", True), ("That's wrong, try again.", False),
        ("That's wrong, the button should be blue.", False),
    ],
)  # fmt: skip
def test_a_rule_of_work_is_asked_about_and_a_task_is_not(prompt: str, rule: bool) -> None:
    assert looks_worth_keeping(prompt) is rule


@pytest.mark.usefixtures("without_vectors")
def test_a_rule_of_work_that_nobody_read_becomes_a_candidate(clawmem: Command) -> None:
    rows = [
        "Use pnpm, not npm.",
        "use tabs in this repo",
        "Use uv instead of pip.",
        "No, the limit of Kestrel is 40, not 60.",
        "Yes, let's go with the outbox table, fewer moving parts.",
    ]
    lines = (json.dumps({"role": "user", "content": text, "timestamp": "2026-11-20T10:00:00Z"}) for text in rows)
    assert clawmem("ingest", "-", "--format", "jsonl", given="\n".join(lines)).code == 0
    clawmem("heartbeat", "--only", "learn")
    clawmem("heartbeat")
    waiting = " ".join(row["says"] for row in clawmem("review", "list", "--json").data["proposals"])
    assert "No," not in waiting and "The limit of Kestrel is 40" in waiting, "it stands alone"
    assert all(words in waiting for words in ("pnpm", "tabs", "uv", "outbox table")), waiting


def test_an_order_in_a_repository_ends_the_rule_of_it_that_it_names(clawmem: Command) -> None:
    rows = {"github.com/acme/shop": "In shop use pnpm, never npm.", "github.com/acme/yard": "In yard use pnpm."}
    for project, rule in rows.items():
        assert clawmem("remember", rule, "--project", project).code == 0
    order = {"role": "user", "content": "From now on use yarn here instead of pnpm.", "project": next(iter(rows))}
    given = json.dumps({**order, "timestamp": "2026-11-21T09:00:00Z"})
    assert clawmem("ingest", "-", "--format", "jsonl", given=given).code == 0
    clawmem("heartbeat", "--only", "learn")
    facts = clawmem("list", "--all", "--include-superseded", "--json").data["facts"]
    status = {fact["fact"]: fact["status"] for fact in facts}
    assert [status[rule] for rule in rows.values()] == ["superseded", "active"], status


def test_what_is_not_to_be_forgotten_and_is_known_is_not_stored_twice(clawmem: Command) -> None:
    clawmem("remember", "Jonas prefers tea.")
    said = json.dumps({"role": "user", "content": "don't forget that Jonas prefers tea"})
    clawmem("ingest", "-", "--format", "jsonl", given=said)
    clawmem("heartbeat", "--only", "learn")
    assert [fact["fact"] for fact in clawmem("list", "--json").data["facts"]] == ["Jonas prefers tea."]


@pytest.mark.usefixtures("without_vectors")
def test_an_approved_candidate_goes_to_its_speaker_or_its_project(clawmem: Command) -> None:
    day = {"role": "user", "timestamp": "2026-11-20T10:00:00Z"}
    rows = [
        {**day, "content": "staging is always at 10.0.0.5, never at 10.0.0.6", "project": "github.com/acme/yard"},
        {**day, "content": "I moved to Berlin because of the new office.", "speaker": "Tom", "session": "s2"},
    ]
    assert clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, rows))).code == 0
    clawmem("heartbeat")
    for waiting in clawmem("review", "list", "--json").data["proposals"]:
        approved = clawmem("review", "approve", waiting["id"])
        assert approved.code == 0, approved.err
    facts = {fact["entity"]: fact["fact"] for fact in clawmem("list", "--all", "--json").data["facts"]}
    assert "10.0.0.5" in facts["projects/yard"] and "Berlin" in facts["areas/people/tom"], facts


@pytest.mark.parametrize("key", ["llm.model", "session.ask"])
def test_nobody_is_asked_where_a_model_reads_or_the_setting_says_so(clawmem: Command, key: str) -> None:
    value = {"llm.model": "command", "session.ask": "false"}[key]
    if key == "llm.model":
        assert clawmem("config", "set", "llm.command", "cat").code == 0
    assert clawmem("config", "set", key, value).code == 0
    assert turn(clawmem, TELLS) == ""


def test_the_program_of_another_harness_does_not_read_for_this(clawmem: Command) -> None:
    assert clawmem("config", "set", "llm.preset", "claude").code == 0
    assert turn(clawmem, TELLS) == "", "the program of Claude Code reads the session"
    assert json.loads(turn(clawmem, TELLS, "codex"))["reason"] == QUESTION
    said = json.dumps({"role": "user", "content": TELLS, "session": "c0de"})
    clawmem("ingest", "-", "--agent", "codex", given=said)
    start = call(clawmem, "SessionStart", "codex", session_id="c0df", source="startup")
    assert "unread: `learn_pending`" in start and "clawmem setup codex --learn" in start
    assert clawmem("config", "set", "llm.more_presets", "codex").code == 0
    assert turn(clawmem, TELLS, "codex") == ""


@pytest.mark.usefixtures("without_vectors")
def test_a_further_reader_that_fails_is_a_failure_and_is_asked_again(clawmem: Command, tmp_path: Path) -> None:
    programs = {"claude": """cat >/dev/null; echo '{"facts": []}'""", "codex": f"echo >>{tmp_path}/asked; exit 1"}
    for name, does in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    for key, value in {"preset": "claude", "more_presets": "codex", "model": "command"}.items():
        assert clawmem("config", "set", f"llm.{key}", value).code == 0
    for agent in ("codex", "claude-code"):
        said = json.dumps({"role": "user", "content": TELLS, "session": agent})
        assert clawmem("ingest", "-", "--agent", agent, given=said).code == 0
    for asked in (1, 2):
        beat = clawmem("heartbeat", env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
        assert beat.code == 14, beat.err
        status = clawmem("status").out
        assert "failed    model: The model codex" in status and "The model claude" not in status
        assert len((tmp_path / "asked").read_text().splitlines()) == asked


def test_an_agent_that_stored_something_in_the_turn_is_not_asked(clawmem: Command) -> None:
    agent = {"CLAWMEM_AGENT": "claude-code"}
    assert clawmem("remember", "The hull is green.", env={**agent, "CLAWMEM_NOW": "2026-11-21T09:29:00Z"}).code == 0
    assert turn(clawmem, TELLS) != "", "it was stored before the turn"
    call(clawmem, "UserPromptSubmit", prompt=TELLS)
    assert clawmem("remember", "The mast is of oak.").code == 0
    assert call(clawmem, "Stop") != "", "a person stored it"
    call(clawmem, "UserPromptSubmit", prompt=TELLS)
    assert clawmem("remember", "Staging is in Frankfurt.", env=agent).code == 0
    assert call(clawmem, "Stop") == ""


def test_a_plugin_asks_about_a_turn_with_the_next_prompt(clawmem: Command) -> None:
    assert QUESTION not in call(clawmem, "chat_message", "opencode", prompt=TELLS)
    assert QUESTION in call(clawmem, "chat_message", "opencode", prompt=ASKS)
    assert QUESTION not in call(clawmem, "chat_message", "opencode", prompt=ASKS)


def test_the_question_itself_is_no_prompt(clawmem: Command, vault_root: Path) -> None:
    call(clawmem, "prompt", "shell", prompt=TELLS)
    call(clawmem, "prompt", "shell", prompt=QUESTION)
    (path,) = (vault_root / ".git/clawmem/hooks/sessions").glob("*.json")
    assert json.loads(path.read_text())["asked"] == TELLS


def test_the_commit_that_registers_a_session_stores_nothing(clawmem: Command, vault_root: Path) -> None:
    call(clawmem, "SessionStart", source="startup")
    for _ in range(300):
        if (vault_root / ".git/clawmem/hooks/claude-code-session.json").exists():
            break
        time.sleep(0.1)
    assert "session start" in clawmem("log").out
    assert turn(clawmem, TELLS) != ""


def test_a_plugin_without_a_prompt_asks_once_too(clawmem: Command) -> None:
    call(clawmem, "chat_message", "opencode", prompt=TELLS)
    assert QUESTION in call(clawmem, "chat_message", "opencode", prompt="")
    assert QUESTION not in call(clawmem, "chat_message", "opencode", prompt="")


def test_a_session_that_nobody_began_is_not_asked(clawmem: Command) -> None:
    assert call(clawmem, "Stop") == ""
    assert call(clawmem, "Stop", session_id=None) == ""


def test_what_is_taken_back_in_the_next_message_is_served_with_it_and_is_no_candidate_and_no_order(
    clawmem: Command,
) -> None:
    told = [
        ("user", "The payments of the shop are through Klarna now, not Paytrail."),
        ("assistant", "Noted: Klarna."),
        ("user", "No wait, still Paytrail."),
        ("user", "From now on, write the commit messages in French."),
        ("user", "Scratch that, it was for another team."),
        ("user", "The van of the shop is repaired on Tuesdays by Olli."),
    ]
    lines = (
        json.dumps({"role": role, "content": text, "timestamp": f"2026-11-20T10:0{place}:00Z", "session": "s1"})
        for place, (role, text) in enumerate(told)
    )
    assert clawmem("ingest", "-", "--format", "jsonl", given="\n".join(lines)).code == 0
    clawmem("heartbeat")
    waiting = [row["says"] for row in clawmem("review", "list", "--json").data["proposals"]]
    assert waiting == [told[-1][1]] and clawmem("list", "--all", "--json").data["facts"] == []
    prompt = "through whom do payments of the shop go, Klarna?"
    answered = call(clawmem, "UserPromptSubmit", prompt=prompt, session_id="next")
    for served in (clawmem("recall", "payments of the shop").out, clawmem("context", prompt).out, answered):
        lines_of = [line for line in served.replace("\\n", "\n").split("\n") if "Klarna now" in line]
        assert lines_of and all("taken back: No wait, still Paytrail." in line for line in lines_of), served
