"""Tables, calendars and address books: what becomes one event, with its date and its labels."""

from __future__ import annotations

import pytest

from clawmem.model.transcripts.formats import read, shape_of
from clawmem.model.transcripts.message import Message
from tests.conftest import Command

CALENDAR = """BEGIN:VCALENDAR
BEGIN:VTIMEZONE
TZID:Europe/Oslo
BEGIN:STANDARD
DTSTART:19701025T030000
RRULE:FREQ=YEARLY
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;TZID=Europe/Oslo:20261208T083000
SUMMARY:Dentist
LOCATION:Kaistrasse 4\\, Bergen
DESCRIPTION:Bring the blue card\\nand arrive
  early
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20260902
SUMMARY:Choir
RRULE:FREQ=WEEKLY;BYDAY=WE
ORGANIZER;CN="Olga Brandt":mailto:olga@example.org
ATTENDEE:mailto:emil@example.org
END:VEVENT
BEGIN:VEVENT
DTSTART:20261399T000000Z
SUMMARY:No such day
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20261228
DTEND;VALUE=DATE:20270103
SUMMARY:Ski week
STATUS:CANCELLED
END:VEVENT
END:VCALENDAR
"""
CARDS = """BEGIN:VCARD
FN:Ida Novak
ORG:Fernbrook;Sales
item1.TEL;TYPE=CELL:+49 30 5550199
ADR;TYPE=HOME:;;Kaistrasse 9;Bremen;;28195;
BDAY:19710203
PHOTO;ENCODING=b:AAAA
 BBBB
END:VCARD
BEGIN:VCARD
FN:Bo Sato
EMAIL:bo@example.org
END:VCARD
"""
CONTACTS = """Name,Company,Phone,Notes
Ann Berg,Billit,+49 30 5501,"tests, mostly"
Bo Sato,Fernbrook,+49 30 5502,tests the invoicing
Cy Moe,Billit,,

Di Roth,Fernbrook,+49 30 5504,"two
lines"
"""


def found(text: str, name: str) -> list[Message]:
    data = text.encode()
    messages = read(shape_of(data, name), data.splitlines(keepends=True), name)
    return [message for message in messages if isinstance(message, Message)]


def test_an_entry_of_a_calendar_has_its_date_and_its_labels() -> None:
    dentist, choir, odd, week = found(CALENDAR, "cal.ics")
    assert dentist.text == (
        "start: 2026-12-08 08:30, Dentist, place: Kaistrasse 4, Bergen, about: Bring the blue card and arrive early"
    )
    assert (dentist.timestamp, dentist.trust) == ("2026-12-08T08:30:00Z", None)
    assert choir.text == "start: 2026-09-02, Choir, repeats: weekly, organizer: Olga Brandt, with: emil@example.org"
    assert (choir.timestamp, choir.trust) == ("2026-09-02T00:00:00Z", "external"), "an invitation is from outside"
    assert odd.timestamp is None and odd.text.endswith("No such day")
    assert week.text == "start: 2026-12-28, end: 2027-01-02, Ski week, status: CANCELLED"


def test_a_card_has_no_picture() -> None:
    ida, bo = found(CARDS, "book.txt")
    assert ida.text == (
        "name: Ida Novak, company: Fernbrook, Sales, phone: +49 30 5550199, address: Kaistrasse 9, Bremen, 28195,"
        " birthday: 1971-02-03"
    )
    assert bo.text == "name: Bo Sato, email: bo@example.org"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (CONTACTS, ["Name: Ann Berg, Company: Billit, Phone: +49 30 5501, Notes: tests, mostly"]),
        ("day;sum\r\n2026-01-02;3,50\r\n", ["day: 2026-01-02, sum: 3,50"]),
        ("2026-01-02,3.50,bread\n2026-01-03,2,salt\n", ["2026-01-02, 3.50, bread", "2026-01-03, 2, salt"]),
        ("name\nAnn,left over\n", ["name: Ann, left over"]),
    ],
)
def test_a_row_has_the_headings_of_its_columns(text: str, rows: list[str]) -> None:
    assert [message.text for message in found(text, "t.csv")][: len(rows)] == rows


def test_a_row_is_found_by_its_own_words_and_not_for_work_that_shares_one(clawmem: Command) -> None:
    assert clawmem("ingest", "-", "--format", "csv", given=CONTACTS).out.startswith("4 events added")
    billit = clawmem("recall", "Who works at Billit?").out
    assert "Ann Berg" in billit and "Cy Moe" in billit and "Bo Sato" not in billit and "Di Roth" not in billit
    assert "two lines" in clawmem("recall", "Di Roth").out
    context = clawmem("context", "Who works at Billit?").out
    assert "Ann Berg" in context and "Cy Moe" in context and "Bo Sato" not in context
    assert "Fernbrook" not in clawmem("context", "fix the broken invoicing of fernbrook").out
