"""What answers say of former states, of what was withdrawn, and of each part of a question."""

from __future__ import annotations

import json
from pathlib import Path

from clawmem.vault.vault import Vault
from tests.at_terminal import at_terminal
from tests.conftest import Command


def test_what_held_before_comes_first(clawmem: Command) -> None:
    clawmem("ingest", "-", given=json.dumps({"role": "assistant", "content": "Noted: Priya, Manchester."}))
    old = clawmem("remember", "Priya lives in Leeds.", "--json").data["facts"][0]["id"]
    clawmem("supersede", old, "Priya lives in Manchester.")
    for question in (
        "Where did Priya live before?",
        "What was Priya's original home?",
        "Wo wohnte Priya früher?",
        "Wo hat Priya bisher gewohnt?",
        "Wo war Priya vorher?",
    ):
        first = clawmem("recall", question).out.splitlines()[0]
        assert first.startswith(old) and first.endswith("then: Priya lives in Manchester."), question
        assert "## What held before\n- Priya lives in Leeds." in clawmem("context", question).out


def test_a_fact_has_its_reason_from_the_start_or_later(clawmem: Command) -> None:
    fact = "The blue ladder stays in the shed."
    clawmem("remember", fact, "--reason", "a rung is loose")
    assert f"{fact}  (areas/general, because a rung is loose)" in clawmem("recall", "loose rung").out
    clawmem("remember", "The red ladder is fine.")
    assert "because Ada checked" in clawmem("remember", "The red ladder is fine.", "--reason", "Ada checked it").out
    assert clawmem("remember", "The saw is new.", "--reason", "my password is hunter2-Rabbit77").code != 0


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


def test_words_of_a_fact_are_changed_in_the_editor_of_the_person(
    vault: Vault, clawmem: Command, environment: dict[str, str], tmp_path: Path
) -> None:
    fact = clawmem("remember", "Jane prefers tea.", "--json").data["facts"][0]["id"]
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/tea/coffee/ "$1"\n')
    editor.chmod(0o755)
    with at_terminal(("edit", "prefers tea"), vault.root, {**environment, "EDITOR": str(editor)}) as terminal:
        assert terminal.ended() == 0
    assert "Jane prefers coffee." in terminal.shown
    assert clawmem("show", fact, "--json").data["fact"]["status"] == "superseded"
    for broken in ("false", "no-such-editor-here"):
        with at_terminal(("edit", "coffee"), vault.root, {**environment, "EDITOR": broken}) as terminal:
            assert terminal.ended() == 2
        assert f"The editor '{broken}'" in terminal.shown
    unchanged = clawmem("edit", "coffee")
    assert unchanged.code == 2
    assert "What to change is missing" in unchanged.err
    assert clawmem("edit", "coffee", "--pin", "--unpin").code == 2


def test_a_name_that_several_facts_state_is_one_screen_without_an_entity(clawmem: Command) -> None:
    clawmem("remember", "Jane prefers tea.")
    clawmem("remember", "Ann works with Jane.")
    clawmem("note", "Jane called about the boat")
    shown = clawmem("show", "Jane")
    assert shown.code == 0
    for words in ("No entity is named 'Jane'.", "Jane prefers tea.", "Ann works with Jane.", "called about the boat"):
        assert words in shown.out
    assert clawmem("show", "fact_").code == 1, "the prefix of many ids names none of them"


def test_an_edit_says_what_it_did_and_a_pin_is_shown(clawmem: Command) -> None:
    fact = clawmem("remember", "Jane sails.", "--json").data["facts"][0]["id"]
    assert clawmem("edit", fact, "--pin").out.startswith(f"pinned: {fact}  Jane sails.")
    ended = clawmem("edit", fact, "--valid-to", "2027").out
    assert ended.startswith(f"ends 2027-12-31: {fact}") and "until 2027-12-31" in ended
    assert clawmem("edit", fact, "--valid-to", "2027").out.endswith("nothing changed; no commit was made\n")
    assert clawmem("edit", fact, "--valid-to", "someday").code == 2
    assert "0.96, pinned" in clawmem("show", fact).out and "pinned" in clawmem("list").out
    assert clawmem("edit", fact, "--tag", "boat,sea", "--unpin").out.startswith(
        f"unpinned, tagged boat and sea: {fact}"
    )
    assert "Jane sails." in clawmem("list", "--tag", "sea").out
    assert clawmem("edit", fact, "--reason", "her boat is new").out.startswith(f"said why: {fact}")
    assert "because her boat is new" in clawmem("recall", "whose boat is new?").out
    assert "pinned" not in clawmem("show", fact).out + clawmem("list").out


def test_an_announced_change_takes_no_option_of_a_new_fact(clawmem: Command) -> None:
    old, new = (
        clawmem("remember", f"Jane lives in {town}.", "--json").data["facts"][0]["id"] for town in ("Oslo", "Rome")
    )
    announced = ("supersede", old, "--for", new, "--until", "2026-12-31")
    refused = clawmem(*announced, "--tag", "home")
    assert (refused.code, "takes a fact, --for, --until and --reason" in refused.err) == (2, True)
    assert clawmem(*announced, "--reason", "she moves").code == 0


def test_a_doubtful_fact_is_shown_as_uncertain_wherever_it_is_served(clawmem: Command) -> None:
    clawmem("remember", "The office moves to Bergen in March.", "--confidence", "0.3")
    clawmem("remember", "The office has a garden in Bergen.", "--confidence", "0.5")
    for words in (("recall", "office in Bergen"), ("context", "office in Bergen"), ("list",), ("context",)):
        moves, garden = (
            next(line for line in clawmem(*words).out.splitlines() if word in line) for word in ("moves", "garden")
        )
        assert ("uncertain" in moves, "uncertain" in garden) == (True, False)
