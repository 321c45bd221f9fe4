"""Facts, those of the organisation, and entries of the history in words and as JSON, the same in every verb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer
from clawmem.faces.parts.parameters import Parameter
from clawmem.model.facts.fact import EXTERNAL, OUTSIDE_WARNING, SUPERSEDED, Fact
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.dates import looks_like_a_date, minute
from clawmem.model.language.text import one_line, shorten
from clawmem.model.proposals.quarantine import quarantine_reason, quarantined_event
from clawmem.model.records.event import PLACE, trust_limit

if TYPE_CHECKING:
    from clawmem.index.search.lookup import PlacedFact
    from clawmem.memory.facts.remember import RememberedFact
    from clawmem.memory.facts.revise import ReviseResult
    from clawmem.model.history.entry import HistoryEntry
    from clawmem.model.records.event import Event
    from clawmem.serving.context.units import ContextResult
    from clawmem.serving.recall.result import Brief

    _Placed = PlacedFact | RememberedFact

OUTCOME = {"added", "noop", "updated", "merged", "retracted", "proposed"}
REVISED = {"facts": ["fact"], "outcome": [OUTCOME], "commit": (str, None), "dependents?": ["fact"]}
"""The shape of what a verb says that keeps or revises facts: an outcome for each fact, and the last commit.

`dependents` are the facts that rest on the changed ones and whose record of changed premises changed with them."""

_ECHOED = 72

_DID = {
    "added": "remembered",
    "noop": "already known",
    "updated": "updated",
    "merged": "merged",
    "retracted": "retracted",
    "proposed": "waits for review",
}


LISTED_BY = {
    "note": "`clawmem recall '' --in notes --since today` lists notes, and what follows --since is a day.",
    "remember": "`clawmem list` lists facts, and `clawmem show ID` shows one.",
}
"""How to read what these verbs write."""


def check_is_text(text: str, verb: str) -> None:
    """Raise InvalidInput for a lone word that other verbs take as a command, such as `note list`."""
    if text.strip() in ("list", "show", "add"):
        raise InvalidInput(f"`clawmem {verb}` stores a text, and '{text.strip()}' alone is none.", LISTED_BY[verb])


def plain_value(value: Any) -> str:
    """A value of a record for people: a text as it is, a time to the minute, a list or record in words, any other value
    as JSON."""
    import json

    if isinstance(value, str):
        is_time = len(value) == len("2026-11-21T09:30:00Z") and value[-1] == "Z" and looks_like_a_date(value)
        return minute(value) if is_time else value
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {plain_value(other)}" for key, other in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(map(plain_value, value))
    return json.dumps(value, ensure_ascii=False)


def said(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as callers of --json get it: without the fields that are null, or an empty text, list or object."""
    return {key: value for key, value in record.items() if value is not None and value not in ("", [], (), {})}


LEFT_OUT = ("notices", "extra")
"""Fields of a result that its data does not have."""


def data_of(result: Any, **others: Any) -> dict[str, Any]:
    """A result as callers of --json get it: its fields but LEFT_OUT, and others in their place or behind them. Facts
    with their entity, proposals and tuples with names are records, wherever they are."""
    return {name: _plain(value) for name, value in result._asdict().items() if name not in LEFT_OUT} | others


def _plain(value: Any) -> Any:
    if hasattr(value, "_fields"):
        from clawmem.model.proposals.proposal import Proposal, proposal_to_record  # few answers have a proposal

        if isinstance(value, Proposal):
            return proposal_to_record(value)
        return fact_data(value.fact, value.entity) if isinstance(value[0], Fact) else data_of(value)
    if isinstance(value, Mapping):
        return {key: _plain(other) for key, other in value.items()}
    return [_plain(other) for other in value] if isinstance(value, tuple | list) else value


def context_data(result: ContextResult | Brief) -> dict[str, Any]:
    """A context as callers of --json get it."""
    left_out = [{"section": title, "lines": count} for title, count in result.left_out]
    return {
        "text": result.text,
        "token_count": result.tokens,
        "counted_by": result.counted_by,
        **said({"facts": list(result.facts), "left_out": left_out}),
    }


