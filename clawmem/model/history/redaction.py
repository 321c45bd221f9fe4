"""Redaction: one text taken out of everything a vault ever held, and what has to follow it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.records.event import Event
from clawmem.model.records.strict_json import read_json
from clawmem.model.safety.secrets.find import find_secrets
from clawmem.model.safety.secrets.looks import entropy
from clawmem.model.safety.written_forms import Needle, replace_needles

MARK = "[redacted]"
RECORD = "ledger/redactions.json"
SHORTEST = 6
# With so many bits nobody guesses the text from the name of a commit that held it.
_SAFE_BITS = 80


class RedactionRecord(NamedTuple):
    """What the vault keeps of a redaction: when, by whom and why, which facts and events held the text, how many
    commits did, and which commit the branch was at before (None where its name could help to guess the text) and
    after (`base`)."""

    at: str
    by: str
    reason: str | None
    facts: tuple[str, ...]
    events: tuple[str, ...]
    commits: int
    old_head: str | None
    base: str


def secrets_in(texts: Iterable[str | None]) -> tuple[str, ...]:
    """The credentials in some texts; where there are none, the texts themselves."""
    given = [text for text in texts if text]
    found = [text[match.start : match.end] for text in given for match in find_secrets(text)]
    return tuple(dict.fromkeys(found or given))


def redacted(data: bytes, wanted: Sequence[Needle]) -> bytes:
    """The data with each of the texts replaced, cut off ones too."""
    return replace_needles(data, wanted, MARK.encode())


def fitted(fact: Fact, event: Event | None, remark: Mapping[str, Any], held: bool) -> Fact:
    """A fact after the redaction: its span where its quote stands in the event now, no quote where it stands there no
    more, and a mark where the fact held the text."""
    if event is not None and fact.source_text is not None:
        start = event.text.find(fact.source_text)
        span = (start, start + len(fact.source_text)) if start >= 0 else None
        fact = fact._replace(source_span=span, source_text=fact.source_text if span else None)
    if not held:
        return fact
    metadata = {**(fact.metadata or {}), "redacted": dict(remark)}
    # Of a fact that was nothing else, nothing is left to serve.
    status = RETRACTED if fact.stands and fact.fact.strip(" .") == MARK else fact.status
    return fact._replace(status=status, metadata=metadata)


def hard_to_guess(texts: Iterable[str]) -> bool:
    """Whether no one could find a text by trying until the name of an old commit comes out."""
    return all(entropy(text) * len(text) >= _SAFE_BITS for text in texts)


def records_of(data: bytes | None) -> tuple[dict[str, Any], ...]:
    """The records in a file of redactions; ValueError where it is none."""
    try:
        rows = read_json(data)["redactions"] if data is not None else []
        if all(isinstance(row, dict) for row in rows):
            return tuple(rows)
    except (KeyError, TypeError) as problem:
        raise ValueError("it is no list of redactions") from problem
    raise ValueError("it is no list of redactions")


def lacks_record(data: bytes | None, standing: bytes | None) -> bool:
    """Whether a file of redactions lacks one that another tells of. Reasons may be put in other words."""
    try:
        known = {_which(row) for row in records_of(standing)}
        return not known <= {_which(row) for row in records_of(data)}
    except ValueError:
        return True


def merged_records(*sides: bytes | None) -> bytes | None:
    """Every record that one of the sides has, oldest first; of one that they word differently, the last side's. None
    where no side has any."""
    found: dict[str, dict[str, Any]] = {}
    for side in sides:
        try:
            found.update({_which(row): row for row in records_of(side)})
        except ValueError:
            continue
    return _rendered([found[key] for key in sorted(found)]) if found else None


def _which(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get(key) for key in ("at", "base", "commits")])


def with_record(data: bytes | None, record: RedactionRecord) -> bytes:
    """The file of redactions with one more at its end: one line each, oldest first."""
    row = {key: value for key, value in record._asdict().items() if value is not None}
    return _rendered([*records_of(data), row])


def _rendered(rows: Iterable[Mapping[str, Any]]) -> bytes:
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    return f'{{"redactions": [\n{lines}\n]}}\n'.encode()
