"""One file of each kind merged: what is kept, what is joined, what is named."""

from __future__ import annotations

import json

import pytest

from clawmem.errors import NeedsDecision
from clawmem.model.merging.fields import MergePolicy
from clawmem.model.merging.files import MergedFile, merge_file
from clawmem.model.merging.keyed import FIRST, LAST, SECOND
from clawmem.model.pages.summary import generated_part, split_front_matter
from clawmem.model.proposals.proposal import (
    APPROVED,
    REJECTED,
    RETRACT,
    Proposal,
    ProposalTarget,
    ReviewDecision,
    parse_proposal,
    proposal_path,
    render_proposal,
)


def both(path: str, base: str | None, ours: str, theirs: str) -> MergedFile:
    """The merge, which must be the same from either side."""
    before = None if base is None else base.encode()
    merged = merge_file(path, before, ours.encode(), theirs.encode())
    assert merge_file(path, before, theirs.encode(), ours.encode()) == merged
    return merged


def text(merged: MergedFile) -> str:
    """What the file holds."""
    assert merged.content is not None
    return merged.content.decode()


PAGE = "# Boat\n\nIt is red.\n\nIt has a mast.\n"


def test_prose_of_both_sides_stays() -> None:
    merged = both("wiki/boat.md", PAGE, PAGE.replace("red", "blue"), PAGE + "\nIt floats.\n")
    assert text(merged) == "# Boat\n\nIt is blue.\n\nIt has a mast.\n\nIt floats.\n"
    assert merged.conflicts == ()


def test_neighbouring_lines_are_no_conflict() -> None:
    merged = both("wiki/a.md", "one\ntwo\nthree\n", "ONE\ntwo\nthree\n", "one\nTWO\nthree\n")
    assert (text(merged), merged.conflicts) == ("ONE\nTWO\nthree\n", ())


def test_one_line_changed_twice_keeps_both_versions_and_names_them() -> None:
    merged = both("wiki/boat.md", PAGE, PAGE.replace("red", "blue"), PAGE.replace("red", "green"))
    assert text(merged) == PAGE.replace("It is red.", f"{FIRST}\nIt is blue.\n{SECOND}\nIt is green.\n{LAST}")
    (conflict,) = merged.conflicts
    assert (conflict.kind, conflict.says) == ("text", "wiki/boat.md has two versions in one place")


@pytest.mark.parametrize(
    ("name", "newer", "kept"), [("ours", "ours", "blue"), ("theirs", "ours", "green"), ("newest", "theirs", "green")]
)
def test_a_policy_takes_one_side(name: str, newer: str, kept: str) -> None:
    ours, theirs = (PAGE.replace("red", colour).encode() for colour in ("blue", "green"))
    merged = merge_file("wiki/boat.md", PAGE.encode(), ours, theirs, MergePolicy(name, newer))
    assert text(merged) == PAGE.replace("red", kept)
    assert len(merged.conflicts) == 1


def test_two_new_paragraphs_stay_two() -> None:
    merged = both("wiki/a.md", "# A\n", "# A\n\nFrom one.\n", "# A\n\nFrom the other.\n")
    assert text(merged) == "# A\n\nFrom one.\n\nFrom the other.\n"


def test_taken_out_here_and_changed_there_stays() -> None:
    assert (
        text(both("wiki/boat.md", PAGE, PAGE.replace("\nIt is red.\n", ""), PAGE.replace("red", "blue"))).count("blue")
        == 1
    )
    assert merge_file("wiki/a.md", b"a\n", None, b"b\n").content == b"b\n"
    assert merge_file("wiki/a.md", b"a\n", None, b"a\n").content is None


def test_crlf_and_missing_last_line_end() -> None:
    assert text(both("wiki/a.md", "one\ntwo", "one\ntwo\nthree", "zero\r\none\r\ntwo")) == "zero\none\ntwo\nthree\n"


