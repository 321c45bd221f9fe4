"""A further pass of a context: what a question needs beyond the facts that it names, and what is connected with it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.context.context import context
from clawmem.serving.context.units import ContextResult
from clawmem.vault.vault import Vault


def _keep(vault: Vault, caller: Caller, *facts: str, entity: str | None = None) -> dict[str, str]:
    place = {"entity": entity} if entity else {}
    drafts = [draft_from_record({"fact": fact, **place}, caller.now) for fact in facts]
    return {
        remembered_fact.fact.fact: remembered_fact.fact.id for remembered_fact in remember(vault, drafts, caller).facts
    }


def _ask(vault: Vault, caller: Caller, question: str, budget: int = 300) -> ContextResult:
    return context(vault, caller, budget, question)


def _crowd(vault: Vault, caller: Caller) -> None:
    for name in ("Ole", "Pia", "Rut", "Sven", "Ulf", "Vera", "Kim", "Lars"):
        facts = (f"{name} lives in {name}stad.", f"{name} has a sister.", f"{name} likes the sea.")
        _keep(vault, caller, *facts, entity=f"areas/people/{name.lower()}")


@pytest.mark.parametrize("placed", [True, False])
def test_a_question_is_answered_over_two_further_facts(vault: Vault, caller: Caller, placed: bool) -> None:
    _crowd(vault, caller)
    chain = {"jane": "Jane's boss is Tom.", "tom": "Tom's sister is Ann.", "ann": "Ann lives in Bergen."}
    made: dict[str, str] = {}
    for name, fact in chain.items():
        made |= _keep(vault, caller, fact, entity=f"areas/people/{name}" if placed else None)
    result = _ask(vault, caller, "Where does the sister of Jane's boss live?")
    assert all(fact in result.text for fact in chain.values())
    assert result.tokens <= 300
    passes = {reason.id: (reason.at_pass, reason.via) for reason in result.explained}
    boss, sister, home = made.values()
    assert passes[sister] == (2, boss)
    assert passes[home] == (3, sister)


def test_a_connection_that_nobody_asked_for_is_shown_with_the_fact_that_leads_to_it(
    vault: Vault, caller: Caller
) -> None:
    _crowd(vault, caller)
    _keep(vault, caller, "Jane is married to Tom.", entity="areas/people/jane")
    _keep(vault, caller, "Tom avoids red meat.", entity="areas/people/tom")
    lines = _ask(vault, caller, "Cook a dinner for Jane").text.splitlines()
    bare = [line.split(". (")[0] for line in lines]
    assert "- Jane is married to Tom" in bare
    assert bare[bare.index("## Connected") + 1] == "- Tom avoids red meat"
    assert "Ole" not in "\n".join(lines)


def test_a_fact_that_answers_needs_no_further_pass(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "Jane lives in Oslo.", entity="areas/people/jane")
    result = _ask(vault, caller, "Where does Jane live?")
    assert "Oslo" in result.text
    assert result.explained == ()


def test_the_words_of_a_full_context_import_no_further_pass(vault: Vault, caller: Caller) -> None:
    """Where the first pass answers and fills the budget, the module of the others is not imported."""
    _keep(
        vault,
        caller,
        *(f"Jane's boat number {n} is painted in a bright green and is {n} feet long." for n in range(40)),
    )
    code = (
        "import json, os, sys; from pathlib import Path; from datetime import UTC, datetime;"
        " from clawmem.vault.vault import Vault; from clawmem.model.records.caller import Caller;"
        " from clawmem.serving.context.context import context;"
        f" caller = Caller(datetime.now(UTC), lambda: b'x'); vault = Vault(Path({str(vault.root)!r}), os.environ);"
        " context(vault, caller, 200, 'Which boat of Jane is green?');"
        " print(json.dumps([*sys.modules]))"
    )
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    assert "clawmem.serving.context.hits" in loaded
    assert "clawmem.serving.context.connected" not in loaded
