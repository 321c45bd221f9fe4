"""The generated part of a page of guardrails."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.model.facts.fact import Fact
from clawmem.model.facts.reach import is_workflow
from clawmem.model.language.text import one_line
from clawmem.model.records.entity import is_agent, owner_of

PAGE = "GUARDRAILS.md"
GLOBAL = f"governance/{PAGE}"
_NONE = "There are no guardrails.\n"


def agents_of(fact: Fact) -> tuple[str, ...]:
    """Return the agents for which a guardrail holds; none if it holds for everybody."""
    named = (fact.details or {}).get("agents")
    return tuple(text for text in named if isinstance(text, str)) if isinstance(named, list) else ()


def holds_for(fact: Fact, agent: str | None) -> bool:
    """Return whether a guardrail holds for an agent, or for a person (None)."""
    named = agents_of(fact)
    return not named or agent in named


def pages_of(fact: Fact, entity: str) -> tuple[str, ...]:
    """Return the pages on which a guardrail of an entity stands: those of its agents, else that of everybody."""
    owner = owner_of(entity)
    agents = (owner,) if owner else agents_of(fact)
    return tuple(f"agents/{agent}/{PAGE}" for agent in agents if is_agent(agent)) if agents else (GLOBAL,)


def guardrail_block(facts: Iterable[Fact]) -> str:
    """Return the lines of the guardrails, one paragraph each, in the given order."""
    return "".join(_lines(fact) for fact in facts) or _NONE


def _lines(fact: Fact) -> str:
    details = fact.details or {}
    items = [fact.id, f"since {fact.timestamp[:10]}"]
    items += [f"workflow {fact.workflow}"] if fact.workflow and is_workflow(fact.workflow) else []
    items += [f"project {fact.project}"] if fact.project else []
    items += [f"failure mode {details['failure_mode']}"] if isinstance(details.get("failure_mode"), str) else []
    why = one_line(details["why"]) if isinstance(details.get("why"), str) else ""
    return f"- {one_line(fact.fact)} ({', '.join(items)})\n" + (f"  Why: {why}\n" if why else "")
