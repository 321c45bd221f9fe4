"""`clawmem hook` as the process that a harness starts: always exit code 0, in time, and only what helps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from clawmem.index.tables.background import exact_counter
from clawmem.model.harness import HARNESSES, native_events
from clawmem.vault.state.heartbeat_state import heartbeat_lock
from clawmem.vault.vault import Vault
from tests.conftest import Command, Result

pytestmark = pytest.mark.usefixtures("without_vectors")

SESSION = "4f1c0a"
NAMES = ("tide", "crane", "pilot", "ferry", "buoy", "dock", "lock", "mast")
ASKED = "which compiler does the boat build use?"
HELLO = {
    "type": "user", "uuid": "u1", "sessionId": SESSION, "timestamp": "2026-03-02T10:00:00Z",
    "message": {"role": "user", "content": "Hello."},
}  # fmt: skip
DAY = "2026-03-01T10:00:00Z"
IDLE = ["", "yes", "go on please", "ok, do it", "rename the variable in the parser", "🙂" * 900]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a git repository that has a remote."""
    folder = tmp_path / "site"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git/config").write_text('[remote "origin"]\n\turl = https://git.example.org/ada/boat.git\n')
    return folder


def say(clawmem: Command, vault: Path, event: str, folder: Path, harness: str = "claude-code", **more: Any) -> Result:
    """Call a hook as a harness does."""
    value = json.dumps({"session_id": SESSION, "cwd": str(folder), "hook_event_name": event, **more})
    return clawmem("hook", event, "--harness", harness, given=value, cwd=folder, env={"CLAWMEM_VAULT": str(vault)})


def context(result: Result) -> str:
    """The text that reaches the agent."""
    assert result.code == 0, result.err
    return json.loads(result.out)["hookSpecificOutput"]["additionalContext"] if result.out.strip() else ""


def marks(vault: Path) -> dict[str, str]:
    return {
        path.stem: json.loads(path.read_text())["outcome"] for path in (vault / ".git/clawmem/hooks").glob("*.json")
    }


def until_read(vault: Path, harness: str = "claude-code", what: str = "transcript") -> dict[str, Any]:
    """Wait for the process that nobody waits for; returns its mark."""
    path = vault / f".git/clawmem/hooks/{harness}-{what}.json"
    for _ in range(300):
        if path.exists():
            record: dict[str, Any] = json.loads(path.read_text())
            return record
        time.sleep(0.1)
    raise AssertionError(f"nothing is marked as {what}")


def test_a_prompt_gets_what_answers_it_and_once(clawmem: Command, vault_root: Path, project: Path) -> None:
    assert clawmem("remember", "The boat build uses the compiler clang.").code == 0
    assert clawmem("remember", "Ada's sister lives in Oslo.").code == 0
    first = context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=ASKED))
    assert "clang" in first and "sister" not in first and first.startswith("<clawmem-context>")
    for prompt in (ASKED, *IDLE):
        assert context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=prompt)) == "", prompt
    assert marks(vault_root) == {"claude-code-UserPromptSubmit": "done"}


def test_a_long_prompt_gets_what_bears_on_it_within_a_budget_that_can_be_set(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    ports = [f"The {name} service of the harbour listens on port {number}." for number, name in enumerate(NAMES, 8000)]
    items = [{"role": "user", "content": text, "session": "before"} for text in ports]
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, items)))
    for prompt in ("Thanks, looks good to me!", "continue with the next step", "Why does this loop never end?"):
        assert context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=prompt)) == ""
    long = (
        "I am rewriting the compose file from scratch this afternoon and want every healthcheck to be right before I"
        " push. Which port does each harbour service listen on? Answer briefly and leave the volumes alone."
    )
    wide = context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=long))
    assert wide.count(" port ") == len(NAMES)
    clawmem("config", "set", "context.prompt_budget", "200")
    narrow = context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=long))
    assert 0 < narrow.count(" port ") < len(NAMES)


def test_what_is_asked_below_a_long_pasted_text_is_read(clawmem: Command, vault_root: Path, project: Path) -> None:
    assert clawmem("remember", "The boat build uses the compiler clang.").code == 0
    pasted = "\n".join(f"{number:05} hatch closed, wind from the west" for number in range(6000))
    result = say(clawmem, vault_root, "UserPromptSubmit", project, prompt=f"{pasted}\n\n{ASKED}")
    assert "clang" in context(result)


def test_a_prompt_that_names_somebody_gets_what_is_known_of_them(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    clawmem("remember", "Orla Byrne cannot eat nuts.", "--entity", "areas/people/orla-byrne")
    clawmem("remember", "Orla Byrne is being treated for asthma.", "--entity", "areas/people/orla-byrne")
    clawmem("remember", "Deploys go out on Tuesdays only.", "--entity", "projects/tidemap")
    clawmem("remember", "General cleaning is on Mondays.", "--entity", "areas/general")

    sessions = iter("abcdef")

    def given(prompt: str) -> str:
        return context(say(clawmem, vault_root, "UserPromptSubmit", project, session_id=next(sessions), prompt=prompt))

    assert "nuts" in given("plan a birthday menu, Orla comes too")
    assert "Tuesdays" in given("ship version two of tidemap this week")
    assert "asthma" not in given("fix the traceback in the API that Orla wrote")
    assert given("explain in general how a mutex works") == ""
    clawmem("remember", "Orla Quinn cannot swim.", "--entity", "areas/people/orla-quinn")
    assert given("plan a birthday menu, Orla comes too") == ""


def test_a_prompt_names_a_project_as_its_path_does_not(clawmem: Command, vault_root: Path, project: Path) -> None:
    clawmem("remember", "The service writes to the host quarry.", "--entity", "projects/tide-gauge")
    clawmem("remember", "Nobody may wake her before eight.", "--entity", "areas/people/gosia-laka")
    asked = ("fill in the template of tide-gauge", "plan a breakfast with Gosia Łąka")
    items = [
        context(say(clawmem, vault_root, "UserPromptSubmit", project, session_id=each[:4], prompt=each))
        for each in asked
    ]
    assert "quarry" in items[0] and "before eight" in items[1]


def test_what_stands_beside_what_answers_a_prompt_is_given_too(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    lines = ("The boiler shows the error E4, any idea?", "Top it up as soon as it falls below one bar.")
    value = "\n".join(
        json.dumps({"role": "user", "content": line, "timestamp": f"2026-03-02T10:0{at}:00Z", "session": "s8"})
        for at, line in enumerate(lines)
    )
    assert clawmem("ingest", "-", "--format", "jsonl", given=value).code == 0
    prompt = "the flat is cold again and the boiler shows an error, what do I check before I call anyone in town"
    assert "one bar" in context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=prompt))


