"""Sessions of Codex 0.169, and of older releases, which do not say where a text came from."""

from __future__ import annotations

import json
from typing import Any

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine

AT = "2026-03-02T10:00:00.000Z"
PLACE = {"cwd": "/srv/site", "branch": "main", "project": "https://git.example.org/ada/site.git"}


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "ordinal": 0, "type": kind, "payload": payload}


def message(role: str, text: str, kinds: list[str] | None = None, identity: str = "m1") -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    about = {} if kinds is None else {"internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds}}
    content = [{"type": part, "text": text}]
    return line("response_item", type="message", id=identity, role=role, content=content, **about)


HEADER = line(
    "session_meta", id="s1", session_id="s1", cwd="/srv/site", cli_version="0.169.0", base_instructions={"text": "x"},
    git={"repository_url": "https://git.example.org/ada/site.git", "branch": "main"},
)  # fmt: skip


def taken(*records: dict[str, Any]) -> list[Message | SkippedLine]:
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    shape = shape_of(b"".join(lines), "rollout.jsonl")
    assert shape == ("codex", True)
    return list(read(shape, lines, "rollout.jsonl"))


def test_a_turn_with_a_tool() -> None:
    call = line("response_item", type="function_call", name="shell", arguments='{"command": ["ls"]}', call_id="c1")
    result = line("response_item", type="function_call_output", call_id="c1", output="north\nsouth")
    found = taken(
        HEADER,
        line("event_msg", type="task_started", turn_id="t"),
        message("developer", "<memory>Ada keeps bees.</memory>", ["hooks.additional_context"]),
        message("user", "<environment_context>\n  <cwd>/srv/site</cwd>\n</environment_context>",
                ["environments.environment_context"]),
        line("world_state", full=True, state={}),
        line("turn_context", cwd="/srv/site", model="m"),
        message("user", "Count the hives.", ["user.text"], "m2"),
        line("event_msg", type="item_completed", item={"type": "UserMessage", "id": "x",
             "content": [{"type": "text", "text": "Count the hives."}]}),
        line("response_item", type="reasoning", summary=[]),
        call, result,
        message("assistant", "Two.", ["unknown"], "m3"),
        line("event_msg", type="item_completed", item={"type": "AgentMessage", "id": "m3",
             "content": [{"type": "Text", "text": "Two."}]}),
        line("token_usage_record", usage={}),
        line("event_msg", type="token_count", info=None),
    )  # fmt: skip
    at = "2026-03-02T10:00:00Z"
    assert found == [
        Message(7, "user", "Count the hives.", at, None, "s1", "m2", metadata=PLACE),
        Message(10, "assistant", '{"name": "shell", "arguments": {"command": ["ls"]}}', at, None, "s1", "c1",
                "tool_call", metadata=PLACE),
        Message(11, "tool", "north\nsouth", at, None, "s1", "c1", "tool_result", metadata={**PLACE, "tool": "shell"}),
        Message(12, "assistant", "Two.", at, None, "s1", "m3", metadata=PLACE),
    ]  # fmt: skip


def test_a_file_of_an_older_release() -> None:
    found = taken(
        line("session_meta", id="s1", cwd="/srv/site"),
        message("user", "<environment_context>\n  <cwd>/srv/site</cwd>\n</environment_context>"),
        message("user", "Count the hives."),
    )
    assert [other_message.text for other_message in found if isinstance(other_message, Message)] == ["Count the hives."]


def test_a_result_of_the_memory_is_marked() -> None:
    found = taken(
        HEADER,
        line(
            "response_item", type="function_call", name="recall", namespace="mcp__clawmem", arguments="{}", call_id="c1"
        ),
        line("response_item", type="function_call_output", call_id="c1", output="fact_1a2b  Ada keeps bees."),
    )
    assert [message.recalled for message in found if isinstance(message, Message)] == [False, True]


def test_wrong_lines_are_named() -> None:
    broken = {**message("user", "Hi.", ["user.text"]), "timestamp": "soon"}
    odd = message("moon", "Hi.")
    found = taken(HEADER, message("user", "Hi.", ["user.text"]), broken, odd, {**HEADER, "payload": 3})
    assert [skipped_line.line for skipped_line in found if isinstance(skipped_line, SkippedLine)] == [3, 4, 5]
