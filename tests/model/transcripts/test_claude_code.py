"""Sessions of Claude Code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clawmem.model.transcripts import claude_code
from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine
from clawmem.model.transcripts.parts import TOOL_TEXT_LIMIT, TranscriptState

AT = "2026-03-02T10:00:00.000Z"


def line(kind: str, content: Any, uuid: str = "u1", **more: Any) -> dict[str, Any]:
    return {
        "type": kind, "uuid": uuid, "parentUuid": None, "sessionId": "s1", "timestamp": AT, "isSidechain": False,
        "cwd": "/srv/site", "version": "2.1.0", "message": {"role": kind, "content": content}, **more,
    }  # fmt: skip


def taken(*records: dict[str, Any]) -> list[Message | SkippedLine]:
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    shape = shape_of(b"".join(lines), "session.jsonl")
    assert shape == ("claude-code", True)
    return list(read(shape, lines, "session.jsonl"))


def test_a_turn_with_a_tool() -> None:
    found = taken(
        {"type": "summary", "summary": "Bees", "leafUuid": "u4"},
        line("user", "Count the hives, please."),
        line("assistant", [{"type": "thinking", "thinking": "I keep bees."}, {"type": "text", "text": "Sure."}], "u2"),
        line("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls hives"}}], "u3"),
        line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": [
            {"type": "text", "text": "north\nsouth"}, {"type": "image", "source": {"data": "AAAA"}}]}], "u4",
            toolUseResult={"stdout": "north\nsouth"}),
        {"type": "file-history-snapshot", "messageId": "u4", "snapshot": {}},
    )  # fmt: skip
    at = "2026-03-02T10:00:00Z"
    assert found == [
        Message(2, "user", "Count the hives, please.", at, None, "s1", "u1", metadata={"project": "site"}),
        Message(3, "assistant", "Sure.", at, None, "s1", "u2"),
        Message(
            4, "assistant", '{"name": "Bash", "arguments": {"command": "ls hives"}}', at, None, "s1", "t1", "tool_call"
        ),
        Message(5, "tool", "north\nsouth", at, None, "s1", "t1", "tool_result", metadata={"tool": "Bash"}),
    ]


def test_in_a_sidechain_the_agent_speaks() -> None:
    (found,) = taken(line("user", "I want you to look for bees.", isSidechain=True))
    assert isinstance(found, Message)
    assert (found.role, found.metadata) == ("assistant", {"sidechain": True})


def test_what_the_program_wrote_is_marked() -> None:
    found = taken(
        line("user", "I said this."),
        line("user", "Stop hook feedback: I am a hook.", "u2", isMeta=True),
        line("user", "The user lives in Rome.", "u3", isCompactSummary=True),
        line("assistant", [{"type": "text", "text": "No response requested."}], "u4")
        | {"message": {"model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}},
    )
    assert [one.recalled for one in found if isinstance(one, Message)] == [False, True, True, True]


def test_a_result_that_repeats_a_boot_file_is_marked() -> None:
    found = taken(
        line("assistant", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a/CLAUDE.md"}}]),
        line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "I prefer tabs."}], "u2"),
    )
    assert isinstance(found[1], Message)
    assert found[1].recalled


def test_long_results_are_cut_and_say_so() -> None:
    (found,) = taken(
        line("user", [{"type": "tool_result", "tool_use_id": "t9", "content": "x" * 9000, "is_error": True}])
    )
    assert isinstance(found, Message)
    assert found.text == "x" * TOOL_TEXT_LIMIT
    assert found.metadata == {"error": True, "cut": True, "length": 9000}


def test_lines_that_are_not_known_are_named() -> None:
    found = taken(line("user", "Hello."), line("moonbeam", "x"), {"type": "user", "uuid": "u", "timestamp": AT},
                  line("user", "Late.", timestamp="soon"))  # fmt: skip
    assert found[1:] == [
        SkippedLine(2, "its type 'moonbeam' is not known"),
        SkippedLine(3, "it has no message"),
        SkippedLine(4, "its timestamp 'soon' is not a time"),
    ]


def test_system_lines_are_of_the_system() -> None:
    (_, found) = taken(line("user", "Hi."), {"type": "system", "uuid": "u2", "content": "Compacted", "timestamp": AT})
    assert isinstance(found, Message)
    assert (found.role, found.text) == ("system", "Compacted")


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        ("/home/ada/code/shop", "shop"),
        ("/srv/shop/", "shop"),
        ("/home/ada", None),
        ("/root", None),
        ("/", None),
        (3, None),
    ],
)
def test_the_working_folder_names_the_project(folder: object, project: str | None) -> None:
    record = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "cwd": folder,
        "message": {"role": "user", "content": "Hi."},
    }
    (found,) = claude_code.read(1, record, TranscriptState())
    assert isinstance(found, Message)
    assert (found.metadata or {}).get("project") == project
