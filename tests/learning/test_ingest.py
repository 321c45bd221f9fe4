"""Ingest: events are stored verbatim, once, in bounded parts; text that nobody said is never learned from."""

from __future__ import annotations

import gc
import json
import random
import shlex
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from string import ascii_letters, digits

import pytest

from clawmem.errors import InvalidInput, Locked
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.learning import ingest as module
from clawmem.learning.ingest import RepeatCounter, count_new, event_id, ingest, ingest_notes, to_events
from clawmem.learning.learn import learn
from clawmem.learning.pending import pending
from clawmem.memory.health.configure import change_setting
from clawmem.memory.writing import writing
from clawmem.model.proposals.para import project_of_event
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.event import Event, parse_events
from clawmem.model.safety.recalled_text import wrap_context
from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine
from clawmem.vault.vault import Vault
from tests.conftest import Command

SECRET = "my token is ghp_" + "R7kq2LmZx9TbVw4NcYp8" + "HsJd3FgQe6Ua" + "1oXi"


def said(number: int, text: str, day: int = 1, external_id: str | None = None) -> Message:
    return Message(number, "user", text, f"2026-03-{day:02}T10:00:00Z", external_id=external_id)


def ledger(vault: Vault) -> list[Event]:
    pages = sorted((vault.root / "ledger").glob("*.jsonl"))
    return [event for page in pages for event in parse_events(page.read_bytes(), page.name)]


def test_a_message_is_kept_whole(vault: Vault, caller: Caller) -> None:
    about = {"tool": "Bash", "cut": True, "length": 9000}
    message = Message(1, "tool", "north\nsouth", "2026-03-01T10:00:00Z", None, "s1", "t1", "tool_result", True, about)
    result = ingest(vault, [message], caller, "session.jsonl")
    assert (result.added, result.known, result.days, result.commits) == (1, 0, ("2026-03-01",), 1)
    (event,) = ledger(vault)
    assert event == Event(
        event.id, "2026-03-01T10:00:00Z", "tool", "north\nsouth", None, "s1", None, "session.jsonl", "t1",
        "tool_result", True, about,
    )  # fmt: skip


def test_the_same_again_adds_nothing_and_more_adds_the_rest(vault: Vault, caller: Caller) -> None:
    talk = [said(1, "One."), said(2, "One."), said(3, "Two.", day=2)]
    first = ingest(vault, talk, caller, "x")
    head = vault.head().commit
    again = ingest(vault, talk, caller, "x")
    assert (again.added, again.known, again.commit, again.commits) == (0, 3, None, 0)
    assert vault.head().commit == head == first.commit
    grown = ingest(vault, [*talk, said(4, "One."), said(5, "Three.")], caller, "x")
    assert (grown.added, grown.known) == (2, 3)
    assert [event.text for event in ledger(vault)] == ["One.", "One.", "One.", "Three.", "Two."]


def test_ids_do_not_depend_on_the_parts(caller: Caller) -> None:
    talk = [said(number, text) for number, text in enumerate(["a", "b", "a", "a", "b"])]
    whole = [event.id for event in to_events(talk, caller, "x", RepeatCounter())]
    repeats = RepeatCounter()
    parts = [event.id for at in range(0, 5, 2) for event in to_events(talk[at : at + 2], caller, "x", repeats)]
    assert parts == whole
    assert len(set(whole)) == 5


def test_what_has_an_id_of_its_own_is_once(vault: Vault, caller: Caller) -> None:
    twice = [said(1, "One.", external_id="u1"), said(2, "One.", external_id="u1")]
    result = ingest(vault, twice, caller, "x")
    assert (result.added, result.known) == (1, 1)
    assert len(ledger(vault)) == 1


