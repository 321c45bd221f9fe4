"""`clawmem why`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Annotated, Any

from clawmem.errors import NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, Parameter
from clawmem.faces.parts.words import SHORT, entry_data, entry_line, event_data, event_warning, place_of, said
from clawmem.memory.history.why import ChainLink, WhyResult
from clawmem.memory.history.why import why as act
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.facts.pulled import origin_of, published_values
from clawmem.model.language.dates import minute
from clawmem.model.language.text import counted, one_line, some_of
from clawmem.model.lifecycle.chain import replaced_facts
from clawmem.model.lifecycle.premises import PREMISES, doubt_words
from clawmem.model.records.event import Event
from clawmem.serving.graph import NAMED, Dependent, Impact, impact

# How much of a long event is shown on each side of the quoted words.
_DEEPEST = 30


def why(
    call: Call,
    fact: Annotated[str, FACT],
    show_impact: Annotated[bool, Parameter("Show what rests on the fact instead.", ("--impact",))],
    depth: Annotated[
        int | None, Parameter("With --impact, the maximum distance in links (default: any).", ("--depth",), least=1)
    ],
) -> Answer:
    """The answer contains the evidence, event, commits and authors of the fact, and the facts before and after it in
    its chain, newest first; with --json the oldest. With --impact, it has the facts that name it as a premise
    (`depends_on`, `derived_from` and `merges` links), what rests on those, and so on, each fact once; then the pages
    that show one of these facts, and the proposals about them."""
    if show_impact:
        return _impact(call, fact, depth)
    vault = call.runtime.vault()
    try:
        result = act(vault, fact, call.runtime.caller())
    except NotFound as problem:
        if " " in fact.strip():
            question = fact if fact.lower().startswith("why ") else f"why {fact}"
            problem.hint = f"`clawmem recall {quote(question)}` asks for it."
        raise
    return Answer(_data(result), _lines(result), result.notices)


def _data(result: WhyResult) -> dict[str, Any]:
    """Each commit and each fact once: the chain has the other facts, `recorded` and `removed` are in the history."""
    fact = result.fact
    return {
        "fact": fact_data(fact, result.entity, result.against),
        **({"event": event_data(result.event)} if result.event else {}),
        **_recorded(result),
        **({"removed": result.removed.commit} if result.removed else {}),
        "chain": [
            {**fact_data(link.fact, link.entity), **_recorded(link)} for link in result.chain if link.fact.id != fact.id
        ],
        "history": [entry_data(entry) for entry in result.history],
    }


def _recorded(result: WhyResult | ChainLink) -> dict[str, Any]:
    return {
        **({"recorded": result.recorded.commit} if result.recorded else {}),
        **({"history_begins": entry_data(result.begins)} if result.begins else {}),
    }


def _lines(result: WhyResult) -> Iterator[str]:
    yield fact_line(result.fact, result.entity, result.against)
    yield f"  recorded  {_by(result)}"
    if result.removed:
        yield f"  removed   {entry_line(result.removed)}; `clawmem undo {result.removed.commit[:SHORT]}` restores it"
    published = published_values(result.fact)
    by = [f"by {one_line(str(published.get('author')))} on {str(published.get('timestamp'))[:10]}"] if published else []
    yield f"  source    {', '.join([*source_words(result.fact, result.event), *by])}"
    if origin := origin_of(result.fact):
        seen = ", ".join(origin.scopes)
        yield f"  pulled    from {origin.org}, vault {origin.vault}, {origin.entity}; seen by {seen}"
        yield f"            recorded by {origin.author} in {origin.commit[:SHORT]}, {origin.path} line {origin.line}"
    for premise in result.fact.links:
        if premise.type in PREMISES:
            why = f": {one_line(premise.reason)}" if premise.reason else ""
            yield f"  rests on  {premise.to} ({premise.type}){why}"
    yield ""
    yield from _evidence_lines(result)
    if len(result.chain) > 1:
        yield ""
        yield "chain, newest first"
        for number, link in reversed([*enumerate(result.chain, 1)]):
            here = "  <- this fact" if link.fact.id == result.fact.id else ""
            yield f"  {number}. {fact_line(link.fact, link.entity)}{here}"
            yield f"     {_by(link)}"
            later = [each.fact.id for each in result.chain if link.fact.id in replaced_facts(each.fact)]
            if len(later) > 1:
                yield f"     replaced more than once: {', '.join(later)}"
    yield ""
    yield "history  none of it is here" if result.begins and not result.history else "history, newest first"
    for entry in reversed(result.history):
        yield f"  {entry_line(entry)}"


def _by(result: WhyResult | ChainLink) -> str:
    entry = result.recorded
    if result.begins is not None:
        return f"{minute(result.begins.time)} or earlier; the history before {result.begins.commit[:SHORT]} is not here"
    if entry is None:
        return "in no commit yet"
    return f"{minute(entry.time)} by {entry.author} <{entry.author_email}> in {entry.commit[:SHORT]}"


def source_words(fact: Fact, event: Event | None) -> Iterator[str]:
    """Yield where a fact is from: its source, the place there, its trust and its confidence."""
    yield fact.source
    if place := place_of(fact, event):
        yield place
    if fact.trust:
        yield f"trust {fact.trust}"
    if fact.confidence is not None:
        yield f"confidence {fact.confidence:g}"


def _evidence_lines(result: WhyResult) -> Iterator[str]:
    fact, event = result.fact, result.event
    if event is not None:
        who = event.role if event.speaker is None else f"{event.speaker} ({event.role})"
        yield f"evidence  {who}, {minute(event.timestamp)}, event {event.id}"
        yield f"  {marked_quote(event.text, fact.source_span, fact.source_text)}{event_warning(event)}"
    elif fact.source_text:
        yield "evidence  quoted, without an event"
        yield f"  >>{one_line(fact.source_text)}<<"
    else:
        yield "evidence  none was given"


def marked_quote(text: str, span: Sequence[int] | None, quote: str | None, around: int = 300) -> str:
    """A text around a quote, which >> and << mark, on one line."""
    before, quoted, after = around_quote(text, span, quote, around)
    return one_line(before if quoted is None else f"{before}>>{quoted}<<{after}")


def around_quote(
    text: str, span: Sequence[int] | None, quote: str | None, around: int = 300
) -> tuple[str, str | None, str]:
    """A text as what is before a quote, the quote, and what is after it; of a long text only what is near.

    If the span is not that of the quote, there is no quote, and the beginning of the text is before it.
    """
    if span is None or text[slice(*span)] != quote:
        return text[: 2 * around].strip() + ("…" if len(text) > 2 * around else ""), None, ""
    start, end = span
    before = ("…" if start > around else "") + text[max(0, start - around) : start].lstrip()
    after = text[end : end + around].rstrip() + ("…" if len(text) > end + around else "")
    return before, text[start:end], after


def _impact(call: Call, fact: str, depth: int | None) -> Answer:
    found = impact(call.runtime.vault(), fact, call.runtime.caller(), depth)
    data = {
        "fact": fact_data(found.start.fact, found.start.entity),
        "dependents": [_dependent_data(dependent) for dependent in found.dependents],
        "total": len(found.dependents),
        "categories": found.categories,
        "hidden": found.hidden,
        "pages": [{"path": path, "facts": list(ids)} for path, ids in found.pages],
        "proposals": [
            {"id": proposal.id, "kind": proposal.kind, "says": proposal.says} for proposal in found.proposals
        ],
    }
    return Answer(data, list(_impact_lines(found)), found.notices)


def _dependent_data(dependent: Dependent) -> dict[str, Any]:
    fact, entity = dependent.placed
    place = {"premise": dependent.premise, "relation": dependent.relation, "depth": dependent.depth}
    record = {"id": fact.id, "fact": fact.fact, "category": fact.category, "status": fact.status, "entity": entity}
    return {**record, **place, **said({"trust": fact.trust, "in_doubt": doubt_words(fact)})}


def _impact_lines(found: Impact) -> Iterator[str]:
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
        yield f"page {path}: {some_of(ids, 5)}"
    for waits in found.proposals:
        yield f"proposal {waits.id}: {waits.says}"
    yield _total_line(found)


def _total_line(found: Impact) -> str:
    number = len(found.dependents)
    if not number and not found.hidden:
        return "Nothing rests on it."
    kinds = ", ".join(counted(count, name) for name, count in found.categories.items())
    hidden = f"; {counted(found.hidden, 'fact')} of other agents not shown" if found.hidden else ""
    rests = "rests" if number == 1 else "rest"
    return f"{counted(number, 'fact')} {rests} on it{f' ({kinds})' if kinds else ''}{hidden}"


_RECORDED = {"recorded?": str, "history_begins?": "entry"}

VERB = Command(
    why,
    (
        {
            "fact": "fact",
            "event?": "event",
            **_RECORDED,
            "removed?": str,
            "chain": [{"...": "fact", **_RECORDED}],
            "history": ["entry"],
        },
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
    ),
    ("clawmem why fact_1a2b", "clawmem why fact_1a2b --impact --depth 1"),
    ("history", "dependents"),
)
