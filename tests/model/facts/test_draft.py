"""A requested fact before it is stored: the end of a plan."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clawmem.errors import InvalidInput
from clawmem.model.facts.draft import draft_from_record

NOW = datetime(2026, 2, 11, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("statement", "end"),
    [
        ("Asha's birthday is on 19 March.", None),
        ("The wedding anniversary is on 2 May.", None),
        ("The office is closed every 24 December.", None),
        ("Asha flies to Oslo on 19 March.", "2026-03-19"),
        ("Asha's birthday party is on 19 March.", "2026-03-19"),
        ("The pool opens every Monday until 19 March.", "2026-03-19"),
    ],
)
def test_a_plan_ends_with_its_day_unless_the_day_comes_again(statement: str, end: str | None) -> None:
    assert draft_from_record({"fact": statement, "category": "plan"}, NOW).fact.valid_to == end


@pytest.mark.parametrize(
    ("statement", "end"),
    [
        ("Dinner with Lotte on 8 November 2026", "2026-11-08"),
        ("The demo is on Friday 13 March at 14:00.", "2026-03-13"),
        ("The dinner on 8 January was good.", None),
        ("Lotte's dinner is on Friday, every week.", None),
        ("The workshop starts on 19 March.", None),
        ("Lotte moves to Kiel on 19 March.", None),
        ("Lotte visits us from 16 to 19 March.", "2026-03-19"),
        ("Lotte kommt vom 16. bis 19. März zu Besuch.", "2026-03-19"),
        ("The workshop is from 9 to 5 from Monday to Friday.", None),
        ("Das Treffen mit Jana ist am 19. März 2026.", "2026-03-19"),
        ("Deadline for the grant: 12 March 2026.", "2026-03-12"),
        ("The budget review was moved to 11 March.", "2026-03-11"),
        ("We fly to Rome next Tuesday.", "2026-02-17"),
        ("Wir fliegen nächsten Dienstag nach Rom.", "2026-02-17"),
        ("Oslo is reached by a flight from 19 March.", None),
        ("Dinner with Lotte on 8 January 2026.", "2026-01-08"),
        ("Dinner with Lotte on 8 January 2026 was good.", None),
        ("Dinner with my parents in Kiel, 8 January 2026 at 19:00", "2026-01-08"),
        ("Treffen mit Jana am 8. Januar 2026.", "2026-01-08"),
        ("Review policy changed on 8 January 2026: two approvals are needed.", None),
        ("Meeting with the board on 8 January 2026 decided that the budget is frozen.", None),
        ("Presentation template v3 (8 January 2026) is mandatory for all teams.", None),
        ("Treffen am 8. Januar 2026: Wir verwenden ab jetzt nur Postgres.", None),
        ("Review policy changes on 19 March 2026: two approvals are needed.", None),
        ("Review of the budget on 19 March 2026 at 14:00.", "2026-03-19"),
    ],
)
def test_what_takes_place_on_a_day_to_come_ends_with_it(statement: str, end: str | None) -> None:
    assert draft_from_record({"fact": statement}, NOW).fact.valid_to == end


def test_a_fact_begins_before_it_ends() -> None:
    record = {"fact": "Asha is in Oslo.", "valid_from": "2026-03-19T10:00:00Z"}
    with pytest.raises(InvalidInput, match="would end"):
        draft_from_record({**record, "valid_to": "2026-03-19T10:00:00Z"}, NOW)
    assert draft_from_record({**record, "valid_to": "2026-03-19"}, NOW).fact.valid_to == "2026-03-19"


@pytest.mark.parametrize("kind", ["supersedes", "likes"])
def test_a_link_is_of_a_kind_that_is_made_by_hand(kind: str) -> None:
    with pytest.raises(InvalidInput, match=f"'{kind}'"):
        draft_from_record({"fact": "Asha is in Oslo.", "links": [{"type": kind, "to": "fact_1a2b3c4d"}]}, NOW)


@pytest.mark.parametrize(
    ("statement", "end"),
    [
        ("Bruno is on parental leave until 15 March 2026.", "2026-03-15"),
        ("Mika was the scrum master until January 2026.", "2026-01-31"),
        ("The contract with Hetzner runs until the end of March 2027.", "2027-03-31"),
        ("I am on holiday from 21 to 31 March 2026.", "2026-03-31"),
        ("The road is closed up to 5 May.", "2026-05-05"),
        ("Ana and Bo are away until 5 May 2026.", "2026-05-05"),
        ("Ich bin bis 15. März 2026 weg.", "2026-03-15"),
        ("Mika is away next week.", "2026-02-22"),
        ("Mika is ill today.", "2026-02-11"),
        ("The handover to Ana is tomorrow at 10.", "2026-02-12"),
        ("Lynx is used by forty teams in Ghent today.", None),
        ("Ghent is today a large city.", None),
        ("Today we decided to use Rust.", None),
        ("I work from Monday to Friday.", None),
        ("We deploy until 5 pm on Fridays.", None),
        ("The report is due by 3 March.", None),
        ("We wait until the release.", None),
        ("Lynx moved from Svelte 3 to Svelte 5 in January 2026.", None),
        ("Bruno leads Lynx and is away until 5 May 2026.", None),
        ("Bruno leads Lynx, which runs until 5 May 2026.", None),
        ("Two-factor login is mandatory from tomorrow.", None),
        ("Jane is off from tomorrow.", None),
        ("Jane is vegan as of today.", None),
        ("Support for Lynx 3 is gone next month.", None),
        ("Karl ist Chef ab nächster Woche.", None),
        ("The dataset covers January 2020 through December 2023.", None),
        ("The archive holds letters from 3 May 1940 to 5 June 1945.", None),
    ],
)
def test_the_end_that_a_sentence_names_is_read(statement: str, end: str | None) -> None:
    assert draft_from_record({"fact": statement}, NOW).fact.valid_to == end
    assert draft_from_record({"fact": statement, "valid_to": "2028-01-01"}, NOW).fact.valid_to == "2028-01-01"
