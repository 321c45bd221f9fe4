"""`clawmem tier`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.memory.facts.access import restore
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.lifecycle.tiers import TIERS, explain
from clawmem.serving.browse import peek, plain_importance


def tier(
    call: Call,
    fact: Annotated[str, FACT],
    wake: Annotated[bool, Parameter("Make an archived fact active again first.", ("--restore",))],
) -> Answer:
    """The answer contains the result of each policy, and names the deciding one."""
    vault = call.runtime.vault()
    result = restore(vault, fact, call.runtime.caller()) if wake else None
    placed = peek(vault, fact, call.runtime.caller())
    days, policy = vault.settings.whole("decay.archive_days"), vault.settings.words("tiers.policy")
    data = explain(placed.fact, call.runtime.now(), days, policy, plain_importance(vault, placed.fact.id))
    lines = [fact_line(placed.fact, placed.entity), f"{data['tier']}: {data['reason']}"]
    pair = ("tier", "reason", "policy", "archive")
    lines += [f"  {key}: {_plain(value)}" for key, value in data.items() if key not in pair]
    lines.append(_archive_line(data["archive"]))
    if result is None:
        return Answer({"id": placed.fact.id, **data}, lines)
    lines += [] if result.commit else ["nothing changed; no commit was made"]
    return Answer({"id": placed.fact.id, **data, "commit": result.commit}, lines, result.notices)


def _archive_line(archive: Mapping[str, Any]) -> str:
    if archive["never_fades"] and not archive["due"]:
        return "  archive: not due; what a person typed, and what has an importance of 0.8 or more, never fades"
    rule = f"it is due if its score is below {archive['below']:g} and it was not used for {archive['days']:g} days"
    return f"  archive: {'due' if archive['due'] else f'not due; {rule}'}"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return str(value)


_TIER = set(TIERS)

VERB = Command(
    tier,
    {
        "id": str,
        "tier": _TIER,
        "reason": str,
        "policy": {"recency", "importance", "score"},
        "status": str,
        "last_access": str,
        "days_since_access": float,
        "access_count": int,
        "recency": {"tier": _TIER, "hot_days": float, "warm_days": float},
        "score": {"tier": int, "value": float, "base": float},
        "importance": {"tier": _TIER, "value": float},
        "archive": {"due": bool, "never_fades": bool, "below": float, "days": float},
        "commit?": (str, None),
    },
    ("clawmem tier fact_1a2b", "clawmem tier fact_1a2b --restore"),
)
