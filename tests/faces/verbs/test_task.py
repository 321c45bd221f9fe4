"""Tasks by the real command: what is added, listed for scripts, decided, and read from hand edits."""

from __future__ import annotations

import subprocess
from pathlib import Path

from clawmem.model.records.task import KEYS
from tests.conftest import Command

KEYS_OF_A_TASK = {*KEYS, "slug", "path", "acceptance"} - {"foreign"}


def _log(root: Path, form: str, environment: dict[str, str]) -> str:
    command = ["git", "log", "-1", f"--format={form}"]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True).stdout


def test_tasks_are_added_from_words_a_file_and_stdin(clawmem: Command, tmp_path: Path) -> None:
    result = clawmem("task", "add", "Fix the login", "--accept", "It works.", "--priority", "1", "--json")
    assert [item["text"] for item in result.data["tasks"][0]["acceptance"]] == ["It works."]
    (tmp_path / "todo.md").write_text("- [ ] Buy paint\n  - [ ] It is blue.\n- [x] Buy a brush\n")
    two = clawmem("task", "add", "--from", str(tmp_path / "todo.md"), "--workflow", "software", "--json")
    assert [(task["slug"], task["state"]) for task in two.data["tasks"]] == [
        ("buy-paint", "open"),
        ("buy-a-brush", "done"),
    ]
    three = clawmem("task", "add", "-", given="- [ ] Buy paint\n- [ ] Sail\n", env={"CLAWMEM_AGENT": "bob"})
    assert "already there: buy-paint" in three.out
    assert "added: sail" in three.out
    by_agent = clawmem("task", "add", "-", "--agent", "bob", "--json", given="- [x] Eat\n- [ ] Drink\n")
    assert [task["state"] for task in by_agent.data["tasks"]] == ["review", "open"]
    wrong = clawmem("task", "add", "-", given="---\nstate: begun\n---\n# One\n")
    assert (wrong.code, "the text:2 cannot be read: the key 'state' is 'begun'" in wrong.err) == (2, True)
    assert clawmem("task", "add").code == 2
    assert clawmem("task", "add", "Sail home", "--workflow", "flying").code == 1


def test_the_list_is_stable_for_scripts(clawmem: Command) -> None:
    clawmem("task", "add", "-", given="- [ ] One\n- [ ] Two\n- [x] Three\n")
    clawmem("task", "take", "two", "--agent", "bob")
    listed = clawmem("task", "list", "--json").data
    assert [task["slug"] for task in listed["tasks"]] == ["one", "two"]
    assert all(task.keys() == KEYS_OF_A_TASK for task in listed["tasks"])
    for options, slugs in (
        (["--state", "all"], ["one", "three", "two"]),
        (["--state", "done", "--state", "working"], ["three", "two"]),
        (["--holder", "bob"], ["two"]),
        (["--workflow", "software"], []),
        (["--limit", "1"], ["one"]),
    ):
        assert [task["slug"] for task in clawmem("task", "list", *options, "--json").data["tasks"]] == slugs
    assert clawmem("task", "list", "--state", "begun").code == 2


