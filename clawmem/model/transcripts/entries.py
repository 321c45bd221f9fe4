"""Read tables, calendars and address books: one message for each row, entry or card, with what each value is."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, timedelta
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
    "url": "url", "note": "note", "status": "status",
}  # fmt: skip
_TIMES, _PARTS = ("start", "end", "due", "birthday"), ("company", "address")
_PROPERTY = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^\":])*)?):(.*)")
_TIME = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?\d*(Z?))?")


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
    text = re.sub(r"\n[ \t]", "", "\n".join(line.text for line in lines))  # a long line goes on after a space
    for number, match in enumerate(map(_PROPERTY.fullmatch, text.split("\n")), 1):
        name, about, value = (match[1].lower(), match[2], match[3].strip()) if match else ("", "", "")
        in_entry = inside[-1:] in (["VEVENT"], ["VTODO"], ["VCARD"])
        if name == "begin":
            inside.append(value.upper())
            pairs = pairs if in_entry else []  # an alarm stands within its entry
        elif name == "end":
            yield from _message(number, role, pairs) if in_entry else ()
            del inside[-1:]
        elif in_entry and name in _LABELS and (name != "status" or value.upper() == "CANCELLED"):
            pairs.append((_LABELS[name], _readable(_LABELS[name], about, value)))


def _message(number: int, role: str, pairs: Iterable[tuple[str, str]]) -> Iterator[Message]:
    """Yield the values as one message of the day on which it starts or is due, if one of them has text."""
    found = [(label, value) for label, value in pairs if value]
    text = ", ".join(f"{label}: {value}" if label else value for label, value in found)
    message = Message(number, role, text, metadata={ENTRY: number})
    labels = dict(found)
    with suppress(ValueError):  # no day of the calendar
        message = message._replace(timestamp=time_of(labels.get("start", labels.get("due"))))
    if text:
        yield message._replace(trust=EXTERNAL if "organizer" in labels else None)


def _readable(label: str, about: str, value: str) -> str:
    """Return a value for people: a time, the name of somebody, how often something repeats, or a text."""
    if label == "end" and len(value) == 8 and value.isdecimal():
        with suppress(ValueError, OverflowError):  # an entry of whole days ends before this day
            return (date.fromisoformat(value) - timedelta(days=1)).isoformat()
    if label in _TIMES and (time := _TIME.fullmatch(value)):
        return f"{time[1]}-{time[2]}-{time[3]}" + (f" {time[4]}:{time[5]}{time[6]}" if time[4] else "")
    if label in ("organizer", "with"):
        found = re.search(r';CN="?([^";]+)', about, re.IGNORECASE)
        return found[1] if found else value.rpartition(":")[2]
    if label == "repeats":
        return value.partition("FREQ=")[2].partition(";")[0].lower()
    value = ", ".join(filter(None, re.split(r"(?<!\\);", value))) if label in _PARTS else value
    return one_line(re.sub(r"\\(.)", r"\1", re.sub(r"\\[nN]", " ", value)))
