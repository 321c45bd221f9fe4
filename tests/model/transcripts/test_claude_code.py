"""Sessions of Claude Code."""

from __future__ import annotations

import json
from typing import Any

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import TOOL_TEXT_LIMIT, Message, SkippedLine

AT = "2026-03-02T10:00:00.000Z"
PLACE = {"cwd": "/srv/site", "branch": "main"}


def line(kind: str, content: Any, uuid: str = "u1", **more: Any) -> dict[str, Any]:
    return {
        "type": kind, "uuid": uuid, "parentUuid": None, "sessionId": "s1", "timestamp": AT, "isSidechain": False,
        "cwd": "/srv/site", "gitBranch": "main", "version": "2.1.0",
        "message": {"role": kind, "content": content}, **more,
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
        Message(2, "user", "Count the hives, please.", at, None, "s1", "u1", metadata=PLACE),
        Message(3, "assistant", "Sure.", at, None, "s1", "u2", metadata=PLACE),
        Message(
            4,
            "assistant",
            '{"name": "Bash", "arguments": {"command": "ls hives"}}',
            at,
            None,
            "s1",
            "t1",
            "tool_call",
            metadata=PLACE,
        ),
        Message(5, "tool", "north\nsouth", at, None, "s1", "t1", "tool_result", metadata={**PLACE, "tool": "Bash"}),
    ]


def test_what_an_agent_answers_to_a_hook_is_no_answer_to_the_user() -> None:
    asked = "Stop hook feedback:\n<clawmem-context>\nStore what matters.\n</clawmem-context>"
    stored = {"type": "tool_use", "id": "t1", "name": "mcp__clawmem__remember", "input": {"text": "The hive is blue."}}
    found = taken(
        line("user", "The hive is blue."),
        line("assistant", [{"type": "text", "text": "Good."}], "u2"),
        line("user", asked, "u3", isMeta=True),
        line("assistant", [stored], "u4"),
        line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "remembered"}], "u5"),
        line("assistant", [{"type": "text", "text": "Nothing more to keep."}], "u6"),
        line("user", "Paint it red.", "u7"),
        line("assistant", [{"type": "text", "text": "It is red."}], "u8"),
    )
    texts = [message.text for message in found if isinstance(message, Message) and not message.recalled]
    assert "Nothing more to keep." not in texts
    assert {"The hive is blue.", "Good.", "Paint it red.", "It is red."} <= set(texts)


def test_in_a_sidechain_the_agent_speaks() -> None:
    (found,) = taken(line("user", "I want you to look for bees.", isSidechain=True))
    assert isinstance(found, Message)
    assert (found.role, found.metadata) == ("assistant", {**PLACE, "sidechain": True})


def test_a_place_that_a_line_does_not_name_is_left_out() -> None:
    (found,) = taken(line("user", "Look for bees.", gitBranch="", cwd=["/srv"]))
    assert isinstance(found, Message) and found.metadata is None


def test_what_the_program_wrote_is_marked() -> None:
    found = taken(
        line("user", "I said this."),
        line("user", "Stop hook feedback: I am a hook.", "u2", isMeta=True),
        line("user", "The user lives in Rome.", "u3", isCompactSummary=True),
        line("assistant", [{"type": "text", "text": "No response requested."}], "u4")
        | {"message": {"model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}},
    )
    assert [message.recalled for message in found if isinstance(message, Message)] == [False, True, True, True]


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
    assert found.metadata == {**PLACE, "error": True, "cut": True, "length": 9000}


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


def test_records_of_the_program_are_quiet_and_not_said() -> None:
    """As release 2.1.330 writes them, one holds the whole request, with what a hook gave the program."""
    injected = "<system-reminder>The boat is called Selma.</system-reminder>"
    about = {"sessionId": "s1", "timestamp": AT}
    found = taken(
        {"type": "queue-operation", "operation": "enqueue", "content": "Hello.", **about},
        line("user", "Hello."),
        {"type": "attachment", "uuid": "a1", "attachment": {"type": "hook_additional_context", "content": injected},
         "rendered": [{"content": injected}], "renderedRole": "user", **about},
        {"type": "atis-latch", "atis": "", "sessionId": "s1"},
        {"type": "api-request-shape", "shape": {"system": [{"type": "text", "text": "x"}]}, **about},
        {"type": "api-request-blob", "hash": "h", "sessionId": "s1",
         "message": {"role": "user", "content": [{"type": "text", "text": injected}]}},
        {"type": "api-request", "id": "r", "params": {"model": "m"}, **about},
        {"type": "tools-used", "tools": [], **about},
        {"type": "something-of-tomorrow", "sessionId": "s1", "message": {"role": "user", "content": injected}},
        {"type": "cost-state", "sessionId": "s1", "totalCostUSD": 0.0},
    )  # fmt: skip
    assert [message.text for message in found if isinstance(message, Message)] == ["Hello."]
    assert not [other_line for other_line in found if isinstance(other_line, SkippedLine)]
