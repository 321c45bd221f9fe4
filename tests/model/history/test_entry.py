"""Commits read back: trailers, and patterns that match only what they should."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.model.history.entry import (
    CommitInfo,
    entry_of,
    escape_pattern,
    steps_between,
    trailer_pattern,
    trailers_of,
)
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


@st.composite
def histories(draw: st.DrawFn) -> list[CommitInfo]:
    """Commits, parents before children, all of which lead to the last one."""
    count = draw(st.integers(1, 14))
    made: list[CommitInfo] = []
    for number in range(count):
        known = [info.commit for info in made]
        parents = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True)) if known else []
        made.append(CommitInfo(f"c{number}", tuple(parents), "Ada <a@b>", number, ""))
    wanted = ancestors(made, f"c{count - 1}")
    return [info for info in made if info.commit in wanted]


def ancestors(commits: list[CommitInfo], of: str) -> set[str]:
    """A commit and all before it."""
    known = {commit_info.commit: commit_info for commit_info in commits}
    found: set[str] = set()
    waiting = [of]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += known[name].parents
    return found


@settings(max_examples=40)
@given(histories(), st.data())
def test_each_commit_is_in_one_step_and_each_step_contains_the_one_before(
    commits: list[CommitInfo], data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from([None, *(commit_info.commit for commit_info in commits)]))
    known = ancestors(commits, old) if old else set()
    new = [commit_info for commit_info in commits if commit_info.commit not in known]
    steps = steps_between(old, new)
    taken = [info.commit for step in steps for info in (*step.merged, step.commit)]
    assert sorted(taken) == sorted(info.commit for info in new)
    reached, before = set(known), old
    for step in steps:
        assert step.before == before
        assert before is None or before in step.commit.parents
        reached |= {info.commit for info in (*step.merged, step.commit)}
        assert reached == ancestors(commits, step.commit.commit)
        before = step.commit.commit
    if new:
        assert before == commits[-1].commit
