"""Read tables, calendars and address books: one message for each row, entry or card, with what each value is."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, zip_longest

from clawmem.model.facts.fact import EXTERNAL
from clawmem.model.language.text import one_line
from clawmem.model.records.event import ENTRY
from clawmem.model.transcripts.message import Message, SkippedLine, time_of
from clawmem.model.transcripts.notes import NumberedLine

_DELIMITERS = ",;\t|"
# A cell that is an address, a number or a day is no heading.
_VALUE = re.compile(r".*@.*|[\d\s.,:/+()-]+")
ENTRIES = re.compile(r"\s*BEGIN:V(?:CALENDAR|CARD)\b", re.IGNORECASE)
"""How a calendar or an address book begins."""
_LABELS = {
    "summary": "", "dtstart": "start", "dtend": "end", "due": "due", "location": "place", "rrule": "repeats",
    "organizer": "organizer", "attendee": "with", "description": "about", "fn": "name", "nickname": "nickname",
    "org": "company", "title": "title", "tel": "phone", "email": "email", "adr": "address", "bday": "birthday",
    "url": "url", "note": "note",
}  # fmt: skip
_PROPERTY = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^\":])*)?):(.*)")
_TIME = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?\d*(Z?))?")
_COMMON_NAME = re.compile(r';CN="?([^";]+)', re.IGNORECASE)


def read_table(lines: Iterable[NumberedLine], role: str = "note") -> Iterator[Message | SkippedLine]:
    """Yield each row of a CSV table, its values with the headings of their columns, if the first row has such."""
    texts = (f"{line.text}\n" for line in lines)
    first = next(texts, "")
    rows = csv.reader(chain([first], texts), delimiter=max(_DELIMITERS, key=first.count), skipinitialspace=True)
    headings: list[str] = []
    try:
        for number, row in enumerate(rows):
            cells = [one_line(cell) for cell in row]
            if number == 0 and not any(map(_VALUE.fullmatch, cells)):
                headings = cells
            else:
                yield from _message(rows.line_num, role, zip_longest(headings, cells, fillvalue=""))
    except csv.Error as problem:
        yield SkippedLine(rows.line_num, f"from here on it is no table ({problem})")


def read_entries(lines: Iterable[NumberedLine], role: str = "note") -> Iterator[Message]:
    """Yield each entry of a calendar at its time, as it is written there, and each card of an address book. What
    somebody is invited to is from outside."""
    inside: list[str] = []
    pairs: list[tuple[str, str]] = []
    when = None
    for number, text in _unfolded(lines):
        match = _PROPERTY.fullmatch(text)
        name, about, value = (match[1].lower(), match[2], match[3]) if match else ("", "", "")
        in_entry = inside[-1:] in (["VEVENT"], ["VTODO"], ["VCARD"])
        if name == "begin":
            inside.append(value.strip().upper())
            pairs, when = ([], None) if len(inside) < 3 else (pairs, when)  # an alarm stands within its entry
        elif name == "end":
            if in_entry:
                trust = EXTERNAL if "organizer" in dict(pairs) else None
                yield from (item._replace(timestamp=when, trust=trust) for item in _message(number, role, pairs))
            del inside[-1:]
        elif in_entry and name in _LABELS:
            time = _TIME.fullmatch(value.strip()) if name in ("dtstart", "dtend", "due", "bday") else None
            text = _written(time) if time else _said(name, about, value)
            if time and name in ("dtstart", "due"):
                with suppress(ValueError):  # no day of the calendar
                    when = time_of(text.removesuffix(" UTC"))
            pairs.append((_LABELS[name], text))


def _message(number: int, role: str, pairs: Iterable[tuple[str, str]]) -> Iterator[Message]:
    text = ", ".join(f"{label}: {value}" if label else value for label, value in pairs if value)
    if text:
        yield Message(number, role, text, metadata={ENTRY: number})


def _unfolded(lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    """Join the lines that begin with a space to those that they continue."""
    kept = NumberedLine(0, "")
    for line in lines:
        if line.text[:1] in (" ", "\t"):
            kept = kept._replace(text=kept.text + line.text[1:])
        else:
            yield kept
            kept = line
    yield kept


def _written(time: re.Match[str]) -> str:
    return f"{time[1]}-{time[2]}-{time[3]}" + (f" {time[4]}:{time[5]}{' UTC' if time[6] else ''}" if time[4] else "")


def _said(name: str, about: str, value: str) -> str:
    """Return a value for people: the name of somebody, how often something repeats, or the text."""
    if name in ("organizer", "attendee"):
        found = _COMMON_NAME.search(about)
        return found[1] if found else value.rpartition(":")[2]
    if name == "rrule":
        return value.partition("FREQ=")[2].partition(";")[0].lower()
    value = re.sub(r"\\[nN]", " ", value)
    if name in ("adr", "org"):
        value = ", ".join(filter(None, re.split(r"(?<!\\);", value)))
    return one_line(re.sub(r"\\(.)", r"\1", value))