def test_a_session_starts_with_its_project_and_after_a_compaction_with_its_task(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    assert clawmem("remember", "The boat build uses the compiler clang.").code == 0
    assert clawmem("remember", "Ada's sister lives in Oslo.").code == 0
    assert clawmem("remember", "The parser reads YAML with a bounded depth.").code == 0
    start = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    assert "clang" in start and "sister" not in start and "YAML" not in start
    say(clawmem, vault_root, "UserPromptSubmit", project, prompt="how deep does the parser read YAML?")
    after = context(say(clawmem, vault_root, "SessionStart", project, source="compact"))
    assert "YAML" in after and "sister" not in after


def test_a_session_of_a_new_project_starts_with_what_is_in_use_and_pinned(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    for text in ("My name is Ines.", "I prefer short answers.", "My sister is ill."):
        assert clawmem("remember", text).code == 0
    assert clawmem("edit", "My name is Ines.", "--pin").code == 0
    told = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    assert "## Always\n- My name is Ines." in told and "I prefer short answers." in told
    assert "sister" not in told


def test_a_session_starts_with_all_of_its_project_and_with_what_was_promoted_for_all(
    clawmem: Command, vault_root: Path, project: Path, tmp_path: Path
) -> None:
    env = {"CLAWMEM_VAULT": str(vault_root)}
    names = [f"{first}{second}" for first in NAMES[:4] for second in NAMES[:4]]
    text = "\n".join(f"The {name} module is written in Rust." for name in names)
    decided = ("--category", "decision", "--scope", "project")
    assert clawmem("remember", text, *decided, cwd=project, env=env).code == 0
    clawmem("remember", "Marta checks each change of the harbour plan.", "--importance", "0.8")
    items = vault_root / "life/areas/general/items.json"
    mark = {"promoted": {"on": "2026-11-21", "score": 0.75, "importance": 0.5, "reasons": ["it shapes the work"]}}
    items.write_text(
        items.read_text().replace('"importance": 0.8', f'"importance": 0.8, "metadata": {json.dumps(mark)}')
    )
    clawmem("note", "The harbour is calm.")  # takes in the edit
    told = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    assert told.count("is written in Rust") == 16 and "Marta checks" in told
    assert "Marta checks" in context(say(clawmem, vault_root, "SessionStart", tmp_path, source="startup"))


def test_what_an_agent_stores_in_a_repository_is_of_that_project(
    clawmem: Command, vault_root: Path, project: Path, tmp_path: Path
) -> None:
    env = {"CLAWMEM_VAULT": str(vault_root), "CLAWMEM_AGENT": "scout"}
    for text in ("The tests need redis.", "The user prefers tabs.", "My sister Ana lives in Bonn."):
        clawmem("remember", text, cwd=project, env=env)
    facts = {fact["fact"]: fact for fact in clawmem("list", "--json").data["facts"]}
    assert {text: (fact["entity"], fact.get("project")) for text, fact in facts.items()} == {
        "The tests need redis.": ("areas/general", "git.example.org/ada/boat"),
        "The user prefers tabs.": ("areas/people/user", None),
        "My sister Ana lives in Bonn.": ("areas/people/ana", None),
    }
    (tmp_path / "plane/.git").mkdir(parents=True)
    (tmp_path / "plane/.git/HEAD").write_text("ref: refs/heads/main\n")
    for folder, known in ((project, True), (tmp_path / "plane", False)):
        told = context(say(clawmem, vault_root, "SessionStart", folder, source="startup"))
        assert ("redis" in told, "tabs" in told) == (known, True)
    at = {"CLAWMEM_VAULT": str(vault_root)}
    clawmem("remember", "The door is green.", cwd=project, env=at)
    clawmem("remember", "The gate is red.", "--scope", "organisation", cwd=project, env=at)
    facts = {fact["fact"]: fact for fact in clawmem("list", "--json").data["facts"]}
    assert facts["The door is green."]["project"] == "git.example.org/ada/boat"
    assert "project" not in facts["The gate is red."]


OF_REPOSITORY = """Run cargo deny before a release.
The database is Postgres 16.
Redis runs on port 6380.
Migrations run on deploy.
Integration tests are slow.
We deploy on Tuesdays.
I use tabs in this repo.
Boat talks to the ledger over gRPC.
The server in the office rack is otter-03."""
OF_OWNER = """The SMS gateway of Fjordline drops long messages.
The fee of Fjordline for small boats is 36 euros.
Lars called: the fee goes up in May."""
OF_OTHERS = """Ottilie lives in Bruges.
My dentist is Dr Maes.
I prefer tabs.
The office moved to Kortrijk.
Saoirse resigned.
Mark resigned.
Petra said that the bill is late.
Lars and Fien are in Lisbon.
Kestrel runs on Svelte.
The budget of Kestrel is 84,000 euros.
The Kestrel server is otter-05.
Our office is closed on Fridays.
Das Haus hat keine Heizung."""


def test_what_an_agent_says_of_people_and_other_things_is_known_everywhere(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    assert clawmem("config", "set", "user.name", "Ottilie Brandvold").code == 0
    env = {"CLAWMEM_VAULT": str(vault_root), "CLAWMEM_AGENT": "scout"}
    assert clawmem("remember", f"{OF_REPOSITORY}\n{OF_OTHERS}", cwd=project, env=env).code == 0
    facts = clawmem("list", "--limit", "100", "--json").data["facts"]
    of_project = {fact["fact"] for fact in facts if "project" in fact}
    assert of_project == set(OF_REPOSITORY.splitlines()) and len(facts) == 22


def test_what_names_the_owner_of_a_repository_is_of_its_project(
    clawmem: Command, vault_root: Path, project: Path, tmp_path: Path
) -> None:
    config = project / ".git/config"
    config.write_text(config.read_text().replace("ada/", "Fjordline/"))
    of_others = "The office of Fjordline is in Turku.\nFjordline's dentist is Dr Maes.\nThe fee of Kestrel is 9 euros."
    for by in ({}, {"CLAWMEM_AGENT": "scout"}):
        given = {"CLAWMEM_VAULT": str(vault_root), **by}
        assert clawmem("remember", f"{OF_OWNER}\n{of_others}", cwd=project, env=given).code == 0
    facts = clawmem("list", "--json").data["facts"]
    assert {fact["fact"] for fact in facts if "project" in fact} == set(OF_OWNER.splitlines())
    assert {fact["fact"] for fact in facts if "project" not in fact} == set(of_others.splitlines())
    (tmp_path / "plane/.git").mkdir(parents=True)
    (tmp_path / "plane/.git/HEAD").write_text("ref: refs/heads/main\n")
    found = clawmem("recall", "fee for small boats", cwd=tmp_path / "plane", env={"CLAWMEM_VAULT": str(vault_root)})
    assert "36 euros" not in found.out and "36 euros" in clawmem("recall", "fee for small boats").out


OF_A_LIFE = {
    "My sister Ana collects ceramics.": (),
    "Ana's flat is in Bonn.": ("-e", "areas/people/ana"),
    "I must not take ibuprofen.": ("--category", "health"),
    "My hourly rate is 85 euros.": (),
    "The heating is serviced in May.": ("-e", "areas/home"),
    "Use yarn.": ("-e", "projects/kestrel", "--category", "instruction"),
    "Kestrel runs on UpCloud.": ("-e", "projects/kestrel"),
    "Heron Labs pays on the 25th.": ("-e", "areas/companies/heron-labs"),
}
OF_ALL_WORK = {
    "The user's name is Ines Prado.": ("--importance", "0.8"),
    "I prefer answers in English.": ("--category", "preference"),
    "Never push without asking.": ("--category", "instruction"),
    "Redis drops keys above 2 GB.": ("-e", "resources/redis"),
}


def test_a_start_in_a_repository_tells_what_is_for_all_work_and_nothing_of_a_life_or_another_project(
    clawmem: Command, vault_root: Path, project: Path, tmp_path: Path
) -> None:
    for text, options in {**OF_A_LIFE, **OF_ALL_WORK}.items():
        assert clawmem("remember", text, *options).code == 0
    told = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    assert [text for text in OF_A_LIFE if text in told] == [], told
    assert all(text in told for text in OF_ALL_WORK), told
    # What is known of the project leaves the user in.
    at = {"CLAWMEM_VAULT": str(vault_root)}
    assert clawmem("remember", "The Boat build uses clang.", cwd=project, env=at).code == 0
    assert clawmem("remember", "Boat needs Python 3.12.").code == 0
    beside = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    assert all(text in beside for text in ("clang", "Python 3.12", "Ines Prado", "in English")), beside
    assert [text for text in OF_A_LIFE if text in beside] == [], beside


def test_a_start_outside_of_a_repository_tells_what_harms_to_forget(
    clawmem: Command, vault_root: Path, project: Path, tmp_path: Path
) -> None:
    vital = ("I must not take ibuprofen.", "My sister Ana is allergic to nuts.", "The key is under the third pot.")
    for text in vital:
        assert clawmem("remember", text, "--importance", "0.8").code == 0
    rule = ("--scope", "project", "--category", "instruction", "--importance", "0.95")
    clawmem("remember", "Run the tests first.", *rule, cwd=project, env={"CLAWMEM_VAULT": str(vault_root)})
    told = context(say(clawmem, vault_root, "SessionStart", tmp_path, source="startup"))
    assert all(text in told for text in vital) and "tests" not in told
    # A question is one about everything, and no order of a project leads what it gets.
    asked = "which tests run first, of all that we do?"
    assert "Run the tests" in context(say(clawmem, vault_root, "UserPromptSubmit", tmp_path, prompt=asked))
    assert "Run the tests" not in clawmem("context", "plan Ana's birthday").out


def test_a_fact_of_the_project_takes_nothing_from_what_names_it(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    config = project / ".git/config"
    config.write_text(config.read_text().replace("boat.git", "heron.git"))
    named = ["Never deploy Heron on a Friday.", "Heron talks to the ledger over gRPC."]
    others = [f"The {word} bird sings in {word} wood." for word in (f"{a}{b}" for a in NAMES for b in NAMES[:4])]
    text = "\n".join([*named, "Ada's daughter is in the heron class.", "Dimitri might leave, which is confidential."])
    assert clawmem("remember", text).code == 0
    assert clawmem("remember", "\n".join(others)).code == 0
    alone = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    at = {"CLAWMEM_VAULT": str(vault_root)}
    rule = "Run cargo deny before a release."
    assert clawmem("remember", rule, "--scope", "project", cwd=project, env=at).code == 0
    beside = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    for told in (alone, beside):
        assert all(fact in told for fact in named), told
        assert not any(word in told for word in ("daughter", "Dimitri", "sings")), told
    assert rule in beside


def test_a_prompt_about_food_or_medicine_gets_what_somebody_does_not_bear(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    prompts = {
        "Please order lunch for me, something with nuts": True,
        "book a restaurant for the team": True,
        "can I take ibuprofen?": True,
        "add the linter to the build script": False,
        "write a letter to the landlord": False,
    }
    vital = ["I am allergic to hazelnuts.", "I take 50 micrograms of levothyroxine each morning."]
    assert clawmem("remember", "\n".join([*vital, "Never deploy on a Friday.", "I use a laptop."])).code == 0
    for prompt, wanted in prompts.items():
        for told in (wanted, False):  # once in a session
            given = say(clawmem, vault_root, "UserPromptSubmit", project, session_id=prompt, prompt=prompt)
            assert [fact in context(given) for fact in vital] == [told, told] and "Friday" not in context(given)


def test_a_weekday_in_a_prompt_or_question_about_what_is_to_come_is_the_coming_one(
    clawmem: Command, vault_root: Path, project: Path, tmp_path: Path
) -> None:
    talk = tmp_path / "talk.jsonl"
    said = {"session": "s", "role": "user", "timestamp": "2026-11-20T10:00:00Z", "content": "The coffee broke."}
    talk.write_text(json.dumps(said))
    assert clawmem("ingest", str(talk)).code == 0
    assert clawmem("remember", "Never deploy the boat on a Friday.\nThe demo is on Friday.").code == 0
    asked = {"what are we doing on Friday?": ("demo", "coffee"), "what did we do on Friday?": ("coffee", "demo")}
    for question, (found, other) in asked.items():
        text = clawmem("recall", question).out
        assert found in text and other not in text, question
    text = context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt="can I deploy on Friday?"))
    assert "Never deploy" in text and "coffee" not in text


def test_a_prompt_gets_facts_in_conflict_marked(clawmem: Command, vault_root: Path, project: Path) -> None:
    for name in ("otter-03", "otter-09"):
        assert clawmem("remember", f"The staging server is {name}.").code == 0
    asked = "what is the staging server?"
    text = context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=asked))
    assert "otter-09" in text and "! In conflict with the line above" in text
    assert "! In conflict" in clawmem("recall", asked, "--json").data["context"]["text"]


def test_a_question_with_one_telling_word_gets_the_few_facts_with_it(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    for text in (
        "Marek does the frontend.",
        "The boat is deployed to Hetzner.",
        *(f"Tea {n} is hot." for n in range(5)),
    ):
        assert clawmem("remember", text).code == 0
    asked = {"who does the frontend?": "Marek", "where do we deploy?": "Hetzner", "frontend": "", "any tea?": ""}
    for prompt, wanted in asked.items():
        text = context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=prompt))
        assert wanted in text and bool(text) == bool(wanted), prompt


