"""A session from start to end: what it hands in is in the next context of its scope, and only there."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import AmbiguousId, InvalidInput, NotFound, NotPermitted, Refused, SecretFound
from clawmem.faces.mcp.tools import call_tool
from clawmem.faces.parts.records_of_work import record_data
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import FactFilter, all_passing
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.facts.reach import Reach
from clawmem.model.records.caller import Caller
from clawmem.model.records.session import EXAMPLE
from clawmem.review.review import approve
from clawmem.runtime import Runtime
from clawmem.serving.context.context import context
from clawmem.vault.vault import Vault
from clawmem.work.sessions.end import checkpoint_session, end_session
from clawmem.work.sessions.notes import NOTES_BEFORE_CHECKPOINT, fold_sessions, mark_served, note_session
from clawmem.work.sessions.records import find_session, list_sessions
from clawmem.work.sessions.start import resume_session, start_session
from tests.conftest import Command, Result

pytestmark = pytest.mark.usefixtures("without_vectors")

PROJECT = "example.org/acme/upload"
LESSON = "Run the migrations before the tests in this project."
DECISION = "Stream uploads instead of buffering them."


def _commits(vault: Vault) -> int:
    return int(vault.git.run("rev-list", "--count", "HEAD"))


def _facts(vault: Vault, reach: Reach | None = None) -> dict[str, Fact]:
    found = run_query(vault, lambda index: all_passing(index, FactFilter(reach=reach)))
    return {placed.fact.fact: placed.fact for placed in found}


def test_the_next_context_in_scope_contains_what_was_handed_in(vault: Vault, caller: Caller) -> None:
    coder = caller._replace(agent="coder")
    started = start_session(vault, coder, "software", PROJECT, "stream the uploads")
    before = _commits(vault)
    session = end_session(vault, coder, EXAMPLE, started.record.id)
    assert _commits(vault) == before + 1
    assert [fact.outcome for fact in session.facts] == ["added"] * 3
    lesson, decision = _facts(vault)[LESSON], _facts(vault)[DECISION]
    assert (lesson.category, lesson.agent, lesson.trust) == ("lesson", "coder", "agent")
    assert (lesson.scope, lesson.project, lesson.workflow) == ("project", PROJECT, "software")
    assert lesson.details and lesson.details["because"] == EXAMPLE["lessons"][0]["because"]
    assert decision.details and decision.details["task"] == "stream the uploads"
    assert decision.details["alternatives"] == EXAMPLE["decisions"][0]["alternatives"]
    text = context(vault, coder, 800, "which migrations do the tests need?", reach=Reach("software", PROJECT)).text
    assert LESSON in text
    for other in (Reach("research", PROJECT), Reach("software", "/tmp/other"), Reach("software", PROJECT, "team")):
        assert LESSON not in context(vault, coder, 800, "which migrations do the tests need?", reach=other).text
        assert LESSON not in context(vault, coder, 800, reach=other).text
    again = start_session(vault, coder, "software", PROJECT, "the next task")
    assert [record.summary for record in again.previous] == [EXAMPLE["summary"]]
    assert start_session(vault, coder, "research", PROJECT, "something else").previous == ()


def test_guardrails_wait_and_outcomes_are_counted_at_their_facts(vault: Vault, caller: Caller) -> None:
    coder = caller._replace(agent="coder")
    first = start_session(vault, coder, "software", PROJECT)
    fact = end_session(vault, coder, EXAMPLE, first.record.id).facts[0].fact
    second = start_session(vault, coder, "software", PROJECT)
    rule = {"rule": "Never force-push to main.", "why": "It lost work twice.", "failure_mode": "tool-failure"}
    document = {**EXAMPLE, "lessons": [], "decisions": [], "knowledge": [], "guardrails": [rule]}
    session = end_session(vault, coder, {**document, "outcomes": {fact.id: "useful"}}, second.record.id)
    (waiting,) = read_proposals(vault).open
    assert (waiting.kind, waiting.says, waiting.agent) == ("guardrail", rule["rule"], "coder")
    assert waiting.fact and waiting.fact.details and waiting.fact.details["failure_mode"] == "tool-failure"
    assert [proposal.id for proposal in session.proposals] == [waiting.id] == list(session.record.proposals)
    value = _facts(vault)[LESSON]
    assert value.metadata == {"outcomes": {"useful": 1}}
    assert rule["rule"] not in _facts(vault)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"summary": ""}, "summary: is empty"),
        ({"decisions": [{"decided": "a", "why": "b", "used": ["fact_ffff"]}]}, "fact_ffff"),
        ({"outcomes": {"fact_ffff": "useful"}}, "fact_ffff"),
        ({"lessons": ["x" * 5000]}, r"lessons\[0\]"),
        ({"summary": "The token is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}, "credential"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_lost(
    vault: Vault, caller: Caller, change: dict[str, Any], text: str
) -> None:
    session = start_session(vault, caller, "software", PROJECT).record.id
    note_session(vault, "A note before.", caller, session)
    before = _commits(vault)
    with pytest.raises((InvalidInput, NotFound, SecretFound), match=text):
        end_session(vault, caller, {**EXAMPLE, **change}, session)
    assert _commits(vault) == before
    assert find_session(vault, session).state == "open"
    assert [note.text for note in end_session(vault, caller, EXAMPLE, session).record.notes] == ["A note before."]


def test_a_session_that_ended_takes_nothing_more_until_it_is_resumed(vault: Vault, caller: Caller) -> None:
    session = start_session(vault, caller, session="my-own.id").record.id
    assert session == "my-own.id"
    end_session(vault, caller, EXAMPLE, session)
    for act in (
        lambda: note_session(vault, "Late.", caller, session),
        lambda: end_session(vault, caller, EXAMPLE, session),
        lambda: checkpoint_session(vault, caller, session=session),
    ):
        with pytest.raises(Refused, match="has ended"):
            act()
    again = start_session(vault, caller, session="my-own.id")
    assert again.record.state == "open" and again.commit
    assert start_session(vault, caller, session="my-own.id").commit is None
    assert resume_session(vault, caller, "my-own").record.id == session


def test_without_an_id_the_only_open_session_is_meant(vault: Vault, caller: Caller) -> None:
    with pytest.raises(NotFound):
        note_session(vault, "Nothing runs.", caller)
    text = start_session(vault, caller).record.id
    assert note_session(vault, "Something runs.", caller).session == text
    two = start_session(vault, caller).record.id
    with pytest.raises(AmbiguousId):
        note_session(vault, "Which?", caller)
    assert note_session(vault, "This.", caller._replace(session=two)).session == two
    with pytest.raises(Refused, match="belongs to the agent main"):
        note_session(vault, "Not mine.", caller._replace(agent="other"), two)


def test_notes_ask_for_a_scratchpad_after_five(vault: Vault, caller: Caller) -> None:
    start_session(vault, caller, task="boats")
    asks = [bool(note_session(vault, f"Note {at}.", caller).notices) for at in range(6)]
    assert asks == [False] * 4 + [True] * 2
    pad = (
        "# boats\n\n## Goal\n\nSail.\n\n## State\n\n"
        + "\n".join(f"- step {at}" for at in range(9))
        + "\n\n## Next\n\nDock.\n"
    )
    checkpoint = checkpoint_session(vault, caller, scratchpad=pad)
    assert (checkpoint.rotated, len(checkpoint.record.notes)) == ("", 6)
    assert (vault.root / "agents/main/scratchpads/boats.md").read_text() == pad
    assert note_session(vault, "Note 7.", caller).since_checkpoint == 1


@pytest.mark.parametrize(
    ("arguments", "later", "why"),
    [
        ({"used": 130, "window": 200}, 0, "the zone is rotate"),
        ({"stage": "plan"}, 0, "the stage changed to plan"),
        ({}, 61, "an hour has passed"),
        ({"used": 100, "window": 200}, 0, ""),
    ],
)
def test_older_parts_of_the_scratchpad_move_into_the_record(
    vault: Vault, caller: Caller, arguments: dict[str, Any], later: int, why: str
) -> None:
    start_session(vault, caller, "software", task="boats", stage="research")
    steps = [f"- step {at}" for at in range(9)]
    pad = "# boats\n\n## Goal\n\nSail.\n\n## State\n\n" + "\n".join(steps) + "\n\n## Next\n\nDock.\n"
    checkpoint = checkpoint_session(
        vault, caller._replace(now=caller.now + timedelta(minutes=later)), scratchpad=pad, **arguments
    )
    value = (vault.root / "agents/main/scratchpads/boats.md").read_text()
    moved = checkpoint.record.checkpoints[-1].get("moved")
    assert checkpoint.rotated == why
    assert moved == ({"State": "\n".join(steps[:4])} if why else None)
    assert value == (pad.replace("\n".join(steps), "\n".join(steps[4:])) if why else pad)
    assert "step 8" in checkpoint.restart and "Dock." in checkpoint.restart


def test_a_checkpoint_stores_lessons(vault: Vault, caller: Caller) -> None:
    start_session(vault, caller, "software")
    reflection = {"learned": ["Boats float."], "watch_for": ["Rocks."]}
    checkpoint = checkpoint_session(vault, caller, {"reflection": reflection, "lessons": ["Check the tide first."]})
    assert [remembered_fact.fact.fact for remembered_fact in checkpoint.facts] == ["Check the tide first."]
    assert "Rocks." in checkpoint.restart
    assert checkpoint.record.learned == (checkpoint.facts[0].fact.id,)


def test_the_heartbeat_commits_notes_and_abandons_sessions(vault: Vault, caller: Caller) -> None:
    text = start_session(vault, caller, task="boats").record.id
    note_session(vault, "Written down.", caller)
    assert fold_sessions(vault, caller).notes == 1
    assert fold_sessions(vault, caller).commits == ()
    assert b"Written down." in (vault.read(f"agents/main/sessions/{text}.json") or b"")
    later = caller._replace(now=caller.now + timedelta(hours=25))
    assert list_sessions(vault, later.now).sessions[0].state == "abandoned"
    assert fold_sessions(vault, later, dry_run=True).abandoned == (text,)
    assert fold_sessions(vault, later).abandoned == (text,)
    assert find_session(vault, text).state == "abandoned"
    assert fold_sessions(vault, later).commits == ()
    assert resume_session(vault, later, text).record.state == "open"


def test_what_was_served_is_recorded(vault: Vault, caller: Caller) -> None:
    session = start_session(vault, caller).record.id
    fact = checkpoint_session(vault, caller, {"lessons": ["Check the tide."]}).facts[0].fact
    mark_served(vault, caller._replace(session=session), [fact.id])
    mark_served(vault, caller._replace(session="of-another-program"), [fact.id])
    assert end_session(vault, caller, EXAMPLE, session).record.served == (fact.id,)


def test_a_note_survives_a_kill(vault: Vault, environment: dict[str, str], clawmem: Command) -> None:
    """The process is killed as soon as it has said that the note is stored, and a checkpoint before its commit."""
    session = clawmem("session", "start", "--json").data["session"]["id"]
    run = subprocess.Popen(
        [sys.executable, "-c", _NOTE_AND_WAIT, str(vault.root)],
        env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stdout is not None and run.stdout.readline().startswith("noted")
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    shown = clawmem("session", "show", session, "--json").data["session"]
    assert [note["text"] for note in shown["notes"]] == ["Still here."]
    log = vault.state / f"sessions/{session}.log"
    log.rename(log.with_suffix(".folding"))  # what a checkpoint leaves that was killed before its commit
    shown = clawmem("session", "show", session, "--json").data["session"]
    assert [note["text"] for note in shown["notes"]] == ["Still here."]
    clawmem("session", "note", "And more.")
    assert clawmem("heartbeat", "--only", "sessions").code == 0
    assert clawmem("heartbeat", "--only", "sessions").code == 0
    record = json.loads((vault.root / f"agents/main/sessions/{session}.json").read_text())
    assert [note["text"] for note in record["notes"]] == ["Still here.", "And more."]
    assert not list((vault.state / "sessions").iterdir())


_NOTE_AND_WAIT = """
import sys, time
from clawmem.__main__ import main
sys.argv = ["clawmem", "session", "note", "Still here.", "--vault", sys.argv[1]]
try:
    main()