def test_a_commit_for_each_part_and_those_made_stay(
    vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PART", 3)
    talk = [said(number, f"Line {number}.", day=1 + number % 4) for number in range(10)]

    def breaking() -> Iterator[Message | SkippedLine]:
        yield from talk[:7]
        raise InvalidInput("The file is broken.", "Mend it.")

    with pytest.raises(InvalidInput) as failure:
        ingest(vault, breaking(), caller, "x")
    assert failure.value.hint == "6 events are kept; run the same command again to add the rest. Mend it."
    assert len(ledger(vault)) == 6
    result = ingest(vault, talk, caller, "x")
    assert (result.added, result.known, result.commits) == (4, 6, 2)
    assert sorted(event.text for event in ledger(vault)) == [f"Line {number}." for number in range(10)]
    with writing(vault, caller, "looking") as work:
        known = {row[0] for row in work.index.database.execute("SELECT id FROM event")}
    assert known == {event.id for event in ledger(vault)}


def test_large_messages_make_smaller_parts(vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART_CHARACTERS", 100)
    result = ingest(vault, [said(number, str(number) * 60) for number in range(4)], caller, "x")
    assert (result.added, result.commits) == (4, 2)


def test_where_nothing_is_recognised_nothing_is_locked_or_written(vault: Vault, caller: Caller) -> None:
    data = b'{"role": "king", "content": "x"}\n'
    head = vault.head().commit
    with writing(vault, caller, "another"), pytest.raises(InvalidInput, match="Nothing in x was recognised"):
        ingest(vault, read(shape_of(data, "x", "jsonl"), [data], "x"), caller, "x")
    assert vault.head().commit == head


def test_a_ledger_edited_between_two_parts_is_noticed(vault: Vault, caller: Caller) -> None:
    with writing(vault, caller, "ingest") as work:
        path = "ledger/2026-03-01.jsonl"
        assert work.read(path) is None
        work.commit([Change("one", {path: b'{"id": "evt_1"}\n'})])
        work.flush()
        assert work.read(path) == b'{"id": "evt_1"}\n'
        work.flush()
        (vault.root / path).write_bytes(b"by hand\n")
        with pytest.raises(Locked, match="was edited while this ran"):
            work.read(path)


def test_credentials_are_skipped_and_named(vault: Vault, caller: Caller) -> None:
    result = ingest(vault, [said(1, "Fine."), said(2, SECRET), SkippedLine(3, "it is not JSON")], caller, "x")
    assert result.added == 1
    assert [skipped_line.line for skipped_line in result.skipped] == [2, 3]
    assert "credential" in result.skipped[0].reason


def test_ids_may_look_random_and_are_no_credentials(vault: Vault, caller: Caller) -> None:
    chance = random.Random(3)
    names = ["".join(chance.choice(ascii_letters + digits) for _ in range(60)) for _ in range(3)]
    message = Message(1, "user", "I live in Oslo.", None, "Mia", names[0], names[1], metadata={"signature": names[2]})
    result = ingest(vault, [message], caller._replace(session=names[1]), "chat")
    assert (result.added, result.skipped) == (1, ())


def test_a_credential_beside_the_text_leaves_the_text_where_it_is_masked(vault: Vault, caller: Caller) -> None:
    token = SECRET.rpartition(" ")[2]
    change_setting(vault, caller, "secrets.action", "redact")
    masking = Vault(vault.root, vault.git.environment)
    beside = Message(1, "user", "I live in Oslo.", None, token, token, token, metadata={"heading": token})
    result = ingest(masking, [beside, beside], caller, f"chat {token}")
    assert (result.added, result.known, result.skipped) == (2, 0, ())
    first, second = parse_events(masking.read("ledger/2026-11-21.jsonl") or b"", "ledger")
    assert (first.text, first.speaker, first.source) == (
        "I live in Oslo.", "[redacted: github-token]", "chat [redacted: github-token]",
    )  # fmt: skip
    assert (first.external_id, first.metadata, first.session) == (None, None, "[redacted: github-token]")
    assert second.id != first.id


def test_only_what_the_person_said_is_learned(vault: Vault, caller: Caller) -> None:
    base = {"sessionId": "s1", "timestamp": "2026-03-02T10:00:00Z", "isSidechain": False}
    items = [
        "Remember that I live in Delft.\n<system-reminder>\nI live in Rome.\n</system-reminder>",
        wrap_context("Remember that I work at Quickline."),
        "Contents of /home/ada/CLAUDE.md (instructions):\n\nI am allergic to wool.",
        "This session is being continued from a previous conversation.\n\nI have a brother named Otto.",
        "<command-name>/x</command-name><command-args>Remember that I own a boat named Gull.</command-args>",
    ]
    lines: list[dict[str, object]] = [{"type": "user", "message": {"role": "user", "content": text}} for text in items]
    lines += [
        {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "Remember that I own a car."}},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "Remember that I have a cat."}},
        {"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Remember that I live in Oslo."},
            {"type": "tool_use", "id": "t1", "name": "Write", "input": {"text": "Remember that I live in Paris."}}]}},
    ]  # fmt: skip
    data = [json.dumps({**base, "uuid": f"u{number}", **line}).encode() for number, line in enumerate(lines)]
    ingest(vault, read(shape_of(b"\n".join(data), "s"), data, "s"), caller, "s")
    assert sum(event.recalled for event in ledger(vault)) == 5
    learn(vault, caller)
    index = open_index(vault)
    facts = [placed.fact for placed in all_facts(index)]
    index.close()
    assert [fact.source_text for fact in facts] == ["I live in Delft"]
    events = {event.id: event for event in ledger(vault)}
    for fact in facts:
        assert fact.source_span is not None and fact.source_event is not None
        assert events[fact.source_event].text[slice(*fact.source_span)] == fact.source_text


