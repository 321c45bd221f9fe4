"""One question about one invented vault under one budget, and everything that must hold of the answer."""

from __future__ import annotations

import random
from collections.abc import Callable

from clawmem.errors import InvalidInput
from clawmem.index.channels import Filter
from clawmem.index.standing import ALWAYS
from clawmem.index.token_counts import count_exactly
from clawmem.model.caller import Caller
from clawmem.model.entity import owner_of
from clawmem.model.fact import ACTIVE, RETRACTED, SUPERSEDED, Fact, importance_of
from clawmem.model.quarantine import quarantined
from clawmem.model.recalled import CLOSING, OPENING, is_recalled
from clawmem.model.tiers import ALWAYS_HOT
from clawmem.serving.context import Context, Wish, context_in
from clawmem.serving.shelves import TITLES
from clawmem.vault.vault import Vault
from tests.serving.invented import AGENT, ENTITIES, NOW, Invented, indexed, invent

Count = Callable[[str], int]
_QUESTIONS = (None, None, "where does Jane live?", "what happened on 2026-11-20?", "said yesterday `and` 'why'")


def check_one(vault: Vault, seed: int, budget: int, count: Count) -> Context | None:
    """Serve an invented vault and check the answer; None where the budget was refused as too small."""
    chance = random.Random(seed)
    invented = invent(seed)
    index = indexed(vault, invented)
    if chance.random() < 0.6:
        count_exactly(index, count)
    agent = chance.choice((None, AGENT))
    wanted = Filter((agent, "") if agent else ("",), chance.choice((None, None, None, *ENTITIES)))
    caller = Caller(NOW, random.Random(seed).randbytes, agent)
    wish = Wish(caller, budget, chance.choice(_QUESTIONS), wanted, chance.random() < 0.3)
    try:
        done, answering = context_in(vault, index, wish)
    except InvalidInput as problem:
        assert budget < 200, problem.message
        return None
    finally:
        index.close()
    _check_tokens(done, budget, count)
    _check_facts(done, invented, wish)
    assert set(answering) <= set(done.facts)
    return done


def _check_tokens(done: Context, budget: int, count: Count) -> None:
    assert count(done.text) <= count(done.text + "\n") <= done.tokens <= budget
    if done.counted_by == "exact":
        assert count(done.text + "\n") == done.tokens
    lines = done.text.split("\n")
    assert (lines[0], lines[-1]) == (OPENING, CLOSING)
    assert done.text.count(CLOSING) == done.text.count(OPENING) == 1
    assert is_recalled(done.text)
    assert all(line and not line[0].isspace() for line in lines)


def _check_facts(done: Context, invented: Invented, wish: Wish) -> None:
    known = {fact.id: (entity, fact) for entity, fact in invented.facts}
    lines = done.text.split("\n")
    for fact_id, (entity, fact) in known.items():
        told = [at for at, line in enumerate(lines) if line.startswith(f"- {fact_id} ")]
        spelled = any(f": {fact_id} " in line for line in lines if line.startswith("! In conflict"))
        assert len(told) <= 1
        assert (bool(told) or spelled) == (fact_id in done.facts)
        if not told and not spelled:
            continue
        assert fact.status not in (SUPERSEDED, RETRACTED)
        assert quarantined(fact) is None
        assert (owner_of(entity) or "") in wish.wanted.owners
        if told and any(one in known and known[one][1].status == ACTIVE for one in _contrary(fact_id, invented, wish)):
            assert lines[told[0] + 1].startswith("! In conflict with the line above")
    always = [fact for entity, fact in invented.facts if _is_always(entity, fact, wish)]
    shown = [fact for fact in always if fact.id in done.facts]
    assert dict(done.left_out).get(TITLES[ALWAYS], 0) == len(always) - len(shown)


def _is_always(entity: str, fact: Fact, wish: Wish) -> bool:
    seen = (owner_of(entity) or "") in wish.wanted.owners and wish.wanted.entity in (None, entity)
    return seen and fact.status == ACTIVE and importance_of(fact) >= ALWAYS_HOT and quarantined(fact) is None


def _contrary(fact_id: str, invented: Invented, wish: Wish) -> set[str]:
    """The facts linked to this one as contradicting it, either way, that this reader may see."""
    seen = {
        fact.id: fact
        for entity, fact in invented.facts
        if (owner_of(entity) or "") in wish.wanted.owners and quarantined(fact) is None
    }
    towards = {link.to for link in seen[fact_id].links if link.type == "contradicts"}
    back = {one for one, fact in seen.items() if any(link.to == fact_id for link in fact.links)}
    return (towards | back) & seen.keys() - {fact_id}
