"""Learning by rules on the labelled set: floors a little below what was measured, and a bystander is never killed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.quality import PARTS, extraction, matches, read_labels, shipped_catalog, signalled, supersession
from clawmem.model.proposals.para import Proposition

CATALOG = shipped_catalog()
EXTRACTION_FLOORS = {"tune": (1.0, 0.05), "held": (1.0, 0.04), "fresh": (1.0, 0.009)}
SUPERSESSION_FLOORS = {"tune": 0.28, "held": 0.16, "fresh": 0.05}
SIGNAL_BOUNDS = {
    False: {"tune": (0.9, 0.13), "held": (0.93, 0.13), "fresh": (0.85, 0.2)},
    True: {"tune": (0.98, 0.22), "held": (0.98, 0.22), "fresh": (0.95, 0.41)},
}


@pytest.mark.parametrize("part", PARTS)
def test_extraction_stays_above_its_floors(part: str) -> None:
    found = extraction(read_labels("turns", part), CATALOG)
    precision, recall = EXTRACTION_FLOORS[part]
    assert found.precision >= precision, found.false
    assert found.recall >= recall, found.missed


@pytest.mark.parametrize("part", PARTS)
def test_supersession_stays_above_its_floors(part: str) -> None:
    changed = supersession(read_labels("changes", part), CATALOG)
    assert changed.killed == 0, changed.faults
    assert changed.precision == 1.0, changed.faults
    assert changed.recall >= SUPERSESSION_FLOORS[part], changed.faults


@pytest.mark.parametrize("of_agents", [False, True])
@pytest.mark.parametrize("part", PARTS)
def test_turns_with_a_fact_are_candidates_or_asked_about_and_few_others(part: str, of_agents: bool) -> None:
    strong, labelled, noise, others = signalled(read_labels("turns", part), CATALOG, of_agents)
    least, most = SIGNAL_BOUNDS[of_agents][part]
    assert strong / labelled >= least
    assert noise / others <= most


def test_the_set_is_as_large_as_it_claims() -> None:
    turns = [turn for part in PARTS for turn in read_labels("turns", part)]
    cases = [case for part in PARTS for case in read_labels("changes", part)]
    assert len(turns) >= 450
    assert sum(not turn["facts"] for turn in turns) >= 220
    assert len(cases) >= 250
    assert len({turn["id"] for turn in turns}) == len(turns)
    kinds = {case["kind"] for case in cases}
    assert kinds == {"update", "refine", "contradict", "retract", "restate", "bystander", "other-subject", "many"}


def test_every_label_quotes_its_turn() -> None:
    for part in PARTS:
        for turn in read_labels("turns", part):
            assert all(label["evidence"] in turn["text"] for label in turn["facts"]), turn["id"]


TURN: dict[str, Any] = {"text": "I moved to York. I like tea."}
LABEL: dict[str, Any] = {"who": "user", "words": ["moved/lives", "york"], "evidence": "I moved to York"}


@pytest.mark.parametrize(
    ("statement", "span", "same"),
    [
        ("The user moved to York.", (0, 15), True),
        ("The user lives in York.", (0, 16), True),
        ("The user moved to Yorkshire.", (0, 15), True),
        ("The user moved to Hull.", (0, 15), False),
        ("Lee moved to York.", (0, 15), False),
        ("The user moved to York.", (17, 27), False),
    ],
)
def test_a_match_needs_the_words_the_person_and_the_evidence(statement: str, span: tuple[int, int], same: bool) -> None:
    proposition = Proposition(statement, "e", span, TURN["text"][slice(*span)])
    assert matches(proposition, LABEL, TURN) is same
