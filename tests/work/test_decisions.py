"""Lessons and decisions: thin verbs over facts, precedents with their outcomes, and decisions against a precedent."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import InvalidInput, NotFound, Refused, SecretFound
from clawmem.memory.facts.revise import supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact_words import outcomes_of
from clawmem.model.facts.gates import goes_against
from clawmem.model.records.caller import Caller
from clawmem.model.records.session import EXAMPLE
from clawmem.vault.vault import Vault
from clawmem.work.decisions import add_record, record_outcome
from clawmem.work.session_end_records import WorkScope, decision_record, lesson_record
from clawmem.work.sessions.end import end_session
from clawmem.work.sessions.start import start_session
from tests.conftest import Command

UPLOADS = {
    "decided": "Stream the uploads in chunks.",
    "why": "Memory grew with the file.",
    "alternatives": [{"option": "a larger buffer in memory", "why": "It only moves the limit."}],
}
BUFFER = {"decided": "Use a larger buffer in memory for uploads.", "why": "Chunks were slow."}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SOFTWARE = WorkScope("software", "/src/upload", "large files", "plan")


def _decide(vault: Vault, caller: Caller, record: dict[str, Any], scope: WorkScope = SOFTWARE) -> Any:
    return add_record(vault, decision_record(record, scope, caller.agent), caller)


def test_a_decision_keeps_what_it_rests_on(vault: Vault, caller: Caller) -> None:
    used = add_record(vault, lesson_record({"text": "Memory is small."}, SOFTWARE, None), caller).fact.fact
    result = _decide(vault, caller, {**UPLOADS, "used": [used.id]})
    fact = result.fact.fact
    assert (fact.category, fact.scope, fact.workflow, fact.project) == (
        "decision",
        "project",
        "software",
        "/src/upload",
    )
    assert [(link.type, link.to) for link in fact.links] == [("depends_on", used.id)]
    assert fact.details == {
        **UPLOADS,
        "task": "large files",
        "stage": "plan",
        "workflow": "software",
        "decision_makers": "Ada Person",
    }


def test_a_decision_against_a_precedent_is_linked_and_says_so(vault: Vault, caller: Caller) -> None:
    first = _decide(vault, caller, UPLOADS).fact.fact
    other = _decide(vault, caller, UPLOADS, WorkScope("research"))
    assert other.against == ()
    result = _decide(vault, caller, BUFFER)
    assert [candidate.fact.id for candidate, _ in result.against] == [first.id]
    assert "chooses what was rejected then: a larger buffer in memory" in result.notices[-1]
    (link,) = result.fact.fact.links
    assert (link.type, link.to) == ("contradicts", first.id)


def test_the_end_of_a_session_says_so_too(vault: Vault, caller: Caller) -> None:
    session = start_session(vault, caller, "software", "/src/upload").record.id
    first = _decide(vault, caller, UPLOADS).fact.fact
    result = end_session(vault, caller, {**EXAMPLE, "lessons": [], "knowledge": [], "decisions": [BUFFER]}, session)
    assert [(link.type, link.to) for link in result.facts[0].fact.links] == [("contradicts", first.id)]
    assert any(first.id in notice for notice in result.notices)


def test_what_is_chosen_again_is_no_contradiction(vault: Vault, caller: Caller) -> None:
    first = _decide(vault, caller, UPLOADS).fact.fact
    again = _decide(vault, caller, {**UPLOADS, "decided": "Stream the uploads of images in chunks too."}).fact.fact
    assert goes_against(again, first) is None
    assert again.links == ()


def test_outcomes_are_appended_and_nothing_else_changes(vault: Vault, caller: Caller) -> None:
    fact = _decide(vault, caller, UPLOADS).fact.fact
    record_outcome(vault, fact.id, "worked", caller, "Memory is flat.")
    outcome = record_outcome(vault, fact.id, "reverted", caller._replace(agent="coder"))
    items = [(record["outcome"], record.get("note"), record.get("by")) for record in outcomes_of(outcome.fact)]
    assert items == [("worked", "Memory is flat.", None), ("reverted", None, "coder")]
    assert outcome.fact._replace(details=fact.details) == fact


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda vault, caller: record_outcome(vault, "fact_ffff", "worked", caller), NotFound),
        (lambda vault, caller: _decide(vault, caller, {**UPLOADS, "used": ["fact_ffff"]}), NotFound),
        (lambda vault, caller: _decide(vault, caller, {**UPLOADS, "decided": " "}), InvalidInput),
        (lambda vault, caller: _decide(vault, caller, {**UPLOADS, "why": TOKEN}),
         SecretFound),
    ],
)  # fmt: skip
def test_what_cannot_be_stored_is_refused(vault: Vault, caller: Caller, act: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        act(vault, caller)


def test_an_outcome_is_of_a_decision(vault: Vault, caller: Caller) -> None:
    lesson = add_record(vault, lesson_record({"text": "Memory is small."}, SOFTWARE, None), caller).fact.fact
    with pytest.raises(Refused, match="no decision"):
        record_outcome(vault, lesson.id, "worked", caller)


def test_what_supersedes_a_scoped_fact_has_its_scope(vault: Vault, caller: Caller) -> None:
    """A fact gets a broader scope by a promotion only, never as a side effect."""
    fact = _decide(vault, caller, UPLOADS).fact.fact
    new = supersede(vault, fact.id, draft_from_record({"fact": "Stream in blocks."}, caller.now), caller).facts[0].fact
    assert (new.scope, new.workflow, new.project) == (fact.scope, fact.workflow, fact.project)


def test_the_verbs(vault: Vault, clawmem: Command) -> None:
    scope = ("--workflow", "software", "--project", "/src/upload")
    option = ("--alternative", "a larger buffer in memory: It only moves the limit.")
    added = clawmem("decision", "add", str(UPLOADS["decided"]), "--why", str(UPLOADS["why"]), *option, *scope, "--json")
    made = added.data["facts"][0]
    assert made["details"]["alternatives"] == UPLOADS["alternatives"]
    clawmem("decision", "outcome", made["id"], "worked", "--note", "Memory is flat.")
    clawmem("lesson", "add", "Check the limits of the proxy.", "--because", "Uploads were cut.", *scope)
    (found,) = clawmem("precedent", "memory of large uploads", *scope, "--json").data["facts"]
    assert [outcome["note"] for outcome in found["outcomes"]] == ["Memory is flat."]
    assert "not: a larger buffer in memory (It only moves the limit.)" in clawmem("precedent", "uploads", *scope).out
    assert clawmem("precedent", "uploads", "--workflow", "research", "--json").data["facts"] == []
    assert clawmem("lesson", "list", "--json").data["total"] == 1
    (lesson,) = clawmem("lesson", "search", "why were uploads cut?", *scope, "--json").data["facts"]
    assert lesson["fact"] == "Check the limits of the proxy."
    assert "because: Uploads were cut." in clawmem("lesson", "show", lesson["id"]).out
    assert clawmem("decision", "show", lesson["id"]).code == 1


def test_decisions_go_out_as_madr(vault: Vault, clawmem: Command, tmp_path: Path) -> None:
    scope = ("--workflow", "software", "--project", "/src/upload")
    option = ("--alternative", "a larger buffer: It only moves the limit.")
    clawmem("decision", "add", "Stream the uploads.", "--why", "Memory grew.", *option, *scope)
    result = clawmem("decision", "export", str(tmp_path / "adr"), "--json")
    assert result.data["files"] == ["0001-stream-the-uploads.md"]
    assert clawmem("decision", "export", str(tmp_path / "adr")).code == 1, "it replaces nothing unasked"
    page = tmp_path / "adr" / "0001-stream-the-uploads.md"
    text = page.read_text()
    assert clawmem("decision", "export", str(tmp_path / "adr"), "--force").code == 0 and page.read_text() == text
    for words, name in (
        (("Stream.",), "The reason, --why, is missing"),
        ((), "The decision is missing"),
    ):
        wrong = clawmem("decision", "add", *words)
        assert (wrong.code, name in wrong.err) == (2, True), wrong


def test_what_a_person_records_names_the_person(vault: Vault, clawmem: Command, tmp_path: Path) -> None:
    git = ("git", "-C", str(vault.root), "config", "user.name")
    subprocess.run([*git, "Pat"], check=True)
    (made,) = clawmem("decision", "add", "Use Go.", "--why", "One binary.", "--json").data["facts"]
    (lesson,) = clawmem("lesson", "add", "Pin the images.", "--json").data["facts"]
    (of_agent,) = clawmem("lesson", "add", "Run the tests.", "--json", "--agent", "ann").data["facts"]
    assert [other["source"] for other in (made, lesson, of_agent)] == ["user", "user", "agent"]
    assert made["details"]["decision_makers"] == "Pat"
    clawmem("decision", "export", str(tmp_path / "adr"))
    page = tmp_path / "adr" / "0001-use-go.md"
    assert 'decision-makers: "Pat"\n' in page.read_text()


def test_what_is_for_a_team_names_no_project() -> None:
    scope = WorkScope("build", "github.com/ada/boat")
    assert scope.values() == {"scope": "project", "workflow": "build", "project": "github.com/ada/boat"}
    assert scope.values("team") == {"scope": "team", "workflow": "build"}


def test_premises_and_the_decision_against_are_named_by_words(clawmem: Command) -> None:
    assert clawmem("remember", "Bob: 44 sailings, 84 euros.").code == 0
    assert clawmem("decision", "add", "Ask Ada for the boat.", "--why", "near").code == 0
    options = ("--used", "Bob: 44 sailings", "--against", "Ask Ada")
    data = clawmem("decision", "add", "Hire Bob.", "--why", "cheap", *options, "--json").data["facts"][0]
    assert [link["type"] for link in data["links"]] == ["depends_on", "contradicts"]
    assert (
        "No current fact has the words" in clawmem("decision", "add", "Hire Eve.", "--why", "x", "--used", "Eve is").err
    )
    assert clawmem("retract", "Bob: 44 sailings").code == 0
    assert "premise withdrawn" in clawmem("list").out
