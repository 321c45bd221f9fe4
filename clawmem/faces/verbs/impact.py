"""`clawmem impact`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated, Any

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.faces.parts.words import said
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.premises import PREMISES, doubt_words
from clawmem.serving.impact import NAMED, Dependent, Impact
from clawmem.serving.impact import impact as act

_DEEPEST = 30


def impact(
    call: Call,
    fact: Annotated[str, FACT],
    depth: Annotated[int | None, Parameter("The maximum distance in links (default: any).", ("--depth",), least=1)],
) -> Answer:
    """Lists the facts that name it as a premise (`depends_on`, `derived_from` and `merges` links), what rests on those,
    and so on, each fact once. Then the pages that show one of these facts, and the proposals about them."""
    found = act(call.runtime.vault(), fact, call.runtime.caller(), depth)
    data = {
        "fact": fact_data(found.start.fact, found.start.entity),
        "dependents": [_record(dependent) for dependent in found.dependents],
        "total": len(found.dependents),
        "categories": found.categories,
        "hidden": found.hidden,
        "pages": [{"path": path, "facts": list(ids)} for path, ids in found.pages],
        "proposals": [
            {"id": proposal.id, "kind": proposal.kind, "says": proposal.says} for proposal in found.proposals
        ],
    }
    return Answer(data, list(_lines(found)), found.notices)


def _record(dependent: Dependent) -> dict[str, Any]:
    fact, entity = dependent.placed
    place = {"premise": dependent.premise, "relation": dependent.relation, "depth": dependent.depth}
    record = {"id": fact.id, "fact": fact.fact, "category": fact.category, "status": fact.status, "entity": entity}
    return {**record, **place, **said({"trust": fact.trust, "in_doubt": doubt_words(fact)})}


def _lines(found: Impact) -> Iterator[str]:
    yield fact_line(found.start.fact, found.start.entity)
    below: dict[str, list[Dependent]] = defaultdict(list)
    known = {found.start.fact.id, *(dependent.placed.fact.id for dependent in found.dependents)}
    for other_dependent in found.dependents:
        # What rests on a replaced fact is shown below its successor.
        below[other_dependent.premise if other_dependent.premise in known else found.start.fact.id].append(
            other_dependent
        )
    waiting = below[found.start.fact.id][::-1]
    while waiting:
        other_dependent = waiting.pop()
        kind = (
            f"{other_dependent.placed.fact.category}, "
            if other_dependent.placed.fact.category in ("decision", "guardrail")
            else ""
        )
        line = fact_line(other_dependent.placed.fact, other_dependent.placed.entity)
        yield f"{'  ' * min(other_dependent.depth, _DEEPEST)}<-{other_dependent.relation}- {kind}{line}"
        waiting += below[other_dependent.placed.fact.id][::-1]
    for path, ids in found.pages:
        yield f"page {path}: {', '.join(ids[:5])}{f' and {len(ids) - 5} more' if len(ids) > 5 else ''}"
    for waits in found.proposals:
        yield f"proposal {waits.id}: {waits.says}"
    yield _total(found)


def _total(found: Impact) -> str:
    number = len(found.dependents)
    if not number and not found.hidden:
        return "Nothing rests on it."
    kinds = ", ".join(counted(count, name) for name, count in found.categories.items())
    hidden = f"; {counted(found.hidden, 'fact')} of other agents not shown" if found.hidden else ""
    rests = "rests" if number == 1 else "rest"
    return f"{counted(number, 'fact')} {rests} on it{f' ({kinds})' if kinds else ''}{hidden}"


VERB = Command(
    impact,
    {
        "fact": "fact",
        "dependents": [
            {
                "id": str,
                "fact": str,
                "category": str,
                "status": {"active", "archived"},
                "entity": str,
                "premise": str,
                "relation": {*PREMISES, NAMED},
                "depth": int,
                "trust?": str,
                "in_doubt?": str,
            }
        ],
        "total": int,
        "categories": {str: int},
        "hidden": int,
        "pages": [{"path": str, "facts": [str]}],
        "proposals": [{"id": str, "kind": str, "says": str}],
    },
    ("clawmem impact fact_1a2b", "clawmem impact fact_1a2b --depth 1"),
    ("dependents",),
)
