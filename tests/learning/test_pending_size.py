"""What a reading task costs: at most 1.5 times its messages, 700 tokens, and 25 for each known fact."""

from __future__ import annotations

import json
import random

import pytest

from clawmem.index.tables.exact_tokens import exact_counter
from clawmem.learning.apply import apply_answer
from clawmem.learning.ingest import ingest
from clawmem.learning.pending import pending
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.vault.vault import Vault

pytestmark = pytest.mark.usefixtures("without_vectors")

TALK = ("Is the harbour crane of Vestby back?", "It lifts 45 tons again since Tuesday, says Gunnar.", "Good.",
        "Let us ship the boilers on Friday then.", "ok, I tell the yard in Moss")  # fmt: skip


@pytest.mark.parametrize("size", [1, 5, 15])
def test_a_task_keeps_its_bound(vault: Vault, caller: Caller, size: int) -> None:
    count = exact_counter()
    texts = [f"{TALK[number % 5]} {number}" for number in range(30)]
    talk = [Message(n, "user", text, f"2026-11-20T10:{n:02}:00Z", "Ada", "s1") for n, text in enumerate(texts, 1)]
    ingest(vault, talk, caller, "x")
    known = [f"The crane of Vestby number {number} lifts {number} tons at the harbour." for number in range(12)]
    remember(
        vault, [draft_from_record({"fact": one, "entity": "projects/vestby"}, caller.now) for one in known], caller
    )
    for number in range(2):
        now = caller._replace(entropy=random.Random(number).randbytes)
        task = pending(vault, now, most_events=size)
        assert task.reading is not None
        read = sum(count(piece.text) for piece in task.reading.shown)
        assert len(task.events) == size
        assert task.tokens <= read * 1.5 + 700 + 25 * task.known
        apply_answer(vault, now, json.dumps({"task": task.key, "facts": []}))
