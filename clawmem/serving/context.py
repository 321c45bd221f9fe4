"""Context: what an agent should know, as text for its prompt, never above its budget of tokens."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.index.channels import Filter
from clawmem.index.lookup import Placed
from clawmem.model.caller import Caller
from clawmem.model.dates import stamp
from clawmem.model.entity import summary_path
from clawmem.model.fact import ACTIVE, Fact, importance_of
from clawmem.model.packing import Packed, Section, pack, smallest_budget
from clawmem.model.summary import prose
from clawmem.model.tiers import ALWAYS_HOT, COLD, HOT, WARM
from clawmem.model.tokens import token_bound
from clawmem.serving.browse import list_facts
from clawmem.serving.recall import recall
from clawmem.vault.journal import record_access
from clawmem.vault.vault import Vault

FOR_QUESTION = 20
ALWAYS = "Always"
# Beside a question, what always surfaces may take this much of the budget and no more.
ALWAYS_SHARE = 0.5
_LONGEST_PROSE = 600


class Context(NamedTuple):
    """The text, its tokens and how they were counted, the facts in it, what was left out, asides."""

    packed: Packed
    counted_by: str
    facts: tuple[Placed, ...]
    notices: tuple[str, ...] = ()


def context(
    vault: Vault, caller: Caller, budget: int, question: str | None = None, entity: str | None = None
) -> Context:
    """Important facts first, then what answers the question, then what people wrote, then facts by tier.

    Superseded and retracted facts never appear. Raises InvalidInput where the budget cannot hold even the frame.
    """
    wanted = Filter(owners=("", caller.agent) if caller.agent else ("",), entity=entity)
    listed = list_facts(vault, caller, wanted)
    active = {one.fact.id: (one, tier) for one, tier in listed.facts if one.fact.status == ACTIVE}
    asked: list[str] = []
    notices = list(listed.notices)
    if question:
        result = recall(vault, question, caller, wanted, FOR_QUESTION)
        asked = [one.fact.id for one in result.found if one.fact.id in active]
        notices = list(dict.fromkeys([*notices, *result.notices]))
    groups = _groups(active, asked, question)
    sections = [_section(title, ids, active, more) for title, ids, more in groups if ids]
    if asked and sections[0].title == ALWAYS:
        sections[0] = sections[0]._replace(share=ALWAYS_SHARE)
    sections[1:1] = _written(vault, active)
    heading = f"# Memory on {stamp(caller.now)[:10]}"
    least = smallest_budget(heading, sections, token_bound)
    if budget < least:
        raise InvalidInput(f"A budget of {budget} tokens is too small.", f"This memory needs at least {least} tokens.")
    packed = pack(heading, sections, budget, token_bound)
    served = tuple(one for one, _ in active.values() if _line(one.fact) in packed.text)
    if served and not question:
        problem = record_access(vault, stamp(caller.now), (one.fact.id for one in served))
        notices += [problem] if problem else []
    return Context(packed, "upper bound", served, tuple(notices))


def _groups(
    active: dict[str, tuple[Placed, str]], asked: list[str], question: str | None
) -> list[tuple[str, list[str], str]]:
    always = [one for one, (placed, _) in active.items() if importance_of(placed.fact) >= ALWAYS_HOT]
    taken = {*always}
    answering = [one for one in asked if one not in taken]
    taken.update(answering)
    groups = [(ALWAYS, always, "clawmem list"), ("For this question", answering, f"clawmem recall '{question}'")]
    for tier, title in ((HOT, "Fresh in use"), (WARM, "Used lately"), (COLD, "Known")):
        ids = [one for one, (_, heat) in active.items() if heat == tier and one not in taken]
        groups.append((title, ids, f"clawmem list --tier {tier}"))
    return groups


def _section(title: str, ids: list[str], active: dict[str, tuple[Placed, str]], more: str) -> Section:
    return Section(title, [_line(active[one][0].fact) for one in ids], more)


def _line(fact: Fact) -> str:
    dates = [f"since {fact.valid_from[:10]}"] if fact.valid_from and fact.valid_from[:10] not in fact.fact else []
    dates += [f"until {fact.valid_to[:10]}"] if fact.valid_to else []
    return f"- {fact.fact}" + (f" ({', '.join(dates)})" if dates else "")


def _written(vault: Vault, active: dict[str, tuple[Placed, str]]) -> list[Section]:
    lines = []
    for name in dict.fromkeys(placed.entity for placed, _ in active.values()):
        words = prose(vault.read_text(summary_path(name)) or "")
        if words:
            cut = words if len(words) <= _LONGEST_PROSE else words[:_LONGEST_PROSE].rstrip() + "…"
            lines.append(f"- {name}: {cut}")
    return [Section("Written by people", lines, "clawmem entity show NAME")] if lines else []
