"""What plain words claim: numbers, days and denials that contradict each other, and nothing that may both be true."""

from __future__ import annotations

import pytest

from clawmem.model.facts.claim_check import may_claim, may_deny
from clawmem.model.facts.claims import claims_of, contradict

MARCH = "2026-03-02T10:00:00Z"
LATER = "2026-03-09T10:00:00Z"


def rivals(text: str, other: str, title: str) -> bool:
    """Whether two statements about an entity contradict each other, whichever comes first."""
    ours, theirs = claims_of(text, title, MARCH), claims_of(other, title, LATER)
    found = [contradict(claim, against) for claim in ours for against in theirs]
    assert found == [contradict(against, claim) for claim in ours for against in theirs]
    return any(found)


@pytest.mark.parametrize(
    ("text", "other", "title"),
    [
        ("Ben Ott runs the shop; his desk extension is 412.", "Ben's desk extension is 421.", "Ben Ott"),
        ("The launch of Mill 2.0 is planned for 18 March 2026.", "The launch of Mill 2.0 is on 25 March.", "Mill"),
        ("The standup of the team is at 9:45.", "The standup of the team is now at 10:15.", "Mill"),
        ("The staging server runs on port 8080.", "The staging server runs on port 9090.", "Mill"),
        ("We keep raw messages for 30 days.", "We keep raw messages for 90 days.", "Mill"),
        ("The gym costs 20 euros a month.", "The gym costs 24 euros a month.", "Mill"),
        ("The lease ends on 4 May 2027.", "The lease ends on 30 June 2027.", "Mill"),
        ("I drink my coffee black, without sugar.", "Ada no longer drinks coffee.", "Ada"),
        ("Ada eats meat.", "Ada does not eat meat.", "Ada"),
        ("Ada Lund works at Acme as a cook.", "Ada no longer works at Acme.", "Ada Lund"),
        ("Ada is vegetarian.", "Ada is not vegetarian any more.", "Ada"),
        ("Ines is allergic to nuts.", "Ines is not allergic to nuts.", "General"),
        ("Ines drinks coffee.", "Ines doesn't drink coffee.", "General"),
        ("The old boiler is leaking.", "The old boiler is not leaking.", "General"),
    ],
)
def test_what_cannot_both_be_true(text: str, other: str, title: str) -> None:
    assert rivals(text, other, title)
    assert may_claim(text) or may_claim(other)  # else nobody looks
    ours, theirs = claims_of(text, title), claims_of(other, title)
    assert may_deny(other) or any(claim.may_contradict(other) for claim in ours)
    assert may_deny(text) or any(claim.may_contradict(text) for claim in theirs)


@pytest.mark.parametrize(
    ("text", "other", "title"),
    [
        ("Ada eats meat.", "Ada does not eat meat on Fridays.", "Ada"),
        ("Ada drinks coffee in the morning.", "Ada no longer drinks tea.", "Ada"),
        ("Ada drank coffee.", "Ada no longer drinks coffee.", "Ada"),
        ("My mother drinks coffee.", "Ada no longer drinks coffee.", "Ada"),
        ("The limit is 10 requests.", "The limit is 5 seconds.", "Mill"),
        ("The demo is on 4 March.", "The demo is on 18 March.", "Mill"),
        ("The next review is on 20 March.", "The next review is on 27 March.", "Mill"),
        ("His desk extension is about 400.", "His desk extension is 412.", "Ben"),
        ("Order 4711 costs 20 euros.", "Order 4712 costs 24 euros.", "Mill"),
        ("The boat has part number 4 of the list.", "The boat has part number 5 of the list.", "Boat"),
        ("The build uses engine 14.0 in Oslo.", "The build uses engine 15.0 in Oslo.", "Mill"),
        ("Mill 2.1 needs Python 3.9.", "Mill 2.2 needs Python 3.10.", "Mill"),
        ("The team has 5 people in Oslo.", "The team has 3 people in Bergen.", "Mill"),
        ("The build takes about 4 minutes.", "The build takes 6 minutes.", "Mill"),
        ("The build took 4 minutes.", "The build took 6 minutes.", "Mill"),
        ("We keep logs for 30 days.", "We keep backups for 90 days.", "Mill"),
        ("Ben's extension is 412.", "Ida's extension is 421.", "Mill"),
        ("Ines is in Oslo.", "Ben is not in Oslo.", "General"),
        ("Ines is allergic to nuts.", "Ines is not allergic to cats.", "General"),
        ("The shop is open on Monday.", "The shop is not open on Sunday.", "General"),
        ("Ines was ill.", "Ines is not ill.", "General"),
    ],
)
def test_what_may_both_be_true(text: str, other: str, title: str) -> None:
    assert not rivals(text, other, title)
