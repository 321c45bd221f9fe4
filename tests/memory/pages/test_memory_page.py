"""MEMORY.md on disk: its generated part follows the facts, the rest stays, time alone changes nothing."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from clawmem.heartbeat.steps import refresh_memory
from clawmem.memory.facts.remember import remember
from clawmem.memory.pages.memory_page import memory_block, sections
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.pages.tokens import token_bound
from clawmem.model.records.caller import Caller
from clawmem.review.review import approve
from clawmem.vault.vault import Vault


def test_it_follows_the_facts_and_nothing_else(vault: Vault, caller: Caller) -> None:
    page = vault.root / "MEMORY.md"
    page.write_text(page.read_text().replace("You may write here too.", "Mine.") + "\nbelow\n")
    own = {"fact": "The safe is blue", "importance": 0.9, "entity": "@finance/areas/office"}
    for record in ({"fact": "Ada is allergic to nuts", "importance": 0.9}, own):
        remember(vault, [draft_from_record(record, caller.now)], caller)
    assert refresh_memory(vault, caller, dry_run=True).changed
    assert refresh_memory(vault, caller).commit
    text = page.read_text()
    assert "Mine." in text
    assert text.endswith("\nbelow\n")
    assert "## Important\n\n- Ada is allergic to nuts (2026-11-21, fact_" in text
    assert "safe" not in text
    head = vault.head()
    assert not refresh_memory(vault, caller._replace(now=caller.now + timedelta(days=400))).changed
    assert vault.head() == head


def test_both_sides_of_a_conflict_are_marked_and_the_word_of_the_person_is_first(vault: Vault, caller: Caller) -> None:
    record = {"entity": "areas/people/ann", "subject": "Ann", "predicate": "lives_in", "importance": 0.9}
    own = {**record, "fact": "Ann lives in Oslo.", "object": "Oslo"}
    (mine,) = remember(vault, [draft_from_record(own, caller.now)], caller).facts
    later = caller._replace(now=caller.now + timedelta(hours=1), agent="scout")
    theirs = {**record, "fact": "Ann lives in Rome.", "object": "Rome", "importance": 0.95}
    (other,) = remember(vault, [draft_from_record(theirs, later.now)], later).facts
    refresh_memory(vault, caller)
    lines = [line for line in (vault.root / "MEMORY.md").read_text().splitlines() if "Ann lives" in line]
    assert ["Oslo" in line for line in lines] == [True, False]
    assert f"in conflict with {other.fact.id}, not settled" in lines[0]
    assert f"in conflict with {mine.fact.id}, not settled" in lines[1]
    (asked,) = read_proposals(vault).open
    approve(vault, asked.id, caller, keep=mine.fact.id)
    refresh_memory(vault, caller)
    text = (vault.root / "MEMORY.md").read_text()
    assert "Rome" not in text
    assert "in conflict" not in text


NOW = "2026-11-21T09:30:00Z"


def a_fact(number: int, category: str = "fact", **changes: object) -> Fact:
    at = f"2026-{1 + number % 11:02}-{1 + number % 28:02}T10:00:00Z"
    return Fact(f"fact_{number:08x}", f"Statement number {number}.", category, at, "chat")._replace(**changes)  # type: ignore[arg-type]


FACTS = st.lists(
    st.builds(
        lambda number, category, importance: a_fact(number, category, importance=importance),
        st.integers(0, 5000),
        st.sampled_from(["fact", "decision", "lesson", "plan", "goal", "health"]),
        st.sampled_from([0.2, 0.5, 0.8, 0.95]),
    ),
    max_size=40,
    unique_by=lambda fact: fact.id,
)


@given(FACTS, st.integers(100, 1500))
def test_the_budget_holds_and_every_fact_is_shown_or_counted(facts: list[Fact], budget: int) -> None:
    parts = sections(facts, NOW)
    block = memory_block(parts, budget, token_bound)
    frame = sum(
        token_bound(f"\n## {part.title}\n\n({len(part.lines)} more left out: `{part.more}`)\n") for part in parts
    )
    assert token_bound(block) <= max(budget, frame)
    left_out = sum(int(line[1:].split(" ")[0]) for line in block.splitlines() if line.startswith("("))
    shown = [line for line in block.splitlines() if line.startswith("- ")]
    assert len(shown) + left_out == sum(len(part.lines) for part in parts)


@given(FACTS, st.integers(100, 1500), st.randoms(use_true_random=False))
def test_the_order_and_the_use_of_facts_change_nothing(facts: list[Fact], budget: int, random: object) -> None:
    used = [fact._replace(access_count=9, last_accessed="2026-11-21T10:00:00Z") for fact in reversed(facts)]
    block = memory_block(sections(facts, NOW), budget, token_bound)
    assert block == memory_block(sections(used, NOW), budget, token_bound)


def test_each_fact_stands_where_it_belongs() -> None:
    facts = [
        a_fact(1, importance=0.9),
        a_fact(2, "decision", importance=0.9),
        a_fact(3, "lesson"),
        a_fact(4, "plan", timestamp="2026-10-02T10:00:00Z"),
        a_fact(15, "plan", timestamp="2026-01-02T10:00:00Z"),
        a_fact(
            16,
            "plan",
            timestamp="2026-11-20T10:00:00Z",
            valid_from="2026-11-05",
            source_event="evt_1",
            metadata={"said_at": "2026-11-05T10:00:00Z"},
        ),
        a_fact(5, "plan", valid_to="2026-05-01"),
        a_fact(6),
        a_fact(10, "plan", timestamp="2026-01-02T10:00:00Z", valid_from="2026-01-20"),
        a_fact(11, "goal", timestamp="2026-01-02T10:00:00Z", valid_from="2099-01-20"),
        a_fact(7, metadata={"promoted": {"on": "2026-11-20", "score": 0.7}}),
        a_fact(8, importance=0.9, trust="external"),
        a_fact(9, importance=0.9, status=RETRACTED),
        a_fact(12, importance=0.9, valid_to="2020-01-01"),
        a_fact(13, "decision", valid_to="2026-11-20"),
        a_fact(14, "plan", valid_to="2026-11-21"),
    ]
    shown = {section.title: [line[-14:-1] for line in section.lines] for section in sections(facts, NOW)}
    assert shown == {
        "Important": ["fact_00000001", "fact_00000007"],
        "Decisions": ["fact_00000002"],
        "Lessons": ["fact_00000003"],
        "Open plans": ["fact_00000004", "fact_0000000e", "fact_0000000b"],
    }


def test_what_was_dropped_is_said_with_the_command_that_shows_it() -> None:
    facts = [a_fact(number, "decision") for number in range(50)]
    block = memory_block(sections(facts, NOW), 200, token_bound)
    assert block.splitlines()[-1].endswith(" more left out: `clawmem list --category decision`)")
    assert memory_block(sections([], NOW), 200, token_bound) == ""