def event_data(event: Event) -> dict[str, Any]:
    """An event as callers of --json get it."""
    record = said(event._asdict())
    return record if event.recalled else {key: value for key, value in record.items() if key != "recalled"}


def place_of(fact: Fact, event: Event | None) -> str | None:
    """The page or the headings of a document under which the evidence of a fact stands, or None."""
    place = (fact.details or {}).get(PLACE) or ((event and event.metadata) or {}).get("heading")
    return one_line(place) if isinstance(place, str) else None


def event_warning(event: Event, is_order: bool | None = None) -> str:
    """The same of something said, to be put behind it; empty where there is nothing to know.

    `is_order` says whether it reads as an order; if it is None, the text is checked.
    """
    remarks = [OUTSIDE_WARNING] if trust_limit(event) == EXTERNAL else []
    if quarantined_event(event) if is_order is None else is_order:
        remarks.append(f"quarantined: {quarantine_reason(event)}")
    return f"  ({', '.join(remarks)})" if remarks else ""


def changed_data(facts: Iterable[_Placed], outcomes: Iterable[str], commit: str | None) -> dict[str, Any]:
    """What happened to each fact, as callers of --json get it."""
    records = [fact_data(placed.fact, placed.entity) for placed in facts]
    return {"facts": records, "outcome": list(outcomes), "commit": commit}


def outcome_lines(facts: Iterable[_Placed], outcomes: Iterable[str], commit: str | None) -> Sequence[str]:
    """What happened to each fact. What a person just typed is not repeated in full."""
    lines = []
    for outcome, placed in zip(outcomes, facts, strict=True):
        fact = placed.fact._replace(fact=shorten(placed.fact.fact, _ECHOED))
        lines.append(f"{_did(outcome, fact)}: {fact_line(fact, placed.entity)}")
    return lines if commit else [*lines, "nothing changed; no commit was made"]


def commits_made(commits: Sequence[str]) -> list[str]:
    """The line about the commits of a call, if there are several."""
    if len(commits) < 2:
        return []
    return [f"made {len(commits):,} commits; `clawmem log --limit {len(commits)}` shows them"]


def _did(outcome: str, fact: Fact) -> str:
    if outcome in ("updated", "merged") and fact.status == SUPERSEDED:
        return "superseded"
    return _DID[outcome]


def revised(result: ReviseResult) -> Answer:
    """The answer of a verb that revises facts; its shape is REVISED."""
    data = changed_data(result.facts, result.outcome, result.commit)
    data |= said({"dependents": [fact_data(placed.fact, placed.entity) for placed in result.marked]})
    lines = outcome_lines(result.facts, result.outcome, result.commit)
    lines = [f"{result.did}: {line.partition(': ')[2]}" for line in lines] if result.did else lines
    return Answer(data, lines, result.notices)


ORG = Parameter(
    "Ask the organisation, too: its facts are labelled, come after your own that have as many words of the question,"
    " and take no room from them. The filters are for your own facts only.",
    ("--org",),
)
_ORIGIN = {"org": str, "vault": str, "scopes": [str], "author": str, "commit": str, "path": str, "line": int}

HUB_FACT = {
    "id": str,
    "fact": str,
    "entity": str,
    "category": str,
    "status": str,
    "timestamp": str,
    "source": str,
    "trust": (str, None),
    "confidence": (float, None),
    "score?": float,
    "origin": _ORIGIN,
}
"""The shape of a fact of the organisation."""

OF_ORGANISATION = {"org": str, "facts": [HUB_FACT], "problem?": str}
"""The shape of the organisation's part of an answer."""

SHORT = 12


def entry_data(entry: HistoryEntry) -> dict[str, Any]:
    """An entry as callers of --json get it; what a commit does not say is left out."""
    return said(entry._asdict())


def entry_line(entry: HistoryEntry) -> str:
    """An entry on one line: short name, time, author, subject."""
    return f"{entry.commit[:SHORT]}  {minute(entry.time)}  {entry.author}  {entry.subject}"
