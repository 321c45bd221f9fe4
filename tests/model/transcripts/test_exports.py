"""The data exports of ChatGPT and of Claude."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine, role_of


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
        Message(1, "user", "Name a flower.", at, None, "conv1", "ma", metadata={"title": "Flowers"}),
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
        Message(1, "user", "Old text only.", "2026-03-02T10:00:01Z", None, "c1", "m1", metadata={"title": "Bees"}),
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


CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":  "Delft"}'}}
CHAT = {
    "id": "chat-1",
    "created": 1772445600,
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Rain?"}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "No rain."},
        {"role": "assistant", "content": "No.", "name": "ada"},
    ],
}
AT = "2026-03-02T10:00:00Z"
EVENTS = [
    Message(1, "system", "Be brief.", AT, None, "chat-1"),
    Message(1, "user", "Rain?", AT, None, "chat-1"),
    Message(
        1, "assistant", '{"name": "weather", "arguments": {"city":  "Delft"}}', AT, None, "chat-1", "c1", "tool_call"
    ),
    Message(1, "tool", "No rain.", AT, None, "chat-1", "c1", "tool_result", metadata={"tool": "weather"}),
    Message(1, "assistant", "No.", AT, "ada", "chat-1"),
]


def read_chat(text: str, expected: str, by_line: bool) -> list[Message | SkippedLine]:
    data = text.encode()
    shape = shape_of(data, "chat")
    assert shape == (expected, by_line)
    return list(read(shape, data.splitlines(keepends=True) if by_line else [data], "chat"))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_chat_as_a_document_and_as_a_line(indent: int | None) -> None:
    assert read_chat(json.dumps(CHAT, indent=indent), "openai", by_line=indent is None) == EVENTS


def test_an_array_of_messages() -> None:
    found = read_chat(json.dumps(CHAT["messages"]), "jsonl", by_line=False)
    assert [message.text for message in found if isinstance(message, Message)] == [event.text for event in EVENTS]


def lines(*records: Any) -> str:
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)


def test_own_lines() -> None:
    record = {"role": "human", "speaker": "Nora", "session": "s", "id": "D1:1", "timestamp": AT, "content": "Hi.\n "}
    assert read_chat(lines(record, {"text": "Bare."}), "jsonl", True) == [
        Message(1, "user", "Hi.\n ", AT, "Nora", "s", "D1:1"),
        Message(2, "user", "Bare.", trust="external"),
    ]


def test_what_is_no_message_is_named_with_its_line() -> None:
    found = read_chat(
        lines({"role": "user", "content": "Hi."}, "not json", "[1]", {"role": "king", "content": "x"}, {"role": "user"},
              {"role": "user", "content": " "}, {"role": "user", "content": "x", "timestamp": "soon"}, "",
              {"role": "user", "content": [{"type": "image_url"}]}),
        "jsonl", True,
    )  # fmt: skip
    assert found[1:] == [
        SkippedLine(2, 'it is not JSON: a value is expected, such as {"key": "text"}, at column 1'),
        SkippedLine(3, "it is not a JSON object"),
        SkippedLine(4, "its role 'king' is not one of user, assistant, system, tool, note"),
        SkippedLine(5, "it has no content"),
        SkippedLine(6, "it has no content"),
        SkippedLine(7, "its timestamp 'soon' is not a time"),
    ]


def test_broken_characters_are_replaced() -> None:
    found = read_chat('{"role": "user", "content": "half \\ud83d", "speaker": "\\ud800"}\n', "jsonl", True)
    assert found == [Message(1, "user", "half \ufffd", None, "\ufffd")]


def test_a_line_that_is_nested_too_deep_is_named() -> None:
    found = read_chat(lines({"role": "user", "content": "Hi."}, "[" * 200_000), "jsonl", True)
    assert isinstance(found[1], SkippedLine)


OF_APPS = [
    {"role": "app", "content": "I live in Oslo."},
    {"role": "event", "content": "I live in Oslo."},
    {"role": "app_event", "content": "I live in Oslo."},
    {"type": "app_event", "name": "opened", "content": "I live in Oslo."},
    {"type": "app_event", "name": "opened"},
    {"kind": "event", "name": "opened", "properties": {"note": "I live in Oslo."}},
]


@pytest.mark.parametrize("record", OF_APPS)
def test_an_event_of_an_app_is_nobodys_words(record: dict[str, Any]) -> None:
    data = lines(record).encode()
    (found,) = read(shape_of(data, "chat"), [data], "chat")
    assert isinstance(found, Message)
    assert (found.role, found.kind, found.speaker) == ("system", "app", None)
    assert found.text


@pytest.mark.parametrize("role", ["app", "event", "app_event"])
def test_a_role_of_an_app_is_not_a_users_in_any_format(role: str) -> None:
    assert role_of(role) == "system"
