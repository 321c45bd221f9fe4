"""The data exports of ChatGPT and of Claude."""

from __future__ import annotations

import json
from typing import Any

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine


def node(identity: str, parent: str | None, children: list[str], message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": identity, "parent": parent, "children": children, "message": message}


def message(identity: str, role: str, text: str, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"id": identity, "author": {"role": role}, "create_time": 1772445600.5, "content": content, **more}


THOUGHT = {"content": {"content_type": "thoughts", "parts": ["x"]}}
MAPPING = {
    "root": node("root", None, ["s"], None),
    "s": node("s", "root", ["a"], message("ms", "system", "", metadata={"is_visually_hidden_from_conversation": True})),
    "a": node("a", "s", ["b", "c"], message("ma", "user", "Name a flower.")),
    "b": node("b", "a", [], message("mb", "assistant", "Rose, the answer that was dropped.")),
    "c": node("c", "a", ["d"], message("mc", "assistant", "print(1)", recipient="python")),
    "d": node("d", "c", ["e"], message("md", "tool", "1") | {"author": {"role": "tool", "name": "python"}}),
    "e": node("e", "d", ["f"], message("me", "assistant", "") | THOUGHT),
    "f": node("f", "e", [], message("mf", "assistant", "Tulip.")),
}  # fmt: skip
CHATGPT = [{"title": "Flowers", "id": "conv1", "create_time": 1772445600, "current_node": "f", "mapping": MAPPING}]
CLAUDE = [
    {
        "uuid": "c1", "name": "Bees", "created_at": "2026-03-02T10:00:00.000Z", "account": {"uuid": "x"},
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Old text only.", "content": [],
             "created_at": "2026-03-02T10:00:01.000Z", "attachments": [{"extracted_content": "long file"}]},
            {"uuid": "m2", "sender": "assistant", "text": "ignored", "created_at": "2026-03-02T10:00:02.000Z",
             "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "New content."}]},
            {"uuid": "m3", "sender": "king", "text": "x", "created_at": "2026-03-02T10:00:02.000Z"},
        ],
    }
]  # fmt: skip


def taken(value: Any, expected: str, indent: int | None = None, block: int = 7) -> list[Message | SkippedLine]:
    data = json.dumps(value, indent=indent).encode()
    shape = shape_of(data, "conversations.json")
    assert shape == (expected, False)
    return list(read(shape, (data[at : at + block] for at in range(0, len(data), block)), "conversations.json"))


def test_the_branch_last_shown_is_read() -> None:
    at = "2026-03-02T10:00:00Z"
    assert taken(CHATGPT, "chatgpt") == [
        Message(1, "user", "Name a flower.", at, None, "conv1", "ma"),
        Message(1, "assistant", '{"name": "python", "arguments": "print(1)"}', at, None, "conv1", "mc", "tool_call"),
        Message(1, "tool", "1", at, None, "conv1", "md", "tool_result", metadata={"tool": "python"}),
        Message(1, "assistant", "Tulip.", at, None, "conv1", "mf"),
    ]


def test_where_no_node_is_current_the_last_child_is_followed() -> None:
    chat = [{key: value for key, value in CHATGPT[0].items() if key != "current_node"}]
    assert [message.text for message in taken(chat, "chatgpt") if isinstance(message, Message)][-1] == "Tulip."


def test_a_circle_of_nodes_ends() -> None:
    ring = {
        "a": node("a", "b", ["b"], message("ma", "user", "One.")),
        "b": node("b", "a", ["a"], message("mb", "user", "Two.")),
    }
    found = taken([{"id": "r", "current_node": "b", "mapping": ring}], "chatgpt")
    assert [other_message.text for other_message in found if isinstance(other_message, Message)] == ["One.", "Two."]


def test_what_chatgpt_remembers_is_marked() -> None:
    profile = {
        "content_type": "user_editable_context",
        "user_profile": "I live in Rome.",
        "user_instructions": "Be brief.",
    }
    mapping = {
        "a": node("a", None, ["b"], message("ma", "user", "") | {"content": profile}),
        "b": node("b", "a", [], message("mb", "user", "Hi.", create_time=None)),
    }
    found = taken([{"id": "r", "create_time": 1772445600, "current_node": "b", "mapping": mapping}], "chatgpt")
    assert [
        (other_message.text, other_message.recalled, other_message.timestamp)
        for other_message in found
        if isinstance(other_message, Message)
    ] == [
        ("I live in Rome.\nBe brief.", True, "2026-03-02T10:00:00Z"),
        ("Hi.", False, "2026-03-02T10:00:00Z"),
    ]


def test_a_claude_export_old_and_new() -> None:
    assert taken(CLAUDE, "claude") == [
        Message(1, "user", "Old text only.", "2026-03-02T10:00:01Z", None, "c1", "m1"),
        Message(1, "assistant", "New content.", "2026-03-02T10:00:02Z", None, "c1", "m2"),
        SkippedLine(1, "message 3 of 'Bees': its role 'king' is not one of user, assistant, system, tool, note"),
    ]


def test_the_line_is_where_the_conversation_begins() -> None:
    found = taken(CLAUDE * 2, "claude", indent=1)
    assert {other.line for other in found} == {2, 2 + json.dumps(CLAUDE[0], indent=1).count("\n") + 1}


def test_a_broken_end_keeps_what_stands_before() -> None:
    data = json.dumps(CLAUDE).encode()[:-1] + b', {"uuid": "c2", "chat_mess'
    found = list(read(shape_of(data, "x"), [data], "x"))
    assert sum(isinstance(other, Message) for other in found) == 2
    assert isinstance(found[-1], SkippedLine)
    assert "from here on it is not JSON" in found[-1].reason