except SystemExit:
    pass
sys.stdout.flush()
time.sleep(60)
"""


def test_the_whole_loop_as_commands(vault: Vault, tmp_path: Path, clawmem: Command) -> None:
    """Start, note, end with a document from stdin; `context` and `recall` in the session's scope know the lesson."""
    project = tmp_path / "upload"
    (project / ".git").mkdir(parents=True)
    (project / ".git/config").write_text('[remote "origin"]\n\turl = https://ada:secret@example.org/acme/upload.git\n')
    inside = {"CLAWMEM_VAULT": str(vault.root)}

    def as_coder(*words: str, env: dict[str, str] | None = None, given: str | None = None) -> Result:
        return clawmem(*words, "--agent", "coder", cwd=project, env={**inside, **(env or {})}, given=given)

    started = as_coder("session", "start", "--workflow", "software", "--task", "stream the uploads", "--json").data
    assert started["session"]["project"] == PROJECT
    assert started["scratchpad"]["path"] == "agents/coder/scratchpads/stream-the-uploads.md"
    assert as_coder("session", "note", "It works.", "--used", "190", "--window", "200").out.endswith("restart text\n")
    saved = as_coder("session", "checkpoint", "--from", "-", given='{"lessons": ["Check the tide."]}')
    assert "remembered: fact_" in saved.err + saved.out
    refused = as_coder("session", "end", "--from", "-", "--json", given='{"summary": "x"}')
    assert refused.code == 2 and "reflection: is missing" in refused.json["error"]["message"]
    example = clawmem("session", "schema", "--example").out
    ended = as_coder("session", "end", "--from", "-", "--json", given=example).data
    assert ended["outcome"] == ["added"] * 3
    found = as_coder("recall", "migrations before the tests", "--workflow", "software", "--json").data["facts"]
    assert [candidate["fact"] for candidate in found] == [LESSON]
    again = as_coder("session", "start", "--workflow", "software", "--json").data
    assert LESSON in as_coder("context", "migrations for tests", env={"CLAWMEM_SESSION": again["session"]["id"]}).out
    other = tmp_path / "other"
    other.mkdir()
    for words in (["context", "migrations for tests"], ["recall", "migrations for tests"], ["context"]):
        assert LESSON not in clawmem(*words, "--workflow", "software", cwd=other, env=inside).out
        assert LESSON not in clawmem(*words, "--workflow", "research", cwd=project, env=inside).out
    shown = as_coder("session", "show", again["session"]["id"], "--json").data["session"]
    assert found[0]["id"] in shown["served"]


