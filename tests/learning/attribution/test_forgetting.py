"""What a speaker asks to forget, by its words."""

from __future__ import annotations

import json

import pytest

from clawmem.learning.attribution.forgetting import asked_to_forget
from clawmem.memory.facts.forget import ITSELF, JUST_SAID, Named
from tests.conftest import Command


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("Don't remember this: my salary is 5000", (ITSELF, ("my salary is 5000",))),
        ("Don't remember this:\nmy salary is 5000", (ITSELF,)),
        ("Please forget the following - B-17 and the rest", (ITSELF, ("B-17 and the rest",))),
        ("Don't store this: my salary is 5000", (ITSELF, ("my salary is 5000",))),
        ("Merk dir das nicht: mein Gehalt ist 5000", (ITSELF, ("mein Gehalt ist 5000",))),
        ("no recuerdes esto: mi sueldo es 5000", (ITSELF, ("mi sueldo es 5000",))),
        ("Don't store this: the build output", ()),
        ("Don't remember this, it was wrong", (JUST_SAID,)),
        ("never mind, don't remember that", (JUST_SAID,)),
    ],
)
def test_what_follows_is_meant_and_not_what_was_said_before(text: str, targets: tuple[Named, ...]) -> None:
    assert asked_to_forget(text) == targets


@pytest.mark.usefixtures("without_vectors")
def test_a_text_that_is_not_to_be_remembered_leaves_the_message_before_it(clawmem: Command) -> None:
    rows = [
        {"role": "user", "content": "From now on use tabs, not spaces, in this project.", "session": "s1"},
        {"role": "user", "content": "Don't remember this: my salary is 5000.", "session": "s1"},
        {"role": "assistant", "content": "Fine, your salary of 5000 stays with me.", "session": "s1"},
    ]
    for row in rows:
        assert clawmem("ingest", "-", "--format", "jsonl", given=json.dumps(row)).code == 0
    clawmem("heartbeat")
    assert "tabs" in clawmem("list").out, "the standing order is learned"
    assert "5000" not in clawmem("recall", "salary 5000").out
    assert [row["kind"] for row in clawmem("review", "list", "--json").data["proposals"]] == ["forget"]
