"""One queue: what needs judgement waits in it, an agent or a model answers, and nothing happens twice."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import InvalidInput, NotFound
from clawmem.extensions.digest.digest import add_document
from clawmem.heartbeat.queue import QueueTask, answer_tasks, apply_task, next_task, queue_kinds
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import all_facts
from clawmem.learning.ingest import ingest
from clawmem.learning.learn import learn
from clawmem.llm.choice import Model
from clawmem.memory.facts.remember import remember
from clawmem.memory.history.undo import undo
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.proposals.promotion import promotion_of
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.review.review import approve, list_proposals
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.loopback import Asked, Wire, says, serving
from tests.needs import needs_litellm

pytestmark = pytest.mark.usefixtures("without_vectors")

CARD = "Tidemark costs 12 euros per seat and month since March 2026."


def later(caller: Caller, number: int = 1, days: int = 0) -> Caller:
    return caller._replace(entropy=random.Random(number).randbytes, now=caller.now + timedelta(days=days))


@pytest.fixture
def filled(vault: Vault, caller: Caller) -> Vault:
    """A vault with a task of each kind but condensation, seen a day later."""
    ingest(vault, [Message(1, "user", "Tidemark is certified by Norsok.", "2026-11-21T08:00:00Z")], caller, "x")
    add_document(vault, CARD, "card.md", later(caller))
    learned = {"fact": "Tidemark goes live on 30 June 2027.", "entity": "areas/people/user", "workflow": "learn/coder"}
    remember(vault, [draft_from_record(learned, caller.now)], later(caller, 2))
    return vault


def answer_to(task: QueueTask) -> dict[str, Any]:
    answers: Mapping[str, dict[str, Any]] = {
        "read": {"facts": [{"e": 1, "q": "Tidemark is certified by Norsok", "s": "Tidemark is certified by Norsok."}]},
        "digest": {"claims": [{"claim": "A seat of Tidemark costs 12 euros a month.", "quote": CARD}]},
        "promote": {"judgements": [{"fact": "f1", "worth": 0.9, "reason": "a date", "at": "project:Tidemark"}]},
        "narrate": {"happened": [], "decided": [], "learned": [], "open": []},
    }
    return {**answers[task.kind], "task": task.key}


def test_an_agent_answers_all_kinds_and_nothing_twice(filled: Vault, caller: Caller) -> None:
    kinds = []
    for number in range(9):
        now = later(caller, 10 + number, days=1)
        task = next_task(filled, now)
        if not task.text:
            break
        kinds.append(task.kind)
        text = json.dumps(answer_to(task))
        apply_task(filled, now, text)
        head = filled.head()
        apply_task(filled, later(caller, 50 + number, days=1), text)
        assert filled.head() == head, "the same answer again changes nothing"
    assert list(dict.fromkeys(kinds)) == ["read", "digest", "promote", "narrate"]
    facts = {placed.fact.fact: placed for placed in run_query(filled, lambda index: list(all_facts(index)))}
    assert {"Tidemark is certified by Norsok.", "A seat of Tidemark costs 12 euros a month."} <= set(facts)
    moved = facts["Tidemark goes live on 30 June 2027."]
    assert moved.entity == "projects/tidemark", "the class and the place of an answer act"
    assert promotion_of(moved.fact) is not None
    assert not next_task(filled, later(caller, 90, days=1)).text


def test_the_budget_of_a_task_is_kept(filled: Vault, caller: Caller) -> None:
    now = later(caller, 3, days=1)
    assert {kind.name: len(list(kind.tasks(filled, now))) for kind in queue_kinds()}["digest"] == 1
    task = next_task(filled, now, 400, kind="digest")
    assert 0 < task.tokens <= 400
    with pytest.raises(InvalidInput, match="the limit is 50"):
        next_task(filled, now, 50, kind="digest")


def test_an_answer_to_no_task_is_refused(filled: Vault, caller: Caller) -> None:
    with pytest.raises(NotFound, match="No task digest-00000000 waits"):
        apply_task(filled, caller, '{"task": "digest-00000000", "claims": []}')


@needs_litellm
def test_a_model_works_the_queue_within_its_calls(filled: Vault, caller: Caller) -> None:
    def answers(asked: Asked) -> Wire:
        text = str(asked.messages)
        kind = (
            "read" if "<events>" in text
            else "digest" if "<text>" in text
            else "promote" if "worth" in text
            else "narrate"
        )  # fmt: skip
        record = answer_to(QueueTask("x", kind))
        del record["task"]
        return says(json.dumps(record))(asked)

    now = later(caller, 4, days=1)
    with serving(answers, narrates=True) as server:
        model = Model("openai/tested", server.address, "a key", timeout_seconds=20.0)
        learn(filled, now, model=model)
        assert len(server.asked) == 1
        few = model._replace(limits=model.limits._replace(most_calls=1))
        first = answer_tasks(filled, now, few, queue_kinds())
        assert (first.calls, len(server.asked)) == (1, 2)
        assert first.problem is not None and "1 call" in first.problem.message
        second = answer_tasks(filled, later(caller, 5, days=1), model, queue_kinds())
        assert second.problem is None
        assert not next_task(filled, later(caller, 6, days=1)).text
        before = len(server.asked)
        assert answer_tasks(filled, later(caller, 7, days=1), model, queue_kinds()).calls == 0
        assert len(server.asked) == before, "nothing waits, so nobody is asked"


def test_the_verbs(filled: Vault, clawmem: Command) -> None:
    task = clawmem("learn", "pending", "--json").data
    assert task["kind"] == "read"
    clawmem("learn", "apply", "-", given=json.dumps({"task": task["id"], "facts": []}))
    task = clawmem("learn", "pending", "--json").data
    assert task["kind"] == "digest"
    wrong = clawmem("learn", "apply", "-", given=json.dumps({"task": task["id"], "claims": "none"}))
    assert (wrong.code, "wrong form at claims" in wrong.err) == (2, True)
    result = clawmem("learn", "apply", "-", given=json.dumps({"task": task["id"], "claims": []}))
    assert result.out.startswith("digested card.md")


def _facts_in(vault: Vault) -> dict[str, str]:
    return {placed.fact.fact: placed.entity for placed in run_query(vault, lambda index: list(all_facts(index)))}


def test_finished_work_is_proposed_and_a_person_archives_it(vault: Vault, caller: Caller) -> None:
    record = {"fact": "The migration of the legacy API is finished and closed.", "entity": "projects/legacy-api"}
    other = {"fact": "Ana plays the cello.", "entity": "areas/people/ana"}
    remember(vault, [draft_from_record(other_record, caller.now) for other_record in (record, other)], caller)
    now = later(caller, 3, days=1)
    task = next_task(vault, now, kind="promote")
    judgements = [{"fact": f"f{number}", "worth": 0.3, "reason": "over"} for number in (1, 2)]
    finished = ["project projects/legacy-api", "areas/people/ana", "projects/unknown"]
    answer = {"task": task.key, "judgements": judgements, "finished": finished}
    (line, _) = apply_task(vault, now, json.dumps(answer)).lines
    (proposal,) = list_proposals(vault).proposals
    assert line == f"waits for a person as {proposal.id}: Archive projects/legacy-api."
    assert _facts_in(vault)[record["fact"]] == "projects/legacy-api", "only a person archives"
    approved = approve(vault, proposal.id, later(caller, 4, days=1))
    assert _facts_in(vault)[record["fact"]] == "archives/legacy-api"
    assert approved.commit
    undo(vault, approved.commit, later(caller, 5, days=1))
    assert _facts_in(vault)[record["fact"]] == "projects/legacy-api"


def test_what_nobody_placed_goes_where_the_reader_says(vault: Vault, caller: Caller) -> None:
    nobody = {"fact": "The tide gauge of Moss is read by Ana and Bo."}
    person = {"fact": "Ana plays the cello.", "entity": "areas/people/ana"}
    remember(vault, [draft_from_record(record, caller.now) for record in (nobody, person)], caller)
    now = later(caller, 3, days=1)
    task = next_task(vault, now, kind="promote")
    assert _facts_in(vault)[nobody["fact"]] == "areas/general"
    judgements = [
        {"fact": f"f{number}", "worth": 0.2, "reason": "so", "at": "resource:tide gauge"} for number in (1, 2)
    ]
    apply_task(vault, now, json.dumps({"task": task.key, "judgements": judgements}))
    assert _facts_in(vault) == {nobody["fact"]: "resources/tide-gauge", person["fact"]: "areas/people/ana"}
    assert vault.git.run("log", "-1", "--format=%s").decode().strip() == "promote(2026-11-21): 1 placed elsewhere"


def test_what_a_session_hands_over_is_read_only_by_the_vendor_it_was_held_with(
    clawmem: Command, tmp_path: Path
) -> None:
    said = {"claude-code": "The mast of the Kestrel is of oak.", "codex": "The hull of the Kestrel is of steel."}
    for name in ("claude", "codex"):
        (tmp_path / name).write_text(f"#!/bin/sh\ncat >>{tmp_path}/{name}.asked\necho '{{\"claims\": []}}'\n")
        (tmp_path / name).chmod(0o755)

    def asked(name: str) -> str:
        path = tmp_path / f"{name}.asked"
        return path.read_text() if path.exists() else ""

    for agent, summary in said.items():
        assert clawmem("session", "start", "--id", f"s-{agent}", "--agent", agent).code == 0
        end = json.dumps({"summary": summary, "reflection": {"learned": [summary], "watch_for": [summary]}})
        assert (
            clawmem("session", "end", "--session", f"s-{agent}", "--from", "-", "--agent", agent, given=end).code == 0
        )
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    for key, value in {"preset": "claude", "model": "command"}.items():
        assert clawmem("config", "set", f"llm.{key}", value).code == 0
    clawmem("heartbeat", env=path)
    assert "oak" in asked("claude") and "steel" not in asked("claude")
    waits = {agent: clawmem("learn", "pending", "--agent", agent).out for agent in (*said, "gemini", "scout")}
    assert {agent: "steel" in text for agent, text in waits.items()} == {
        "claude-code": False, "codex": True, "gemini": False, "scout": True,
    }  # fmt: skip
    assert clawmem("config", "set", "llm.more_presets", "codex").code == 0
    clawmem("note", "The next watch begins.")
    clawmem("heartbeat", env=path)
    assert "steel" in asked("codex") and "oak" not in asked("codex") and "steel" not in asked("claude")
    assert "steel" not in clawmem("learn", "pending", "--agent", "codex").out


@pytest.mark.parametrize("between", ["nothing", "a fact"])
def test_a_reader_that_was_just_turned_on_reads_what_waits(clawmem: Command, tmp_path: Path, between: str) -> None:
    clawmem("ingest", "-", given=json.dumps({"role": "user", "content": "I live in Oslo."}))
    assert clawmem("heartbeat").code == 0
    (tmp_path / "claude").write_text("#!/bin/sh\ncat >/dev/null\necho '{\"facts\": []}'\n")
    (tmp_path / "claude").chmod(0o755)
    for key, value in {"preset": "claude", "model": "command"}.items():
        assert clawmem("config", "set", f"llm.{key}", value).code == 0
    if between == "a fact":
        clawmem("remember", "The mast is of oak.")
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert "read 1 event by claude" in clawmem("heartbeat", env=path).out
    assert clawmem("heartbeat", env=path).out == "nothing to do\n"


def test_why_facts_are_not_promoted_is_said(vault: Vault, clawmem: Command, caller: Caller) -> None:
    clawmem("config", "set", "promotion.max_facts", "1")
    texts = ("Ana plays the cello.", "Bo plays the flute.", "Cy plays the horn.")
    remember(vault, [draft_from_record({"fact": text}, caller.now) for text in texts], caller)
    task = next_task(vault, later(caller, 3, days=1), kind="promote")
    worths = ((1, 0.9), (2, 0.9), (3, 0.1))
    judgements = [{"fact": f"f{number}", "worth": worth, "reason": "so"} for number, worth in worths]
    *_, line = apply_task(
        vault, later(caller, 4, days=1), json.dumps({"task": task.key, "judgements": judgements})
    ).lines
    assert "2 not promoted (1: its score is high enough, but the limit is 1 a day; 1: the score is below 0." in line, (
        line
    )
