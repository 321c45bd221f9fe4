"""Agent types: what a tool, a consumer, a learner and an agent without a type may do."""

from __future__ import annotations

import pytest

from clawmem.errors import NotPermitted, Refused
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.session import EXAMPLE
from clawmem.vault.vault import Vault
from clawmem.work.decisions import add_record
from clawmem.work.session_end_records import WorkScope, lesson_record
from clawmem.work.sessions.end import end_session
from clawmem.work.sessions.start import start_session
from tests.conftest import Command


def _settle(vault: Vault, text: str) -> None:
    path = vault.root / "clawmem.yaml"
    path.write_text(path.read_text() + f"\nagents:\n  ada:\n{text}")


@pytest.mark.parametrize(
    ("kind", "reads", "writes"), [("tool", 1, 1), ("consumer", 0, 1), ("learner", 0, 0), ("full", 0, 0), (None, 0, 0)]
)
def test_what_a_type_may_do(vault: Vault, clawmem: Command, kind: str | None, reads: int, writes: int) -> None:
    if kind:
        assert clawmem("config", "set", "agents.ada.type", kind).code == 0
    clawmem("remember", "Boats float.")
    for words in (["recall", "boats"], ["context", "boats"], ["list"], ["lesson", "list"]):
        assert clawmem(*words, "--agent", "ada").code == reads, words
    for words in (["remember", "Boats sink."], ["lesson", "add", "Bail."], ["session", "start"], ["note", "Sailed."]):
        assert clawmem(*words, "--agent", "ada").code == writes, words
    if kind in ("tool", "consumer"):
        assert "agents.ada.type" in clawmem("remember", "Boats sink.", "--agent", "ada").err


def test_a_learner_writes_its_domain(vault: Vault, caller: Caller) -> None:
    _settle(vault, "    type: learner\n    domain: projects/boat\n")
    ada = caller._replace(agent="ada")
    for entity in ("projects/boat", "@ada/projects/mine"):
        remember(vault, [draft_from_record({"fact": f"It is about {entity}.", "entity": entity}, caller.now)], ada)
    with pytest.raises(NotPermitted, match="projects/other"):
        remember(vault, [draft_from_record({"fact": "Not mine.", "entity": "projects/other"}, caller.now)], ada)


def test_a_learner_has_a_daily_limit(vault: Vault, caller: Caller) -> None:
    _settle(vault, "    type: learner\n    lessons_per_day: 3\n")
    ada = caller._replace(agent="ada")
    for at in range(2):
        add_record(vault, lesson_record({"text": f"Lesson {at}."}, WorkScope(), "ada"), ada)
    session = start_session(vault, ada).record.id
    two = {**EXAMPLE, "lessons": ["Lesson two.", "Lesson three."]}
    with pytest.raises(Refused, match="3 lessons a day; 2 are stored, and 2 more came"):
        end_session(vault, ada, two, session)
    end_session(vault, ada, {**two, "lessons": ["Lesson two."]}, session)
    with pytest.raises(Refused):
        add_record(vault, lesson_record({"text": "One too many."}, WorkScope(), "ada"), ada)
    with pytest.raises(Refused):
        remember(vault, [draft_from_record({"fact": "By another way.", "category": "lesson"}, caller.now)], ada)
    add_record(vault, lesson_record({"text": "Another agent's."}, WorkScope(), "bob"), caller._replace(agent="bob"))
