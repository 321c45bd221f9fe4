"""Taking back: what is as the operation left it goes back, what was changed since is in the way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.history.revocation import changed_facts, connected, facts_back, file_back, lines_back
from tests.conftest import examples

KEYS = "abcdef"
states = st.dictionaries(st.sampled_from(KEYS), st.integers(0, 3)).map(
    lambda chosen: [fact(key, str(version)) for key, version in chosen.items()]
)


def fact(key: str, words: str = "x", count: int = 0) -> Fact:
    return Fact(f"fact_{key}", words, "fact", "2026-11-20T10:00:00Z", "user", access_count=count)


def everything(*groups: list[Fact]) -> set[str]:
    return {fact.id for group in groups for fact in group}


@examples(25, 100)
@given(states, states)
def test_right_after_the_operation_undo_gives_exactly_what_was(before: list[Fact], after: list[Fact]) -> None:
    back = facts_back(before, after, after, everything(before, after))
    assert back.blocked == ()
    assert dict(back.records) == {fact.id: fact for fact in before}


@examples(25, 100)
@given(states, states)
def test_undoing_the_undo_gives_back_what_the_operation_did(before: list[Fact], after: list[Fact]) -> None:
    ids = everything(before, after)
    undone = list(facts_back(before, after, after, ids).records.values())
    again = facts_back(after, undone, undone, ids)
    assert dict(again.records) == {fact.id: fact for fact in after}


@examples(25, 100)
@given(states, states)
def test_a_second_undo_finds_everything_as_before(before: list[Fact], after: list[Fact]) -> None:
    back = facts_back(before, after, before, everything(before, after))
    assert (back.restored, back.removed, back.blocked) == ((), (), ())
    assert list(back.records.values()) == before


@examples(25, 100)
@given(states, states, states)
def test_nothing_but_the_named_facts_is_touched(before: list[Fact], after: list[Fact], now: list[Fact]) -> None:
    back = facts_back(before, after, now, {"fact_a"})
    others = {key: record for key, record in back.records.items() if key != "fact_a"}
    assert others == {fact.id: fact for fact in now if fact.id != "fact_a"}


def test_accesses_counted_since_are_kept_and_are_no_change() -> None:
    back = facts_back([fact("a", "old", 1)], [fact("a", "new", 1)], [fact("a", "new", 7)], {"fact_a"})
    assert back.records == {"fact_a": fact("a", "old", 7)}


def test_a_later_change_blocks() -> None:
    back = facts_back([fact("a", "old")], [fact("a", "new")], [fact("a", "newer")], {"fact_a"})
    assert back.blocked == ("fact_a",)
    assert back.records == {"fact_a": fact("a", "newer")}


def test_a_fact_comes_back_where_it_stood() -> None:
    a, b, c, d = (fact(key) for key in "abcd")
    back = facts_back([a, b, c], [a, c], [a, c, d], {"fact_b"})
    assert list(back.records) == ["fact_a", "fact_b", "fact_c", "fact_d"]
    first = facts_back([a, b], [b], [b], {"fact_a"})
    assert list(first.records) == ["fact_a", "fact_b"]


def test_ledger_lines_keep_their_bytes() -> None:
    data, two = b'{"id":  "e1"}', b'{"id": "e2"}'
    back = lines_back({"e1": data}, {"e1": data, "e2": two}, {"e1": data, "e2": two})
    assert (back.records, back.removed) == ({"e1": data}, ("e2",))


def test_the_facts_of_one_operation_that_hang_together() -> None:
    old, new, other = fact("a"), fact("b"), fact("c")
    gone = old._replace(status="superseded", superseded_by="fact_b")
    linked = new._replace(links=(FactLink("supersedes", "fact_a"),))
    changed = changed_facts([old], [gone, linked, other])
    assert changed == {"fact_a": (old, gone), "fact_b": (None, linked), "fact_c": (None, other)}
    assert connected("fact_a", changed) == {"fact_a", "fact_b"}
    assert connected("fact_b", changed) == {"fact_a", "fact_b"}
    assert connected("fact_c", changed) == {"fact_c"}


PAGE = "# Jane\n\n{}\n<!-- clawmem:begin -->\n{}\n<!-- clawmem:end -->\n"


def page(words: str, generated: str) -> bytes:
    return PAGE.format(words, generated).encode()


def test_the_generated_part_of_a_page_never_counts() -> None:
    path = "life/areas/people/jane/summary.md"
    assert file_back(path, page("old", "1"), page("old", "2"), page("old", "3")).verdict == "same"
    back = file_back(path, page("old", "1"), page("new", "2"), page("new", "3"))
    assert (back.verdict, back.content) == ("back", page("old", "3"))
    assert file_back(path, page("old", "1"), page("new", "2"), page("newer", "2")).verdict == "blocked"


def test_a_whole_file_goes_back_only_while_it_is_as_it_was_left() -> None:
    assert file_back("clawmem.yaml", b"a", b"b", b"b") == ("back", b"a")
    assert file_back("clawmem.yaml", b"a", b"b", b"c").verdict == "blocked"
    assert file_back("clawmem.yaml", b"a", b"b", b"a").verdict == "same"
    assert file_back("MEMORY.md", None, b"b", b"b") == ("back", None)


def test_a_line_of_a_daily_note_can_go_though_more_was_noted_since() -> None:
    path, start = "daily/2026-11-21.md", b"# 2026-11-21\n\n- 09:00 one\n"
    after = start + b"- 09:10 two\n"
    assert file_back(path, start, after, after + b"- 09:20 three\n").content == start + b"- 09:20 three\n"
    assert file_back(path, None, start, after).content == b"# 2026-11-21\n\n- 09:10 two\n"
    assert file_back(path, start, after, start + b"- 09:10 two, edited\n").verdict == "blocked"
    assert file_back("MEMORY.md", start, after, after + b"- more\n").verdict == "blocked"
