"""`--jsonl` and `--fields`: the records of a command, one a line or with only some of their fields."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from clawmem.errors import DONE, USAGE
from clawmem.faces.parts.shapes import SHARED, record_fields
from tests.answers import check_document
from tests.conftest import Command, Once
from tests.manual import commands

COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_with_one_list_of_objects_declares_its_records(name: str) -> None:
    command = COMMANDS[name]
    assert record_fields(command) or not isinstance(command.shape, dict)
    if isinstance(command.shape, dict) and len(command.shape) == 1:
        ((key, shape),) = command.shape.items()
        objects = isinstance(shape, (list, dict)) or (isinstance(shape, str) and isinstance(SHARED[shape], dict))
        assert not objects or command.records == (key.removesuffix("?"),)


@pytest.fixture
def told(once: Once, clawmem: Command) -> Command:
    once(lambda: _tell(clawmem))
    return clawmem


def _tell(clawmem: Command) -> None:
    line = {"role": "user", "speaker": "Ana", "content": "The ferry was late.", "timestamp": "2026-03-05T10:00:00Z"}
    clawmem("ingest", "-", given=json.dumps(line))
    clawmem("note", "Took the ferry to Oslo.")
    clawmem("remember", "The ferry costs 40 crowns.", "--entity", "resources/ferry", "--tag", "travel")
    clawmem("remember", "The ferry has two decks.", "--entity", "resources/ferry", env={"CLAWMEM_SEED": "2"})


def lines(printed: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in printed.splitlines()]


def test_jsonl_prints_each_record_as_json_prints_it(told: Command) -> None:
    for words, key in ((["list"], "facts"), (["log"], "history"), (["entity", "list"], "entities")):
        data = told(*words, "--json").data
        assert data[key]
        assert lines(told(*words, "--jsonl").out) == data[key], words
    fact = told("list", "--json").data["facts"][0]["id"]
    assert [one["id"] for one in lines(told("show", fact, "--jsonl").out)] == [fact]
    assert [one["facts"] for one in lines(told("status", "--jsonl").out)] == [told("status", "--json").data["facts"]]
    assert "No fact matches." in (told("list", "--tag", "none").out + told("list", "--tag", "none").err)
    assert "No fact matches." not in (told("list").out + told("list").err)


def test_the_records_of_recall_are_in_one_ranking(told: Command) -> None:
    records = lines(told("recall", "ferry", "--jsonl").out)
    assert [one["rank"] for one in records] == [1, 2, 3, 4]
    assert sorted(str(one["in"]) for one in records) == ["events", "facts", "facts", "notes"]
    assert not any("context" in one for one in records)
    assert lines(told("recall", "ferry", "--jsonl", "--fields", "rank,in").out) == [
        {"rank": one["rank"], "in": one["in"]} for one in records
    ]


def test_fields_choose_keys_of_the_records(told: Command) -> None:
    facts = told("list", "--json").data["facts"]
    assert told("list", "--json", "--fields", "fact, tags").data == {"facts": list(chosen(facts, "fact", "tags"))}
    assert lines(told("list", "--jsonl", "--fields=fact,tags").out) == list(chosen(facts, "fact", "tags"))
    rows = [f"{one['fact']}\t{json.dumps(one['tags']) if 'tags' in one else ''}" for one in facts]
    assert told("list", "--fields", "fact,tags").out.splitlines() == rows
    assert {row["tier"] for row in told("list", "--json", "--fields", "fact,tier").data["facts"]} == {"hot"}
    found = told("recall", "ferry", "--json", "--fields", "text,fact").data
    assert sorted(found) == ["events", "facts", "notes", "summaries"]
    assert [sorted(one) for one in found["facts"]] == [["fact"], ["fact"]]
    assert found["events"] == [{"text": "The ferry was late."}]
    assert told("--fields", "id", "list", "--json").data == {"facts": list(chosen(facts, "id"))}


def chosen(records: list[dict[str, object]], *names: str) -> Iterator[dict[str, object]]:
    for one in records:
        yield {name: one[name] for name in names if name in one}


def test_a_field_that_no_record_has_is_refused_before_anything_is_written(told: Command) -> None:
    before = told("status", "--json").data["head"]
    done = told("remember", "Jane likes tea.", "--json", "--fields", "id,outcome")
    assert (done.code, done.json["error"]["message"]) == (USAGE, "'outcome' is not a field of these records.")
    assert "id, fact, category" in done.json["error"]["hint"]
    assert told("status", "--json").data["head"] == before
    assert told("list", "--fields", " , ").code == USAGE
    assert told("list", "--json", "--jsonl").code == USAGE


def test_what_was_not_found_is_no_record(told: Command) -> None:
    nothing = told("recall", "zeppelin", "--jsonl")
    assert (nothing.code, nothing.out) == (DONE, "")
    assert "Nothing says that." in nothing.err
    failed = told("show", "fact_00000000", "--jsonl")
    assert (failed.code, failed.out) == (1, "")


def test_a_document_with_other_fields_than_the_schema_has_is_noticed() -> None:
    document = {"schema_version": 1, "ok": True, "data": {"facts": [{"nothing": 1}]}, "notices": []}
    with pytest.raises(Exception, match="nothing"):
        check_document(["list", "--json", "--fields", "id"], json.dumps(document))
