"""Exports of OpenCode, trajectories of OpenClaw, and transcripts of Cursor."""

from __future__ import annotations

import json
from typing import Any

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine

AT = 1_772_445_600_000
WHEN = "2026-03-02T10:00:00Z"


def taken(format_: str, data: bytes) -> list[Message | SkippedLine]:
    shape = shape_of(data, "file")
    assert shape.format == format_
    return list(read(shape, data.splitlines(keepends=True) if shape.by_line else [data], "file"))


def of_opencode(role: str, *parts: dict[str, Any], identity: str = "m1") -> dict[str, Any]:
    return {"info": {"id": identity, "role": role, "time": {"created": AT}, "sessionID": "s1"}, "parts": list(parts)}


def test_opencode() -> None:
    tool = {"type": "tool", "tool": "bash", "callID": "c1", "state": {"status": "completed", "input": {"command": "ls"},
            "output": "north"}}  # fmt: skip
    session = {
        "info": {"id": "s1", "directory": "/srv/site", "version": "1.18.33"},
        "messages": [
            of_opencode(
                "user", {"type": "text", "text": "Count."}, {"type": "text", "text": "Ada.", "synthetic": True}
            ),
            of_opencode("assistant", {"type": "step-start"}, {"type": "text", "text": "One."}, tool, identity="m2"),
        ],
    }
    found = taken("opencode", json.dumps(session, indent=2).encode())
    place = {"cwd": "/srv/site"}
    call = '{"name": "bash", "arguments": {"command": "ls"}}'
    assert found == [
        Message(1, "user", "Count.", WHEN, None, "s1", "m1", metadata=place),
        Message(1, "assistant", "One.", WHEN, None, "s1", "m2", metadata=place),
        Message(1, "assistant", call, WHEN, None, "s1", "c1", "tool_call", metadata=place),
        Message(1, "tool", "north", WHEN, None, "s1", "c1", "tool_result", metadata={**place, "tool": "bash"}),
    ]


def test_opencode_with_messages_that_are_wrong() -> None:
    session = {"info": {"id": "s1"}, "messages": [of_opencode("moon", {"type": "text", "text": "x"}),
               {"info": [], "parts": []}, of_opencode("user", {"type": "text", "text": "Hi."})]}  # fmt: skip
    kinds = [type(other) for other in taken("opencode", json.dumps(session).encode())]
    assert kinds == [SkippedLine, SkippedLine, Message]


def of_openclaw(kind: str, seq: int, **data: Any) -> dict[str, Any]:
    return {"traceSchema": "openclaw-trajectory", "schemaVersion": 1, "traceId": "s1", "source": "transcript",
            "type": kind, "ts": WHEN, "seq": seq, "sessionId": "s1", "data": data}  # fmt: skip


def owner(is_one: bool) -> dict[str, Any]:
    return {"__openclaw": {"senderIsOwner": is_one}}


def test_openclaw_trajectory() -> None:
    events = [
        of_openclaw("session.started", 1, trigger="user"),
        of_openclaw("prompt.submitted", 2, prompt="[context] Count."),
        of_openclaw(
            "user.message", 3, message={"role": "user", "content": "Count.", "__openclaw": {"senderIsOwner": True}}
        ),
        of_openclaw(
            "user.message", 4, message={"role": "user", "content": "Me.", "__openclaw": {"senderIsOwner": False}}
        ),
        of_openclaw(
            "assistant.message", 5, message={"role": "assistant", "content": [{"type": "text", "text": "One."}]}
        ),
        of_openclaw("model.completed", 6, text="One."),
    ]
    found = taken("openclaw-trajectory", b"".join(json.dumps(event).encode() + b"\n" for event in events))
    assert [(message.role, message.text, message.trust) for message in found if isinstance(message, Message)] == [
        ("user", "Count.", None), ("user", "Me.", "external"), ("assistant", "One.", None),
    ]  # fmt: skip


def test_cursor() -> None:
    typed = "<timestamp>today</timestamp>\n<user_query>\nCount the hives.\n</user_query>"
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text": typed}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "Two."}]}},
        {"role": "moon", "message": {"content": "x"}},
    ]
    found = taken("cursor", b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert found == [
        Message(1, "user", "Count the hives."),
        Message(2, "assistant", "Two."),
        SkippedLine(3, "its role 'moon' is not one of user, assistant, system, tool, note"),
    ]
