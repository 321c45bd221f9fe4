"""Messages with role and content, one a line or in lists."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine, role_of

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


def taken(text: str, expected: str, by_line: bool) -> list[Message | SkippedLine]:
    data = text.encode()
    shape = shape_of(data, "chat")
    assert shape == (expected, by_line)
    return list(read(shape, data.splitlines(keepends=True) if by_line else [data], "chat"))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_chat_as_a_document_and_as_a_line(indent: int | None) -> None:
    assert taken(json.dumps(CHAT, indent=indent), "openai", by_line=indent is None) == EVENTS


def test_an_array_of_messages() -> None:
    found = taken(json.dumps(CHAT["messages"]), "jsonl", by_line=False)
    assert [message.text for message in found if isinstance(message, Message)] == [event.text for event in EVENTS]


def lines(*records: Any) -> str:
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)


def test_own_lines() -> None:
    record = {"role": "human", "speaker": "Nora", "session": "s", "id": "D1:1", "timestamp": AT, "content": "Hi.\n "}
    assert taken(lines(record, {"text": "Bare."}), "jsonl", True) == [
        Message(1, "user", "Hi.\n ", AT, "Nora", "s", "D1:1"),
        Message(2, "user", "Bare.", trust="external"),
    ]


def test_what_is_no_message_is_named_with_its_line() -> None:
    found = taken(
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
    found = taken('{"role": "user", "content": "half \\ud83d", "speaker": "\\ud800"}\n', "jsonl", True)
    assert found == [Message(1, "user", "half \ufffd", None, "\ufffd")]


def test_a_line_that_is_nested_too_deep_is_named() -> None:
    found = taken(lines({"role": "user", "content": "Hi."}, "[" * 200_000), "jsonl", True)
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
