"""Context: within the budget, important facts first, nothing superseded, and it says what it left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.memory.remember import remember
from clawmem.memory.revise import supersede
from clawmem.model.caller import Caller
from clawmem.model.draft import draft_from_record
from clawmem.model.packing import Section, pack, smallest_budget
from clawmem.serving.context import context
from clawmem.vault.vault import Vault


def _words(line: str) -> int:
    return len(line.split()) + 1


_LINES = st.lists(st.text("abc ", min_size=1, max_size=40).map(lambda text: "- " + text), max_size=12)


@given(st.lists(st.tuples(st.sampled_from(["One", "Two"]), _LINES), max_size=4), st.integers(0, 200))
def test_a_pack_never_exceeds_its_budget_and_counts_what_it_left_out(
    parts: list[tuple[str, list[str]]], extra: int
) -> None:
    sections = [Section(title, lines, "clawmem list") for title, lines in parts]
    budget = smallest_budget("# Memory", sections, _words) + extra
    packed = pack("# Memory", sections, budget, _words)
    assert packed.tokens == sum(_words(line) for line in packed.text.split("\n"))
    assert packed.tokens <= budget
    assert packed.included + sum(count for _, count, _ in packed.left_out) == sum(len(lines) for _, lines in parts)


def test_important_facts_come_first_and_superseded_ones_never(vault: Vault, caller: Caller) -> None:
    drafts = [draft_from_record({"fact": f"Ordinary fact number {n}"}, caller.now) for n in range(50)]
    drafts.append(draft_from_record({"fact": "Jane is allergic to penicillin", "importance": 0.95}, caller.now))
    kept = remember(vault, drafts, caller).kept
    newer = draft_from_record({"fact": "Ordinary fact number zero was wrong"}, caller.now)
    supersede(vault, kept[0].fact.id, newer, caller)
    done = context(vault, caller, 300)
    lines = done.packed.text.split("\n")
    assert lines[2:4] == ["## Always", "- Jane is allergic to penicillin"]
    assert "Ordinary fact number 0" not in lines
    assert done.packed.tokens <= 300
    assert done.packed.left_out
    assert "left out of" in done.packed.text


def test_a_question_brings_its_answers_before_the_rest(vault: Vault, caller: Caller) -> None:
    drafts = [draft_from_record({"fact": f"Ordinary fact number {n}"}, caller.now) for n in range(20)]
    drafts.append(draft_from_record({"fact": "The boiler is serviced by Warmfix"}, caller.now))
    remember(vault, drafts, caller)
    text = context(vault, caller, 400, "who services the boiler?").packed.text
    assert text.index("Warmfix") < text.index("Ordinary fact")


def test_a_budget_too_small_for_the_frame_is_refused(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "A fact"}, caller.now)], caller)
    with pytest.raises(InvalidInput, match="too small"):
        context(vault, caller, 5)


def test_what_people_wrote_on_a_summary_is_served(vault: Vault, caller: Caller) -> None:
    remember(vault, [draft_from_record({"fact": "It is green", "entity": "resources/bike"}, caller.now)], caller)
    page = vault.root / "life/resources/bike/summary.md"
    page.write_text(page.read_text().replace("# Bike", "# Bike\n\nKept in the cellar."))
    assert "- resources/bike: Kept in the cellar." in context(vault, caller, 400).packed.text


def test_what_always_surfaces_leaves_room_for_the_question(vault: Vault, caller: Caller) -> None:
    drafts = [
        draft_from_record({"fact": f"Important standing fact number {n}", "importance": 0.9}, caller.now)
        for n in range(40)
    ]
    drafts.append(draft_from_record({"fact": "The boiler is serviced by Warmfix"}, caller.now))
    remember(vault, drafts, caller)
    text = context(vault, caller, 400, "who services the boiler?").packed.text
    assert "Warmfix" in text
    assert "Important standing fact" in text