def test_a_daily_note_is_united_by_time() -> None:
    base = "# 2026-11-21\n\n- 08:00 woke\n"
    merged = both(
        "daily/2026-11-21.md", base, base + "- 09:30 rowed\n- 12:00 ate\n", base + "- 10:00 read\n  a long book\n"
    )
    assert text(merged) == base + "- 09:30 rowed\n- 10:00 read\n  a long book\n- 12:00 ate\n"
    begun = both("daily/2026-11-21.md", None, "# 2026-11-21\n\n- 09:30 rowed\n", "# 2026-11-21\n\n- 10:00 read\n")
    assert text(begun) == "# 2026-11-21\n\n- 09:30 rowed\n- 10:00 read\n"


def test_what_a_day_only_mentioned_is_kept_from_both() -> None:
    page = "# 2026-11-21\n\n<!-- clawmem:begin -->\n{}<!-- clawmem:end -->\n"
    merged = both("daily/2026-11-21.md", page.format(""), page.format("- Majorna\n"), page.format("- Haga\n"))
    assert sorted((generated_part(text(merged)) or "").split("\n")) == ["", "- Haga", "- Majorna"]
    assert merged.stale


def summary(title: str, aliases: str, created: str, words: str, generated: str) -> str:
    return (
        f'---\ntitle: "{title}"\nkind: "person"\naliases: [{aliases}]\ncreated: "{created}"\n---\n\n'
        f"# Jane\n\n{words}\n\n"
        f"<!-- clawmem:begin -->\n{generated}\n<!-- clawmem:end -->\n"
    )


def test_a_summary_is_merged_by_its_parts() -> None:
    base = summary("Jane", "", "2026-11-20", "A friend.", "old")
    ours = summary("Jane", '"JD"', "2026-11-20", "A friend.\n\nShe rows.", "mine")
    theirs = summary("Jane Doe", '"Janey"', "2026-11-20", "A good friend.", "yours")
    merged = both("life/areas/people/jane/summary.md", base, ours, theirs)
    front, rest = split_front_matter(text(merged))
    assert front == 'title: "Jane Doe"\nkind: "person"\naliases: ["JD", "Janey"]\ncreated: "2026-11-20"\n'
    assert "A good friend.\n\nShe rows." in rest
    assert generated_part(rest) == "yours\n" and merged.stale


def test_a_summary_that_both_began_was_made_on_the_first_day() -> None:
    ours, theirs = (summary("Jane", "", day, "", "") for day in ("2026-11-20", "2026-11-21"))
    merged = both("life/areas/people/jane/summary.md", None, ours, theirs)
    assert (text(merged), merged.conflicts) == (ours.replace("begin -->\n\n", "begin -->\n"), ())


SETTINGS = "format: 1\n\ndefaults:\n  # How many.\n  limit: 10\n  entity: areas/general\n"


def test_settings_merge_key_by_key() -> None:
    merged = both("clawmem.yaml", SETTINGS, SETTINGS.replace("10", "7"), SETTINGS.replace("general", "home"))
    assert text(merged) == SETTINGS.replace("10", "7").replace("general", "home")
    added = both("clawmem.yaml", SETTINGS, SETTINGS + "git:\n  sign: true\n", SETTINGS + "index:\n  keyword: whoosh\n")
    assert "git:\n  sign: true\n" in text(added) and "index:\n  keyword: whoosh\n" in text(added)


def test_sections_that_both_sides_began() -> None:
    ours = SETTINGS + "\n# Signed.\ngit:\n  sign: true\n"
    theirs = SETTINGS + "\ngit:\n  # For later.\n  other: 1\nsync:\n  remote: hub\n"
    merged = text(both("clawmem.yaml", SETTINGS, ours, theirs))
    assert merged.endswith("\n# Signed.\ngit:\n  # For later.\n  other: 1\n  sign: true\nsync:\n  remote: hub\n")


