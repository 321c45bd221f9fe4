"""Read and write proposal files: one JSON object, one key per line, validated on reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.catalog import Catalog, catalog_from_mapping, catalog_to_mapping
from clawmem.model.facts.codec import fact_from_record, fact_to_record, refuse_conflict_markers
from clawmem.model.facts.draft import UNSET_ID
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.proposal import (
    ACTIONS,
    ADD,
    END,
    KINDS,
    LINE,
    MERGE,
    OPEN,
    PREDICATE,
    PROMOTE,
    RETRACT,
    STATES,
    SUPERSEDE,
    CatalogEntry,
    PageLine,
    PromotionWorth,
    Proposal,
    ProposalTarget,
    ReviewDecision,
    proposal_path,
)
from clawmem.model.records.layout import is_owned
from clawmem.model.records.strict_json import read_json

_WITH_FACT = frozenset((ADD, SUPERSEDE, MERGE, END))
_WITH_TARGETS = frozenset((SUPERSEDE, MERGE, END, RETRACT))
# A waiting fact lacks these keys; it gets them on approval.
_GIVEN = ("id", "timestamp", "status", "access_count", "last_accessed", "superseded_by")
_TEXTS = ("id", "kind", "status", "says", "why", "created", "does")
_MAY_BE_TEXT = ("entity", "title", "source_event", "agent")


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
    record |= {"delegated_by": decided.delegated_by} if decided.delegated_by else {}
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
    for key in _TEXTS:
        if not isinstance(record.get(key), str):
            raise InvalidInput(f"the key '{key}' is missing or not text")
    for key in _MAY_BE_TEXT:
        if not isinstance(record.get(key), str | None):
            raise InvalidInput(f"the key '{key}' is not text")
    for key, allowed in (("kind", KINDS), ("status", STATES), ("does", ACTIONS)):
        if record[key] not in allowed:
            raise InvalidInput(f"the key '{key}' is not one of {', '.join(allowed)}")
    given = {key: value for key, value in record.items() if key in Proposal._fields}
    given["targets"] = tuple(_target(one) for one in _list(record, "targets"))
    given["fact"] = _fact(record)
    given["entry"] = _entry(_mapping(record, "entry"))
    given["line"] = _line(_mapping(record, "line"))
    given["worth"] = _worth(_mapping(record, "worth"))
    given["details"] = _mapping(record, "details")
    given["decided"] = _ruling(_mapping(record, "decided"))
    extra = {key: value for key, value in record.items() if key not in Proposal._fields}
    return _complete(Proposal(**given)._replace(extra=extra))


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
    held = _mapping(record, "fact")
    return fact_from_record({**held, "id": UNSET_ID, "timestamp": record["created"]}) if held else None


def _target(held: Any) -> ProposalTarget:
    if not isinstance(held, Mapping):
        raise InvalidInput("the key 'targets' must list objects")
    return ProposalTarget(_text(held, "id", "targets"), _text(held, "fact", "targets"))


def _entry(held: Mapping[str, Any] | None) -> CatalogEntry | None:
    if held is None:
        return None
    name, description = _text(held, "name", "entry"), _text(held, "description", "entry")
    catalog = catalog_from_mapping(
        {name: {key: value for key, value in held.items() if key not in ("name", "description")}}
    )
    return CatalogEntry(catalog.predicates[name], description)


def _line(held: Mapping[str, Any] | None) -> PageLine | None:
    if held is None:
        return None
    page, text = _text(held, "page", "line"), _text(held, "text", "line")
    if not is_owned(page) or not page.endswith(".md") or ".." in page.split("/"):
        raise InvalidInput(f"'{page}' is not a page of the vault")
    return PageLine(page, text)


def _worth(held: Mapping[str, Any] | None) -> PromotionWorth | None:
    if held is None:
        return None
    on, score, reasons = _text(held, "on", "worth"), held.get("score"), held.get("reasons", [])
    if not isinstance(score, int | float) or isinstance(score, bool) or not 0 <= score <= 1:
        raise InvalidInput("the key 'score' of 'worth' is not a number from 0 to 1")
    if not isinstance(reasons, list) or not all(isinstance(one, str) for one in reasons):
        raise InvalidInput("the key 'reasons' of 'worth' is not a list of texts")
    return PromotionWorth(_day(on), float(score), tuple(reasons))


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise InvalidInput(f"the key 'on' of 'worth' is not a day: '{text[:40]}'") from None


def _ruling(held: Mapping[str, Any] | None) -> ReviewDecision | None:
    if held is None:
        return None
    reason, delegated_by = (
        _text(held, key, "decided") if held.get(key) is not None else None for key in ("reason", "delegated_by")
    )
    signed = held.get("signed") is True
    return ReviewDecision(_text(held, "by", "decided"), _text(held, "at", "decided"), reason, delegated_by, signed)


def _mapping(record: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    held = record.get(key)
    if held is not None and not isinstance(held, Mapping):
        raise InvalidInput(f"the key '{key}' is not an object")
    return held


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    held = record.get(key, [])
    if not isinstance(held, list):
        raise InvalidInput(f"the key '{key}' is not a list")
    return held


def _text(held: Mapping[str, Any], key: str, place: str) -> str:
    if not isinstance(held.get(key), str):
        raise InvalidInput(f"the key '{key}' of '{place}' is missing or not text")
    return str(held[key])
