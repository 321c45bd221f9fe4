"""Which format a file has, and what is said where it has none."""

from __future__ import annotations

import json

import pytest

from clawmem.errors import InvalidInput
from clawmem.model.transcripts.formats import FORMATS, HEAD_BYTES, RECORDS, FileFormat, check_format, read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine


def test_the_formats() -> None:
    assert " ".join(FORMATS) == (
        "auto claude-code codex gemini opencode openclaw openclaw-trajectory cursor chatgpt claude openai jsonl"
        " markdown dialogue text csv entries document"
    )
    for name in FORMATS:
        assert check_format(name) == name
    with pytest.raises(InvalidInput) as failure:
        check_format("xml")
    assert all(name in failure.value.hint for name in FORMATS)


@pytest.mark.parametrize(
    "data",
    [b'{"name": "site", "version": "1.0"}', b'[{"a": 1}, {"b": 2}]', b'{"role": "user", "content": "cut', b"{}",
     b'{"a": 1}\n{"b": 2}\n', b"PK\x03\x04\x00\x00", "Hallo".encode("utf-16")],
)  # fmt: skip
def test_nothing_recognised_is_said_at_once(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        shape_of(data, "thing")


@pytest.mark.parametrize("name", RECORDS)
def test_a_named_format_that_nothing_fits_is_said_at_the_end(name: str) -> None:
    data = b'{"nothing": 1}\n{"nothing": 2}\n'
    found = read(shape_of(data, "thing", name), data.splitlines(keepends=True), "thing")
    with pytest.raises(InvalidInput, match="Nothing in thing was recognised as a message"):
        list(found)


def test_an_empty_file_is_no_mistake() -> None:
    assert list(read(shape_of(b"", "empty"), [], "empty")) == []


def test_lines_that_hold_nothing_are_recognised() -> None:
    data = b'{"type": "summary", "summary": "", "leafUuid": "u"}\n{"type": "moonbeam", "uuid": "u", "message": {}}\n'
    found = list(read(shape_of(data, "thing"), data.splitlines(keepends=True), "thing"))
    assert found == [SkippedLine(2, "its type 'moonbeam' is not known")]


def test_a_broken_first_line_does_not_hide_the_format() -> None:
    data = b'broken\n{"role": "user", "content": "Hi."}\n'
    shape = shape_of(data, "thing")
    assert shape == FileFormat("jsonl")
    assert [other.line for other in read(shape, data.splitlines(keepends=True), "thing")] == [1, 2]


def test_a_brace_at_the_beginning_of_a_line_is_no_record() -> None:
    notes = b"# Notes\n\n{a remark in braces}\n{not: json,\n"
    assert shape_of(notes, "notes.md") == shape_of(b"# Notes\n\na remark\n", "notes.md")


def test_bytes_that_are_no_text_are_named() -> None:
    lines = [b'\xef\xbb\xbf{"role": "user", "content": "Hi."}\n', b'{"role": "user", "content": "\xff"}\n']
    found = list(read(shape_of(b"".join(lines), "thing"), lines, "thing"))
    assert found == [Message(1, "user", "Hi."), SkippedLine(2, "it is not UTF-8 text")]
    with pytest.raises(InvalidInput, match="line 2"):
        list(read(FileFormat("text"), [b"fine\n", b"\xff\n"], "thing"))


def test_a_first_record_longer_than_what_is_looked_at() -> None:
    message = {"uuid": "m", "sender": "human", "text": "x" * (2 * HEAD_BYTES), "created_at": "2026-03-02T10:00:00Z"}
    data = json.dumps([{"uuid": "c", "name": "Long", "chat_messages": [message]}] * 2).encode()
    shape = shape_of(data[:HEAD_BYTES], "conversations.json")
    assert shape == FileFormat("claude", by_line=False)
    blocks = (data[at : at + 100_000] for at in range(0, len(data), 100_000))
    assert sum(isinstance(other, Message) for other in read(shape, blocks, "conversations.json")) == 2
