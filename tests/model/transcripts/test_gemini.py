"""Sessions of Gemini CLI 0.61."""

from __future__ import annotations

import json
from typing import Any

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine

AT = "2026-03-02T10:00:00.000Z"
HEADER = {"sessionId": "s1", "projectHash": "ab12", "startTime": AT, "lastUpdated": AT, "kind": "main"}
SETUP = {
    "id": "m0",
    "timestamp": AT,
    "type": "user",
    "content": [{"text": "<session_context>\nLinux.\n</session_context>"}],
}


def said(identity: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": identity, "timestamp": AT, "type": kind, "content": content, **more}


def taken(*records: dict[str, Any]) -> list[Message | SkippedLine]:
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    shape = shape_of(b"".join(lines), "session.jsonl")
    assert shape == ("gemini", True)
    return list(read(shape, lines, "session.jsonl"))


def test_a_session() -> None:
    call = {
        "id": "c1", "name": "mcp_clawmem_recall", "args": {"question": "hives"}, "status": "success",
        "result": [{"functionResponse": {"id": "c1", "name": "x", "response": {"output": "Two hives."}}}],
        "resultDisplay": "shown",
    }  # fmt: skip
    injected = "How many hives?\n\n<hook_context>Ada keeps bees.</hook_context>"
    found = taken(
        HEADER,
        {"$set": {"messages": [SETUP], "lastUpdated": AT}},
        said("m1", "user", [{"text": injected}]),
        {"$set": {"lastUpdated": AT}},
        said("m2", "gemini", "", thoughts=[]),
        said("m3", "info", "Update available."),
        said("m2", "gemini", "There are two.", toolCalls=[call], tokens={"input": 1}),
    )
    assert [
        (message.role, message.kind, message.text, message.recalled)
        for message in found
        if isinstance(message, Message)
    ] == [
        ("user", "message", "How many hives?", False),
        ("assistant", "message", "There are two.", False),
        ("assistant", "tool_call", '{"name": "mcp_clawmem_recall", "arguments": {"question": "hives"}}', False),
        ("tool", "tool_result", "Two hives.", True),
    ]
    assert {message.session for message in found if isinstance(message, Message)} == {"s1"}


def test_a_whole_session_in_one_document() -> None:
    data = json.dumps(
        {**HEADER, "messages": [SETUP, said("m1", "user", "Hello."), said("m2", "gemini", "Hi.")]}
    ).encode()
    shape = shape_of(data, "session.json")
    assert shape.format == "gemini"
    found = list(read(shape, [data], "session.json"))
    assert [message.text for message in found if isinstance(message, Message)] == ["Hello.", "Hi."]


def test_a_wrong_time_is_named() -> None:
    found = taken(HEADER, said("m1", "user", "Hello.") | {"timestamp": "soon"}, said("m2", "user", "Hi."))
    assert found[0] == SkippedLine(2, "its timestamp 'soon' is not a time")
    assert isinstance(found[1], Message)
