"""Hits: what a question brings into a context."""

from __future__ import annotations

from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.context.context import context
from clawmem.vault.vault import Vault


def test_each_part_of_a_question_has_its_best_fact(vault: Vault, caller: Caller) -> None:
    ladders = [f"Of all that neighbours of the mill asked for, a ladder was lent in week {n}" for n in range(3)]
    boiler = "Warmfix services the boiler of the mill in autumn"
    remember(vault, [draft_from_record({"fact": text}, caller.now) for text in (boiler, *ladders)], caller)
    question = "who services the boiler of the mill in autumn, and a ladder of the mill?"
    text = context(vault, caller, 1000, question).text
    answers = text.split("## Facts for this question\n")[1].split("\n## ")[0].split("\n")
    assert ["ladder" in line for line in answers if line.startswith("- ")] == [False, True]