def test_what_a_session_learned_is_found_by_others_in_its_project(vault: Vault, clawmem: Command) -> None:
    line = "Zebra printers need the ZPL driver 5.1."
    report = json.dumps({"summary": "Set up the printers.", "reflection": {"learned": [line], "watch_for": []}})
    for _ in range(2):
        started = clawmem("session", "start", "--workflow", "software", "--project", PROJECT, "--json")
    several = clawmem("session", "end", "--from", "-", given=report)
    assert "2 are meant: ses_" in several.err and "Name one of the open sessions" in several.err
    session = started.data["session"]["id"]
    assert clawmem("session", "end", "--session", session, "--from", "-", given=report).code == 0
    assert f"learned: {line} (agent, unreviewed)" in clawmem("recall", "Zebra").out
    here = {"CLAWMEM_PROJECT": PROJECT}
    assert line in clawmem("recall", "Zebra", "--agent", "codex", env=here).out
    assert line not in clawmem("recall", "Zebra", "--agent", "codex", env={"CLAWMEM_PROJECT": "example.org/b/c"}).out


def test_the_limits_of_sessions(vault: Vault, caller: Caller, clawmem: Command) -> None:
    session = start_session(vault, caller, task="boats").record.id
    assert clawmem("config", "set", "session.abandoned_hours", "2").code == 0
    vault = Vault(vault.root, vault.git.environment)
    for number in range(1, NOTES_BEFORE_CHECKPOINT):
        assert note_session(vault, f"note {number}", caller, session).notices == ()
    assert "5 notes since" in note_session(vault, "the last", caller, session).notices[0]
    assert checkpoint_session(vault, caller, session=session, used=65, window=100).zone == "rotate"
    later = caller._replace(now=caller.now + timedelta(hours=3))
    assert [record.state for record in list_sessions(vault, later.now).sessions] == ["abandoned"]


