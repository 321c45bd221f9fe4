"""Decisions as MADR pages (Markdown Architectural Decision Records, version 4).

The headings and the front matter are those of the template at https://adr.github.io/madr/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact
from clawmem.model.facts.fact_words import DECISION_MAKERS, outcomes_of
from clawmem.model.facts.gates import FAILED, REVERTED
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line
from clawmem.model.pages.summary import yaml_scalar
from clawmem.model.records.entity import slug

CONTEXT, DRIVERS, OPTIONS = "Context and Problem Statement", "Decision Drivers", "Considered Options"
OUTCOME, CONSEQUENCES = "Decision Outcome", "Consequences"
PROS_AND_CONS, MORE = "Pros and Cons of the Options", "More Information"
_LONGEST_SLUG = 60
_ABOUT = "This decision is about "


class MadrPage(NamedTuple):
    """A page: the name of its file, and its text."""

    name: str
    text: str


def madr_pages(decisions: Sequence[tuple[Fact, str]], facts: Mapping[str, Fact]) -> tuple[MadrPage, ...]:
    """Return a page for each decision (with its entity), numbered from 1 in the order of time, then of ids.

    `facts` are the facts that the decisions link to, by id. The same decisions give the same bytes."""
    ordered = sorted(decisions, key=lambda decision: (decision[0].timestamp, decision[0].id))
    names = {fact.id: _file_name(number, fact) for number, (fact, _) in enumerate(ordered, 1)}
    return tuple(MadrPage(names[fact.id], _page(fact, entity, names, facts)) for fact, entity in ordered)


def status_of(fact: Fact, names: Mapping[str, str] = {}) -> str:
    """Return the status that a page gives a decision, by its state and its last outcome."""
    if fact.status == SUPERSEDED:
        by = names.get(fact.superseded_by or "", "")
        return f"superseded by ADR-{by[:4]}" if by else "superseded"
    if fact.status == RETRACTED:
        return "rejected"
    last = outcomes_of(fact)[-1:]
    return "deprecated" if last and last[0].get("outcome") in (FAILED, REVERTED) else "accepted"


def _file_name(number: int, fact: Fact) -> str:
    words = slug(fact.fact)[:_LONGEST_SLUG].rpartition("-")[0] if len(slug(fact.fact)) > _LONGEST_SLUG else ""
    return f"{number:04}-{words or slug(fact.fact) or 'decision'}.md"


def _page(fact: Fact, entity: str, names: Mapping[str, str], facts: Mapping[str, Fact]) -> str:
    details = fact.details or {}
    why = _text(details.get("why"))
    chosen = _plain(fact.fact)
    options = [
        (_plain(_text(alternative.get("option"))), _text(alternative.get("why")))
        for alternative in _alternatives(details)
    ]
    day = max(
        [
            day_of(fact.timestamp),
            *(day_of(str(outcome.get("at"))) for outcome in outcomes_of(fact) if outcome.get("at")),
        ]
    )
    front = [f"status: {yaml_scalar(status_of(fact, names))}", f"date: {day}"]
    makers = details.get(DECISION_MAKERS)
    front += [f"decision-makers: {yaml_scalar(makers if isinstance(makers, str) else fact.agent or 'user')}"]
    drivers = _texts(details.get("drivers"))
    parts = [
        "---\n" + "\n".join(front) + "\n---",
        f"# {_escaped(chosen)}",
        f"## {CONTEXT}",
        _escaped(_context(fact, entity, why)),
        *([f"## {DRIVERS}", "\n".join(f"* {_escaped(driver)}" for driver in drivers)] if drivers else []),
        f"## {OPTIONS}",
        "\n".join(f"* {_escaped(text)}" for text in dict.fromkeys((chosen, *(option for option, _ in options)))),
        f"## {OUTCOME}",
        f'Chosen option: "{_escaped(chosen)}", because {_escaped(why or "no reason was recorded")}.',
    ]
    effects = [*_texts(details.get("consequences")), *(_effect(outcome) for outcome in outcomes_of(fact))]
    parts += [f"### {CONSEQUENCES}", "\n".join(f"* {_escaped(effect)}" for effect in effects)] if effects else []
    argued = [(option, against) for option, against in options if against and option != chosen]
    parts += [f"## {PROS_AND_CONS}"] if argued else []
    for option, against in dict(argued).items():
        parts += [f"### {_escaped(option)}", f"* Bad, because {_escaped(_plain(against))}"]
    parts += [f"## {MORE}", "\n".join(f"* {text}" for text in _more(fact, entity, names, facts))]
    return "\n\n".join(parts) + "\n"


def _context(fact: Fact, entity: str, why: str) -> str:
    details = fact.details or {}
    if context := _text(details.get("context")):
        return f"{context}."
    known = {"task": details.get("task"), "workflow": details.get("workflow"), "stage": details.get("stage")}
    where = ", ".join(f"{key} {value}" for key, value in known.items() if value)
    about = f"{_ABOUT}{entity}" + (f" ({where})" if where else "") + "."
    return f"{about} The reason: {why}." if why else about


def _effect(outcome: Mapping[str, Any]) -> str:
    word = _text(outcome.get("outcome"))
    sign = "Bad" if word in (FAILED, REVERTED) else "Good"
    note = _plain(_text(outcome.get("note")))
    day = day_of(str(outcome.get("at") or ""))
    return f"{sign}, because it {word}{f' ({day})' if day else ''}{f': {note}' if note else ''}"


def _more(fact: Fact, entity: str, names: Mapping[str, str], facts: Mapping[str, Fact]) -> Iterator[str]:
    yield f"Fact: `{fact.id}` in `{entity}`"
    for link in fact.links:
        name, other = names.get(link.to), facts.get(link.to)
        shown = f"[ADR-{name[:4]}]({name})" if name else f"`{link.to}`"
        words = f": {_escaped(_plain(other.fact))}" if other is not None else ""
        yield f"{link.type.replace('_', ' ').capitalize()} {shown}{words}"


def _alternatives(details: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = details.get("alternatives")
    return (
        [record for record in items if isinstance(record, Mapping) and record.get("option")]
        if isinstance(items, list)
        else []
    )


def _texts(value: Any) -> list[str]:
    return [one_line(text) for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return one_line(value).rstrip(". ") if isinstance(value, str) else ""


def _plain(text: str) -> str:
    """Return text as one line that can be a heading, which ends without a mark."""
    return one_line(text).rstrip(".,;:!? ")


def _escaped(text: str) -> str:
    """Return text in which a Markdown reader sees no markup that the words do not mean: tags, links, code, emphasis."""
    marked = re.sub(r"([\\`*_\[\]<])", r"\\\1", text)
    return re.sub(r"^([#+>~=-]|[0-9]+(?=[.)]))", lambda at: f"{at[1]}\\" if at[1].isdigit() else f"\\{at[1]}", marked)