def test_a_session_starts_with_what_holds_of_its_project_and_not_with_small_talk(
    clawmem: Command, vault_root: Path, project: Path, tmp_path: Path
) -> None:
    at = {"CLAWMEM_VAULT": str(vault_root)}
    of_project = ("The database is Postgres 16.", "The rate limit is 80 per minute.")
    for fact in of_project:
        assert clawmem("remember", fact, "--scope", "project", cwd=project, env=at).code == 0
    assert clawmem("remember", "The Kestrel repository moves to GitHub.", "-e", "projects/kestrel").code == 0
    pair = ("how do you spell occurrence?", "done for today, bye", "the boat repository builds again")
    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(json.dumps({"session": "s", "role": "user", "content": words}) + "\n" for words in pair))
    assert clawmem("ingest", str(talk)).code == 0
    start = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    places = [start.index(fact) for fact in of_project]
    assert all(words not in start for words in (*pair, "Kestrel")) and max(places) > 0
    # With a task, what was said of it stands beside the project's facts.
    text = clawmem("context", "boat repository builds", cwd=project, env={**at, "CLAWMEM_PROJECT": str(project)}).out
    assert "builds again" in text


def test_status_says_that_a_message_with_a_credential_was_not_kept(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    transcript = project / "t.jsonl"
    texts = ("We build with clang.", "The password of the wiki is: hunter2-Kx81.")
    rows = [
        {"type": "user", "uuid": f"u{number}", "sessionId": SESSION, "timestamp": "2026-03-02T10:00:00Z",
         "cwd": str(project), "message": {"role": "user", "content": text}}
        for number, text in enumerate(texts)
    ]  # fmt: skip
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    say(clawmem, vault_root, "PreCompact", project, transcript_path=str(transcript), trigger="auto")
    assert until_read(vault_root)["message"] == "1 event added, 1 line skipped"
    (line,) = [line for line in clawmem("status").out.splitlines() if line.startswith("skipped")]
    assert "1 message with a credential not kept" in line and "hunter2" not in line


def test_a_transcript_is_handed_over_and_learned_once(clawmem: Command, vault_root: Path, project: Path) -> None:
    transcript = project / "t.jsonl"
    lines = [
        {"type": "user", "uuid": "u1", "sessionId": SESSION, "timestamp": "2026-03-02T10:00:00Z", "cwd": str(project),
         "gitBranch": "main", "message": {"role": "user", "content": "We build with clang."}},
        {"type": "attachment", "uuid": "u2", "sessionId": SESSION, "attachment": {"type": "hook_additional_context",
         "content": "<clawmem-context>\n- Ada keeps bees.\n</clawmem-context>"}},
    ]  # fmt: skip
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = say(clawmem, vault_root, "PreCompact", project, transcript_path=str(transcript), trigger="auto")
    assert (result.code, result.out.strip()) == (0, "")
    assert until_read(vault_root)["message"] == "1 event added, 0 lines skipped"
    (vault_root / ".git/clawmem/hooks/claude-code-transcript.json").unlink()
    say(clawmem, vault_root, "SessionEnd", project, transcript_path=str(transcript), reason="exit")
    assert until_read(vault_root)["message"] == "0 events added, 0 lines skipped"
    (event,) = [json.loads(line) for line in (vault_root / "ledger/2026-03-02.jsonl").read_text().splitlines()]
    assert event["metadata"] == {
        "project": "git.example.org/ada/boat", "cwd": str(project), "branch": "main",
    }  # fmt: skip


def test_what_is_said_to_an_agent_that_reads_for_one_person_is_for_this_one(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    _share(vault_root)
    transcript = project / "t.jsonl"
    gout = {"role": "user", "speaker": "Ben", "content": "I have gout since May.", "to": "Ben", "timestamp": DAY}
    clawmem("ingest", "-", given=json.dumps(gout) + "\n")
    said = {**HELLO, "message": {"role": "user", "content": "I planted zinnias."}}
    asked = {**HELLO, "uuid": "u2", "message": {"role": "user", "content": "Forget that Ben has gout."}}
    transcript.write_text(json.dumps(said) + "\n" + json.dumps(asked) + "\n")
    value = json.dumps({"session_id": SESSION, "cwd": str(project), "transcript_path": str(transcript)})
    words = ("hook", "SessionEnd", "--harness", "claude-code", "--vault", str(vault_root), "--viewer", "ann")
    assert clawmem(*words, given=value, cwd=project).code == 0
    assert until_read(vault_root)["message"] == "2 events added, 0 lines skipped"
    assert "gout" in clawmem("recall", "gout", "--viewer", "ben").out, "she hides nothing that she may not see"
    seen = {name: "zinnias" in clawmem("recall", "zinnias", "--viewer", name).out for name in ("ann", "ben", "boss")}
    assert seen == {"ann": True, "ben": False, "boss": True}
    speakers = [json.loads(line)["speaker"] for line in _ledger(vault_root).splitlines()]
    assert speakers == ["Ben", "Ann", "Ann"], "it is not the owner of the memory who speaks"


def _share(vault: Path) -> None:
    (vault / "governance").mkdir(exist_ok=True)
    policy = "people: {ann: {name: Ann}, ben: {name: Ben}, boss: {role: owner}}\nrules: [{role: owner, may: all}]\n"
    (vault / "governance/access.yaml").write_text(policy)


@pytest.mark.parametrize(("next_command", "viewer"), [("start", "ann"), ("heartbeat", "ann"), ("start", None)])
def test_a_killed_session_is_for_whom_its_own_agent_read_whoever_takes_it_in(
    clawmem: Command, vault_root: Path, project: Path, next_command: str, viewer: str | None
) -> None:
    _share(vault_root)
    value = {"session_id": "killed", "cwd": str(project), "transcript_path": str(_killed(project)), "prompt": "Hello."}
    words = ("--harness", "claude-code", "--vault", str(vault_root))
    clawmem("hook", "UserPromptSubmit", *words, *(("--viewer", viewer) if viewer else ()), given=json.dumps(value))
    if next_command == "heartbeat":
        assert clawmem("heartbeat").code == 0
    else:
        value = {"session_id": "next", "cwd": str(project), "source": "startup"}
        clawmem("hook", "SessionStart", *words, "--viewer", "ben", given=json.dumps(value))
        assert until_read(vault_root)["message"] == "1 event added, 0 lines skipped"
    seen = {name: "clang" in clawmem("recall", "clang", "--viewer", name).out for name in ("ann", "ben", "boss")}
    assert seen == {"ann": True, "ben": viewer is None, "boss": True}


def test_what_a_session_said_is_read_after_the_heartbeat_of_another(
    clawmem: Command, vault_root: Path, project: Path, vault: Vault
) -> None:
    clawmem("config", "set", "lock.wait_seconds", "0.2")
    transcript = project / "t.jsonl"
    transcript.write_text(json.dumps(HELLO) + "\n")
    with heartbeat_lock(vault, wait=0):
        say(clawmem, vault_root, "SessionEnd", project, transcript_path=str(transcript), reason="exit")
        assert until_read(vault_root)["outcome"] == "done"
        time.sleep(1)
        assert "claude-code-reading" not in marks(vault_root)
    assert until_read(vault_root, what="reading")["outcome"] == "done"


def test_what_fails_is_marked_and_the_agent_goes_on(clawmem: Command, vault_root: Path, project: Path) -> None:
    result = say(clawmem, vault_root, "SessionEnd", project, transcript_path=str(project / "none.jsonl"))
    assert result.code == 0
    assert until_read(vault_root)["outcome"] == "failed"
    assert say(clawmem, vault_root, "Moonrise", project).code == 0
    assert marks(vault_root)["claude-code-Moonrise"] == "failed"
    state = clawmem("status", "--json").data["hooks"]
    assert {other["event"] for other in state} == {"SessionEnd", "Moonrise", "transcript"}
    problems = clawmem("doctor", "--json").data["problems"]
    assert len([problem for problem in problems if problem["check"] == "hook"]) == 2


def test_doctor_ends_what_a_hook_said_with_one_full_stop(clawmem: Command) -> None:
    clawmem("hook", "no-such-event", given="{}")
    assert "no event 'no-such-event'.  [hook]" in clawmem("doctor").out


def test_without_a_vault_or_a_folder_or_an_input_the_exit_code_is_0(clawmem: Command, tmp_path: Path) -> None:
    for words in (["hook"], ["hook", "SessionStart", "--harness", "none"], ["hook", "SessionStart", "--moon"]):
        assert clawmem(*words, cwd=tmp_path).code == 0
    assert clawmem("hook", "SessionStart", given=b"\xff[{", cwd=tmp_path).code == 0
    result = clawmem("hook", "SessionStart", given=json.dumps({"cwd": "/nowhere/at/all"}), cwd=tmp_path)
    assert (result.code, result.out) == (0, "")


def test_it_ends_in_time_where_the_input_does_not(vault_root: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "clawmem", "hook", "SessionStart", "--harness", "claude-code"]
    with subprocess.Popen(command, cwd=vault_root, env=environment, stdin=subprocess.PIPE) as process:
        assert process.wait(timeout=30) == 0
    assert marks(vault_root) == {}


def test_a_damaged_vault_stops_nobody(clawmem: Command, vault_root: Path, project: Path) -> None:
    assert clawmem("remember", "The boat build uses the compiler clang.").code == 0
    (vault_root / ".git/clawmem/index.sqlite").write_bytes(b"no database")
    (vault_root / "clawmem.yaml").write_text("format: [\n")
    assert say(clawmem, vault_root, "UserPromptSubmit", project, prompt=ASKED).code == 0


@pytest.mark.parametrize("harness", [other_harness for other_harness in HARNESSES if native_events(other_harness)])
def test_every_event_of_every_harness(harness: str, clawmem: Command, vault_root: Path, project: Path) -> None:
    assert clawmem("remember", "The boat build uses the compiler clang.").code == 0
    for event in native_events(harness):
        assert say(clawmem, vault_root, event, project, harness, prompt=ASKED).code == 0
    assert set(marks(vault_root).values()) == {"done"}


def test_it_imports_only_what_it_needs(vault_root: Path, environment: dict[str, str]) -> None:
    code = (
        "import sys; from clawmem.faces.cli.plain import run_plain\n"
        "run_plain(['hook', sys.argv[1], '--harness', 'claude-code'])\n"
        "bad = ('typer', 'rich', 'git', 'yaml', 'tiktoken', 'subprocess', 'threading', 'clawmem.learning', 'inspect')\n"
        "print([one for one in bad if one in sys.modules])"
    )
    # The first process of all reads the settings, which are then kept as JSON.
    imported = []
    for event in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
        data = json.dumps({"prompt": ASKED, "cwd": str(vault_root)}).encode()
        process = subprocess.run(
            [sys.executable, "-c", code, event], input=data, capture_output=True, cwd=vault_root, env=environment
        )
        imported.append(process.stdout.splitlines()[-1])
    assert imported[1:] == [b"[]", b"[]"]
    assert os.path.exists(vault_root / ".git/clawmem/hooks")  # noqa: PTH110


def test_a_session_of_a_project_is_registered_and_ended(clawmem: Command, vault_root: Path, project: Path) -> None:
    transcript = project / "t.jsonl"
    moved = {**HELLO, "message": {"role": "user", "content": "Move the boat build to clang."}}
    transcript.write_text(json.dumps(moved) + "\n")
    say(clawmem, vault_root, "SessionStart", project, source="startup")
    for _ in range(300):
        if "claude-code-session" in marks(vault_root):
            break
        time.sleep(0.1)
    say(clawmem, vault_root, "UserPromptSubmit", project, prompt="Move the boat build to clang.")
    (session,) = clawmem("session", "list", "--json").data["sessions"]
    assert (session["id"], session["state"]) == (SESSION, "open")
    assert session["project"] == "git.example.org/ada/boat"
    say(clawmem, vault_root, "SessionEnd", project, transcript_path=str(transcript))
    until_read(vault_root)
    (session,) = clawmem("session", "list", "--json").data["sessions"]
    assert session["state"] == "ended"
    other = say(clawmem, vault_root, "SessionStart", project, session_id="other")
    assert context(other).count("Move the boat build to clang.") == 1
    assert "Ended by its program" not in context(other)


def test_a_session_is_told_that_nobody_reads(clawmem: Command, vault_root: Path, project: Path) -> None:
    def start(session: str) -> str:
        return context(say(clawmem, vault_root, "SessionStart", project, session_id=session, source="startup"))

    assert "unread" not in start("empty")
    assert clawmem("ingest", "-", given=json.dumps({"role": "user", "content": "I live in Oslo."})).code == 0
    text = "- 1 message unread: `learn_pending` shows them, `learn_apply` takes the answer."
    assert f"{text} A person turns reading on: `clawmem setup claude-code --learn`.\n" in start("off")
    assert clawmem("config", "set", "llm.preset", "claude").code == 0
    assert clawmem("config", "set", "llm.model", "command").code == 0
    assert "unread" not in start("on"), "the program reads it today"
    old = {"role": "user", "content": "I like tea.", "timestamp": "2026-01-05T10:00:00Z"}
    assert clawmem("ingest", "-", given=json.dumps(old)).code == 0
    assert "- 2 messages unread: `learn_pending`" in start("late"), "it should have read that long ago"


def test_another_project_sees_nothing_of_it(clawmem: Command, vault_root: Path, project: Path, tmp_path: Path) -> None:
    result = clawmem("remember", "The boat build uses the compiler clang.", "--scope", "project", cwd=project,
                   env={"CLAWMEM_VAULT": str(vault_root)})  # fmt: skip
    assert result.code == 0, result.err
    (tmp_path / "plane/.git").mkdir(parents=True)
    (tmp_path / "plane/.git/HEAD").write_text("ref: refs/heads/main\n")
    assert "clang" in context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=ASKED))
    for event in ("SessionStart", "UserPromptSubmit"):
        assert context(say(clawmem, vault_root, event, tmp_path / "plane", prompt=ASKED)) == ""


