"""Only what was said or recorded on some days, whatever the kind of hit."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from clawmem.index.search.channels import FactFilter, is_within
from clawmem.learning.ingest import ingest, note
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import RECALL_KINDS
from clawmem.vault.vault import Vault
from tests.conftest import Command


@pytest.fixture
def boats(vault: Vault, caller: Caller) -> Vault:
    for days in (0, 40):
        then = caller._replace(now=caller.now - timedelta(days=days))
        record = {"fact": f"The boat was seen {days} days ago", "metadata": {"said_at": then.now.isoformat()}}
        remember(vault, [draft_from_record(record, caller.now)], caller)
        message = Message(1, "user", f"Where is the boat, {days}?", then.now.strftime("%Y-%m-%dT%H:%M:%SZ"))
        ingest(vault, [message], then, f"chat{days}")
        note(vault, f"Painted the boat {days}", then)
    return vault


FOUND: list[tuple[dict[str, str], set[str]]] = [
    ({}, {"0", "40"}),
    ({"since": "2026-11-01"}, {"0"}),
    ({"until": "2026-11-01"}, {"40"}),
    ({"since": "2026-10-12", "until": "2026-10-12"}, {"40"}),
    ({"since": "2026-10-13", "until": "2026-11-20"}, set()),
]


def test_every_kind_of_hit_is_of_these_days(boats: Vault, caller: Caller) -> None:
    for days, found in FOUND:
        result = recall(boats, "the boat", caller, FactFilter(**days), 20, RECALL_KINDS)  # type: ignore[arg-type]
        facts, events = [hit.fact.fact for hit in result.found], [hit.event.text for hit in result.heard]
        words = " ".join([*facts, *events, *(hit.text for hit in result.noted)])
        assert set(re.findall(r"\d+", words)) & {"0", "40"} == found, days


def test_an_unknown_day_is_outside_of_every_bound() -> None:
    assert is_within(None, FactFilter())
    assert not is_within(None, FactFilter(since="2026-01-01"))


def test_the_options(clawmem: Command) -> None:
    assert clawmem("remember", "The boat is blue.").code == 0
    assert "blue" in clawmem("recall", "the boat", "--since", "2026-11").out
    assert clawmem("recall", "the boat", "--until", "2026-10").out == ""
    assert clawmem("recall", "the boat", "--since", "2026-12", "--until", "2026-11").code == 2


def test_the_words_that_a_fact_quotes_are_searched(vault: Vault, caller: Caller) -> None:
    message = Message(1, "user", "The catamaran goes out at dawn on Sundays.", "2026-11-20T08:00:00Z")
    ingest(vault, [message], caller, "chat")
    event = recall(vault, "catamaran", caller, FactFilter(), 5, ("events",)).heard[0].event
    quoting = {"fact": "The user sails early", "source_event": event.id, "source_text": "catamaran goes out at dawn"}
    remember(vault, [draft_from_record(quoting, caller.now)], caller)
    assert [hit.fact.fact for hit in recall(vault, "catamaran", caller, FactFilter(), 5).found] == [
        "The user sails early"
    ]


def test_a_note_of_the_named_day_stands_first(clawmem: Command) -> None:
    assert clawmem("note", "Bought two bags of barley at the mill.", "--date", "2026-11-06").code == 0
    assert clawmem("note", "Bought barley again, at the mill. Three bags of barley.", "--date", "2026-11-13").code == 0
    lines = clawmem("recall", "what did I buy at the mill on Friday the 6th of November").out.splitlines()
    assert "two bags" in lines[0] and any("Three bags" in line for line in lines[1:])


def test_to_be_of_this_year_is_no_answer_where_everything_is(clawmem: Command) -> None:
    for day in range(3, 10):
        assert clawmem("note", f"Pruned row {day} of the vines.", "--date", f"2026-11-0{day}").code == 0
    answer = clawmem("recall", "Which vaccine did I get this year?")
    assert (answer.out, "Nothing says that" in answer.err) == ("", True)
    assert "row 4" in clawmem("recall", "What did I prune on 4 November?").out.splitlines()[0]
