"""What a reading task costs, and a day that moves. A task has at most 1.5 times the tokens of its
messages, 700, and 25 for each known fact.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import all_facts
from clawmem.index.tables.background import exact_counter
from clawmem.learning import unread as learning_unread
from clawmem.learning.apply import apply_answer
from clawmem.learning.ingest import ingest
from clawmem.learning.pending import pending
from clawmem.learning.unread import reader_of, unread_by_harness, waiting_count
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, parse_events
from clawmem.model.transcripts.message import Message
from clawmem.vault.vault import Vault

pytestmark = pytest.mark.usefixtures("without_vectors")

TALK = ("Is the harbour crane of Vestby back?", "It lifts 45 tons again since Tuesday, says Gunnar.", "Good.",
        "Let us ship the boilers on Friday then.", "ok, I tell the yard in Moss")  # fmt: skip


@pytest.mark.parametrize("size", [1, 15])
def test_a_task_keeps_its_bound(vault: Vault, caller: Caller, size: int) -> None:
    count = exact_counter()
    texts = [f"{TALK[number % 5]} {number}" for number in range(30)]
    talk = [Message(n, "user", text, f"2026-11-20T10:{n:02}:00Z", "Ada", "s1") for n, text in enumerate(texts, 1)]
    ingest(vault, talk, caller, "x")
    known = [f"The crane of Vestby number {number} lifts {number} tons at the harbour." for number in range(12)]
    remember(
        vault, [draft_from_record({"fact": text, "entity": "projects/vestby"}, caller.now) for text in known], caller
    )
    for number in range(2):
        now = caller._replace(entropy=random.Random(number).randbytes)
        task = pending(vault, now, most_events=size)
        assert task.reading is not None
        read = sum(count(piece.text) for piece in task.reading.shown)
        assert len(task.events) == size
        assert task.tokens <= read * 1.5 + 700 + 25 * task.known
        apply_answer(vault, now, json.dumps({"task": task.key, "facts": []}))


def test_what_was_said_before_has_room_in_proportion_to_the_messages(vault: Vault, caller: Caller) -> None:
    texts = [f"{number} {'The crane of Vestby lifts boilers. ' * 12}" for number in range(20)]
    talk = [Message(n, "user", text, f"2026-11-20T10:{n:02}:00Z", "Ada", "s1") for n, text in enumerate(texts)]
    ingest(vault, talk, caller, "x")
    first = pending(vault, caller, most_events=6)
    apply_answer(vault, caller, json.dumps({"task": first.key, "facts": []}))
    text = pending(vault, caller).text
    before = text.partition("<before>")[2].partition("</before>")[0]
    assert [line.partition(" The")[0] for line in before.split("\n") if line] == ["Ada: 3", "Ada: 4", "Ada: 5"]


def test_a_weekday_that_comes_again_ends_nothing(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "Ada does not work on Fridays."}, caller.now)], caller)
    talk = [Message(1, "user", "My free day is Wednesday from now on.", "2026-11-17T10:00:00Z", "Ada", "s1")]
    ingest(vault, talk, caller, "x")
    task = pending(vault, caller)
    moved = {"e": 1, "q": "My free day is Wednesday from now on", "s": "Ada's free day is Wednesday.", "c": "habit",
             "when": "2026-11-17", "x": {"k1": "replace"}}  # fmt: skip
    now = caller._replace(entropy=random.Random(7).randbytes)
    result = apply_answer(vault, now, json.dumps({"task": task.key, "facts": [moved]}))
    [fact] = [candidate.fact for candidate in result.learned.candidates if candidate.fact]
    assert (fact.valid_from, fact.valid_to) == ("2026-11-17", None)


def test_a_day_that_moved_is_the_value_and_not_the_start(vault: Vault, caller: Caller) -> None:
    stated = {"fact": "The release of Kestrel is on 3 December 2026.", "entity": "projects/kestrel"}
    remember(vault, [draft_from_record(stated, caller.now)], caller)
    talk = [Message(1, "user", "The release of Kestrel slips to 10 December.", "2026-11-20T10:00:00Z", None, "s1")]
    ingest(vault, talk, caller, "x")
    task = pending(vault, caller)
    says = "The release of Kestrel is on 10 December 2026."
    moved = {"e": 1, "q": "slips to 10 December", "s": says, "of": "Kestrel",
             "c": "milestone", "when": "2026-12-10", "x": {"k1": "replace"}}  # fmt: skip
    now = caller._replace(entropy=random.Random(7).randbytes)
    result = apply_answer(vault, now, json.dumps({"task": task.key, "facts": [moved]}))
    [fact] = [candidate.fact for candidate in result.learned.candidates if candidate.fact]
    assert (fact.valid_from or "") < "2026-12-10"
    facts = {placed.fact.fact: placed.fact for placed in run_query(vault, lambda index: list(all_facts(index)))}
    assert not facts["The release of Kestrel is on 3 December 2026."].is_current


def _talk(day: int, texts: list[str]) -> list[Message]:
    return [Message(n, "user", text, f"2026-11-{day}T10:{n:02}:00Z", "Ada", f"s{day}") for n, text in enumerate(texts)]


def test_days_behind_the_task_are_counted_and_not_read(vault: Vault, caller: Caller, monkeypatch: Any) -> None:
    served = "<clawmem-context>The crane is back.</clawmem-context>"
    for day in range(10, 20):
        ingest(vault, _talk(day, [f"Boiler {day} is at the yard.", f"Crane {day} lifts it.", served]), caller, "x")
    read: list[str] = []
    parse = parse_events

    def recorded(data: bytes, path: str) -> tuple[Event, ...]:
        read.append(path)
        return parse(data, path)

    monkeypatch.setattr(learning_unread, "parse_events", recorded)
    assert pending(vault, caller, most_events=2).waiting == 20
    assert [path[-8:-6] for path in read] == ["10"]
    assert waiting_count(vault) == 20


def test_a_ledger_that_the_index_does_not_hold_is_read(vault: Vault, caller: Caller) -> None:
    for day in (10, 11, 12):
        ingest(vault, _talk(day, [f"Boiler {day} is at the yard."]), caller, "x")
    edited = vault.root / "ledger" / "2026-11-12.jsonl"
    edited.write_text(edited.read_text() + edited.read_text().replace("evt_", "evt_f").replace("Boiler", "Crane"))
    assert pending(vault, caller, most_events=1).waiting == 4
    apply_answer(vault, caller, json.dumps({"task": pending(vault, caller, most_events=1).key, "facts": []}))
    assert pending(vault, caller, most_events=1).waiting == 3


def test_sessions_with_another_harness_are_not_counted(vault: Vault, caller: Caller) -> None:
    for day, harness in ((10, "codex"), (11, "codex"), (12, "gemini"), (13, "gemini"), (14, "gemini")):
        ingest(vault, _talk(day, [f"Boiler {day} is at the yard."]), caller._replace(agent=harness), "x")
    assert pending(vault, caller, most_events=1, reads=reader_of("codex")).waiting == 2
    assert pending(vault, caller, most_events=1, reads=reader_of("gemini")).waiting == 3
    assert unread_by_harness(vault) == {"codex": 2, "gemini": 3}
