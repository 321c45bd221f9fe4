"""Commits read back: trailers, and patterns that match only what they should."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.history.entry import entry_of, escape_pattern, trailer_pattern, trailers_of
from clawmem.model.records.change import Change, commit_message, trailers


def test_an_entry_says_what_the_commit_said() -> None:
    items = trailers(
        "supersede",
        facts=["fact_b", "fact_a"],
        entities=["areas/people/jane"],
        agent="finance",
        session="s1",
        sources=["user", "mail"],
        supersedes=["fact_a"],
        events=["evt_1"],
    )
    text = commit_message(
        Change("supersede(areas/people/jane): x", {}, (*items, ("Undoes", "c0ffee")), body="A body: here")
    )
    entry = entry_of("abc", "2026-11-21T09:30:00Z", "finance", "finance@agents.clawmem", text, ["p1"])
    assert entry.op == "supersede"
    assert entry.facts == ("fact_b", "fact_a")
    assert entry.supersedes == ("fact_a",)
    assert (entry.agent, entry.session, entry.source) == ("finance", "s1", "user, mail")
    assert entry.events == ("evt_1",)
    assert entry.undoes == "c0ffee"
    assert entry.parents == ("p1",)
    assert entry.subject == "supersede(areas/people/jane): x"


def test_a_commit_of_a_person_has_no_trailers() -> None:
    assert trailers_of("Fact: fact_a") == ()
    assert trailers_of("fix\n\nFact: fact_a\nand some prose") == ()
    assert trailers_of("") == ()
    assert entry_of("a", "t", "Ada", "a@b", "tidy up\n").op is None


def test_trailers_survive_windows_line_ends() -> None:
    assert trailers_of("s\r\n\r\nFact: fact_a\r\n") == (("Fact", "fact_a"),)


@given(st.text(alphabet=".[]*^$\\ab+?(){}|-_:", min_size=1, max_size=12))
def test_escaped_text_matches_itself_as_a_basic_expression(text: str) -> None:
    # Python's syntax gives meaning to more characters than a basic expression; those are escaped for it here.
    pattern = re.sub(r"[+?(){}|]", lambda match: "\\" + match[0], escape_pattern(text))
    assert re.fullmatch(pattern, text)
    assert trailer_pattern("Fact", text).startswith("^Fact: ")
