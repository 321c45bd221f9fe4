"""One question about one invented vault under one budget, and everything that must hold of the answer."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable

from clawmem.errors import InvalidInput
from clawmem.index.search.by_tier import ALWAYS, PAST
from clawmem.index.search.channels import FactFilter
from clawmem.index.tables.background import count_exactly
from clawmem.model.facts.fact import ACTIVE, RETRACTED, SUPERSEDED, Fact, importance_of
from clawmem.model.facts.validity import is_over
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import ALWAYS_HOT, tier_of
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import owner_of
from clawmem.model.safety.recalled_text import CLOSING, OPENING, is_recalled
from clawmem.serving.context.context import context_in
from clawmem.serving.context.hits import ContextRequest
from clawmem.serving.context.units import TITLES, ContextResult
from clawmem.vault.vault import Vault
from tests.serving.invented import AGENT, ENTITIES, NOW, Invented, indexed, invent

Count = Callable[[str], int]
_QUESTIONS = (None, None, "where does Jane live?", "what happened on 2026-11-20?", "said yesterday `and` 'why'")


def check_one(vault: Vault, seed: int, budget: int, count: Count) -> ContextResult | None:
    """Serve an invented vault and check the answer; None where the budget was refused as too small."""
    chance = random.Random(seed)
    invented = invent(seed)
    index = indexed(vault, invented)
    if chance.random() < 0.6:
        count_exactly(index, count)
    agent = chance.choice((None, AGENT))
    wanted = FactFilter((agent, "") if agent else ("",), chance.choice((None, None, None, *ENTITIES)))
    caller = Caller(NOW, random.Random(seed).randbytes, agent)
    wish = ContextRequest(caller, budget, chance.choice(_QUESTIONS), wanted, chance.random() < 0.3)
    try:
        result, answering = context_in(vault, index, wish)
    except InvalidInput as problem:
        assert budget < 250, problem.message
        return None
    finally:
        index.close()
    _check_tokens(result, budget, count)
    _check_facts(result, invented, wish)
    assert set(answering) <= set(result.facts)
    return result


def _check_tokens(result: ContextResult, budget: int, count: Count) -> None:
    assert count(result.text) <= count(result.text + "\n") <= result.tokens <= budget
    if result.counted_by == "exact":
        assert count(result.text + "\n") == result.tokens
    lines = result.text.split("\n")
    assert (lines[0], lines[-1]) == (OPENING, CLOSING)
    assert result.text.count(CLOSING) == result.text.count(OPENING) == 1
    assert is_recalled(result.text)
    assert all(line and not line[0].isspace() for line in lines)


def _check_facts(result: ContextResult, invented: Invented, wish: ContextRequest) -> None:
    known = {fact.id: (entity, fact) for entity, fact in invented.facts}
    lines = result.text.split("\n")
    for fact_id, (entity, fact) in known.items():
        items = [at for at, line in enumerate(lines) if line.startswith(f"- {fact_id} ")]
        spelled = any(f": {fact_id} " in line for line in lines if line.startswith("! In conflict"))
        assert len(items) <= 1
        assert (bool(items) or spelled) == (fact_id in result.facts)
        if not items and not spelled:
            continue
        assert fact.status not in (SUPERSEDED, RETRACTED)
        assert quarantine_rule(fact) is None
        assert (owner_of(entity) or "") in wish.wanted.owners
        contrary = [known[text][1] for text in _contrary(fact_id, invented, wish) if text in known]
        same_time = [
            other_fact for other_fact in contrary if is_over(other_fact, stamp(NOW)) is is_over(fact, stamp(NOW))
        ]
        if items and any(other_fact.status == ACTIVE for other_fact in same_time):
            assert lines[items[0] + 1].startswith("! In conflict with the line above")
    _check_left_out(result, invented, wish)


def _check_left_out(result: ContextResult, invented: Invented, wish: ContextRequest) -> None:
    """What is said to be left out is what is, each fact once: a remark names `Always`, and one everything else."""
    left = Counter(
        TITLES[_shelf_of(fact)]
        for entity, fact in invented.facts
        if fact.status == ACTIVE and _is_seen(entity, fact, wish) and fact.id not in result.facts
    )
    counts = Counter(dict(result.left_out))
    always = TITLES[ALWAYS]
    # A question is offered only a part of what always surfaces.
    assert counts[always] == left[always] or (wish.question and counts[always] < left[always])
    assert all(counts[title] <= left[title] for title in TITLES.values())
    leading = re.findall(rf"^\(left out of {always}: ([0-9]+);", result.text, re.MULTILINE)
    others = re.findall(
        r"^\(left out: ([0-9]+); `clawmem (?:recall '.*' .*--limit ([0-9]+)|context.* --budget [0-9]+)` shows",
        result.text,
        re.MULTILINE,
    )
    assert [int(number) for number in leading] == [counts[always]] * bool(counts[always])
    rest = counts.total() - counts[always]
    assert [int(number) for number, _ in others] == [rest] * bool(rest)
    assert all(int(limit) >= rest for _, limit in others if limit)
    assert result.text.count("(left out") == bool(counts[always]) + bool(rest)


def _shelf_of(fact: Fact) -> str:
    if is_over(fact, stamp(NOW)):
        return PAST
    return ALWAYS if importance_of(fact) >= ALWAYS_HOT else tier_of(fact, NOW)


def _is_seen(entity: str, fact: Fact, wish: ContextRequest) -> bool:
    seen = (owner_of(entity) or "") in wish.wanted.owners and wish.wanted.entity in (None, entity)
    return seen and quarantine_rule(fact) is None


def _contrary(fact_id: str, invented: Invented, wish: ContextRequest) -> set[str]:
    """The facts linked to this one as contradicting it, either way, that this reader may see."""
    seen = {
        fact.id: fact
        for entity, fact in invented.facts
        if (owner_of(entity) or "") in wish.wanted.owners and quarantine_rule(fact) is None
    }
    towards = {link.to for link in seen[fact_id].links if link.type == "contradicts"}
    back = {text for text, fact in seen.items() if any(link.to == fact_id for link in fact.links)}
    return (towards | back) & seen.keys() - {fact_id}
