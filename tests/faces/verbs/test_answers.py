"""What answers say of former states, of what was withdrawn, and of each part of a question."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Command


@pytest.mark.parametrize(
    "question",
    [
        "Where did Priya live before?",
        "What was Priya's original home?",
        "Wo wohnte Priya früher?",
        "Wo hat Priya bisher gewohnt?",
        "Wo war Priya vorher?",
    ],
)
def test_what_held_before_comes_first(clawmem: Command, question: str) -> None:
    clawmem("ingest", "-", given=json.dumps({"role": "assistant", "content": "Noted: Priya, Manchester."}))
    old = clawmem("remember", "Priya lives in Leeds.", "--json").data["facts"][0]["id"]
    clawmem("supersede", old, "Priya lives in Manchester.")
    first = clawmem("recall", question).out.splitlines()[0]
    assert first.startswith(old)
    assert first.endswith("then: Priya lives in Manchester.")
    context = clawmem("context", question).out
    assert "## What held before\n- Priya lives in Leeds." in context


def test_an_answer_that_was_withdrawn_says_why(clawmem: Command) -> None:
    paint = clawmem("decision", "add", "Use lead paint", "--why", "it is cheap", "--json").data["facts"][0]["id"]
    clawmem("retract", paint, "--reason", "not allowed on boats")
    text = f"{paint}  Use lead paint (retracted, because not allowed on boats)"
    assert f"No longer: {text}" in clawmem("recall", "lead paint").err
    assert f"no longer: {text.replace('  ', ' ')}" in clawmem("context", "lead paint").out
    assert "retracted, because not allowed on boats" in clawmem("why", paint).out


def test_a_question_of_several_parts_keeps_an_answer_to_each(clawmem: Command) -> None:
    texts = (
        "Jonathan Whitfield plays the accordion in the old band.",
        "The dentist appointment of Elif is on 3 December 2026.",
        "The greenhouse needs panes.",
    )
    for text in texts:
        clawmem("remember", text)
    question = "When is the dentist appointment of Elif in December, and what about the greenhouse?"
    for verb in ("recall", "context"):
        out = clawmem(verb, question).out
        assert texts[1] in out, verb
        assert texts[2] in out, verb
        assert texts[0] not in out, verb