def tell(clawmem: Command, vault: Path, folder: Path) -> None:
    """Store a fact of the project of a folder."""
    scoped = ("--scope", "project", "--vault", str(vault))
    assert clawmem("remember", "The boat build uses clang.", *scoped, cwd=folder).code == 0


def test_another_form_of_the_remotes_address_is_the_same_project(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    tell(clawmem, vault_root, project)
    for address in ("git@git.example.org:Ada/Boat.git", "ssh://git@git.example.org:2222/ada/boat"):
        (project / ".git/config").write_text(f'[remote "origin"]\n\turl = {address}\n')
        started = say(clawmem, vault_root, "SessionStart", project, source="startup", session_id=address)
        assert "clang" in context(started), address


def test_a_remote_that_was_renamed_is_named_once_and_joined(clawmem: Command, vault_root: Path, project: Path) -> None:
    tell(clawmem, vault_root, project)
    (project / ".git/config").write_text('[remote "origin"]\n\turl = https://git.example.org/yard/boat\n')
    start = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    pair = "git.example.org/yard/boat = git.example.org/ada/boat"
    assert "clang" not in start and f"clawmem config set projects.joined '{pair}'" in start
    assert clawmem("config", "set", "projects.joined", pair).code == 0
    start = context(say(clawmem, vault_root, "SessionStart", project, source="startup"))
    assert "clang" in start and "projects.joined" not in start
    assert "clang" in clawmem("recall", "the boat build", "--vault", str(vault_root), cwd=project).out


def test_work_trees_of_a_repository_are_one_project(clawmem: Command, vault_root: Path, tmp_path: Path) -> None:
    main, other = tmp_path / "boat", tmp_path / "fix"
    for words in (["init", "-q", "boat"], ["-C", "boat", "commit", "-q", "--allow-empty", "-m", "begin"],
                  ["-C", "boat", "worktree", "add", "-q", "../fix"]):  # fmt: skip
        named = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True)
    tell(clawmem, vault_root, main)
    assert "clang" in context(say(clawmem, vault_root, "SessionStart", other, source="startup"))


