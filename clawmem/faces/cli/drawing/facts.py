"""A fact of an answer's data: its statement, and below it what is known about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from clawmem.faces.cli.drawing.canvas import ALERT, FAINT, words
from clawmem.faces.parts.past import minute
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import ACTIVE, CANONICAL_KEYS, STATUSES, Fact
from clawmem.model.facts.fact_words import fact_remarks, origin_warnings
from clawmem.model.facts.labels import UNREVIEWED, change_labels

_Record = Mapping[str, Any]


def fact_of(record: _Record) -> Fact:
    """The fact of a record in an answer, which has more keys than one on disk and may be a proposed one."""
    known = {key: record[key] for key in CANONICAL_KEYS if key in record}
    return fact_from_record(known if known.get("status") in STATUSES else {**known, "status": ACTIVE})


def remarks(record: _Record) -> Iterator[Text]:
    """The id, the entity, and everything unusual about a fact; what asks for attention is not faint."""
    fact, against = fact_of(record), record.get("conflicts_with", ())
    alerts = {*origin_warnings(fact), *change_labels(fact)} - {UNREVIEWED, "agent"}
    yield words(fact.id, FAINT)
    yield words(record["entity"], FAINT)
    for remark in fact_remarks(_with_short_times(fact), record["entity"], against):
        alert = remark in alerts or remark.startswith("in conflict with") or remark == fact.status
        yield words(remark, ALERT if alert else FAINT)


def _with_short_times(fact: Fact) -> Fact:
    """The fact with times to the minute, as they are said elsewhere; a day stays one."""
    return fact._replace(valid_from=_short(fact.valid_from), valid_to=_short(fact.valid_to))


def _short(time: str | None) -> str | None:
    return minute(time) if time and len(time) > len("2026-11-21") else time
