"""Session records as people and other programs write them: what is read, what is refused, and when one is abandoned."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.records.session import (
    ABANDONED,
    ENDED,
    OPEN,
    SessionRecord,
    check_session_id,
    parse_session,
    render_session,
    state_at,
)
from clawmem.vault.strict_yaml import parse_yaml

PATH = "agents/scout/sessions/ses_1.json"
SEEN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def parsed(**values: Any) -> SessionRecord:
    return parse_session(json.dumps({"id": "ses_1", **values}).encode(), PATH, parse_yaml)


def test_a_project_has_one_name_however_its_address_is_written() -> None:
    for address in ("git@GitHub.com:Ada/Boat.git", "https://ada:pw@github.com/ada/boat", "github.com/ada/boat"):
        assert parsed(project=address).project == "github.com/ada/boat"


def test_a_record_is_written_as_it_was_read() -> None:
    record = parsed(
        agent="scout", served=["fact_1"], warnings=["mind the boom"], outcomes={"fact_1": "useful"}, mood="calm",
        notes=[{"id": "n1", "at": "2026-11-21T09:00:00Z", "text": "The mast is up."}],
    )  # fmt: skip
    assert record.extra == {"mood": "calm"}
    assert parse_session(render_session(record), PATH, parse_yaml) == record


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, ["fact_1", 2]) for key in ("served", "learned", "proposals", "warnings")),
        *((key, "a text") for key in ("served", "warnings", "notes", "collisions", "checkpoints")),
        ("notes", [{"id": "n1", "text": "no time"}]),
        ("outcomes", ["useful"]),
        ("reflection", "good"),
        ("checkpoints", ["first"]),
        ("state", "asleep"),
        ("project", 7),
        ("summary", ["a list"]),
    ],
)
def test_a_value_of_a_wrong_type_is_named(key: str, value: object) -> None:
    with pytest.raises(Unreadable, match=rf"the key '{key}[^']*' (must|is missing)"):
        parsed(**{key: value})


@pytest.mark.parametrize("text", ["a..b", "..", ".hidden", "a/b", "a b", "a-", "", "x" * 129])
def test_an_id_that_is_no_file_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a session id"):
        check_session_id(text)


def test_a_session_is_abandoned_after_its_hours_and_not_at_them() -> None:
    record = parsed(started="2026-11-20T09:30:00Z", last_seen="2026-11-21T09:30:00Z")
    assert state_at(record, SEEN + timedelta(hours=6), 6) == OPEN
    assert state_at(record, SEEN + timedelta(hours=6, seconds=1), 6) == ABANDONED
    assert state_at(parsed(started="2026-11-20T09:30:00Z"), SEEN, 6) == ABANDONED, "it was never seen since its start"
    assert state_at(parsed(started="long ago"), SEEN, 6) == OPEN
    assert state_at(parsed(state=ENDED), SEEN, 6) == ENDED