def test_memory_does_not_grow_with_the_transcript(
    vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PART", 100)

    def talk(count: int) -> Iterator[Message]:
        for number in range(count):
            when = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=count + number // 20)
            yield Message(number, "user", "x" * 400, when.isoformat(), external_id=f"{count}-{number}")

    def peak(count: int) -> int:
        gc.collect()  # what other tests left in this process
        tracemalloc.start()
        assert ingest(vault, talk(count), caller, "x").added == count
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(100)
    few = peak(400)
    better = min(peak(1_500), peak(1_501))
    assert better - few < 400 * 1_000, "the texts of the further messages alone take more"


def test_a_task_and_its_answer_in_a_conversation_are_no_news(vault: Vault, caller: Caller) -> None:
    talk = [Message(1, "user", "I live in Lisbon.", "2026-11-02T10:00:00Z")]
    ingest(vault, talk, caller, "talk.jsonl")
    for number in range(3):
        task = pending(vault, caller)
        answer = f'Here it is:\n```json\n{{"task": "{task.key}", "facts": []}}\n```'
        inner = [
            Message(2, "user", f"Answer this.\n{task.text}", f"2026-11-02T11:0{number}:00Z", session=f"inner{number}"),
            Message(3, "assistant", answer, f"2026-11-02T11:0{number}:10Z", session=f"inner{number}"),
            Message(4, "user", task.text, f"2026-11-02T11:0{number}:20Z", session=f"inner{number}"),
        ]
        ingest(vault, inner, caller, "inner.jsonl")
        assert pending(vault, caller).text == task.text
    events = parse_events(vault.read("ledger/2026-11-02.jsonl") or b"", "x")
    assert [event.recalled for event in events] == [False, *[True] * 9]
    assert len(pending(vault, caller).events) == 1


def test_the_project_of_a_line_is_kept(vault: Vault, caller: Caller) -> None:
    for line in (
        b'{"role": "user", "content": "Deploys need a ticket.", "project": "https://example.org/fjord/pelican.git"}',
        b'{"messages": [{"role": "user", "content": "We use NATS."}], "id": "c1", "project": "kestrel"}',
    ):
        ingest(vault, read(shape_of(line, "x"), [line], "x"), caller, "stdin")
    events = parse_events(vault.read(f"ledger/{caller.now:%Y-%m-%d}.jsonl") or b"", "x")
    assert [project_of_event(event) for event in events] == ["pelican", "kestrel"]


def test_another_persons_chat_in_the_same_heartbeat_silences_nobody(vault: Vault, caller: Caller) -> None:
    order = "Please always answer in short sentences."
    talk = [
        Message(1, "user", order, "2026-11-02T10:00:00Z", session="a"),
        Message(2, "user", "Lunch?", "2026-11-02T10:05:00Z", "Ann", "b"),
        Message(3, "user", "Sure.", "2026-11-02T10:06:00Z", "Ben", "b"),
    ]
    ingest(vault, talk, caller, "talk.jsonl")
    assert learn(vault, caller).count("added") == 1


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"text": SECRET}, "it"),
        ({"speaker": SECRET.rpartition(" ")[2]}, "its speaker"),
        ({"session": SECRET.rpartition(" ")[2]}, "its session"),
        ({"source": SECRET.rpartition(" ")[2]}, "its source"),
        ({"external_id": SECRET.rpartition(" ")[2]}, "its id"),
        ({"metadata": {"heading": SECRET}}, "its metadata"),
    ],
)
def test_where_a_credential_stands_is_named(
    vault: Vault, caller: Caller, changes: dict[str, object], where: str
) -> None:
    message = said(4, "I live in Oslo.")._replace(**changes)  # type: ignore[arg-type]
    assert count_new(vault, [message, said(5, "Fine.")], caller, "x")[0] == 1
    (skipped,) = ingest(vault, [message], caller, "x").skipped
    assert skipped == SkippedLine(4, f"{where} holds what looks like a credential (github-token)")


