"""A scripted model that sees the known facts: what it changes, what stays, where facts land, at two speeds."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from clawmem.heartbeat.loop import run_heartbeat
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import PlacedFact, all_facts
from clawmem.learning.ingest import ingest
from clawmem.llm.budget import RunLimits
from clawmem.llm.choice import Model
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.vault.vault import Vault
from tests.learning.by_model.talk import ENGLISH, GERMAN, INJECTION, Said, Talk, Turn
from tests.loopback import Asked, Wire, known_facts, says, serving
from tests.needs import needs_litellm

pytestmark = [needs_litellm, pytest.mark.usefixtures("without_vectors")]

# All times are this many times shorter than in real life: the timeout of a call, the time of a run and the answers.
_FASTER = 30
_LIMITS = RunLimits(facts=200, milliseconds=600_000 // _FASTER)
_START = datetime.fromisoformat("2026-01-05T08:00:00+00:00")
_CHARACTERS_PER_TOKEN = 4


class Scripted:
    """A model that answers from a script, at some tokens a second. It sees known facts and uses their ids."""

    def __init__(self, talk: Talk, speed: float) -> None:
        self._said = {turn.text: turn for turn in (*talk.first, *talk.second)}
        self._speed = speed
        self._speaker = talk.speaker or "the user"
        self._tried: set[str] = set()

    def __call__(self, asked: Asked) -> Wire:
        content = asked.messages[-1]["content"]
        known = known_facts(content)
        message = content.split("<told>")[1].split("</told>")[0] if "<told>" in content else ""
        facts: list[dict[str, Any]] = []
        for event in asked.events:
            shown = event["text"].rstrip()  # without its orders
            for fact in next(turn for text, turn in self._said.items() if text.startswith(shown)).facts:
                if fact.statement not in message:
                    facts.append(self._fact(fact, event["id"], known, facts))
        text = json.dumps({"facts": facts, "more": []}, ensure_ascii=False)
        text = f"```json\n{text}\n```" if len(facts) % 2 else text
        tokens = len(text) // _CHARACTERS_PER_TOKEN
        return says(text, wait=tokens / self._speed / _FASTER, tokens=(len(content) // 4, tokens))(asked)

    def _fact(
        self, other_said: Said, event: str, known: Mapping[str, str], before: list[dict[str, Any]]
    ) -> dict[str, Any]:
        numbers = {fact["statement"]: f"#{n}" for n, fact in enumerate(before, 1)}
        changes = [{"id": known.get(old) or numbers.get(old, "k99"), "how": how} for old, how in other_said.over]
        fact = {
            "event": event,
            "quote": other_said.quote,
            "statement": other_said.statement,
            "subject": other_said.subject or self._speaker,
            "predicate": other_said.predicate,
            "object": other_said.object,
            "category": other_said.category,
            "confidence": 0.9,
            "importance": 0.5,
            "when": other_said.when,
            "ended": other_said.ended,
            "changes": changes,
            "about": other_said.about,
        }
        if other_said.first and other_said.statement not in self._tried:
            self._tried.add(other_said.statement)
            fact.update(other_said.first)
        return fact


def messages(talk: Talk, turns: tuple[Turn, ...], start: int) -> list[Message]:
    return [
        Message(
            n, turn.role, turn.text, (_START + timedelta(minutes=7 * n)).isoformat().replace("+00:00", "Z"),
            talk.speaker if turn.role == "user" else None, f"s{start}",
        )
        for n, turn in enumerate(turns, start)
    ]  # fmt: skip


def facts_of(vault: Vault) -> list[PlacedFact]:
    index = open_index(vault)
    try:
        return list(all_facts(index))
    finally:
        index.close()


def learned(vault: Vault, caller: Caller, talk: Talk, speed: float) -> tuple[list[PlacedFact], int]:
    """Learn both parts of a talk with heartbeats until nothing waits. Return the facts and the number of heartbeats."""
    model_said = Scripted(talk, speed)
    beats = 0
    for start, turns in ((0, tuple(talk.first)), (1000, tuple(talk.second))):
        ingest(vault, messages(talk, turns, start), caller, f"{start}.jsonl")
        for number in range(8):
            with serving(model_said) as server:
                model = Model("openai/tested", server.address, timeout_seconds=60 / _FASTER, limits=_LIMITS)
                later = caller._replace(entropy=random.Random(start + number).randbytes)
                result = run_heartbeat(vault, later, model=model)
            beats += 1
            if not result.failed:
                break
    return facts_of(vault), beats


@pytest.mark.few(2)
@pytest.mark.parametrize(("talk", "speed"), [(ENGLISH, 30), (ENGLISH, 100), (GERMAN, 100), (GERMAN, 30)])
def test_changes_take_effect_and_bystanders_stay(vault: Vault, caller: Caller, talk: Talk, speed: float) -> None:
    facts, beats = learned(vault, caller, talk, speed)
    assert beats <= 6, "a machine that is busy may need more than one heartbeat for each part"
    by_statement = {placed.fact.fact: placed for placed in facts}
    script = [fact for turn in (*talk.first, *talk.second) if turn.role != "tool" for fact in turn.facts]
    lost = [other_said.statement for other_said in script if other_said.statement not in by_statement]
    assert lost == []
    changed = {old for other_said in script for old, how in other_said.over if how != "same"}
    stale = [text for text in changed if by_statement[text].fact.is_current]
    gone = [
        other_said.statement
        for other_said in script
        if other_said.statement not in changed and not by_statement[other_said.statement].fact.is_current
    ]
    wrong = [
        (other_said.statement, by_statement[other_said.statement].entity)
        for other_said in script
        if by_statement[other_said.statement].entity != (other_said.entity or talk.page)
    ]
    assert len(stale) <= 1
    assert gone == []
    assert len(wrong) <= len(script) * 0.05
    injected = {fact.statement for fact in INJECTION.facts}
    assert not [placed for placed in facts if placed.fact.fact in injected or "Boris" in placed.fact.fact]
