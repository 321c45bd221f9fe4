"""`clawmem ingest` as a process: files, stdin, pipes, formats and exit codes."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput
from clawmem.faces.verbs.ingest import ingest_transcript
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.conftest import Command

HELLO = {"role": "user", "content": "I keep bees.", "timestamp": "2026-03-02T10:00:00Z"}
CLAUDE = {"type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-03-02T10:00:00Z",
          "message": {"role": "user", "content": "Hello."}}  # fmt: skip


def test_the_format_is_said(clawmem: Command, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps(CLAUDE) + "\n")
    result = clawmem("ingest", str(path), "--json")
    assert result.code == 0
    assert (result.data["format"], result.data["added"], result.data["commits"]) == ("claude-code", 1, 1)
    again = clawmem("ingest", str(path), "--json")
    assert (again.data["added"], again.data["known"], again.data["commit"]) == (0, 1, None)


def test_an_unknown_line_is_named_and_the_exit_code_says_so(clawmem: Command) -> None:
    value = json.dumps(CLAUDE) + "\n" + json.dumps({**CLAUDE, "type": "moonbeam"}) + "\nbroken\n"
    result = clawmem("ingest", "-", given=value)
    assert result.code == 4
    assert result.out.startswith("1 event added, 0 already known, 2 skipped\n")
    assert "line 2 was skipped: its type 'moonbeam' is not known" in result.err
    assert "line 3 was skipped: it is not JSON" in result.err


def test_many_unknown_lines_are_counted(clawmem: Command) -> None:
    value = json.dumps(HELLO) + "\n" + "broken\n" * 50
    result = clawmem("ingest", "-", given=value)
    assert result.err.count("was skipped") == 20
    assert "30 more lines were skipped; --json lists them all" in result.err
    assert len(clawmem("ingest", "-", "--json", given=value).data["skipped"]) == 50


def test_nothing_recognised_is_one_sentence(clawmem: Command) -> None:
    for value, options in (('{"name": "site"}', ()), ("broken {\n", ("--format", "jsonl")), ('[{"a": 1}]', ())):
        result = clawmem("ingest", "-", *options, given=value)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("error: Nothing in stdin was recognised as a message.\nhint: Name its format")


def test_an_unknown_format_lists_them(clawmem: Command) -> None:
    result = clawmem("ingest", "-", "--format", "xml", given="x")
    assert result.code == 2
    assert "auto, claude-code, codex, gemini, opencode, openclaw, openclaw-trajectory, cursor," in result.err
    assert all(name in clawmem("ingest", "--help").out for name in ("claude-code", "openclaw", "chatgpt", "markdown"))


def test_the_speaker_is_the_users(clawmem: Command, vault_root: Path) -> None:
    value = json.dumps(HELLO) + "\n" + json.dumps({**HELLO, "role": "assistant", "content": "Nice."}) + "\n"
    assert clawmem("ingest", "-", "--speaker", "Nora", "--session", "s9", given=value).code == 0
    events = [json.loads(line) for line in (vault_root / "ledger/2026-03-02.jsonl").read_text().splitlines()]
    assert [(event.get("speaker"), event["session"]) for event in events] == [("Nora", "s9"), (None, "s9")]


def test_a_pipe_by_name(clawmem: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(json.dumps(HELLO) + "\n"))
    writer.start()
    result = clawmem("ingest", str(pipe), "--json")
    writer.join()
    assert result.data["added"] == 1


def test_missing_files_and_folders(clawmem: Command, tmp_path: Path) -> None:
    assert clawmem("ingest", str(tmp_path / "none.jsonl")).code == 1
    (tmp_path / "empty").mkdir()
    assert clawmem("ingest", str(tmp_path / "empty")).out.startswith("0 events added")


def test_an_empty_file_changes_nothing(clawmem: Command) -> None:
    result = clawmem("ingest", "-", given="")
    assert (result.code, result.out) == (
        0,
        "0 events added, 0 already known, 0 skipped\nnothing changed; no commit was made\n",
    )


def test_what_is_given_beside_the_text_can_be_read_and_written(clawmem: Command) -> None:
    line = '{"role": "user", "content": "I swim."}'
    hidden = b"a\x1b[31m\xff".decode(errors="surrogateescape")
    for option in ("--session", "--speaker", "--source"):
        result = clawmem("ingest", "-", option, hidden, given=line)
        assert result.code == 2 and f"The {option[2:]} has the control character" in result.err
    result = clawmem("ingest", "-", given=line, env={"CLAWMEM_SESSION": hidden})
    assert result.code == 2 and "CLAWMEM_SESSION has the control character U+001B" in result.err


def test_a_folder(clawmem: Command, tmp_path: Path, vault_root: Path) -> None:
    (tmp_path / "logs/deep").mkdir(parents=True)
    (tmp_path / "logs/a.jsonl").write_text(json.dumps(HELLO) + "\n")
    (tmp_path / "logs/deep/b.jsonl").write_text(json.dumps({**HELLO, "content": "Bye."}) + "\nbroken\n")
    (tmp_path / "logs/package.json").write_text('{"name": "site"}')
    (tmp_path / "logs/photo.png").write_bytes(b"\0")
    result = clawmem("ingest", str(tmp_path / "logs"), "--project", "https://git.example.org/ada/site.git", "--json")
    assert result.code == 4
    assert result.data["added"] == 2
    assert [(other["file"], other["line"]) for other in result.data["skipped"]] == [
        ("deep/b.jsonl", 2),
        ("package.json", 0),
    ]
    again = clawmem("ingest", str(tmp_path / "logs"), "--json")
    assert (again.data["added"], again.data["known"]) == (0, 2)
    events = [json.loads(line) for line in (vault_root / "ledger/2026-03-02.jsonl").read_text().splitlines()]
    assert {event["metadata"]["project"] for event in events} == {"https://git.example.org/ada/site.git"}


def test_of_a_folder_with_other_files_the_commands_that_take_them_are_named(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert clawmem("ingest", str(tmp_path / "notes")).code == 0, "an empty folder is no mistake"
    (tmp_path / "notes/boat.md").write_text("The boat is red.\n")
    alone = clawmem("ingest", str(tmp_path / "notes"))
    assert alone.code == 2 and f"`clawmem import {tmp_path}/notes` takes Markdown" in alone.err
    (tmp_path / "notes/a.jsonl").write_text(json.dumps(HELLO) + "\n")
    (tmp_path / "notes/people.csv").write_text("name\nAnn\n")
    assert "2 other files not read: `clawmem import" in clawmem("ingest", str(tmp_path / "notes")).err


def test_a_conversation_is_found_by_its_title(clawmem: Command, tmp_path: Path) -> None:
    asked, told = ({"sender": role, "text": text} for role, text in (("human", "Six nights?"), ("assistant", "Yes.")))
    chats = [{"uuid": "c1", "name": "Lisbon trip", "chat_messages": [asked, told]}]
    chats.append({"uuid": "c2", "name": "Boat", "chat_messages": [{"sender": "human", "text": "It leaks."}]})
    (tmp_path / "conversations.json").write_text(json.dumps(chats))
    clawmem("ingest", str(tmp_path / "conversations.json"))
    [first] = clawmem("recall", "the trip to Lisbon", "--limit", "1", "--json").data["events"]
    assert (first["text"], first["metadata"]) == ("Six nights?", {"title": "Lisbon trip"})


def test_what_was_withdrawn_is_said_and_comes_back(clawmem: Command, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps(HELLO) + "\n")
    clawmem("ingest", str(path))
    clawmem("retract", "--source", "chat.jsonl")
    path.write_text(path.read_text() + json.dumps({**HELLO, "content": "I keep goats."}) + "\n")
    again = clawmem("ingest", str(path))
    assert again.out.startswith("1 event added, 1 already known") and "1 event was withdrawn on" in again.err
    clawmem("undo", again.err.partition("`clawmem undo ")[2].partition("`")[0])
    assert "I keep bees." in clawmem("recall", "who keeps bees?").out
    assert clawmem("ingest", str(path)).err == ""


def test_since(clawmem: Command) -> None:
    value = "".join(json.dumps({**HELLO, "timestamp": f"2026-03-0{day}T10:00:00Z"}) + "\n" for day in (1, 2, 3))
    assert clawmem("ingest", "-", "--since", "2026-03-02", "--json", given=value).data["added"] == 2
    assert clawmem("ingest", "-", "--since", "soon", given=value).code == 2


def test_no_answer_in_words_has_a_hash_that_nobody_asked_for(clawmem: Command, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "Remember that I like tea."}\n')
    for words in (("ingest", str(chat)), ("heartbeat",), ("diff",), ("forget", "tea", "--yes"), ("undo",)):
        said = clawmem(*words)
        head = clawmem("log", "--json").data["history"][-1]["commit"]
        assert said.code == 0 and said.out and head[:7] not in said.out and "commit " not in said.out, words
    assert not re.search(r"\b[0-9a-f]{12}\b", clawmem("undo", "HEAD", "--dry-run").out)


def test_a_transcript_that_is_no_regular_file_is_refused_and_not_left_open(
    vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    """pytest fails a test that leaves a file open."""
    os.mkfifo(tmp_path / "session.jsonl")
    with pytest.raises(InvalidInput, match="not a regular file"):
        ingest_transcript(vault, tmp_path / "session.jsonl", "claude-code", "boat", caller)


def test_what_import_takes_is_said(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "mem0.json").write_text('[{"id": "1", "memory": "Likes tea", "user_id": "sam", "hash": "x"}]')
    assert "`clawmem import FILE` takes" in clawmem("ingest", str(tmp_path / "mem0.json")).err
    assert "import" in clawmem("--help").out.partition("Look:")[0].split()
