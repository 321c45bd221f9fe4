"""The generated part of a daily note: made from facts and events, never from the prose, and never losing a mention."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.learning.synthesize import MENTIONS, DayFact, day_block, mentions_of, with_day_block
from clawmem.model.facts.fact import RETRACTED, Fact, FactLink
from clawmem.model.pages.summary import BEGIN, END, with_generated
from clawmem.model.records.event import Event

DAY = "2026-11-20"
FACT = Fact("fact_00000001", "Nora lives in Lisbon.", "status", f"{DAY}T10:00:00Z", "chat")
NORA = "areas/people/nora"
WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)
LINES = st.lists(WORDS, max_size=5, unique=True)


def test_what_a_day_taught_corrected_decided_and_who_talked() -> None:
    moved = FACT._replace(id="fact_00000002", links=(FactLink("supersedes", "fact_00000000"),))
    decision = FACT._replace(id="fact_00000003", fact="We use Postgres.", category="decision")
    gone = FACT._replace(status=RETRACTED, metadata={"retracted": {"at": f"{DAY}T11:00:00Z", "reason": "a joke"}})
    events = [
        Event("evt_1", f"{DAY}T10:00:00Z", "user", "Hi", "Nora", "s1", source="chat.jsonl"),
        Event("evt_2", f"{DAY}T10:05:00Z", "assistant", "Hello", None, "s1", source="chat.jsonl"),
        Event("evt_3", f"{DAY}T12:00:00Z", "note", "my own words", source=f"daily/{DAY}.md"),
    ]
    items = [
        DayFact(FACT, NORA),
        DayFact(moved, NORA, ("Nora lives in Porto.",)),
        DayFact(decision, "projects/billing"),
    ]
    assert day_block(items, [DayFact(gone, NORA)], events, ["Tom likes tea.", "We use Postgres."]) == "\n".join(
        (
            "## Learned",
            "",
            "- Nora lives in Lisbon. (areas/people/nora, fact_00000001)",
            "",
            "## Corrected",
            "",
            "- Nora lives in Lisbon. (areas/people/nora, fact_00000002) Before: Nora lives in Porto.",
            "- Withdrawn: Nora lives in Lisbon. (areas/people/nora, fact_00000001) Because: a joke",
            "",
            "## Decided",
            "",
            "- We use Postgres. (projects/billing, fact_00000003)",
            "",
            "## Sessions",
            "",
            "- s1 from chat.jsonl: 2 events, 10:00 to 10:05, Nora, assistant",
            "",
            MENTIONS,
            "",
            "- Tom likes tea.",
        )
    )


def test_a_day_without_anything_has_no_generated_part() -> None:
    assert day_block([], [], [], []) == ""
    assert with_day_block("", DAY, "") == ""
    assert with_day_block("# mine\n\n- tea\n", DAY, "") == "# mine\n\n- tea\n"
    assert with_day_block("", DAY, "x") == f"# {DAY}\n\n{BEGIN}\nx\n{END}\n"


@given(LINES, st.booleans())
def test_mentions_survive_synthesis_any_number_of_times(mentions: list[str], learned: bool) -> None:
    items = [DayFact(FACT, NORA)] if learned else []
    once = with_day_block("# d\n", DAY, day_block(items, [], [], mentions))
    assert list(mentions_of(once)) == mentions
    assert with_day_block(once, DAY, day_block(items, [], [], mentions_of(once))) == once


def test_mentions_that_learning_put_after_a_finished_block_are_found() -> None:
    block = day_block([DayFact(FACT, NORA)], [], [], [])
    page = with_generated("# d\n", f"{block}\n\n- Tom likes tea.")
    assert mentions_of(page) == ("Tom likes tea.",)
    assert MENTIONS in day_block([DayFact(FACT, NORA)], [], [], mentions_of(page))