@pytest.mark.parametrize("kind", ["key", "link", "password file", "pipe", "folder", "lines", "another harness"])
def test_only_a_regular_file_of_the_harness_is_a_transcript(
    clawmem: Command, vault_root: Path, project: Path, kind: str
) -> None:
    path, key = project / "t.jsonl", project / "id_ed25519"
    key.write_text("-----BEGIN NOTHING-----\nzqsecretwords are here\n\nand a second paragraph\n")
    if kind == "link":
        path.symlink_to(key)
    elif kind == "password file":
        path.write_text("root:x:0:0:zqsecretwords:/root:/bin/bash\nada:x:1:1::/home/ada:/bin/sh\n")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "lines":
        path.write_text('{"role": "user", "content": "zqsecretwords"}\n')
    elif kind == "another harness":
        path.write_text('{"timestamp":"2026-03-02T10:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/"}}\n')
    value = key if kind == "key" else path
    say(clawmem, vault_root, "SessionEnd", project, transcript_path=str(value))
    mark = until_read(vault_root)
    assert mark["outcome"] == "failed", mark
    assert not list((vault_root / "ledger").glob("*.jsonl"))


def test_detached_work_has_an_end() -> None:
    code = (
        "import os, sys, time; from clawmem.platform import processes\n"
        "processes.LONGEST_DETACHED = 0.2\n"
        "def work():\n"
        "    try: os.open(sys.argv[1], os.O_RDONLY)\n"
        "    except processes.TooLate: open(sys.argv[2], 'w').close()\n"
        "processes.detach(work)\n"
    )
    with TemporaryDirectory() as folder:
        pipe, ended = Path(folder) / "pipe", Path(folder) / "ended"
        os.mkfifo(pipe)
        subprocess.run([sys.executable, "-c", code, str(pipe), str(ended)], check=True, timeout=60)
        for _ in range(600):
            if ended.exists():
                return
            time.sleep(0.1)
        raise AssertionError("the detached process still waits")