def test_a_decision_is_in_the_page_and_in_the_trailers(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    clawmem("task", "add", "Fix the login", "--accept", "It works.")
    clawmem("task", "take", "fix-the-login", "--agent", "bob")
    refused = clawmem("task", "close", "fix-the-login", "--agent", "bob")
    assert (refused.code, "task submit fix-the-login" in refused.err) == (1, True)
    clawmem("task", "submit", "fix-the-login", "--agent", "bob")
    closed = clawmem("task", "close", "fix the login", "--reason", "It works.", "--json")
    assert closed.data["task"]["verdict"] == "pass"
    assert closed.json["notices"] == ["criteria that are not checked: 1 of 1"]
    trailers = _log(vault_root, "%(trailers)", environment)
    for line in ("Clawmem-Op: task-close", "Task: fix-the-login", "Verdict: pass"):
        assert line in trailers
    assert clawmem("task", "close", "fix-the-login", "--json").data["commit"] is None
    assert "It works." in clawmem("task", "show", "fix-the-login").out


def test_a_task_that_is_done_in_an_editor_is_taken_in_under_the_persons_name(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    clawmem("task", "add", "Fix the login")
    page = vault_root / "tasks/fix-the-login.md"
    page.write_text(page.read_text().replace("state: open", "state: done"))
    named = {"GIT_AUTHOR_NAME": "x", "HOME": environment["HOME"]}
    assert clawmem("task", "add", "Sail", env=named).code == 0
    subject = subprocess.run(
        ["git", "log", "-2", "--format=%s"], cwd=vault_root, env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()[1]
    assert subject.startswith("edit(")
    (other,) = clawmem("task", "list", "--state", "done", "--json").data["tasks"]
    assert (other["slug"], other["verdict"], other["decided_by"]) == ("fix-the-login", None, None)
    page.write_text(page.read_text().replace("state: done", "state: finished"))
    listed = clawmem("task", "list")
    assert (listed.code, "tasks/fix-the-login.md:3 cannot be read: the key 'state'" in listed.err) == (4, True)
    moved = clawmem("task", "close", "fix-the-login")
    assert (moved.code, "tasks/fix-the-login.md:3" in moved.err) == (2, True)
    assert "state: finished" in page.read_text()


def test_an_agent_needs_the_right_to_write_tasks(clawmem: Command) -> None:
    clawmem("config", "set", "agents.bob.write", "own")
    result = clawmem("task", "add", "Sail", "--agent", "bob")
    assert (result.code, "may not write tasks/sail.md" in result.err) == (1, True)


def test_a_session_says_its_task_and_what_is_accepted(clawmem: Command) -> None:
    clawmem("task", "add", "Fix the login", "--accept", "It works.")
    result = clawmem("session", "start", "--task", "fix-the-login", "--agent", "bob")
    assert "task fix-the-login (working): Fix the login\n- [ ] It works.\n" in result.out
    assert "scratchpad agents/bob/scratchpads/fix-the-login.md" in result.out
    assert "scratchpad: agents/bob/scratchpads/fix-the-login.md" in clawmem("task", "show", "fix-the-login").out


def test_a_dry_run_says_so(clawmem: Command) -> None:
    fact = clawmem("remember", "The boat is red.", "--json").data["facts"][0]["id"]
    for words in (("undo", fact), ("revoke", "--source", "user"), ("setup", "claude-code")):
        text = clawmem(*words, "--dry-run").out
        assert "would be " in text and "dry run; nothing was changed" in text, text
    assert clawmem("show", fact, "--json").data["fact"]["status"] == "active"


def test_an_unknown_key_that_is_the_beginning_of_one_is_told(clawmem: Command) -> None:
    result = clawmem("remember", "--jsonl", "-", given='{"fact": "The boat is red.", "related": ["projects/boat"]}\n')
    assert "the key 'related' is unknown and has no effect; the key is 'related_entities'" in result.err


def test_lines_that_are_no_task_are_counted(clawmem: Command) -> None:
    result = clawmem("task", "add", "-", given="- [ ] Buy paint\n- a plain bullet\n- [ ]\n")
    assert "2 lines" in result.err


def test_a_task_that_somebody_is_to_hold_is_open_and_sound(clawmem: Command) -> None:
    assert clawmem("task", "add", "Write the guide", "--holder", "Maren Holt").code == 0
    assert clawmem("doctor", "--json").data["problems"] == []
    assert "Maren Holt" in clawmem("task", "list", "--holder", "Maren Holt").out


def test_tasks_are_found_by_recall_and_open_ones_stand_in_a_context(clawmem: Command) -> None:
    clawmem("task", "add", "Buy a stapler", "--holder", "ada", "--priority", "1")
    clawmem("task", "add", "Paint the boat", "--accept", "The rudder is blue.")
    clawmem("task", "add", "Sell the car")
    clawmem("task", "close", "sell-the-car", "--reason", "Bob bought it.")
    assert "tasks/buy-a-stapler.md:1" in clawmem("recall", "stapler").out
    assert "tasks/paint-the-boat.md:2" in clawmem("recall", "blue rudder").out
    assert "done task, priority 3: Sell the car, Bob bought it." in clawmem("recall", "car").out
    open_ones = "\n- open task, priority 1, held by ada: Buy a stapler\n- open task, priority 3: Paint the boat\n"
    assert f"## Open tasks{open_ones}" in clawmem("context", "what is open?").out
    hers = clawmem("recall", "what does Ada have to do?").out
    assert "Buy a stapler" in hers and "Paint" not in hers
    assert [line.split(":")[0] for line in clawmem("recall", "what should I work on next?").out.splitlines()] == [
        "tasks/buy-a-stapler.md", "tasks/paint-the-boat.md",
    ]  # fmt: skip
    own = clawmem("context", "--agent", "quill").out
    assert "Paint the boat" in own and "stapler" not in own and "Sell" not in own
    assert "Open tasks" not in clawmem("context").out + clawmem("context", "boat", "--agent", "quill").out
    for number in range(11):
        clawmem("task", "add", f"Clean pier {number}")
    many = clawmem("context", "what is open?").out
    assert many.count("\n- open task") == 10 and "left out" in many
