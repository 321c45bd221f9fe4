"""Redaction: remove a text from the whole history of a vault, and adjust the facts around it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from clawmem.model.facts.fact import REDACTED, RETRACTED, Fact
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import Event
from clawmem.model.records.strict_json import read_json
from clawmem.model.safety.secrets.find import find_secrets
from clawmem.model.safety.secrets.looks import entropy
from clawmem.model.safety.written_forms import Needle, replace_needles

RECORD = "ledger/redactions.json"
SHORTEST_REDACTION = 6
# With this many bits, the text cannot be guessed from the hash of a commit that contained it.
_SAFE_BITS = 80
_KEY = rb'"(?:%s)": (?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]), '
_QUOTE = re.compile(_KEY % b"source_text|source_span")
_TAGS = re.compile(rb', "tags": (\[[^\]]*\])')
_TRIPLE = re.compile(_KEY % b"subject|predicate|object|relation_phrase")


class RedactionRecord(NamedTuple):
    """What the vault keeps about a redaction.

    It records when, by whom and why, which facts and events contained the text, and in how many commits. `old_head` is
    the branch's commit before the redaction, or None if its hash could help to guess the text; `base` is the one after.
    """

    at: str
    by: str
    reason: str | None
    facts: tuple[str, ...]
    events: tuple[str, ...]
    commits: int
    old_head: str | None
    base: str


def secrets_in(texts: Iterable[str | None]) -> tuple[str, ...]:
    """Return the credentials in some texts, or the texts themselves if they have none."""
    items = [text for text in texts if text]
    found = [text[match.start : match.end] for text in items for match in find_secrets(text)]
    return tuple(dict.fromkeys(found or items))


def redacted(
    data: bytes,
    wanted: Sequence[Needle],
    quoting: Collection[str] = (),
    stated: Collection[str] = (),
    tags: Collection[tuple[str, str]] = (),
) -> bytes:
    """Return the data with each of the texts replaced by `[redacted]`, including texts that were cut off.

    The facts with the ids `quoting` and `stated` lose their quotes, and those of `stated` their triples: words that may
    stand elsewhere for something else. `tags` are ids with a tag that the fact loses."""
    for name, tag in tags:
        data = _on_lines(data, [name], partial(_TAGS.sub, partial(_without_tag, tag)))
    for ids, key in (({*quoting, *stated}, _QUOTE), (stated, _TRIPLE)):
        data = _on_lines(data, ids, partial(key.sub, b"")) if ids else data
    return replace_needles(data, wanted, REDACTED.encode())


def _on_lines(data: bytes, ids: Collection[str], change: Callable[[bytes], bytes]) -> bytes:
    """Return the data with the lines of some facts changed."""
    lines = rb'^\{"id": "(?:%s)",.*$' % "|".join(sorted(ids)).encode()
    return re.sub(lines, lambda line: change(line[0]), data, flags=re.MULTILINE)


def _without_tag(tag: str, tags: re.Match[bytes]) -> bytes:
    kept = [name for name in json.loads(tags[1]) if name != tag]
    return b', "tags": ' + json.dumps(kept, ensure_ascii=False).encode() if kept else b""


def adjust_fact(fact: Fact, event: Event | None, remark: Mapping[str, Any], contained: bool) -> Fact:
    """Return a fact as it is after the redaction.

    Its quote gets the new span in the event, or is dropped if the event no longer contains it. With `contained`, the
    fact itself contained the text and is marked with the remark.
    """
    if event is not None and fact.source_text is not None:
        start = event.text.find(fact.source_text)
        span = (start, start + len(fact.source_text)) if start >= 0 else None
        fact = fact._replace(source_span=span, source_text=fact.source_text if span else None)
    if not contained:
        return fact
    metadata = {**(fact.metadata or {}), "redacted": dict(remark)}
    # A fact that is redacted as a whole has nothing left to serve.
    status = RETRACTED if fact.is_current and fact.fact.strip(" .") == REDACTED else fact.status
    return fact._replace(status=status, metadata=metadata)


def hard_to_guess(texts: Iterable[str]) -> bool:
    """Return whether the texts have too much entropy to be guessed with the help of an old commit's hash."""
    return all(entropy(text) * len(text) >= _SAFE_BITS for text in texts)


def records_of(data: bytes | None) -> tuple[dict[str, Any], ...]:
    """Return the records in a file of redactions; raise ValueError if it is invalid."""
    try:
        rows = read_json(data)["redactions"] if data is not None else []
        if all(isinstance(row, dict) for row in rows):
            return tuple(rows)
    except (KeyError, TypeError) as problem:
        raise ValueError("it is not a list of redactions") from problem
    raise ValueError("it is not a list of redactions")


def lacks_record(data: bytes | None, current: bytes | None) -> bool:
    """Return whether a file of redactions lacks a record of the current one. Reasons may differ."""
    try:
        known = {_which(row) for row in records_of(current)}
        return not known <= {_which(row) for row in records_of(data)}
    except ValueError:
        return True


def merged_records(*sides: bytes | None) -> bytes | None:
    """Return the records of all sides, oldest first, or None. Of two reasons, the last side's wins."""
    found: dict[str, dict[str, Any]] = {}
    for side in sides:
        try:
            found.update({_which(row): row for row in records_of(side)})
        except ValueError:
            continue
    return render_records([found[key] for key in sorted(found)]) if found else None


def _which(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get(key) for key in ("at", "base", "commits")])


def with_record(data: bytes | None, record: RedactionRecord) -> bytes:
    """Return the file of redactions with one more record: one line each, oldest first."""
    row = {key: value for key, value in record._asdict().items() if value is not None}
    return render_records([*records_of(data), row])


def render_records(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """The file of redactions, one record a line."""
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    return f'{{"redactions": [\n{lines}\n]}}\n'.encode()
