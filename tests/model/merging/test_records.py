"""One day's events of two machines: each line of both once, in time order, with all marks."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import REDACTED
from clawmem.model.merging.records import kept_for_facts, merge_ledger, merged_proposal
from clawmem.model.proposals.proposal import parse_proposal


def line(name: str, minute: int, text: str = "words", **more: object) -> bytes:
    return json.dumps({"id": name, "timestamp": f"2026-11-21T09:{minute:02}:00Z", "text": text, **more}).encode()


def day(*lines: bytes) -> bytes:
    return b"".join(each + b"\n" for each in lines)


def names(data: bytes) -> list[str]:
    return [json.loads(each)["id"] for each in data.splitlines()]


A, B, C, D = (line(name, minute) for name, minute in (("a", 1), ("b", 3), ("c", 5), ("d", 7)))


def test_new_lines_of_both_sides_stand_in_time_order() -> None:
    late, early = line("z", 9), line("y", 2)
    for ours, theirs in (((A, B, late), (A, B, early)), ((A, B, early), (A, B, late))):
        assert merge_ledger(day(A, B), day(*ours), day(*theirs)) == day(A, early, B, late)
    # Among lines of one time the old ones are first, and the new ones have one order for both sides.
    same = [line(name, 3) for name in ("q", "p")]
    for first, second in permutations(same):
        assert names(merge_ledger(day(A, B), day(A, B, first), day(A, B, second))) == ["a", "b", "p", "q"]
    assert merge_ledger(b"", day(A, C), day(B, D)) == day(A, B, C, D)


def test_what_one_side_removed_stays_out_unless_a_fact_rests_on_it() -> None:
    for ours, theirs in ((day(A), day(A, B)), (day(A, B), day(A))):
        assert merge_ledger(day(A, B), ours, theirs) == day(A)
        assert merge_ledger(day(A, B), ours, theirs, {"b"}) == day(A, B)
        assert merge_ledger(day(A, B), ours, theirs, {"a"}) == day(A)
        assert kept_for_facts(day(A, B), ours, theirs, {"b"}) == ("b",)
        assert kept_for_facts(day(A, B), ours, theirs, {"a"}) == kept_for_facts(day(A, B), ours, theirs, ()) == ()
    assert merge_ledger(day(A, B), day(A), day(A), {"b"}) == day(A), "both removed it"
    assert kept_for_facts(day(A, B), day(A), day(A), {"b"}) == ()
    # A line that one side wrote again in another form is not kept beside that form.
    marked = line("b", 3, recalled=True)
    assert merge_ledger(day(A, B), day(A, marked), day(A, B), {"b"}) == day(A, marked)
    assert kept_for_facts(day(A, B), day(A, marked), day(A, B), {"b"}) == ()


@pytest.mark.parametrize(
    ("other_record", "other", "joined"),
    [
        ({"recalled": True}, {}, {"recalled": True}),
        ({"recalled": False}, {}, {"recalled": False}),
        ({"metadata": {"revoked": "2026-11-22"}}, {}, {"metadata": {"revoked": "2026-11-22"}}),
        (
            {"metadata": {"revoked": "2026-11-22", "x": 1}},
            {"metadata": {"revoked": "2026-11-20", "x": 1}},
            {"metadata": {"revoked": "2026-11-20", "x": 1}},
        ),
        ({"metadata": {"revoked": ""}}, {"recalled": True}, {"metadata": {"revoked": ""}, "recalled": True}),
        ({"metadata": None}, {"metadata": {"revoked": "2026-11-20"}}, {"metadata": {"revoked": "2026-11-20"}}),
    ],
)
def test_the_marks_of_both_sides_are_joined(
    other_record: dict[str, Any], other: dict[str, Any], joined: object
) -> None:
    mine, yours = line("e", 4, **other_record), line("e", 4, **other)
    found = []
    for ours, theirs in ((mine, yours), (yours, mine)):
        (record,) = (json.loads(each) for each in merge_ledger(day(A), day(A, ours), day(A, theirs)).splitlines()[1:])
        found.append(record)
        assert {key: value for key, value in record.items() if key in {**other_record, **other}} == joined
    assert found[0] == found[1]


def test_a_redacted_event_replaces_the_one_that_says_it() -> None:
    plain, silent = line("e", 4, "a secret"), line("e", 4, f"a {REDACTED}")
    for ours, theirs in ((plain, silent), (silent, plain)):
        assert merge_ledger(b"", day(ours), day(theirs)) == day(silent)
    twice = line("e", 4, f"a {REDACTED}", recalled=True)
    (record,) = map(json.loads, merge_ledger(b"", day(silent, plain), day(twice)).splitlines())
    assert (record["text"], record["recalled"]) == (f"a {REDACTED}", True)


def test_two_texts_under_one_id_are_both_kept() -> None:
    data, other = line("e", 4, "one"), line("e", 4, "other")
    assert sorted(merge_ledger(b"", day(data), day(other)).splitlines()) == sorted((data, other))


def test_lines_that_are_no_events_are_kept_as_they_are() -> None:
    broken, nameless = b"{not json", b'{"text": "x"}'
    merged = merge_ledger(day(broken, A), day(broken, A, nameless), day(broken, A))
    assert sorted(merged.splitlines()) == sorted((broken, A, nameless))
    assert merge_ledger(day(broken, A), day(A), day(broken, A)) == day(A)


EVENTS = st.lists(st.sampled_from([line(name, minute) for name in "abcdef" for minute in (1, 2, 3)]), unique=True)


@given(EVENTS, EVENTS, EVENTS)
def test_both_sides_get_the_same_and_lose_nothing(base: list[bytes], mine: list[bytes], yours: list[bytes]) -> None:
    merged = merge_ledger(day(*base), day(*mine), day(*yours))
    assert sorted(merged.splitlines()) == sorted(merge_ledger(day(*base), day(*yours), day(*mine)).splitlines())
    new = {json.loads(each)["id"] for each in {*mine, *yours} - set(base)}
    both = {json.loads(each)["id"] for each in base if each in mine and each in yours}
    assert set(names(merged)) == new | both
    assert merge_ledger(day(*base), merged, merged) == merged


BASE: dict[str, Any] = {
    "id": "prop_1a2b3c4d",
    "kind": "conflict",
    "status": "open",
    "says": "B.",
    "why": "two",
    "does": "supersede",
    "created": "2026-12-01T00:00:00Z",
    "targets": [{"id": "fact_aaaa1111", "fact": "A."}, {"id": "fact_bbbb2222", "fact": "B."}],
    "fact": {"fact": "B.", "category": "fact", "source": "user"},
}


def _decided(winner: str, says: str, at: str) -> dict[str, Any]:
    ruling = {"by": "x", "at": at, "reason": None, "winner": winner}
    return {**BASE, "status": "approved", "says": says, "fact": {**BASE["fact"], "fact": says}, "decided": ruling}


@pytest.mark.parametrize(("hour", "wins"), [("09", "B."), ("10", "A."), ("11", "A.")])
def test_the_later_decision_stands_with_its_words(hour: str, wins: str) -> None:
    first = _decided("fact_aaaa1111", "A.", f"2026-12-02T{hour}:00:00Z")
    other = _decided("fact_bbbb2222", "B.", "2026-12-02T10:00:00Z")
    both = [merged_proposal(BASE, *sides, (b"", b"")) for sides in ((first, other), (other, first))]
    assert both[0] == both[1]
    assert both[0] is not None
    stands = parse_proposal(both[0], "review/prop_1a2b3c4d.json")
    assert (stands.says, stands.fact and stands.fact.fact) == (wins, wins)
    assert stands.extra["also_decided"]["winner"] != (stands.decided and stands.decided.winner)
