"""Read and write proposal files: one JSON object, one key per line, validated on reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.catalog import Catalog, catalog_from_mapping, catalog_to_mapping
from clawmem.model.facts.codec import fact_from_record, fact_to_record, refuse_conflict_markers
from clawmem.model.facts.draft import UNSET_ID
from clawmem.model.facts.fact import Fact
from clawmem.model.forms import WrongValue, read_record, shown
from clawmem.model.proposals.proposal import (
    ADD,
    END,
    LINE,
    MERGE,
    OPEN,
    PREDICATE,
    PROMOTE,
    RETRACT,
    SUPERSEDE,
    CatalogEntry,
    Proposal,
    ReviewDecision,
    proposal_path,
)
from clawmem.model.records.strict_json import read_json

_WITH_FACT = frozenset((ADD, SUPERSEDE, MERGE, END))
_WITH_TARGETS = frozenset((SUPERSEDE, MERGE, END, RETRACT))
# A waiting fact lacks these keys; it gets them on approval.
_GIVEN = ("id", "timestamp", "status", "access_count", "last_accessed", "superseded_by")


def proposal_to_record(proposal: Proposal) -> dict[str, Any]:
    """Return the proposal as a JSON object, without keys that have no value."""
    record: dict[str, Any] = {key: getattr(proposal, key) for key in ("id", "kind", "status", "says", "why", "created")}
    record["does"] = proposal.does
    record["targets"] = [target._asdict() for target in proposal.targets] or None
    record["fact"] = fact_data(proposal.fact) if proposal.fact else None
    record.update(entity=proposal.entity, title=proposal.title)
    record["entry"] = _entry_data(proposal.entry) if proposal.entry else None
    record["line"] = proposal.line._asdict() if proposal.line else None
    record["worth"] = proposal.worth._asdict() if proposal.worth else None
    record.update(source_event=proposal.source_event, agent=proposal.agent)
    record["details"] = dict(proposal.details) if proposal.details else None
    record["decided"] = _decision_data(proposal.decided) if proposal.decided else None
    return {**{key: value for key, value in record.items() if value is not None}, **proposal.extra}


def fact_data(fact: Fact) -> dict[str, Any]:
    """Return the record of a waiting fact, without the keys that only a stored fact has."""
    return {key: value for key, value in fact_to_record(fact).items() if key not in _GIVEN}


def _decision_data(decided: ReviewDecision) -> dict[str, Any]:
    record: dict[str, Any] = {"by": decided.by, "at": decided.at, "reason": decided.reason}
    more = {"delegated_by": decided.delegated_by, "winner": decided.winner}
    record |= {key: value for key, value in more.items() if value}
    return record | ({"signed": True} if decided.signed else {})


def _entry_data(entry: CatalogEntry) -> dict[str, Any]:
    name = entry.predicate.name
    values = catalog_to_mapping(Catalog({name: entry.predicate}))[name]
    return {"name": name, "description": entry.description, **values}


def render_proposal(proposal: Proposal) -> bytes:
    """Return the proposal's file: a JSON object with one key per line, so that a diff shows the decision."""
    rows = (
        f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in proposal_to_record(proposal).items()
    )
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def parse_proposal(data: bytes, path: str) -> Proposal:
    """Read a proposal's file. Raise Unreadable if it is invalid, and ConflictMarkers if git left a conflict in it."""
    text = data.decode("utf-8-sig", errors="replace")
    refuse_conflict_markers(text, path)
    try:
        record = read_json(text)
        if not isinstance(record, dict):
            raise InvalidInput("it is not a JSON object")
        proposal = proposal_from_record(record)
    except InvalidInput as problem:
        raise Unreadable(path, None, problem.message.rstrip(".")) from None
    except ValueError as problem:
        raise Unreadable(path, getattr(problem, "lineno", None), f"it is not JSON ({problem})") from None
    if proposal_path(proposal.id) != path:
        raise Unreadable(path, None, f"it contains {proposal.id}, which does not match the file name")
    return proposal


def proposal_from_record(record: Mapping[str, Any]) -> Proposal:
    """Read a proposal from a JSON object. Raise InvalidInput, naming the key, if a value is wrong."""
    proposal = read_record(Proposal, record, fact=None, entry=None)
    for key, value in (("fact", record.get("fact")), ("entry", record.get("entry"))):
        if not isinstance(value, Mapping | None):
            raise WrongValue(f"must be an object, but is {shown(value)}", key)
    return _complete(proposal._replace(fact=_fact(record), entry=_entry(record.get("entry"))))


def _complete(proposal: Proposal) -> Proposal:
    """Return the proposal if it has all keys that its action needs, else raise InvalidInput."""
    needs = {
        "fact": proposal.does in _WITH_FACT,
        "targets": proposal.does in _WITH_TARGETS,
        "entry": proposal.does == PREDICATE,
        "line": proposal.does == LINE,
        "worth": proposal.does == PROMOTE,
        "decided": proposal.status != OPEN,
    }
    for key, needed in needs.items():
        if needed and not getattr(proposal, key):
            raise InvalidInput(f"the key '{key}' is missing")
    if proposal.does == PROMOTE and len(proposal.targets) + (proposal.fact is not None) != 1:
        raise InvalidInput("the proposal needs exactly one fact to promote, in 'targets' or in 'fact'")
    return proposal


def _fact(record: Mapping[str, Any]) -> Fact | None:
    waiting = record.get("fact")
    return fact_from_record({**waiting, "id": UNSET_ID, "timestamp": record["created"]}) if waiting else None


def _entry(entry: Mapping[str, Any] | None) -> CatalogEntry | None:
    if entry is None:
        return None
    about = read_record(_EntryNames, entry)
    catalog = catalog_from_mapping({about.name: about.extra})
    return CatalogEntry(catalog.predicates[about.name], about.description)


class _EntryNames(NamedTuple):
    name: str
    description: str
    extra: Mapping[str, Any] = {}