def test_a_commit_names_what_was_added_and_its_days(vault: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="scout", session="s7")
    for messages, subject in (
        ([said(1, "One.")], "ingest(ledger): 1 event from chat (2026-03-01)"),
        (
            [said(2, "Two.", day=3), said(3, "Three.", day=1)],
            "ingest(ledger): 2 events from chat (2026-03-01 to 2026-03-03)",
        ),
    ):
        assert count_new(vault, messages, agent, "chat") == (len(messages), ())
        result = ingest(vault, messages, agent, "chat")
        log = vault.git.run("log", "-1", "--format=%s%n%an%n%b").decode()
        assert log.startswith(f"{subject}\nscout")
        assert "Session: s7" in log or "s7" in log
        assert count_new(vault, messages, agent, "chat") == (0, ())
        assert result.commits == 1
    assert [(event.agent, event.session) for event in ledger(vault)] == [("scout", "s7")] * 3


def test_repeats_are_numbered_and_a_part_is_full_at_its_limit(
    vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeats = RepeatCounter()
    assert [repeats.number("a", None), repeats.number("b", None), *(repeats.number("a", None) for _ in range(3))] == [
        1, 1, 2, 3, 4,
    ]  # fmt: skip
    assert event_id("a", None) == event_id("a", "") != event_id("a")
    monkeypatch.setattr(module, "PART", 2)
    assert ingest(vault, [said(number, str(number)) for number in range(4)], caller, "x").commits == 2

    def breaking() -> Iterator[Message | SkippedLine]:
        yield from (said(9, "new"), said(10, "newer"))
        raise InvalidInput("The file is broken.", "Mend it.")

    monkeypatch.setattr(module, "PART", 1)
    with pytest.raises(InvalidInput) as failure:
        ingest(vault, breaking(), caller, "x")
    assert failure.value.hint == "2 events are kept; run the same command again to add the rest. Mend it."
    monkeypatch.setattr(module, "PART_CHARACTERS", 3)
    monkeypatch.setattr(module, "PART", 5)
    assert ingest(vault, [said(number, f"{number}xx") for number in range(3)], caller, "y").commits == 3


def test_the_trust_of_a_message_is_at_most_that_of_who_hands_it_in(caller: Caller) -> None:
    messages = [said(1, "One."), said(2, "Two.")._replace(trust="tool")]
    for by, trusts in (
        (caller, [None, "tool"]),
        (caller._replace(agent="scout"), ["agent", "tool"]),
        (caller._replace(agent="scout", unattended=True), [None, "tool"]),
    ):
        assert [event.trust for event in to_events(messages, by, "x", RepeatCounter())] == trusts
    (now,) = to_events([Message(1, "note", "x")], caller, "x", RepeatCounter())
    assert (now.timestamp, now.kind, now.source) == ("2026-11-21T09:30:00Z", "note", "x")
    (own,) = to_events([Message(1, "user", "x")._replace(source="y")], caller, "x", RepeatCounter())
    assert (own.source, own.kind == "note") == ("y", False)


def test_the_lines_of_daily_notes_become_events_of_their_day(vault: Vault, caller: Caller) -> None:
    for name, lines in (
        ("daily/2026-11-20.md", f"- 9:05 We met.\n- No time.\n- {SECRET}\n- 9:05 We met.\n"),
        ("agents/scout/daily/2026-11-19.md", "- 10:30 I looked.\n"),
        ("daily/notes.md", "- 9:05 Of no day.\n"),
    ):
        path = vault.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# A day\n\n{lines}")
    result = ingest_notes(vault, caller)
    assert result.added == len(ledger(vault)) and result.days == ("2026-11-19", "2026-11-20")
    found = {(event.timestamp, event.agent, event.role, event.kind) for event in ledger(vault)}
    assert ("2026-11-20T09:05:00Z", None, "note", "note") in found
    assert ("2026-11-20T00:00:00Z", None, "note", "note") in found
    assert ("2026-11-19T10:30:00Z", "scout", "note", "note") in found
    assert not any("ghp_" in event.text or "no day" in event.text for event in ledger(vault))
    assert ingest_notes(vault, caller).added == 0


@pytest.mark.parametrize(
    ("speakers", "named"),
    [(["Ada Person"], "Ada Person"), (["Adam", "Ada"], "Ada"),
     (["Ida", "Ola"], None), (["User"], "")],
)  # fmt: skip
def test_a_person_is_told_how_a_speaker_is_named_as_the_user(
    clawmem: Command, speakers: list[str | None], named: str | None
) -> None:
    rows = [{"role": "user", "speaker": speaker, "content": "I moved to Ghent."} for speaker in speakers]
    told = clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, rows))).err
    if named == "":
        assert "user.name" not in told
        return
    who = f"one of {', '.join(filter(None, speakers))}" if named is None else named
    assert f"If {who} is you, `clawmem config set user.name {shlex.quote(named or 'NAME')}`" in told
    assert clawmem("config", "set", "user.name", named or "Ida").code == 0
    again = json.dumps({"role": "user", "speaker": speakers[0], "content": "I like Ghent."})
    assert "user.name" not in clawmem("ingest", "-", "--format", "jsonl", given=again).err


@pytest.mark.usefixtures("without_vectors")
def test_who_is_named_as_the_user_later_is_one_person(clawmem: Command) -> None:
    rows = [
        {"role": "user", "content": "Remember that I am allergic to nuts.", "session": "a"},
        {"role": "user", "speaker": "Ines", "content": "Remember that I live in Oslo.", "session": "b"},
    ]
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, rows)))
    clawmem("heartbeat")
    assert {fact["entity"] for fact in clawmem("list", "--json").data["facts"]} == {
        "areas/people/user", "areas/people/ines",
    }  # fmt: skip
    assert clawmem("config", "set", "user.name", "Ines").code == 0
    clawmem("heartbeat")
    assert [fact["entity"] for fact in clawmem("list", "--json").data["facts"]] == ["areas/people/ines"] * 2