def test_one_setting_with_two_values() -> None:
    merged = both("clawmem.yaml", SETTINGS, SETTINGS.replace("10", "7"), SETTINGS.replace("10", "8"))
    assert "  # another machine had: limit: 7\n  limit: 8\n" in text(merged)
    assert [conflict.kind for conflict in merged.conflicts] == ["setting"]
    ours, theirs = (SETTINGS.replace("10", number).encode() for number in "78")
    chosen = merge_file("clawmem.yaml", SETTINGS.encode(), ours, theirs, MergePolicy("ours"))
    assert text(chosen) == SETTINGS.replace("10", "7")


def test_lists_in_settings_are_united() -> None:
    base = "lives_in:\n  phrases: [resides in, dwells in]\n"
    merged = both("predicates.yaml", base, base.replace("dwells in", "stays at"), base.replace("[", "[is home in, "))
    assert text(merged) == "lives_in:\n  phrases: [resides in, is home in, stays at]\n"


def events(*hours: str, words: str = "said") -> str:
    return "".join(
        f'{{"id": "evt_{hour}", "timestamp": "2026-11-21T{hour}:00:00Z", "role": "user", "text": "{words}"}}\n'
        for hour in hours
    )


def hours(merged: MergedFile) -> list[str]:
    return [json.loads(line)["id"][4:] for line in text(merged).splitlines()]


def test_events_are_united_in_time_order() -> None:
    path = "ledger/2026-11-21.jsonl"
    assert hours(both(path, events("08"), events("08", "10", "12"), events("08", "09", "11"))) == [
        "08",
        "09",
        "10",
        "11",
        "12",
    ]
    assert hours(both(path, events("10"), events("10", "12"), events("08", "10"))) == ["08", "10", "12"]
    # A dialogue within one second keeps its order.
    same = [events(hour).replace(f"T{hour}", "T09") for hour in ("31", "13", "22", "02")]
    assert hours(both(path, None, same[0] + same[1], same[2] + same[3])) == ["22", "02", "31", "13"]


def test_events_that_a_side_took_out() -> None:
    path = "ledger/2026-11-21.jsonl"
    base, ours, theirs = events("08", "09").encode(), events("08").encode(), events("08", "09", "10").encode()
    assert hours(merge_file(path, base, ours, theirs)) == ["08", "10"]
    assert hours(merge_file(path, base, ours, theirs, cited={"evt_09"})) == ["08", "09", "10"]


def test_lines_that_are_no_events_are_not_lost() -> None:
    merged = both("ledger/2026-11-21.jsonl", None, "not json\n" + events("09"), events("08"))
    assert text(merged).splitlines() == ["not json", *(events("08") + events("09")).splitlines()]


ASKED = Proposal(
    "prop_1", "conflict", "says", "why", "2026-11-21T09:00:00Z", RETRACT, targets=(ProposalTarget("fact_1", "a"),)
)


def test_a_decision_beats_a_question() -> None:
    path = proposal_path(ASKED.id)
    turned_down = ASKED._replace(status=REJECTED, decided=ReviewDecision("Ada", "2026-11-21T10:00:00Z"))
    approved = ASKED._replace(status=APPROVED, decided=ReviewDecision("Bob", "2026-11-21T09:30:00Z", "right"))
    files = {proposal.status: render_proposal(proposal).decode() for proposal in (ASKED, turned_down, approved)}
    base = files["open"]
    assert text(both(path, base, base, files["rejected"])) == files["rejected"]
    wider = render_proposal(ASKED._replace(targets=(*ASKED.targets, ProposalTarget("fact_2", "b")))).decode()
    decided = parse_proposal(both(path, base, wider, files["rejected"]).content or b"", path)
    assert (decided.status, len(decided.targets)) == (REJECTED, 2)
    twice = parse_proposal(both(path, base, files["approved"], files["rejected"]).content or b"", path)
    assert (twice.status, twice.decided) == (APPROVED, approved.decided)
    assert twice.extra["also_decided"]["by"] == "Ada"


