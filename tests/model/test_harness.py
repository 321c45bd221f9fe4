"""What harnesses say to hooks and what they want to hear, as their references show it."""

from __future__ import annotations

import json

import pytest

from clawmem.model.harness import HANDED_IN, HARNESSES, TURN, HookCall, events_of, native_events, printed, read_call

CLAUDE = {"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/srv/site", "hook_event_name": "UserPromptSubmit",
          "prompt": "Count.", "permission_mode": "default"}  # fmt: skip


def test_what_a_harness_says() -> None:
    assert read_call(json.dumps(CLAUDE).encode()) == HookCall("s1", "/srv/site", "/t.jsonl", "Count.")
    cursor = {"conversation_id": "c1", "workspace_roots": ["/srv/site"], "hook_event_name": "sessionStart"}
    assert read_call(json.dumps(cursor).encode()) == HookCall("c1", "/srv/site")
    # Gemini CLI puts before the prompt what hooks gave at the start, and it may be long.
    known = "- The boat is built with gcc.\n" * 200
    prompt = f"<hook_context>&lt;clawmem-context&gt;\n{known}&lt;/clawmem-context&gt;</hook_context>\n\nWhich compiler?"
    assert read_call(json.dumps({"prompt": prompt}).encode()).prompt == "Which compiler?"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no json",
        b"[]",
        b'{"cwd": 3, "prompt": null, "session_id": ["x"]}',
        b'{"workspace_roots": "/srv"}',
        b"[" * 9999,
    ],
)
def test_what_is_wrong_is_left_out(data: bytes) -> None:
    assert read_call(data) == HookCall()


@pytest.mark.parametrize("harness", HARNESSES)
def test_each_event_gets_the_form_of_its_harness(harness: str) -> None:
    events = [event for event in native_events(harness) if events_of(harness)[event] != TURN]
    for event in events:  # the question at the end of a turn is tested with it
        shown = printed(harness, event, "Ada keeps bees.")
        if harness in HANDED_IN:  # their plugins read plain text
            assert shown == "Ada keeps bees."
            continue
        value = json.loads(shown)
        if harness == "cursor":
            goes_on = {"continue": True} if event == "beforeSubmitPrompt" else {}
            assert value == {**goes_on, "additional_context": "Ada keeps bees."}
        else:
            assert value["hookSpecificOutput"] == {"hookEventName": event, "additionalContext": "Ada keeps bees."}
        assert printed(harness, event, "") == ""
    assert printed(harness, "start", "text") == "text"
    assert {"start", "prompt", "compact", "end"} <= set(events_of(harness).values())