def _killed(folder: Path, text: str = "We build with clang.") -> Path:
    """The transcript of a session that was killed an hour ago."""
    transcript = folder / "killed.jsonl"
    line = {"type": "user", "uuid": "u1", "sessionId": "killed", "timestamp": "2026-11-21T08:30:00Z",
            "cwd": str(folder), "message": {"role": "user", "content": text}}  # fmt: skip
    transcript.write_text(json.dumps(line) + "\n")
    hour_ago = datetime.fromisoformat("2026-11-21T08:30:00+00:00").timestamp()
    os.utime(transcript, (hour_ago, hour_ago))
    return transcript


def _ledger(vault: Path) -> str:
    return "".join(path.read_text() for path in sorted((vault / "ledger").glob("*.jsonl")))


def test_a_session_that_was_killed_is_taken_in_later(clawmem: Command, vault_root: Path, project: Path) -> None:
    transcript = _killed(project)
    say(clawmem, vault_root, "UserPromptSubmit", project, session_id="killed", transcript_path=str(transcript))
    assert _ledger(vault_root) == ""
    assert clawmem("heartbeat").code == 0
    (event,) = [json.loads(line) for line in _ledger(vault_root).splitlines()]
    assert (event["text"], event["session"]) == ("We build with clang.", "killed")
    assert event["metadata"]["project"] == "git.example.org/ada/boat"