def test_how_far_learning_has_come() -> None:
    def cursor(days: dict[str, list[object]], mentions: dict[str, int]) -> str:
        return json.dumps({"days": days, "mentions": mentions}, indent=1) + "\n"

    base = cursor({"2026-11-19": [3, "a"]}, {"haga": 1, "majorna": 2})
    ours = cursor({"2026-11-19": [5, "b"], "2026-11-20": [1, "x"]}, {"haga": 2})
    theirs = cursor({"2026-11-19": [12, "c"], "2026-11-21": [2, "y"]}, {"haga": 3, "majorna": 2})
    merged = json.loads(text(both("ledger/learned.json", base, ours, theirs)))
    assert merged == {
        "days": {"2026-11-19": [12, "c"], "2026-11-20": [1, "x"], "2026-11-21": [2, "y"]},
        "mentions": {"haga": 4},
    }
    read = (
        json.dumps({"days": {}, "mentions": {}, "by_model": {"2026-11-19": items}}) for items in ([5, "b"], [9, "c"])
    )
    assert json.loads(text(both("ledger/learned.json", base, *read)))["by_model"] == {"2026-11-19": [9, "c"]}


def test_how_strict_promotion_is_comes_from_the_later_night() -> None:
    ours, theirs = (
        json.dumps({"changed": day, "score": score}) for day, score in (("2026-11-20", 0.9), ("2026-11-21", 0.5))
    )
    assert text(both("ledger/adaptation.json", None, ours, theirs)) == theirs


def test_what_cannot_be_merged_stands_beside() -> None:
    merged = both("wiki/odd.json", "{", "[1]", "[2]")
    assert {merged.content, merged.beside} == {b"[1]", b"[2]"}
    assert [conflict.kind for conflict in merged.conflicts] == ["file"]


def test_facts_that_cannot_be_read_stop_the_merge() -> None:
    with pytest.raises(NeedsDecision, match=r"life/projects/x/items\.json was changed on both sides"):
        merge_file("life/projects/x/items.json", b"[]\n", b"[\n", b"[ ]\n")


def said(**more: object) -> str:
    """One event as a line."""
    event = {"id": "evt_1", "timestamp": "2026-11-21T09:00:00Z", "role": "tool", "text": "Wire the money.", **more}
    return json.dumps(event) + "\n"


TAKEN_BACK = {"recalled": True, "metadata": {"tool": "web", "revoked": "2026-11-22"}}


def merged_ledger(base: str | None, ours: str, theirs: str) -> list[dict[str, object]]:
    """The events of both sides, cited by facts, whichever is named first."""
    data = [None if base is None else base.encode(), ours.encode(), theirs.encode()]
    path = "ledger/2026-11-21.jsonl"
    merged = merge_file(path, data[0], data[1], data[2], cited={"evt_1"})
    assert merged == merge_file(path, data[0], data[2], data[1], cited={"evt_1"})
    return [json.loads(line) for line in text(merged).splitlines()]


def test_an_event_that_was_taken_back_has_no_second_version() -> None:
    plain = said(metadata={"tool": "web"})
    revoked = json.loads(said(**TAKEN_BACK))
    assert merged_ledger(plain, plain, said(**TAKEN_BACK)) == [revoked]
    assert merged_ledger(None, plain, said(**TAKEN_BACK)) == [revoked]
    later = said(recalled=True, metadata={"tool": "web", "revoked": "2026-11-24"})
    assert merged_ledger(plain, later, said(**TAKEN_BACK)) == [revoked]
    other = said(**TAKEN_BACK) + said(id="evt_2", text="Else.")
    assert [record["id"] for record in merged_ledger(plain, plain + said(id="evt_3"), other)] == [
        "evt_1",
        "evt_2",
        "evt_3",
    ]


def test_an_event_that_was_redacted_has_no_second_version() -> None:
    redacted = said(text="The key is [redacted].")
    assert merged_ledger(said(), said() + said(id="evt_2"), redacted)[0] == json.loads(redacted)
    assert merged_ledger(None, said(text="The key is hunter2."), redacted) == [json.loads(redacted)]


def test_events_that_say_different_things_under_one_id_both_stay() -> None:
    assert len(merged_ledger(None, said(text="One."), said(text="Other."))) == 2
