"""Sessions of OpenClaw."""

from __future__ import annotations

import json
from typing import Any

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine

AT = "2026-02-01T22:06:59.076Z"
THEN = "2026-02-01T22:06:59Z"


def entry(identity: str, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, **more}
    return {"type": "message", "id": identity, "parentId": None, "timestamp": AT, "message": message}


def taken(*records: dict[str, Any]) -> list[Message | SkippedLine]:
    header = {"type": "session", "version": 3, "id": "claw-1", "timestamp": AT, "cwd": "/home/ada"}
    lines = [json.dumps(record).encode() + b"\n" for record in (header, *records)]
    shape = shape_of(b"".join(lines), "session.jsonl")
    assert shape == ("openclaw", True)
    return list(read(shape, lines, "session.jsonl"))


def test_a_turn_with_a_tool() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "exec", "arguments": {"command": "date"}}
    found = taken(
        {"type": "model_change", "id": "m0", "parentId": None, "timestamp": AT, "provider": "x", "modelId": "y"},
        entry("m1", "user", [{"type": "text", "text": "What day is it?"}, {"type": "image", "data": "AAAA"}]),
        entry("m2", "assistant", [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I look."}, call]),
        entry(
            "m3", "toolResult", [{"type": "text", "text": "Sunday"}], toolCallId="c1", toolName="exec", isError=False
        ),
    )
    assert found == [
        Message(3, "user", "What day is it?", THEN, None, "claw-1", "m1"),
        Message(4, "assistant", "I look.", THEN, None, "claw-1", "m2"),
        Message(4, "assistant", '{"name": "exec", "arguments": {"command": "date"}}', THEN, None, "claw-1", "c1",
                "tool_call"),
        Message(5, "tool", "Sunday", THEN, None, "claw-1", "c1", "tool_result", metadata={"tool": "exec"}),
    ]  # fmt: skip


def test_what_was_summed_up_or_laid_before_the_model_is_marked() -> None:
    found = taken(
        entry("m1", "user", "Hello."),
        {
            "type": "compaction",
            "id": "k1",
            "timestamp": AT,
            "summary": "The user lives in Rome.",
            "firstKeptEntryId": "m1",
        },
        {
            "type": "custom_message",
            "id": "k2",
            "timestamp": AT,
            "content": "The user owns a boat.",
            "customType": "memory",
        },
        entry("k3", "compactionSummary", None, summary="They talked about bees."),
    )
    marked = [(message.role, message.recalled) for message in found if isinstance(message, Message)]
    assert marked == [("user", False), ("system", True), ("system", True), ("system", True)]


def test_commands_of_the_person_are_a_tools() -> None:
    (found,) = taken(entry("m1", "bashExecution", None, command="ls", output="bees.md", exitCode=1))
    assert found == Message(
        2, "tool", "bees.md", THEN, None, "claw-1", "m1", "tool_result", metadata={"tool": "bash", "error": True}
    )


def test_entries_that_are_not_known_are_named() -> None:
    found = taken(entry("m1", "user", "Hi."), {"type": "moonbeam", "id": "m2"}, entry("m3", "king", "x"))
    assert found[1:] == [
        SkippedLine(3, "its type 'moonbeam' is not known"),
        SkippedLine(4, "its role 'king' is not one of user, assistant, system, tool, note"),
    ]


def test_what_a_hook_added_is_marked_and_what_a_channel_says_is_an_outsiders() -> None:
    found = taken(
        entry("m1", "user", "Hello."),
        entry("m2", "user", "The user owns a boat.", hookName="memory"),
        entry("m3", "user", "[WhatsApp +4912345] Bob: Come over."),
        entry("m4", "user", "[WhatsApp Group Cooks] Come over."),
        entry("m5", "user", "[WhatsApp +4912345] Come over."),
    )
    marked = [(message.recalled, message.trust) for message in found if isinstance(message, Message)]
    assert marked == [(False, None), (True, None), (False, "external"), (False, "external"), (False, None)]


def test_a_line_of_a_session_without_an_id_is_none_of_its_headers() -> None:
    assert shape_of(b'{"type": "session", "role": "user", "text": "Hello."}\n', "session.jsonl") == ("jsonl", True)


def test_an_event_of_a_run_has_the_time_of_its_line_where_its_message_has_none() -> None:
    event = {"traceSchema": "openclaw-trajectory", "type": "user.message", "sessionId": "s1"}
    lines = [
        json.dumps({**event, "ts": AT, "data": {"message": {"role": "user", "content": "Hi.", **more}}}).encode()
        for more in ({}, {"timestamp": "2026-02-02T10:00:00Z"})
    ]
    shape = shape_of(b"\n".join(lines), "events.jsonl")
    assert [message.timestamp for message in read(shape, lines, "events.jsonl") if isinstance(message, Message)] == [
        THEN,
        "2026-02-02T10:00:00Z",
    ]