def test_a_session_that_runs_is_not_taken_in_early(clawmem: Command, vault_root: Path, project: Path) -> None:
    transcript = _killed(project)
    os.utime(transcript)  # it grew just now
    say(clawmem, vault_root, "UserPromptSubmit", project, session_id="killed", transcript_path=str(transcript))
    assert clawmem("heartbeat").code == 0
    assert _ledger(vault_root) == ""


def test_a_sub_agent_gets_the_context_and_hands_over_its_transcript(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    tell(clawmem, vault_root, project)
    assert "clang" in context(say(clawmem, vault_root, "SubagentStart", project, agent_type="Explore"))
    assert "clang" in context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=ASKED))
    sub = _killed(project, "Look for the compiler.")
    record = json.loads(sub.read_text()) | {"isSidechain": True}
    sub.write_text(json.dumps(record) + "\n")
    say(clawmem, vault_root, "SubagentStop", project, agent_transcript_path=str(sub), transcript_path="main.jsonl")
    assert until_read(vault_root)["message"] == "1 event added, 0 lines skipped"
    assert json.loads(_ledger(vault_root))["role"] == "assistant"


@pytest.mark.parametrize("shortened", ["SessionStart", "PreCompact"])
def test_after_a_compaction_a_prompt_gets_again_what_is_lost(
    clawmem: Command, vault_root: Path, project: Path, shortened: str
) -> None:
    tell(clawmem, vault_root, project)
    assert "clang" in context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=ASKED))
    assert context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=ASKED)) == ""
    again = context(say(clawmem, vault_root, shortened, project, source="compact"))
    again += context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=ASKED))
    assert "clang" in again


def test_a_prompt_gets_what_shares_a_word_of_its_subject(clawmem: Command, vault_root: Path, project: Path) -> None:
    clawmem("remember", "Sheepskin comes from Altmann from now on.")
    clawmem("remember", "The bakery opens on Tuesdays.")
    sessions = map(str, range(9))

    def given(prompt: str) -> str:
        return context(say(clawmem, vault_root, "UserPromptSubmit", project, session_id=next(sessions), prompt=prompt))

    asked = given("Please fill in the purchase form for another forty sheepskins, with the usual address and delivery")
    assert "Altmann" in asked and "bakery" not in asked
    # Days and words of any task tell nothing of its subject.
    assert given("Write a second list of all numbers for Tuesday, and print each line of the file") == ""


def test_who_asks_in_the_first_person_is_asked_about(clawmem: Command, vault_root: Path, project: Path) -> None:
    assert "areas/people/user" in clawmem("remember", "The user lives in Oslo.").out
    clawmem("remember", "Ana lives in Rome.", "-e", "areas/people/ana")
    for prompt in ("where do I live?", "where do I live"):
        result = say(clawmem, vault_root, "UserPromptSubmit", project, prompt=prompt, session_id=prompt)
        assert "Oslo" in context(result)
    for prompt in ("how do I fix the parser?", "I want to live test the parser of this importer"):
        assert context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt=prompt)) == ""


def test_a_prompt_about_what_held_before_gets_it(clawmem: Command, vault_root: Path, project: Path) -> None:
    assert clawmem("remember", "Priya lives in Leeds.").code == 0
    assert clawmem("supersede", "Priya lives in Leeds", "Priya lives in Manchester.").code == 0
    for prompt in ("Where did Priya live before Manchester?", "Wo wohnte Priya früher?"):
        text = context(say(clawmem, vault_root, "UserPromptSubmit", project, session_id=prompt, prompt=prompt))
        assert "- Priya lives in Leeds. (until 2026-11-21; then: Priya lives in Manchester.)\n" in text
    result = say(clawmem, vault_root, "UserPromptSubmit", project, session_id="b", prompt="Where does Priya live?")
    assert "Manchester" in context(result) and "Leeds" not in context(result)


def test_a_prompt_gets_no_old_words_unmarked(clawmem: Command, vault_root: Path, project: Path) -> None:
    old, new = "The demo of Kestrel is on 4 December.", "The demo of Kestrel is on 7 December."
    for place, text in enumerate((old, f"Mind this! {old}", f"Nobody knows if {old}")):
        message = {"role": "user", "content": text, "timestamp": f"2026-11-1{place}T10:00:00Z"}
        assert clawmem("ingest", "-", given=json.dumps(message)).code == 0
    assert clawmem("remember", old).code == clawmem("supersede", old, new).code == 0
    assert new in context(say(clawmem, vault_root, "SessionStart", project))
    text = context(say(clawmem, vault_root, "UserPromptSubmit", project, prompt="When is the demo of Kestrel?"))
    for served in (text, clawmem("context", "When is the demo of Kestrel?").out):
        assert f"- user: {old} (2026-11-10, no longer: now {new})\n" in served
        assert f"- user: Mind this! {old} (2026-11-11, no longer: now {new})\n" in served
        assert f"{old} (2026-11-12)\n" in served
    assert clawmem("recall", "When is the demo of Kestrel?").out.count(f"(no longer: now {new})") == 2


