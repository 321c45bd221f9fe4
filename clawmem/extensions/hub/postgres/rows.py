"""The rows of the hub's tables for a state of a fact or an entity, made alike by the intake and by `hub verify`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import pointers
from clawmem.model.language.dates import moment_of, stamp

COMMIT, FACT, FACT_GONE, ENTITY, ENTITY_GONE = "commit", "fact", "fact-gone", "entity", "entity-gone"
UNREADABLE, REWRITTEN, EMPTIED, REMOVED = "unreadable", "rewritten", "emptied", "removed"
SHARED, UNSHARED = "shared", "unshared"

# A key of an index has at most 2,704 bytes, and a full text at most 1 MB.
_MOST_OF_KEY, _MOST_OF_TEXT = 600, 100_000


class LogRow(NamedTuple):
    """One row of the log: what happened (`kind`), to what (`subject`), in which commit, and its content."""

    kind: str
    subject: str
    commit: str | None
    body: Mapping[str, Any]


class TakenCommit(NamedTuple):
    """A commit as the log has it: its author as `Name <address>`, its time (UTC, to the second), and its subject."""

    author: str
    at: str
    subject: str
    parents: Sequence[str] = ()


def fact_row(fact_id: str, scope: str, scopes: Sequence[str], body: Mapping[str, Any], commit: str, taken: TakenCommit) -> dict[str, Any]:  # fmt: skip # noqa: E501
    """Return the columns of `fact` for a row of the log about it, without `org` and `vault`."""
    record = body["record"]
    fact = fact_from_record(record)
    return {
        "id": fact_id, "scope": scope, "scopes": list(scopes), "entity": body["entity"],
        "claim": fact.fact[:_MOST_OF_TEXT], "category": fact.category, "subject": fact.subject,
        "predicate": fact.predicate, "object": fact.object, "status": fact.status, "confidence": fact.confidence,
        "importance": fact.importance, "trust": fact.trust, "timestamp": _moment(fact.timestamp, taken.at),
        "valid_from": fact.valid_from, "valid_to": fact.valid_to, "source": fact.source,
        "source_event": fact.source_event, "agent": fact.agent, "workflow": fact.workflow, "project": fact.project,
        "reach": fact.scope, "tags": list(fact.tags), "superseded_by": fact.superseded_by, "author": taken.author,
        "commit": commit, "path": body["path"], "line": body["line"], "recorded_at": taken.at, "record": record,
    }  # fmt: skip


def link_rows(fact_id: str, scopes: Sequence[str], record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of `link` for a fact, without `org` and `vault`: one row for each kind and target."""
    fact = fact_from_record(record)
    reasons = {(link.type, link.to): link.reason for link in fact.links}
    found = {(kind, target[:_MOST_OF_KEY]): reasons.get((kind, target)) for kind, target in pointers(fact)}
    return [
        {"fact": fact_id, "type": kind, "target": target, "scopes": list(scopes), "reason": reason}
        for (kind, target), reason in sorted(found.items())
    ]


def _moment(text: str, instead: str) -> str:
    """Return a written time as the database takes it, or another one if it is none."""
    try:
        return stamp(moment_of(text))
    except (ValueError, OverflowError):
        return instead
