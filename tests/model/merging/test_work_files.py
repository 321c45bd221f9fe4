"""Merging what two machines wrote of one session, of the digestion queue, and of equal words in two scopes."""

from __future__ import annotations

import json

from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.merging.files import merge_file

PATH = "agents/main/sessions/ses_1.json"


def _session(state: str, *notes: str) -> bytes:
    items = [{"id": note, "at": f"2026-11-20T0{at}:00:00Z", "text": note} for at, note in enumerate(notes)]
    return json.dumps({"id": "ses_1", "state": state, "notes": items}).encode()


def test_notes_of_both_sides_stay_and_an_end_wins() -> None:
    base, ours, theirs = _session("open", "a"), _session("ended", "a", "b"), _session("open", "a", "c")
    for data, other in ((ours, theirs), (theirs, ours)):
        merged = json.loads(merge_file(PATH, base, data, other).content or b"")
        assert merged["state"] == "ended"
        assert [note["id"] for note in merged["notes"]] == ["a", "b", "c"]


def test_the_queue_keeps_the_further_phase() -> None:
    def queue(**phases: str) -> bytes:
        record = {key: {"title": key, "added": "", "phase": phase} for key, phase in phases.items()}
        return json.dumps(record).encode()

    ours, theirs = queue(one="verify", two="reduce"), queue(one="reflect", three="done")
    merged = json.loads(merge_file("ledger/digestion.json", b"{}", ours, theirs).content or b"")
    assert {key: item["phase"] for key, item in merged.items()} == {"one": "verify", "two": "reduce", "three": "done"}


def test_equal_words_in_two_scopes_are_not_joined() -> None:
    def items(fact_id: str, workflow: str) -> bytes:
        made = Fact(fact_id, "Run the tests.", "lesson", "2026-11-20T08:00:00Z", "s", scope="team", workflow=workflow)
        return render_items([made])

    path = "life/projects/boat/items.json"
    merged = merge_file(path, b"[]\n", items("fact_00000001", "software"), items("fact_00000002", "research")).content
    assert [item.status for item in parse_items(merged or b"", path)] == ["active", "active"]


def test_each_key_of_a_task_with_two_values_is_named() -> None:
    def page(priority: int, holder: str) -> bytes:
        keys = f"state: working\npriority: {priority}\nholder: {holder}\nsince: 2026-12-0{priority}"
        return f"---\ntitle: Pay\n{keys}\n---\n\n# Pay\n".encode()

    for sides in ((page(1, "Ada Lind"), page(2, "Tobias")), (page(2, "Tobias"), page(1, "Ada Lind"))):
        merged = merge_file("tasks/pay.md", None, *sides)
        assert {conflict.says for conflict in merged.conflicts} == {
            "tasks/pay.md is working (Ada Lind); another machine had working (Tobias)",
            "tasks/pay.md has priority 2; another machine had priority 1",
        }