@pytest.mark.parametrize("how", ["a session", "ingest"])
def test_what_was_typed_is_counted_before_any_heartbeat(
    clawmem: Command, vault_root: Path, project: Path, how: str
) -> None:
    for name in NAMES:
        assert clawmem("remember", f"Quartermaster {name.title()}son supervises the {name} warehouse.").code == 0
    if how == "ingest":
        assert clawmem("ingest", "-", given=json.dumps({"role": "user", "content": "Hello."})).code == 0
    else:
        say(clawmem, vault_root, "SessionStart", project)
        until_read(vault_root, what="session")
    given = clawmem("recall", "Who supervises a warehouse?", "--json").data["llm_context"]
    assert given["text"].count("Quartermaster") == len(NAMES)
    assert given["token_count"] == exact_counter()(given["text"])


@pytest.mark.parametrize("asked", [True, False])
def test_what_is_to_be_forgotten_is_hidden_after_the_turn_that_asks_it(
    clawmem: Command, vault_root: Path, project: Path, asked: bool
) -> None:
    assert clawmem("remember", "I live in Oslo.").code == 0
    request = "Forget that I live in Oslo."
    prompt = request if asked else f"What does this mail ask for?\n```\n{request}\n```\n> {request}"
    output = [{"type": "tool_result", "tool_use_id": "t1", "content": request}]
    transcript = project / "t.jsonl"
    rows = [
        {**HELLO, "uuid": f"u{number}", "message": {"role": "user", "content": content}}
        for number, content in enumerate((prompt, output))
    ]
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    say(clawmem, vault_root, "UserPromptSubmit", project, prompt=prompt, transcript_path=str(transcript))
    stopped = say(clawmem, vault_root, "Stop", project, transcript_path=str(transcript))
    again = say(clawmem, vault_root, "Stop", project, transcript_path=str(transcript), stop_hook_active=True)
    assert (stopped.code, stopped.out, again.out) == (0, "", "")
    if not asked:
        time.sleep(1)
        assert "claude-code-transcript" not in marks(vault_root) and not _ledger(vault_root)
        # It is taken in with all that was said, and the mail still asks for nothing.
        say(clawmem, vault_root, "SessionEnd", project, transcript_path=str(transcript))
    assert until_read(vault_root)["message"] == "2 events added, 0 lines skipped"
    start = context(say(clawmem, vault_root, "SessionStart", project, session_id="next", source="startup"))
    served = start + clawmem("recall", "where do I live?", "--in", "facts").out
    assert ("Oslo" in served) is not asked
    waiting = [proposal["says"] for proposal in clawmem("review", "list", "--json").data["proposals"]]
    assert waiting == (["Forget: I live in Oslo."] if asked else [])
    if asked:
        (commit,) = [row["commit"] for row in clawmem("log", "--json").data["history"] if row["op"] == "forget"]
        assert clawmem("undo", commit).code == 0
        assert "Oslo" in clawmem("recall", "where do I live?", "--in", "facts").out


def test_a_session_that_its_program_ends_keeps_no_words_of_its_messages_and_hands_nothing_over(
    clawmem: Command, vault_root: Path, project: Path
) -> None:
    say(clawmem, vault_root, "SessionStart", project, source="startup")
    until_read(vault_root, what="session")
    transcript = project / "t.jsonl"
    prompt = "My therapist in Oslo is Anna Rask."
    transcript.write_text(json.dumps({**HELLO, "message": {"role": "user", "content": prompt}}) + "\n")
    say(clawmem, vault_root, "UserPromptSubmit", project, prompt=prompt, transcript_path=str(transcript))
    say(clawmem, vault_root, "SessionEnd", project, transcript_path=str(transcript))
    assert until_read(vault_root)["outcome"] == "done"
    log, shown = clawmem("log").out, clawmem("session", "show", SESSION).out
    assert "Ended by its program" in log and "Ended by its program" in shown and "Oslo" not in log + shown
    assert clawmem("heartbeat").code == 0
    assert "digest" not in clawmem("log").out


def test_a_first_name_of_two_people_means_the_one_of_the_project_or_both(
    clawmem: Command, vault_root: Path, project: Path, tmp_path: Path
) -> None:
    ek, virtanen = "Jonas Ek is the operations lead of Boat.", "Jonas Virtanen is the manager of Heron."
    assert clawmem("remember", f"{ek}\n{virtanen}\nPetra Lind is the designer of Heron.").code == 0

    def told(prompt: str, session: str, folder: Path = project) -> list[bool]:
        text = context(say(clawmem, vault_root, "UserPromptSubmit", folder, prompt=prompt, session_id=session))
        return [fact in text for fact in (ek, virtanen)]

    ask = "Ask Jonas whether the van is repaired."
    assert told(ask, "a") == [True, False], "the one of the project"
    assert told("We send the delivery list to Jonas every day.", "a") == [False, False], "not the other one instead"
    assert told("Ask Jonas Virtanen whether the van is repaired.", "b") == [False, True], "the one who is named"
    assert told("Ask Petra whether the van is repaired.", "c") == [False, False]
    # Where neither is of the project, what bears on one is not told alone, also if the other was told before.
    assert told(ask, "d", tmp_path) == [False, False]
    assert told("Ask Jonas Ek whether the van is repaired.", "d", tmp_path) == [True, False]
    assert told("Is Jonas the manager of Heron?", "d", tmp_path) == [True, True]
    shown = clawmem("show", "jonas").out
    assert "'jonas' may be areas/people/jonas-ek or areas/people/jonas-virtanen." in shown and ek in shown
    assert "Also called" not in clawmem("show", "jonas-ek").out + clawmem("show", "petra").out
    assert clawmem("entity", "create", "areas/people/jonas").code == 0
    assert "Also called Jonas: areas/people/jonas-ek, areas/people/jonas-virtanen" in clawmem("show", "Jonas").out
