"""Which sentences of a text carry claims, and what a claim is to a fact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.extensions.digest.claims import choose_claims, statements_in
from clawmem.extensions.digest.phases import relation_of

PRECISE = (
    "The quay is 140 m long.",
    "The pilot station listens on VHF channel 12.",
    "A job must be finished within 90 seconds, or another worker takes it.",
    "The new queue uses PostgreSQL 16 with SKIP LOCKED.",
    "Next.js 15 of Vercel requires at least Node 20.",
    "A Crane must say that this Crane lifts at most 45 tons.",
    "The <name> field of Norhavn must have at most 45 letters.",
    "Cranes of at least 45 tons must not work above the 90th percentile of the load.",
)
LEFT_OUT = (
    "It was built in 1887 by the town.",
    "Is the harbour of Norhavn open in 2026?",
    "We were not happy about the 214 invoices.",
    "This might change in 2027, perhaps.",
    "# The harbour has 4 quays",
    "| The crane lifts | 45 tons |",
    "> Ada said that the crane lifts 45 tons.",
    "```\nThe crane lifts at most 45 tons.\n```",
    "Deleting it loses 4 files because Git has no copy.",
    "## 2.1.0 (2026-03-04)\n\n### Fixed\n\n- The crane has a limit of 45 tons.",
    "- The crane must stop within 3 seconds (PR #164)",
    "- The crane has a limit of 45 tons by [@ada] in [#640]",
    "- Fix the limit of 45 tons that the Crane has",
    "If specified, the Crane must stop within 3 seconds.",
    "If 0, will never print the 3 lines of the Crane.",
    "The fallback is a Crane with 45 tons.",
    "    The crane lifts at most 45 tons.",
    "Returns ------- The Crane has 45 tons.",
    "In the above list, the Crane must stop within 3 seconds.",
    "The Crane must stop within 3 seconds, as table 4 shows.",
    "The limit of 45 tons that is given below must hold for the Crane.",
    "Instead, the Crane must stop within 3 seconds.",
    "For the Crane, this limit must be 45 tons.",
    "The Crane must have a limit, (see the 3 rules of Norhavn.",
    "Let x = 45 be the limit that the Crane must have.",
    "4.2 Limits The Crane must stop within 3 seconds.",
    "Limits of use The Crane must stop within 3 seconds.",
    "4.2 Crane must stop . . . . . . . . . . 12",
    "Creates at most 45 rules for the Crane.",
)


@pytest.mark.parametrize("sentence", PRECISE)
def test_a_precise_sentence_is_a_claim(sentence: str) -> None:
    assert [choose_claim.text for choose_claim in choose_claims(sentence)] == [sentence]


@pytest.mark.parametrize("sentence", LEFT_OUT)
def test_what_needs_context_or_says_little_is_none(sentence: str) -> None:
    assert choose_claims(sentence) == []


def test_after_a_list_of_changes_the_text_goes_on() -> None:
    text = f"# Crane\n\n## Changelog\n\n### 2.0\n\n- The rope is 40 m long.\n\n## Use\n\n{PRECISE[0]}\n"
    assert [choose_claim.text for choose_claim in choose_claims(text)] == [PRECISE[0]]


def test_a_claim_is_without_markup() -> None:
    text = "The **pilot** station `listens <https://example.org/a>`__ on [VHF\nchannel][1] <b>12</b>."
    assert [choose_claim.text for choose_claim in choose_claims(text)] == [
        "The pilot station listens on VHF channel 12."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "31. March 2027 is the day on which the lease of station 4 ends.",
        "The mask `__all__` of station 4 has 2**31 bits and must have 3 rows.",
    ],
)
def test_a_claim_has_the_numbers_and_names_of_its_sentence(text: str) -> None:
    assert [claim.text for claim in choose_claims(text)] == [text]


def test_two_thousand_words_give_five_claims_at_most() -> None:
    text = " ".join(f"The pump number {at} needs {at} filters of type Delta{at}." for at in range(250))
    assert 1 <= len(choose_claims(text)) <= 5 + 1


def test_the_address_of_a_link_is_no_part_of_a_claim() -> None:
    text = "A [job](queue.md#job) must be finished within 90 seconds ([004](004.md), [005](005.md))."
    (sentence,) = choose_claims(text)
    assert sentence.text == "A job must be finished within 90 seconds."
    assert text[sentence.start : sentence.end] == text


@given(st.text(alphabet="Abc 1.\n-#|>`?!\t", max_size=300))
def test_a_claim_is_a_range_of_its_text(text: str) -> None:
    for choose_claim in choose_claims(text):
        assert 0 <= choose_claim.start < choose_claim.end <= len(text)
        assert choose_claim.text


@pytest.mark.parametrize(
    ("claim", "fact", "kind"),
    [
        ("The quay measures 412 metres.", "The quay measures 412 metres.", "same"),
        ("The quay of Norhavn measures 430 metres.", "The quay of Norhavn measures 412 metres.", "updates"),
        ("The quay at Norhavn measures 412 metres.", "The quay of Norhavn measures 412 metres.", "supports"),
        ("The quay of Norhavn has a crane.", "The quay of Norhavn measures 412 metres.", "relates_to"),
        ("Jane prefers green tea.", "The quay of Norhavn measures 412 metres.", None),
    ],
)
def test_what_a_claim_is_to_a_fact(claim: str, fact: str, kind: str | None) -> None:
    found = relation_of(claim, fact)
    assert (found.kind if found else None) == kind


def test_the_rows_of_a_table_are_statements_but_not_its_head() -> None:
    rows = ["| crane | tons |", "|---|---|", "| red | 45 |", "| blue | 20 |"]
    assert [statements_in("\n".join(rows[:number])) for number in (1, 3, 4)] == [0, 1, 2]