def test_watch_prints_each_event_as_it_happens(vault: Vault, environment: dict[str, str], clawmem: Command) -> None:
    # With --seconds, too, a line comes when something happens, and not when the time is over.
    words = [sys.executable, "-m", "clawmem", "session", "watch", "--json", "--seconds", "300"]
    clawmem("session", "start", "--id", "early")
    with subprocess.Popen(words, cwd=vault.root, env=environment, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        try:
            for _ in range(60):  # until the command follows
                clawmem("session", "note", "The sail is red.", "--session", "early")
                if select.select([watching.stdout], [], [], 1.0)[0]:
                    break
            calls = (
                ("session", "start", "--id", "one", "--task", "boats"),
                ("session", "note", "The mast is new.", "--session", "one"),
                ("session", "checkpoint", "--session", "one"),
            )
            assert [clawmem(*call).code for call in calls] == [0, 0, 0]
            seen = []
            while ("checkpoint", "one") not in seen:
                other = json.loads(watching.stdout.readline())
                seen.append((other["event"], other["session"]))
        finally:
            watching.kill()
    assert seen[0] == ("note", "early")
    assert [pair for pair in seen if pair[1] == "one"] == [("start", "one"), ("note", "one"), ("checkpoint", "one")]


def test_a_harmful_lesson_goes_to_review_and_is_withdrawn_on_approval(vault: Vault, caller: Caller) -> None:
    coder = caller._replace(agent="coder")
    lesson = (
        end_session(vault, coder, EXAMPLE, start_session(vault, coder, "software", PROJECT).record.id).facts[0].fact
    )

    def reported(outcome: str) -> int:
        document = {"summary": "Done.", "reflection": EXAMPLE["reflection"], "outcomes": {lesson.id: outcome}}
        end_session(vault, coder, document, start_session(vault, coder, "software", PROJECT).record.id)
        return len(read_proposals(vault).open)

    pair = ("harmful", "useful", "harmful", "harmful", "harmful", "harmful")
    assert [reported(text) for text in pair] == [0, 0, 0, 0, 1, 1]
    (waiting,) = read_proposals(vault).open
    assert (waiting.kind, waiting.does, waiting.why) == (
        "lesson", "retract", "Sessions reported it as harmful 4 times and as useful 1 times.",
    )  # fmt: skip
    data = record_data(_facts(vault)[LESSON], "projects/upload")
    assert (data["helpful"], data["harmful"]) == (1, 5)
    assert "helpful 1, harmful 5" in fact_line(_facts(vault)[LESSON], "projects/upload")
    with pytest.raises(NotPermitted):
        approve(vault, waiting.id, coder)
    approve(vault, waiting.id, caller)
    assert LESSON not in context(vault, coder, 800, reach=Reach("software", PROJECT)).text


def test_a_lesson_of_an_agent_is_labelled_until_a_person_accepts_it(
    vault: Vault, caller: Caller, clawmem: Command
) -> None:
    bot = {"CLAWMEM_AGENT": "coder", "CLAWMEM_WORKFLOW": "software", "CLAWMEM_PROJECT": PROJECT}
    lesson = clawmem("lesson", "add", "Check the limits of the proxy.", "--json", env=bot).data["facts"][0]
    assert lesson["reviewed"] is False
    question = "limits of the proxy"
    runtime = Runtime({**vault.git.environment, **bot}, vault.root, str(vault.root))
    served: dict[str, Callable[[], str]] = {
        "recall": lambda: clawmem("recall", question, env=bot).out,
        "brief": lambda: clawmem("recall", question, "--budget", "500", env=bot).out,
        "context": lambda: clawmem("context", question, env=bot).out,
        "list": lambda: clawmem("lesson", "list", env=bot).out,
        "search": lambda: clawmem("lesson", "search", question, env=bot).out,
        "show": lambda: clawmem("show", lesson["id"], env=bot).out,
        "start": lambda: clawmem("session", "start", "--task", question, env=bot).out,
        "mcp": lambda: call_tool("recall", {"question": question}, runtime),
    }
    marked = {name: _label(text(), name) for name, text in served.items()}
    assert all(marked.values()), marked
    assert clawmem("lesson", "accept", lesson["id"], env=bot).code == 1
    result = clawmem("lesson", "accept", lesson["id"], "--reason", "seen it twice", "--json")
    assert result.data["facts"][0]["metadata"]["approved"]["by"] == "Ada Person <ada@example.org>"
    message = vault.git.run("log", "-1", "--format=%(trailers:key=Reviewed-by,valueonly)").decode().strip()
    assert message == "Ada Person <ada@example.org>"
    assert not any(_label(text(), name) for name, text in served.items())
    assert clawmem("lesson", "accept", lesson["id"], "--json").data["commit"] is None


def _label(text: str, name: str) -> bool:
    assert "Check the limits of the proxy." in text, (name, text)
    # A start also shows the agent's scratchpad, which has a label of its own.
    return "unreviewed" in text.replace(", kept by coder, unreviewed)", "")
